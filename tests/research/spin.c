/*
 * How fast the processor is on which it runs, without CUDA: nanoseconds of a round of independent
 * additions and loads, which a busy sibling thread on the same core slows down most, and of one
 * multiplication that waits for the one before. The median of 40 times, with the second least and
 * the second greatest.
 *
 *     gcc -O2 tests/research/spin.c -o spin
 *     for core in $(seq 0 15); do taskset -c $core ./spin; done
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TIMES = 40, ROUNDS = 400000, WORDS = 2048 };

static uint64_t table[WORDS]; /* in the first-level cache */

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static double wide(void)
{
	uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, begin = now_ns();

	for (uint64_t i = 0; i < ROUNDS; i++) {
		a += table[i % WORDS];
		b += table[(i + 7) % WORDS];
		c ^= a + i;
		d += i * 3;
		e ^= d;
		f += b;
		__asm__ volatile("" ::"r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
	}
	return (double)(now_ns() - begin) / ROUNDS;
}

static double deep(void)
{
	uint64_t product = 1, begin = now_ns();

	for (uint64_t i = 0; i < ROUNDS; i++) {
		product *= 0x9e3779b97f4a7c15u;
		__asm__ volatile("" : "+r"(product));
	}
	return (double)(now_ns() - begin) / ROUNDS;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void tell(const char *what, double (*measure)(void))
{
	double times[TIMES];

	for (unsigned i = 0; i < TIMES; i++)
		times[i] = measure();
	qsort(times, TIMES, sizeof(*times), by_size);
	printf(" %s %.3f (%.3f to %.3f)", what, times[TIMES / 2], times[1], times[TIMES - 2]);
}

int main(void)
{
	printf("processor %d:", sched_getcpu());
	tell("wide", wide);
	tell("deep", deep);
	putchar('\n');
	return 0;
}
