#!/usr/bin/env python3
"""How often the hold thread of a program wakes up, and what processor time it takes, on the simulated driver (docs/decisions/0053-steady-holds.md).

    looks.py BUILD LIBRARY [NAME=VALUE ...]

The program is `chain` of launchbound-driver, replayed. The first two seconds are left out, in which it is learnt; then come four that count.
"""
import os
import subprocess
import sys
import time
from pathlib import Path

LEARNS_S, COUNTS_S = 2, 4


def so_far(pid):
    """Wake-ups and nanoseconds of the threads that have looked, and when that was."""
    wakes = spent = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == "reprise-hold":
            status = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines())
            wakes += int(status["voluntary_ctxt_switches"])
            spent += int((task / "schedstat").read_text().split()[0])
    return wakes, spent, time.monotonic()


def main():
    build, library = (Path(word).resolve() for word in sys.argv[1:3])
    programs = build / "tests" / "programs"
    environment = dict(os.environ, LD_PRELOAD=str(library), LD_LIBRARY_PATH=str(build / "tests" / "sim"), REPRISE_TURNS="0", **dict(word.split("=", 1) for word in sys.argv[3:]))
    program = subprocess.Popen([programs / "launchbound-driver", "--module", programs / "driver_kernels.so", "--shape", "chain", "--iterations", "100000000"],
                               env=environment, stdout=subprocess.DEVNULL)
    time.sleep(LEARNS_S)
    begin = so_far(program.pid)
    time.sleep(COUNTS_S)
    end = so_far(program.pid)
    program.kill()
    program.wait()
    wakes, spent, seconds = (after - before for before, after in zip(begin, end))
    print(f"{wakes / seconds:.0f} wake-ups a second, {spent / seconds / 1e7:.2f} % of a processor")


if __name__ == "__main__":
    sys.exit(main())
