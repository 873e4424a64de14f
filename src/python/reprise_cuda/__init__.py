"""What a program may ask of Reprise: the functions of include/reprise/reprise.h, for Python.

Reprise runs unmodified programs, so all of this is optional. The functions look for the library in the running process. Where it is not,
neither preloaded nor as the stand-in for libcuda.so.1, they do nothing: a program can import this module and run without Reprise.

No function fails, causes a CUDA error, or waits for the GPU longer than a launch may. All may be called from any thread, at any time, except
from a function that the driver calls (cuLaunchHostFunc). While they are in the library, other threads of Python run.
"""
import contextlib
import ctypes
import os
from dataclasses import dataclass, fields
from typing import Iterator, Optional, Tuple

__all__ = ["Counts", "active", "counts", "flush", "pause", "paused", "resume"]


@dataclass(frozen=True)
class Counts:
    """What Reprise has counted in this process since it started, over all streams. A forked child starts from zero. Times are in
    nanoseconds, memory in bytes. A field that the library does not know is 0."""

    ops: int = 0
    """launches, copies and memsets that Reprise looked at"""
    replayed: int = 0
    """of these, those issued as nodes of a graph"""
    paused_ops: int = 0
    """ops during a pause; not counted in `ops`"""
    launches: int = 0
    """graphs launched"""
    traces: int = 0
    """sequences found to repeat"""
    side_exits: int = 0
    """visits that ended before their last op: their ops were issued one by one"""
    updates: int = 0
    """replays in which the graph got other values: single nodes, or all of it"""
    graphs_built: int = 0
    build_ns: int = 0
    """on a thread of Reprise's"""
    hold_longest_ns: int = 0
    """the longest time that the hold limit let an op wait before it was issued"""
    graph_bytes: int = 0
    """estimated device memory of the graphs now"""
    host_bytes: int = 0
    """host memory that Reprise uses now"""
    graphs_waiting: int = 0
    """graphs still to be built, by a thread of Reprise's while the GPU is idle"""


_COUNTED = [field.name for field in fields(Counts)]


class _Counts(ctypes.Structure):
    """struct reprise_counts, as far as it is known here."""

    _fields_ = [(name, ctypes.c_uint64) for name in _COUNTED]


# The library or None, once the driver is loaded: after that the library cannot appear any more. Empty before.
_remembered: Tuple[Optional[ctypes.CDLL], ...] = ()


def _find() -> Optional[ctypes.CDLL]:
    """The library: the driver itself where that is a stand-in, which may not be in the global scope; or what is preloaded."""
    global _remembered
    if _remembered:
        return _remembered[0]
    try:
        driver: Optional[ctypes.CDLL] = ctypes.CDLL("libcuda.so.1", os.RTLD_LAZY | os.RTLD_NOLOAD)
    except OSError:
        driver = None
    places = (driver, ctypes.CDLL(None))
    library = next((place for place in places if place is not None and hasattr(place, "reprise_read_counts")), None)
    if library is not None:
        for name in ("reprise_flush", "reprise_pause", "reprise_resume"):
            getattr(library, name).restype = None
        library.reprise_read_counts.argtypes = [ctypes.POINTER(_Counts), ctypes.c_size_t]
        library.reprise_read_counts.restype = ctypes.c_size_t
    if driver is not None:
        _remembered = (library,)
    return library


def active() -> bool:
    """True if Reprise's library is in this process: then the functions here reach it. Also where it was told to do nothing, by
    REPRISE=off say: counts().replayed tells what it does."""
    return _find() is not None


def flush() -> None:
    """Issues every op that Reprise has deferred, of all threads, to the driver before it returns. Needed only if something that CUDA does
    not show waits for the GPU's work: Reprise issues by itself before every call that could observe it, and always within the hold limit."""
    library = _find()
    if library is not None:
        library.reprise_flush()


def pause() -> None:
    """From now on every op of the process is issued at its own call, as without Reprise. Deferred ops are issued before this returns.
    Graphs are kept. Pauses nest: each needs its resume(). A forked child inherits them."""
    library = _find()
    if library is not None:
        library.reprise_pause()


def resume() -> None:
    """Ends one pause. Does nothing if there is none."""
    library = _find()
    if library is not None:
        library.reprise_resume()


@contextlib.contextmanager
def paused() -> Iterator[None]:
    """A pause for as long as the context lasts, however it ends. It is the whole process's, so contexts of several threads overlap as
    nested ones do: ops are replayed again after the last has ended."""
    library = _find()
    if library is None:
        yield    # resume() at the end could reach a library that came meanwhile, and end another's pause
        return
    library.reprise_pause()
    try:
        yield
    finally:
        library.reprise_resume()


def counts() -> Counts:
    """What was done so far; all 0 without the library. While other threads run, the fields may not be of exactly the same moment."""
    library = _find()
    known = _Counts()
    if library is not None:
        library.reprise_read_counts(ctypes.byref(known), ctypes.sizeof(known))
    return Counts(**{name: getattr(known, name) for name in _COUNTED})
