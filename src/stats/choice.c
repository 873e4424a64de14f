#include "stats/choice.h"

#include "base/tuning.h"

static void begin_turn(struct reprise_choice *choice, bool direct)
{
	choice->direct = direct;
	choice->skip = (choice->wanted + 3) / 4;
	choice->count = 0;
	choice->sum_ns = 0;
}

static void begin_pair(struct reprise_choice *choice, uint64_t random)
{
	choice->second = false;
	begin_turn(choice, random >> 32 & 1);
}

void reprise_choice_begin(struct reprise_choice *choice, uint64_t period_ns, uint64_t random)
{
	uint64_t periods = REPRISE_TUNE_CHOICE_TURN_NS / (period_ns + 1);

	if (periods < REPRISE_TUNE_CHOICE_PERIODS)
		periods = REPRISE_TUNE_CHOICE_PERIODS;
	choice->wanted = (unsigned int)periods;
	choice->used = (struct reprise_used){0};
	reprise_pairs_begin(&choice->time);
	reprise_pairs_begin(&choice->processor);
	begin_pair(choice, random);
}

void reprise_choice_interrupt(struct reprise_choice *choice)
{
	begin_turn(choice, choice->direct);
}

bool reprise_choice_asks_processor(const struct reprise_choice *choice)
{
	return choice->skip == 1 || (choice->skip == 0 && choice->count + 1 == choice->wanted);
}

void reprise_choice_note_processor(struct reprise_choice *choice, uint64_t ns, uint64_t ops)
{
	reprise_used_note(&choice->used, ns, ops);
}

static void end_pair(struct reprise_choice *choice)
{
	uint64_t took = choice->sum_ns / choice->count, uses = reprise_used_since(&choice->used);
	uint64_t direct = choice->direct ? took : choice->first_ns,
			 async = choice->direct ? choice->first_ns : took;
	uint64_t direct_used = choice->direct ? uses : choice->first_used,
			 async_used = choice->direct ? choice->first_used : uses;

	reprise_pairs_add(&choice->time, direct, async);
	reprise_pairs_add(&choice->processor, async_used, direct_used);
}

/* A gain below it is none. */
static int32_t worth(void)
{
	return reprise_log2_of_thousandths(REPRISE_TUNE_TURNS_WORTH);
}

static bool is_decided(const struct reprise_choice *choice)
{
	struct reprise_interval interval = reprise_pairs_read(&choice->time);

	return choice->time.count >= REPRISE_TUNE_CHOICE_MOST ||
	       (interval.bounded && (interval.low > worth() || interval.high < worth()));
}

bool reprise_choice_note(struct reprise_choice *choice, uint64_t period_ns, uint64_t random)
{
	if (choice->skip > 0) {
		choice->skip--;
		reprise_used_begin(&choice->used);
		return false;
	}
	choice->sum_ns += period_ns;
	if (++choice->count < choice->wanted)
		return false;
	if (choice->second) {
		end_pair(choice);
		begin_pair(choice, random);
		return is_decided(choice);
	}
	choice->first_ns = choice->sum_ns / choice->count;
	choice->first_used = reprise_used_since(&choice->used);
	choice->second = true;
	begin_turn(choice, !choice->direct);
	return false;
}

bool reprise_choice_is_direct(const struct reprise_choice *choice, bool costly)
{
	return reprise_pairs_read(&choice->time).median < worth() ||
	       (costly && reprise_pairs_read(&choice->processor).median > 0);
}
