#include "lane/eager.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/clock.h"
#include "base/gate.h"
#include "base/inside.h"
#include "base/log.h"
#include "base/placement.h"
#include "base/tuning.h"
#include "graph/program_captures.h"

#define RUINED "the driver reported an error that ruins the context"

/* The reason; set for good by reprise_eager_stop(). */
_Atomic(const char *) reprise_stopped_because REPRISE_HOT_DATA;

_Atomic uint32_t reprise_pauses REPRISE_HOT_DATA;
_Atomic uint64_t reprise_turn_begun;
static _Atomic uint64_t unseen_until;
static _Atomic uint64_t paused_since; /* 0: none, or its time is not counted */
static _Atomic uint64_t paused_ns;

_Thread_local int reprise_in_range;

bool reprise_eager_by_range(void)
{
	return reprise_in_range != 0 && reprise_inside == 0 && !reprise_program_captures_any() &&
	       (atomic_load(&reprise_pauses) & ~REPRISE_PAUSE_FLAGS) == 0 && reprise_stopped() == NULL;
}

uint64_t reprise_eager_turn_ns(void)
{
	if (!reprise_eager_turn())
		return 0;
	return reprise_clock_elapsed(atomic_load(&reprise_turn_begun), reprise_clock_ns()) + 1;
}

void reprise_eager_turn_end(void)
{
	atomic_fetch_and(&reprise_pauses, ~REPRISE_PAUSE_FLAGS);
}

void reprise_eager_unseen_begin(uint64_t until_ns)
{
	atomic_store(&unseen_until, until_ns);
	atomic_fetch_or(&reprise_pauses, REPRISE_PAUSE_UNSEEN);
}

void reprise_eager_pause_begins(void)
{
	atomic_store(&paused_since, reprise_clock_ns());
}

void reprise_eager_pause_ends(void)
{
	uint64_t since = atomic_exchange(&paused_since, 0);

	if (since != 0)
		atomic_fetch_add(&paused_ns, reprise_clock_ns() - since);
}

uint64_t reprise_eager_paused_ns(void)
{
	return atomic_load_explicit(&paused_ns, memory_order_relaxed);
}

REPRISE_HOT bool reprise_eager_unseen(void)
{
	return atomic_load(&reprise_pauses) == REPRISE_PAUSE_FLAGS && !reprise_program_captures_any() &&
	       reprise_stopped() == NULL;
}

REPRISE_HOT bool reprise_eager_unseen_ends(void)
{
	if (reprise_gate_count(REPRISE_GATE_UNSEEN) % REPRISE_TUNE_UNSEEN_LOOKED != 0 ||
	    reprise_clock_ns() < atomic_load(&unseen_until))
		return false;
	return (atomic_fetch_and(&reprise_pauses, ~REPRISE_PAUSE_UNSEEN) & REPRISE_PAUSE_UNSEEN) != 0;
}

enum reprise_counter reprise_eager_counter(void)
{
	return reprise_stopped() != NULL ? REPRISE_COUNT_eager_stopped
	       : reprise_is_paused()     ? REPRISE_COUNT_paused_ops
	       : reprise_eager_unseen()  ? REPRISE_COUNT_unseen_ops
	                                 : REPRISE_COUNT_eager_capturing;
}

/* Errors after which CUDA demands that the process is ended, or the context destroyed. */
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

bool reprise_eager_stop(const char *reason)
{
	const char *none = NULL;

	if (!atomic_compare_exchange_strong(&reprise_stopped_because, &none, reason))
		return false;
	reprise_log(REPRISE_LOG_INFO, "stopped: %s", reason);
	return true;
}

bool reprise_eager_note_error(CUresult error)
{
	return ruins_context(error) && reprise_eager_stop(RUINED);
}

void reprise_eager_reset(void)
{
	atomic_store(&reprise_stopped_because, NULL);
	reprise_eager_turn_end();
}
