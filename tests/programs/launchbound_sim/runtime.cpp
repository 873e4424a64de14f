// The runtime API of cuda_runtime.h, and the kernels of launchbound/kernels.h, which are those of launchbound_kernels.cu. As the runtime does, a
// thread's first call makes the primary context of device 0 its own.
#include "cuda_runtime.h"

#include "../launchbound/kernels.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <unistd.h>

static const char *const names[] = {"mix0", "mix1", "mix2", "mix3", "mix4", "mix5", "mix6", "mix7", "work"};
enum { KERNELS = sizeof names / sizeof names[0] };

static const void *kernel_number(size_t number)
{
    return reinterpret_cast<const void *>(number + 1);
}

const void *const mix_kernels[MIX_KERNELS] = {
    kernel_number(0), kernel_number(1), kernel_number(2), kernel_number(3), kernel_number(4), kernel_number(5), kernel_number(6), kernel_number(7),
};
// Times mean nothing on the simulated driver.
const void *const work_2us = kernel_number(MIX_KERNELS);
const void *const work_5us = kernel_number(MIX_KERNELS);
const void *const work_10us = kernel_number(MIX_KERNELS);
const void *const work_30us = kernel_number(MIX_KERNELS);
const void *const work_1ms = kernel_number(MIX_KERNELS);

static CUcontext context;
static CUfunction functions[KERNELS];

static void must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "launchbound-sim: %s: %s\n", what, cudaGetErrorName(result));
    exit(1);
}

// The module lies beside the program.
static std::string module_path()
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path);
    std::string program(path, length > 0 ? (size_t)length : 0);
    return program.substr(0, program.rfind('/') + 1) + "launchbound_kernels.so";
}

static void begin()
{
    CUdevice device;
    CUmodule module;
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    must(cuModuleLoad(&module, module_path().c_str()), module_path().c_str());
    for (int i = 0; i < KERNELS; i++)
        must(cuModuleGetFunction(&functions[i], module, names[i]), names[i]);
}

static void current()
{
    static std::once_flag begun;
    static thread_local bool is_current;
    if (is_current)
        return;
    std::call_once(begun, begin);
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    is_current = true;
}

template <class... PARAMETERS, class... ARGUMENTS>
static cudaError_t call(CUresult (*function)(PARAMETERS...), ARGUMENTS... arguments)
{
    current();
    return function(arguments...);
}

static CUdeviceptr address(const void *memory)
{
    return reinterpret_cast<CUdeviceptr>(memory);
}

static CUfunction function_of(const void *kernel)
{
    return functions[reinterpret_cast<size_t>(kernel) - 1];
}

static CUDA_KERNEL_NODE_PARAMS node_params(const cudaKernelNodeParams *given)
{
    CUDA_KERNEL_NODE_PARAMS params = {};
    params.func = function_of(given->func);
    params.gridDimX = given->gridDim.x;
    params.blockDimX = given->blockDim.x;
    params.gridDimY = params.gridDimZ = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = given->kernelParams;
    return params;
}

const char *cudaGetErrorName(cudaError_t error)
{
    const char *name = nullptr;
    return cuGetErrorName(error, &name) == CUDA_SUCCESS ? name : "an error without a name";
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream)
{
    current();
    return cuLaunchKernel(function_of(kernel), grid.x, 1, 1, block.x, 1, 1, (unsigned)shared, stream, arguments, nullptr);
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *after, size_t count, const cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS made = node_params(params);
    return cuGraphAddKernelNode(node, graph, after, count, &made);
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams *params)
{
    CUDA_KERNEL_NODE_PARAMS made = node_params(params);
    return cuGraphExecKernelNodeSetParams(exec, node, &made);
}

cudaError_t cudaMallocBytes(void **memory, size_t bytes)
{
    CUdeviceptr found = 0;
    CUresult result = call(cuMemAlloc, &found, bytes);
    *memory = reinterpret_cast<void *>(found);
    return result;
}

cudaError_t cudaMallocAsync(void **memory, size_t bytes, cudaStream_t stream)
{
    CUdeviceptr found = 0;
    CUresult result = call(cuMemAllocAsync, &found, bytes, stream);
    *memory = reinterpret_cast<void *>(found);
    return result;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind, cudaStream_t stream)
{
    return call(cuMemcpyAsync, address(to), address(from), bytes, stream);
}

// clang-format off
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device) { return call(cuDeviceGetDefaultMemPool, pool, device); }
cudaError_t cudaDeviceSynchronize() { return call(cuCtxSynchronize); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) { return call(cuEventCreate, event, flags); }
cudaError_t cudaEventDestroy(cudaEvent_t event) { return call(cuEventDestroy, event); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return call(cuEventRecord, event, stream); }
cudaError_t cudaFree(void *memory) { return call(cuMemFree, address(memory)); }
cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream) { return call(cuMemFreeAsync, address(memory), stream); }
cudaError_t cudaFreeHost(void *memory) { return call(cuMemFreeHost, memory); }
cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags) { return call(cuGraphCreate, graph, flags); }
cudaError_t cudaGraphDestroy(cudaGraph_t graph) { return call(cuGraphDestroy, graph); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) { return call(cuGraphExecDestroy, exec); }
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *result) { return call(cuGraphExecUpdate, exec, graph, result); }
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags) { return call(cuGraphInstantiateWithFlags, exec, graph, flags); }
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) { return call(cuGraphLaunch, exec, stream); }
cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) { return call(cuGraphUpload, exec, stream); }
cudaError_t cudaMallocHostBytes(void **memory, size_t bytes) { return call(cuMemHostAlloc, memory, bytes, 0u); }
cudaError_t cudaMemGetInfo(size_t *free, size_t *total) { return call(cuMemGetInfo, free, total); }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, CUmemPool_attribute attribute, void *value) { return call(cuMemPoolSetAttribute, pool, attribute, value); }
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) { return call(cuMemcpy, address(to), address(from), bytes); }
cudaError_t cudaMemset(void *to, int value, size_t bytes) { return call(cuMemsetD8, address(to), (unsigned char)value, bytes); }
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream) { return call(cuMemsetD8Async, address(to), (unsigned char)value, bytes, stream); }
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, CUstreamCaptureMode mode) { return call(cuStreamBeginCapture, stream, mode); }
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return call(cuStreamCreate, stream, (unsigned)CU_STREAM_DEFAULT); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) { return call(cuStreamCreate, stream, flags); }
cudaError_t cudaStreamDestroy(cudaStream_t stream) { return call(cuStreamDestroy, stream); }
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) { return call(cuStreamEndCapture, stream, graph); }
cudaError_t cudaStreamSynchronize(cudaStream_t stream) { return call(cuStreamSynchronize, stream); }
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) { return call(cuStreamWaitEvent, stream, event, flags); }
