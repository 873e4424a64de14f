/* Errors that stay: a context that a kernel has broken. Each in a process of its own. */
#include "conformance.h"

static void break_context(void)
{
	OK(launch("trap", stream, NULL));
	EXPECT(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
}

static void a_fault_is_told_at_the_synchronisation(void)
{
	break_context();
}

static void a_fault_stays(void)
{
	CUdeviceptr address;

	break_context();
	EXPECT(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
	EXPECT(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
	EXPECT(cuMemAlloc(&address, 64), CUDA_ERROR_LAUNCH_FAILED);
}

static void a_fault_reaches_other_streams(void)
{
	CUfunction nothing = function("nothing");

	break_context();
	EXPECT(cuStreamQuery(other), CUDA_ERROR_LAUNCH_FAILED);
	EXPECT(cuLaunchKernel(nothing, 1, 1, 1, 1, 1, 1, 0, other, NULL, NULL),
	       CUDA_ERROR_LAUNCH_FAILED);
}

static void a_fault_reaches_events(void)
{
	CUevent event = event_new(0);

	hold(stream);
	OK(launch("trap", stream, NULL));
	OK(cuEventRecord(event, stream));
	release();
	EXPECT(cuEventSynchronize(event), CUDA_ERROR_LAUNCH_FAILED);
}

static void a_fault_reaches_who_destroys_an_event(void)
{
	CUevent recorded = event_new(0), unused = event_new(0);

	OK(cuEventRecord(recorded, stream));
	break_context();
	EXPECT(cuEventQuery(recorded), CUDA_ERROR_LAUNCH_FAILED);
	EXPECT(cuEventDestroy(recorded), CUDA_ERROR_LAUNCH_FAILED);
	EXPECT(cuEventDestroy(unused), CUDA_ERROR_LAUNCH_FAILED);
}

static void a_fault_in_a_graph_is_told_too(void)
{
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("trap", stream, NULL));
	capture_end();
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuGraphLaunch(exec, stream));
	EXPECT(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
}

static void the_device_can_be_asked_after_a_fault(void)
{
	const char *name;
	int count = 0;

	break_context();
	OK(cuDeviceGetCount(&count));
	OK(cuGetErrorName(CUDA_ERROR_LAUNCH_FAILED, &name));
}

#define STICKY "Data types: CUresult, CUDA_ERROR_LAUNCH_FAILED"

const struct check sticky_checks[] = {
	CHECK_ALONE(a_fault_is_told_at_the_synchronisation, STICKY, 0),
	CHECK_ALONE(a_fault_stays, STICKY, 0),
	CHECK_ALONE(a_fault_reaches_other_streams, STICKY, 0),
	CHECK_ALONE(a_fault_reaches_events, STICKY, 0),
	CHECK_ALONE(a_fault_reaches_who_destroys_an_event, STICKY, 0),
	CHECK_ALONE(a_fault_in_a_graph_is_told_too, STICKY, 0),
	CHECK_ALONE(the_device_can_be_asked_after_a_fault, STICKY, 0),
	CHECKS_END,
};
