"""Where the programs of bench_rows.py are, how they are called, and how they are run by turns: what scripts/bench and scripts/predict share."""
import random
import subprocess
import time
from pathlib import Path

from lib import results, runs
from lib.bench_judge import Sample

PROGRAMS = Path(__file__).resolve().parents[2] / "tests" / "programs"
MODULES = (".fatbin", ".so")
SET_UP_APART = ("launchbound", "torch_models.py", "cupy_cg.py")    # these answer when they have set up, and again when they have warmed up


def command_of(row, build):
    """The row's program by itself, without turns."""
    folder = build / "tests" / "programs"
    program = ["python3", PROGRAMS / row.program] if row.program.endswith(".py") else [folder / row.program]
    # A module is beside the programs.
    return [*program, *(folder / word if word.endswith(MODULES) else word for word in row.arguments)]


def by_turns(row, batches=None):
    """What has it work by turns, if it can: so many at most, the row's unless said."""
    return ["--turns", "--batches", str(batches or row.turns)] if row.turns else []


def can_import(module):
    try:
        return subprocess.run(["python3", "-c", f"import {module}"], capture_output=True, timeout=120).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def missing(program, build):
    """What a program lacks here, or None."""
    module = {"torch_models.py": "torch", "torch_ranks.py": "torch", "cupy_cg.py": "cupy"}.get(program)
    if module:
        return None if can_import(module) else f"no {module} here"
    return None if (build / "tests" / "programs" / program).exists() else "not built"


def lacking(rows, build):
    """What each program of the rows lacks here, of those that lack something."""
    found = {program: missing(program, build) for program in dict.fromkeys(row.program for row in rows)}
    here = results.gpu_count() if any(row.devices > 1 for row in rows) else 1
    too_few = {row.program: f"it takes {row.devices} GPUs" for row in rows if row.devices > here}
    return {program: what for program, what in found.items() if what} | too_few


def in_any_order(ways, order):
    return order.sample(list(ways), len(ways))


def one_round(measured, under, number, turns=None):
    """Runs every way once, in processes of their own: see rounds_of."""
    return rounds_of(measured, under, number, 1, turns)


def rounds_of(measured, under, number, rounds, turns=None):
    """So many rounds of a row, of so many turns each, in the same processes: one after the other, or by turns if the program knows them. The first turns are the way
    to the first batch. `under`: what of runs.run() a way has beside its command. The order is drawn anew for each turn: who always comes behind the same
    way, pays for what that leaves behind. Returns the seconds that all but the turns took, and those of a turn."""
    row, begin = measured.row, time.monotonic()
    order = random.Random(number)
    ways = in_any_order(measured.commands, order)
    if not row.turns:
        for way in ways:
            keep(measured, way, runs.run(measured.commands[way], timeout=120, **under.get(way, {})))
        return time.monotonic() - begin, 0
    turns = turns or row.turns
    started = {way: runs.ByTurns(measured.commands[way], timeout=240, **under.get(way, {})) for way in ways}
    if row.program in SET_UP_APART:    # at the same time: it takes longer than what is measured
        asked = [way for way in ways if started[way].say()]
        up = [way for way in asked if started[way].hear()]
    else:
        up = ways
    ready = [way for way in up if started[way].turn() is not None]
    times = {way: [] for way in ways}
    first = time.monotonic()
    for _ in range(rounds * turns):
        for way in in_any_order(ready, order):
            times[way].append(started[way].turn())
    took = time.monotonic() - first
    for way in ways:
        keep(measured, way, started[way].end(), times[way], rounds)
    return time.monotonic() - begin - took, took / (rounds * turns)


def keep(measured, way, outcome, turns=(), rounds=1):
    """A sample for each round, or None for each where the run failed."""
    each = len(turns) // rounds
    well = outcome.status == 0 and None not in turns
    samples = [Sample.of(outcome, turns[number * each:(number + 1) * each]) if well else None for number in range(rounds)]
    measured.samples[way] += samples
    if not samples[0]:
        said = (outcome.stderr + outcome.stdout).strip().splitlines()
        measured.errors.append(f"{way}: status {outcome.status}: {said[-1][:200] if said else 'it said nothing'}")
