"""cuda.core: kernels compiled at run time and launched by NVIDIA's Python library; one scalar changes at each launch."""
import numpy
from cuda.bindings import driver
try:
    from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
except ImportError:
    from cuda.core.experimental import Device, LaunchConfig, Program, ProgramOptions, launch

SOURCE = r"""extern "C" __global__ void stir(unsigned *words, unsigned count, unsigned number)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    words[i] = (words[i] ^ number) * 0x01000193u + i % count;
}"""
COUNT = 4096


def setup():
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    program = Program(SOURCE, code_type="c++", options=ProgramOptions(arch=f"sm_{device.arch}"))
    stir = program.compile("cubin").get_kernel("stir")
    words, host, numbers = device.allocate(4 * COUNT, stream=stream), numpy.zeros(COUNT, numpy.uint32), [0]
    driver.cuMemsetD32(int(words.handle), 1, COUNT)

    def step():
        for _ in range(20):
            numbers[0] += 1
            launch(stream, LaunchConfig(grid=16, block=256), stir, words, numpy.uint32(COUNT), numpy.uint32(numbers[0] % 1000))

    def outputs():
        driver.cuMemcpyDtoH(host.ctypes.data, int(words.handle), host.nbytes)
        return [host]

    return step, stream.sync, outputs
