/*
 * The doors of calls that take memory. Reprise's graphs may hold the memory that the program wants,
 * and the program must not fail because of that (invariant 7). If the driver has no memory, Reprise
 * gives up its graphs and makes the call again. The failed call had no effect, so the program sees
 * one call.
 *
 * Some calls may wait for all work of a context. They announce themselves to the gate
 * (src/base/gate.h) while they last, and everything deferred is issued first: the work that they
 * wait for may itself wait for a deferred op. Most kinds of memory were not seen to wait on an H200
 * (docs/conformance.md).
 */
#include "versions.h"

#include "base/gate.h"
#include "base/inside.h"
#include "graph/neighbours.h"
#include "entry/entry.h"
#include "stats/sites.h"
#include "doors.h"

/* Newer than the header that the project asks for. */
CUresult CUDAAPI cuMulticastBindMem_v2(CUmemGenericAllocationHandle multicast, CUdevice device,
                                       size_t multicast_offset, CUmemGenericAllocationHandle memory,
                                       size_t offset, size_t bytes, unsigned long long flags);

static void sync_all(void)
{
	if (atomic_load_explicit(&reprise_attention, memory_order_relaxed) != 0)
		reprise_sync(REPRISE_SYNC_ALL, 0, false);
}

/* True if the caller must call reprise_gate_end_waiting(). */
static bool begin_waiting(void)
{
	if (reprise_inside != 0)
		return false;
	reprise_gate_begin_waiting();
	sync_all();
	return true;
}

static void end_waiting(bool began)
{
	if (began)
		reprise_gate_end_waiting();
}

/* An allocation in stream order is work: it may wait for a stream of any context to free memory. */
static bool enter_gate(void)
{
	if (reprise_inside != 0)
		return false;
	reprise_gate_begin_giving(NULL);
	return true;
}

static void leave_gate(bool entered)
{
	if (entered)
		reprise_gate_end_giving();
}

/* `begin` and `end` run around each call of the driver, `first` and `last` around all of them. */
#define ALLOCATE_AROUND(first, last, begin, end, name, parameters, arguments) \
	CUresult reprise_door_##name parameters; \
	CUresult reprise_door_##name parameters \
	{ \
		reprise_call_site_note(REPRISE_CALL_SITE_allocates, #name, __builtin_return_address(0)); \
		first; \
		CUresult result = CUDA_ERROR_OUT_OF_MEMORY; \
		for (unsigned int tried = 0; \
		     result == CUDA_ERROR_OUT_OF_MEMORY && (tried == 0 || reprise_make_room(tried - 1)); \
		     tried++) { \
			begin; \
			result = REPRISE_REAL(name) arguments; \
			end; \
		} \
		last; \
		return result; \
	}

#define ALLOCATE(name, parameters, arguments) \
	ALLOCATE_AROUND((void)0, (void)0, (void)0, (void)0, name, PARAMETERS parameters, \
	                ARGUMENTS arguments)

/* A call that may wait for all work. Graphs are given up between two calls of the driver, not
 * within one. */
#define ALLOCATE_WAITING(name, parameters, arguments) \
	ALLOCATE_AROUND((void)0, (void)0, bool began = begin_waiting(), end_waiting(began), name, \
	                PARAMETERS parameters, ARGUMENTS arguments)

/* Both forms of a name, in the order of a stream. */
#define ALLOCATE_IN_ORDER(name, parameters, arguments) \
	ALLOCATE_AROUND(reprise_door_order(stream, false), reprise_order_ends(), \
	                bool entered = enter_gate(), leave_gate(entered), name, PARAMETERS parameters, \
	                ARGUMENTS arguments) \
	ALLOCATE_AROUND(reprise_door_order(stream, true), reprise_order_ends(), \
	                bool entered = enter_gate(), leave_gate(entered), name##_ptsz, \
	                PARAMETERS parameters, ARGUMENTS arguments)

/* A context exists from the moment in which the driver begins to make it. */
#define ALLOCATE_CONTEXT(name, parameters, arguments) \
	ALLOCATE_AROUND(int answer = reprise_neighbours_begin(device), \
	                reprise_neighbours_made(answer, result == CUDA_SUCCESS), (void)0, (void)0, \
	                name, PARAMETERS parameters, ARGUMENTS arguments)

/* Device memory. */
ALLOCATE(cuMemAlloc, (CUdeviceptr_v1 * address, unsigned int bytes), (address, bytes))
ALLOCATE(cuMemAlloc_v2, (CUdeviceptr * address, size_t bytes), (address, bytes))
ALLOCATE(cuMemAllocPitch,
         (CUdeviceptr_v1 * address, unsigned int *pitch, unsigned int width, unsigned int height,
          unsigned int element),
         (address, pitch, width, height, element))
ALLOCATE(cuMemAllocPitch_v2,
         (CUdeviceptr * address, size_t *pitch, size_t width, size_t height, unsigned int element),
         (address, pitch, width, height, element))
ALLOCATE(cuMemAllocManaged, (CUdeviceptr * address, size_t bytes, unsigned int flags),
         (address, bytes, flags))
ALLOCATE_WAITING(cuMemCreate,
                 (CUmemGenericAllocationHandle * handle, size_t bytes,
                  const CUmemAllocationProp *prop, unsigned long long flags),
                 (handle, bytes, prop, flags))
ALLOCATE_IN_ORDER(cuMemAllocAsync, (CUdeviceptr * address, size_t bytes, CUstream stream),
                  (address, bytes, stream))
ALLOCATE_IN_ORDER(cuMemAllocFromPoolAsync,
                  (CUdeviceptr * address, size_t bytes, CUmemoryPool pool, CUstream stream),
                  (address, bytes, pool, stream))

/* Host memory that the device can reach. */
ALLOCATE(cuMemAllocHost, (void **address, unsigned int bytes), (address, bytes))
ALLOCATE(cuMemAllocHost_v2, (void **address, size_t bytes), (address, bytes))
ALLOCATE(cuMemHostAlloc, (void **address, size_t bytes, unsigned int flags),
         (address, bytes, flags))

/* Arrays. */
ALLOCATE(cuArrayCreate, (CUarray * array, const CUDA_ARRAY_DESCRIPTOR_v1 *wanted), (array, wanted))
ALLOCATE(cuArrayCreate_v2, (CUarray * array, const CUDA_ARRAY_DESCRIPTOR *wanted), (array, wanted))
ALLOCATE_WAITING(cuArray3DCreate, (CUarray * array, const CUDA_ARRAY3D_DESCRIPTOR_v1 *wanted),
                 (array, wanted))
ALLOCATE_WAITING(cuArray3DCreate_v2, (CUarray * array, const CUDA_ARRAY3D_DESCRIPTOR *wanted),
                 (array, wanted))
ALLOCATE_WAITING(cuMipmappedArrayCreate,
                 (CUmipmappedArray * array, const CUDA_ARRAY3D_DESCRIPTOR *wanted,
                  unsigned int levels),
                 (array, wanted, levels))

/* Code. */
ALLOCATE_WAITING(cuModuleLoad, (CUmodule * module, const char *path), (module, path))
ALLOCATE_WAITING(cuModuleLoadData, (CUmodule * module, const void *image), (module, image))
ALLOCATE_WAITING(cuModuleLoadDataEx,
                 (CUmodule * module, const void *image, unsigned int count, CUjit_option *options,
                  void **values),
                 (module, image, count, options, values))
ALLOCATE_WAITING(cuModuleLoadFatBinary, (CUmodule * module, const void *image), (module, image))
ALLOCATE_WAITING(cuLibraryLoadData,
                 (CUlibrary * library, const void *image, CUjit_option *options, void **values,
                  unsigned int count, CUlibraryOption *library_options, void **library_values,
                  unsigned int library_count),
                 (library, image, options, values, count, library_options, library_values,
                  library_count))
ALLOCATE_WAITING(cuLibraryLoadFromFile,
                 (CUlibrary * library, const char *path, CUjit_option *options, void **values,
                  unsigned int count, CUlibraryOption *library_options, void **library_values,
                  unsigned int library_count),
                 (library, path, options, values, count, library_options, library_values,
                  library_count))

/* The program's own graphs. cuGraphInstantiateWithParams may upload, in the order of the stream
 * that its parameters name. */
ALLOCATE_WAITING(cuGraphInstantiate,
                 (CUgraphExec * executable, CUgraph graph, CUgraphNode *node, char *text,
                  size_t size),
                 (executable, graph, node, text, size))
ALLOCATE_WAITING(cuGraphInstantiate_v2,
                 (CUgraphExec * executable, CUgraph graph, CUgraphNode *node, char *text,
                  size_t size),
                 (executable, graph, node, text, size))
ALLOCATE_WAITING(cuGraphInstantiateWithFlags,
                 (CUgraphExec * executable, CUgraph graph, unsigned long long flags),
                 (executable, graph, flags))
ALLOCATE_WAITING(cuGraphInstantiateWithParams,
                 (CUgraphExec * executable, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
                 (executable, graph, params))
ALLOCATE_WAITING(cuGraphInstantiateWithParams_ptsz,
                 (CUgraphExec * executable, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
                 (executable, graph, params))

/* Another process's memory. It takes no memory of this process, but it may wait. It has a door in C
 * because doors in assembly cannot pass its structure on. */
ALLOCATE_WAITING(cuIpcOpenMemHandle,
                 (CUdeviceptr * address, CUipcMemHandle handle, unsigned int flags),
                 (address, handle, flags))
ALLOCATE_WAITING(cuIpcOpenMemHandle_v2,
                 (CUdeviceptr * address, CUipcMemHandle handle, unsigned int flags),
                 (address, handle, flags))

/* It takes no memory, but it may wait. It has seven arguments, too many for a door in assembly. */
ALLOCATE_WAITING(cuMulticastBindMem_v2,
                 (CUmemGenericAllocationHandle multicast, CUdevice device, size_t multicast_offset,
                  CUmemGenericAllocationHandle memory, size_t offset, size_t bytes,
                  unsigned long long flags),
                 (multicast, device, multicast_offset, memory, offset, bytes, flags))

/* ---- memory that is freed in the order of a stream, without a barrier ---- */

#define FREE(name, is_per_thread) \
	__typeof__(name) reprise_door_##name; \
	CUresult reprise_door_##name(CUdeviceptr address, CUstream stream) \
	{ \
		reprise_door_order(stream, is_per_thread); \
		bool told = reprise_free_begin(address); \
		CUresult result = REPRISE_REAL(name)(address, stream); \
		if (told) \
			reprise_free_end(); \
		reprise_order_ends(); \
		return result; \
	}
FREE(cuMemFreeAsync, false)
FREE(cuMemFreeAsync_ptsz, true)

/* Contexts. Those that OpenGL or VDPAU calls make are not seen. */
ALLOCATE_CONTEXT(cuCtxCreate, (CUcontext * context, unsigned int flags, CUdevice device),
                 (context, flags, device))
ALLOCATE_CONTEXT(cuCtxCreate_v2, (CUcontext * context, unsigned int flags, CUdevice device),
                 (context, flags, device))
ALLOCATE_CONTEXT(cuCtxCreate_v3,
                 (CUcontext * context, CUexecAffinityParam *affinities, int count,
                  unsigned int flags, CUdevice device),
                 (context, affinities, count, flags, device))
ALLOCATE_CONTEXT(cuCtxCreate_v4,
                 (CUcontext * context, CUctxCreateParams *params, unsigned int flags,
                  CUdevice device),
                 (context, params, flags, device))
