#!/usr/bin/env python3
"""scripts/predict: what it makes of its measurements, and that a whole run goes through on the simulated driver.

usage: test_predict.py BUILD
"""
import subprocess
import sys
import unittest
from pathlib import Path

from lib import bench_judge, bench_rows, predict_judge, runs

BUILD = sys.argv[1]
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def row(eager, reprise, expected):
    """Turns of each of two rounds."""
    made = predict_judge.Predicted(bench_rows.ROWS[0], {"eager": [], "reprise": []})
    for way, rounds in (("eager", eager), ("reprise", reprise)):
        made.samples[way] = [bench_judge.Sample(turns, None, None, "", {}) if turns else None for turns in rounds]
    made.expected = expected
    return made


class Judged(unittest.TestCase):
    def test_gained_is_of_turns_that_were_taken_together(self):
        self.assertEqual(row([[100, 200], [300]], [[40, 140], [200]], []).gained(), 80)

    def test_a_round_that_failed_does_not_count(self):
        self.assertEqual(row([[100], None], [[40], [1]], []).gained(), 60)

    def test_an_expectation_is_met_within_a_share_of_the_gain(self):
        for expected, met in ((51.5, True), (50.5, False), (68.5, True), (69.5, False)):
            self.assertEqual(row([[100]], [[40]], [expected]).met(), met, expected)

    def test_where_nothing_is_gained_within_a_share_of_the_time(self):
        for expected, met in ((1.5, True), (-1.5, True), (3.0, False)):
            self.assertEqual(row([[100]], [[100]], [expected]).met(), met, expected)

    def test_what_observe_cannot_tell_is_not_met(self):
        self.assertFalse(row([[100]], [[100]], [None]).met())

    def test_iterations_of_what_programs_print(self):
        for printed, number in (("steps=6000 every=20", 6000), ("warmup=300 iterations=100 batches=10", 1300), ("iterations=400 failures=0", 400)):
            self.assertEqual(predict_judge.iterations(runs.values(printed)), number)


class Run(unittest.TestCase):
    def test_on_the_simulated_driver(self):
        done = subprocess.run([SCRIPTS / "predict", BUILD, "--simulated", "--rounds", "2"], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        cells = [line.strip("| ").split(" | ") for line in done.stdout.splitlines() if line.startswith("| ")]
        for name in ("heat", "chain"):
            first, second = (line for line in cells if line[0] == name)
            self.assertGreater(float(first[4]), 0, "expected")
            self.assertRegex(second[1], r"^1\.00 assumed$")
        self.assertIn("With `--timeline`, an iteration of chain takes", done.stdout)
        self.assertIn("rounds: 2", done.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
