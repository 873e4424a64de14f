/* Sums of kernels are read while another thread adds to them. */
#include "../../suite.h"
#include "stats/kernels.h"

#include <pthread.h>
#include <stdatomic.h>

#define NAMES 8
#define NOTED 64   /* kernels of one buffer */
#define READS 2000 /* a reader without the lock saw a part of a buffer in each of 20 runs */
#define NS 10

static struct reprise_gpu_activity buffer[NOTED];
static const char *names[NAMES] = {"a", "b", "c", "d", "e", "f", "g", "h"};
static _Atomic bool ends;

/* Kernels that take NS each, one after the other. */
static void fill(uint64_t begin)
{
	for (unsigned int i = 0; i < NOTED; i++)
		buffer[i] = (struct reprise_gpu_activity){.name = names[i % NAMES],
		                                          .begin = begin + (uint64_t)i * NS,
		                                          .end = begin + (uint64_t)(i + 1) * NS,
		                                          .kind = REPRISE_GPU_KERNEL};
}

static void *adds(void *unused)
{
	(void)unused;
	for (uint64_t begin = 1; !atomic_load(&ends); begin += (uint64_t)NOTED * NS) {
		fill(begin);
		reprise_kernels_note(buffer, NOTED);
	}
	return NULL;
}

static void is_of_whole_buffers(const struct reprise_kernels *kernels)
{
	uint64_t launches = 0, ns = 0;

	for (unsigned int i = 0; i < kernels->names; i++) {
		ck_assert_uint_eq(kernels->rows[i].launches, kernels->count / NAMES);
		launches += kernels->rows[i].launches;
		ns += kernels->rows[i].ns;
	}
	ck_assert_uint_eq(kernels->count % NOTED, 0);
	ck_assert_uint_eq(launches, kernels->count);
	ck_assert_uint_eq(ns, kernels->count * NS);
	ck_assert_uint_eq(kernels->busy_ns, ns);
	ck_assert_uint_eq(kernels->last_ns - kernels->first_ns, ns);
}

START_TEST(a_reader_sees_whole_buffers)
{
	struct reprise_kernels kernels;
	pthread_t adder;

	ck_assert(!reprise_kernels_read(&kernels));
	atomic_store(&reprise_kernels_working, true);
	ck_assert_int_eq(pthread_create(&adder, NULL, adds, NULL), 0);
	for (unsigned int i = 0; i < READS || kernels.count == 0; i++) {
		ck_assert(reprise_kernels_read(&kernels));
		is_of_whole_buffers(&kernels);
	}
	atomic_store(&ends, true);
	ck_assert_int_eq(pthread_join(adder, NULL), 0);
	reprise_kernels_reset();
	ck_assert(!reprise_kernels_read(&kernels));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("stats, kernels");
	TCase *tests = tcase_create("kernels");

	tcase_add_test(tests, a_reader_sees_whole_buffers);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
