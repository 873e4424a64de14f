/* Put before Reprise: where the program waits for the GPU, it then waits for graphs, too, until
 * none is to be built. So what is replayed does not depend on how busy the machine is. */
#include <dlfcn.h>

#include <cuda.h>

#include "await.h"

#define PATIENCE_NS 2000000000u /* a graph for a context that is never idle is never built */

#define STRING(name) #name
#define NAME(name) STRING(name) /* with the version that cuda.h gives it */

#define WAITS(name, parameters, ...) \
	CUresult CUDAAPI name parameters \
	{ \
		static CUresult(CUDAAPI *_Atomic next) parameters; \
		CUresult result; \
\
		if (next == NULL) \
			next = (CUresult(CUDAAPI *) parameters)dlsym(RTLD_NEXT, NAME(name)); \
		result = next(__VA_ARGS__); \
		await_graphs(PATIENCE_NS); \
		return result; \
	}

WAITS(cuStreamSynchronize, (CUstream stream), stream)
WAITS(cuEventSynchronize, (CUevent event), event)
WAITS(cuCtxSynchronize, (void))
WAITS(cuMemcpyDtoH, (void *to, CUdeviceptr from, size_t bytes), to, from, bytes)
