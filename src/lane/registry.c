/*
 * Lanes are in a list that only grows at its head, so all of them are visited without a lock.
 * `registry_lock` is taken to search the list for a stream's lane, to grow it, and to give a
 * retired lane to another stream. So a search never returns a lane that is being given away. Each
 * thread caches the lanes it used last, and which streams have none. A retired lane moves
 * reprise_lanes_epoch, and all threads search again. So does a new one, if a thread may have found
 * that its stream has none.
 */
#include "lane/registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/ending.h"
#include "base/hash.h"
#include "base/inside.h"
#include "base/placement.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "graph/carried.h"
#include "lane/group/group.h"
#include "stats/series.h"

/* Per thread. All thread-local data have to fit into what the loader keeps for libraries that are
 * opened later, some 1.5 KiB: Reprise may come as a listener (nvtx/listener.c). */
#define REMEMBERED 8

bool reprise_observing REPRISE_HOT_DATA;
_Atomic uint32_t reprise_attention;
_Atomic uint32_t reprise_holding REPRISE_HOT_DATA;
_Atomic uint32_t reprise_unsettled REPRISE_HOT_DATA;

static struct reprise_lock registry_lock;
static _Atomic(struct reprise_lane *) lanes;
static uint8_t lane_count;
/* A thread may remember that some stream has no lane. Under the registry's lock. */
static bool absent_remembered;
_Atomic uint32_t reprise_lanes_epoch REPRISE_HOT_DATA;
_Thread_local uint32_t reprise_lanes_looked_up_at __attribute__((tls_model(REPRISE_TLS_MODEL)));
_Atomic uint32_t reprise_legacy_lanes REPRISE_HOT_DATA, reprise_blocking_lanes REPRISE_HOT_DATA;

/* A signal handler may run between any two instructions and use the same entry for another stream.
 * So a reader reads what the entry has first, and then whose it is. */
static _Thread_local struct remembered {
	CUstream stream;
	CUcontext context;
	struct reprise_lane *lane; /* NULL: it has none */
	uint32_t epoch;
} remembered[REMEMBERED] __attribute__((tls_model(REPRISE_TLS_MODEL)));

CUstream reprise_stream_resolve(CUstream stream, bool per_thread)
{
	return stream != NULL ? stream : per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

static uint32_t owner_of(CUstream stream)
{
	return stream == CU_STREAM_PER_THREAD ? reprise_thread_self() : 0;
}

/* Under the registry's lock. */
static struct reprise_lane *search(CUcontext context, CUstream stream)
{
	uint32_t owner = owner_of(stream);

	for (struct reprise_lane *lane = atomic_load(&lanes); lane != NULL; lane = lane->next)
		if (lane->stream == stream && lane->context == context && lane->owner == owner &&
		    !atomic_load(&lane->retired))
			return lane;
	return NULL;
}

/* Also true if the driver has such streams and no way to tell them. */
static bool may_be_green(CUstream stream)
{
	CUgreenCtx green = NULL;

	if (reprise_driver.cuStreamGetGreenCtx == NULL)
		return reprise_driver.cuGreenCtxStreamCreate != NULL;
	return reprise_driver.cuStreamGetGreenCtx(stream, &green) != CUDA_SUCCESS || green != NULL;
}

/* True if Reprise follows streams of this kind. *blocking: the legacy stream waits for it. */
static bool describe(CUstream stream, CUcontext context, bool *blocking)
{
	CUcontext theirs = NULL;
	unsigned int flags = 0;

	*blocking = true;
	if (stream == CU_STREAM_LEGACY)
		return true;
	if (stream == CU_STREAM_PER_THREAD)
		return true;
	if (reprise_driver.cuStreamGetCtx(stream, &theirs) != CUDA_SUCCESS || theirs != context ||
	    reprise_driver.cuStreamGetFlags(stream, &flags) != CUDA_SUCCESS || may_be_green(stream))
		return false;
	*blocking = (flags & CU_STREAM_NON_BLOCKING) == 0;
	return true;
}

static struct reprise_lane *take_retired(void)
{
	for (struct reprise_lane *lane = atomic_load(&lanes); lane != NULL; lane = lane->next)
		if (atomic_load(&lane->retired) && atomic_load(&lane->group_head) == NULL &&
		    !atomic_load(&lane->unsettled))
			return lane;
	return NULL;
}

void reprise_lane_read_attributes(struct reprise_lane *lane)
{
	int entered = reprise_enter();

	reprise_carried_read(&lane->capture_streams.carried);
	reprise_leave(entered);
}

/* A lane was given to a stream (`change` 1) or taken from it (-1). */
static void count_order(const struct reprise_lane *lane, uint32_t change)
{
	atomic_fetch_add(&reprise_legacy_lanes, lane->stream == CU_STREAM_LEGACY ? change : 0);
	atomic_fetch_add(&reprise_blocking_lanes, lane->blocking ? change : 0);
}

/* Under the registry's lock. */
static struct reprise_lane *make(CUcontext context, CUstream stream)
{
	int entered = reprise_enter();
	bool blocking, usable = describe(stream, context, &blocking);
	struct reprise_lane *lane = take_retired();
	bool fresh = lane == NULL;

	reprise_leave(entered);
	if (fresh)
		lane = aligned_alloc(_Alignof(struct reprise_lane), sizeof(*lane));
	if (lane == NULL)
		return NULL;
	if (fresh)
		memset(lane, 0, sizeof(*lane));
	lane->context = context;
	lane->stream = stream;
	lane->owner = owner_of(stream);
	lane->blocking = blocking;
	lane->unusable = !usable;
	lane->position = (struct reprise_position){.before = REPRISE_BEFORE_NOTHING};
	lane->placed_in_turns = lane->counts.in_turns;
	reprise_lane_wake(lane);
	reprise_lane_begin_scanning(lane);
	lane->splits = 0;
	lane->pace = (struct reprise_pace){0};
	lane->place_ticks = 0;
	reprise_backlog_done(lane);
	lane->capture_streams = (struct reprise_capture_streams){.context = context, .model = stream};
	if (lane->owner != 0 && reprise_carried_noted_per_thread())
		reprise_lane_read_attributes(lane);
	count_order(lane, 1);
	if (fresh) {
		lane->number = lane_count;
		lane_count += lane_count < REPRISE_LANE_NUMBER_LAST;
		lane->next = atomic_load(&lanes);
		atomic_store_explicit(&lanes, lane, memory_order_release);
	} else {
		atomic_store_explicit(&lane->retired, false, memory_order_release);
	}
	return lane;
}

static unsigned int slot_of(CUstream stream)
{
	return (unsigned int)(reprise_hash_mix((uintptr_t)stream, 7) % REMEMBERED);
}

/* True if the entry is of the stream. *found: its lane and context. */
static inline bool is_remembered(const struct remembered *entry, CUstream stream, uint32_t now,
                                 struct remembered *found)
{
	found->lane = entry->lane;
	found->context = entry->context;
	atomic_signal_fence(memory_order_seq_cst);
	return entry->stream == stream && entry->epoch == now;
}

/* The stream's entry, which is not the first one that it may have. NULL: it has none. */
static __attribute__((noinline)) const struct remembered *look_around(CUstream stream, uint32_t now)
{
	for (unsigned int i = 0; i < REMEMBERED; i++)
		if (remembered[i].stream == stream && remembered[i].epoch == now)
			return &remembered[i];
	return NULL;
}

/* True if this thread has looked the stream up. */
static inline bool look_back(CUstream stream, uint32_t now, struct remembered *found)
{
	const struct remembered *entry = &remembered[slot_of(stream)];

	if (__builtin_expect(is_remembered(entry, stream, now, found), 1))
		return true;
	entry = look_around(stream, now);
	return entry != NULL && is_remembered(entry, stream, now, found);
}

static inline struct reprise_lane *recall(CUstream stream, bool per_thread)
{
	CUstream resolved = reprise_stream_resolve(stream, per_thread);
	uint32_t now = atomic_load_explicit(&reprise_lanes_epoch, memory_order_acquire);
	struct remembered found;

	return look_back(resolved, now, &found) ? found.lane : NULL;
}

REPRISE_HOT struct reprise_lane *reprise_lanes_remembered(CUstream stream, bool per_thread)
{
	return recall(stream, per_thread);
}

bool reprise_lanes_op_backs_off(struct reprise_lane *lane, const struct reprise_call *call)
{
	uint32_t left = atomic_load_explicit(&lane->backoff_ops, memory_order_acquire);

	if (left == 0 || atomic_load(&lane->group_head) != NULL ||
	    atomic_load(&lane->deferred_since) != 0 ||
	    ((lane->stream == CU_STREAM_LEGACY || !reprise_lanes_unordered(lane)) &&
	     reprise_lanes_hold()) ||
	    (lane->stream == CU_STREAM_LEGACY && atomic_load(&reprise_groups_waiting) > 0))
		return false; /* what comes before has to be issued first */
	/* Races between threads cost a few counts. */
	if (left == REPRISE_LANE_SCANS)
		return reprise_scan_passes(lane->scan, reprise_scan_key(call));
	reprise_lane_count_down(lane, left);
	return true;
}

REPRISE_HOT enum reprise_pass reprise_lanes_pass(CUstream stream, bool per_thread)
{
	struct reprise_lane *lane = recall(stream, per_thread);
	uint32_t left;

	if (lane == NULL)
		return REPRISE_PASS_NOT;
	left = atomic_load_explicit(&lane->backoff_ops, memory_order_relaxed);
	if (left == 0)
		return REPRISE_PASS_NOT;
	if (left == REPRISE_LANE_SCANS)
		return REPRISE_PASS_SCANNED;
	reprise_lane_count_down(lane, left);
	return REPRISE_PASS_AT_ONCE;
}

bool reprise_lanes_pass_scanned(CUstream stream, bool per_thread, struct reprise_scan_key key)
{
	struct reprise_lane *lane = recall(stream, per_thread);

	return lane != NULL &&
	       atomic_load_explicit(&lane->backoff_ops, memory_order_acquire) == REPRISE_LANE_SCANS &&
	       reprise_scan_passes(lane->scan, key);
}

static bool is_free(const struct remembered *entry, uint32_t epoch)
{
	return entry->stream == NULL || entry->epoch != epoch;
}

/* The entry for a stream: its own, if it has one, so that what recall() finds is what was found
 * last; otherwise the first one, unless another stream has it and some entry is free. */
static struct remembered *entry_for(CUstream stream, uint32_t epoch)
{
	struct remembered *first = &remembered[slot_of(stream)], *other = NULL;

	for (unsigned int i = 0; i < REMEMBERED; i++) {
		if (remembered[i].stream == stream)
			return &remembered[i];
		if (is_free(&remembered[i], epoch))
			other = &remembered[i];
	}
	return is_free(first, epoch) || other == NULL ? first : other;
}

/* Inside Reprise, so that a signal handler does not use the cache meanwhile. */
static void remember(CUstream stream, CUcontext context, struct reprise_lane *lane, uint32_t epoch)
{
	struct remembered *entry = entry_for(stream, epoch);

	reprise_inside++;
	atomic_signal_fence(memory_order_seq_cst);
	entry->stream = stream;
	entry->context = context;
	entry->lane = lane;
	entry->epoch = epoch;
	atomic_signal_fence(memory_order_seq_cst);
	reprise_inside--;
}

/* Makes a lane for a stream that has none. Threads that remember that it has none search again.
 * Under the registry's lock. */
static struct reprise_lane *make_known(CUcontext context, CUstream stream, uint32_t *epoch)
{
	struct reprise_lane *lane = make(context, stream);

	if (lane == NULL || !absent_remembered)
		return lane;
	absent_remembered = false;
	*epoch = atomic_fetch_add(&reprise_lanes_epoch, 1) + 1;
	reprise_lanes_looked_up_at = *epoch;
	return lane;
}

/* This thread has not found it before. */
static __attribute__((noinline)) struct reprise_lane *look_up_anew(CUstream stream,
                                                                   CUcontext context, uint32_t now,
                                                                   bool made)
{
	struct reprise_lane *lane;

	reprise_lock_take(&registry_lock);
	lane = search(context, stream);
	if (lane == NULL && made)
		lane = make_known(context, stream, &now);
	absent_remembered = absent_remembered || lane == NULL;
	reprise_lock_give(&registry_lock);
	remember(stream, context, lane, now);
	return lane;
}

/* The lane of the stream in the current context. If there is none: NULL, or a new one if `made`. */
static inline struct reprise_lane *look_up(CUstream stream, bool per_thread, bool made)
{
	CUcontext context = NULL;
	uint32_t now = atomic_load_explicit(&reprise_lanes_epoch, memory_order_acquire);
	struct remembered found;

	reprise_lanes_looked_up_at = now;
	stream = reprise_stream_resolve(stream, per_thread);
	if (reprise_driver.cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == NULL)
		return NULL;
	if (look_back(stream, now, &found) && found.context == context && (found.lane != NULL || !made))
		return found.lane;
	return look_up_anew(stream, context, now, made);
}

REPRISE_HOT struct reprise_lane *reprise_lanes_find(CUstream stream, bool per_thread)
{
	struct reprise_lane *lane = look_up(stream, per_thread, true);

	return lane != NULL && !lane->unusable ? lane : NULL;
}

struct reprise_lane *reprise_lanes_known(CUstream stream, bool per_thread)
{
	return look_up(stream, per_thread, false);
}

struct reprise_lane *reprise_lanes_first(void)
{
	return atomic_load_explicit(&lanes, memory_order_acquire);
}

bool reprise_lanes_have_news(void)
{
	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		if (reprise_lane_has_news(lane))
			return true;
	return false;
}

static bool any_holds(void)
{
	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		if (atomic_load(&lane->deferred_since) != 0)
			return true;
	return false;
}

/* None seems to hold. Looks again behind a mark of its own in `reprise_holding`, and takes it away
 * if none holds and nobody has written there since. */
static bool still_none_holds(uint32_t seen)
{
	static _Atomic uint32_t marks;
	uint32_t mark = atomic_fetch_add(&marks, 1) | UINT32_C(1) << 31;

	return atomic_compare_exchange_strong(&reprise_holding, &seen, mark) && !any_holds() &&
	       atomic_compare_exchange_strong(&reprise_holding, &mark, 0);
}

bool reprise_lanes_hold(void)
{
	uint32_t seen = atomic_load(&reprise_holding);

	if (__builtin_expect(seen == 0, 1))
		return false;
	if (any_holds())
		return true;
	still_none_holds(seen);
	return false;
}

unsigned int reprise_lanes_of_others(void)
{
	uint32_t self = reprise_thread_self();
	unsigned int count = 0;

	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		count += atomic_load(&lane->attended) && atomic_load(&lane->thread) != self;
	return count;
}

/* The stream of Reprise's that graphs of a group may be in: no stream of the program's waits for
 * them before its next work. Only the thread that asks makes it. */
static bool beside_is_done(const struct reprise_lane *lane)
{
	const struct reprise_forks *forks = lane->capture_streams.forks;

	return forks == NULL || forks->beside == NULL || forks->blocking ||
	       reprise_driver.cuStreamQuery(forks->beside) == CUDA_SUCCESS;
}

bool reprise_lanes_are_done(CUcontext context)
{
	/* The legacy stream waits for blocking streams and threads' own streams: it is done only if
	 * they are. */
	if (reprise_driver.cuStreamQuery(CU_STREAM_LEGACY) != CUDA_SUCCESS)
		return false;
	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		if (lane->context == context && !atomic_load(&lane->retired) &&
		    ((!lane->blocking && reprise_driver.cuStreamQuery(lane->stream) != CUDA_SUCCESS) ||
		     !beside_is_done(lane)))
			return false;
	return true;
}

void reprise_lanes_look_again(void)
{
	atomic_fetch_add(&reprise_lanes_epoch, 1);
}

void reprise_lanes_each(void (*visit)(struct reprise_lane *lane, void *context), void *context)
{
	for (struct reprise_lane *lane = reprise_lanes_first(); lane != NULL; lane = lane->next)
		visit(lane, context);
}

void reprise_lane_tell_series(struct reprise_lane *lane)
{
	uint64_t ops =
		reprise_lane_ops(lane) + __atomic_load_n(&lane->counts.in_turns, __ATOMIC_RELAXED);

	if (!reprise_series_note(ops - lane->told_ops, lane->counts.replayed - lane->told_replayed))
		return;
	lane->told_ops = ops;
	lane->told_replayed = lane->counts.replayed;
}

void reprise_lanes_retire(struct reprise_lane *lane)
{
	reprise_lock_take(&registry_lock);
	if (!atomic_load(&lane->retired)) {
		count_order(lane, -1u);
		atomic_store(&lane->retired, true);
		atomic_fetch_add(&reprise_lanes_epoch, 1);
	}
	reprise_lock_give(&registry_lock);
}

void reprise_lanes_reset(void)
{
	atomic_store(&registry_lock.word, 0);
	atomic_store(&lanes, NULL);
	atomic_store(&reprise_attention, 0);
	atomic_store(&reprise_unsettled, 0);
	lane_count = 0;
	atomic_store(&reprise_legacy_lanes, 0);
	atomic_store(&reprise_blocking_lanes, 0);
	atomic_fetch_add(&reprise_lanes_epoch, 1);
}
