/* A leaf lock protects the sums over ended traces. Nothing is summed unless a report is wanted. */
#include "trace/account.h"

#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/lock.h"
#include "graph/cost.h"
#include "op/cost.h"
#include "stats/counters.h"

static struct reprise_lock accounts_lock;
static struct reprise_accounts ended;

static uint64_t measured_or_assumed(uint64_t measured)
{
	return measured != 0 ? measured
	                     : reprise_clock_ns_to_ticks(reprise_cost(REPRISE_COST_eager, 1));
}

uint64_t reprise_account_eager_ticks(const struct reprise_op *op)
{
	return measured_or_assumed(reprise_op_cost(op->kind, reprise_op_way(op)));
}

uint64_t reprise_account_kind_ticks(enum reprise_op_kind kind)
{
	return measured_or_assumed(reprise_op_cost_of_kind(kind));
}

static uint64_t told_ticks(const struct reprise_op *op)
{
	return measured_or_assumed(reprise_op_cost_alone(op->kind, reprise_op_way(op)));
}

/* Counts the trace's kernels, by name, and its other ops. */
static void look_at_ops(struct reprise_accounts *accounts, const struct reprise_trace *trace,
                        struct reprise_account *account)
{
	uint64_t visit = 0, kinds[REPRISE_OP_KIND_COUNT] = {0};

	for (unsigned int i = 0; i < trace->count; i++) {
		const struct reprise_op *op = &trace->ops[i];
		uint16_t name = op->kind == REPRISE_OP_KERNEL ? op->kernel.name : 0;

		account->any_value += trace->any_value[i];
		accounts->by_name[name] += trace->replays;
		account->first = account->first == 0 ? name : account->first;
		account->last = name != 0 ? name : account->last;
		visit += told_ticks(op);
		kinds[op->kind]++;
	}
	account->eager_ticks = visit * trace->replays;
	for (int i = 0; i < REPRISE_OP_KIND_COUNT; i++)
		accounts->by_kind[i] += kinds[i] * trace->replays;
}

static struct reprise_account account_of(struct reprise_accounts *accounts,
                                         const struct reprise_trace *trace, unsigned int lane,
                                         bool live)
{
	struct reprise_account account = {
		.key = reprise_hash_mix(trace->shape_before[trace->count], trace->key_value ^ lane),
		.traces = 1,
		.lane = lane,
		.live = live,
		.length = trace->count,
		.replays = trace->replays,
		.ops = trace->replays * trace->count,
		.node_updates = trace->graph.node_updates,
		.updates = trace->graph.updates,
		.host_bytes = live ? trace->bytes : 0,
		.graph_nodes =
			live && atomic_load(&trace->graph.state) == REPRISE_GRAPH_READY ? trace->count : 0,
		.counts = trace->counts,
	};

	look_at_ops(accounts, trace, &account);
	return account;
}

static void sum(struct reprise_account *to, const struct reprise_account *from)
{
	to->traces += from->traces;
	to->live = to->live || from->live;
	to->replays += from->replays;
	to->ops += from->ops;
	to->eager_ticks += from->eager_ticks;
	to->node_updates += from->node_updates;
	to->updates += from->updates;
	to->host_bytes += from->host_bytes;
	to->graph_nodes += from->graph_nodes;
	to->counts.patched += from->counts.patched;
	to->counts.exited_ops += from->counts.exited_ops;
	to->counts.losses += from->counts.losses;
	for (int i = 0; i < REPRISE_EXIT_COUNT; i++)
		to->counts.exits[i] += from->counts.exits[i];
}

static struct reprise_account *same(struct reprise_accounts *accounts, uint64_t key)
{
	for (unsigned int i = 0; i < accounts->count; i++)
		if (accounts->most[i].key == key)
			return &accounts->most[i];
	return NULL;
}

static struct reprise_account *least(struct reprise_accounts *accounts)
{
	struct reprise_account *found = &accounts->most[0];

	for (unsigned int i = 1; i < accounts->count; i++)
		if (accounts->most[i].ops < found->ops)
			found = &accounts->most[i];
	return found;
}

static void take_place(struct reprise_accounts *accounts, struct reprise_account *place,
                       const struct reprise_account *account, const struct reprise_trace *trace)
{
	*place = *account;
	reprise_sequence_note(&accounts->sequences[place - accounts->most], trace);
}

static void add(struct reprise_accounts *accounts, const struct reprise_account *account,
                const struct reprise_trace *trace)
{
	struct reprise_account *place = same(accounts, account->key);

	accounts->nodes += account->length;
	if (place != NULL) {
		sum(place, account);
		return;
	}
	if (accounts->count < REPRISE_ACCOUNTS_MOST) {
		take_place(accounts, &accounts->most[accounts->count++], account, trace);
		return;
	}
	place = least(accounts);
	sum(&accounts->rest, place->ops < account->ops ? place : account);
	if (place->ops < account->ops)
		take_place(accounts, place, account, trace);
}

void reprise_account_ended(const struct reprise_trace *trace, unsigned int lane)
{
	struct reprise_account account;

	if (!reprise_reporting)
		return;
	reprise_lock_take(&accounts_lock);
	account = account_of(&ended, trace, lane, false);
	add(&ended, &account, trace);
	reprise_lock_give(&accounts_lock);
}

void reprise_account_add(struct reprise_accounts *accounts, const struct reprise_trace *trace,
                         unsigned int lane)
{
	struct reprise_account account = account_of(accounts, trace, lane, true);

	add(accounts, &account, trace);
}

bool reprise_accounts_read(struct reprise_accounts *accounts)
{
	if (!reprise_lock_try(&accounts_lock))
		return false;
	*accounts = ended;
	reprise_lock_give(&accounts_lock);
	return true;
}

void reprise_accounts_reset(void)
{
	atomic_store(&accounts_lock.word, 0);
	memset(&ended, 0, sizeof(ended));
}
