#!/usr/bin/env python3
"""The command, under a sanitizer of addresses, on what was altered: reports that a run leaves, and programs that doctor looks at. No crash, no hang, nothing that moves a terminal.

usage: test_altered_command.py BUILD COMMAND MUTATED      COMMAND: the command as built with the sanitizer
"""
import json
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from alter import alter_text, alter_value, is_harmless
from lib import runs

BUILD = Path(sys.argv[1])
WATCHED, MUTATED = sys.argv[2:4]
ALTERED = 200
SEED = 20261124
SECONDS_MOST = 30
FOUND = 99    # how a program ends in which the sanitizer finds something
ENVIRONMENT = runs.simulated(BUILD) | {"ASAN_OPTIONS": f"exitcode={FOUND}"}


def as_written(chance, report):
    """As the library writes it: each member on a line of its own."""
    lines = [f"  {json.dumps(str(name))}: {json.dumps(value, ensure_ascii=chance.random() < 0.5)}" for name, value in report.items()]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def altered(chance, whole):
    value = json.loads(json.dumps(whole))
    for _ in range(chance.randrange(1, 6)):
        if isinstance(value, dict) and value:
            value = alter_value(chance, value)
    text = as_written(chance, value | {"run": "MARK"} if isinstance(value, dict) else whole)
    return alter_text(chance, text) if chance.randrange(2) == 0 or not isinstance(value, dict) else text


class Altered(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def said(self, *words):
        outcome = subprocess.run([WATCHED, *map(str, words)], env=ENVIRONMENT | {"TMPDIR": str(self.folder)}, capture_output=True, text=True, errors="surrogateescape", timeout=SECONDS_MOST)
        said = outcome.stdout + outcome.stderr
        self.assertIn(outcome.returncode, (0, 1), said)
        self.assertTrue(is_harmless(said), said)
        return said

    def test_reports_of_a_run(self):
        chance, told = random.Random(SEED), 0
        whole = runs.Command(BUILD).replayed(self.folder / "whole.json", "one-changed")[0]
        for i in range(1, ALTERED + 1):
            (self.folder / f"altered{i}").write_text(altered(chance, whole), errors="surrogatepass")
        program = self.folder / "program"
        program.write_text(f"""#!/bin/sh
            while [ $1 -le $2 ]; do
                LC_ALL=C sed "s|MARK|$_REPRISE_RUN|" "{self.folder}/altered$1" > "$(printf %s "$REPRISE_REPORT" | sed "s/%p/$1/")"
                set -- $(($1 + 1)) $2
            done
        """)
        program.chmod(0o755)
        for i in range(1, ALTERED + 1):
            with self.subTest(report=i):
                said = self.said("run", *(["--verify"] if i % 2 else []), "--", program, i, i)
                self.assertRegex(said, r"\Areprise: .*\n(reprise: .*\n)*\Z")
                told += bool(re.search(r"[\d,]+ launches", said))
        # Neither all, nor none: both ways were gone.
        self.assertGreater(told, ALTERED // 10)
        self.assertLess(told, ALTERED - 5)
        self.assertRegex(self.said("run", "--", program, 1, ALTERED), r"launches replayed.* \(\d+ processes\)")

    def test_programs_that_doctor_looks_at(self):
        programs = self.folder / "programs"
        programs.mkdir()
        subprocess.run([MUTATED, "--write", programs, BUILD / "tests" / "ways" / "ways-linked"], check=True, stdout=subprocess.DEVNULL)
        verdicts = set()
        for program in sorted(programs.iterdir()):
            with self.subTest(program=program.name):
                verdicts.add(self.said("doctor", program).splitlines()[-1].replace(str(program), ""))
        self.assertGreaterEqual(len(list(programs.iterdir())), ALTERED)
        self.assertGreaterEqual(len(verdicts), 4, verdicts)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
