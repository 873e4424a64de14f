#include "lane/group/pieces.h"

#include "base/tuning.h"
#include "trace/beside.h"
#include "trace/fork.h"
#include "trace/index.h"
#include "trace/plan.h"
#include "lane/group/group.h"

static bool has_work(const struct reprise_op *ops, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (!reprise_op_is_event(ops[i].kind))
			return true;
	return false;
}

/* So many times no trace is made of parts, which are replayed one by one from then on: the whole is
 * never seen again. What has cut it may be rare. */
static bool waits_for_whole(unsigned int *patience)
{
	if (*patience == 0)
		return false;
	--*patience;
	return true;
}

/* ---- forks ---- */

/* True if some of the ops fork and join. */
static bool join_a_fork(const struct reprise_pieces *pieces)
{
	const struct reprise_segment *segment = pieces->segment;

	for (unsigned int start = 0, count; start<segment->count; start += count> 0 ? count : 1) {
		count = reprise_fork_reach(segment->ops + start, segment->count - start, 1,
		                           pieces->crossed + start, segment->count - start,
		                           pieces->lane->group->blocking);
		if (reprise_fork_in(segment->ops + start, count))
			return true;
	}
	return false;
}

/* The number of ops that make a graph of `wanted` ops or a few more. Includes the rest of the
 * segment if that is too short for a launch of its own. */
static unsigned int reach(const struct reprise_pieces *pieces, unsigned int start,
                          unsigned int wanted, unsigned int most)
{
	const struct reprise_op *ops = pieces->segment->ops + start;
	const bool *crossed = pieces->crossed + start;
	uint8_t blocking = pieces->lane->group->blocking;
	unsigned int left = pieces->segment->count - start,
				 count = reprise_fork_reach(ops, left, wanted, crossed, left, blocking);

	if (left - count < REPRISE_TUNE_PLAN_REMAINDER_LEAST && left <= most &&
	    reprise_fork_reach(ops, left, left, crossed, left, blocking) == left)
		return left;
	return count;
}

/*
 * A piece that is as long as planned, joins what it forks, and fits in the hold limit. If that cuts
 * a fork, the program may be slow just now.
 */
static unsigned int fork_piece(const struct reprise_pieces *pieces, unsigned int start,
                               bool *useful)
{
	struct reprise_group *group = pieces->lane->group;
	const struct reprise_segment *segment = pieces->segment;
	unsigned int left = segment->count - start,
				 wanted = reprise_plan_piece(segment, start, pieces->hold_ns, false);
	unsigned int most = reprise_plan_longest(segment, start, pieces->hold_ns);
	unsigned int whole = reach(pieces, start, wanted, most), count = whole;

	group->joined = group->joined || reprise_fork_in(segment->ops + start, whole);
	if (whole > most && waits_for_whole(&group->patience)) {
		*useful = false;
		return whole;
	}
	if (whole > most)
		count = reprise_fork_reach(segment->ops + start, most, wanted, pieces->crossed + start,
		                           left, group->blocking);
	*useful = has_work(segment->ops + start, count);
	return count > 0 ? count : 1;
}

/* True if the segment ends in the midst of a fork that has a trace, and these ops are a part of it
 * that does not join: a call has cut it short. */
static bool is_cut_short(const struct reprise_pieces *pieces, unsigned int start,
                         unsigned int count, const struct reprise_position *position)
{
	const struct reprise_lane *lane = pieces->lane;
	const struct reprise_op *ops = pieces->segment->ops + start;

	return !(reprise_fork_in(ops, count) &&
	         reprise_fork_is_closed(ops, count, lane->group->blocking)) &&
	       reprise_index_forks_on(lane->index, position, ops, pieces->segment->count - start);
}

/* ---- graphs beside the streams ---- */

/* The number of ops of a graph that is launched beside its streams: as many as planned, or a few
 * more, to where the next may begin, or to such an end. 0 if there is none. */
static unsigned int reach_beside(const struct reprise_pieces *pieces, unsigned int start,
                                 unsigned int wanted, unsigned int most)
{
	const struct reprise_segment *segment = pieces->segment;
	const struct reprise_op *ops = segment->ops + start;
	const bool *begins = pieces->begins + start;
	uint8_t blocking = pieces->lane->group->blocking;
	unsigned int left = segment->count - start, count = 0;

	if (!begins[0])
		return 0;
	for (unsigned int i = 1; i <= left && i <= most && count < wanted; i++)
		if (begins[i])
			count = i;
	return count > 0 && has_work(ops, count) && reprise_beside_knows(segment->ops, start, count) &&
	               !reprise_fork_is_closed(ops, count, blocking) &&
	               reprise_beside_may(ops, count, blocking)
	           ? count
	           : 0;
}

/* The first op of such a graph; the segment's count if there is none. */
static unsigned int first_beside(const struct reprise_pieces *pieces)
{
	unsigned int count = pieces->segment->count, i = 0;

	while (i < count &&
	       reach_beside(pieces, i, REPRISE_TUNE_PLAN_FIRST,
	                    reprise_plan_longest(pieces->segment, i, pieces->hold_ns)) == 0)
		i++;
	return i;
}

/* True if the segment begins behind a wait of the host, and each stream is known to be behind all
 * there. `behind`: see reprise_group_start(). */
static bool begins_level(const struct reprise_pieces *pieces, const uint8_t *behind)
{
	const struct reprise_group *group = pieces->lane->group;
	bool level = pieces->segment->position.since_wait == 0;

	for (unsigned int member = 0; level && member < group->count; member++)
		level = behind[member] == (1u << group->count) - 1;
	return level;
}

/* There is no such graph. True if there were one if each stream were behind all where the segment
 * begins, which is not known: streams have just been grouped, or what comes before was cut off. Its
 * parts get no graphs yet. Overwrites `begins`, which is not used then. */
static bool awaits_level(struct reprise_pieces *pieces, const uint8_t *behind)
{
	const struct reprise_segment *segment = pieces->segment;

	if (begins_level(pieces, behind))
		return false;
	reprise_beside_begins(segment->ops, segment->count, NULL, pieces->begins);
	pieces->begins[segment->count] = segment->ends_in_wait;
	return first_beside(pieces) < segment->count &&
	       waits_for_whole(&pieces->lane->group->level_patience);
}

/* What cannot be in such a graph gets none, though it could be replayed part by part: the whole
 * would never be seen again. Nor does what the end of the segment has cut, if there is a whole one.
 * What is left before a wait has its place there: elsewhere it would be in the way of a longer
 * one. */
static unsigned int piece_beside(struct reprise_pieces *pieces, unsigned int start, bool *placed,
                                 bool *useful)
{
	const struct reprise_segment *segment = pieces->segment;
	unsigned int wanted = reprise_plan_piece(segment, start, pieces->hold_ns, false);
	unsigned int most = reprise_plan_longest(segment, start, pieces->hold_ns);
	unsigned int count = reach_beside(pieces, start, wanted, most);

	if (count == 0 && start == pieces->beside) /* a longer one may have too many events */
		count = reach_beside(pieces, start, REPRISE_TUNE_PLAN_FIRST, most);
	*placed = segment->ends_in_wait && start + count == segment->count;
	*useful =
		count > 0 && (count >= wanted || pieces->begins[segment->count] || start == pieces->beside);
	if (*useful)
		pieces->lane->group->joined = true;
	else
		for (count = 1; start + count < segment->count && !pieces->begins[start + count];)
			count++;
	return count;
}

/* ---- a segment ---- */

/* True if all streams are behind the segment where it ends: the host waits, or a visit of a graph
 * beside them begins. */
static bool ends_level(const struct reprise_pieces *pieces)
{
	const struct reprise_lane *lane = pieces->lane;

	return pieces->segment->ends_in_wait ||
	       (lane->trace != NULL && lane->cursor == 0 && lane->trace->beside != NULL);
}

bool reprise_pieces_begin(struct reprise_pieces *pieces, struct reprise_lane *lane,
                          const struct reprise_segment *segment, uint64_t hold_ns)
{
	uint8_t behind[REPRISE_MEMBERS_MOST];

	pieces->lane = lane;
	pieces->segment = segment;
	pieces->hold_ns = hold_ns;
	pieces->beside = segment->count;
	lane->group->watched += segment->count;
	reprise_fork_cross(segment->ops, segment->count, pieces->crossed);
	if (join_a_fork(pieces))
		return true;
	reprise_group_start(lane->group, reprise_watch_segment(lane->watch), behind);
	reprise_beside_begins(segment->ops, segment->count, behind, pieces->begins);
	pieces->begins[segment->count] = ends_level(pieces);
	pieces->beside = first_beside(pieces);
	return pieces->beside < segment->count || !awaits_level(pieces, behind);
}

unsigned int reprise_pieces_next(struct reprise_pieces *pieces, unsigned int start, bool *placed,
                                 bool *useful)
{
	*placed = false;
	return pieces->beside < pieces->segment->count ? piece_beside(pieces, start, placed, useful)
	                                               : fork_piece(pieces, start, useful);
}

bool reprise_pieces_await_whole(struct reprise_pieces *pieces, unsigned int start,
                                unsigned int count, const struct reprise_position *position)
{
	return is_cut_short(pieces, start, count, position) &&
	       waits_for_whole(&pieces->lane->group->patience);
}
