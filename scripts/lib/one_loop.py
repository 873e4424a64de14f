"""Runs one loop of tests/frameworks, as scripts/turns asks on standard input, or so many steps of it, for whole processes by turns (reprise bench).

usage: one_loop.py LOOP.py [--steps N]

Without --steps it imports the loop, waits for a line, calls setup(), and answers. Then each line asks for work, and is answered with a line when that is done:

    steps N      so many steps
    first S      steps for so many seconds, replaying, from the very first one on
    replay S     the same, after a tenth of that which is not timed: the change leaves something behind
    eager S      the same with Reprise paused
    digest       nothing: the answer is a digest of what has been computed

The answer has the time and the processor time of a step in microseconds, how many steps were timed and in how many seconds. At the end of the input it
prints how many steps there were in all, and a digest of what they have computed.

What there is behind the first steps is left out of Python's garbage collection: a whole one takes as long as many steps, and would fall into one turn or another.
"""
import argparse
import ctypes
import gc
import hashlib
import importlib.util
import math
import os
import sys
import time

SETTLES = 0.1    # of a turn


def load(path):
    spec = importlib.util.spec_from_file_location("loop", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["loop"] = module
    spec.loader.exec_module(module)
    return module


class Switch:
    """Pauses Reprise in this process, and resumes it."""

    def __init__(self):
        self.library, self.paused = ctypes.CDLL(None), False

    def set(self, paused):
        if paused != self.paused:
            (self.library.reprise_pause if paused else self.library.reprise_resume)()
            self.paused = paused


def content(output):
    """The bytes of an output: a list of numbers, a tensor, or an array. Refuses what is not finite: a digest of that would say little."""
    if isinstance(output, (list, tuple)):
        finite, content = all(map(math.isfinite, output)), repr(output).encode()
    else:
        import numpy    # which is there where arrays are
        array = numpy.asarray(output.detach().cpu() if hasattr(output, "detach") else output)
        finite, content = numpy.isfinite(array).all(), numpy.ascontiguousarray(array).tobytes()
    if not finite:
        raise ValueError("what the loop computes is not finite, so that a digest would say little")
    return content


class Loop:
    def __init__(self, module):
        self.step, self.wait, self.outputs = module.setup()
        self.wait()
        self.steps, self.switch = 0, Switch()

    def work(self, steps=0, seconds=0.0):
        """So many steps, or for so long, one at least. Returns the answer."""
        begin, processor, before = time.perf_counter(), time.process_time(), self.steps
        while self.steps - before < steps or time.perf_counter() - begin < seconds:
            self.step()
            self.steps += 1
        self.wait()
        took, used, done = time.perf_counter() - begin, time.process_time() - processor, max(self.steps - before, 1)
        if before == 0:
            gc.collect()
            gc.freeze()
        return f"us={1e6 * took / done:.4f} cpu_us={1e6 * used / done:.4f} steps={done} seconds={took:.6f}"

    def turn(self, word, amount="0"):
        if word == "digest":
            self.wait()
            return f"us=0 checksum={self.digest()}"
        if word == "steps":
            return self.work(steps=int(amount))
        if word == "first":
            return self.work(seconds=float(amount))
        self.switch.set(word == "eager")
        self.work(seconds=SETTLES * float(amount))
        return self.work(seconds=float(amount))

    def digest(self):
        digest = hashlib.sha256()
        for output in self.outputs():
            digest.update(content(output))
        return digest.hexdigest()[:32]


def main():
    # What a library prints must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(text):
        print(text, file=answers, flush=True)

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("loop")
    parser.add_argument("--steps", type=int)
    settings = parser.parse_args()
    module = load(settings.loop)
    if settings.steps is not None:
        loop = Loop(module)
        loop.work(steps=settings.steps)
    elif sys.stdin.readline():
        loop = Loop(module)
        answer("us=0")
        for line in sys.stdin:
            answer(loop.turn(*line.split()))
    else:
        return
    answer(f"steps={loop.steps} checksum={loop.digest()}")


if __name__ == "__main__":
    main()
