/*
 * A lane: the ordered ops of one stream in one context, or of one stream group (group/group.h).
 *
 * A lane either watches or follows a trace. While it watches, its ops are eager calls, and its
 * watch records them. While it follows, its ops are compared with the trace's and answered at once;
 * the graph is launched at the trace's end. The first `cursor` ops of the followed trace are
 * deferred: the driver has not seen them.
 *
 * Fields are under `lock`, except the atomic ones: other threads read those without it, to see
 * whether they need the lock. Lanes are never freed, only reused (registry.c), so a pointer to a
 * lane stays valid.
 */
#pragma once

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/tuning.h"
#include "op/call.h"
#include "trace/index.h"
#include "trace/kin.h"
#include "trace/scan.h"
#include "trace/watch.h"
#include "lane/group/held.h"
#include "lane/known.h"

/* What a SYNC entry point may observe. The lanes that it may observe issue what they hold. So do
 * the lanes on which the calling thread was the last: it may go to sleep, and its ops must not wait
 * for the hold limit. Lanes of other threads are not touched. */
enum reprise_sync {
	/* One stream, and what its ops come after: the legacy stream's ops, or those of blocking
	 * streams. */
	REPRISE_SYNC_STREAM,
	REPRISE_SYNC_QUERY, /* the same, without waiting */
	/* An event. What comes before it was issued when it was recorded, except in stream groups. */
	REPRISE_SYNC_EVENT,
	REPRISE_SYNC_EVENT_QUERY, /* the same, without waiting */
	REPRISE_SYNC_EVENT_END,   /* an event's end: nothing (ended_events.h) */
	/*
	 * The default stream of the current context, and all other contexts: addresses may be theirs.
	 */
	REPRISE_SYNC_DEFAULT,
	REPRISE_SYNC_CONTEXT, /* all streams of a context */
	REPRISE_SYNC_ALL,     /* anything */
	REPRISE_SYNC_UNKNOWN, /* the same; it may also give work to any stream */
};

struct reprise_lane_counts {
	uint64_t ops;                          /* calls of the kinds that can be ops */
	uint64_t launches;                     /* graphs launched */
	uint64_t kinds[REPRISE_OP_KIND_COUNT]; /* ops by kind; most ops of a backoff are not counted */
	/* Ops issued as nodes of a graph. While observing: that would have been. */
	uint64_t replayed;
	uint64_t patched;  /* of these, with other values than at the last visit */
	uint64_t siblings; /* guards that failed and found a sibling */
	uint64_t exits[REPRISE_EXIT_COUNT];
	uint64_t exited[REPRISE_EXIT_COUNT]; /* ops that these side exits issued */
	uint64_t exit_ticks;                 /* time of these side exits, without issuing */
	uint64_t unfit[REPRISE_UNFIT_COUNT];
	uint64_t backed_off; /* eager calls during backoff, not watched */
	uint64_t traces;     /* traces made */
	uint64_t twins;      /* of these, of values that came again (observe.h) */
	uint64_t queue_full; /* not made: the build queue was full */
	uint64_t lost;       /* times that a trace began a cooldown because it did not pay */
	uint64_t evicted;    /* traces given up for want of memory */
	/* Ops that would have begun a short visit of a class that is not known to gain, and were eager;
	 * times that no graph was built for such visits (trace/classes.h). */
	uint64_t short_eager, short_not_built;
	uint64_t kin_not_built; /* times that no graph was built because its kin owed (trace/kin.h) */
	uint64_t in_turns;      /* ops of eager turns (turns.h); not in `ops` */
};

/* Counters are written under the lane's lock, and read by reports without it. So a relaxed store is
 * enough: no word is torn, and no read-modify-write is needed. */
static inline void reprise_lane_count(uint64_t *count, uint64_t amount)
{
	__atomic_store_n(count, *count + amount, __ATOMIC_RELAXED);
}

static inline void reprise_lane_uncount(uint64_t *count, uint64_t amount)
{
	__atomic_store_n(count, *count - amount, __ATOMIC_RELAXED);
}

#define REPRISE_CACHE_LINE 64
#define REPRISE_OWNER_ENDED UINT32_MAX

struct reprise_group;

#define REPRISE_PENDING_MOST 32

#define REPRISE_LANE_NUMBER_LAST 254
#define REPRISE_LANE_SCANS UINT32_MAX

/* A complete visit that is not launched yet. */
struct reprise_pending {
	struct reprise_trace *trace;
	unsigned int patched;  /* ops whose values differ from the graph's */
	uint64_t since;        /* when its first op came */
	uint64_t held_since;   /* the same, for the timeline; 0 without a timeline */
	uint64_t completed_at; /* the lane's count of ops */
	bool failed;           /* its ops were issued eagerly */
};

/* Visits are added under the lane's lock, and launched under the queue's (launch.h). */
struct reprise_pending_queue {
	struct reprise_lock lock;
	_Atomic uint64_t launched;
	uint64_t held_until; /* for the timeline: when the last hold ended; 0 without a timeline */
	_Alignas(REPRISE_CACHE_LINE) _Atomic uint64_t added;
	uint64_t counted; /* launched visits that are in the lane's counts */
	struct reprise_pending visits[REPRISE_PENDING_MOST];
};

/* (async_launch.h) */
struct reprise_pace {
	unsigned int visits; /* since the last wait */
	/* When this measurement began, and at which count of ops. 0: it begins with the next visit. */
	uint64_t begin_ns, begin_ops;
	unsigned int begin_visits;
	/* Time per op and per visit, and length, of the last measurement. */
	uint64_t op_ns, visit_ns, span_ns;
	/* Raised when the GPU was seen idle, lowered when it was seen busy. */
	_Atomic int lead;
	unsigned int resting; /* visits launched at once since `lead` reached its lowest */
};

/* (async_launch.h) */
struct reprise_backlog {
	uint64_t functions;         /* the lane's host functions that are known to be done */
	uint64_t ask_at;            /* the lane's count of ops at which the stream is queried again */
	_Atomic uint64_t callbacks; /* stream callbacks; they count as host functions */
};

struct reprise_lane {
	/* Seldom-written fields come first, on a cache line of their own: threads read them of each
	 * other's lanes. */
	struct reprise_lane *next; /* in the registry; never changes */
	uint8_t number; /* in recordings and reports; from 254 on lanes share the last number */
	uint8_t member; /* its index in its group, while it has one */
	uint8_t splits; /* how often its group was split with `failed` (group/group.h) */
	_Atomic uint32_t thread; /* the thread that called the last op */
	/* The head of its group, which has its stream's ops. The head's own points to itself. NULL: no
	 * group. */
	_Atomic(struct reprise_lane *) group_head;

	/* Which stream's lane it is. Set by the registry, and read without the lock. */
	_Atomic(CUcontext) context;
	/* CU_STREAM_LEGACY for the legacy default stream, CU_STREAM_PER_THREAD for a thread's own. */
	_Atomic(CUstream) stream;
	/* Of a thread's own default stream: the thread; REPRISE_OWNER_ENDED after its end. Else 0. */
	_Atomic uint32_t owner;
	/* Ordered against the legacy default stream. Of a group's head: any member is. */
	_Atomic bool blocking;
	_Atomic bool unusable; /* its ops are always eager */
	_Atomic bool retired;
	/* Calls on its stream that may not have reached the driver yet (threads.h). */
	_Atomic uint32_t foreign_calls;
	/* Of a thread's own stream: it does not wait for the proxy yet (own_stream.h). */
	_Atomic bool unsettled;

	/* What every op needs, on two cache lines. */
	_Alignas(REPRISE_CACHE_LINE) struct reprise_lock lock;
	unsigned int cursor;
	struct reprise_trace *trace;    /* followed */
	struct reprise_trace *expected; /* the trace that followed the last one before */
	struct reprise_group *group;    /* of a group's head; else NULL */
	struct reprise_watch *watch;    /* this and the index: NULL until calls have come again */
	struct reprise_index *index;
	struct reprise_scan *scan; /* once made, it stays: it is used without the lock */
	/* A backoff: so many ops to come are not watched, and are counted already. REPRISE_LANE_SCANS:
	 * no op is watched until calls come again, and the counts get the ops of the scan then. */
	_Atomic uint32_t backoff_ops;
	/* Events that the program has destroyed, and that this lane may still name (ended_events.h). */
	_Atomic uint32_t ended;
	/* Had ops since the last barrier. Always true of the head of a group that is tracked: a member
	 * may have a pending wait. */
	_Atomic bool noisy;
	/* Of a group's head: the order among its members is tracked (group/group.h). */
	_Atomic bool tracked;
	/* Counted in reprise_attention: it is noisy, or was at the last barrier. */
	_Atomic bool attended;
	bool watching; /* a segment is open */
	bool paused;   /* a long pause of the program was noted in this visit */
	/* A trace that agrees at the last failed guard is not built yet, or is in cooldown. */
	bool coming;
	struct reprise_lane_counts counts;
	uint64_t told_ops, told_replayed; /* of these, what the series over time has counted */
	uint64_t placed_in_turns;         /* ops of eager turns that `position` knows of (turns.h) */

	struct reprise_position position; /* of the next op */
	struct reprise_trace *last;       /* the trace just replayed, if no eager call came since */
	/* The last one whose patch or launch failed, until its first op is replayed (launch.c). */
	struct reprise_trace *failed;
	struct reprise_asked *asked; /* (verify.h); NULL unless verifying */
	/* Count of ops before which no trace is entered: what came instead of one is watched in one
	 * piece. */
	uint64_t only_watch_until;
	uint64_t short_at;            /* the count of ops at which a short visit was not begun last */
	_Atomic uint64_t last_return; /* ticks, when the last eager call returned */
	uint64_t backoff_at;          /* the count of ops at which it backs off */
	uint32_t backoff_span;        /* ops of the last backoff */
	uint32_t worthless;           /* ops that repeated and are worth no graph, of late, */
	uint64_t worthless_from;      /* and how many were replayed before them */
	uint32_t scan_span;           /* ops of the last one behind a scan that found nothing */
	bool scan_due;                /* it scans before it is watched again */
	struct reprise_capture_streams capture_streams;

	/* ---- what the hold thread reads again and again ---- */

	/* When the first op came that is deferred or pending; 0: there is none. */
	_Alignas(REPRISE_CACHE_LINE) _Atomic uint64_t deferred_since;
	/* A query of its stream waits for the hold thread to issue what the lane holds. */
	_Atomic bool wanted;
	/* When the first op of the followed trace came; 0: none of its ops is deferred. */
	uint64_t visit_since;
	uint64_t held_since; /* `visit_since` for the timeline; 0 without a timeline */
	/* What noting the place of this visit took (own_stream.h); 0 if it has none. */
	uint64_t place_ticks;
	struct reprise_pace pace;
	struct reprise_backlog backlog;

	_Alignas(REPRISE_CACHE_LINE) struct reprise_pending_queue queue;
	/*
	 * Read without the lock (known.h). `events`: the events that a group's ops may name. If an
	 * event is not known there, no deferred op and no trace names it, and no record of it is noted.
	 * `functions`: the functions that traces or watched ops may launch, by the handles they are
	 * launched with and by the handles of kernels' functions.
	 */
	_Alignas(REPRISE_CACHE_LINE) struct reprise_known events;
	struct reprise_known functions;
	struct reprise_held_records held;
	/* the events that deferred waits are for, whose records came before the visit */
	struct reprise_held_records held_waits;
	/* Another thread has recorded an event while the driver kept the lock's holder: the group
	 * forgets its records before it uses them. */
	_Atomic bool forgets;
	_Atomic bool launches_functions; /* some by handles that are not kernels' */
	/* A watched op, or an op of a trace, may name an array or contexts. */
	_Atomic bool names_elsewhere;

	struct reprise_kin_table kin;
};

/* The one word that a generic door reads: the number of lanes that are `attended`. While it is 0,
 * an ORDER or SYNC entry point needs no call into Reprise. Kept errors count as one, too
 * (errors.h). */
extern _Atomic uint32_t reprise_attention;

/*
 * Whether any lane holds deferred ops: 0 if none does, and anything else if one may. A lane that
 * begins to hold sets `deferred_since` before it reads this word, so whoever finds 0 here comes
 * before the answer to its first deferred op. Set back by reprise_lanes_hold() (registry.c).
 */
extern _Atomic uint32_t reprise_holding;

#define REPRISE_HOLDING 1

/* The number of lanes that are `unsettled`. Such a lane counts before it is seen to hold nothing.
 */
extern _Atomic uint32_t reprise_unsettled;

static inline void reprise_lane_hold_since(struct reprise_lane *lane, uint64_t since)
{
	atomic_store(&lane->deferred_since, since);
	if (__builtin_expect(atomic_load(&reprise_holding) != REPRISE_HOLDING, 0))
		atomic_store(&reprise_holding, REPRISE_HOLDING);
}

/* REPRISE=observe. Set before the first lane is made. */
extern bool reprise_observing;

/* True if `head` has the ops of the lane's stream. Under the lock of `head`, or of the lane if
 * `head` is NULL. */
static inline bool reprise_lane_leads_to(const struct reprise_lane *lane,
                                         const struct reprise_lane *head)
{
	return __builtin_expect(atomic_load_explicit(&lane->group_head, memory_order_relaxed) == head,
	                        1);
}

/* Locks the lane that has the ops of this lane's stream, and returns it. */
static inline struct reprise_lane *reprise_lane_take(struct reprise_lane *lane)
{
	for (;;) {
		struct reprise_lane *head = atomic_load_explicit(&lane->group_head, memory_order_acquire),
							*taken = head != NULL ? head : lane;

		reprise_lock_take(&taken->lock);
		if (reprise_lane_leads_to(lane, head))
			return taken;
		reprise_lock_give(&taken->lock);
	}
}

/* The lane that has the ops of this lane's stream. It may change at any time unless its lock is
 * held. */
static inline struct reprise_lane *reprise_lane_head(struct reprise_lane *lane)
{
	struct reprise_lane *head = atomic_load(&lane->group_head);

	return head != NULL ? head : lane;
}

static inline bool reprise_lane_is_group(const struct reprise_lane *lane)
{
	return atomic_load(&lane->group_head) == lane;
}

/* True if the lane had ops since the last barrier that it was told of. */
static inline bool reprise_lane_has_news(const struct reprise_lane *lane)
{
	return atomic_load(&lane->noisy) || atomic_load(&lane->deferred_since) != 0;
}

/* Adds the lane to reprise_attention; removes it. */
static inline void reprise_lane_attend(struct reprise_lane *lane)
{
	if (__builtin_expect(atomic_load_explicit(&lane->attended, memory_order_relaxed), 1))
		return;
	atomic_store_explicit(&lane->attended, true, memory_order_relaxed);
	atomic_fetch_add(&reprise_attention, 1);
}

static inline void reprise_lane_unattend(struct reprise_lane *lane)
{
	if (!atomic_load_explicit(&lane->attended, memory_order_relaxed))
		return;
	atomic_store_explicit(&lane->attended, false, memory_order_relaxed);
	atomic_fetch_sub(&reprise_attention, 1);
}

/* Counts what passed in eager turns into the position: nothing is known of it but the number, which
 * may go back where two threads count at one moment. Under the lane's lock, before the position
 * matters. */
static inline void reprise_lane_place(struct reprise_lane *lane)
{
	uint64_t passed = __atomic_load_n(&lane->counts.in_turns, __ATOMIC_RELAXED);

	if (__builtin_expect(passed <= lane->placed_in_turns, 1))
		return;
	lane->position = (struct reprise_position){
		.before = REPRISE_BEFORE_NOTHING,
		.since_wait = lane->position.since_wait + (unsigned int)(passed - lane->placed_in_turns),
	};
	lane->placed_in_turns = passed;
	lane->last = lane->expected = NULL;
}

/* An op of a backoff passes, which had `left` ops. With or without the lane's lock. A thread that
 * was held up since it read that must not bring back an old number: the ops of another backoff
 * would be counted twice. */
static inline void reprise_lane_count_down(struct reprise_lane *lane, uint32_t left)
{
	atomic_compare_exchange_strong_explicit(&lane->backoff_ops, &left, left - 1,
	                                        memory_order_relaxed, memory_order_relaxed);
}

/* To be subtracted from the counts: the ops of a backoff that have not come yet, or, as a negative
 * number modulo 2^64, those of a scan that are not counted yet. Without any lock. */
static inline uint64_t reprise_lane_counts_ahead(const struct reprise_lane *lane)
{
	uint32_t left = atomic_load_explicit(&lane->backoff_ops, memory_order_acquire);

	return left != REPRISE_LANE_SCANS
	           ? left
	           : -atomic_load_explicit(&lane->scan->ops, memory_order_relaxed);
}

/* The ops that it has had. Under the lane's lock. */
static inline uint64_t reprise_lane_ops(const struct reprise_lane *lane)
{
	return lane->counts.ops - reprise_lane_counts_ahead(lane);
}

/* Ends a backoff or a scan, if there is one: counts what has passed. Under the lane's lock, or
 * where the lane is no stream's. */
static inline void reprise_lane_wake(struct reprise_lane *lane)
{
	uint64_t ahead = reprise_lane_counts_ahead(lane);

	if (ahead != 0) {
		reprise_lane_uncount(&lane->counts.ops, ahead);
		reprise_lane_uncount(&lane->counts.backed_off, ahead);
	}
	if (lane->scan != NULL)
		atomic_store_explicit(&lane->scan->ops, 0, memory_order_relaxed);
	atomic_store(&lane->backoff_ops, 0);
}

/* A stream's lane is new: it is scanned first. */
static inline void reprise_lane_begin_scanning(struct reprise_lane *lane)
{
	lane->backoff_at = lane->counts.ops;
	lane->backoff_span = lane->scan_span = 0;
	lane->scan_due = true;
}

/* Something repeats: moves the next backoff `ops` further, at most REPRISE_TUNE_BACKOFF_AFTER from
 * now. */
static inline void reprise_lane_postpone_backoff(struct reprise_lane *lane, uint64_t ops)
{
	uint64_t most = lane->counts.ops + REPRISE_TUNE_BACKOFF_AFTER, until;

	until = (lane->backoff_at > lane->counts.ops ? lane->backoff_at : lane->counts.ops) + ops;
	lane->backoff_at = until < most ? until : most;
	lane->backoff_span = 0;
	lane->scan_due = false;
}

/* True if enough is replayed beside so many more ops that are worth no graph. */
static inline bool reprise_lane_replays_beside(struct reprise_lane *lane, unsigned int ops)
{
	if (lane->worthless >= REPRISE_TUNE_BACKOFF_WATCHED) {
		lane->worthless = 0;
		lane->worthless_from = lane->counts.replayed;
	}
	lane->worthless += ops;
	return (lane->counts.replayed - lane->worthless_from) * REPRISE_TUNE_BACKOFF_SHARE >=
	       lane->worthless;
}

/* What repeats is worth no graph: brings the first backoff nearer, unless other ops are replayed.
 * Between two the lane watches as long as ever, so that it sees when that changes. */
static inline void reprise_lane_hasten_backoff(struct reprise_lane *lane, unsigned int ops)
{
	uint64_t less = (uint64_t)REPRISE_TUNE_BACKOFF_HASTE * ops;

	if (lane->backoff_span == 0 && !lane->scan_due && !reprise_lane_replays_beside(lane, ops))
		lane->backoff_at -= less < lane->backoff_at ? less : lane->backoff_at;
}

/* Host functions and callbacks that the lane's stream was given (async_launch.h). */
static inline uint64_t reprise_backlog_functions(const struct reprise_lane *lane)
{
	return lane->counts.kinds[REPRISE_OP_HOST] +
	       atomic_load_explicit(&lane->backlog.callbacks, memory_order_relaxed);
}

/* All that the lane's stream was given so far is done. */
static inline void reprise_backlog_done(struct reprise_lane *lane)
{
	lane->backlog.functions = reprise_backlog_functions(lane);
}

/* ---- pending launches (launch.h) ---- */

/* Visits launched so far. Without any lock: there may be more by now. */
static inline uint64_t reprise_pending_launched(const struct reprise_lane *lane)
{
	return atomic_load_explicit(&lane->queue.launched, memory_order_acquire);
}

/* True if no launch is pending. Without any lock: it may change at once. */
static inline bool reprise_pending_none(const struct reprise_lane *lane)
{
	return reprise_pending_launched(lane) == atomic_load(&lane->queue.added);
}

/* When the first op of the oldest pending launch came; 0 if none is pending. */
static inline uint64_t reprise_pending_since(const struct reprise_lane *lane)
{
	const struct reprise_pending_queue *queue = &lane->queue;
	uint64_t next = reprise_pending_launched(lane);

	return next == atomic_load_explicit(&queue->added, memory_order_relaxed)
	           ? 0
	           : queue->visits[next % REPRISE_PENDING_MOST].since;
}
