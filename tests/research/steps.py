"""How long each step of a framework's loop takes, by its place behind a switch: 40 steps in a pause and 60 of replays, by turns.

    LD_PRELOAD=$PWD/build/preload/libreprise.so REPRISE_TURNS=0 python3 tests/research/steps.py tests/frameworks/torch_inference.py 3 7 STEPS

LOOP, the seconds of learning, the seconds recorded, and the file for tests/research/told_steps.c: three numbers of 64 bits (eager steps of a cycle, replaying ones, cycles), the gain (a double),
and all steps in seconds (doubles), cycle by cycle: first all eager ones, then all replaying ones. The gain is what turns of 0.15 s say: the median, over groups of cycles, of the mean eager step
over the mean replaying one, without the first four of each turn. Figures are in docs/decisions/0057-tests-that-disagree.md.
"""
import array
import gc
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "lib"))

import one_loop  # noqa: E402 (it lies in scripts/lib)

EAGER, REPLAY = 40, 60
SETTLED = 4
GROUP_S = 0.15


def turn(loop, count):
    steps, start = [], time.perf_counter()
    for _ in range(count):
        loop.step()
        end = time.perf_counter()
        steps.append(end - start)
        start = end
    loop.steps += count
    return steps


def gain(eager, replay):
    size = max(1, round(GROUP_S / (statistics.fmean(map(statistics.fmean, eager)) * EAGER)))

    def means(cycles):
        return [statistics.fmean(step for cycle in cycles[at:at + size] for step in cycle[SETTLED:]) for at in range(0, len(cycles) - size + 1, size)]

    return statistics.median(e / r for e, r in zip(means(eager), means(replay)))


def main():
    loop = one_loop.Loop(one_loop.load(sys.argv[1]))
    eager, replay = [], []
    loop.work(seconds=float(sys.argv[2]))
    end = time.perf_counter() + float(sys.argv[3])
    gc.disable()
    while time.perf_counter() < end:
        loop.switch.set(True)
        eager.append(turn(loop, EAGER))
        loop.switch.set(False)
        replay.append(turn(loop, REPLAY))
        gc.collect(0)
    loop.wait()
    with open(sys.argv[4], "wb") as file:
        array.array("q", [EAGER, REPLAY, len(eager)]).tofile(file)
        array.array("d", [gain(eager, replay)] + [step for cycles in (eager, replay) for cycle in cycles for step in cycle]).tofile(file)
    print(f"{len(eager)} cycles, gain {gain(eager, replay):.3f}")


if __name__ == "__main__":
    main()
