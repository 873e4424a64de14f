/*
 * A lane: the ordered ops of one stream in one context, or of some that fork and join (joint.h),
 * and what Reprise makes of them.
 *
 * A lane is either watching (its ops pass eagerly and are looked at) or following a trace (its ops
 * are compared with the trace's and answered at once; at the trace's end the graph is launched).
 * `cursor` ops of the followed trace are deferred: the driver has not seen them.
 *
 * Fields are under `lock` but for the atomic ones, which others read without it to see whether they
 * need it. Lanes are never freed, only used again (registry.c), so a pointer to one stays good.
 */
#pragma once

#include <cuda.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"
#include "op/call.h"
#include "trace/index.h"
#include "trace/watch.h"
#include "lane/known.h"

/*
 * What a SYNC entry point may observe. The lanes of that are issued, and those on which the calling
 * thread was the last: it may go to sleep, and what it has asked for is not to wait for the hold
 * limit. Lanes of other threads, which they synchronise for themselves, are left alone.
 */
enum reprise_sync {
	REPRISE_SYNC_STREAM, /* one stream, and what its ops come after: the legacy stream's, or those
	                        of the blocking streams */
	REPRISE_SYNC_QUERY,  /* the same, and does not wait for it */
	REPRISE_SYNC_EVENT,  /* an event: what comes before one was issued when it was recorded, but
	                        where streams fork and join (joint.h) */
	REPRISE_SYNC_EVENT_QUERY, /* the same, and does not wait for it */
	REPRISE_SYNC_EVENT_END,   /* its end: nothing (ended.h) */
	REPRISE_SYNC_DEFAULT,     /* as the default stream of the current context does; addresses may be
	                             those of other contexts, which are all issued */
	REPRISE_SYNC_CONTEXT,     /* all streams of a context */
	REPRISE_SYNC_ALL,         /* anything */
	REPRISE_SYNC_UNKNOWN,     /* the same, and it may give streams work, nobody knows which */
};

struct reprise_lane_counts {
	uint64_t ops;                          /* calls that could have been ops */
	uint64_t launches;                     /* graphs launched */
	uint64_t kinds[REPRISE_OP_KIND_COUNT]; /* of the ops, those that were looked at */
	uint64_t replayed; /* issued as nodes of a graph; in observe, that would have been */
	uint64_t patched;  /* of these, with other values than at the visit before */
	uint64_t absent;   /* ops of replayed traces that did not come */
	uint64_t siblings; /* guards that failed and found another trace that fits */
	uint64_t
		twins; /* of the traces, those that are made of another, because values come by turns */
	uint64_t exits[REPRISE_EXIT_COUNT];
	uint64_t exited[REPRISE_EXIT_COUNT]; /* ops that these issued */
	uint64_t exit_ticks;                 /* what they took beside issuing */
	uint64_t unfit[REPRISE_UNFIT_COUNT];
	uint64_t drowsy;  /* passed without being looked at */
	uint64_t traces;  /* made */
	uint64_t put_off; /* not made yet, since too many graphs waited to be built */
	uint64_t lost;    /* times that a trace was left eager for a while because it did not pay */
	uint64_t evicted; /* given up for want of memory */
};

/*
 * What a lane counts is counted under its lock alone, and read by reports without it: no word is
 * torn, and no other order is asked for. Not a read-modify-write, which an ordinary addition would
 * not be either.
 */
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

/* A completed visit that waits to be launched. */
struct reprise_pending {
	struct reprise_trace *trace;
	unsigned int patched; /* so many ops have other values than the graph */
	uint64_t since;       /* when its first op came */
	uint64_t held_since;  /* the same, for the timeline; 0 without one */
	bool failed;          /* its ops were issued instead, and the lane does not know yet */
	bool came_back;       /* it counts as the trace's return, unless it fails */
};

/* Visits are added under the lane's lock, and launched under the queue's (queued.h). */
struct reprise_pending_queue {
	struct reprise_lock lock;
	_Atomic uint64_t launched;
	_Atomic uint32_t failed; /* how many visits */
	uint64_t held_until;     /* for the timeline: when the last hold ended; 0 without one */
	_Alignas(REPRISE_CACHE_LINE) _Atomic uint64_t added;
	struct reprise_pending visits[REPRISE_PENDING_MOST];
};

/* (pace.h) */
struct reprise_pace {
	unsigned int visits;          /* since the last wait */
	uint64_t begin_ns, begin_ops; /* when it began to be measured, and at which count of ops; 0:
	                                 with the next visit */
	uint64_t op_ns,
		span_ns;      /* what an op took, when it was measured last, and all that was measured */
	_Atomic int lead; /* up where the GPU was seen to have nothing to do, down where it had */
	unsigned int resting; /* visits for which that is taken to be so, so far */
};

/* (backlog.h) */
struct reprise_backlog {
	uint64_t functions;         /* of the lane's, so many are known to be done */
	uint64_t ask_at;            /* the count of ops at which the stream is asked again */
	_Atomic uint64_t callbacks; /* that were added to the stream: they count as host functions */
};

struct reprise_lane {
	/* What is seldom written comes first, on a cache line of its own: threads with lanes of their
	 * own read it of each other's. */
	struct reprise_lane *next; /* in the registry, for good */
	uint8_t number;            /* in recordings and reports; all further lanes share the last one */
	uint8_t member;            /* while it is joined: which one */
	uint8_t splits;            /* how often it was in a joint lane that was parted */
	_Atomic uint32_t thread;   /* whose op was the last */
	_Atomic(struct reprise_lane *) joined; /* the lane that has its stream's ops, if it is another
	                                          or joint itself; else NULL */

	/* Whose lane it is: set by the registry when it is given to a stream, and read by whoever looks
	 * at all lanes. */
	_Atomic(CUcontext) context;
	_Atomic(CUstream) stream; /* CU_STREAM_LEGACY for the legacy default stream,
	                             CU_STREAM_PER_THREAD for a thread's own */
	_Atomic uint32_t owner; /* of its own default stream the thread, REPRISE_OWNER_ENDED once it has
	                           ended; 0 for all other streams */
	_Atomic bool blocking; /* ordered against the legacy default stream; of a joint lane: one of its
	                          members is */
	_Atomic bool unusable; /* its ops always pass */
	_Atomic bool retired;
	_Atomic uint32_t
		foreign_calls; /* calls on its stream by threads that are not a joint lane's, as far as they
	                  are known to be, and that may not have reached the driver yet */

	/* What every op needs, on two lines. */
	_Alignas(REPRISE_CACHE_LINE) struct reprise_lock lock;
	unsigned int cursor;
	struct reprise_trace *trace;    /* followed */
	struct reprise_trace *expected; /* what followed the last trace before */
	struct reprise_group *group;    /* of a joint lane's head; else NULL */
	struct reprise_watch *watch;
	struct reprise_index *index;
	_Atomic uint32_t backoff_ops; /* so many to come are not looked at */
	_Atomic uint32_t
		ended;          /* events that the program has destroyed, and that it may name (ended.h) */
	_Atomic bool noisy; /* has had ops since the last barrier; a joint lane always, since its
	                       streams may owe something (joint.h) */
	_Atomic bool attended; /* counts in reprise_attention: is noisy, or was at the last barrier */
	bool watching;         /* a segment is open */
	bool paused;           /* in this visit the program paused for long, and that was noted */
	bool coming; /* the trace that would have fit at the last guard that failed is not built yet, or
	                put aside */
	struct reprise_lane_counts counts;
	uint64_t told_ops, told_replayed; /* of these, what was told to the series over time */

	struct reprise_position position; /* of the next op */
	struct reprise_trace *last;       /* the trace just replayed, if nothing passed since */
	struct reprise_asked *asked;      /* (verify.h); NULL unless verifying */
	uint64_t only_watch_until;    /* the count of ops at which a trace may begin again: what came
	                                 instead of one is to be seen in one piece */
	_Atomic uint64_t last_return; /* ticks, when the last eager call returned */
	uint64_t backoff_at; /* the count of ops at which it falls drowsy: where nothing repeats, it is
	                         watched only now and then */
	uint32_t backoff_span; /* how long it was left alone last time */
	struct reprise_capture_streams capture_streams;

	/* What the hold limit's thread looks at again and again. */
	_Alignas(REPRISE_CACHE_LINE) _Atomic uint64_t
		deferred_since;  /* when the first op came that is deferred or queued; 0 if there is none */
	_Atomic bool wanted; /* somebody has asked whether its stream has finished, and must not wait
	                        for the answer */
	uint64_t visit_since; /* when the first op of the followed trace came; 0 if none is deferred of
	                         that */
	uint64_t held_since;  /* the same, for the timeline; 0 without one */
	struct reprise_pace pace;
	struct reprise_backlog backlog;

	_Alignas(REPRISE_CACHE_LINE) struct reprise_pending_queue queue;
	/*
	 * What others read without the lock: of a joint lane the events that its ops may name. If one
	 * is not known, none is deferred that does, no trace that is followed, and nothing is known of
	 * its record. And the functions that traces may launch, or ops that are watched: handles as
	 * they are launched, and those of kernels' functions.
	 */
	_Alignas(REPRISE_CACHE_LINE) struct reprise_known events;
	struct reprise_known functions;
	_Atomic bool launches_functions; /* not all of them by handles of kernels */
	_Atomic bool
		names_elsewhere; /* an op that is watched, or of a trace, may name an array or contexts */
};

/* A lane is watched closely for so many ops after anything repeated: several of the longest
 * periods. */
#define REPRISE_BACKOFF_AFTER_OPS 16384

/*
 * The one flag that a generic door reads: non-zero while any lane holds deferred ops, or has seen
 * ops since the last barrier it was told of, or had at the one before. While it is zero, an ORDER
 * or SYNC entry point needs no word from us.
 */
extern _Atomic uint32_t reprise_attention;

/* Whether ops are only watched: REPRISE=observe. Set before the first lane is made. */
extern bool reprise_observing;

/* Whether `head` has the ops of the lane's stream. Under the lock of `head`, or of the lane if that
 * is NULL. */
static inline bool reprise_lane_leads_to(const struct reprise_lane *lane,
                                         const struct reprise_lane *head)
{
	return __builtin_expect(atomic_load_explicit(&lane->joined, memory_order_relaxed) == head, 1);
}

/* Locks the lane that has the ops of this one's stream, and returns it. */
static inline struct reprise_lane *reprise_lane_take(struct reprise_lane *lane)
{
	for (;;) {
		struct reprise_lane *head = atomic_load_explicit(&lane->joined, memory_order_acquire),
							*taken = head != NULL ? head : lane;

		reprise_lock_take(&taken->lock);
		if (reprise_lane_leads_to(lane, head))
			return taken;
		reprise_lock_give(&taken->lock);
	}
}

/* The lane that has the ops of this one's stream. It may change at any time, unless its lock is
 * held. */
static inline struct reprise_lane *reprise_lane_head(struct reprise_lane *lane)
{
	struct reprise_lane *head = atomic_load(&lane->joined);

	return head != NULL ? head : lane;
}

static inline bool reprise_lane_is_group(const struct reprise_lane *lane)
{
	return atomic_load(&lane->joined) == lane;
}

/* Whether it has had ops since the last barrier that it was told of. */
static inline bool reprise_lane_has_news(const struct reprise_lane *lane)
{
	return atomic_load(&lane->noisy) || atomic_load(&lane->deferred_since) != 0;
}

/* The lane has to be told of barriers. There is nothing to tell it of any more, until its next op.
 */
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

/* Something repeats: the lane is watched closely for so many ops more, but never for longer than
 * REPRISE_BACKOFF_AFTER_OPS. */
static inline void reprise_lane_put_off_backoff(struct reprise_lane *lane, uint64_t ops)
{
	uint64_t most = lane->counts.ops + REPRISE_BACKOFF_AFTER_OPS;
	uint64_t until =
		(lane->backoff_at > lane->counts.ops ? lane->backoff_at : lane->counts.ops) + ops;

	lane->backoff_at = until < most ? until : most;
	lane->backoff_span = 0;
}

/* Host functions and callbacks that the lane's stream was given (backlog.h). */
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

/* ---- what is queued (queued.h) ---- */

/* How many visits have been launched. Without any lock: there may be more by now. */
static inline uint64_t reprise_pending_launched(const struct reprise_lane *lane)
{
	return atomic_load_explicit(&lane->queue.launched, memory_order_acquire);
}

/* Whether nothing is queued. Without any lock, likewise. */
static inline bool reprise_pending_none(const struct reprise_lane *lane)
{
	return reprise_pending_launched(lane) == atomic_load(&lane->queue.added);
}

/* When the first op of what is queued came; 0 if nothing is. */
static inline uint64_t reprise_pending_since(const struct reprise_lane *lane)
{
	const struct reprise_pending_queue *queue = &lane->queue;
	uint64_t next = reprise_pending_launched(lane);

	return next == atomic_load_explicit(&queue->added, memory_order_relaxed)
	           ? 0
	           : queue->visits[next % REPRISE_PENDING_MOST].since;
}
