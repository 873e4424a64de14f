#!/usr/bin/env python3
"""Every shape of launchbound computes the same in all its forms: as it is written, under Reprise, and from each graph by hand. The floor executes nothing. scripts/bench gets
times of all of them.

usage: test_forms.py BUILD LIBRARY
"""
import sys
import tempfile
import unittest
from pathlib import Path

from lib import TOP, bench_file, bench_judge, runs

BUILD, LIBRARY = (Path(argument).resolve() for argument in sys.argv[1:3])
PROGRAM = BUILD / "tests" / "programs" / "launchbound-sim"
ENVIRONMENT = runs.simulated(BUILD)
# Long enough for choices to come again, and for phases to end.
SHORT = ("--warmup", "11", "--iterations", "40", "--batches", "2", "--answer")
LONGER = {"changing-bodies": ("--warmup", "300", "--iterations", "400", "--batches", "2", "--answer")}
WITHOUT_A_LOOK = "chain5"    # the host sees nothing of it


def answer(shape, form, library=None):
    outcome = runs.run([PROGRAM, "--shape", shape, "--mode", form, *LONGER.get(shape, SHORT)], library, environment=ENVIRONMENT, timeout=200)
    assert outcome.status == 0, f"{shape} {form}: {outcome.status}: {outcome.stderr}"
    return runs.values(outcome.stdout)


class Forms(unittest.TestCase):
    def test_all_forms_compute_the_same(self):
        shapes = runs.launchbound_forms(PROGRAM, ENVIRONMENT)
        self.assertGreater(len(shapes), 40)
        for shape, forms in shapes.items():
            with self.subTest(shape=shape):
                eager = answer(shape, "eager")["checksum"]
                self.assertEqual(answer(shape, "eager", LIBRARY)["checksum"], eager)
                by_hand = [form for form in forms if form not in ("eager", "floor")]
                self.assertEqual({form: answer(shape, form)["checksum"] for form in by_hand}, dict.fromkeys(by_hand, eager))

    def test_the_floor_executes_nothing(self):
        untouched = answer(WITHOUT_A_LOOK, "floor")["checksum"]
        for shape in ("forkjoin4", "jacobi3", "async-alloc", "all-changed", "norepeat", "think8", "chain100-ptds"):
            self.assertEqual(answer(shape, "floor")["checksum"], untouched, shape)

    def test_the_floor_issues_as_much(self):
        for shape in ("mixed", "converge", "forkjoin4", "async-alloc"):
            self.assertEqual(answer(shape, "floor")["ops_per_iteration"], answer(shape, "eager")["ops_per_iteration"], shape)


class Bench(unittest.TestCase):
    """scripts/bench has them work by turns. Times mean nothing on the simulated driver."""

    def test_all_ways_work_by_turns(self):
        with tempfile.TemporaryDirectory() as folder:
            programs, file = Path(folder, "tests", "programs"), Path(folder, "said.json")
            programs.mkdir(parents=True)
            (programs / "launchbound").symlink_to(PROGRAM)
            Path(folder, "preload").mkdir()
            runs.library(folder).symlink_to(LIBRARY)
            rows = {"chain5": "launch", "jacobi3": "launch", "async-alloc": "launch", "all-changed": "set"}
            outcome = runs.run([TOP / "scripts" / "bench", folder, "--rows", ",".join(rows), "--rounds", "2", "--json", file], environment=ENVIRONMENT, timeout=200)
            _, found = bench_file.read(file)
            self.assertEqual({name: (row.errors, row.rounds(), bench_judge.agreement(row)[0]) for name, row in found.items()}, dict.fromkeys(rows, ([], 2, "equal")), outcome.stderr)
            self.assertEqual([name for name, row in found.items() if len(row.good("floor")) != 2], [])
            self.assertEqual({name: row.by_hand() for name, row in found.items()}, rows)
            self.assertIn(len(found["all-changed"].slower_forms), (2, 3))    # of five, two go on, and that which is named


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
