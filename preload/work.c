/*
 * The doors of calls whose work may wait for what is yet to come (an address that is written later,
 * a semaphore, a host function that wants a mutex, a kernel), and of calls that write what others
 * wait for. They go through the gate like ops (src/base/gate.h), and order their stream like other
 * doors.
 */
#include "versions.h"

#include "base/gate.h"
#include "base/inside.h"
#include "entry/entry.h"
#include "stats/sites.h"
#include "doors.h"

/* Newer than the header that the project asks for. All its arguments are passed in registers. */
#define FORMS(name, ...) CUresult name(__VA_ARGS__), name##_ptsz(__VA_ARGS__)
FORMS(cuLaunchHostFunc_v2, CUstream stream, CUhostFn function, void *data, uintptr_t mode,
      uintptr_t fifth, uintptr_t sixth);

/* `first` keeps the order of the stream. */
#define DOOR_AFTER(first, name, parameters, arguments) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name parameters \
	{ \
		CUresult result; \
\
		if (reprise_inside != 0) \
			return REPRISE_REAL(name) arguments; \
		reprise_call_site_note_some(REPRISE_CALL_SITE_orders, #name, __builtin_return_address(0)); \
		first; \
		reprise_gate_begin_giving(NULL); \
		result = REPRISE_REAL(name) arguments; \
		reprise_gate_end_giving(); \
		reprise_order_ends(); \
		return result; \
	}

/* Both forms of a name. */
#define DOORS(name, parameters, arguments) \
	DOOR_AFTER(reprise_door_order(stream, false), name, PARAMETERS parameters, \
	           ARGUMENTS arguments) \
	DOOR_AFTER(reprise_door_order(stream, true), name##_ptsz, PARAMETERS parameters, \
	           ARGUMENTS arguments)

/* A graph may record or wait for any event. */
static inline void order_graph(CUstream stream, bool per_thread)
{
	reprise_door_order(stream, per_thread);
	if (atomic_load_explicit(&reprise_attention, memory_order_relaxed) != 0)
		reprise_event_met(NULL, true);
}

DOOR_AFTER(order_graph(stream, false), cuGraphLaunch,
           PARAMETERS(CUgraphExec graph, CUstream stream), ARGUMENTS(graph, stream))
DOOR_AFTER(order_graph(stream, true), cuGraphLaunch_ptsz,
           PARAMETERS(CUgraphExec graph, CUstream stream), ARGUMENTS(graph, stream))
DOORS(cuStreamWaitValue32,
      (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags),
      (stream, address, value, flags))
DOORS(cuStreamWaitValue32_v2,
      (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags),
      (stream, address, value, flags))
DOORS(cuStreamWaitValue64,
      (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags),
      (stream, address, value, flags))
DOORS(cuStreamWaitValue64_v2,
      (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags),
      (stream, address, value, flags))
DOORS(cuStreamWriteValue32,
      (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags),
      (stream, address, value, flags))
DOORS(cuStreamWriteValue32_v2,
      (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags),
      (stream, address, value, flags))
DOORS(cuStreamWriteValue64,
      (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags),
      (stream, address, value, flags))
DOORS(cuStreamWriteValue64_v2,
      (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags),
      (stream, address, value, flags))
DOORS(cuStreamBatchMemOp,
      (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *params, unsigned int flags),
      (stream, count, params, flags))
DOORS(cuStreamBatchMemOp_v2,
      (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *params, unsigned int flags),
      (stream, count, params, flags))
DOORS(cuWaitExternalSemaphoresAsync,
      (const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params,
       unsigned int count, CUstream stream),
      (semaphores, params, count, stream))

/* These run host functions: a stream has room for few (src/lane/async_launch.h). */
static inline void order_callback(CUstream stream, bool per_thread)
{
	reprise_door_order(stream, per_thread);
	reprise_note_callback(stream, per_thread);
}

#define DOORS_OF_HOST(name, parameters, arguments) \
	DOOR_AFTER(order_callback(stream, false), name, PARAMETERS parameters, ARGUMENTS arguments) \
	DOOR_AFTER(order_callback(stream, true), name##_ptsz, PARAMETERS parameters, \
	           ARGUMENTS arguments)

DOORS_OF_HOST(cuStreamAddCallback,
              (CUstream stream, CUstreamCallback callback, void *data, unsigned int flags),
              (stream, callback, data, flags))
DOORS_OF_HOST(cuLaunchHostFunc_v2,
              (CUstream stream, CUhostFn function, void *data, uintptr_t mode, uintptr_t fifth,
               uintptr_t sixth),
              (stream, function, data, mode, fifth, sixth))
DOORS(cuGraphicsMapResources, (unsigned int count, CUgraphicsResource *resources, CUstream stream),
      (count, resources, stream))

/* Their streams are those of the current context, or named in a structure. */
DOOR_AFTER(reprise_sync(REPRISE_SYNC_UNKNOWN, 0, false), cuLaunchCooperativeKernelMultiDevice,
           PARAMETERS(CUDA_LAUNCH_PARAMS *launches, unsigned int count, unsigned int flags),
           ARGUMENTS(launches, count, flags))
DOOR_AFTER(reprise_sync(REPRISE_SYNC_ALL, 0, false), cuLaunch, PARAMETERS(CUfunction function),
           ARGUMENTS(function))
DOOR_AFTER(reprise_sync(REPRISE_SYNC_ALL, 0, false), cuLaunchGrid,
           PARAMETERS(CUfunction function, int width, int height),
           ARGUMENTS(function, width, height))
DOOR_AFTER(reprise_door_order(stream, false), cuLaunchGridAsync,
           PARAMETERS(CUfunction function, int width, int height, CUstream stream),
           ARGUMENTS(function, width, height, stream))
