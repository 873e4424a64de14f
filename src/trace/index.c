#include "index.h"

#include "../base/hash.h"

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

static bool is_here(const struct reprise_trace *trace, const struct reprise_spot *spot)
{
	return trace->spot.position == spot->position || trace->spot.value == spot->value || trace->spot.value == 0 || spot->value == 0;
}

static bool better(const struct reprise_trace *trace, const struct reprise_trace *best, const struct reprise_spot *spot, uint64_t now)
{
	bool here = trace->spot.position == spot->position;

	if (!reprise_trace_usable(trace, now) || !is_here(trace, spot))
		return false;
	if (best == NULL || here != (best->spot.position == spot->position))
		return best == NULL || here;
	return trace->last_followed > best->last_followed;
}

struct reprise_trace *reprise_index_find_value(const struct reprise_index *index, const struct reprise_spot *spot,
                                               const struct reprise_op *op, uint64_t now)
{
	uint64_t key = reprise_hash_mix(spot->before, op->value);
	struct reprise_trace *best = NULL;

	for (struct reprise_trace *trace = index->by_value[BUCKET(key)]; trace != NULL; trace = trace->same_value)
		if (trace->key_value == key && !trace->head_moved && !trace->loose[0] && better(trace, best, spot, now))
			best = trace;
	return best;
}

struct reprise_trace *reprise_index_find_shape(const struct reprise_index *index, const struct reprise_spot *spot,
                                               const struct reprise_op *op, uint64_t now)
{
	uint64_t key = reprise_hash_mix(spot->before, op->shape);
	struct reprise_trace *best = NULL;

	for (struct reprise_trace *trace = index->by_shape[BUCKET(key)]; trace != NULL; trace = trace->same_shape)
		if (trace->key_shape == key && trace->loose[0] && (trace->spot.position == spot->position || spot->position > REPRISE_NEAR_WAIT) &&
		    better(trace, best, spot, now))
			best = trace;
	return best;
}

static bool same_where_tight(const struct reprise_trace *trace, const struct reprise_op *ops)
{
	for (unsigned int i = 0; i < trace->count; i++)
		if (!trace->loose[i] && !reprise_op_same_values(&trace->ops[i], &ops[i]))
			return false;
	return true;
}

struct reprise_trace *reprise_index_same(const struct reprise_index *index, const struct reprise_spot *spot,
                                         const struct reprise_op *ops, unsigned int count)
{
	uint64_t key = reprise_hash_mix(spot->before, ops[0].shape), shapes = 1;

	for (unsigned int i = 0; i < count; i++)
		shapes = reprise_hash_mix(shapes, ops[i].shape);
	for (struct reprise_trace *trace = index->by_shape[BUCKET(key)]; trace != NULL; trace = trace->same_shape)
		if (trace->key_shape == key && trace->count == count && trace->shape_before[count] == shapes && is_here(trace, spot) &&
		    same_where_tight(trace, ops))
			return trace;
	return NULL;
}

/* Whether `other` has the values of this visit of `trace` so far, where it is not loose. */
static bool agrees(const struct reprise_trace *other, const struct reprise_trace *trace, unsigned int done)
{
	for (unsigned int i = 0; i < done; i++)
		if (!other->loose[i] && !reprise_op_same_values(&other->ops[i], reprise_trace_op(trace, i)))
			return false;
	return true;
}

struct reprise_trace *reprise_index_sibling(const struct reprise_index *index, const struct reprise_trace *trace, unsigned int done,
                                            const struct reprise_call *call, bool same_values, uint64_t now, bool *coming)
{
	struct reprise_trace *other = index->by_shape[BUCKET(trace->key_shape)];
	struct reprise_trace *fits = NULL, *loosely = NULL;

	*coming = false;
	for (; other != NULL; other = other->same_shape) {
		if (other == trace || other->count <= done || other->shape_before[done] != trace->shape_before[done] ||
		    other->key_shape != trace->key_shape)
			continue;

		enum reprise_match match = reprise_op_match(&other->ops[done], call);

		if (match == REPRISE_MATCH_NOT)
			continue;
		if (!reprise_trace_usable(other, now))
			*coming = *coming || (match == REPRISE_MATCH_SAME && agrees(other, trace, done));
		else if (!agrees(other, trace, done) || (match != REPRISE_MATCH_SAME && !other->loose[done]))
			fits = fits == NULL ? other : fits;
		else if (match == REPRISE_MATCH_SAME)
			return other;
		else
			loosely = loosely == NULL ? other : loosely;
	}
	return loosely != NULL || same_values ? loosely : fits;
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
