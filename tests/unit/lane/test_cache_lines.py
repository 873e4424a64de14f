#!/usr/bin/env python3
"""How many lines of a first-level cache an op needs in a program that has driven Reprise's out of it since the last one, as Python does: of code and of data, as callgrind's model of a cache counts them (cold.c).

usage: test_cache_lines.py COLD

What is left out: what the driver takes, and the entry point's own code, which is assembly. Time plays no part. Skips without valgrind, and where the program cannot empty the cache.
"""
import platform
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts"))
from lib import callgrind, runs    # noqa: E402

COLD = Path(sys.argv[1]).resolve()
LEARNING, MEASURED = 200, 10
CACHE = "32768,8,64"
SHARE = 0.9
# Lines of code and of data for an op, in visits of four ops. What gcc 12 on x86-64 gives stands behind it; where a function begins within a line changes it a little.
MOST = {
    "0": (61, 35),    # 55 to 58 and 32: values that the graphs have
    "1": (69, 40),    # 63 to 66 and 36: the first op of each visit has a value that never came
}
SKIPPED = 77


def lines_of_ours(file):
    """Misses of code and of data in the library's own sources, in a file of callgrind's."""
    code = data = 0
    for source, counts in callgrind.own_costs(file, "fl|fi|fe"):
        if "/src/" in source:
            *_, code_missed, read_missed, written_missed = (counts + [0] * 6)[:6]    # Ir Dr Dw I1mr D1mr D1mw
            code, data = code + code_missed, data + read_missed + written_missed
    return code, data


def measured(changes):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counts"
        done = subprocess.run(["valgrind", "--tool=callgrind", "--cache-sim=yes", f"--I1={CACHE}", f"--D1={CACHE}", "--LL=1048576,8,64", "--toggle-collect=measured_call",
                               f"--callgrind-out-file={file}", COLD, str(LEARNING), str(MEASURED), changes], check=True, capture_output=True, text=True)
        told = runs.values(done.stdout)
        ops, replayed = int(told["ops"]), int(told["replayed"])
        code, data = lines_of_ours(file)
        return code / ops, data / ops, replayed / ops


def main():
    if shutil.which("valgrind") is None or platform.machine() != "x86_64":
        print("skipped: there is no valgrind, or another processor")
        return SKIPPED
    good = True
    for changes, (most_code, most_data) in MOST.items():
        code, data, share = measured(changes)
        print(f"{code:.1f} lines of code of {most_code}, {data:.1f} of data of {most_data}, {100 * share:.1f} % replayed, {'with a new value in each visit' if changes == '1' else 'with known values'}")
        good = good and share >= SHARE and 20 < code <= most_code and 10 < data <= most_data
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
