/*
 * The doors of calls that give a stream work which may wait for what is yet to come: an address that is written later, a semaphore, a kernel of the
 * program's graph. Like the ops they go through the gate (src/base/gate.h); else they are doors of the order of a stream like any other.
 */
#include "versions.h"

#include "../src/base/gate.h"
#include "../src/base/inside.h"
#include "../src/lane/doors.h"
#include "door.h"

#define DOOR(name, is_per_thread, parameters, arguments) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name parameters \
	{ \
		CUresult result; \
\
		if (reprise_inside != 0) \
			return REPRISE_REAL(name) arguments; \
		reprise_door_order(stream, is_per_thread); \
		reprise_gate_enter(); \
		result = REPRISE_REAL(name) arguments; \
		reprise_gate_leave(); \
		return result; \
	}

/* Both forms of a name. */
#define DOORS(name, parameters, arguments) \
	DOOR(name, false, PARAMETERS parameters, ARGUMENTS arguments) \
	DOOR(name##_ptsz, true, PARAMETERS parameters, ARGUMENTS arguments)

DOORS(cuGraphLaunch, (CUgraphExec graph, CUstream stream), (graph, stream))
DOORS(cuLaunchCooperativeKernel,
      (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x, unsigned int block_y,
       unsigned int block_z, unsigned int shared_bytes, CUstream stream, void **params),
      (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, params))

DOORS(cuStreamWaitValue32, (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags), (stream, address, value, flags))
DOORS(cuStreamWaitValue32_v2, (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags), (stream, address, value, flags))
DOORS(cuStreamWaitValue64, (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags), (stream, address, value, flags))
DOORS(cuStreamWaitValue64_v2, (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags), (stream, address, value, flags))
DOORS(cuStreamBatchMemOp, (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *params, unsigned int flags), (stream, count, params, flags))
DOORS(cuStreamBatchMemOp_v2, (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *params, unsigned int flags), (stream, count, params, flags))
DOORS(cuWaitExternalSemaphoresAsync,
      (const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params, unsigned int count, CUstream stream),
      (semaphores, params, count, stream))
