#include "lane/eager.h"

#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "base/clock.h"
#include "base/hot.h"
#include "base/inside.h"
#include "base/keep.h"
#include "base/log.h"
#include "driver/driver.h"
#include "graph/captures.h"
#include "entry/entry.h"
#include "lane/order.h"
#include "entry/recorded.h"
#include "lane/registry.h"
#include "lane/thread.h"

#define RUINED "the driver reported an error that ruins the context"

/* Set for good by reprise_stop(). */
static _Atomic(const char *) stopped REPRISE_HOT_DATA;

static _Atomic uint32_t pauses REPRISE_HOT_DATA; /* under way */

REPRISE_HOT bool reprise_taking_part(void)
{
	return reprise_inside == 0 && !reprise_captures_any() &&
	       atomic_load_explicit(&pauses, memory_order_acquire) == 0 &&
	       atomic_load_explicit(&stopped, memory_order_relaxed) == NULL;
}

enum reprise_counter reprise_eager_counter(void)
{
	return reprise_stopped() != NULL  ? REPRISE_COUNT_passed_stopped
	       : atomic_load(&pauses) > 0 ? REPRISE_COUNT_paused_ops
	                                  : REPRISE_COUNT_passed_capturing;
}

/* ---- pauses ---- */

void reprise_pause_begin(void)
{
	REPRISE_KEEP_ERRNO;

	atomic_fetch_add(&pauses, 1);
	reprise_issue();
}

void reprise_pause_end(void)
{
	uint32_t under_way = atomic_load(&pauses);

	while (under_way > 0 && !atomic_compare_exchange_weak(&pauses, &under_way, under_way - 1))
		continue;
}

/* ---- the program's own captures ---- */

void reprise_captures_destroyed(CUstream stream, CUcontext context)
{
	/* No default stream is ever destroyed. */
	if (!reprise_captures_any() || (stream != NULL && stream <= CU_STREAM_PER_THREAD))
		return;
	reprise_lanes_lose_order(stream); /* of what came meanwhile nobody has taken note */
	reprise_captures_end_all(stream, context);
}

/* Whose stream a handle names: that of a default stream names the current context's. */
static CUcontext context_of(CUstream stream)
{
	CUcontext context = NULL;

	if (stream > CU_STREAM_PER_THREAD)
		reprise_driver.cuStreamGetCtx(stream, &context);
	else
		reprise_driver.cuCtxGetCurrent(&context);
	return context;
}

void reprise_capture_begin(CUstream stream)
{
	REPRISE_KEEP_ERRNO;
	bool noted;

	if (reprise_inside != 0)
		return;
	reprise_count(REPRISE_COUNT_program_captures, 1);
	noted = reprise_captures_begin(stream, context_of(stream));
	if (stream == CU_STREAM_PER_THREAD)
		reprise_thread_owns();
	if (reprise_records())
		reprise_recorded_capture();
	reprise_lanes_pass_by(stream,
	                      false); /* what others hold is no part of it; what they hold on streams
	                                 that are drawn into it, the calls that do so issue */
	if (!noted)
		reprise_stop("too many captures at once");
}

void reprise_capture_end(CUstream stream)
{
	REPRISE_KEEP_ERRNO;

	if (reprise_inside != 0)
		return;
	if (stream > CU_STREAM_PER_THREAD)
		reprise_lanes_lose_order(stream);
	reprise_captures_end(stream, context_of(stream));
}

/* ---- errors and the end ---- */

/* Errors after which CUDA says that the process must be ended, or the context destroyed, to use it
 * again. */
static bool ruins_context(CUresult result)
{
	switch (result) {
	case CUDA_ERROR_ECC_UNCORRECTABLE:
	case CUDA_ERROR_ILLEGAL_ADDRESS:
	case CUDA_ERROR_LAUNCH_TIMEOUT:
	case CUDA_ERROR_CONTEXT_IS_DESTROYED:
	case CUDA_ERROR_ASSERT:
	case CUDA_ERROR_HARDWARE_STACK_ERROR:
	case CUDA_ERROR_ILLEGAL_INSTRUCTION:
	case CUDA_ERROR_MISALIGNED_ADDRESS:
	case CUDA_ERROR_INVALID_ADDRESS_SPACE:
	case CUDA_ERROR_INVALID_PC:
	case CUDA_ERROR_LAUNCH_FAILED:
	case CUDA_ERROR_EXTERNAL_DEVICE:
	case CUDA_ERROR_DEINITIALIZED:
	case CUDA_ERROR_UNKNOWN:
		return true;
	default:
		return false;
	}
}

static bool stop(const char *reason)
{
	const char *none = NULL;

	if (!atomic_compare_exchange_strong(&stopped, &none, reason))
		return false;
	reprise_log(REPRISE_LOG_INFO, "stopped: %s", reason);
	return true;
}

void reprise_stop(const char *reason)
{
	REPRISE_KEEP_ERRNO;

	if (stop(reason) && reprise_inside == 0)
		reprise_lanes_barrier(false);
}

void reprise_eager_note_error(CUresult error)
{
	if (ruins_context(error))
		stop(RUINED);
}

void reprise_observe_result(CUresult result)
{
	REPRISE_KEEP_ERRNO;

	if (reprise_inside == 0 && ruins_context(result))
		reprise_stop(RUINED);
}

void reprise_stop_at_exit(uint64_t patience_ns)
{
	uint64_t end = reprise_clock_ns() + patience_ns;

	stop("the process ends");
	while (reprise_inside == 0 && reprise_lanes_hold() && reprise_clock_ns() < end) {
		struct timespec pause = {.tv_nsec = 10000};

		nanosleep(&pause, NULL);
	}
}

const char *reprise_stopped(void)
{
	return atomic_load(&stopped);
}

void reprise_eager_reset(void)
{
	atomic_store(&stopped, NULL);
}
