/* The calls of the runtime API that launchbound makes, by the driver API: so its shapes, and the
 * graphs that are written by hand for them, are tried on the simulated driver. A kernel is its
 * index in the module, plus 1. C++. */
#pragma once

#include <cuda.h>
#include <cstddef>

typedef CUresult cudaError_t;
typedef CUstream cudaStream_t;
typedef CUevent cudaEvent_t;
typedef CUgraph cudaGraph_t;
typedef CUgraphExec cudaGraphExec_t;
typedef CUgraphNode cudaGraphNode_t;
typedef CUgraphExecUpdateResultInfo cudaGraphExecUpdateResultInfo;
typedef CUmemoryPool cudaMemPool_t;

struct dim3 {
	unsigned x, y, z;
	dim3(unsigned wide = 1) : x(wide), y(1), z(1)
	{
	}
};

struct cudaKernelNodeParams {
	void *func;
	dim3 gridDim, blockDim;
	unsigned sharedMemBytes;
	void **kernelParams, **extra;
};

const cudaError_t cudaSuccess = CUDA_SUCCESS, cudaErrorNotSupported = CUDA_ERROR_NOT_SUPPORTED;
const unsigned cudaStreamNonBlocking = CU_STREAM_NON_BLOCKING,
			   cudaEventDisableTiming = CU_EVENT_DISABLE_TIMING;
const CUstreamCaptureMode cudaStreamCaptureModeThreadLocal = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
const CUmemPool_attribute cudaMemPoolAttrReleaseThreshold = CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDefault };
#define cudaStreamPerThread CU_STREAM_PER_THREAD

const char *cudaGetErrorName(cudaError_t error);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaFree(void *memory);
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *after, size_t count,
                                   const cudaKernelNodeParams *params);
cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *params);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *result);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                 unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream);
cudaError_t cudaMallocBytes(void **memory, size_t bytes);
cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream);
cudaError_t cudaMallocHostBytes(void **memory, size_t bytes);
cudaError_t cudaMemGetInfo(size_t *free, size_t *total);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, CUmemPool_attribute attribute, void *value);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, CUstreamCaptureMode mode);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);

template <class T> cudaError_t cudaMalloc(T **memory, size_t bytes)
{
	return cudaMallocBytes(reinterpret_cast<void **>(memory), bytes);
}

template <class T> cudaError_t cudaMallocHost(T **memory, size_t bytes)
{
	return cudaMallocHostBytes(reinterpret_cast<void **>(memory), bytes);
}
