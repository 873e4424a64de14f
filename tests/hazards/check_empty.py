#!/usr/bin/env python3
"""Runs every test of a hazard with an empty library in Reprise's place, and requires that each fails: a test that passes would say nothing.

    check_empty.py BUILD EMPTY-LIBRARY [NAME ...]

What a test runs is taken from the build folder. One run each: whatever the program does, there is no report.
"""
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SKIPPED = 77

# Reprise does nothing there that could be seen: no thread, no report, no word. What is tested is that the program is as it was.
NOTHING_TO_SEE = ("own_calls_only", "own_calls_only_ENOSYS")


def verdict(test, build, empty):
    """What is wrong with a test, or None."""
    command = [re.sub(r"[^:=]*/libreprise(-turning)?\.so", str(empty), word) for word in test["cmd"]]
    if command == test["cmd"]:
        return "does not say where the library is"
    ended = subprocess.run(command, env=os.environ | test["env"], cwd=test["workdir"] or build, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if ended.returncode == 0:
        return "passes with an empty library"
    if ended.returncode not in (1, SKIPPED) or "Traceback" in ended.stderr:
        return f"ended with {ended.returncode}: {ended.stderr[-300:]}"
    return None


def main():
    build, empty, names = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve(), sys.argv[3:]
    tests = [test for test in json.loads((build / "meson-info/intro-tests.json").read_text())
             if Path(test["cmd"][0]).name == "compare.py" and any(suite.endswith(":hazards") for suite in test["suite"]) and test["name"] not in NOTHING_TO_SEE and (not names or test["name"] in names)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(lambda test: verdict(test, build, empty), tests))
    wrong = [f"{test['name']}: {problem}" for test, problem in zip(tests, verdicts) if problem]
    print(*wrong, f"{len(tests)} tests, {len(wrong)} that say nothing", sep="\n")
    return 1 if wrong or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
