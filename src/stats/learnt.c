#include "stats/learnt.h"

#include "base/tuning.h"

#define UNKNOWN UINT32_MAX

void reprise_learnt_begin_test(struct reprise_learnt *learnt)
{
	learnt->first = UNKNOWN;
}

void reprise_learnt_begin_turn(struct reprise_learnt *learnt)
{
	learnt->ops_begun = learnt->ops;
	learnt->replayed_begun = learnt->replayed;
}

void reprise_learnt_end_turn(struct reprise_learnt *learnt)
{
	uint64_t ops = learnt->ops - learnt->ops_begun,
			 replayed = learnt->replayed - learnt->replayed_begun;

	learnt->last = ops > 0 ? (unsigned int)(replayed * 1000 / ops) : 0;
	if (learnt->first == UNKNOWN)
		learnt->first = learnt->last;
}

bool reprise_learnt_more(const struct reprise_learnt *learnt, unsigned int growth)
{
	return learnt->first != UNKNOWN && learnt->last > learnt->first + growth;
}

bool reprise_learnt_since(const struct reprise_learnt *learnt, unsigned int before)
{
	return learnt->last > before + REPRISE_TUNE_TURNS_LEARNING;
}

bool reprise_learnt_is_little(const struct reprise_learnt *learnt)
{
	return learnt->ops > 0 && learnt->last < REPRISE_TUNE_LESSON_BELOW;
}

bool reprise_learnt_is_nothing(const struct reprise_learnt *learnt)
{
	return learnt->ops > 0 && learnt->first < REPRISE_TUNE_TURNS_NOTHING &&
	       learnt->last < REPRISE_TUNE_TURNS_NOTHING;
}
