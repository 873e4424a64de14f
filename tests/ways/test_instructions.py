#!/usr/bin/env python3
"""How many instructions Reprise takes for a deferred op of a steady chain, its share of the launches included: counted by callgrind, on the simulated driver.

usage: test_instructions.py BUILD LIBRARY

The count does not depend on the machine, but on the compiler, and somewhat on what else the machine does: Reprise's threads come in between, which only adds to it. So the least of
three runs counts, and that others were needed is said. A run in which less than 95 % was replayed counts something else. Skips without valgrind.
"""
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from lib import runs

BUILD, LIBRARY = (Path(word).resolve() for word in sys.argv[1:3])
ITERATIONS = 4000
SHARE = 0.95
ROUNDS = 3
MOST = 850    # instructions; gcc 12 on x86-64: 778 to 817, of which a 24th of a launch's is a part
SKIPPED = 77


def own_cost(file, library):
    """Instructions in the library's own functions, in one file of callgrind's."""
    total, at, names, called = 0, "", {}, False
    for line in file.read_text().splitlines():
        named = re.match(r"(c?ob)=(\(\d+\))(?: (.*))?", line)
        if named:
            names.setdefault(named.group(2), named.group(3))
            at = names[named.group(2)] if named.group(1) == "ob" else at
        elif line.startswith("calls="):
            called = True    # the next line is what the call took, with all that it called
        elif re.match(r"[+\-*\d]", line):
            total += 0 if called or not at.endswith(library) else int(line.split()[1])
            called = False
    return total


def counted():
    """Instructions of the program's thread for an op, and the share that was replayed."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        environment = runs.simulated(BUILD) | {"LD_PRELOAD": str(LIBRARY), "SIM_SCHEDULE": "eager", "REPRISE_REPORT": str(folder / "report"),
                                               "REPRISE_HOLD": "100000", "REPRISE_PAYS": "assumed"}
        subprocess.run(["valgrind", "--tool=callgrind", "--fair-sched=try", "--separate-threads=yes", f"--callgrind-out-file={folder / 'counts'}",
                        BUILD / "tests/programs/launchbound-driver", "--module", BUILD / "tests/programs/driver_kernels.so", "--shape", "chain",
                        "--iterations", str(ITERATIONS)], env=environment, check=True, capture_output=True)
        report = json.loads((folder / "report").read_text())
        return own_cost(folder / "counts-01", LIBRARY.name) / report["ops"], report["replayed"] / report["ops"]


def main():
    if shutil.which("valgrind") is None:
        print("skipped: there is no valgrind")
        return SKIPPED
    for again in range(ROUNDS):
        instructions, share = counted()
        print(f"{instructions:.0f} instructions for an op, {100 * share:.1f} % replayed")
        if share >= SHARE and 100 < instructions <= MOST:
            break
    else:
        print(f"more than {MOST}, or too few to be true, or never {100 * SHARE:.0f} % replayed")
        return 1
    if again > 0:
        print("needed another round")
    return 0


if __name__ == "__main__":
    sys.exit(main())
