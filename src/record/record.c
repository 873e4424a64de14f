/* Makes records of calls, in the order in which the calls came. The lock is held while a record is
 * made or records are written, but not while the driver is asked about an op or runs the call. */
#include "record/record.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/inside.h"
#include "base/lock.h"
#include "base/options.h"
#include "base/placement.h"
#include "base/tuning.h"
#include "op/op.h"
#include "record/file.h"

#define PAYLOAD_MOST 36864 /* 32764 bytes of parameters, and the attributes */
#define THREADS_MOST 255

_Atomic bool reprise_recording REPRISE_HOT_DATA;

static struct reprise_lock lock;
static bool begun;                        /* the file was made */
static uint8_t threads;                   /* threads with a number */
static bool described[REPRISE_LANE_NONE]; /* lanes whose stream is in the file */
static unsigned char payload[PAYLOAD_MOST];
/* Changes in a forked child, whose threads are numbered anew. */
static _Atomic uint32_t process = 1;

static _Thread_local struct {
	uint32_t process;
	uint8_t number;
	/* When its last op returned, or its last barrier began; 0: neither yet. */
	uint64_t since;
} self __attribute__((tls_model(REPRISE_TLS_MODEL)));

/* The functions below are called under the lock. */

static void add(const struct reprise_record *record)
{
	if (!reprise_record_file_add(record))
		atomic_store(&reprise_recording, false);
}

/* Fills in what depends on the calling thread, which begins a call `now`. */
static void sign(struct reprise_record *record, uint64_t now)
{
	uint32_t this_process = atomic_load(&process);
	uint64_t gap;

	if (self.process != this_process) {
		self.process = this_process;
		self.number = threads;
		self.since = 0;
		threads += threads < THREADS_MOST;
	}
	gap = self.since == 0 ? 0 : now - self.since;
	record->thread = self.number;
	record->gap_ns = gap > UINT32_MAX ? UINT32_MAX : (uint32_t)gap;
	self.since = now;
}

static bool begin(void)
{
	if (!begun && !reprise_record_file_open())
		atomic_store(&reprise_recording, false);
	begun = true;
	return atomic_load(&reprise_recording);
}

static uint32_t narrow(uint64_t hash)
{
	return (uint32_t)(hash ^ hash >> 32);
}

static void describe(const struct reprise_record_lane *lane, uint8_t thread)
{
	if (described[lane->number])
		return;
	described[lane->number] = true;
	add(&(struct reprise_record){.kind = REPRISE_RECORD_LANE,
	                             .lane = lane->number,
	                             .thread = thread,
	                             .shape = (lane->legacy ? 1 : 0) | (lane->blocking ? 2 : 0),
	                             .value = narrow(reprise_hash_mix(lane->context, 5))});
}

/* A stream that ended: the next one with its number is described again. */
static void forget_streams(enum reprise_record_kind kind, uint8_t lane)
{
	if (kind == REPRISE_RECORD_CONTEXT)
		memset(described, 0, sizeof(described));
	else if (kind == REPRISE_RECORD_STREAM && lane != REPRISE_LANE_NONE)
		described[lane] = false;
}

/* `op` was examined, with the result `unfit`. */
static void fill_in(struct reprise_record *record, struct reprise_op *op, enum reprise_unfit unfit,
                    const struct reprise_call *call)
{
	if (unfit == REPRISE_UNFIT_NONE && op->payload_bytes > sizeof(payload))
		unfit = REPRISE_UNFIT_BAD_PARAMETERS;
	op->payload = payload;
	if (unfit == REPRISE_UNFIT_NONE)
		reprise_op_complete(op, call);
	record->detail = (uint8_t)(reprise_memory_kind(op->target_memory) |
	                           reprise_memory_kind(op->source_memory) << 2 | (int)unfit << 4);
	record->shape = narrow(op->shape);
	record->value = narrow(op->value);
}

/* ---- called by entry/ ---- */

void reprise_record_op(const struct reprise_record_lane *lane, const struct reprise_call *call)
{
	struct reprise_record record = {.kind = (uint8_t)call->kind,
	                                .lane = lane == NULL ? REPRISE_LANE_NONE : lane->number};
	uint64_t now = reprise_clock_ns();
	struct reprise_op op = {0};
	enum reprise_unfit unfit =
		lane == NULL ? REPRISE_UNFIT_NO_LANE : reprise_op_examine(&op, call, NULL);

	reprise_lock_take(&lock);
	if (begin()) {
		sign(&record, now);
		if (lane != NULL)
			describe(lane, record.thread);
		fill_in(&record, &op, unfit, call);
		add(&record);
	}
	reprise_lock_give(&lock);
}

void reprise_record_returned(CUresult result)
{
	if (result != CUDA_SUCCESS)
		reprise_record_barrier(REPRISE_RECORD_REFUSED, REPRISE_LANE_NONE);
	self.since = reprise_clock_ns();
}

void reprise_record_barrier(enum reprise_record_kind kind, uint8_t lane)
{
	struct reprise_record record = {.kind = (uint8_t)kind, .lane = lane};
	uint64_t now = reprise_clock_ns();

	reprise_lock_take(&lock);
	if (begun && atomic_load(&reprise_recording)) {
		sign(&record, now);
		add(&record);
		forget_streams(kind, lane);
	}
	reprise_lock_give(&lock);
}

void reprise_record_begin(void)
{
	atomic_store(&reprise_recording, reprise_option_given(REPRISE_OPTION_RECORD) &&
	                                     reprise_option_text(REPRISE_OPTION_RECORD)[0] != '\0');
}

/* A thread that writes holds the lock for microseconds. A thread that is inside may hold it itself,
 * if a signal handler ends the program: then nothing more is written. */
void reprise_record_end(void)
{
	uint64_t end = reprise_clock_ns() + REPRISE_TUNE_RECORD_PATIENCE_NS;

	while (atomic_load(&reprise_recording) && reprise_inside == 0 && reprise_clock_ns() < end) {
		if (!reprise_lock_try(&lock)) {
			nanosleep(&(struct timespec){.tv_nsec = 10000}, NULL);
			continue;
		}
		reprise_record_file_flush();
		atomic_store(&reprise_recording, false);
		reprise_lock_give(&lock);
	}
}

void reprise_record_reset(void)
{
	atomic_store(&lock.word, 0);
	begun = false;
	threads = 0;
	memset(described, 0, sizeof(described));
	reprise_record_file_forget();
	atomic_fetch_add(&process, 1);
	reprise_record_begin();
}

const char *reprise_record_cut_short(void)
{
	return reprise_record_file_ended();
}
