"""The loops that scripts/turns measures: those of tests/frameworks, in Python, and some of launchbound, in C. How each is run."""
import ast
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from lib import bench_programs, bench_rows

TOP = Path(__file__).resolve().parents[2]
FOLDER = TOP / "tests" / "frameworks"
RUNNER = Path(__file__).with_name("one_loop.py")
IN_C = ("chain20", "chain100", "one-changed", "mixed")    # rows of bench_rows.py
IN_BATCHES = ("--iterations", "20", "--batches", "100000")    # a shape draws for so many iterations in all
SIMULATED = ("driver_api",)

# Several processes are there at a time, and each computes the same: XLA neither takes most of the memory at once, nor chooses kernels by timing them.
SURROUNDINGS = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "XLA_FLAGS": "--xla_gpu_deterministic_ops=true"}


@dataclass
class Place:
    """Where a process runs: a GPU, and which processors. With one GPU: wherever it likes."""
    environment: dict
    prefix: list


@dataclass
class Loop:
    name: str
    about: str
    command: list
    digests: bool = False    # it tells what it has computed at any step


def of_frameworks():
    for path in sorted(FOLDER.glob("*.py")):
        if not path.name.startswith("test_"):
            yield Loop(path.stem, ast.get_docstring(ast.parse(path.read_text())), [sys.executable, str(RUNNER), str(path)], digests=True)


def in_c(build, more=()):
    """`more`: names of other shapes of launchbound, where they are there."""
    shapes = {row.name for row in bench_rows.ROWS if row.program == "launchbound"}
    for row in bench_rows.selected(names=[*IN_C, *(shapes & set(more))]):
        command = [*bench_programs.command_of(row, build), "--turns", "--warmup", "0", *IN_BATCHES]
        yield Loop(row.name, f"C: launchbound's shape {row.arguments[1]}", list(map(str, command)))


def simulated(build):
    """What needs no kernels of a GPU's, on the simulated driver."""
    programs = build / "tests" / "programs"
    yield from (loop for loop in of_frameworks() if loop.name in SIMULATED)
    yield Loop("chain", "C: launchbound-driver's shape chain", [str(programs / "launchbound-driver"), "--module", str(programs / "driver_kernels.so"), "--shape", "chain", "--turns",
                                                                *IN_BATCHES[:2]])


def environment(build, on_simulated_driver):
    return {name: os.environ.get(name, value) for name, value in SURROUNDINGS.items()} | (
        {"LD_LIBRARY_PATH": str(build / "tests" / "sim"), "REPRISE_PAYS": "assumed"} if on_simulated_driver else {})


def places(gpus):
    """A GPU each, and as many neighbouring processors each."""
    if gpus == 1:
        yield Place({}, [])
        return
    processors = sorted(os.sched_getaffinity(0))
    share = max(1, len(processors) // gpus)
    for gpu in range(gpus):
        mine = processors[gpu * share:(gpu + 1) * share] or processors
        yield Place({"CUDA_VISIBLE_DEVICES": str(gpu)}, ["taskset", "--cpu-list", ",".join(map(str, mine))])
