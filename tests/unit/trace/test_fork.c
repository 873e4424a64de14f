/* Which ops of several streams may be one graph. */
#include "../../suite.h"
#include "fork_ops.h"
#include "trace/fork.h"

static const struct {
	const char *ops;
	bool closed;
	uint8_t blocking;
} sequences[] = {
	{"Ka Ka Ka", true, 0},
	{"Kc Kc", true, 0},
	{"Ka R1a", true, 0},
	{"Ka Kb", false, 0},
	{"R1a W1b Kb R2b W2a Ka", true, 0},
	{"Ka R1a W1b Kb Ka R2b W2a", true, 0},
	{"R1a W1b Kb Ka", false, 0},
	{"R1a W1b Kb R2b W2a Kb", false, 0},
	{"W1b Kb R2b", false, 0},
	{"R1a W2b Kb R2b W2a", false, 0},
	{"R1a W1b W1c Kb Kc R2b R3c W2a W3a", true, 0},
	{"R1a W1b W1c Kb Kc R2b R3c W2a", false, 0},
	{"R1a W1b R2b W2c Kc R3c W3b R4b W4a", true, 0}, /* b forks to c */
	{"R1a W1b R2b W2c Kc R3c W3a", true, 0},         /* c comes behind b */
	{"R1a W1b Kb R1b W1a Ka", true, 0},              /* the same event again */
	{"R1a W1b Kb R1a W1a", false, 0},
	{"R1a W1a Ka", true, 0},
	{"R1a W1b Kb R2b W2a", true, 3},
	{"R1a W1b Kb R2b W2a", true, 1}, /* only the origin is blocking */
	{"R1a W1b Kb R2b W2a", false, 2},
	{"Kb Kb", true, 2},
};

START_TEST(a_graph_is_closed)
{
	struct reprise_op ops[MOST];
	unsigned int count = ops_of(sequences[_i].ops, ops);

	ck_assert_msg(reprise_fork_is_closed(ops, count, sequences[_i].blocking) ==
	                  sequences[_i].closed,
	              "%s", sequences[_i].ops);
}
END_TEST

static unsigned int reach(const char *text, unsigned int start, unsigned int wanted)
{
	struct reprise_op ops[MOST];
	bool crossed[MOST];
	unsigned int count = ops_of(text, ops);

	reprise_fork_cross(ops, count, crossed);
	return reprise_fork_reach(ops + start, count - start, wanted, crossed + start, count - start,
	                          0);
}

START_TEST(a_graph_ends_where_all_that_it_forks_is_joined)
{
	/* Behind the first join, event 1 is still to be waited for. */
	ck_assert_uint_eq(reach("R1a W1b Kb R2b W2a W1c Kc R3c W3a Ka", 0, 2), 9);
	ck_assert_uint_eq(reach("R1a W1b Kb R2b W2a Ka Ka Ka", 0, 6), 6);
	ck_assert_uint_eq(reach("R1a W1b Kb R2b W2a Ka Ka Ka", 0, 100), 8);
}
END_TEST

START_TEST(what_is_not_joined_is_a_run_of_one_stream)
{
	ck_assert_uint_eq(reach("Ka Ka R1a W1b Kb Kb R2b", 0, 8), 2);
	ck_assert_uint_eq(reach("Ka Ka R1a W1b Kb Kb R2b", 2, 8), 1);
	ck_assert_uint_eq(reach("Ka Ka R1a W1b Kb Kb R2b", 3, 8), 0);
	ck_assert_uint_eq(reach("Ka Ka R1a W1b Kb Kb R2b", 4, 8), 3);
}
END_TEST

START_TEST(too_many_events_are_no_graph)
{
	struct reprise_op ops[40];

	for (unsigned int i = 0; i < 40; i++)
		ops[i] =
			(struct reprise_op){.kind = REPRISE_OP_RECORD, .event = (CUevent)(uintptr_t)(i + 1)};
	ck_assert(reprise_fork_is_closed(ops, 32, 0));
	ck_assert(!reprise_fork_is_closed(ops, 33, 0));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fork");
	TCase *tests = tcase_create("fork");

	tcase_add_loop_test(tests, a_graph_is_closed, 0, sizeof(sequences) / sizeof(*sequences));
	tcase_add_test(tests, a_graph_ends_where_all_that_it_forks_is_joined);
	tcase_add_test(tests, what_is_not_joined_is_a_run_of_one_stream);
	tcase_add_test(tests, too_many_events_are_no_graph);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
