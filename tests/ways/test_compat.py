#!/usr/bin/env python3
"""scripts/compat, on the simulated driver: programs that are the same under Reprise, that differ, and that cannot be measured.

usage: test_compat.py BUILD
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lib import compat_judge, load, runs

BUILD = Path(sys.argv[1]).resolve()
TOP = Path(__file__).resolve().parents[2]
PROGRAMS = BUILD / "tests" / "programs"
CHAIN = f"{PROGRAMS}/launchbound-driver --module {PROGRAMS}/driver_kernels.so --shape chain --iterations"
LINE = {"program": "p", "command": "./p", "compare": "", "error": None, "without_s": 2.0, "with_s": 1.0, "gain": 2.0, "least": 1.9, "greatest": 2.1, "cpu": 1.01, "verdict": "faster", "stdout": "same",
        "ops": 100, "replayed": 97, "processes": 1, "reason": ["backed off", 0.02], "measured": None, "graph_bytes": 0}


class Compat(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def compat(self, sections, *words, status=0):
        (self.folder / "list").write_text("\n".join(sections), encoding="utf-8")
        outcome = subprocess.run([TOP / "scripts" / "compat", self.folder / "list", BUILD, "--simulated", *words], env=runs.simulated(BUILD), capture_output=True, text=True, timeout=200)
        self.assertEqual(outcome.returncode, status, outcome.stdout + outcome.stderr)
        self.assertNotIn("Traceback", outcome.stderr)
        return outcome

    def test_a_program_is_run_compared_and_told_of(self):
        said = self.compat(["[chain]", f"command = {CHAIN} 4000", "compare = grep -v us_per"], "--write", self.folder / "results").stdout
        page, = (self.folder / "results").glob("*-compat-the-simulated-driver.md")
        self.assertEqual(page.read_text().strip(), said[said.index("# Programs"):].strip())
        row = next(line for line in said.splitlines() if line.startswith("| chain |"))
        self.assertEqual(row.split(" | ")[7], "96,000")
        self.assertTrue(row.endswith("| the same |"), row)
        self.assertIn("- Output differs: none.", said)

    def test_what_differs_or_fails_is_named_and_the_rest_goes_on(self):
        outcome = self.compat(["[differs]", "command = echo ${LD_PRELOAD:-none}", "[fails]", "command = exit 3", "[nowhere]", "command = true", "folder = missing",
                               "[sleeps]", "command = sleep 50", "timeout = 0.1", "[varies]", "command = date +%N", "[last]", "command = echo hello"], status=1)
        self.assertEqual([line.partition(":")[2].strip() for line in outcome.stderr.splitlines()][:1], ["differs: the output differs"])
        self.assertRegex(outcome.stderr, r"(?m)^compat: fails: reprise bench ended with 2: .*bash ended with status 3 without Reprise")
        self.assertRegex(outcome.stderr, r"(?m)^compat: nowhere: .*No such file or directory")
        self.assertRegex(outcome.stderr, r"(?m)^compat: sleeps: ran past its time$")
        self.assertEqual(len(outcome.stderr.splitlines()), 4)
        self.assertRegex(outcome.stdout, r"(?m)^\| varies \|.*\| varies by itself \|$")
        self.assertRegex(outcome.stdout, r"(?m)^\| last \|.*\| no calls seen \|.*\| the same \|$")

    def test_a_command_in_a_pipe_fails_all_the_same(self):
        self.assertIn("status 3", self.compat(["[fails]", "command = echo x; exit 3", "compare = cat"], status=1).stderr)

    def test_what_was_measured_is_not_run_again(self):
        sections = ["[counts]", f"command = echo x >> {self.folder}/count"]
        for _ in range(2):
            self.compat(sections, "--json", self.folder / "found")
        lines = [json.loads(line) for line in (self.folder / "found").read_text().splitlines()]
        self.assertEqual([line["program"] for line in lines], ["counts"])
        ran = len((self.folder / "count").read_text().split())
        self.compat(sections)
        self.assertEqual(len((self.folder / "count").read_text().split()), 2 * ran)

    def test_lists_that_cannot_be_used(self):
        for sections, words in ((["command = x"], "no section headers"), (["[a]", "folder = ."], r"\[a\] has to have a command"), (["[a]", "command = x", "time = 3"], r"\[a\] has to have a command, and beside it only"),
                                (["[a]", "command = x", "timeout = soon"], "timeout that is no number"), ([], "names no program")):
            with self.subTest(sections=sections):
                self.assertRegex(self.compat(sections, status=2).stderr.splitlines()[-1], words)
        self.assertIn("has no b", self.compat(["[a]", "command = x"], "--only", "b", status=2).stderr)

    def test_the_example_of_its_own_description(self):
        text = subprocess.run([TOP / "scripts" / "compat", "--help"], capture_output=True, text=True).stdout
        example = [line.strip().split("   ")[0] for line in text.splitlines() if line.startswith("    [") or line.startswith("    ") and " = " in line]
        self.assertEqual((example[0], len(example)), ("[jacobi, 2 ranks]", 5))
        name = example[0].strip("[]")
        sections = [*(line.replace(line.partition(" = ")[2], {"command": "echo checksum", "folder": "."}.get(line.partition(" = ")[0], line.partition(" = ")[2])) for line in example), "[jacobi]", "command = exit 3"]
        said = self.compat(sections, "--only", name).stdout
        self.assertIn(f"| {name} |", said)
        self.assertNotIn("| jacobi |", said)

    def test_names_may_have_commas_where_they_are_chosen_too(self):
        compat = load(TOP / "scripts" / "compat")
        names = {"jacobi", "jacobi, 2 ranks", "2 ranks", "b"}
        for text, chosen in (("jacobi, 2 ranks", ["jacobi, 2 ranks"]), ("jacobi,2 ranks,b", ["jacobi, 2 ranks", "b"]), ("b,jacobi", ["b", "jacobi"]), ("2 ranks,,b,", ["2 ranks", "b"]), ("c,b", ["c", "b"]), ("", [])):
            self.assertEqual(compat.named(text, names), chosen)


class Judged(unittest.TestCase):
    def test_each_program_has_one_verdict_and_only_a_loss_that_is_known_is_a_problem(self):
        judged = ((1.01, 1.2, "faster"), (1.0, 1.2, "no slower than 1 % as measured"), (0.99, 1.01, "no slower than 1 % as measured"), (0.989, 1.2, "noise forbids a verdict"), (0.9, 0.99, "noise forbids a verdict"),
                  (0.9, 0.989, "slower by more than 1 %"), (None, None, "too few runs for a verdict"))
        for least, greatest, verdict in judged:
            with self.subTest(least=least, greatest=greatest):
                line = LINE | {"gain": 0.95, "least": least, "greatest": greatest}
                self.assertEqual(compat_judge.verdict(line), verdict)
                self.assertEqual(len(list(compat_judge.problems(line))), verdict.startswith("slower"))
                self.assertEqual(list(compat_judge.problems(line, timed=False)), [])
                self.assertEqual(compat_judge.cells(line)["verdict"], verdict)

    def test_a_page_counts_the_verdicts_and_names_those_that_are_not_good(self):
        lines = [LINE | {"program": name, "least": least, "greatest": greatest} for name, least, greatest in
                 (("a", 1.1, 1.2), ("b", 1.3, 1.4), ("c", 0.995, 1.2), ("d", 0.9, 1.05), ("e", 0.8, 0.9), ("f", 0.85, 1.1))]
        page = compat_judge.document({"GPU": "g", "date": "d"}, lines, [])
        for words in ("- Faster: 2.\n", "- No slower than 1 % as measured: 1.\n", "- Slower by more than 1 %: 1: e (0.80–0.90).\n", "- Noise forbids a verdict: 2: d (0.90–1.05), f (0.85–1.10).\n"):
            self.assertIn(words, page)
        self.assertNotIn("Too few", page)
        self.assertIn("- Too few runs for a verdict: 1: p.\n", compat_judge.document({"GPU": "g", "date": "d"}, [LINE | {"least": None, "greatest": None}], []))

    def test_the_reason_is_of_all_processes_together(self):
        def fates(report):
            return [("replayed", report["replayed"], ""), *((name, count, "") for name, count in report["fates"])]

        counted = [{"ops": 100, "replayed": 50, "fates": [("a", 30), ("b", 20)]}, {"ops": 100, "replayed": 85, "fates": [("a", 0), ("b", 15)]}]
        self.assertEqual(compat_judge.reason(counted, fates), ["b", 0.175])
        self.assertIsNone(compat_judge.reason([{"ops": 1000, "replayed": 991, "fates": [("a", 9)]}], fates))
        self.assertIsNone(compat_judge.reason([], fates))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
