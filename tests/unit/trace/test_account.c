/* Accounts of traces: each field, of one trace, of the same trace made again, and of those that are
 * summed because there are too many. */
#include <stdlib.h>
#include <string.h>

#include "../../suite.h"
#include "stats/counters.h"
#include "op/cost.h"
#include "trace/account.h"
#include "ops.h"

#define OPS 4
#define EAGER 70 /* ticks of an eager kernel */

static struct reprise_accounts accounts;
static struct reprise_capture_streams streams;

/* A trace that begins with op `first`: a memset, two kernels, a memset; two of any value. */
static struct reprise_trace *trace_of(unsigned int first, uint64_t replays)
{
	static const struct reprise_position position = {.before = REPRISE_BEFORE_WAIT};
	static const bool any_value[OPS] = {false, true, true, false};
	struct reprise_op ops[OPS];
	struct reprise_trace *trace;

	for (unsigned int i = 0; i < OPS; i++)
		ops[i] = op_of(first + i, 0);
	ops[1].kind = ops[2].kind = REPRISE_OP_KERNEL;
	ops[1].kernel.name = 3;
	ops[2].kernel.name = 5;
	trace = reprise_trace_new(ops, any_value, OPS, &position, &streams);
	ck_assert_ptr_nonnull(trace);
	trace->replays = replays;
	trace->graph.node_updates = 10 + replays;
	trace->graph.updates = 20 + replays;
	trace->counts.patched = 30 + replays;
	trace->counts.exited_ops = 40 + replays;
	trace->counts.losses = 50 + replays;
	for (unsigned int i = 0; i < REPRISE_EXIT_COUNT; i++)
		trace->counts.exits[i] = 60 + i + replays;
	atomic_store(&trace->graph.state, REPRISE_GRAPH_READY);
	return trace;
}

static void setup(void)
{
	reprise_clock_start();
	reprise_reporting = true;
	memset(&accounts, 0, sizeof(accounts));
	reprise_op_cost_note(REPRISE_OP_KERNEL, REPRISE_WAY_NONE, EAGER);
	reprise_op_cost_note(REPRISE_OP_SET, REPRISE_WAY_NONE, EAGER / 2);
}

/* What accounts of `traces` traces with so many replays together say. */
static void says(const struct reprise_account *account, uint64_t traces, uint64_t replays,
                 uint64_t live)
{
	ck_assert_uint_eq(account->traces, traces);
	ck_assert_int_eq(account->live, live > 0);
	ck_assert_uint_eq(account->replays, replays);
	ck_assert_uint_eq(account->ops, replays * OPS);
	ck_assert_uint_eq(account->eager_ticks, replays * (2 * EAGER + 2 * (EAGER / 2)));
	ck_assert_uint_eq(account->node_updates, 10 * traces + replays);
	ck_assert_uint_eq(account->updates, 20 * traces + replays);
	ck_assert_uint_eq(account->counts.patched, 30 * traces + replays);
	ck_assert_uint_eq(account->counts.exited_ops, 40 * traces + replays);
	ck_assert_uint_eq(account->counts.losses, 50 * traces + replays);
	for (unsigned int i = 0; i < REPRISE_EXIT_COUNT; i++)
		ck_assert_uint_eq(account->counts.exits[i], (60 + i) * traces + replays);
	ck_assert_uint_eq(account->graph_nodes, OPS * live);
	ck_assert_int_eq(account->host_bytes > 0, live > 0);
}

START_TEST(each_field_is_of_the_trace)
{
	struct reprise_trace *trace = trace_of(1, 7);
	const struct reprise_account *account = &accounts.most[0];

	reprise_account_add(&accounts, trace, 9);
	ck_assert_uint_eq(accounts.count, 1);
	says(account, 1, 7, 1);
	ck_assert_uint_eq(account->lane, 9);
	ck_assert_uint_eq(account->length, OPS);
	ck_assert_uint_eq(account->any_value, 2);
	ck_assert_uint_eq(account->first, 3);
	ck_assert_uint_eq(account->last, 5);
	ck_assert_uint_eq(account->host_bytes, trace->bytes);
	ck_assert_uint_eq(accounts.nodes, OPS);
	ck_assert_uint_eq(accounts.by_name[3], 7);
	ck_assert_uint_eq(accounts.by_name[5], 7);
	ck_assert_uint_eq(accounts.by_kind[REPRISE_OP_KERNEL], 14);
	ck_assert_uint_eq(accounts.by_kind[REPRISE_OP_SET], 14);
	ck_assert_uint_eq(accounts.by_kind[REPRISE_OP_COPY], 0);
	reprise_trace_free(trace);
}
END_TEST

START_TEST(only_a_graph_that_is_built_has_nodes)
{
	struct reprise_trace *trace = trace_of(1, 7);

	atomic_store(&trace->graph.state, REPRISE_GRAPH_QUEUED);
	reprise_account_add(&accounts, trace, 0);
	ck_assert_uint_eq(accounts.most[0].graph_nodes, 0);
	ck_assert_uint_eq(accounts.most[0].host_bytes, trace->bytes);
	reprise_trace_free(trace);
}
END_TEST

/* Ended, and made again: one account. In another lane, or of other ops: another. */
START_TEST(a_trace_that_is_made_again_goes_on_with_its_account)
{
	struct reprise_trace *trace = trace_of(1, 7), *again = trace_of(1, 4), *other = trace_of(2, 1);

	reprise_account_ended(trace, 9);
	ck_assert(reprise_accounts_read(&accounts));
	says(&accounts.most[0], 1, 7, 0);
	reprise_account_add(&accounts, again, 9);
	ck_assert_uint_eq(accounts.count, 1);
	says(&accounts.most[0], 2, 11, 1);
	ck_assert_uint_eq(accounts.most[0].host_bytes, again->bytes);
	reprise_account_add(&accounts, again, 8);
	reprise_account_add(&accounts, other, 9);
	ck_assert_uint_eq(accounts.count, 3);
	ck_assert_uint_eq(accounts.nodes, 4 * OPS);
	reprise_trace_free(trace);
	reprise_trace_free(again);
	reprise_trace_free(other);
}
END_TEST

START_TEST(without_a_report_nothing_is_summed)
{
	struct reprise_trace *trace = trace_of(1, 7);

	reprise_reporting = false;
	reprise_account_ended(trace, 9);
	ck_assert(reprise_accounts_read(&accounts));
	ck_assert_uint_eq(accounts.count, 0);
	reprise_reporting = true;
	reprise_account_ended(trace, 9);
	reprise_accounts_reset();
	ck_assert(reprise_accounts_read(&accounts));
	ck_assert_uint_eq(accounts.count, 0);
	reprise_trace_free(trace);
}
END_TEST

/* The least of them is summed with the rest, whenever it came. */
START_TEST(the_least_are_summed)
{
	for (int i = 0; i <= REPRISE_ACCOUNTS_MOST; i++) {
		struct reprise_trace *trace =
			trace_of(10 * (unsigned int)i + 1, i == _i ? 2 : 100 + (uint64_t)i);

		reprise_account_add(&accounts, trace, 0);
		reprise_trace_free(trace);
	}
	ck_assert_uint_eq(accounts.count, REPRISE_ACCOUNTS_MOST);
	says(&accounts.rest, 1, 2, 1);
	for (unsigned int i = 0; i < accounts.count; i++)
		ck_assert_uint_ge(accounts.most[i].replays, 100);
	ck_assert_uint_eq(accounts.nodes, OPS * (REPRISE_ACCOUNTS_MOST + 1));
}
END_TEST

/* However many there are, in whatever order: the greatest stay, each with what it had when it came,
 * and nothing is lost. */
START_TEST(the_greatest_stay)
{
	enum { TRACES = 3 * REPRISE_ACCOUNTS_MOST };
	uint64_t replays[TRACES], kept[TRACES] = {0}, rest = 0, all = 0;
	unsigned int many = 0;

	srandom((unsigned int)_i);
	for (unsigned int i = 0; i < TRACES; i++) {
		struct reprise_trace *trace;
		unsigned int least = i;

		replays[i] = 1000 * (uint64_t)(random() % 50) + i; /* no two are alike */
		all += replays[i];
		kept[i] = replays[i] + 1;
		many++;
		for (unsigned int k = 0; k < i; k++)
			if (kept[k] != 0 && kept[k] < kept[least])
				least = k;
		if (many > REPRISE_ACCOUNTS_MOST) {
			rest += kept[least] - 1;
			kept[least] = 0;
			many--;
		}
		trace = trace_of(10 * i + 1, replays[i]);
		reprise_account_add(&accounts, trace, 0);
		reprise_trace_free(trace);
	}
	ck_assert_uint_eq(accounts.count, REPRISE_ACCOUNTS_MOST);
	says(&accounts.rest, TRACES - REPRISE_ACCOUNTS_MOST, rest, 2 * REPRISE_ACCOUNTS_MOST);
	for (unsigned int i = 0; i < accounts.count; i++) {
		uint64_t number = accounts.most[i].replays % 1000;

		ck_assert_uint_eq(accounts.most[i].replays, kept[number] - 1);
		kept[number] = 0; /* once */
		rest += accounts.most[i].replays;
	}
	ck_assert_uint_eq(rest, all);
}
END_TEST

static void has_row(unsigned int i, enum reprise_op_kind kind, uint16_t name, uint32_t times,
                    bool any_value)
{
	const struct reprise_sequence_row *row = &accounts.sequences[0].rows[i];

	ck_assert_int_eq(row->kind, (int)kind);
	ck_assert_uint_eq(row->name, name);
	ck_assert_uint_eq(row->times, times);
	ck_assert_int_eq(row->any_value, any_value);
}

START_TEST(a_sequence_has_the_ops_in_their_order)
{
	struct reprise_trace *trace = trace_of(1, 7);

	trace->ops[1].kernel.grid[2] = 5;
	trace->ops[1].kernel.block[0] = 128;
	reprise_account_add(&accounts, trace, 0);
	ck_assert_uint_eq(accounts.sequences[0].count, OPS);
	ck_assert_uint_eq(accounts.sequences[0].left_out, 0);
	has_row(0, REPRISE_OP_SET, 0, 1, false);
	has_row(1, REPRISE_OP_KERNEL, 3, 1, true);
	has_row(2, REPRISE_OP_KERNEL, 5, 1, true);
	has_row(3, REPRISE_OP_SET, 0, 1, false);
	ck_assert_uint_eq(accounts.sequences[0].rows[0].bytes, 4);
	ck_assert_uint_eq(accounts.sequences[0].rows[1].kernel.grid[2], 5);
	ck_assert_uint_eq(accounts.sequences[0].rows[1].kernel.block[0], 128);
	reprise_trace_free(trace);
}
END_TEST

/* As many memsets, of which those from `from` on have `bytes` bytes more each time. */
static void note_memsets(unsigned int count, unsigned int from, unsigned int bytes)
{
	static const struct reprise_position position = {.before = REPRISE_BEFORE_WAIT};
	static const bool any_value[4 * REPRISE_SEQUENCE_MOST];
	struct reprise_op ops[4 * REPRISE_SEQUENCE_MOST];
	struct reprise_trace *trace;

	for (unsigned int i = 0; i < count; i++) {
		ops[i] = op_of(i + 1, 0);
		ops[i].set.width += i >= from ? (size_t)(i - from + 1) * bytes : 0;
	}
	trace = reprise_trace_new(ops, any_value, count, &position, &streams);
	ck_assert_ptr_nonnull(trace);
	reprise_account_add(&accounts, trace, 0);
	reprise_trace_free(trace);
}

START_TEST(equal_ops_in_a_row_are_one_row)
{
	note_memsets(20, 15, 8);
	ck_assert_uint_eq(accounts.sequences[0].count, 6);
	has_row(0, REPRISE_OP_SET, 0, 15, false);
	has_row(5, REPRISE_OP_SET, 0, 1, false);
}
END_TEST

START_TEST(a_long_sequence_is_cut_and_the_rest_counted)
{
	note_memsets(REPRISE_SEQUENCE_MOST + 10, 1, 8);
	ck_assert_uint_eq(accounts.sequences[0].count, REPRISE_SEQUENCE_MOST);
	ck_assert_uint_eq(accounts.sequences[0].left_out, 10);
	memset(&accounts, 0, sizeof(accounts));
	note_memsets(REPRISE_SEQUENCE_MOST, 1, 8);
	ck_assert_uint_eq(accounts.sequences[0].left_out, 0);
}
END_TEST

/* Whose place was taken has no part in it. */
START_TEST(a_sequence_is_of_its_trace)
{
	for (unsigned int i = 0; i <= REPRISE_ACCOUNTS_MOST; i++) {
		struct reprise_trace *trace = trace_of(10 * i + 1, 2 + i);

		trace->ops[1].kernel.grid[0] = 100 + i;
		reprise_account_add(&accounts, trace, 0);
		reprise_trace_free(trace);
	}
	for (unsigned int i = 0; i < accounts.count; i++)
		ck_assert_uint_eq(accounts.sequences[i].rows[1].kernel.grid[0],
		                  98 + accounts.most[i].replays);
}
END_TEST

START_TEST(a_cost_that_was_not_measured_is_estimated)
{
	struct reprise_op kernel = {.kind = REPRISE_OP_KERNEL}, host = {.kind = REPRISE_OP_HOST};

	ck_assert_uint_eq(reprise_account_eager_ticks(&kernel), EAGER);
	ck_assert_uint_eq(reprise_account_kind_ticks(REPRISE_OP_KERNEL), EAGER);
	ck_assert_uint_gt(reprise_account_eager_ticks(&host), 0);
	ck_assert_uint_ne(reprise_account_eager_ticks(&host), EAGER);
	ck_assert_uint_gt(reprise_account_kind_ticks(REPRISE_OP_HOST), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("account");
	TCase *tests = tcase_create("account");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, each_field_is_of_the_trace);
	tcase_add_test(tests, only_a_graph_that_is_built_has_nodes);
	tcase_add_test(tests, a_trace_that_is_made_again_goes_on_with_its_account);
	tcase_add_test(tests, without_a_report_nothing_is_summed);
	tcase_add_loop_test(tests, the_least_are_summed, 0, REPRISE_ACCOUNTS_MOST + 1);
	tcase_add_loop_test(tests, the_greatest_stay, 0, 10);
	tcase_add_test(tests, a_sequence_has_the_ops_in_their_order);
	tcase_add_test(tests, equal_ops_in_a_row_are_one_row);
	tcase_add_test(tests, a_long_sequence_is_cut_and_the_rest_counted);
	tcase_add_test(tests, a_sequence_is_of_its_trace);
	tcase_add_test(tests, a_cost_that_was_not_measured_is_estimated);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
