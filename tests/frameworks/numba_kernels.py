"""Numba: kernels of one's own, a cellular automaton and what it counts, launched from a Python loop."""
import numpy

numpy.row_stack = getattr(numpy, "row_stack", numpy.vstack)    # a numba older than numpy asks for it
from numba import cuda


@cuda.jit
def live(before, after, number):
    row, column = cuda.grid(2)
    rows, columns = before.shape
    if row < rows and column < columns:
        around = 0
        for i in range(-1, 2):
            for j in range(-1, 2):
                around += before[(row + i) % rows, (column + j) % columns]
        alive = around == 3 or (around == 4 and before[row, column] == 1)
        after[row, column] = 1 if alive or (row * 7 + column * 3 + number) % 4096 == 0 else 0


@cuda.jit
def fold(cells, folded):
    row = cuda.grid(1)
    if row < cells.shape[0]:
        for column in range(cells.shape[1]):
            folded[row] = (folded[row] * 31 + cells[row, column]) % 1000003


def setup():
    cells = [cuda.to_device(numpy.random.default_rng(29).integers(0, 2, (128, 128), dtype=numpy.int64)) for _ in range(2)]
    folded, number = cuda.to_device(numpy.zeros(128, numpy.int64)), 0

    def step():
        nonlocal number
        live[(8, 8), (16, 16)](cells[number % 2], cells[(number + 1) % 2], number)
        number += 1
        fold[1, 128](cells[number % 2], folded)

    return step, cuda.synchronize, lambda: [folded.copy_to_host()]
