"""CuPy: a wave in a potential, by Fourier transforms there and back in each step."""
import cupy


def setup():
    size = 256
    x = cupy.linspace(-8, 8, size, endpoint=False)
    frequencies = 2 * cupy.pi * cupy.fft.fftfreq(size, d=16 / size)
    turn, spread = cupy.exp(-0.5j * x * x * 0.01), cupy.exp(-0.5j * frequencies * frequencies * 0.01)
    wave = cupy.exp(-(x - 1) ** 2).astype(cupy.complex128)
    numbers = {"norm": 0.0, "steps": 0}

    def step():
        nonlocal wave
        wave = turn * cupy.fft.ifft(spread * cupy.fft.fft(turn * wave))
        wave /= cupy.sqrt((cupy.abs(wave) ** 2).sum())
        numbers["steps"] += 1
        if numbers["steps"] % 50 == 0:
            numbers["norm"] += float(cupy.abs(wave[size // 2]))

    return step, cupy.cuda.Device().synchronize, lambda: [cupy.asnumpy(wave), [numbers["norm"]]]
