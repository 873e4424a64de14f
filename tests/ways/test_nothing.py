#!/usr/bin/env python3
"""Programs that have nothing to do with CUDA, under Reprise: no thread, no file, no driver, no report.

usage: test_nothing.py BUILD PROGRAM STATIC_PROGRAM
"""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BUILD, PROGRAM, STATIC = sys.argv[1:4]
LIBRARY = f"{BUILD}/preload/libreprise.so"


def run(program, *words, **environment):
    base = {"LD_LIBRARY_PATH": f"{BUILD}/tests/sim"}
    return subprocess.run([program, *words], env=base | environment, capture_output=True, text=True)


class Nothing(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.report = {"REPRISE_REPORT": f"{self.folder}/%p.json", "REPRISE_LOG": "debug"}

    def left(self):
        return os.listdir(self.folder)

    def test_a_program_without_cuda_has_no_thread_and_no_file_more_and_no_driver(self):
        plain = run(PROGRAM, "libcuda")
        under = run(PROGRAM, "libcuda", LD_PRELOAD=LIBRARY, **self.report)
        self.assertEqual((under.returncode, under.stdout, under.stderr), (plain.returncode, plain.stdout, plain.stderr))
        self.assertIn("threads=1 ", plain.stdout)
        self.assertNotIn("libcuda", plain.stdout)
        self.assertEqual(self.left(), [])

    def test_it_is_under_reprise_all_the_same(self):
        self.assertIn("libreprise.so\n", run(PROGRAM, "libreprise", LD_PRELOAD=LIBRARY).stdout)

    def test_the_stand_in_is_not_loaded_either(self):
        under = run(PROGRAM, "libcuda", LD_LIBRARY_PATH=f"{BUILD}/preload/stand_in:{BUILD}/tests/sim", **self.report)
        self.assertEqual(under.stdout, run(PROGRAM, "libcuda").stdout)
        self.assertEqual(self.left(), [])

    def test_a_static_program_runs_as_ever(self):
        plain = run(STATIC, "libreprise")
        under = run(STATIC, "libreprise", LD_PRELOAD=LIBRARY, **self.report)
        self.assertEqual((under.returncode, under.stdout, under.stderr), (0, plain.stdout, ""))
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
