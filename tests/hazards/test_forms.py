#!/usr/bin/env python3
"""Every shape of launchbound computes the same in all its forms: as it is written, under Reprise, and from each graph by hand. The floor executes nothing.

usage: test_forms.py BUILD LIBRARY
"""
import sys
import unittest
from pathlib import Path

from lib import runs

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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
