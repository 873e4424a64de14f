#!/usr/bin/env python3
"""A program that uses the driver and says something to Reprise: test_module.py runs it plain and under Reprise. Prints what it saw as JSON.

usage: module_program.py MODULE flushed | paused | late
"""
import ctypes
import json
import sys
import threading
import time

import reprise_cuda

CHAIN = 10
PATIENCE_S = 30    # for graphs, which a busy machine may build late


class Loop:
    """Launches that write the words of mapped memory, one each, again and again."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        context, self.stream, address, self.mapped = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
        self.call("cuInit", 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
        self.call("cuCtxSetCurrent", context)
        self.call("cuStreamCreate", ctypes.byref(self.stream), 1)
        self.call("cuMemHostAlloc", ctypes.byref(address), ctypes.c_size_t(4 * CHAIN), 2)
        self.call("cuMemHostGetDevicePointer_v2", ctypes.byref(self.mapped), address, 0)
        module, self.publish = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoad", ctypes.byref(module), sys.argv[1].encode())
        self.call("cuModuleGetFunction", ctypes.byref(self.publish), module, b"publish")
        self.words = (ctypes.c_uint32 * CHAIN).from_address(address.value)

    def call(self, name, *arguments):
        result = getattr(self.cuda, name)(*arguments)
        if result != 0:
            sys.exit(f"{name}: {result}")

    def part(self, count):
        for i in range(count):
            arguments = ctypes.c_uint64(self.mapped.value + 4 * i), ctypes.c_uint32(i + 1)
            pointers = (ctypes.c_void_p * 2)(*(ctypes.addressof(argument) for argument in arguments))
            self.call("cuLaunchKernel", self.publish, 1, 1, 1, 1, 1, 1, 0, self.stream, pointers, None)

    def run(self, iterations):
        for _ in range(iterations):
            self.part(CHAIN)
            self.call("cuStreamSynchronize", self.stream)

    def until_replayed(self):
        """For as long as it takes, where there is something that replays."""
        end = time.monotonic() + PATIENCE_S
        begin = reprise_cuda.counts().replayed
        self.run(10)
        while reprise_cuda.active() and reprise_cuda.counts().replayed == begin and time.monotonic() < end:
            self.run(10)


def flushed():
    """What is seen of a part of a chain before flush(), and after it. Such parts are rare, so that the whole one is what repeats. They end wherever they may: on a busy machine the chain may be learnt in pieces, and what ends with a piece is launched at once."""
    loop = Loop()
    early = after = parts = 0
    end = time.monotonic() + PATIENCE_S
    while parts < 20 or reprise_cuda.active() and early == parts and time.monotonic() < end:
        loop.until_replayed()
        for i in range(CHAIN):
            loop.words[i] = 0
        count = 1 + parts % (CHAIN - 1)
        part = [i + 1 if i < count else 0 for i in range(CHAIN)]
        loop.part(count)
        early += list(loop.words) == part
        reprise_cuda.flush()
        after += list(loop.words) == part
        parts += 1
        loop.call("cuStreamSynchronize", loop.stream)
    return {"deferred": early < parts, "missing": parts - after}


def ops(loop):
    """How many of ten chains were looked at, and how many came during a pause."""
    before = reprise_cuda.counts()
    loop.run(10)
    after = reprise_cuda.counts()
    return [after.ops - before.ops, after.paused_ops - before.paused_ops]


def paused():
    loop, seen = Loop(), {}
    loop.until_replayed()
    seen["replayed"] = reprise_cuda.counts().replayed > 0
    seen["before"] = ops(loop)
    with reprise_cuda.paused():
        seen["paused"] = ops(loop)
        with reprise_cuda.paused():
            seen["twice"] = ops(loop)
        seen["outer"] = ops(loop)
        reprise_cuda.pause()
        reprise_cuda.resume()
        seen["ended by hand"] = ops(loop)
    seen["after"] = ops(loop)
    try:
        with reprise_cuda.paused():
            raise KeyError
    except KeyError:
        seen["after an exception"] = ops(loop)
    entered, leave = threading.Event(), threading.Event()

    def other():
        with reprise_cuda.paused():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=other)
    with reprise_cuda.paused():
        thread.start()
        entered.wait()
    seen["another thread's"] = ops(loop)
    leave.set()
    thread.join()
    seen["no thread's"] = ops(loop)
    reprise_cuda.resume()
    seen["an end too many"] = ops(loop)
    return seen


def late():
    """The library comes with the driver, between the beginning of a context and its end."""
    seen = {"before": reprise_cuda.active()}
    with reprise_cuda.paused():
        loop = Loop()
        seen["with the driver"] = reprise_cuda.active()
        reprise_cuda.pause()
    seen["paused"] = ops(loop)
    reprise_cuda.resume()
    seen["after"] = ops(loop)
    return seen


if __name__ == "__main__":
    print(json.dumps({"active": reprise_cuda.active(), **{"flushed": flushed, "paused": paused, "late": late}[sys.argv[2]](), "counted": reprise_cuda.counts().ops > 0}))
