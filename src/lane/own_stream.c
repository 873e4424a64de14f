/* Keeps invariants 1 and 2 for threads' own default streams: what others issue to the proxy comes
 * behind what the stream had at the visit's first op, and before whatever it is given next. */
#include "lane/own_stream.h"

#include "base/clock.h"
#include "base/gate.h"
#include "base/inside.h"
#include "base/lock.h"
#include "driver/driver.h"
#include "stats/counters.h"
#include "lane/registry.h"

/* Makes the stream wait for the event. If the driver refuses twice, the host waits instead. */
static void come_behind(CUstream stream, CUevent event)
{
	if (reprise_driver.cuStreamWaitEvent(stream, event, 0) == CUDA_SUCCESS ||
	    reprise_driver.cuStreamWaitEvent(stream, event, 0) == CUDA_SUCCESS)
		return;

	CUstreamCaptureMode mode = reprise_driver_begin_relaxed();

	for (unsigned int looks = 0; reprise_driver.cuEventQuery(event) == CUDA_ERROR_NOT_READY;
	     looks++)
		reprise_nap(looks);
	reprise_driver_end_relaxed(mode);
}

bool reprise_own_stream_note_place(struct reprise_lane *lane)
{
	uint64_t begin = reprise_clock_ticks();
	int entered = reprise_enter();
	CUresult result;

	reprise_gate_begin_giving(lane->context);
	result = reprise_driver.cuEventRecord(lane->capture_streams.proxy.place, CU_STREAM_PER_THREAD);
	reprise_gate_end_giving();
	reprise_leave(entered);
	lane->place_ticks = reprise_clock_since(begin);
	return result == CUDA_SUCCESS;
}

CUstream reprise_own_stream_begin_in_place(struct reprise_lane *lane)
{
	const struct reprise_proxy *proxy = &lane->capture_streams.proxy;

	come_behind(proxy->stream, proxy->place);
	return proxy->stream;
}

/* One more lane is unsettled, or one less (-1). Meanwhile doors have to tell of every call. */
static void count_unsettled(uint32_t change)
{
	atomic_fetch_add(&reprise_attention, change);
	atomic_fetch_add(&reprise_unsettled, change);
}

void reprise_own_stream_end_in_place(struct reprise_lane *lane)
{
	const struct reprise_proxy *proxy = &lane->capture_streams.proxy;

	reprise_count(REPRISE_COUNT_issued_in_place, 1);
	if (reprise_driver.cuEventRecord(proxy->done, proxy->stream) != CUDA_SUCCESS &&
	    reprise_driver.cuEventRecord(proxy->done, proxy->stream) != CUDA_SUCCESS) {
		/* There is nothing that the thread's own stream could wait for. */
		for (unsigned int looks = 0; reprise_driver_query(proxy->stream) == CUDA_ERROR_NOT_READY;
		     looks++)
			reprise_nap(looks);
		return;
	}
	count_unsettled(1);
	atomic_store(&lane->unsettled, true);
}

void reprise_own_stream_drop(struct reprise_lane *lane)
{
	if (atomic_exchange(&lane->unsettled, false))
		count_unsettled(-1u);
}

/* ---- by the stream's own thread ---- */

static void settle(struct reprise_lane *lane)
{
	int entered = reprise_enter();

	reprise_gate_begin_giving(lane->context);
	come_behind(CU_STREAM_PER_THREAD, lane->capture_streams.proxy.done);
	reprise_gate_end_giving();
	if (atomic_load(&lane->retired)) /* it kept the proxy for this alone */
		reprise_capture_streams_close(&lane->capture_streams);
	reprise_leave(entered);
	reprise_own_stream_drop(lane);
}

/* The next lane from this one on that the thread has to settle before a call on the stream; NULL if
 * there is none. Mostly there is one at most. */
static struct reprise_lane *next_unsettled(struct reprise_lane *lane, CUcontext context)
{
	uint32_t self = reprise_thread_self();

	while (lane != NULL && (!atomic_load(&lane->unsettled) || atomic_load(&lane->owner) != self ||
	                        atomic_load(&lane->context) != context))
		lane = lane->next;
	return lane;
}

/* The same of all lanes. *context is the current one. */
static struct reprise_lane *first_unsettled(CUstream stream, bool per_thread, CUcontext *context)
{
	*context = NULL;
	return atomic_load(&reprise_unsettled) != 0 &&
	               reprise_stream_resolve(stream, per_thread) == CU_STREAM_PER_THREAD &&
	               reprise_driver_current(context)
	           ? next_unsettled(reprise_lanes_first(), *context)
	           : NULL;
}

void reprise_own_streams_settle_now(CUstream stream, bool per_thread)
{
	CUcontext context;

	for (struct reprise_lane *lane = first_unsettled(stream, per_thread, &context); lane != NULL;
	     lane = next_unsettled(lane->next, context))
		settle(lane);
}

/* Asked twice where the driver refuses. If it does again, the stream itself has to wait, which may
 * be behind what the legacy stream has. */
static CUresult ask_twice(CUresult (*ask)(CUstream stream), const struct reprise_lane *lane)
{
	CUstream stream = lane->capture_streams.proxy.stream;
	CUresult result = ask(stream);

	return result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY ? result : ask(stream);
}

void reprise_own_streams_await(CUstream stream, bool per_thread)
{
	CUcontext context;

	for (struct reprise_lane *lane = first_unsettled(stream, per_thread, &context); lane != NULL;
	     lane = next_unsettled(lane->next, context))
		if (ask_twice(reprise_driver_synchronize, lane) != CUDA_SUCCESS)
			settle(lane);
}

bool reprise_own_streams_have_finished(CUstream stream, bool per_thread)
{
	CUcontext context;

	for (struct reprise_lane *lane = first_unsettled(stream, per_thread, &context); lane != NULL;
	     lane = next_unsettled(lane->next, context)) {
		CUresult result = ask_twice(reprise_driver_query, lane);

		if (result == CUDA_ERROR_NOT_READY)
			return false;
		if (result != CUDA_SUCCESS)
			settle(lane);
	}
	return true;
}

/* ---- ends ---- */

bool reprise_own_stream_is_idle(struct reprise_lane *lane)
{
	CUstream stream = lane->capture_streams.proxy.stream;
	bool pushed, idle;

	if (stream == NULL)
		return true;
	pushed = reprise_driver_make_current(lane->context);
	idle = reprise_driver_query(stream) == CUDA_SUCCESS;
	reprise_driver_restore_current(pushed);
	return idle;
}

bool reprise_own_stream_may_end(struct reprise_lane *lane)
{
	if (atomic_load(&lane->unsettled) && !reprise_own_stream_is_idle(lane))
		return false;
	reprise_own_stream_drop(lane);
	return true;
}
