#!/usr/bin/env python3
"""What cannot be built is refused when the build is set up, with the reason."""
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent


class Setup(unittest.TestCase):
    def refuses(self, option, reason):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["meson", "setup", option, folder, str(TOP)], capture_output=True, text=True, timeout=100)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertIn(reason, done.stdout + done.stderr)

    def test_a_toolkit_that_is_not_there(self):
        self.refuses("-Dcuda=/nonexistent", "-Dcuda=/nonexistent: there is no include/cuda.h in it")

    def test_a_toolkit_that_is_too_old(self):
        with tempfile.TemporaryDirectory() as toolkit:
            include = Path(toolkit) / "include"
            include.mkdir()
            (include / "cuda.h").write_text("#define CUDA_VERSION 12040\n")
            self.refuses(f"-Dcuda={toolkit}", "is of CUDA 12.4: 13.0 or newer is needed")

    def test_link_time_optimisation(self):
        self.refuses("-Db_lto=true", "-Db_lto=true: the entry points are assembly")


if __name__ == "__main__":
    unittest.main()
