#include "index.h"

#include "../base/hash.h"

#define NEAR_WAIT 512 /* ops: further from the last wait, places are not compared */

#define BUCKET(key) ((key) % REPRISE_INDEX_BUCKETS)

void reprise_index_add(struct reprise_index *index, struct reprise_trace *trace)
{
	struct reprise_trace **value = &index->by_value[BUCKET(trace->key_value)];
	struct reprise_trace **shape = &index->by_shape[BUCKET(trace->key_shape)];

	trace->same_value = *value;
	*value = trace;
	trace->same_shape = *shape;
	*shape = trace;
	trace->next = index->all;
	index->all = trace;
	index->count++;
	index->nodes += trace->count;
}

#define UNCHAIN(head, link, trace) \
	do { \
		struct reprise_trace **at_ = &(head); \
		while (*at_ != (trace)) \
			at_ = &(*at_)->link; \
		*at_ = (trace)->link; \
	} while (0)

void reprise_index_remove(struct reprise_index *index, struct reprise_trace *trace)
{
	UNCHAIN(index->by_value[BUCKET(trace->key_value)], same_value, trace);
	UNCHAIN(index->by_shape[BUCKET(trace->key_shape)], same_shape, trace);
	UNCHAIN(index->all, next, trace);
	index->count--;
	index->nodes -= trace->count;
	for (struct reprise_trace *other = index->all; other != NULL; other = other->next)
		if (other->follower == trace)
			other->follower = NULL;
}

static bool better(const struct reprise_trace *trace, const struct reprise_trace *best, unsigned int position, uint64_t now)
{
	bool here = trace->position == position;

	if (!reprise_trace_usable(trace, now))
		return false;
	if (best == NULL || here != (best->position == position))
		return best == NULL || here;
	return trace->last_followed > best->last_followed;
}

struct reprise_trace *reprise_index_find_value(const struct reprise_index *index, uint64_t before, const struct reprise_op *op,
                                               unsigned int position, uint64_t now)
{
	uint64_t key = reprise_hash_mix(before, op->value);
	struct reprise_trace *best = NULL;

	for (struct reprise_trace *trace = index->by_value[BUCKET(key)]; trace != NULL; trace = trace->same_value)
		if (trace->key_value == key && !trace->head_moved && better(trace, best, position, now))
			best = trace;
	return best;
}

struct reprise_trace *reprise_index_find_shape(const struct reprise_index *index, uint64_t before, const struct reprise_op *op,
                                               unsigned int position, uint64_t now)
{
	uint64_t key = reprise_hash_mix(before, op->shape);
	struct reprise_trace *best = NULL;

	for (struct reprise_trace *trace = index->by_shape[BUCKET(key)]; trace != NULL; trace = trace->same_shape)
		if (trace->key_shape == key && !trace->exact && (trace->position == position || position > NEAR_WAIT) &&
		    better(trace, best, position, now))
			best = trace;
	return best;
}

struct reprise_trace *reprise_index_same(const struct reprise_index *index, uint64_t before, const struct reprise_op *ops,
                                         unsigned int count, bool exact)
{
	uint64_t key = reprise_hash_mix(before, ops[0].shape), shapes = 1, values = 1;

	for (unsigned int i = 0; i < count; i++) {
		shapes = reprise_hash_mix(shapes, ops[i].shape);
		values = reprise_hash_mix(values, ops[i].value);
	}
	for (struct reprise_trace *trace = index->by_shape[BUCKET(key)]; trace != NULL; trace = trace->same_shape)
		if (trace->key_shape == key && trace->count == count && trace->shape_before[count] == shapes &&
		    (exact ? !trace->values_moved && trace->value_before[count] == values : !trace->exact))
			return trace;
	return NULL;
}

struct reprise_trace *reprise_index_sibling(const struct reprise_index *index, const struct reprise_trace *trace, unsigned int done,
                                            const struct reprise_call *call, bool same_values, uint64_t now)
{
	struct reprise_trace *other = index->by_shape[BUCKET(trace->key_shape)];
	struct reprise_trace *fits = NULL;

	for (; other != NULL; other = other->same_shape) {
		if (other == trace || other->count <= done || other->shape_before[done] != trace->shape_before[done] ||
		    other->key_shape != trace->key_shape || !reprise_trace_usable(other, now))
			continue;
		if (same_values && (other->values_moved || trace->values_moved || other->value_before[done] != trace->value_before[done]))
			continue;
		switch (reprise_op_match(&other->ops[done], call)) {
		case REPRISE_MATCH_SAME:
			return other;
		case REPRISE_MATCH_AGAIN:
		case REPRISE_MATCH_VALUES:
			fits = fits == NULL ? other : fits;
			break;
		default:
			break;
		}
	}
	return same_values ? NULL : fits;
}

struct reprise_trace *reprise_index_oldest(const struct reprise_index *index, const struct reprise_trace *except)
{
	struct reprise_trace *oldest = NULL;

	for (struct reprise_trace *trace = index->all; trace != NULL; trace = trace->next)
		if (trace != except && atomic_load(&trace->graph.state) != REPRISE_GRAPH_QUEUED &&
		    (oldest == NULL || trace->last_followed < oldest->last_followed))
			oldest = trace;
	return oldest;
}
