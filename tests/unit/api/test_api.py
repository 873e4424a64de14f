#!/usr/bin/env python3
"""The public API where there is no library, with libreprise.so preloaded, with a stand-in, and with a library of another version.

usage: test_api.py CLIENT LIBRARY STAND_IN_FOLDER SIMULATION OLDER HEADER
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

CLIENT, LIBRARY, STAND_IN, SIMULATION, OLDER, HEADER = sys.argv[1:]
SOURCE = Path(__file__).with_name("client.c")
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-fsyntax-only", f"-I{Path(HEADER).resolve().parents[1]}"]


def client(program=CLIENT, **environment):
    outcome = subprocess.run([program], env={"PATH": os.environ["PATH"], **environment}, capture_output=True, text=True, check=True)
    return outcome.stdout.splitlines()


class Api(unittest.TestCase):
    def known(self, lines):
        self.assertEqual(len(lines), 1, lines)
        words = lines[0].replace(",", "").split()
        return int(words[1]), int(words[3])

    def test_does_nothing_without_the_library(self):
        self.assertEqual(self.known(client())[0], 0)

    def test_finds_a_preloaded_library_before_cuda_is_used(self):
        known, all_of_them = self.known(client(LD_PRELOAD=LIBRARY))
        self.assertEqual(known, all_of_them)

    def test_finds_a_stand_in_that_is_loaded(self):
        known, all_of_them = self.known(client(LD_PRELOAD=f"{STAND_IN}/libcuda.so.1", LD_LIBRARY_PATH=f"{STAND_IN}:{SIMULATION}"))
        self.assertEqual(known, all_of_them)

    def test_an_ordinary_driver_is_not_taken_for_one(self):
        self.assertEqual(self.known(client(LD_PRELOAD=f"{SIMULATION}/libcuda.so.1"))[0], 0)

    def test_an_older_library_lacks_functions_and_counts(self):
        lines = client(LD_PRELOAD=OLDER)
        self.assertEqual(lines[:3], ["flushed"] * 3)
        self.assertIn("known 16 of", lines[3])
        self.assertIn("ops 7, replayed 5, host 0", lines[3])

    def test_a_program_built_with_an_older_header_is_given_what_it_has_room_for(self):
        with tempfile.TemporaryDirectory() as folder:
            older = Path(folder, "reprise")
            older.mkdir()
            text = Path(HEADER).read_text()
            begin, end = text.index("	uint64_t graph_bytes;"), text.index("};", text.index("	uint64_t graph_bytes;"))
            (older / "reprise.h").write_text(text[:begin] + text[end:])
            source = Path(folder, "client.c")
            source.write_text(SOURCE.read_text().replace("later.counts.host_bytes", "later.counts.ops"))
            self.compile("cc", ["-o", f"{folder}/client", f"-I{folder}", source])
            known, all_of_them = self.known(client(f"{folder}/client", LD_PRELOAD=LIBRARY))
            self.assertEqual(known, all_of_them)
            self.assertLess(all_of_them, self.known(client())[1])

    def compile(self, compiler, words):
        if not shutil.which(compiler):
            self.skipTest(f"there is no {compiler} here")
        made = subprocess.run([compiler, *words], capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stderr)

    def test_the_header_is_c99_and_cxx11_without_a_warning(self):
        for compiler, standard in (("cc", "c99"), ("cc", "c17"), ("c++", "c++11"), ("c++", "c++20")):
            with self.subTest(standard):
                language = "c++" if compiler == "c++" else "c"
                self.compile(compiler, [*STRICT, f"-std={standard}", "-include", HEADER, "-x", language, os.devnull])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
