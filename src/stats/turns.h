/*
 * Whether replaying gains, measured by turns: which arm a loop's next period runs in, and the
 * verdict (docs/design/turns.md).
 *
 * The caller tells each period of the loop, and is told the arm of the next. Two turns, one of each
 * arm, in random order, make a pair (stats/pairs.h). What one arm's turns
 * have taken longer than the other's is lost; a pair begins only where what it may lose still fits
 * into a REPRISE_TUNE_TURNS_SHARE-th of the time so far, and REPRISE_TUNE_TURNS_FREE_NS.
 *
 * Periods are the host's time. In a loop that does not wait the host may run ahead of the GPU. So
 * the caller says whether the GPU has caught up, where reprise_turns_asks(). A turn after which it
 * has not is followed by periods of the other arm, until it has: the mean of both is what the GPU
 * takes for a period. Nothing is lost meanwhile, since the GPU works. In the last of these it caught
 * up at some moment, which the caller may say, where reprise_turns_asks_when().
 *
 * Where little of the loop is replayed, a test may say what watching costs. Then a rest of replays
 * comes to learn in, a lesson, and another test.
 *
 * A gain may cost more processor time than it is worth, since threads of ours hold, build and
 * launch. So the caller also says what the process has used, where reprise_turns_asks_processor().
 *
 * Once a gain was seen, rests of replays are used to compare the launch thread with the program's
 * own (stats/choice.h).
 *
 * Integers only. No threads, locks or clocks: the caller has all of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "stats/choice.h"
#include "stats/in_step.h"
#include "stats/learnt.h"
#include "stats/pairs.h"
#include "stats/regret.h"
#include "stats/used.h"
#include "stats/usual.h"
#include "stats/verdict.h"

enum reprise_arm { REPRISE_ARM_REPLAY, REPRISE_ARM_EAGER };

struct reprise_turns_result {
	enum reprise_verdict verdict;
	/* Eager time over replaying time, in thousandths, and the interval; 0 until the first
	 * verdict. */
	uint32_t gain, low, high;
	/* Processor time of the process, replaying over eager, in thousandths, with the gain; 0: not
	 * known. */
	uint32_t processor;
	/* The launch thread launched graphs of the loop, and was not worth the processor time that it
	 * took: it launches none since, and what is measured is measured so. */
	bool direct;
	/* What decided that: time without the thread over time with it, and processor time with it over
	 * without it, in thousandths; 0: not compared. */
	uint32_t thread_gain, thread_processor;
	uint64_t turns;      /* complete ones, of all tests */
	uint64_t tests;      /* that reached a verdict */
	uint64_t loops;      /* measured one after another; the verdict is the last one's */
	uint64_t decided_ns; /* from the beginning to the first verdict, without pauses; 0: none */
	/* In the worse arm, in all turns, as measured; and what lessons may have lost. */
	uint64_t lost_ns;
	/* In which no loop was measured: all was replayed, as far as it was learnt. The caller's. */
	uint64_t searched_ns;
	/* Of the last loop before this one that had a verdict. */
	struct {
		enum reprise_verdict verdict; /* undecided: none had */
		uint32_t gain, low, high;
	} earlier;
};

struct reprise_turns {
	struct reprise_turns_result result;
	struct reprise_pairs pairs;     /* of the test under way */
	struct reprise_pairs processor; /* of the loop, until it changes */
	struct reprise_pairs told;      /* of the tests in a row that had the last verdict */
	struct reprise_regret regret;
	uint64_t random;
	struct reprise_in_step step;
	enum reprise_arm arm; /* of the period under way */
	/* AFTER: both turns of the pair are complete, and the GPU catches up with the second. CHECK:
	 * replays seemed slow in a rest, and eager calls are looked at. */
	enum {
		REPRISE_TURNS_REST,
		REPRISE_TURNS_FIRST,
		REPRISE_TURNS_SECOND,
		REPRISE_TURNS_AFTER,
		REPRISE_TURNS_CHECK
	} phase;
	bool testing;           /* a test is under way, if resting between two of its pairs */
	uint64_t first_pair_ns; /* when the last test's first pair ended */

	/* The turn under way, or the window of a rest. */
	uint64_t periods[REPRISE_TURN_PERIODS_MOST];
	unsigned int count, skip;
	unsigned int wanted; /* periods of either turn of the pair, or of a part of one */
	unsigned int parts;  /* that the replaying turn has, of so many periods each */
	unsigned int before; /* that pass before the pair's first turn though the GPU has caught up */
	/* Processor time, in the turn under way; and in the pair's turns, for a thousand ops. */
	struct reprise_used used;
	uint64_t processor_first_ns, processor_second_ns;
	struct reprise_learnt learnt;
	bool taught;                  /* there was a lesson in this loop */
	unsigned int before_lesson;   /* what was replayed before it, in thousandths */
	bool async;                   /* the launch thread launches graphs of the loop */
	struct reprise_choice choice; /* whether it is worth that */
	bool choosing, chosen;
	uint64_t first_ns;       /* a period of the pair's first turn */
	uint64_t second_ns;      /* and of its second, until the GPU has caught up */
	enum reprise_arm second; /* its arm */
	bool first_behind;       /* the GPU was, when the first turn ended */
	uint64_t period_ns;      /* as the loop's periods were last */

	bool idle; /* the GPU had caught up with the last period */
	/* It catches up: before the turn of this arm, or with the turn before. */
	bool draining;
	uint64_t behind_ns; /* all periods of the turn before and since, and how many */
	unsigned int behind;
	uint64_t drained_ns; /* those since */
	unsigned int drained;
	/* In the one under way: when it was first seen to have caught up. */
	struct reprise_caught_up {
		bool seen;
		unsigned int time, ops; /* thousandths of the period's */
	} caught_up;
	bool filled;        /* the launch queue may be: a rest of replays came before */
	unsigned int bound; /* pairs in a row in which it did not */

	uint64_t eager_ns, replay_ns; /* what a period took in the last pair; eager, in a later check */
	bool ahead;                   /* the host was, in a replaying turn of this loop */
	uint64_t rested;              /* periods of this rest */
	uint64_t launches, launched;  /* graph launches, as told last, and when this rest began */
	/* The last of them, in a row, that seem slower than eager ones: how many, what they took
	 * together, and the least mean of a window. */
	uint64_t slow, slow_ns, slow_least_ns;
	uint64_t rest_until_ns, pause_ns;
	uint64_t unseen_until_ns;   /* of an eager rest: no period until then need be told; 0: all */
	struct reprise_usual usual; /* since the verdict */
};

/* The first period begins, in `turns->arm`. `period_ns`: about as long as one is; `random`: not 0;
 * `ahead_ns`: what a clock that all ranks of the job have is ahead of `now_ns`; 0: the process is
 * no rank (in_step.h). */
void reprise_turns_begin(struct reprise_turns *turns, uint64_t now_ns, uint64_t period_ns,
                         uint64_t random, uint64_t ahead_ns);

/* Another loop is measured: its verdict is open, and what was lost before stays lost. */
void reprise_turns_begin_loop(struct reprise_turns *turns, uint64_t now_ns, uint64_t period_ns);

/* The program had paused Reprise for so long. Nothing more may be lost for that time, and a rest
 * ends later by it; but ranks rest until a time that all of them know. */
void reprise_turns_leave_out(struct reprise_turns *turns, uint64_t ns);

/* A period of the present arm has ended. `alike`: the program did in it what it does in others;
 * otherwise nothing of it counts. `idle`: the GPU was seen to have caught up. Returns the arm of
 * the next period. */
enum reprise_arm reprise_turns_note(struct reprise_turns *turns, uint64_t now_ns,
                                    uint64_t period_ns, bool alike, bool idle);

/* True if the next note has to say whether the GPU has caught up; otherwise `idle` may be false. */
bool reprise_turns_asks(const struct reprise_turns *turns);

/* True if it matters when in the period the GPU catches up, which it is expected to do. */
bool reprise_turns_asks_when(const struct reprise_turns *turns);

/* In the period that ends with the next note, it was first seen to have caught up after so much of
 * its time, and of its ops. */
void reprise_turns_note_caught_up(struct reprise_turns *turns, unsigned int time_thousandths,
                                  unsigned int ops_thousandths);

/* True if the processor time of the process is to be told before the next note, if that is alike,
 * and how many ops the lane has had, in both arms. */
bool reprise_turns_asks_processor(const struct reprise_turns *turns);
void reprise_turns_note_processor(struct reprise_turns *turns, uint64_t ns, uint64_t ops);

/* How many ops the lane has had, how many of them were replayed, and by how many graph launches:
 * told before each note. Where more is replayed than when a test began, the loop was not learnt yet,
 * and the test begins anew. */
void reprise_turns_note_replayed(struct reprise_turns *turns, uint64_t replayed, uint64_t ops,
                                 uint64_t launches);

/* The launch thread has launched a graph of the loop. */
void reprise_turns_note_async(struct reprise_turns *turns);

/* True if the launch thread is to launch none of the loop's graphs now. */
bool reprise_turns_is_direct(const struct reprise_turns *turns);

/* The turn under way is given up: the loop is not visited any more, or was interrupted. Nothing of
 * it counts. Returns the arm of the next period, which is a rest. */
enum reprise_arm reprise_turns_give_up(struct reprise_turns *turns);
