/*
 * A program in front of the lanes: what it calls is written as text, and what the driver saw of it
 * is read as text (driver.h). Its clock moves by what calls cost and by its own pauses, and never
 * by real time. The threads of Reprise do not exist: the hold thread and the launch thread do
 * their work when the program lets time pass, and the builder when it is told to.
 *
 * The names of options are those of the environment. Each test is a process of its own: Check
 * forks.
 */
#pragma once

#include <check.h>

#include "driver.h"
#include "lane/lane.h"
#include "stats/counters.h"

/* Between two calls of a program that does little else. */
#define PROGRAM_GAP_NS 100

/* Reprise starts, with these options and no others of the environment: "NAME=value", up to NULL.
 * Traces have three ops at least, so that what is left of a visit does not become one. The program
 * has launched all kernels before but z. */
void program_begins_with(const char *const *options);
void program_begins(void);

/*
 * Makes these calls, PROGRAM_GAP_NS apart. Words as in driver.h, and:
 *
 *     |         a thread waits for all streams
 *     ~         the same, and it is the thread that calls
 *     /         a call on the stream that orders it, without a wait
 */
void calls(const char *words);

/* The same, and asserts what the driver sees of it. */
#define CALLS_ARE_SEEN_AS(words, expected) \
	do { \
		const char *seen_; \
\
		driver_saw(); \
		calls(words); \
		seen_ = driver_saw(); \
		ck_assert_str_eq(seen_, expected); \
	} while (0)

#define IS_SEEN(expected) \
	do { \
		const char *seen_ = driver_saw(); \
\
		ck_assert_str_eq(seen_, expected); \
	} while (0)

/* The graphs that are wanted are built. */
void graphs_are_built(void);

/* The program makes these calls until the driver gets them as these graphs, all graphs being built
 * in between; asserts that it does, in not too many visits. What the driver saw is dropped. */
void learns(const char *words, const char *graphs);

/* The same of "a b c d |", whose third op takes any value by then. The graph has c2000 last. */
void learns_any_value(void);

/* Time in which the program makes no call. The hold thread does what it does in it. */
void time_passes(uint64_t ns);

/* The launch thread looks, once. */
void launch_thread_looks(void);

/* The lane of a stream. */
struct reprise_lane *lane_of(unsigned int stream);

/* The streams up to this one are watched from the next op on, as if calls had come again there. */
void watches_up_to(unsigned int stream);

/* What the lane of stream 1 has counted. */
const struct reprise_lane_counts *counted(void);

#define EXITS(why) (counted()->exits[REPRISE_EXIT_##why])
#define EXITED(why) (counted()->exited[REPRISE_EXIT_##why])

static inline uint64_t count_of(enum reprise_counter counter)
{
	return reprise_counted(counter);
}

/* A call that is made with words that change from visit to visit. */
void calls_with(const char *format, unsigned int value);
