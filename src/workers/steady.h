/*
 * How often the hold thread looks. To wake up costs some microseconds of a processor, and in a
 * steady loop nothing is ever found. So where looks have found ops deferred for
 * REPRISE_TUNE_HOLD_STEADY_NS, and in no look anything that was due, nor a pause, the thread looks
 * seldom: REPRISE_TUNE_HOLD_SELDOM times as long passes between two looks, and ops may stay
 * deferred for as many times the hold limit. The first look that finds anything ends that, and it
 * takes as long again. So ops are late once in REPRISE_TUNE_HOLD_STEADY_NS at most.
 *
 * Looks in which nothing is deferred say neither. One that comes early, for it was called or a lock
 * was not free, counts for less: what is summed is the time since the look before, up to the usual
 * one.
 *
 * Integers only. No threads, locks or clocks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct reprise_steady {
	bool seldom;
	uint64_t looked_ns;         /* the last look */
	uint64_t quiet_ns;          /* for which looks have found ops deferred, and nothing else */
	uint64_t from_ns, until_ns; /* when looks were seldom last; `until` is none while they are */
};

/* After a look at `now` which found nothing due and no pause. `held`: ops were deferred. `due_ns`:
 * what usually passes between two looks. */
void reprise_steady_note(struct reprise_steady *steady, uint64_t now, uint64_t due_ns, bool held);

/* In a look at `now`: something would have been due by the usual limit, or there was a pause. */
void reprise_steady_end(struct reprise_steady *steady, uint64_t now);

/* How many times the usual time passes between two looks. */
unsigned int reprise_steady_times(const struct reprise_steady *steady);

/* The time after which ops are looked at which are deferred since `since`. */
uint64_t reprise_steady_due(const struct reprise_steady *steady, uint64_t since, uint64_t due_ns);

/* The limit that was in force at `since`. */
uint64_t reprise_steady_limit(const struct reprise_steady *steady, uint64_t since,
                              uint64_t limit_ns);
