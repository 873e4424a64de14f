#!/usr/bin/env python3
"""launchbound answers once when it has set up, once when it has warmed up, and once for each batch, also where there is nothing to warm up."""
import sys
import unittest
from pathlib import Path

SCRIPTS, BUILD = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
sys.path.insert(0, str(SCRIPTS))
from lib import runs

PROGRAM = BUILD / "tests" / "programs" / "launchbound-sim"


class Asked(unittest.TestCase):
    def ends_after_its_batches(self, warmup):
        program = runs.ByTurns([PROGRAM, "--turns", "--shape", "chain20", "--mode", "eager", "--warmup", warmup, "--iterations", "20", "--batches", "2"], environment=runs.simulated(BUILD))
        self.assertTrue(program.say())
        self.assertIsNotNone(program.hear())
        self.assertNotIn(None, [program.turn() for _ in range(3)])
        outcome = program.end()
        self.assertEqual(outcome.status, 0, outcome.stderr)
        self.assertIn("batches=2 ", outcome.stdout)

    def test_with_warm_up(self):
        self.ends_after_its_batches("30")

    def test_without_warm_up(self):
        self.ends_after_its_batches("0")


unittest.main()
