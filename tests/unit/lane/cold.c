/*
 * A program that does so much between two calls that nothing of Reprise's is in the first-level
 * caches any more, for callgrind and its model of them (test_cache_lines.py). It counts
 * in measured_call() alone.
 *
 *   cold LEARNING MEASURED CHANGES
 *
 * MEASURED iterations come after LEARNING ones. In one of four calls the value changes each time if
 * CHANGES is 1. Prints how many ops were measured, and how many of them were replayed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../../suite.h"
#include "base/clock.h"
#include "program.h"

#define CALLS 100          /* of an iteration */
#define GAP_NS 20000       /* as Python takes for a call */
#define CACHE (32u * 1024) /* --I1 and --D1 of callgrind */
#define LINE 64u
#define JUMP 0xeb /* x86: by a signed byte behind its own two */
#define RETURN 0xc3

static unsigned int learning, measured;
static bool changes;

/* A jump in each line to the next one. */
static void *code_for_a_cache(void)
{
	unsigned char *code = mmap(NULL, 2 * CACHE, PROT_READ | PROT_WRITE | PROT_EXEC,
	                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(code, MAP_FAILED);
	for (unsigned int at = 0; at < 2 * CACHE; at += LINE) {
		code[at] = at + LINE < 2 * CACHE ? JUMP : RETURN;
		code[at + 1] = LINE - 2;
	}
	return code;
}

static void fill_caches(const void *code)
{
	static unsigned char data[2 * CACHE];
	void (*run)(void);

	for (unsigned int at = 0; at < sizeof(data); at += LINE)
		((volatile unsigned char *)data)[at]++;
	memcpy(&run, &code, sizeof(run));
	run();
}

__attribute__((noinline)) void measured_call(const char *word);
__attribute__((noinline)) void measured_call(const char *word)
{
	calls(word);
	__asm__ volatile("");
}

START_TEST(cold)
{
	static const char *const options[] = {"REPRISE_SUBMIT=auto", NULL};
	const void *code = code_for_a_cache();
	uint64_t ops = 0, replayed = 0;

	program_begins_with(options);
	driver.quiet = true;
	for (unsigned int i = 0; i < learning + measured; i++) {
		if (i == learning) {
			ops = counted()->ops;
			replayed = counted()->replayed;
		}
		for (unsigned int call = 0; call < CALLS; call++) {
			char word[16];

			/* The one that changes is where visits begin, once the loop is learnt. */
			snprintf(word, sizeof(word), "%c%u", (char)('a' + call % 20),
			         changes && call % 4 == 1 ? call + 1000 * i : call);
			reprise_clock_virtual += GAP_NS;
			if (i < learning) {
				calls(word);
			} else {
				fill_caches(code);
				measured_call(word);
			}
			if (call % 4 == 3) {
				launch_thread_looks();
				graphs_are_built();
			}
		}
		time_passes(1000);
		calls("|");
	}
	printf("ops=%u\nreplayed=%u\n", (unsigned int)(counted()->ops - ops),
	       (unsigned int)(counted()->replayed - replayed));
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("cold");
	TCase *tests = tcase_create("cold");
	SRunner *runner = srunner_create(suite);
	int failed;

	if (argc != 4)
		return 2;
	learning = (unsigned int)atoi(argv[1]);
	measured = (unsigned int)atoi(argv[2]);
	changes = atoi(argv[3]) != 0;
	tcase_set_timeout(tests, 0);
	tcase_add_test(tests, cold);
	suite_add_tcase(suite, tests);
	srunner_set_fork_status(runner, CK_NOFORK);
	srunner_run_all(runner, CK_SILENT);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed > 0;
}
