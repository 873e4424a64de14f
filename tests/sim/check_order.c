/*
 * Happens-before, by vector clocks over chains.
 *
 * A chain is a run of ops of one lane each of which happens before the next. Mostly a lane is one
 * chain; the parallel branches of a graph make more. An op's clock says for each chain how many of
 * its ops happen before it, and since those of a chain are ordered, that says everything. Chains
 * are found in the plain run; the run under Reprise has to fit them: the first op whose clock
 * differs has lost an edge, or was given one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_run.h"

/* The last op of each chain. */
struct chains {
	struct check_op **last;
	uint32_t count;
};

static uint32_t at(const struct check_op *op, uint32_t chain)
{
	return chain < op->clocks ? op->clock[chain] : 0;
}

static uint32_t at_most(const struct check_op *op, uint32_t chain)
{
	return chain < op->mosts ? op->most[chain] : 0;
}

static void raise(uint32_t **clock, uint32_t *clocks, uint32_t chain, uint32_t value)
{
	if (chain >= *clocks) {
		*clock = check_grow(*clock, (chain + 1) * sizeof(**clock));
		memset(*clock + *clocks, 0, (chain + 1 - *clocks) * sizeof(**clock));
		*clocks = chain + 1;
	}
	if ((*clock)[chain] < value)
		(*clock)[chain] = value;
}

static void raise_to(struct check_op *op, uint32_t chain, uint32_t value)
{
	raise(&op->clock, &op->clocks, chain, value);
}

static void gather_from(const struct check_run *run, struct check_op *op, uint64_t sequence)
{
	const struct check_op *before = check_find(run, sequence);
	uint32_t chain;

	for (chain = 0; before && chain < before->clocks; chain++)
		raise_to(op, chain, before->clock[chain]);
	if (before && before->is_op)
		raise_to(op, before->chain, before->position);
}

/* The clock of an op is what its predecessors' say, and they themselves. `host`: what the host
 * waited for counts, too. */
static void gather(const struct check_run *run, struct check_op *op, bool host)
{
	const char *text = op->after;

	while (*text != ' ') {
		char *end;

		gather_from(run, op, check_number(text, &end));
		text = *end == ',' ? end + 1 : end;
	}
	if (host)
		gather_from(run, op, op->host);
}

static void gather_most_from(const struct check_run *run, struct check_op *op, uint64_t sequence)
{
	const struct check_op *before = check_find(run, sequence);
	uint32_t chain;

	for (chain = 0; before && chain < before->mosts; chain++)
		raise(&op->most, &op->mosts, chain, before->most[chain]);
	if (before && before->is_op)
		raise(&op->most, &op->mosts, before->chain, before->position);
}

/* The same of `most`. A wait comes after its own thread's waits alone: the last of `after`. */
static void gather_most(const struct check_run *run, struct check_op *op)
{
	const char *text = op->after;
	bool is_wait = strncmp(op->what, "host-wait ", 10) == 0;

	while (*text != ' ') {
		char *end;
		uint64_t sequence = check_number(text, &end);

		if (!is_wait || *end == ' ')
			gather_most_from(run, op, sequence);
		text = *end == ',' ? end + 1 : end;
	}
	gather_most_from(run, op, op->own);
}

/* Appends the op to a chain of its lane whose last op happens before it, or to a new one. */
static void join_chain(struct chains *chains, struct check_op *op)
{
	uint32_t chain;

	for (chain = 0; chain < chains->count; chain++)
		if (chains->last[chain]->lane == op->lane && at(op, chain) == chains->last[chain]->position)
			break;
	if (chain == chains->count) {
		chains->last = check_grow(chains->last, ++chains->count * sizeof(*chains->last));
		chains->last[chain] = NULL;
	}
	op->chain = chain;
	op->position = chains->last[chain] ? chains->last[chain]->position + 1 : 1;
	chains->last[chain] = op;
}

static void find_order(struct check_run *run, struct chains *chains, bool host)
{
	size_t i;

	for (i = 0; i < run->count; i++) {
		if (run->ops[i].clocks > 0)
			memset(run->ops[i].clock, 0, run->ops[i].clocks * sizeof(*run->ops[i].clock));
		gather(run, &run->ops[i], host);
		if (run->ops[i].is_op)
			join_chain(chains, &run->ops[i]);
	}
}

static const struct check_op *in_chain(const struct check_run *run, uint32_t chain,
                                       uint32_t position)
{
	size_t i;

	for (i = 0; i < run->count; i++)
		if (run->ops[i].is_op && run->ops[i].chain == chain && run->ops[i].position == position)
			return &run->ops[i];
	return NULL;
}

static void tell(const struct check_run *run, const char *how, const struct check_op *op,
                 const struct check_op *before)
{
	const struct check_lane *lane = &run->lanes[op->lane], *other = &run->lanes[before->lane];

	printf(
		"an edge is %s: context %lu, stream %s, op %zu:\n  %s\n%s context %lu, stream %s, op %zu:\n  %s\n",
		how, lane->context, lane->stream, op->number + 1, op->what,
		how[0] == 'l' ? "no longer happens after" : "has to wait for", other->context,
		other->stream, before->number + 1, before->what);
}

/* The last op that only one of the two has seen of the first chain on which they differ, or NULL.
 * *lost: `seen` has not. `most`: what a thread had waited for before it enqueued them may be what
 * orders them, in one run or the other. */
static const struct check_op *difference(const struct check_run *plain,
                                         const struct check_op *wanted, const struct check_op *seen,
                                         bool most, bool *lost)
{
	uint32_t chains = wanted->clocks > seen->clocks ? wanted->clocks : seen->clocks, chain;

	for (chain = 0; chain < chains; chain++) {
		uint32_t x = at(wanted, chain), y = at(seen, chain);

		*lost = x > (most ? at_most(seen, chain) : y);
		if (*lost || y > (most ? at_most(wanted, chain) : x))
			return in_chain(plain, chain, *lost ? x : y);
	}
	return NULL;
}

/* True if the wait is for a stream that executes nothing, and tells no more than the one before it.
 * Reprise has such streams: an event that a whole context waits for is waited for there, too. */
static bool tells_nothing(const struct check_run *run, const struct check_op *wait,
                          const struct check_op *before)
{
	const char *waited_for = strchr(wait->after, ',');
	const struct check_op *waited;
	uint32_t chain;
	char *end;

	waited = waited_for ? check_find(run, check_number(waited_for + 1, &end)) : NULL;
	if (!waited || waited->lane < run->lane_count)
		return false;
	for (chain = 0; chain < wait->clocks || chain < before->clocks; chain++)
		if (at(wait, chain) != at(before, chain))
			return false;
	return true;
}

static void drop_waits_that_tell_nothing(struct check_run *run)
{
	size_t kept = 0, i;

	for (i = 0; i < run->wait_count; i++)
		if (i == 0 || !tells_nothing(run, &run->ops[run->waits[i]], &run->ops[run->waits[i - 1]]))
			run->waits[kept++] = run->waits[i];
	run->wait_count = kept;
}

/* What had finished each time that the host had waited. */
static bool same_waits(const struct check_run *plain, const struct check_run *reprise)
{
	size_t i;
	bool lost;

	if (plain->wait_count && reprise->wait_count && plain->wait_count != reprise->wait_count) {
		printf("the host waits %zu times, but %zu times under Reprise\n", plain->wait_count,
		       reprise->wait_count);
		return false;
	}
	for (i = 0; i < plain->wait_count && i < reprise->wait_count; i++) {
		const struct check_op *wanted = &plain->ops[plain->waits[i]],
							  *seen = &reprise->ops[reprise->waits[i]];
		const struct check_op *op = difference(plain, wanted, seen, false, &lost);

		if (!op)
			continue;
		printf("the host's wait %zu %s context %lu, stream %s, op %zu:\n  %s\n", i + 1,
		       lost ? "no longer waits for" : "has to wait for", plain->lanes[op->lane].context,
		       plain->lanes[op->lane].stream, op->number + 1, op->what);
		return false;
	}
	return true;
}

bool check_same_order(struct check_run *plain, struct check_run *reprise)
{
	struct chains chains = {0};
	size_t i;
	bool lost;

	find_order(plain, &chains, false);
	free(chains.last);
	for (i = 0; i < plain->count; i++)
		gather_most(plain, &plain->ops[i]);
	for (i = 0; i < reprise->count; i++) {
		struct check_op *op = &reprise->ops[i];
		const struct check_op *pendant, *before;

		gather(reprise, op, false);
		gather_most(reprise, op);
		if (!op->is_op)
			continue;
		pendant = &plain->ops[plain->lanes[op->lane].ops[op->number]];
		op->chain = pendant->chain;
		op->position = pendant->position;
		before = difference(plain, pendant, op, true, &lost);
		if (before) {
			tell(plain, lost ? "lost" : "invented", pendant, before);
			return false;
		}
	}
	drop_waits_that_tell_nothing(plain);
	drop_waits_that_tell_nothing(reprise);
	return same_waits(plain, reprise);
}

/* ---- races ---- */

/* Who touched a block of memory last, by chain. */
struct access {
	const struct check_op *op;
	uint64_t from, to;
	bool writes;
};

struct block {
	struct access *accesses;
	size_t count, room;
};

static const char kinds[] = "dhmr";
static struct {
	struct block *blocks;
	size_t count;
} memory[sizeof(kinds)];

static struct block *block_of(size_t kind, unsigned long number)
{
	if (number >= memory[kind].count) {
		size_t count = number * 2 + 64;

		memory[kind].blocks = check_grow(memory[kind].blocks, count * sizeof(struct block));
		memset(memory[kind].blocks + memory[kind].count, 0,
		       (count - memory[kind].count) * sizeof(struct block));
		memory[kind].count = count;
	}
	return &memory[kind].blocks[number];
}

/* Notes an access; false, and said, if it is not ordered against an earlier one. */
static bool touch(const struct check_run *run, struct block *block, struct access access)
{
	size_t i, kept = 0;

	for (i = 0; i < block->count; i++) {
		const struct access *old = &block->accesses[i];
		bool overlaps = old->from < access.to && access.from < old->to;
		bool ordered = at(access.op, old->op->chain) >= old->op->position;

		if (old->op != access.op && overlaps && (old->writes || access.writes) && !ordered) {
			printf(
				"a race: context %lu, stream %s, op %zu:\n  %s\nis not ordered against context %lu, stream %s, op %zu:\n  %s\n",
				run->lanes[access.op->lane].context, run->lanes[access.op->lane].stream,
				access.op->number + 1, access.op->what, run->lanes[old->op->lane].context,
				run->lanes[old->op->lane].stream, old->op->number + 1, old->op->what);
			return false;
		}
		/* What comes after this access and is ordered against it is ordered against what it follows
		 * in its own chain, too. */
		if (old->op->chain == access.op->chain && old->from == access.from &&
		    old->to == access.to && (access.writes || !old->writes))
			continue;
		block->accesses[kept++] = *old;
	}
	block->count = kept;
	if (block->count == block->room) {
		block->room = block->room ? block->room * 2 : 4;
		block->accesses = check_grow(block->accesses, block->room * sizeof(*block->accesses));
	}
	block->accesses[block->count++] = access;
	return true;
}

/* How many bytes a copy or memset covers from its address on, as the log tells; everything where it
 * does not. */
static uint64_t extent(const char *what)
{
	unsigned long a, b, c;
	unsigned int size;
	const char *at;

	if ((at = strstr(what, " bytes=")) && sscanf(at, " bytes=%lu,%lu,%lu", &a, &b, &c) == 3)
		return b * c == 1 ? a : UINT64_MAX / 2;
	if ((at = strstr(what, " size=")) && sscanf(at, " size=%u width=%lu", &size, &a) == 2)
		return strstr(what, " height=") ? UINT64_MAX / 2 : size * a;
	return UINT64_MAX / 2;
}

/* All that an op touches. Addresses in parameters say what is done there, those in attributes are
 * advice; of a copy the first is read and the second written. */
static bool touches_in_order(const struct check_run *run, const struct check_op *op)
{
	bool is_kernel = strncmp(op->what, "kernel ", 7) == 0;
	uint64_t bytes = is_kernel ? UINT64_MAX / 2 : extent(op->what);
	const char *text = is_kernel ? strstr(op->what, " parameters=") : op->what;

	/* A means of synchronisation, as a kernel's pointer to volatile is. */
	if (strncmp(op->what, "wait value ", 11) == 0 || strncmp(op->what, "write value ", 12) == 0)
		return true;
	while (text && (text = strchr(text, '@'))) {
		const char *kind = text[1] ? strchr(kinds, text[1]) : NULL;
		unsigned long number, offset;
		struct access access = {.op = op};
		char *end;

		if (!kind || !*kind) {
			text++;
			continue;
		}
		number = check_number(text + 2, &end);
		offset = *end == '+' ? strtoul(end + 1, &end, 16) : 0;
		access.from = offset;
		access.to = offset + bytes;
		access.writes = is_kernel ? *end == 'w' || *end == 'u' : strncmp(text - 5, "from=", 5) != 0;
		text = end;
		if (is_kernel && *end == 'v')
			continue;
		if (!touch(run, block_of((size_t)(kind - kinds), number), access))
			return false;
	}
	return true;
}

bool check_no_races(struct check_run *run)
{
	struct chains chains = {0};
	size_t i;

	find_order(run, &chains, true);
	free(chains.last);
	for (i = 0; i < run->count; i++)
		if (run->ops[i].is_op && !touches_in_order(run, &run->ops[i]))
			return false;
	return true;
}
