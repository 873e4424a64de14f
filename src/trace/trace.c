#include "trace/trace.h"

#include <limits.h>
#include <string.h>

#include "base/hash.h"
#include "base/store.h"
#include "base/tuning.h"
#include "graph/shadow.h"
#include "trace/beside.h"
#include "trace/fork.h"

const char *const reprise_exit_names[REPRISE_EXIT_COUNT] = {
#define X(name, words, text) #name,
	REPRISE_EXITS(X)
#undef X
};

const char *const reprise_exit_words[REPRISE_EXIT_COUNT] = {
#define X(name, words, text) words,
	REPRISE_EXITS(X)
#undef X
};

static size_t payload_room(uint32_t bytes)
{
	return (bytes + 15u) & ~(size_t)15;
}

/* The room that it needs for what is known of its graph if that is launched beside its streams. */
static size_t beside_room(const struct reprise_op *ops, unsigned int count,
                          const struct reprise_capture_streams *capture_streams)
{
	return capture_streams->forks != NULL && reprise_fork_in(ops, count) &&
	               !reprise_fork_is_closed(ops, count, 0)
	           ? sizeof(struct reprise_beside) + count + 16
	           : 0;
}

static void note_beside(struct reprise_trace *trace, unsigned char *at)
{
	trace->beside = (struct reprise_beside *)(((uintptr_t)at + 15u) & ~(uintptr_t)15);
	trace->beside->behind = (uint8_t *)(trace->beside + 1);
	reprise_beside_describe(trace->ops, trace->count, trace->beside);
	trace->graph.beside = true;
	trace->graph.roots = trace->beside->roots;
}

/* One block: trace, two arrays of ops, hashes, two bit arrays, nodes, payloads, any_value, beside.
 */
struct reprise_trace *reprise_trace_new(const struct reprise_op *ops, const bool *any_value,
                                        unsigned int count, const struct reprise_position *position,
                                        struct reprise_capture_streams *capture_streams)
{
	size_t payload = 0, words = (count + 63) / 64,
		   beside = beside_room(ops, count, capture_streams);

	for (unsigned int i = 0; i < count; i++)
		payload += payload_room(ops[i].payload_bytes);

	size_t bytes = sizeof(struct reprise_trace) + 2 * count * sizeof(*ops) + 2 * payload + 16 +
	               (count + 1) * sizeof(uint64_t) + 2 * words * sizeof(uint64_t) +
	               count * (sizeof(struct reprise_graph_node) + sizeof(*any_value)) + beside;
	struct reprise_trace *trace = reprise_store_take(REPRISE_STORE_TRACES, bytes);

	if (trace == NULL)
		return NULL;

	unsigned char *at = (unsigned char *)(trace + 1);

	trace->ops = (struct reprise_op *)at;
	trace->incoming = trace->ops + count;
	trace->shape_before = (uint64_t *)(trace->incoming + count);
	trace->changed = trace->shape_before + count + 1;
	trace->wanted = trace->changed + words;
	trace->graph.nodes = (struct reprise_graph_node *)(trace->wanted + words);
	at = (unsigned char *)(((uintptr_t)(trace->graph.nodes + count) + 15u) & ~(uintptr_t)15);

	trace->any_value = (bool *)(at + 2 * payload);
	memcpy(trace->any_value, any_value, count * sizeof(*any_value));
	trace->shape_before[0] = 1;
	for (unsigned int i = 0; i < count; i++) {
		trace->ops[i].payload = at;
		trace->incoming[i].payload = at + payload;
		at += payload_room(ops[i].payload_bytes);
		reprise_op_copy(&trace->ops[i], &ops[i]);
		trace->shape_before[i + 1] = reprise_hash_mix(trace->shape_before[i], ops[i].shape);
	}
	trace->bytes = bytes;
	trace->count = count;
	trace->position = *position;
	trace->cut_at = UINT_MAX;
	trace->key_shape = reprise_hash_mix(position->before, ops[0].shape);
	trace->key_value = reprise_hash_mix(position->before, ops[0].value);
	trace->graph.count = count;
	for (unsigned int i = 0; i < count; i++) {
		trace->graph.members |= (uint8_t)(1u << ops[i].member);
		trace->event_count += reprise_op_is_event(ops[i].kind);
	}
	if (beside > 0)
		note_beside(trace, (unsigned char *)(trace->any_value + count));
	trace->graph.ops = trace->ops;
	trace->graph.capture_streams = capture_streams;
	return trace;
}

void reprise_trace_free(struct reprise_trace *trace)
{
	reprise_shadow_free(&trace->graph);
	reprise_store_give(trace);
}

static void mark(struct reprise_trace *trace, unsigned int i)
{
	trace->changed[i / 64] |= (uint64_t)1 << (i % 64);
	trace->changed_count++;
}

void reprise_trace_change(struct reprise_trace *trace, unsigned int i,
                          const struct reprise_call *call)
{
	reprise_op_take_values(&trace->incoming[i], &trace->ops[i], call);
	mark(trace, i);
}

void reprise_trace_copy_values(struct reprise_trace *trace, unsigned int i,
                               const struct reprise_op *op)
{
	if (reprise_op_same_values(&trace->ops[i], op) && reprise_op_same_memory(&trace->ops[i], op))
		return;
	reprise_op_copy(&trace->incoming[i], op);
	mark(trace, i);
}

void reprise_trace_end_visit(struct reprise_trace *trace, bool kept)
{
	if (trace->changed_count == 0)
		return;
	for (unsigned int i = 0; kept && i < trace->count; i++) {
		if (reprise_trace_op(trace, i) == &trace->ops[i])
			continue;

		struct reprise_op before = trace->ops[i];

		trace->ops[i] = trace->incoming[i];
		trace->incoming[i] = before;
	}
	if (kept && (trace->changed[0] & 1) != 0 && !trace->any_value[0] &&
	    !reprise_op_same_values(&trace->ops[0], &trace->incoming[0]))
		trace->head_moved = true;
	memset(trace->changed, 0, (trace->count + 63) / 64 * sizeof(uint64_t));
	trace->changed_count = 0;
}

bool reprise_trace_usable(const struct reprise_trace *trace, uint64_t now)
{
	return atomic_load_explicit(&trace->graph.state, memory_order_acquire) == REPRISE_GRAPH_READY &&
	       trace->cooldown_until <= now;
}

void reprise_trace_followed(struct reprise_trace *trace, uint64_t now)
{
	trace->visits++;
	trace->last_followed = now;
	if (trace->held > 0)
		trace->held--;
	if (trace->trust < REPRISE_TUNE_TRUST_MOST)
		trace->trust++;
	else if (trace->balance >= 0)
		trace->setbacks = 0;
}

void reprise_trace_begin_cooldown(struct reprise_trace *trace, uint64_t now)
{
	trace->trust = 0;
	trace->cooldown_until = now + ((uint64_t)REPRISE_TUNE_COOLDOWN_FIRST << trace->setbacks);
	trace->may_return = false;
	if (trace->setbacks < REPRISE_TUNE_COOLDOWN_SETBACKS)
		trace->setbacks++;
}

bool reprise_trace_note_held(struct reprise_trace *trace, unsigned int at)
{
	trace->held = REPRISE_TUNE_HELD_WEIGHT + (trace->held_at == at ? trace->held : 0);
	trace->held_at = at;
	return trace->held > REPRISE_TUNE_HELD_MOST;
}

/* Where a part of the trace would be replayed in its place, a replay of the whole saves a launch,
 * and a side exit costs an eager call for each op that was deferred. (Not so of graphs beside their
 * streams: where a wait cuts one is known, cut_at.) */
void reprise_trace_note_side_exit(struct reprise_trace *trace, uint64_t now, unsigned int deferred)
{
	bool has_part =
		trace->part != NULL && trace->beside == NULL && reprise_trace_usable(trace->part, now);
	int weight = REPRISE_TUNE_TRUST_SIDE_EXIT;

	trace->trust -= has_part && (int)deferred > weight ? (int)deferred : weight;
	if (trace->trust >= (has_part ? 0 : -2 * weight))
		return;
	reprise_trace_begin_cooldown(trace, now);
	trace->may_return = true;
}

bool reprise_trace_return(struct reprise_trace *trace)
{
	if (!trace->may_return ||
	    atomic_load_explicit(&trace->graph.state, memory_order_acquire) != REPRISE_GRAPH_READY)
		return false;
	trace->cooldown_until = 0;
	return true;
}
