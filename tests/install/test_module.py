#!/usr/bin/env python3
"""The Python module reprise_cuda, as it lies in the sources, in a process under Reprise and in one without; and that it agrees with the header.

usage: test_module.py BUILD SOURCES
"""
import ast
import dataclasses
import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

from lib import runs

BUILD, SOURCES = (Path(path).resolve() for path in sys.argv[1:3])
MODULE = SOURCES / "src" / "python"
PROGRAM = Path(__file__).with_name("module_program.py")
ALL = 100    # ops of ten chains

sys.path.insert(0, str(MODULE))
sys.dont_write_bytecode = True
import reprise_cuda    # noqa: E402


def run(case, **environment):
    environment = runs.simulated(BUILD) | {"PYTHONPATH": str(MODULE), "PYTHONDONTWRITEBYTECODE": "1", "REPRISE_PAYS": "assumed"} | environment
    done = subprocess.run([sys.executable, PROGRAM, BUILD / "tests/programs/driver_kernels.so", case], env=environment, capture_output=True, text=True, timeout=200)
    if done.returncode != 0:
        raise AssertionError(f"{case}: {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def preloaded(case, **environment):
    return run(case, LD_PRELOAD=str(runs.library(BUILD)), **environment)


class Process(unittest.TestCase):
    def test_without_the_library_all_of_it_does_nothing(self):
        seen = run("paused")
        self.assertEqual((seen.pop("active"), seen.pop("counted"), seen.pop("replayed")), (False, False, False))
        self.assertEqual(set(map(tuple, seen.values())), {(0, 0)})
        self.assertEqual(run("flushed"), {"active": False, "deferred": False, "missing": 0, "counted": False})

    def test_pauses_nest_and_are_the_process_s(self):
        seen = preloaded("paused")
        looked_at, passed_on = [ALL, 0], [0, ALL]
        self.assertEqual(seen, {
            "active": True, "counted": True, "replayed": True, "before": looked_at, "paused": passed_on, "twice": passed_on, "outer": passed_on, "ended by hand": passed_on,
            "after": looked_at, "after an exception": looked_at, "another thread's": passed_on, "no thread's": looked_at, "an end too many": looked_at})

    def test_a_flush_issues_what_is_deferred(self):
        # Held for as long as can be, so that it is the flush that issues it.
        self.assertEqual(preloaded("flushed", REPRISE_HOLD="100000"), {"active": True, "deferred": True, "missing": 0, "counted": True})

    def test_the_stand_in_comes_with_the_driver(self):
        seen = run("late", LD_LIBRARY_PATH=f"{runs.stand_in(BUILD)}:{BUILD}/tests/sim")
        self.assertEqual(seen, {"active": False, "before": False, "with the driver": True, "paused": [0, ALL], "after": [ALL, 0], "counted": True})

    def test_preloaded_it_is_there_before_the_driver(self):
        seen = preloaded("late")
        self.assertEqual((seen["active"], seen["before"]), (True, True))


class Source(unittest.TestCase):
    def test_the_counts_are_those_of_the_header(self):
        body = re.search(r"struct reprise_counts \{(.*?)\n\};", (SOURCES / "include/reprise/reprise.h").read_text(), re.S).group(1)
        self.assertEqual([field.name for field in dataclasses.fields(reprise_cuda.Counts)], re.findall(r"^\tuint64_t (\w+);", body, re.M))
        self.assertEqual(len(re.findall(r";", re.sub(r"/\*.*?\*/", "", body, flags=re.S))), len(dataclasses.fields(reprise_cuda.Counts)))

    def test_each_function_of_the_header_has_one_here_with_a_docstring(self):
        declared = set(re.findall(r"reprise_(\w+)\(", (SOURCES / "include/reprise/reprise.h").read_text().split("#else")[0].split("#ifdef REPRISE_LIBRARY")[1]))
        self.assertEqual(declared, {"flush", "pause", "resume", "read_counts"})
        self.assertEqual(set(reprise_cuda.__all__), {"flush", "pause", "resume", "counts", "Counts", "paused", "active"})
        for name in reprise_cuda.__all__:
            self.assertTrue(getattr(reprise_cuda, name).__doc__, name)

    def test_it_is_python_3_8(self):
        for file in sorted(MODULE.rglob("*.py")):
            ast.parse(file.read_text(), filename=str(file), feature_version=(3, 8))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
