#!/usr/bin/env python3
"""What turns make of recorded op streams of real programs: when they have a verdict, and what they say of the gain. No GPU is needed, and no time is measured.

    turning.py TURNER RECORDED.tar.xz [--only TEXT] [--seeds N] [--dearer NS]

Each stream runs twice (turner.c): with replays that take less than eager calls, and with some that take more. Where they take less, the verdict has to be to replay, in so many seconds of the program's, and the gain that is told near the one of the recorded loop. Where they take more, it must not be:
the loop is left eager. Prints a table, and fails where one is not so.
--seeds: so many times each, with other noise. --dearer: what a replay takes then, 4,500 ns unless said; an eager call takes 3,000.
"""
import argparse
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from lib import runs

CHEAPER_NS, DEARER_NS = 900, 4500
REPLAY = 1              # enum reprise_verdict; all others leave the loop eager
WITHIN = 0.08           # of the gain, unless said
# Seconds to the first verdict, at most; and how near the gain is. Each takes about half of that. A loop that waits seldom, or of shapes that come again after many calls, takes longest.
STREAMS = {
    "cupy-cg": (1.0, WITHIN), "hec-heat": (1.2, WITHIN), "hec-jacobi": (0.1, WITHIN), "jax-mlp": (0.3, WITHIN), "launchbound-forkjoin4": (0.1, 0.12), "launchbound-threads4": (2.5, WITHIN), "relay": (0.1, WITHIN),
    "relay-own": (1.0, WITHIN), "tealeaf": (0.1, WITHIN), "torch-decode": (0.4, WITHIN), "torch-dropout": (5.0, WITHIN), "torch-encoder": (0.4, WITHIN), "torch-gru": (0.7, WITHIN), "torch-mixed": (0.5, WITHIN),
    "torch-mlp": (0.3, WITHIN), "torch-mobilenet": (5.0, WITHIN), "torch-resnet50": (1.5, WITHIN), "torch-springs": (0.6, WITHIN), "torch-train": (1.5, WITHIN), "torch-unet": (0.6, 0.15),    # half of its iterations have pauses twice as long as the others
    "heat": (0.1, 0.15),
    "transformers-encoder": (2.0, WITHIN),    # sentences of 14 lengths by turns, each with three waits
}
# Not asked: most of the second half of cuda-cg-precond is no loop, and hec-nw launches two kernels 13,000 times between waits, in grids that never come again.
NOT_ASKED = ("cuda-cg-precond", "hec-nw")


def turned(turner, stream, replay_ns, seed):
    done = subprocess.run([turner, stream, str(replay_ns), str(seed)], stdout=subprocess.PIPE, text=True, check=True, timeout=200)
    return {name: int(value) for name, value in runs.values(done.stdout).items() if value.isdigit()}


def wrong_with(name, gains, loses):
    most_s, within = STREAMS[name]
    if gains["tests"] == 0:
        yield "no verdict"
    elif gains["verdict"] != REPLAY:
        yield f"verdict {gains['verdict']}, though it gains"
    else:
        if gains["first_us"] > 1e6 * most_s:
            yield f"a verdict after {gains['first_us'] / 1e6:.2f} s, not in {most_s}"
        if abs(gains["told"] / gains["true"] - 1) > within:
            yield f"told {gains['told'] / 1000:.2f}, not {gains['true'] / 1000:.2f} to {within:.0%}"
    if loses["verdict"] == REPLAY:
        yield "the verdict is to replay, though that takes longer"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("turner", type=Path)
    parser.add_argument("recorded", type=Path)
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--seeds", type=int, default=1, metavar="N")
    parser.add_argument("--dearer", type=int, default=DEARER_NS, metavar="NS")
    settings = parser.parse_args()
    failed, errors = 0, []
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(settings.recorded) as archive:
            archive.extractall(folder, filter="data")
        found = {path.stem: path for path in Path(folder).rglob("*.ops")}
        missing = {*STREAMS, *NOT_ASKED} ^ set(found)
        if missing:
            sys.exit(f"turning: recorded or listed, not both: {', '.join(sorted(missing))}")
        for name in sorted(STREAMS):
            if settings.only not in name:
                continue
            for seed in range(settings.seeds):
                gains, loses = (turned(settings.turner, found[name], ns, seed) for ns in (CHEAPER_NS, settings.dearer))
                wrong = list(wrong_with(name, gains, loses))
                failed += bool(wrong)
                errors += [abs(gains["told"] / gains["true"] - 1)] if gains["told"] else []
                print(f"{name:24} gains {gains['true'] / 1000:.3f}, told {gains['told'] / 1000:.3f}, first verdict after {gains['first_us'] / 1e6:6.3f} s; dearer: verdict {loses['verdict']} after {loses['first_us'] / 1e6:6.3f} s  {'; '.join(wrong)}")
    print(f"{len(errors)} gains were told: within 3 % of what they are in {sum(error <= 0.03 for error in errors)}, within 8 % in {sum(error <= 0.08 for error in errors)}. {failed} runs are not as they must be.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
