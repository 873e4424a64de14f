/*
 * Every heuristic number, once: its name, value, unit, what it is for, and where it was measured: a
 * GPU and a commit, a decision (docs/decisions), or `guess`. Those of recorded streams were halved
 * and doubled there, by a model of the host's time.
 *
 * Here is what steers behaviour and could have another value. Sizes of tables, formats, and what
 * CUDA or the kernel fixes stand where they are used; defaults that a user can set are in
 * base/options.h. What depends on another number is computed from it. Each is an int:
 * REPRISE_TUNE_<name>.
 */
#pragma once

/*  X(name, value, unit, what it is for, where it was measured) */
#define REPRISE_TUNING(X) \
	/* watching: what repeats, and where it is cut (src/trace/watch.c, src/lane/observe.c) */ \
	X(SEGMENT_LEAST, 96, "ops", "no cut within so many", "guess") \
	X(SEGMENT_SURVIVE, 32, "ops", "a least hash must stand so long to be a cut", "guess") \
	X(SEGMENT_MOST, 192, "ops", "the longest segment", "guess") \
	X(WATCH_CONTEXT, 8, "shapes", "those before an op that decide where a cut falls", "guess") \
	X(NEAR_WAIT, 512, "ops", "farther from the last wait, distances from it are not compared", \
	  "guess") \
	X(BACKOFF_AFTER, 16384, "ops", \
	  "watched after anything repeated, before a lane backs off: several of the longest periods", \
	  "guess") \
	X(BACKOFF_LEAST, 7168, "ops", \
	  "the first backoff of a lane in which nothing repeats; twice as long each time", "guess") \
	X(BACKOFF_MOST, (16 * REPRISE_TUNE_BACKOFF_LEAST), "ops", "the longest backoff", "guess") \
	X(BACKOFF_WATCHED, 1024, "ops", "watched between two backoffs", "guess") \
	X(SCAN_SPAN, 1024, "ops", \
	  "scanned before a lane backs off, for as many ops at first and twice as many each time", \
	  "guess") \
	X(SCAN_AGAIN, 8, "points", \
	  "added to the score for calls in a row that came before; for any others 1 is taken off", \
	  "guess") \
	X(SCAN_FOUND, 64, "points", "of score: the lane is watched", "guess") \
	X(SCAN_MOST, (2 * REPRISE_TUNE_SCAN_FOUND), "points", "of score: it grows no further", \
	  "guess") \
	X(BACKOFF_WORTH, 16, "ops", \
	  "each replayed op moves the next backoff so much further: what repeats by chance alone is not worth that", \
	  "guess") \
	X(BACKOFF_HASTE, 16, "ops", \
	  "each op that repeats, but is of a class that rests, brings the first backoff so much nearer: a lane that has only such backs off after a thousand", \
	  "guess") \
	X(BACKOFF_SHARE, 8, "th part", \
	  "of these that are replayed beside them, with which they do not: watching an op costs a tenth of what its replay gains", \
	  "guess") \
	/* sites: how ops are judged (src/trace/site.c) */ \
	X(SITE_SEGMENT_KNOWN, 3, "visits", \
	  "after which a site is known that is told by its segment; the gap of the first is dropped", \
	  "recorded streams, decision 20") \
	X(SITE_SEGMENT_STABLE, 7, "returns", "after which that site is stable", \
	  "recorded streams, decision 20") \
	X(SITE_POSITION_KNOWN, 3, "visits", \
	  "after which a site is known that is told by its position", "recorded streams, decision 20") \
	X(SITE_POSITION_STABLE, 7, "returns", "after which that site is stable", \
	  "recorded streams, decision 20") \
	X(SITE_CONTEXT_KNOWN, 6, "visits", \
	  "after which a site is known that is told by the shapes before it: many ops share one", \
	  "recorded streams, decision 20") \
	X(SITE_CONTEXT_STABLE, 28, "returns", "after which that site is stable", \
	  "recorded streams, decision 20") \
	X(SITE_VALUES, 6, "values", "that a site remembers: longer cycles are not seen", "guess") \
	X(SITE_FAR, 8192, "ops", \
	  "since the last wait, after which each visit counts as a return, whatever the period", \
	  "recorded streams, decision 20") \
	X(SITE_NEWS, 3, "of 8 ops", "new values that make an op any-value", \
	  "recorded streams, decision 20") \
	X(SITE_RANDOM, 2, "of 8 ops", "surprises that make a site repeat by chance only", \
	  "recorded streams, decision 20") \
	/* plans: how a segment is split into traces (src/trace/plan.c) */ \
	X(PLAN_FIRST, 24, "ops", "the first trace after a wait, and the longest whose gaps are even", \
	  "H100, decision 32") \
	X(PLAN_MOST, 128, "ops", "the longest trace", "H200, decision 27") \
	X(PLAN_ANY_VALUE_MOST, 32, "ops", \
	  "any-value ops in a trace: setting these takes about as long as the GPU takes for the ops before", \
	  "recorded streams, decision 20") \
	X(PLAN_FIRST_SPAN_NS, 3000, "ns", \
	  "gaps that the first trace after a wait may span: about one eager launch", \
	  "recorded streams, decision 20") \
	X(PLAN_SPAN_NS, 37500, "ns", "gaps that a trace may span", "recorded streams, decision 20") \
	X(PLAN_EVEN_SPAN_NS, 62500, "ns", "the same where all gaps are about equal", \
	  "recorded streams, decision 20") \
	X(PLAN_EVEN_PART, 6, "th part", \
	  "of the gaps so far, by which an even trace may be late at its end", "guess") \
	X(PLAN_EVEN_FROM, 4, "ops", \
	  "after a wait, from which even gaps count: earlier, the GPU would be idle for as long", \
	  "recorded streams, decision 20") \
	X(PLAN_BORDER_NS, 1300, "ns", \
	  "what a border between two graphs costs the GPU: several ops left before a wait that come sooner get no graph of their own", \
	  "H200, decision 58") \
	X(PLAN_SINGLE_NS, 3000, "ns", \
	  "one op left before a wait that comes sooner goes with the graph before: about an eager call", \
	  "H200, decision 58") \
	X(PLAN_LAST_SPAN_NS, 20000, "ns", \
	  "a last trace before a wait that spans more is split: little is left to do at the wait", \
	  "recorded streams, decision 20") \
	X(PLAN_HOLD, 6, "16ths", \
	  "of the hold limit that a trace may span; the rest is a margin for slower visits", "guess") \
	X(PLAN_FORK_HOLD, (REPRISE_TUNE_PLAN_HOLD / 2), "16ths", \
	  "of the hold limit that a fork may span: shorter than a pause", "guess") \
	X(PLAN_FUNCTIONS, 16, "ops", "host functions in a graph; a stream has room for 56", \
	  "H200, decision 22") \
	X(PLAN_REMAINDER_LEAST, 8, "ops", "fewer than these get no graph of their own behind a fork", \
	  "guess") \
	X(PLAN_CROWD, 2, "lanes", \
	  "of other threads, from which traces are long at once: the driver serialises all their launches", \
	  "guess") \
	/* trust: which traces are followed (src/trace/trace.c, src/lane/follow.c) */ \
	X(TRUST_MOST, 16, "replays", "that count for a trace", "recorded streams, decision 20") \
	X(TRUST_SIDE_EXIT, 4, "replays", "one side exit weighs as much", \
	  "recorded streams, decision 20") \
	X(COOLDOWN_FIRST, 256, "ops", "the first cooldown of a trace; twice as long each time", \
	  "recorded streams, decision 20") \
	X(COOLDOWN_SETBACKS, 12, "setbacks", "after which a cooldown grows no more", \
	  "recorded streams, decision 20") \
	X(HELD_WEIGHT, 12, "replays", "one long pause weighs as much", \
	  "recorded streams, decision 20") \
	X(HELD_MOST, 16, "replays", "more weight of pauses than this is too much: the trace is split", \
	  "recorded streams, decision 20") \
	X(VALUE_MISSES_MOST, 24, "side exits", \
	  "that a trace takes to see whether other values come again", \
	  "recorded streams, decision 20") \
	X(VALUE_MISS_NEW, 8, "side exits", "a value that never came before weighs as much", \
	  "recorded streams, decision 20") \
	X(NO_OTHER, 16, "visits", \
	  "in a row that began with other values, and for which no other trace was found: then one is looked for in one visit of as many", \
	  "guess") \
	X(REBUILD_AFTER, 3, "refusals", \
	  "in a row, after which a graph is built anew with the values of the last visit", "guess") \
	/* balance: whether a trace pays (src/trace/balance.c) */ \
	X(BALANCE_VISIT, 64, "units", "of the balance that one visit costs eagerly", "guess") \
	X(BALANCE_MOST, (16 * REPRISE_TUNE_BALANCE_VISIT), "units", "the greatest balance", "guess") \
	X(BALANCE_TRUSTED, (8 * REPRISE_TUNE_BALANCE_VISIT), "units", \
	  "above this balance one replay in BALANCE_SAMPLED is timed; below it, each", "guess") \
	X(BALANCE_SAMPLED, 8, "replays", "one in so many is timed", "guess") \
	X(BALANCE_LEAST, (-8 * REPRISE_TUNE_BALANCE_VISIT), "units", \
	  "below this balance a trace does not pay", "guess") \
	X(BALANCE_OUTLIER, 4, "visits", \
	  "one costs at most so many eager ones: a longer time may be an interrupt's", "guess") \
	X(BALANCE_MARGIN, 10, "th part", "of a visit: a smaller loss is taken for noise", "guess") \
	/* classes of short visits: whether they gain (src/trace/classes.c) */ \
	X(CLASS_SHORT, 3, "ops", "the longest visit that is short, unless it is of copies alone", \
	  "guess") \
	X(CLASS_TRIED, 4, "visits", "that a class is tried with", "guess") \
	X(CLASS_COLD, 16, "visits", \
	  "before these that do not count: behind eager calls, graphs cost more than in the long run", \
	  "H200, 75f098dd") \
	X(CLASS_BUILDS, 8, "graphs", "that are built to try a class", "guess") \
	X(CLASS_REST, 256, "visits", "of the first rest of a class; twice as many each time", "guess") \
	X(CLASS_SETBACKS, 12, "rests", "after which a rest grows no more", "guess") \
	X(CLASS_EAGER, 256, "visits", "of a class that gains, one of which is eager, to be timed", \
	  "guess") \
	/* kin: how many graphs are built of traces that differ in values and sizes (src/trace/kin.c) \
	 */ \
	X(KIN_BUILD, 2, "times", \
	  "the time of a build that it costs the program, whose calls wait for the driver meanwhile", \
	  "guess") \
	X(KIN_FREE, 32, "graphs", "that kin may have built before they have saved anything", "guess") \
	X(KIN_MOST, 32, "graphs", "that kin which have saved for long may have built at once", \
	  "guess") \
	X(KIN_LEAST, 16, "th part", "of its eager cost that a visit counts as saving at least", \
	  "guess") \
	/* values that come again (src/trace/recurring.c) */ \
	X(RECURRING_MISSES, 64, "visits", "in a row with other values: then few are noted", "guess") \
	X(RECURRING_SKIPPED, 16, "visits", "of which one is noted then", "guess") \
	/* turns: whether replaying gains (src/stats/pairs.c, src/stats/turns.c, src/lane/turns.c) */ \
	X(PAIRS_ODDS, 50, "to 1", "against a median that is ruled out: one test in so many is wrong", \
	  "guess") \
	X(TURN_PERIODS, 2, "periods", "that a turn has at least", "guess") \
	X(TURN_SINGLE_NS, 16000000, "ns", \
	  "that a period takes of which one is a turn: of two, the first pair may lose too much", \
	  "guess") \
	X(TURN_SINGLE_MOST, 2, "times", \
	  "what the pair's other turn took: a turn of one period counts as no more in what was lost", \
	  "guess") \
	X(TURN_LENGTHENED, 10, "pairs", "without a verdict, after which turns are twice as long", \
	  "guess") \
	X(TURN_SKIPPED, 1, "periods", "at a turn's beginning that are not compared", "guess") \
	X(TURN_SKIPPED_NS, 1000000, "ns", \
	  "once a gain was seen, of periods after that one that are not compared", \
	  "H200, decision 57") \
	X(TURN_SKIPPED_MOST, 9, "periods", \
	  "at a turn's beginning that are not compared at most, both together", "H200, decision 57") \
	X(TURN_PARTS, 7, "parts", "of a replaying turn at most, once a gain was seen", "guess") \
	X(TURN_NS, 1000000, "ns", "that a turn lasts at least, unless it has 64 periods", "guess") \
	X(TURN_LONG_NS, 50000000, "ns", "that turns are lengthened to", "guess") \
	X(TURN_BUILDS_NS, 100000000, "ns", \
	  "of an eager turn, or of a rest, after which graphs are built", "guess") \
	X(TURN_OUTLIER, 4, "medians", "that a period of a turn weighs at most", "guess") \
	X(TURNS_WORTH, 1010, "thousandths", "a gain below it is none: eager calls need no threads", \
	  "guess") \
	X(TURNS_PROCESSOR, 1020, "thousandths", \
	  "of the processor time of eager calls; where replaying takes more, the loop is left eager", \
	  "guess") \
	X(TURNS_DIRECT, 32, "pairs", \
	  "of processor times, after which a median above PROCESSOR has the launch thread left out", \
	  "guess") \
	X(CHOICE_TURN_NS, 10000000, "ns", \
	  "of a turn with the launch thread, or without: its pace is measured anew in the first quarter", \
	  "guess") \
	X(CHOICE_PERIODS, 8, "periods", "that such a turn has at least", "guess") \
	X(CHOICE_MOST, 96, "pairs", \
	  "of these turns, after which their median decides on the launch thread, whatever it says", \
	  "guess") \
	X(TURNS_ROUGH, 15, "thousandths", \
	  "the standard error of what is told of a gain, above which tests do not become rarer", \
	  "guess") \
	X(TURNS_UNCLEAR, 48, "pairs", "after which a test ends that has ruled out a gain of SMALL", \
	  "guess") \
	X(TURNS_SMALL, 1050, "thousandths", "a gain below it is left, if pairs have not shown it", \
	  "guess") \
	X(TURNS_UNCLEAR_MOST, 96, "pairs", "after which a test ends, whatever they say", "guess") \
	X(TURNS_UNCLEAR_PAUSE, 4, "times", "the length of an unclear test: the least pause after it", \
	  "guess") \
	X(TURNS_SHARE, 200, "th part", \
	  "of the time may be lost in turns: outliers, which are cut, and rests take the rest of 1 %", \
	  "guess") \
	X(TURNS_FREE_NS, 15000000, "ns", "that may be lost besides", "guess") \
	X(TURNS_AIM_SHARE, 100, "th part", "of the time, up to which a check may lose: the aim", \
	  "decision 54") \
	X(TURNS_AIM_FREE_NS, 20000000, "ns", "that may be lost besides", "decision 54") \
	X(TURNS_CHECK_NS, 20000000, "ns", \
	  "that a check takes: 2 periods at least, and a window's at most", "guess") \
	X(TURNS_EAGER_NS, 500000000, "ns", "the first pause after replaying was seen not to gain", \
	  "guess") \
	X(TURNS_REPLAY_NS, 2000000000, "ns", "the first pause after replaying was seen to gain", \
	  "guess") \
	X(TURNS_DOUBLED, 6, "times", "that such a pause is doubled at most", "guess") \
	X(TURNS_WINDOW, 16, "periods", "of a rest that are looked at together", "guess") \
	X(TURNS_KNOWN, 4, "windows", "after which it is known what is usual", "guess") \
	X(TURNS_CHANGED, 8, "th part", "a window's mean differs by more where the loop has changed", \
	  "guess") \
	X(TURNS_SPREADS, 4, "times", "and by more than so many times what is usual", "guess") \
	X(TURNS_LEARNT, 125, "thousandths", \
	  "of the ops: with so many more replayed than when a test began, it begins anew", "guess") \
	X(TURNS_LEARNING, 31, "thousandths", \
	  "of the ops: with so many more replayed, it does not end with eager calls", "guess") \
	X(LESSON_BELOW, 500, "thousandths", \
	  "of the ops: where less is replayed, and does not gain, a rest of replays comes to learn in", \
	  "guess") \
	X(LESSON_NS, 100000000, "ns", "that such a rest lasts at least", "guess") \
	X(LESSON_PERIODS, 32, "periods", "and at least so many", "guess") \
	X(LESSON_LOSES_NS, 4000000, "ns", "that it may lose, and is cut short for", "guess") \
	X(TURNS_FIRST, 4, "th part", "of a turn that the first pair of a test may lose", "guess") \
	X(TURNS_NOTHING, 16, "thousandths", "of the ops: where fewer are replayed, nothing is gained", \
	  "guess") \
	X(TURNS_SURPLUS, 3, "pairs", "more on one side than on the other: that arm is rested in", \
	  "guess") \
	X(TURNS_UNUSUAL, 2, "windows", "in a row that differ, after which replaying is tested again", \
	  "guess") \
	X(IN_STEP_LATE, 3, "th part", \
	  "of a slot that has passed: no pair of a rank begins in it any more", "guess") \
	X(TURNS_DRAINED, 64, "periods", \
	  "in which the GPU is to catch up: fewer do not say that it never does", "guess") \
	X(TURNS_DRAINED_NS, 500000000, "ns", "the same: eager calls have to empty what turns filled", \
	  "guess") \
	X(TURNS_FILLED, 4, "times", \
	  "as long after a rest of replays: the launch queue has room for about a thousand", "guess") \
	X(TURNS_BOUND, 2, "pairs", \
	  "in a row in which the GPU is behind in both arms: it takes the time", "guess") \
	X(TURNS_SLOW_NS, 50000000, "ns", \
	  "of windows slower than eager ones, after which replays are; a machine stalls for 10 ms", \
	  "guess") \
	X(TURNS_QUEUE, 1024, "launches", "that the launch queue holds, and so hides, at most", \
	  "guess") \
	X(TURNS_QUERIES, 16, "queries", \
	  "one after another before the GPU counts as behind: the last call's work may be under way", \
	  "guess") \
	X(TURNS_LOOKS, 16, "looks", \
	  "at the GPU in a period in which it catches up, each of some queries", "guess") \
	X(ANCHOR_ALIKE, 8, "periods", "in a row, as long in ops, before a loop is measured", "guess") \
	X(ANCHOR_MARGIN, 16, "th part", "by which the ops of two periods that are alike differ", \
	  "guess") \
	X(ANCHOR_WAITED_MARGIN, 4, "th part", "the same where waits make the anchor", "guess") \
	X(ANCHOR_WAITS_MARGIN, 8, "th part", "the same, and several make a period", "guess") \
	X(ANCHOR_STRIDE_MOST, 16, "waits", "of a period that has about as many ops each time", \
	  "guess") \
	X(ANCHOR_ORDER_MOST, 64, "waits", "of a period that has them in the same order each time", \
	  "guess") \
	X(ANCHOR_CONFIRMED, 8, "periods", \
	  "that are looked at again before a loop is measured; it is none if more in a row are not alike", \
	  "guess") \
	X(ANCHOR_PART_PERIODS, 64, "periods", "of which it is asked whether they are all of the loop", \
	  "guess") \
	X(ANCHOR_PART, 4, "th part", \
	  "of their ops are in periods not alike: they are part of a longer loop", "guess") \
	X(ANCHOR_PARTS_MOST, 8, "times", \
	  "that a longer one is looked for, where any op may be the anchor", "guess") \
	X(ANCHOR_SHORTEST, 16, "ops", "of a period at least, where any op may be the anchor", "guess") \
	X(ANCHOR_LONG_NS, 8000000, "ns", "above which a period between waits is long", "guess") \
	X(ANCHOR_LONG, 8, "periods", "between waits that are long: then any op may be the anchor", \
	  "guess") \
	X(ANCHOR_UNWAITED, 512, "ops", \
	  "of a thread that begin something and come after no wait: then any op may be the anchor", \
	  "guess") \
	X(ANCHOR_WAITERS, 4, "waits", "meanwhile, with which waits make the anchor all the same", \
	  "guess") \
	X(ANCHOR_TRIED, 8, "candidates", "of any op, after which waits are looked at again", "guess") \
	X(ANCHOR_SELDOM, 1024, "other ops", "after which a candidate of any op is left", "guess") \
	X(ANCHOR_MISSED, 64, "other waits", "after which an anchor may be lost", "guess") \
	X(ANCHOR_UNEVEN_OPS, 256, "ops", \
	  "at least in a period of a loop without an anchor: several bodies, as they come", "guess") \
	X(ANCHOR_UNREPLAYED_OPS, 32768, "ops", \
	  "of which none is replayed: then turns tell what watching costs", "guess") \
	X(ANCHOR_UNREPLAYED_NS, 2000000000, "ns", \
	  "in which nothing is replayed: then turns tell what watching costs", "guess") \
	X(ANCHOR_LOST, 32, "periods", "not alike in a row, or so long without a visit: it is lost", \
	  "guess") \
	X(ANCHOR_LOST_NS, 100000000, "ns", "and without a visit for so long", "guess") \
	X(ANCHOR_LOOKED_AFTER, 1024, "ops", "of a lane in eager turns, after which the clock is read", \
	  "guess") \
	X(ANCHOR_PASSED_OVER, 4, "times", "that a busier lane is waited for", "guess") \
	X(ANCHOR_SETTLED_NS, 500000000, "ns", \
	  "after the first replay, a loop is measured even if graphs are still being built", "guess") \
	X(ANCHOR_CLOCK, 16, "ops", \
	  "of a thread, after which it is told that a loop was looked for, and reads the clock", \
	  "guess") \
	/* how long a loop is looked for (src/stats/search.c) */ \
	X(SEARCH_OPS, 49152, "ops", "at first, and half as many in later searches", "guess") \
	X(SEARCH_ASKED, 1024, "ops", \
	  "looked at by a thread, after which it is asked whether those of backoffs count, too", \
	  "guess") \
	X(SEARCH_IDLE, 64, "th part", "of all ops: where fewer were replayed, they count", "guess") \
	X(SEARCH_LEAST_NS, 300000000, "ns", "of a search at least, and half of it in later ones", \
	  "guess") \
	X(SEARCH_LONGEST_NS, 32000000000, "ns", "of a pause at most", "guess") \
	X(SEARCH_GAP_NS, 250000000, "ns", "without ops, which count at most", "guess") \
	/* eager rests (src/stats/turns.c, src/lane/eager.c) */ \
	X(UNSEEN_NS, 100000000, "ns", \
	  "of an eager rest in which nothing is looked at, after each window", "guess") \
	X(UNSEEN_LOOKED, 64, "ops", "of a thread, after which it reads the clock", "guess") \
	/* costs of eager calls (src/op/cost.c) */ \
	X(EAGER_TIMED, 17, "calls", \
	  "one eager call in so many is timed: no divisor of common periods", "guess") \
	/* call sites of frequent calls (src/stats/sites.c) */ \
	X(SITES_EACH, 4096, "calls", "of a thread, of which each stack is walked", "guess") \
	X(SITES_LOOKED_AT, 17, "calls", \
	  "then one in so many is, and counts as all of them: no divisor of common periods", "guess") \
	/* lower quartiles of what is read (src/base/quartile.h) */ \
	X(QUARTILE_WEIGHT, 4, "times eight readings", "one eight weighs as one of so many", "guess") \
	X(QUARTILE_MOST, 4, "times", "the known quartile, as which another counts at most", "guess") \
	/* costs of bringing a graph to a visit (src/graph/cost.h, src/graph/patch.c) */ \
	X(COST_NODE_SET_NS, 600, "ns", "first estimate of a single node set", "H200, decision 17") \
	X(COST_CAPTURE_NS, 620, "ns", "first estimate of an op captured for a whole-graph update", \
	  "H200, decision 17") \
	X(COST_UPDATE_NS, 55, "ns", "first estimate of a node that a whole-graph update looked at", \
	  "H200, d75c79b") \
	X(COST_BUILD_NS, 2000, "ns", "first estimate of a node of a graph built", "H200, decision 17") \
	X(COST_LAUNCH_NS, 2250, "ns", "first estimate of a launch of a graph", "H200, d75c79b") \
	X(COST_EAGER_NS, 3900, "ns", "first estimate of an op issued by a side exit", "H200, d75c79b") \
	X(COST_CHANGED, 8, "nodes", \
	  "a changed node counts as so many that a whole-graph update looked at", "guess") \
	X(COST_WEIGHT, 8, "readings", "one weighs as one of so many", "guess") \
	X(COST_MOST, 4, "times", \
	  "the estimate, as which a reading counts at most: it may include an interrupt", "guess") \
	X(PATCH_REFUSALS_MOST, 3, "refusals", \
	  "in a row of a node, after which it is not set by itself", "guess") \
	X(PATCH_EXPLORED, 1024, "patches", "one in so many takes the dearer means, to measure it", \
	  "guess") \
	X(PATCH_EXPLORED_MOST, 4, "times", \
	  "as dear as the cheaper means, if it looks dearer it is not tried", "guess") \
	/* stream groups (src/lane/group) */ \
	X(GROUP_FORKS, 4, "forks", "joined, after which streams merge; twice as many for each split", \
	  "guess") \
	X(GROUP_SPLITS_MOST, 12, "splits", "after which it takes no more forks to merge", "guess") \
	X(GROUP_JUDGED, 4096, "ops", "between two questions whether the group pays", "guess") \
	X(GROUP_UNJOINED, 384, "ops", \
	  "of watched segments without a fork that joins again, after which it is asked, too", \
	  "guess") \
	X(GROUP_UNJOINED_SPLITS, 4, "splits", "that such a one counts for", "guess") \
	X(GROUP_LEAST, 4, "th part", "of these ops must have been replayed by graphs that fork", \
	  "guess") \
	X(GROUP_PATIENCE, 64, "times", \
	  "that no trace is made of the parts of what may be seen whole, since the group was last found to pay", \
	  "guess") \
	/* the hold limit (src/lane/hold.h, src/workers/hold.c, src/workers/steady.c) */ \
	X(HOLD_DUE, 10, "16ths", \
	  "of the hold limit, after which deferred ops are issued; waking up and issuing take the rest", \
	  "guess") \
	X(HOLD_PAUSE, 5, "16ths", "of the hold limit that make a pause: longer than a fork may take", \
	  "guess") \
	X(HOLD_PAUSE_NS, (2 * REPRISE_TUNE_PLAN_EVEN_SPAN_NS), "ns", \
	  "the shortest pause: twice as long as any trace is planned for", "guess") \
	X(HOLD_BUSY_LOOK, 8, "th part", \
	  "of what is due, after which the hold thread looks again while another thread launches", \
	  "guess") \
	X(HOLD_LINGER_NS, 1000000, "ns", \
	  "after the last deferred op, before the thread sleeps: to wake it costs the program some us", \
	  "guess") \
	X(HOLD_STEADY_NS, 256000000, "ns", \
	  "in which looks find ops deferred, and nothing due: then the hold thread looks seldom. A late issue loses at most the limit as often, less than turns may", \
	  "guess") \
	X(HOLD_SELDOM, 4, "times", "the usual time between two looks, and the hold limit, then", \
	  "guess") \
	/* async launch (src/lane/async_launch.c, src/workers/launcher.c) */ \
	X(LAUNCH_PERIOD_NS, 100000, "ns", \
	  "that the launch thread sleeps between two looks while it finds pending launches", "guess") \
	X(LAUNCH_LINGER_NS, 1000000, "ns", "after the last visit, before the thread sleeps", "guess") \
	X(LAUNCH_DIRECT, 2, "visits", \
	  "launched at once after the host waited for a pending launch of the trace", "guess") \
	X(LAUNCH_JUDGED, 8, "visits", \
	  "left to the launch thread, after which those count that the program had to launch", \
	  "guess") \
	X(LAUNCH_DOUBLED, 8, "times", "that the visits launched at once then are doubled at most", \
	  "guess") \
	X(PACE_SLOW_NS, 4000, "ns", "for an op, from which the program is slow", "guess") \
	X(PACE_FIRST, 2, "visits", "after a wait that are launched at once: the GPU is idle", "guess") \
	X(PACE_MEASURED, 64, "visits", "of one measurement, if the program does not wait", "guess") \
	X(PACE_MOST, 65536, "visits", \
	  "without a wait: the program may wait by means other than calls", "guess") \
	X(PACE_LEAD_MOST, 8, "looks", "that count; one that finds the GPU busy counts twice", "guess") \
	X(PACE_DIRECT, 2048, "visits", \
	  "launched at once after the GPU was found to be no faster than the program", "guess") \
	X(PACE_SPARSE_NS, (5 * REPRISE_TUNE_LAUNCH_PERIOD_NS), "ns", \
	  "from one visit to the next: farther apart, they are launched at once, which takes the program 3 to 15 us; a look takes the thread 7", \
	  "H100, 33b865ee") \
	X(PACE_LEAST_NS, (6 * REPRISE_TUNE_LAUNCH_PERIOD_NS), "ns", \
	  "between two waits: at a wait, the GPU is behind by what came in one period", "guess") \
	/* order among streams and threads (src/lane/order.c, src/lane/async_launch.c, \
	 * src/lane/pause.c) */ \
	X(BACKLOG_FUNCTIONS, 12, "ops", "host functions that may be pending when a visit begins", \
	  "H200, decision 22") \
	X(BACKLOG_AGAIN, 16, "ops", \
	  "between two queries of the stream: a query takes half as long as an eager launch", "guess") \
	X(ORDER_QUERY_NS, 1000000, "ns", \
	  "that a query waits for what other threads have deferred: 250 launches of 4 us", "guess") \
	X(ORDER_LOADING_NS, 100000000, "ns", \
	  "the same before a kernel is loaded: enough for a woken thread to run on a busy machine", \
	  "guess") \
	X(ORDER_LOOK_NS, 50000, "ns", "between two looks of these", "guess") \
	X(EXIT_LOOK_NS, 10000, "ns", "between two looks whether lanes still hold ops at exit", \
	  "guess") \
	/* building graphs (src/workers/builder.c, src/workers/budget.h, src/workers/quiescence.c) */ \
	X(BUDGET_BURST_NS, 50000000, "ns", "the most credit", "guess") \
	X(BUDGET_DEBT_NS, 1000000000, "ns", \
	  "the most that work has to be paid back: a clock that jumped, or a process that was stopped meanwhile, looks like long work", \
	  "guess") \
	X(BUDGET_FIRST_NS, 1000000000, "ns", "of a run in which credit comes faster", "guess") \
	X(BUDGET_FIRST_SHARE, 20, "ns", "for which there is 1 ns of credit at first", "guess") \
	X(BUDGET_SHARE, 50, "ns", "for which there is 1 ns of credit later", "guess") \
	X(BUDGET_UNMEASURED_SHARE, 200, "ns", "the same while no gain is measured", "guess") \
	X(BUILD_QUEUE_MOST, 256, "graphs", "that may wait to be built", "guess") \
	X(BUILD_QUIESCENCE_NS, 1000000, "ns", \
	  "of one quiescence, after which no further graph is begun", "guess") \
	X(BUILD_BATCH_MOST, 32, "graphs", "built in one quiescence", "guess") \
	X(BUILD_BATCH_MARGIN, 4, "times", \
	  "its estimated memory that another graph must have free: the real need is read later", \
	  "guess") \
	X(BUILD_SWEPT, 4, "graphs", "destroyed at once", "guess") \
	X(BUILD_TIDY_NS, 10000000, "ns", \
	  "between two looks at an ended thread's own stream that still has work to do", "guess") \
	X(BUILD_EXIT_LOOK_NS, 50000, "ns", "between two tries to take the builder's lock at exit", \
	  "guess") \
	X(QUIESCENCE_PATIENCE_NS, 1000000, "ns", "for which the gate is closed at most", "guess") \
	X(QUIESCENCE_GLANCE_NS, 100000, "ns", \
	  "the same if the device was farther behind: enough to see that it has caught up", "guess") \
	X(QUIESCENCE_PAUSE_LEAST_NS, 50000, "ns", "the shortest pause between two tries", "guess") \
	X(QUIESCENCE_PAUSE_MOST_NS, 5000000, "ns", "the longest one", "guess") \
	X(QUIESCENCE_PAUSE_BLIND_NS, (50 * REPRISE_TUNE_QUIESCENCE_PATIENCE_NS), "ns", \
	  "the pause where the lag is unknown", "guess") \
	X(QUIESCENCE_PAUSE_SHARE, 8, "th part", "of the time waited that a pause takes", "guess") \
	X(GATE_COURTESY_NS, 300000, "ns", \
	  "that the program's last waiting call lets the builder go first", "guess") \
	X(GATE_DOUBT_NS, 1000000000, "ns", \
	  "that a call is in doubt at most: its thread may never make another", "guess") \
	X(GATE_DOUBT_LOOK_NS, 50000000, "ns", "between two looks whether a call is still in doubt", \
	  "guess") \
	X(CAPTURE_COURTESY_NS, 300000, "ns", \
	  "that a call of the program's waits for a capture that has not begun", "guess") \
	X(CAPTURE_PATIENCE_NS, 200000, "ns", \
	  "that a capture waits for a call of the program's: the call is short on an idle context", \
	  "guess") \
	X(CAPTURE_LOOK_NS, 200000, "ns", "between two tries of a capture to begin", "guess") \
	X(LAUNCHING_DRIVER, 13000, "CUDA version", \
	  "from which on a driver is asked which kernels launch kernels", "decision 23") \
	/* memory (src/graph/estimate.c, src/base/store.c, src/lane/traces.c) */ \
	X(NODE_BYTES, 3072, "bytes", "first estimate of a kernel node", "H200, c4a8e62") \
	X(NODE_BYTES_WEIGHT, 32, "nodes", "the weight of that estimate", "guess") \
	X(NODE_BYTES_LEAST, 512, "bytes", "the least estimate of a node", "guess") \
	X(NODE_BYTES_MOST, 65536, "bytes", "the greatest estimate of a node", "guess") \
	X(NODE_BLOCK, (4 << 20), "bytes", "that the driver may take at once for a small graph", \
	  "guess") \
	X(NODE_READ_ALL, 64, "builds", "that are all read at first", "guess") \
	X(NODE_READ_ONE, 8, "builds", "of which one is read later", "guess") \
	X(NODE_FORGET, 65536, "nodes", "after which earlier readings weigh half", "guess") \
	X(STORE_LEAST, (64 << 20), "bytes", \
	  "for traces and what is watched, whatever graphs may take: enough for some hundred lanes", \
	  "guess") \
	X(STORE_SHARE, 4, "th part", \
	  "of the memory of graphs that is added: an op takes about a sixth of its node, and some have no graph yet", \
	  "guess") \
	X(STORE_SHORT, 7, "8ths", \
	  "of the limit, or of the watched half of it, from which memory is short", "guess") \
	X(EVICT_STILL_NS, 1000000000, "ns", \
	  "without an op, after which a lane's watching may be given up", "guess") \
	X(EVICT_PATIENCE_NS, 10000000, "ns", \
	  "that a lane's lock is waited for: the driver may keep its holder", "guess") \
	X(SHORTAGE_LOOK_NS, 1000000, "ns", \
	  "between two looks while a call waits for memory to be freed", "guess") \
	X(SHORTAGE_WAIT_NS, 2000000000, "ns", \
	  "that graphs are waited for: a kernel that waits for this thread would never end", "guess") \
	/* threads and locks (src/base) */ \
	X(LOCK_SPINS, 200, "looks", "at a lock before its thread sleeps", "guess") \
	X(NAP_YIELDS, 64, "polls", "before the first sleep", "guess") \
	X(NAP_NS, 20000, "ns", "of a sleep between two polls", "guess") \
	X(WORKER_LOOK_NS, 50000, "ns", "between two looks whether a worker is done", "guess") \
	X(THREAD_PAUSE_NS, 10000000, "ns", \
	  "after a failure in which no thread is started: a failure costs tens of microseconds", \
	  "guess") \
	X(THREAD_BEGIN_NS, 100000000, "ns", "for which the first op waits for its threads to begin", \
	  "guess") \
	X(ENDING_SOON_NS, 1000000, "ns", \
	  "between two looks whether the program's threads have ended; doubled after each", "guess") \
	X(ENDING_SELDOM_NS, (256 * REPRISE_TUNE_ENDING_SOON_NS), "ns", "the most of this", "guess") \
	X(NEAREST_LETTERS, 3, "letters", "of a word for each typing error", "guess") \
	/* counting, reports and the end (src/stats, src/report, src/process, src/control) */ \
	X(SERIES_TOLD, 256, "ops", "between two notes to the series over time", "guess") \
	X(SERIES_FIRST_NS, 10000000, "ns", "the first length of its intervals", "guess") \
	X(KERNELS_AFTER, 8192, "ops", "after which observe begins to measure kernels", "guess") \
	X(PAUSES_AFTER, 512, "ops", "that may load kernels: intervals are summed after them", "guess") \
	X(PAUSES_WAITED_NS, 1000000, "ns", "a longer interval is a pause of the program", "guess") \
	X(DEFER_NS, 60, "ns", "that answering a deferred op costs", "guess") \
	X(SNAPSHOT_FIRST_NS, 100000000, "ns", "after the first op: many programs are short", "guess") \
	X(SNAPSHOT_AGAIN_NS, 1000000000, "ns", "between two reports; one takes 350 to 550 us", \
	  "decision 25, 377d4e5") \
	X(SNAPSHOT_SLACK_NS, 50000000, "ns", "timer slack: no one waits for a snapshot", "guess") \
	X(SNAPSHOT_PATIENCE_NS, 2000000000, "ns", \
	  "of an exit: the thread may wait for what the thread that exits holds", "guess") \
	X(TIMELINE_INTERVAL_NS, 100000000, "ns", "between two writes while there are events, at most", \
	  "guess") \
	X(TIMELINE_BUSY_NS, 10000000, "ns", \
	  "window of which the GPU's busy share is told: ten between two writes", "guess") \
	X(TIMELINE_PATIENCE_NS, 2000000000, "ns", \
	  "that an exit waits for the timeline: some MiB are to be written", "guess") \
	X(EXIT_PATIENCE_NS, 500000000, "ns", \
	  "that an exit waits for each of our threads, which may be waiting for what this one holds", \
	  "guess") \
	X(LIFETIME_PATIENCE_NS, 2000000000, "ns", \
	  "that the end of a context waits until no call waits for all work", "guess") \
	X(RECORD_PATIENCE_NS, 100000000, "ns", "that the end waits for records", "guess") \
	X(CONTROL_SHORT_NS, 100000000, "ns", "before another try for what is short", "guess") \
	X(CONTROL_MOMENT_NS, 10000000, "ns", \
	  "in which a client can send its word, even where slots are wanted", "guess") \
	X(CONTROL_PATIENCE_NS, 1000000000, "ns", "for a client that sends nothing", "guess")

enum reprise_tuning {
#define X(name, value, unit, text, source) REPRISE_TUNE_##name = (value),
	REPRISE_TUNING(X)
#undef X
};
