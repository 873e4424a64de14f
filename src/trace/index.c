#include "trace/index.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/tuning.h"
#include "trace/fork.h"

#define BUCKET(key) ((key) % REPRISE_INDEX_BUCKETS)

static void link_newest(struct reprise_index *index, struct reprise_trace *trace)
{
	trace->last_used = reprise_clock_ticks();
	trace->newer = NULL;
	trace->older = index->newest;
	if (trace->older != NULL)
		trace->older->newer = trace;
	else
		index->oldest = trace;
	index->newest = trace;
}

static void unlink_trace(struct reprise_index *index, struct reprise_trace *trace)
{
	if (trace->newer != NULL)
		trace->newer->older = trace->older;
	else
		index->newest = trace->older;
	if (trace->older != NULL)
		trace->older->newer = trace->newer;
	else
		index->oldest = trace->newer;
}

void reprise_index_use(struct reprise_index *index, struct reprise_trace *trace)
{
	unlink_trace(index, trace);
	link_newest(index, trace);
}

static void part(struct reprise_trace *trace)
{
	if (trace->follower == NULL)
		return;
	*trace->led = trace->next_leader;
	if (trace->next_leader != NULL)
		trace->next_leader->led = trace->led;
	trace->follower = NULL;
}

void reprise_index_follow(struct reprise_trace *trace, struct reprise_trace *follower)
{
	if (trace->follower == follower)
		return;
	part(trace);
	trace->follower = follower;
	trace->led = &follower->leader;
	trace->next_leader = follower->leader;
	if (trace->next_leader != NULL)
		trace->next_leader->led = &trace->next_leader;
	follower->leader = trace;
}

#define CHAIN(head, chain, trace) \
	do { \
		struct reprise_trace **head_ = &(head); \
		(trace)->chain.next = *head_; \
		(trace)->chain.at = head_; \
		if (*head_ != NULL) \
			(*head_)->chain.at = &(trace)->chain.next; \
		*head_ = (trace); \
	} while (0)

#define UNCHAIN(chain, trace) \
	do { \
		if ((trace)->chain.at == NULL) \
			break; \
		*(trace)->chain.at = (trace)->chain.next; \
		if ((trace)->chain.next != NULL) \
			(trace)->chain.next->chain.at = (trace)->chain.at; \
		(trace)->chain.at = NULL; \
	} while (0)

/* True if both begin as many ops after the last wait. Otherwise a wait would come in the midst of
 * the longer one. Far from waits, the value of the op before tells the place. */
static bool begin_together(const struct reprise_trace *trace, const struct reprise_trace *other)
{
	const struct reprise_position *a = &trace->position, *b = &other->position;

	return a->since_wait == b->since_wait ||
	       (a->since_wait > REPRISE_TUNE_NEAR_WAIT && b->since_wait > REPRISE_TUNE_NEAR_WAIT &&
	        a->value == b->value && a->value != 0);
}

/* True if `trace` begins with the ops of `part`, and goes on. */
static bool goes_on(const struct reprise_trace *trace, const struct reprise_trace *part)
{
	if (trace->count <= part->count || trace->key_shape != part->key_shape ||
	    trace->shape_before[part->count] != part->shape_before[part->count] ||
	    !begin_together(trace, part))
		return false;
	for (unsigned int i = 0; i < part->count; i++)
		if (trace->any_value[i] != part->any_value[i] ||
		    (!trace->any_value[i] && !reprise_op_same_values(&trace->ops[i], &part->ops[i])))
			return false;
	return true;
}

/* A part knows the shortest trace that goes on, and a trace its longest part. The others are found
 * from these. */
static void link_part(struct reprise_trace *trace, struct reprise_trace *part)
{
	if (!goes_on(trace, part))
		return;
	if (part->longer == NULL || trace->count < part->longer->count)
		part->longer = trace;
	if (trace->part == NULL || part->count > trace->part->count)
		trace->part = part;
}

static void link_parts(struct reprise_index *index, struct reprise_trace *trace)
{
	for (struct reprise_trace *other = index->by_shape[BUCKET(trace->key_shape)]; other != NULL;
	     other = other->by_shape.next) {
		link_part(other, trace);
		link_part(trace, other);
	}
}

static void unlink_parts(struct reprise_index *index, struct reprise_trace *trace)
{
	for (struct reprise_trace *other = index->by_shape[BUCKET(trace->key_shape)]; other != NULL;
	     other = other->by_shape.next) {
		if (other->longer == trace)
			other->longer = trace->longer;
		if (other->part == trace)
			other->part = trace->part;
	}
	trace->longer = trace->part = NULL;
}

void reprise_index_add(struct reprise_index *index, struct reprise_trace *trace)
{
	link_parts(index, trace);
	CHAIN(index->by_value[BUCKET(trace->key_value)], by_value, trace);
	CHAIN(index->by_shape[BUCKET(trace->key_shape)], by_shape, trace);
	if (trace->any_value[0])
		CHAIN(index->by_any_value[BUCKET(trace->key_shape)], by_any_value, trace);
	link_newest(index, trace);
	index->count++;
	index->nodes += trace->count;
}

void reprise_index_remove(struct reprise_index *index, struct reprise_trace *trace)
{
	UNCHAIN(by_value, trace);
	unlink_parts(index, trace);
	UNCHAIN(by_shape, trace);
	UNCHAIN(by_any_value, trace);
	unlink_trace(index, trace);
	index->count--;
	index->nodes -= trace->count;
	part(trace);
	while (trace->leader != NULL)
		part(trace->leader);
}

void reprise_index_set_any_value(struct reprise_index *index, struct reprise_trace *trace,
                                 unsigned int at)
{
	unlink_parts(index, trace);
	trace->any_value[at] = true;
	trace->twin = false;
	if (at == 0 && trace->by_any_value.at == NULL)
		CHAIN(index->by_any_value[BUCKET(trace->key_shape)], by_any_value, trace);
	link_parts(index, trace);
}

static bool is_here(const struct reprise_trace *trace, const struct reprise_position *position)
{
	return trace->position.since_wait == position->since_wait ||
	       (!trace->placed && (trace->position.value == position->value ||
	                           trace->position.value == 0 || position->value == 0));
}

/* For traces found by shape: in a long chain of one kernel every op looks like a trace's first
 * op. */
static bool is_in_place(const struct reprise_trace *trace, const struct reprise_position *position)
{
	return trace->position.since_wait == position->since_wait ||
	       position->since_wait > REPRISE_TUNE_NEAR_WAIT;
}

static bool better(const struct reprise_trace *trace, const struct reprise_trace *best,
                   const struct reprise_position *position, uint64_t now)
{
	bool here = trace->position.since_wait == position->since_wait;

	if (!reprise_trace_usable(trace, now) || !is_here(trace, position))
		return false;
	if (best == NULL || here != (best->position.since_wait == position->since_wait))
		return best == NULL || here;
	return trace->last_followed > best->last_followed;
}

struct reprise_trace *reprise_index_find_value(const struct reprise_index *index,
                                               const struct reprise_position *position,
                                               const struct reprise_op *op, uint64_t now)
{
	uint64_t key = reprise_hash_mix(position->before, op->value);
	struct reprise_trace *best = NULL;

	for (struct reprise_trace *trace = index->by_value[BUCKET(key)]; trace != NULL;
	     trace = trace->by_value.next)
		if (trace->key_value == key && !trace->head_moved && !trace->any_value[0] &&
		    better(trace, best, position, now))
			best = trace;
	return best;
}

struct reprise_trace *reprise_index_find_shape(const struct reprise_index *index,
                                               const struct reprise_position *position,
                                               const struct reprise_op *op, uint64_t now)
{
	uint64_t key = reprise_hash_mix(position->before, op->shape);
	struct reprise_trace *best = NULL;

	for (struct reprise_trace *trace = index->by_any_value[BUCKET(key)]; trace != NULL;
	     trace = trace->by_any_value.next)
		if (trace->key_shape == key && is_in_place(trace, position) &&
		    better(trace, best, position, now))
			best = trace;
	return best;
}

static bool same_where_fixed(const struct reprise_trace *trace, const struct reprise_op *ops)
{
	for (unsigned int i = 0; i < trace->count; i++)
		if (!trace->any_value[i] && !reprise_op_same_values(&trace->ops[i], &ops[i]))
			return false;
	return true;
}

/* `placed`: and begins as many ops behind a wait. */
static bool is_same(const struct reprise_trace *trace, const struct reprise_position *position,
                    bool placed, const struct reprise_op *ops, unsigned int count, uint64_t shapes)
{
	return trace->count == count && trace->shape_before[count] == shapes &&
	       (!placed || trace->position.since_wait == position->since_wait) &&
	       (trace->any_value[0] ? is_in_place(trace, position) : is_here(trace, position)) &&
	       same_where_fixed(trace, ops);
}

static uint64_t shapes_of(const struct reprise_op *ops, unsigned int count)
{
	uint64_t shapes = 1;

	for (unsigned int i = 0; i < count; i++)
		shapes = reprise_hash_mix(shapes, ops[i].shape);
	return shapes;
}

/* Among those by value. `twin`: only a twin. */
static struct reprise_trace *same_by_value(const struct reprise_index *index,
                                           const struct reprise_position *position, bool placed,
                                           const struct reprise_op *ops, unsigned int count,
                                           uint64_t shapes, bool twin)
{
	uint64_t key = reprise_hash_mix(position->before, ops[0].value);
	struct reprise_trace *trace = index->by_value[BUCKET(key)];

	while (trace != NULL && ((twin && !trace->twin) || trace->key_value != key ||
	                         !is_same(trace, position, placed, ops, count, shapes)))
		trace = trace->by_value.next;
	return trace;
}

struct reprise_trace *reprise_index_twin(const struct reprise_index *index,
                                         const struct reprise_position *position,
                                         const struct reprise_op *ops, unsigned int count)
{
	return same_by_value(index, position, false, ops, count, shapes_of(ops, count), true);
}

struct reprise_trace *reprise_index_same(const struct reprise_index *index,
                                         const struct reprise_position *position, bool placed,
                                         const struct reprise_op *ops, unsigned int count)
{
	uint64_t by_shape = reprise_hash_mix(position->before, ops[0].shape),
			 shapes = shapes_of(ops, count);
	struct reprise_trace *same = same_by_value(index, position, placed, ops, count, shapes, false);

	if (same != NULL)
		return same;
	for (struct reprise_trace *trace = index->by_any_value[BUCKET(by_shape)]; trace != NULL;
	     trace = trace->by_any_value.next)
		if (trace->key_shape == by_shape && is_same(trace, position, placed, ops, count, shapes))
			return trace;
	return NULL;
}

bool reprise_index_forks_on(const struct reprise_index *index,
                            const struct reprise_position *position, const struct reprise_op *ops,
                            unsigned int count)
{
	uint64_t by_shape = reprise_hash_mix(position->before, ops[0].shape),
			 shapes = shapes_of(ops, count);

	for (const struct reprise_trace *trace = index->by_shape[BUCKET(by_shape)]; trace != NULL;
	     trace = trace->by_shape.next)
		if (trace->key_shape == by_shape && trace->count > count &&
		    trace->shape_before[count] == shapes && trace->beside == NULL &&
		    reprise_fork_in(trace->ops, trace->count))
			return true;
	return false;
}

/* True if `other` has this visit's values of the first `done` ops, except any-value ops. */
static bool agrees(const struct reprise_trace *other, const struct reprise_trace *trace,
                   unsigned int done)
{
	for (unsigned int i = 0; i < done; i++)
		if (!other->any_value[i] &&
		    !reprise_op_same_values(&other->ops[i], reprise_trace_op(trace, i)))
			return false;
	return true;
}

struct reprise_trace *reprise_index_sibling(const struct reprise_index *index,
                                            const struct reprise_trace *trace, unsigned int done,
                                            const struct reprise_call *call, bool same_values,
                                            uint64_t now, struct reprise_trace **coming)
{
	struct reprise_trace *other = index->by_shape[BUCKET(trace->key_shape)];
	struct reprise_trace *fits = NULL, *any_value_fit = NULL;

	*coming = NULL;
	for (; other != NULL; other = other->by_shape.next) {
		if (other == trace || other->count <= done ||
		    other->shape_before[done] != trace->shape_before[done] ||
		    other->key_shape != trace->key_shape)
			continue;

		enum reprise_match match = reprise_op_match(&other->ops[done], call);
		bool same = match == REPRISE_MATCH_SAME || match == REPRISE_MATCH_AGAIN;

		if (match == REPRISE_MATCH_NOT)
			continue;
		if (!reprise_trace_usable(other, now)) {
			if (same && agrees(other, trace, done))
				*coming = other;
		} else if (!agrees(other, trace, done) || (!same && !other->any_value[done]))
			fits = fits == NULL ? other : fits;
		else if (same)
			return other;
		else
			any_value_fit = any_value_fit == NULL ? other : any_value_fit;
	}
	return any_value_fit != NULL || same_values ? any_value_fit : fits;
}

struct reprise_trace *reprise_index_oldest(const struct reprise_index *index,
                                           const struct reprise_trace *except)
{
	struct reprise_trace *trace = index->oldest;

	while (trace != NULL &&
	       (trace == except || atomic_load(&trace->graph.state) == REPRISE_GRAPH_QUEUED))
		trace = trace->newer;
	return trace;
}
