/* Which ops of several streams may be one graph that is launched beside them. */
#include "../../suite.h"
#include "fork_ops.h"
#include "trace/beside.h"

static const struct {
	const char *ops;
	bool may;
	uint8_t blocking;
} runs[] = {
	{"Ka Kb", true, 0},
	{"Ka Kb", true, 3},
	{"Ka Kb", false, 1}, /* only one is ordered against the legacy stream */
	{"Ka Kb", true, 4},
	{"Kb Kc", false, 6}, /* the group's first member is not */
	{"Kb Kc", true, 7},
	{"Ka Ka", false, 0},
	{"W1a Ka", false, 0},
	{"W1a Ka W1b Kb", true, 0},
	{"R1a W1b Kb", true, 0},
	{"Ka W1b", true, 0},
	{"W1a W1b Ka R2a W2b Kb", true, 0},
};

START_TEST(a_run_of_several_streams_may_be_a_graph)
{
	struct reprise_op ops[MOST];
	unsigned int count = ops_of(runs[_i].ops, ops);

	ck_assert_msg(reprise_beside_may(ops, count, runs[_i].blocking) == runs[_i].may, "%s",
	              runs[_i].ops);
}
END_TEST

/* Of these ops; `waits_for` of the first. */
static struct reprise_beside description(const char *text, uint8_t waits_for)
{
	static uint8_t behind[MOST];
	struct reprise_op ops[MOST];
	struct reprise_beside beside = {.behind = behind};
	unsigned int count = ops_of(text, ops);

	ops[0].waits_for = waits_for;
	reprise_beside_describe(ops, count, &beside);
	return beside;
}

START_TEST(roots_begin_without_an_event_of_the_run)
{
	struct reprise_beside beside = description("W1a W2a Ka R4a W4b Kb W5c Kc R5c W6c W5a Ka", 0);
	const uint8_t *behind = beside.behind;

	ck_assert_uint_eq(beside.roots, 1 | 4);
	ck_assert_uint_eq(beside.leading_count, 3);
	ck_assert_uint_eq(beside.leading[0], 0);
	ck_assert_uint_eq(beside.leading[1], 1);
	ck_assert_uint_eq(beside.leading[2], 6);
	ck_assert_uint_eq(behind[0], 1);
	ck_assert_uint_eq(behind[4], 0);  /* in the run */
	ck_assert_uint_eq(behind[9], 1);  /* not where it begins, but recorded before the run */
	ck_assert_uint_eq(behind[10], 0); /* event 5 was recorded in the run by then */
}
END_TEST

START_TEST(an_end_or_a_record_has_all_of_some_members)
{
	struct reprise_beside beside = description("Ka Kb R1b W1a R2a Ka Kc", 0);
	const uint8_t *behind = beside.behind;

	ck_assert_uint_eq(beside.ends[0], 3);
	ck_assert_uint_eq(beside.ends[1], 2);
	ck_assert_uint_eq(beside.ends[2], 4);
	ck_assert_uint_eq(behind[2], 2); /* the last of b */
	ck_assert_uint_eq(behind[4], 2); /* not the last of a */
}
END_TEST

static const struct {
	const char *ops;
	uint8_t start[3];   /* what each stream is behind where they begin */
	const char *begins; /* a 1 for each op where one may begin */
} places[] = {
	{"Ka Kb Ka Kb", {3, 3}, "1000"},
	{"Ka Kb Ka Kb", {1, 2}, "0000"},
	/* two streams that wait for each other's last step */
	{"W2a Ka R3a W1b Kb R4b W4a Ka R1a W3b Kb R2b", {1, 2}, "000000100000"},
	/* a waits for b, but b does not wait for a */
	{"W2a Ka R3a W2b Kb R4b W4a Ka R1a W4b Kb R2b", {1, 2}, "000000000000"},
	/* one runs at a time: both are known behind the other's first wait */
	{"W2a Ka R1a W1b Kb R2b W2a Ka R1a W1b Kb R2b", {1, 2}, "000111111111"},
};

START_TEST(a_graph_begins_where_its_roots_are_behind_all)
{
	struct reprise_op ops[MOST] = {{.kind = REPRISE_OP_SET}};
	bool begins[MOST];
	unsigned int count = ops_of(places[_i].ops, ops);

	reprise_beside_begins(ops, count, places[_i].start, begins);
	for (unsigned int i = 0; i < count; i++)
		ck_assert_msg(begins[i] == (places[_i].begins[i] == '1'), "%s: op %u", places[_i].ops, i);
}
END_TEST

/* Two streams that wait for each other's last step, which came before these ops. */
#define STEP "W2a Ka R3a W1b Kb R4b"

START_TEST(what_waits_are_for_is_known_from_before)
{
	static const uint8_t apart[] = {1, 2}, level[] = {3, 3};
	struct reprise_op ops[MOST];
	bool begins[MOST];
	unsigned int count = ops_of(STEP, ops);

	reprise_beside_begins(ops, count, apart, begins);
	ck_assert(!begins[0]);
	ck_assert(!reprise_beside_knows(ops, 0, count));
	reprise_beside_begins(ops, count, level, begins);
	ck_assert(!begins[0]); /* the events may be anybody's */
	ops[0].waits_for = 2;
	ops[3].waits_for = 1;
	reprise_beside_begins(ops, count, apart, begins);
	ck_assert(begins[0]);
	ck_assert(reprise_beside_knows(ops, 0, count));
	ops[3].waits_for = 2; /* an older event */
	reprise_beside_begins(ops, count, apart, begins);
	ck_assert(!begins[0]);
}
END_TEST

START_TEST(all_that_is_not_known_may_be_assumed)
{
	struct reprise_op ops[MOST];
	bool begins[MOST];
	unsigned int count = ops_of(STEP, ops);

	reprise_beside_begins(ops, count, NULL, begins);
	ck_assert(begins[0]);
	ck_assert(!begins[1]);
}
END_TEST

/* A graph has the order of its own ops alone: stream b's one op is behind nothing of a's. */
START_TEST(what_came_before_is_no_order_in_a_graph)
{
	struct reprise_beside beside = description("W1a Ka Kb", 3);

	ck_assert_uint_eq(beside.ends[0], 1);
	ck_assert_uint_eq(beside.ends[1], 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("beside");
	TCase *tests = tcase_create("beside");

	tcase_add_loop_test(tests, a_run_of_several_streams_may_be_a_graph, 0,
	                    sizeof(runs) / sizeof(*runs));
	tcase_add_test(tests, roots_begin_without_an_event_of_the_run);
	tcase_add_test(tests, an_end_or_a_record_has_all_of_some_members);
	tcase_add_loop_test(tests, a_graph_begins_where_its_roots_are_behind_all, 0,
	                    sizeof(places) / sizeof(*places));
	tcase_add_test(tests, what_waits_are_for_is_known_from_before);
	tcase_add_test(tests, all_that_is_not_known_may_be_assumed);
	tcase_add_test(tests, what_came_before_is_no_order_in_a_graph);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
