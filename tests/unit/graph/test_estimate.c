/* What a node takes, told from readings of a driver that takes memory in blocks, while the program
 * takes and gives back its own. */
#include <stdlib.h>

#include "../../suite.h"
#include "base/options.h"
#include "driver/driver.h"
#include "graph/estimate.h"

#define MIB (1 << 20)
#define BLOCK (2 * MIB)

static void setup(void)
{
	setenv("REPRISE_MEMORY", "4", 1);
	reprise_options_read();
	srandom(7);
}

/* A driver whose nodes take so many bytes, out of blocks. */
static size_t of_blocks, in_use, node_size, all_free, gone_each_time;

static CUresult memory_info(size_t *free_now, size_t *total)
{
	all_free -= gone_each_time;
	*free_now = all_free;
	*total = (size_t)1 << 40;
	return CUDA_SUCCESS;
}

static void instantiate(unsigned int nodes)
{
	in_use += node_size * nodes;
	while (of_blocks < in_use) {
		of_blocks += BLOCK;
		all_free -= BLOCK;
	}
}

static void build(unsigned int nodes)
{
	struct reprise_estimate_reading before = reprise_estimate_read_before();

	instantiate(nodes);
	reprise_estimate_read_after(&before, nodes);
	reprise_estimate_add(nodes);
}

static void driver_of(size_t bytes)
{
	reprise_driver.cuMemGetInfo_v2 = memory_info;
	all_free = (size_t)1 << 39;
	node_size = bytes;
}

static const size_t sizes[] = {1024, 3072, 12000, 30000};

START_TEST(many_graphs_tell_what_a_node_takes_though_memory_comes_in_blocks)
{
	driver_of(sizes[_i]);
	for (unsigned int i = 0; i < 4000; i++)
		build(1 + (unsigned int)random() % 128);
	ck_assert_uint_ge(reprise_estimate_node_bytes(), sizes[_i] * 3 / 4);
	ck_assert_uint_le(reprise_estimate_node_bytes(), sizes[_i] * 4 / 3);
}
END_TEST

START_TEST(what_the_program_takes_and_gives_back_is_not_counted)
{
	for (unsigned int i = 0; i < 400; i++) {
		reprise_estimate_note(3072 * 100, 100);
		reprise_estimate_note((int64_t)64 * MIB, 100);
		reprise_estimate_note(-(int64_t)64 * MIB, 100);
	}
	ck_assert_uint_eq(reprise_estimate_node_bytes(), 3072);
}
END_TEST

START_TEST(the_estimate_has_a_floor_and_a_ceiling)
{
	for (unsigned int i = 0; i < 4000; i++)
		reprise_estimate_note(0, 100);
	ck_assert_uint_eq(reprise_estimate_node_bytes(), 512);
	for (unsigned int i = 0; i < 4000; i++)
		reprise_estimate_note(4 * MIB, 1);
	ck_assert_uint_eq(reprise_estimate_node_bytes(), 65536);
}
END_TEST

START_TEST(a_program_that_takes_memory_all_the_time_makes_graphs_dear_but_not_beyond_bound)
{
	driver_of(3072);
	gone_each_time = 8 * MIB;
	for (unsigned int i = 0; i < 400; i++)
		build(100);
	ck_assert_uint_ge(reprise_estimate_node_bytes(), 3072);
	ck_assert_uint_le(reprise_estimate_node_bytes(), 65536);
}
END_TEST

/* Graphs that go leave their memory to the driver, which gives it to the next: those seem to take
 * none. */
START_TEST(memory_that_the_driver_kept_does_not_make_graphs_cheap)
{
	driver_of(3072);
	for (unsigned int i = 0; i < 400; i++)
		build(100);
	for (unsigned int i = 0; i < 20000; i++) {
		reprise_estimate_remove(100);
		in_use -= 100 * node_size;
		build(100);
	}
	ck_assert_uint_ge(reprise_estimate_node_bytes(), 2048);
}
END_TEST

START_TEST(there_is_room_until_the_limit)
{
	unsigned int nodes = 0;

	for (; reprise_estimate_has_room(1); nodes++)
		reprise_estimate_add(1);
	ck_assert_uint_eq(nodes, 4 * MIB / 3072);
	ck_assert_uint_le(reprise_estimate_most(), 4 * MIB);
	reprise_estimate_remove(10);
	ck_assert(reprise_estimate_has_room(10));
	ck_assert(!reprise_estimate_has_room(11));
}
END_TEST

/* The most is of the moments in which graphs were added: graphs that go do not lower it, and an
 * estimate that rises later counts from the next graph on. */
START_TEST(the_most_that_was_held_is_known)
{
	unsigned int held = 0;
	uint64_t most = 0;

	for (unsigned int i = 0; i < 2000; i++) {
		unsigned int nodes = 1 + (unsigned int)random() % 100;

		if (random() % 2 == 0 && held >= nodes) {
			reprise_estimate_remove(nodes);
			held -= nodes;
		} else {
			reprise_estimate_add(nodes);
			held += nodes;
			if (held * reprise_estimate_node_bytes() > most)
				most = held * reprise_estimate_node_bytes();
		}
		if (i % 100 == 0)
			reprise_estimate_note((1 + random() % 20) * 1000 * 500, 500);
		ck_assert_uint_eq(reprise_estimate_bytes(), held * reprise_estimate_node_bytes());
		ck_assert_uint_eq(reprise_estimate_most(), most);
		ck_assert_int_eq(reprise_estimate_has_room(nodes),
		                 (held + nodes) * reprise_estimate_node_bytes() <= 4 * MIB);
	}
	reprise_estimate_reset();
	ck_assert_uint_eq(reprise_estimate_bytes(), 0);
	ck_assert_uint_eq(reprise_estimate_most(), 0);
}
END_TEST

/* So many builds are read at first, then one of so many; none while fewer nodes are held than once
 * were. */
START_TEST(builds_are_read_less_and_less)
{
	unsigned int read = 0;

	driver_of(3072);
	for (unsigned int i = 0; i < 1000; i++) {
		struct reprise_estimate_reading reading = reprise_estimate_read_before();

		ck_assert_int_eq(reading.taken, i < 64 || i % 8 == 0);
		ck_assert_uint_eq(reading.free, reading.taken ? all_free : 0);
		read += reading.taken;
		reprise_estimate_read_after(&reading, 1);
		reprise_estimate_add(1);
	}
	ck_assert_uint_eq(read, 64 + (1000 - 64) / 8);
	reprise_estimate_remove(5);
	reprise_estimate_add(1);
	for (unsigned int i = 0; i < 8; i++)
		ck_assert(!reprise_estimate_read_before().taken);
	reprise_estimate_add(4);
	ck_assert(reprise_estimate_read_before().taken);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ledger");
	TCase *tests = tcase_create("ledger");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_loop_test(tests, many_graphs_tell_what_a_node_takes_though_memory_comes_in_blocks, 0,
	                    4);
	tcase_add_test(tests, what_the_program_takes_and_gives_back_is_not_counted);
	tcase_add_test(tests, the_estimate_has_a_floor_and_a_ceiling);
	tcase_add_test(tests,
	               a_program_that_takes_memory_all_the_time_makes_graphs_dear_but_not_beyond_bound);
	tcase_add_test(tests, memory_that_the_driver_kept_does_not_make_graphs_cheap);
	tcase_add_test(tests, the_most_that_was_held_is_known);
	tcase_add_test(tests, builds_are_read_less_and_less);
	tcase_add_test(tests, there_is_room_until_the_limit);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
