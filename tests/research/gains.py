#!/usr/bin/env python3
"""Whether turns tell the gain that there is: shapes on the simulated driver, with a GPU that takes its time and a driver that does.

    gains.py BUILD [SHAPE ...]

Each shape runs without Reprise, before and after; under it without turns, which is what there is to gain; and as by default. Prints what an iteration took in each,
and what was told. Nothing else may run on the machine, and a shape with threads needs a processor for each. No figure is one of a GPU's: a launch takes 2 us of the
host beside what the simulation takes, and a kernel 1.3 us of the GPU, or 1 in a graph.
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
from lib import runs    # noqa: E402

BUILD = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else None
SHAPES = ("one", "chain20", "chain20-nosync", "cg", "converge", "mixed", "swap", "all-changed", "two-bodies", "buckets8", "extra-ops", "think8", "think1", "forkjoin4", "jacobi3",
          "async-alloc", "changing-bodies")
PACE = {"SIM_PACE": "2500:1300:1000", "SIM_SLOW": "cuLaunchKernel*:2,cuMem*Async*:2,cuGraphLaunch*:1"}
BATCHES = "40"


def run(shape, **more):
    """Microseconds of an iteration, and the report."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report"
        environment = runs.simulated(BUILD) | PACE | ({"LD_PRELOAD": str(BUILD / "preload/libreprise.so"), "REPRISE_REPORT": str(report)} | more if more else {})
        said = subprocess.run([BUILD / "tests/programs/launchbound-sim", "--shape", shape, "--batches", BATCHES], env=environment, check=True, capture_output=True, text=True).stdout
        return float(re.search(r"us_median=([\d.]+)", said).group(1)), json.loads(report.read_text()) if report.exists() else {}


def main():
    if BUILD is None:
        print(__doc__)
        return 2
    print(f"{os.cpu_count()} processors\n\n| shape | without, us | without turns | by default | gain there is | told | replayed |\n|---|---|---|---|---|---|---|")
    for shape in sys.argv[2:] or SHAPES:
        before, _ = run(shape)
        steady, _ = run(shape, REPRISE_TURNS="0")
        default, report = run(shape, REPRISE="on")
        plain = (before + run(shape)[0]) / 2
        print(f"| {shape} | {plain:.1f} | {steady:.1f} | {default:.1f} | {plain / steady:.2f} | {report['measured']} | {100 * report['replayed'] / max(report['ops'], 1):.0f} % |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
