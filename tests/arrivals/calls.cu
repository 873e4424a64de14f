// Every call of the runtime API that takes a stream, as an argument or in a structure. check_calls.py holds this against the headers.
#include "arrivals.h"

namespace {

__global__ void touch(int *cell)
{
    *cell += 1;
}

__device__ int symbol[BYTES / sizeof(int)];

cudaLaunchConfig_t configuration(world &w, cudaLaunchAttribute *attributes, unsigned int count)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = dim3(1);
    config.stream = w.stream;
    config.attrs = attributes;
    config.numAttrs = count;
    return config;
}

cudaError_t launch_by_configuration(world &w, cudaLaunchAttributeID id)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = id;
    attribute.val.clusterDim.x = attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = configuration(w, &attribute, id != cudaLaunchAttributeIgnore);
    void *arguments[] = {&w.device};
    return cudaLaunchKernelExC(&config, (const void *)touch, arguments);
}

cudaMemcpy3DParms box(world &w)
{
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(w.device, WIDTH, WIDTH, HEIGHT);
    copy.dstPtr = make_cudaPitchedPtr(w.second, WIDTH, WIDTH, HEIGHT);
    copy.extent = make_cudaExtent(WIDTH / 2, HEIGHT / 2, 2);
    copy.kind = cudaMemcpyDefault;
    return copy;
}

cudaMemLocation first_device()
{
    cudaMemLocation location = {};
    location.type = cudaMemLocationTypeDevice;
    return location;
}

cudaError_t copy_batch(world &w)
{
    void *targets[] = {w.second};
    const void *sources[] = {w.device};
    size_t sizes[] = {BYTES}, first[] = {0};
    cudaMemcpyAttributes attributes = {};
    attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    return cudaMemcpyBatchAsync(targets, sources, sizes, 1, &attributes, first, 1, w.stream);
}

cudaError_t copy_boxes(world &w)
{
    cudaMemcpy3DBatchOp copy = {};
    copy.src.type = copy.dst.type = cudaMemcpyOperandTypePointer;
    copy.src.op.ptr.ptr = w.device;
    copy.dst.op.ptr.ptr = w.second;
    copy.src.op.ptr.locHint = copy.dst.op.ptr.locHint = first_device();
    copy.extent = make_cudaExtent(WIDTH, 1, 1);
    copy.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    return cudaMemcpy3DBatchAsync(1, &copy, 0, w.stream);
}

cudaError_t instantiate(world &w)
{
    cudaGraphInstantiateParams params = {};
    params.flags = cudaGraphInstantiateFlagUpload;
    params.uploadStream = w.stream;
    return cudaGraphInstantiateWithParams(&w.made, w.graph, &params);
}

void make_other(world &w) { cudaStreamCreate(&w.other); }
void end_other(world &w) { cudaStreamDestroy(w.other); }
void allocate(world &w) { cudaMallocAsync(&w.pooled, BYTES, w.stream); }
void release(world &w) { cudaFreeAsync(w.pooled, w.stream); }
void end_made(world &w) { cudaGraphExecDestroy(w.made); }
void make_captured(world &w) { cudaGraphCreate(&w.captured, 0); }
void begin_capture(world &w) { cudaStreamBeginCapture(w.stream, cudaStreamCaptureModeRelaxed); }
void end_captured(world &w) { cudaGraphDestroy(w.captured); }

void end_capture(world &w)
{
    w.captured = nullptr;
    cudaStreamEndCapture(w.stream, &w.captured);
    end_captured(w);
}

void called_back(cudaStream_t, cudaError_t, void *) {}
void called(void *) {}

const char *const no_semaphore = "it needs a semaphore of another API, and is made with none";
const char *const no_resource = "it needs a resource of another API, and is made with none";

}  // namespace

// The names are written by the macro so that the headers cannot rename them for per-thread default streams.
#define MAKE(expression) [](world &w) -> cudaError_t { return expression; }
#define CALL(name, arguments) {#name, "", MAKE(name arguments), nullptr, nullptr, false, nullptr}
#define CALL_WAY(name, way, arguments) {#name, way, MAKE(name arguments), nullptr, nullptr, false, nullptr}
#define CALL_WITH(name, arguments, before, after) {#name, "", MAKE(name arguments), before, after, false, nullptr}
#define CALL_CREATED(name, arguments, before, after) {#name, "", MAKE(name arguments), before, after, true, nullptr}
#define CALL_UNLESS(name, arguments, unless) {#name, "", MAKE(name arguments), nullptr, nullptr, false, unless}
#define CALL_BY(name, way, ...) {#name, way, __VA_ARGS__, nullptr, nullptr, false, nullptr}

const call calls[] = {
    // Streams.
    CALL_CREATED(cudaStreamCreate, (&w.other), nullptr, end_other),
    CALL_CREATED(cudaStreamCreateWithFlags, (&w.other, cudaStreamNonBlocking), nullptr, end_other),
    CALL_CREATED(cudaStreamCreateWithPriority, (&w.other, cudaStreamNonBlocking, 0), nullptr, end_other),
    CALL_CREATED(cudaStreamDestroy, (w.other), make_other, nullptr),
    CALL_BY(cudaStreamGetPriority, "", [](world &w) { int priority; return cudaStreamGetPriority(w.stream, &priority); }),
    CALL_BY(cudaStreamGetFlags, "", [](world &w) { unsigned int flags; return cudaStreamGetFlags(w.stream, &flags); }),
    CALL_BY(cudaStreamGetId, "", [](world &w) { unsigned long long id; return cudaStreamGetId(w.stream, &id); }),
    CALL_BY(cudaStreamGetDevice, "", [](world &w) { int device; return cudaStreamGetDevice(w.stream, &device); }),
    CALL_WITH(cudaStreamCopyAttributes, (w.other, w.stream), make_other, end_other),
    CALL_BY(cudaStreamGetAttribute, "", [](world &w) {
        cudaStreamAttrValue value;
        return cudaStreamGetAttribute(w.stream, cudaStreamAttributeSynchronizationPolicy, &value);
    }),
    CALL_BY(cudaStreamSetAttribute, "", [](world &w) {
        cudaStreamAttrValue value = {};
        value.syncPolicy = cudaSyncPolicyAuto;
        return cudaStreamSetAttribute(w.stream, cudaStreamAttributeSynchronizationPolicy, &value);
    }),
    CALL(cudaStreamWaitEvent, (w.stream, w.event, 0)),
    CALL(cudaStreamAddCallback, (w.stream, called_back, nullptr, 0)),
    CALL(cudaStreamSynchronize, (w.stream)),
    CALL(cudaStreamQuery, (w.stream)),
    CALL(cudaStreamAttachMemAsync, (w.stream, w.managed, 0, cudaMemAttachGlobal)),
    CALL(cudaEventRecord, (w.event, w.stream)),
    CALL(cudaEventRecordWithFlags, (w.event, w.stream, cudaEventRecordDefault)),

    // Captures.
    CALL_WITH(cudaStreamBeginCapture, (w.stream, cudaStreamCaptureModeRelaxed), nullptr, end_capture),
    CALL_WITH(cudaStreamBeginCaptureToGraph, (w.stream, w.captured, nullptr, nullptr, 0, cudaStreamCaptureModeRelaxed), make_captured,
              end_capture),
    CALL_WITH(cudaStreamEndCapture, (w.stream, &w.captured), begin_capture, end_captured),
    CALL_BY(cudaStreamIsCapturing, "", [](world &w) { cudaStreamCaptureStatus status; return cudaStreamIsCapturing(w.stream, &status); }),
    CALL_BY(cudaStreamGetCaptureInfo, "", [](world &w) {
        cudaStreamCaptureStatus status;
        return cudaStreamGetCaptureInfo(w.stream, &status, nullptr, nullptr, nullptr, nullptr, nullptr);
    }),
    CALL_WITH(cudaStreamUpdateCaptureDependencies, (w.stream, nullptr, nullptr, 0, cudaStreamSetCaptureDependencies), begin_capture,
              end_capture),

    // Launches.
    CALL_BY(cudaLaunchKernel, "", [](world &w) {
        void *arguments[] = {&w.device};
        return cudaLaunchKernel((const void *)touch, dim3(1), dim3(1), arguments, 0, w.stream);
    }),
    CALL_BY(cudaLaunchKernel, "by the compiler", [](world &w) {
        touch<<<1, 1, 0, w.stream>>>((int *)w.device);
        return cudaPeekAtLastError();
    }),
    CALL_BY(cudaLaunchKernelExC, "", [](world &w) { return launch_by_configuration(w, cudaLaunchAttributeIgnore); }),
    CALL_BY(cudaLaunchKernelExC, "with clusters", [](world &w) { return launch_by_configuration(w, cudaLaunchAttributeClusterDimension); }),
    CALL_BY(cudaLaunchCooperativeKernel, "", [](world &w) {
        void *arguments[] = {&w.device};
        return cudaLaunchCooperativeKernel((const void *)touch, dim3(1), dim3(1), arguments, 0, w.stream);
    }),
    CALL(cudaLaunchHostFunc, (w.stream, called, nullptr)),
    CALL_BY(cudaOccupancyMaxPotentialClusterSize, "", [](world &w) {
        cudaLaunchConfig_t config = configuration(w, nullptr, 0);
        int size;
        return cudaOccupancyMaxPotentialClusterSize(&size, (const void *)touch, &config);
    }),
    CALL_BY(cudaOccupancyMaxActiveClusters, "", [](world &w) {
        cudaLaunchConfig_t config = configuration(w, nullptr, 0);
        int count;
        return cudaOccupancyMaxActiveClusters(&count, (const void *)touch, &config);
    }),

    // Copies.
    CALL_WAY(cudaMemcpyAsync, "host to device", (w.device, w.pinned, BYTES, cudaMemcpyHostToDevice, w.stream)),
    CALL_WAY(cudaMemcpyAsync, "device to host", (w.pinned, w.device, BYTES, cudaMemcpyDeviceToHost, w.stream)),
    CALL_WAY(cudaMemcpyAsync, "device to device", (w.second, w.device, BYTES, cudaMemcpyDeviceToDevice, w.stream)),
    CALL_WAY(cudaMemcpyAsync, "host to host", (w.pinned, (char *)w.pinned + BYTES / 2, BYTES / 2, cudaMemcpyHostToHost, w.stream)),
    CALL_WAY(cudaMemcpyAsync, "by default", (w.second, w.device, BYTES, cudaMemcpyDefault, w.stream)),
    CALL_WAY(cudaMemcpyAsync, "pageable to device", (w.device, w.pageable, BYTES, cudaMemcpyHostToDevice, w.stream)),
    CALL_WAY(cudaMemcpyAsync, "device to pageable", (w.pageable, w.device, BYTES, cudaMemcpyDeviceToHost, w.stream)),
    CALL(cudaMemcpyPeerAsync, (w.second, 0, w.device, 0, BYTES, w.stream)),
    CALL_BY(cudaMemcpyBatchAsync, "", copy_batch),
    CALL_BY(cudaMemcpy3DBatchAsync, "", copy_boxes),
    CALL(cudaMemcpy2DAsync, (w.second, 2 * WIDTH, w.device, 2 * WIDTH, WIDTH, HEIGHT, cudaMemcpyDefault, w.stream)),
    CALL_BY(cudaMemcpy3DAsync, "", [](world &w) { cudaMemcpy3DParms copy = box(w); return cudaMemcpy3DAsync(&copy, w.stream); }),
    CALL_BY(cudaMemcpy3DPeerAsync, "", [](world &w) {
        cudaMemcpy3DPeerParms copy = {};
        copy.srcPtr = box(w).srcPtr;
        copy.dstPtr = box(w).dstPtr;
        copy.extent = box(w).extent;
        return cudaMemcpy3DPeerAsync(&copy, w.stream);
    }),
    CALL_WAY(cudaMemcpy2DToArrayAsync, "from device", (w.array, 0, 0, w.device, WIDTH, WIDTH, HEIGHT, cudaMemcpyDeviceToDevice, w.stream)),
    CALL_WAY(cudaMemcpy2DToArrayAsync, "from host", (w.array, 0, 0, w.pinned, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice, w.stream)),
    CALL_WAY(cudaMemcpy2DFromArrayAsync, "to device", (w.device, WIDTH, w.array, 0, 0, WIDTH, HEIGHT, cudaMemcpyDeviceToDevice, w.stream)),
    CALL_WAY(cudaMemcpy2DFromArrayAsync, "to host", (w.pinned, WIDTH, w.array, 0, 0, WIDTH, HEIGHT, cudaMemcpyDeviceToHost, w.stream)),
    CALL_WAY(cudaMemcpyToArrayAsync, "from device", (w.array, 0, 0, w.device, WIDTH, cudaMemcpyDeviceToDevice, w.stream)),
    CALL_WAY(cudaMemcpyToArrayAsync, "from host", (w.array, 0, 0, w.pinned, WIDTH, cudaMemcpyHostToDevice, w.stream)),
    CALL_WAY(cudaMemcpyFromArrayAsync, "to device", (w.device, w.array, 0, 0, WIDTH, cudaMemcpyDeviceToDevice, w.stream)),
    CALL_WAY(cudaMemcpyFromArrayAsync, "to host", (w.pinned, w.array, 0, 0, WIDTH, cudaMemcpyDeviceToHost, w.stream)),
    CALL(cudaMemcpyToSymbolAsync, ((const void *)symbol, w.pinned, BYTES, 0, cudaMemcpyHostToDevice, w.stream)),
    CALL(cudaMemcpyFromSymbolAsync, (w.pinned, (const void *)symbol, BYTES, 0, cudaMemcpyDeviceToHost, w.stream)),

    // Fills.
    CALL(cudaMemsetAsync, (w.device, 1, BYTES, w.stream)),
    CALL(cudaMemset2DAsync, (w.device, 2 * WIDTH, 1, WIDTH, HEIGHT, w.stream)),
    CALL(cudaMemset3DAsync, (make_cudaPitchedPtr(w.device, WIDTH, WIDTH, HEIGHT), 1, make_cudaExtent(WIDTH / 2, HEIGHT / 2, 2), w.stream)),

    // Managed memory, and memory in the order of a stream.
    CALL(cudaMemPrefetchAsync, (w.managed, BYTES, first_device(), 0, w.stream)),
    CALL_BY(cudaMemPrefetchBatchAsync, "", [](world &w) {
        cudaMemLocation place = first_device();
        size_t size = BYTES, first = 0;
        return cudaMemPrefetchBatchAsync(&w.managed, &size, 1, &place, &first, 1, 0, w.stream);
    }),
    CALL_BY(cudaMemDiscardBatchAsync, "", [](world &w) {
        size_t size = BYTES;
        return cudaMemDiscardBatchAsync(&w.managed, &size, 1, 0, w.stream);
    }),
    CALL_BY(cudaMemDiscardAndPrefetchBatchAsync, "", [](world &w) {
        cudaMemLocation place = first_device();
        size_t size = BYTES, first = 0;
        return cudaMemDiscardAndPrefetchBatchAsync(&w.managed, &size, 1, &place, &first, 1, 0, w.stream);
    }),
    CALL_WITH(cudaMallocAsync, (&w.pooled, BYTES, w.stream), nullptr, release),
    CALL_WITH(cudaMallocFromPoolAsync, (&w.pooled, BYTES, w.pool, w.stream), nullptr, release),
    CALL_WITH(cudaFreeAsync, (w.pooled, w.stream), allocate, nullptr),

    // Graphs.
    {"cudaGraphInstantiateWithParams", "", instantiate, nullptr, end_made, false, nullptr},
    CALL(cudaGraphUpload, (w.executable, w.stream)),
    CALL(cudaGraphLaunch, (w.executable, w.stream)),

    // Other APIs.
    CALL_UNLESS(cudaSignalExternalSemaphoresAsync, (nullptr, nullptr, 0, w.stream), no_semaphore),
    CALL_UNLESS(cudaWaitExternalSemaphoresAsync, (nullptr, nullptr, 0, w.stream), no_semaphore),
    CALL_UNLESS(cudaGraphicsMapResources, (0, nullptr, w.stream), no_resource),
    CALL_UNLESS(cudaGraphicsUnmapResources, (0, nullptr, w.stream), no_resource),
};
const size_t call_count = sizeof(calls) / sizeof(calls[0]);

const not_made others[] = {
    {"cudaEGLStreamConsumerAcquireFrame", "it needs an EGL stream"},
    {"cudaEGLStreamConsumerReleaseFrame", "it needs an EGL stream"},
    {"cudaEGLStreamProducerPresentFrame", "it needs an EGL stream"},
    {"cudaEGLStreamProducerReturnFrame", "it needs an EGL stream"},
    {"cudaGLMapBufferObjectAsync", "it needs an OpenGL context"},
    {"cudaGLUnmapBufferObjectAsync", "it needs an OpenGL context"},
};
const size_t other_count = sizeof(others) / sizeof(others[0]);
