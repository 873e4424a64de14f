/*
 * The least cost to issue a lane's ops, each one eagerly or in a graph of a piece that came before:
 * dynamic programming over the ends of pieces. A piece ends at barriers, after MOST_OPS ops, and
 * where the program has thought for SPAN_NS. Where a piece came before is searched among the last
 * places that had the same three values, or shapes, so the cost is an upper bound of the best.
 */
#include "offline.h"

#include <stdlib.h>
#include <string.h>

#include "../virtual/costs.h"

#define MOST_OPS 128
#define SPAN_NS 50000u
#define GRAM 3
#define PLACES 4 /* looked at for each op and kind */
#define BUCKETS (1u << 17)

struct op {
	uint32_t shape, value;
	uint32_t think_ns;
	size_t end;    /* of its segment: the first op behind the next barrier */
	size_t number; /* in the whole stream */
	bool unfit;    /* never in a piece */
};

struct lane {
	struct op *ops;
	size_t count;
};

struct chain {
	uint32_t head[BUCKETS]; /* the last place with this hash, from 1 */
	uint32_t *before;
};

struct step {
	uint64_t cost;
	uint32_t piece; /* how many ops the best last piece holds */
	bool repeated;
};

/* The ops from `begin` on are all of a segment. */
static size_t end_segment(struct lane *lane, size_t begin)
{
	for (size_t i = begin; i < lane->count; i++)
		lane->ops[i].end = lane->count;
	return lane->count;
}

static bool gather(struct lane *lane, const struct opstream *stream, unsigned int wanted)
{
	size_t i, number = 0, begin = 0;
	uint64_t think = 0;

	lane->count = 0;
	lane->ops = calloc(stream->count + 1, sizeof(*lane->ops));
	if (!lane->ops)
		return false;
	for (i = 0; i < stream->count; i++) {
		const struct opstream_record *record = &stream->records[i];
		bool op = opstream_is_op(record);

		think += record->gap_ns;
		if (opstream_is_barrier(record, wanted))
			begin = end_segment(lane, begin);
		if (op && record->lane == wanted) {
			lane->ops[lane->count++] =
				(struct op){record->shape ^ (uint32_t)record->kind << 30,
			                record->value,
			                think > UINT32_MAX ? UINT32_MAX : (uint32_t)think,
			                0,
			                number,
			                record->unfit};
			think = 0;
		}
		if (op && record->unfit && record->lane == wanted)
			begin = end_segment(lane, begin);
		number += op;
	}
	end_segment(lane, begin);
	return true;
}

static uint32_t gram(const struct lane *lane, size_t at, bool values)
{
	uint32_t hash = 2166136261u;
	size_t i;

	for (i = at; i < lane->ops[at].end && i < at + GRAM; i++)
		hash =
			(hash ^ (values ? lane->ops[i].value : lane->ops[i].shape)) * 0x9E3779B1u ^ hash >> 15;
	return hash % BUCKETS;
}

/* Tries pieces that begin at `at`, and came before at `then`. */
static void try(const struct lane *lane, struct step *steps, size_t at, size_t then)
{
	const struct op *ops = lane->ops;
	uint64_t cost = steps[at].cost + COST_GRAPH, think = 0;
	size_t i;

	for (i = 0; i < MOST_OPS && at + i < ops[at].end && then + i < ops[then].end && then + i < at;
	     i++) {
		if (ops[at + i].shape != ops[then + i].shape)
			return;
		think += i ? ops[at + i].think_ns : 0;
		if (think > SPAN_NS)
			return;
		cost += COST_DEFERRED + (ops[at + i].value != ops[then + i].value ? COST_NODE : 0);
		if (cost < steps[at + i + 1].cost)
			steps[at + i + 1] = (struct step){cost, (uint32_t)i + 1, true};
	}
}

static void search_lane(const struct lane *lane, struct chain chains[2], struct step *steps)
{
	size_t at;
	int values, place;

	memset(steps, 0xff, (lane->count + 1) * sizeof(*steps));
	steps[0] = (struct step){0, 0, false};
	for (at = 0; at < lane->count; at++) {
		if (steps[at].cost + COST_EAGER < steps[at + 1].cost)
			steps[at + 1] = (struct step){steps[at].cost + COST_EAGER, 1, false};
		for (values = 0; values < 2 && !lane->ops[at].unfit; values++) {
			struct chain *chain = &chains[values];
			uint32_t bucket = gram(lane, at, values), then = chain->head[bucket];

			for (place = 0; place < PLACES && then; place++, then = chain->before[then - 1])
				try(lane, steps, at, then - 1);
			chain->before[at] = chain->head[bucket];
			chain->head[bucket] = (uint32_t)at + 1;
		}
	}
}

/* Adds up the pieces that end at the last op, from back to front; a piece counts where it begins at
 * op `from` or later. */
static void add_up(struct offline *found, const struct lane *lane, const struct step *steps,
                   size_t from)
{
	size_t at = lane->count;

	while (at > 0) {
		const struct step *step = &steps[at];
		size_t begin = at - step->piece;

		if (lane->ops[begin].number >= from) {
			found->ops += step->piece;
			found->repeated += step->repeated ? step->piece : 0;
			found->host_ns += step->cost - steps[begin].cost;
		}
		at = begin;
	}
}

bool offline_search(struct offline *found, const struct opstream *stream, size_t from_op)
{
	struct chain *chains = calloc(2, sizeof(*chains));
	struct step *steps = calloc(stream->count + 1, sizeof(*steps));
	unsigned int wanted;
	bool done = chains && steps;

	*found = (struct offline){0, 0, 0};
	for (int i = 0; done && i < 2; i++)
		done = (chains[i].before = calloc(stream->count + 1, sizeof(uint32_t))) != NULL;
	for (wanted = 0; done && wanted < OPSTREAM_LANES; wanted++) {
		struct lane lane;

		done = gather(&lane, stream, wanted);
		if (done && lane.count) {
			memset(chains[0].head, 0, sizeof(chains[0].head));
			memset(chains[1].head, 0, sizeof(chains[1].head));
			search_lane(&lane, chains, steps);
			add_up(found, &lane, steps, from_op);
		}
		free(lane.ops);
	}
	for (int i = 0; chains && i < 2; i++)
		free(chains[i].before);
	free(chains);
	free(steps);
	return done;
}
