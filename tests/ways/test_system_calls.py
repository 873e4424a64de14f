#!/usr/bin/env python3
"""The system calls that Reprise makes, thread by thread, are those that docs/design/hostile.md lists, and the list is the one that the hazard
needed_calls_only allows.

usage: test_system_calls.py BUILD LIBRARY
"""
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from collections import defaultdict
from pathlib import Path

from lib import runs

BUILD, LIBRARY = (Path(word).resolve() for word in sys.argv[1:3])
TOP = Path(__file__).resolve().parents[2]
HAZARDS = (BUILD / "tests" / "hazards" / "hazards", BUILD / "tests" / "programs" / "driver_kernels.so")
PROGRAMS = ("mapped_poll", "fork_values", "slow_host", "two_threads_one_stream")
SECTION = (TOP / "docs" / "design" / "hostile.md").read_text().partition("\n## System calls\n")[2]
EVERYBODYS = set(re.findall(r"`(\w+)`", SECTION.partition("Names are those")[0]))
ROWS = [(cells[1], set(re.findall(r"`(\w+)`", cells[3]))) for cells in (line.split("|") for line in SECTION.splitlines() if line.startswith("|")) if "`" in cells[3] or "none" in cells[3]]
LISTED = set().union(*(calls for _, calls in ROWS))
LINE = re.compile(r"(\d+) +(?:<\.\.\. )?(\w+)(?:\(| resumed)")
PROCESSORS = '"/sys/devices/system/cpu/online"'    # read by whichever thread needs glibc's ninth arena
NAMED = re.compile(r'prctl\(PR_SET_NAME, "(reprise-\w+)"')


def listed_for(thread):
    """The calls of the rows that are about a thread; of the program's threads the ones that name them, or who ends the process."""
    wanted = f"`{thread}`" if thread else "program"
    return EVERYBODYS.union(*(calls for who, calls in ROWS if wanted in who or "thread that ends" in who and not thread or thread and "each thread" in who))


def calls_of(program, **environment):
    """By thread of Reprise's, and by None for the program's: the system calls of a run."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "calls")
        settings = [f"{name}={value}" for name, value in environment.items()]
        done = subprocess.run(["strace", "-f", "-qq", "-o", file, "env", *settings, *HAZARDS, program], env=runs.simulated(BUILD), capture_output=True, text=True, timeout=200)
        if done.returncode != 0:
            raise unittest.SkipTest(f"strace does not work here: {done.stderr.strip()[-200:]}")
        lines = file.read_text(errors="replace").splitlines()
    names = {line.split()[0]: found[1] for line in lines for found in [NAMED.search(line)] if found}
    calls, asking = defaultdict(set), set()
    for line in lines:
        found = LINE.match(line)
        if found:
            thread, call = found.groups()
            if call == "openat" and PROCESSORS in line:
                asking.add(thread)
            if thread in asking and call in ("openat", "read", "close"):
                asking -= {thread} if call == "close" else set()
            else:
                calls[names.get(thread)].add(call)
    return calls


class SystemCalls(unittest.TestCase):
    def test_what_is_allowed_is_what_is_listed(self):
        allowed = set(re.findall(r"^X\((\w+)\)", (TOP / "tests" / "hazards" / "calls.h").read_text(), re.MULTILINE))
        self.assertEqual(allowed, LISTED)

    @unittest.skipUnless(shutil.which("strace"), "there is no strace here")
    def test_each_thread_makes_those_alone(self):
        for program in PROGRAMS:
            plain = calls_of(program)[None]
            for turns in "01":
                with tempfile.TemporaryDirectory() as folder:
                    calls = calls_of(program, LD_PRELOAD=LIBRARY, REPRISE="on", REPRISE_PAYS="assumed", REPRISE_TURNS=turns, REPRISE_REPORT=f"{folder}/r.json")
                self.assertIn("reprise-hold", calls)
                for thread, made in calls.items():
                    with self.subTest(program=program, turns=turns, thread=thread or "the program's"):
                        self.assertLessEqual(made - (set() if thread else plain), listed_for(thread))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
