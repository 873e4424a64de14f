#!/usr/bin/env python3
"""Conjugate gradients in CuPy on a small system: us per iteration, and a digest of the solution's bits.

    cupy_cg.py [--size N] [--warmup N] [--iterations N] [--batches N] [--turns]

--turns: waits for a line on standard input before it sets up, before it warms up, and before each batch; it answers each with a line us=TIME.
"""
import argparse
import hashlib
import statistics
import sys
import time

import cupy


def solve(matrix, wanted, iterations):
    """A fixed number of iterations; the residual goes to the host at each, as a solver's stopping rule needs it."""
    x = cupy.zeros_like(wanted)
    r = wanted - matrix @ x
    p = r.copy()
    rr = r @ r
    residuals = []
    for _ in range(iterations):
        q = matrix @ p
        alpha = rr / (p @ q)
        x += alpha * p
        r -= alpha * q
        rr_next = r @ r
        residuals.append(float(rr_next))
        p = r + (rr_next / rr) * p
        rr = rr_next
    return x, residuals


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--warmup", type=int, default=10, help="solves before the clock starts")
    parser.add_argument("--iterations", type=int, default=40, help="of one solve")
    parser.add_argument("--batches", type=int, default=20, help="solves that are timed")
    parser.add_argument("--turns", action="store_true")
    settings = parser.parse_args()

    def asked():
        return not settings.turns or sys.stdin.readline()

    def answer(us):
        if settings.turns:
            print(f"us={us:.3f}", flush=True)

    if not asked():
        return
    n = settings.size
    matrix = 4 * cupy.eye(n) - cupy.eye(n, k=1) - cupy.eye(n, k=-1)
    wanted = cupy.arange(n, dtype=cupy.float64) % 7
    cupy.cuda.Device().synchronize()
    answer(0)
    if settings.turns and not asked():
        return
    for _ in range(settings.warmup):
        solve(matrix, wanted, settings.iterations)
    answer(0)

    digest = hashlib.sha256()
    wall = []
    while len(wall) < settings.batches and asked():
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        x, residuals = solve(matrix, wanted, settings.iterations)
        cupy.cuda.Device().synchronize()
        wall.append((time.perf_counter() - start) / settings.iterations * 1e6)
        digest.update(cupy.asnumpy(x).tobytes() + repr(residuals).encode())
        answer(wall[-1])
    if wall:
        print(f"shape=cupy-cg mode=eager warmup={settings.warmup} iterations={settings.iterations} "
              f"batches={settings.batches} us_median={statistics.median(wall):.2f} us_min={min(wall):.2f} "
              f"checksum={digest.hexdigest()[:32]}")


if __name__ == "__main__":
    main()
