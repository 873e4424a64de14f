#!/usr/bin/env python3
"""observe with CUPTI, which is a library of the test's own here: what is made of its records, and that nothing else changes where there is none.

usage: test_cupti.py BUILD [FOLDER]      FOLDER has that library; without, Reprise was built without CUPTI
"""
import json
import sys
import tempfile
import unittest
from pathlib import Path

from lib import runs

COMMAND = runs.Command(Path(sys.argv[1]))
program, report, reprise = COMMAND.program, COMMAND.report, COMMAND.reprise
FOLDER = sys.argv[2] if len(sys.argv) > 2 else ""
WITH = {"LD_LIBRARY_PATH": f"{FOLDER}:{COMMAND.environment['LD_LIBRARY_PATH']}"}


class Measured(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "report.json"

    def needs_cupti(self):
        if not FOLDER:
            self.skipTest("built without CUPTI")

    def test_what_runs_at_one_time_counts_once(self):
        self.needs_cupti()
        told, _ = report(self.path, "observe", "chain", "--cupti", **WITH)
        gpu = told["gpu"]
        # From 10 to 25, 30 to 61, 90 to 100 us.
        self.assertEqual((gpu["kernels"], gpu["busy_ns"], gpu["span_ns"], gpu["dropped"]), (7, 56000, 90000, 3))
        self.assertEqual({row["name"]: (row["launches"], row["ns"]) for row in gpu["rows"]}, {"alpha": (3, 40000), "beta": (3, 16000), "last": (1, 10000)})

    def test_it_is_told_in_the_tables_and_on_the_page(self):
        self.needs_cupti()
        _, outcome = report(self.path, "observe", "chain", "--cupti", **WITH)
        self.assertIn("measured by CUPTI", outcome.stderr)
        self.assertNotIn("an estimate", outcome.stderr)
        page = self.path.with_suffix(".html")
        self.assertEqual(reprise("report", self.path, "--html", page).returncode, 0)
        self.assertIn("measured by CUPTI", page.read_text())

    def test_what_launches_cost_is_from_before_cupti_was_at_work(self):
        self.needs_cupti()
        told, _ = report(self.path, "observe", "chain", "--cupti", **WITH)
        without, _ = report(self.path.with_name("without.json"), "observe", "chain", **WITH)
        seen, all_seen = (one["gain"]["firsts"] + one["gain"]["pauses"] for one in (told, without))
        # All but the first 512, and those behind the 8192nd, after which CUPTI is started.
        self.assertEqual((seen, all_seen), (8193 - 512, told["ops"] - 512))

    def test_a_program_that_ends_before_is_not_measured(self):
        self.needs_cupti()
        outcome = reprise("observe", "--cupti", "--report", self.path, "--", *program("chain", 100), **WITH)
        self.assertNotIn("gpu", json.loads(self.path.read_text()))
        self.assertNotIn("measured by CUPTI", outcome.stderr)
        self.assertIn("an estimate", outcome.stderr)

    def test_nothing_is_measured_unless_asked_for(self):
        told, outcome = report(self.path, "observe", "chain", **WITH)
        self.assertNotIn("gpu", told)
        self.assertIn("an estimate", outcome.stderr)

    def test_nor_where_launches_are_replayed(self):
        told, _ = report(self.path, "run", "chain", **WITH, REPRISE_CUPTI="1")
        self.assertNotIn("gpu", told)

    def goes_without(self, words, **environment):
        told, outcome = report(self.path, "observe", "chain", "--cupti", **environment)
        self.assertNotIn("gpu", told)
        self.assertIn(words, outcome.stderr)
        self.assertGreater(told["replayed"], 0)

    def test_where_it_cannot_be_loaded(self):
        self.goes_without("kernels are not measured: ")

    def test_where_it_is_older(self):
        self.needs_cupti()
        self.goes_without("is older than", FAKE_CUPTI_VERSION="1", **WITH)

    def test_where_it_refuses(self):
        self.needs_cupti()
        self.goes_without("CUPTI refused", FAKE_CUPTI_REFUSES="1", **WITH)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
