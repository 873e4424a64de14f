/*
 * The doors of calls that take memory. Graphs of ours may hold what the program wants, and it must not fail because of us (invariant 7): a
 * call for which there was no memory is made again once they are gone. It had no effect the first time, so that the program sees one call.
 */
#include "versions.h"

#include "../src/lane/doors.h"
#include "../src/report/places.h"
#include "door.h"

static void sync_all(void)
{
	if (atomic_load_explicit(&reprise_attention, memory_order_relaxed) != 0)
		reprise_sync(REPRISE_SYNC_ALL, 0, false);
}

/* `first` is what the entry point means to the lanes: nothing, or the order of a stream. */
#define ALLOCATE_AFTER(first, name, parameters, arguments) \
	CUresult reprise_door_##name parameters; \
	CUresult reprise_door_##name parameters \
	{ \
		reprise_place_note(REPRISE_PLACE_allocates, #name, __builtin_return_address(0)); \
		first; \
		CUresult result = REPRISE_REAL(name) arguments; \
		for (unsigned int tried = 0; result == CUDA_ERROR_OUT_OF_MEMORY && reprise_make_room(tried); tried++) \
			result = REPRISE_REAL(name) arguments; \
		return result; \
	}

#define ALLOCATE(name, parameters, arguments) ALLOCATE_AFTER((void)0, name, PARAMETERS parameters, ARGUMENTS arguments)

/* Both forms of a name, in the order of a stream. */
#define ALLOCATE_IN_ORDER(name, parameters, arguments) \
	ALLOCATE_AFTER(reprise_door_order(stream, false), name, PARAMETERS parameters, ARGUMENTS arguments) \
	ALLOCATE_AFTER(reprise_door_order(stream, true), name##_ptsz, PARAMETERS parameters, ARGUMENTS arguments)

/* Device memory. */
ALLOCATE(cuMemAlloc, (CUdeviceptr_v1 *address, unsigned int bytes), (address, bytes))
ALLOCATE(cuMemAlloc_v2, (CUdeviceptr *address, size_t bytes), (address, bytes))
ALLOCATE(cuMemAllocPitch, (CUdeviceptr_v1 *address, unsigned int *pitch, unsigned int width, unsigned int height, unsigned int element),
         (address, pitch, width, height, element))
ALLOCATE(cuMemAllocPitch_v2, (CUdeviceptr *address, size_t *pitch, size_t width, size_t height, unsigned int element),
         (address, pitch, width, height, element))
ALLOCATE(cuMemAllocManaged, (CUdeviceptr *address, size_t bytes, unsigned int flags), (address, bytes, flags))
ALLOCATE(cuMemCreate, (CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop, unsigned long long flags),
         (handle, bytes, prop, flags))
ALLOCATE_IN_ORDER(cuMemAllocAsync, (CUdeviceptr *address, size_t bytes, CUstream stream), (address, bytes, stream))
ALLOCATE_IN_ORDER(cuMemAllocFromPoolAsync, (CUdeviceptr *address, size_t bytes, CUmemoryPool pool, CUstream stream),
                  (address, bytes, pool, stream))

/* Host memory, which the device has to reach. */
ALLOCATE(cuMemAllocHost, (void **address, unsigned int bytes), (address, bytes))
ALLOCATE(cuMemAllocHost_v2, (void **address, size_t bytes), (address, bytes))
ALLOCATE(cuMemHostAlloc, (void **address, size_t bytes, unsigned int flags), (address, bytes, flags))

/* Arrays. */
ALLOCATE(cuArrayCreate, (CUarray *array, const CUDA_ARRAY_DESCRIPTOR_v1 *wanted), (array, wanted))
ALLOCATE(cuArrayCreate_v2, (CUarray *array, const CUDA_ARRAY_DESCRIPTOR *wanted), (array, wanted))
ALLOCATE(cuArray3DCreate, (CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR_v1 *wanted), (array, wanted))
ALLOCATE(cuArray3DCreate_v2, (CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *wanted), (array, wanted))
ALLOCATE(cuMipmappedArrayCreate, (CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *wanted, unsigned int levels),
         (array, wanted, levels))

/* Code. */
ALLOCATE(cuModuleLoad, (CUmodule *module, const char *path), (module, path))
ALLOCATE(cuModuleLoadData, (CUmodule *module, const void *image), (module, image))
ALLOCATE(cuModuleLoadDataEx, (CUmodule *module, const void *image, unsigned int count, CUjit_option *options, void **values),
         (module, image, count, options, values))
ALLOCATE(cuModuleLoadFatBinary, (CUmodule *module, const void *image), (module, image))
ALLOCATE(cuLibraryLoadData,
         (CUlibrary *library, const void *image, CUjit_option *options, void **values, unsigned int count,
          CUlibraryOption *library_options, void **library_values, unsigned int library_count),
         (library, image, options, values, count, library_options, library_values, library_count))
ALLOCATE(cuLibraryLoadFromFile,
         (CUlibrary *library, const char *path, CUjit_option *options, void **values, unsigned int count,
          CUlibraryOption *library_options, void **library_values, unsigned int library_count),
         (library, path, options, values, count, library_options, library_values, library_count))

/* The program's own graphs; one form may upload, in the order of a stream that its parameters name. */
ALLOCATE(cuGraphInstantiate, (CUgraphExec *executable, CUgraph graph, CUgraphNode *node, char *text, size_t size),
         (executable, graph, node, text, size))
ALLOCATE(cuGraphInstantiate_v2, (CUgraphExec *executable, CUgraph graph, CUgraphNode *node, char *text, size_t size),
         (executable, graph, node, text, size))
ALLOCATE(cuGraphInstantiateWithFlags, (CUgraphExec *executable, CUgraph graph, unsigned long long flags), (executable, graph, flags))
ALLOCATE_AFTER(sync_all(), cuGraphInstantiateWithParams,
               PARAMETERS(CUgraphExec *executable, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params), ARGUMENTS(executable, graph, params))
ALLOCATE_AFTER(sync_all(), cuGraphInstantiateWithParams_ptsz,
               PARAMETERS(CUgraphExec *executable, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params), ARGUMENTS(executable, graph, params))
