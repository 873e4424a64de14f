/*
 * The doors of the program's own captures. The lanes are told before a capture can begin and after
 * it has ended, so nothing is deferred in between: the program's calls go into the program's graph.
 */
#include "versions.h"

#include "base/gate.h"
#include "base/inside.h"
#include "driver/driver.h"
#include "entry/entry.h"
#include "doors.h"

/* Newer than the header that the project asks for. */
#define FORMS(name, ...) CUresult name(__VA_ARGS__), name##_ptsz(__VA_ARGS__)
FORMS(cuStreamBeginCaptureToCig, CUstream stream, void *params);
FORMS(cuStreamEndCaptureToCig, CUstream stream);
FORMS(cuStreamBeginRecaptureToGraph, CUstream stream, CUstreamCaptureMode mode, CUgraph graph,
      void *callback, void *data);

/* Stream 0 of a _ptsz name is the thread's own default stream. */
static CUstream stream_plain(CUstream stream)
{
	return stream;
}

static CUstream stream_per_thread(CUstream stream)
{
	return stream != NULL ? stream : CU_STREAM_PER_THREAD;
}

/* True if the call has ended the capture, even with an error. It has not if there was no capture,
 * or if another thread or stream has to end it. Used for ends only: a failed begin has begun
 * nothing, and a capture that was open before was noted at its own begin. */
static bool has_ended(CUresult result, CUstream stream)
{
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;

	if (result == CUDA_SUCCESS)
		return true;
	return result != CUDA_ERROR_ILLEGAL_STATE &&
	       (reprise_driver.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS ||
	        status == CU_STREAM_CAPTURE_STATUS_NONE);
}

#define BEGIN(name, resolve, parameters, arguments) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name parameters \
	{ \
		if (reprise_inside != 0) \
			return REPRISE_REAL(name) arguments; \
		reprise_program_capture_begin(resolve(stream)); \
		reprise_gate_begin_giving(NULL); \
		CUresult result = REPRISE_REAL(name) arguments; \
		reprise_gate_end_giving(); \
		if (result != CUDA_SUCCESS) \
			reprise_program_capture_end(resolve(stream)); \
		return result; \
	}

#define END(name, resolve, parameters, arguments) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name parameters \
	{ \
		CUresult result = REPRISE_REAL(name) arguments; \
		if (reprise_inside == 0 && has_ended(result, resolve(stream))) \
			reprise_program_capture_end(resolve(stream)); \
		return result; \
	}

#define DOORS(DOOR, name, parameters, arguments) \
	DOOR(name, stream_plain, parameters, arguments) \
	DOOR(name##_ptsz, stream_per_thread, parameters, arguments)

DOORS(BEGIN, cuStreamBeginCapture, PARAMETERS(CUstream stream), ARGUMENTS(stream))
DOORS(BEGIN, cuStreamBeginCapture_v2, PARAMETERS(CUstream stream, CUstreamCaptureMode mode),
      ARGUMENTS(stream, mode))
DOORS(BEGIN, cuStreamBeginCaptureToGraph,
      PARAMETERS(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
                 const CUgraphEdgeData *edges, size_t count, CUstreamCaptureMode mode),
      ARGUMENTS(stream, graph, dependencies, edges, count, mode))
DOORS(BEGIN, cuStreamBeginRecaptureToGraph,
      PARAMETERS(CUstream stream, CUstreamCaptureMode mode, CUgraph graph, void *callback,
                 void *data),
      ARGUMENTS(stream, mode, graph, callback, data))
DOORS(BEGIN, cuStreamBeginCaptureToCig, PARAMETERS(CUstream stream, void *params),
      ARGUMENTS(stream, params))
DOORS(END, cuStreamEndCapture, PARAMETERS(CUstream stream, CUgraph *graph),
      ARGUMENTS(stream, graph))
DOORS(END, cuStreamEndCaptureToCig, PARAMETERS(CUstream stream), ARGUMENTS(stream))
