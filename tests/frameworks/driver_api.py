"""The driver API by ctypes: memsets and copies between buffers, by hand."""
import ctypes

COUNT, BYTES = 6, 4096


def setup():
    cuda, device, context, stream = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
    buffers = [ctypes.c_uint64() for _ in range(COUNT)]
    number, host = 0, (ctypes.c_uint32 * (BYTES // 4))()

    def check(result):
        if result:
            raise OSError(f"the driver returned {result}")

    check(cuda.cuInit(0))
    check(cuda.cuDeviceGet(ctypes.byref(device), 0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device))
    check(cuda.cuCtxSetCurrent(context))
    check(cuda.cuStreamCreate(ctypes.byref(stream), 1))
    for buffer in buffers:
        check(cuda.cuMemAlloc_v2(ctypes.byref(buffer), ctypes.c_size_t(BYTES)))
        check(cuda.cuMemsetD8_v2(buffer, ctypes.c_ubyte(7), ctypes.c_size_t(BYTES)))

    def step():
        nonlocal number
        number += 1
        for i, buffer in enumerate(buffers[1:]):
            check(cuda.cuMemsetD32Async(buffer, ctypes.c_uint32(number % 3 + i), ctypes.c_size_t(BYTES // 8), stream))
            check(cuda.cuMemcpyDtoDAsync_v2(ctypes.c_uint64(buffer.value + BYTES // 2), buffers[i], ctypes.c_size_t(BYTES // 4), stream))

    def outputs():
        for buffer in buffers:
            check(cuda.cuMemcpyDtoH_v2(host, buffer, ctypes.c_size_t(BYTES)))
            yield list(host)

    return step, lambda: check(cuda.cuStreamSynchronize(stream)), outputs
