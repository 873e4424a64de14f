#!/usr/bin/env python3
"""The last line of all that runs tests; and that every test is named, so that one which vanishes is missed.

usage: test_tally.py BUILD [--names]      --names: BUILD has all tests, and they are held against tests/names.txt
"""
import contextlib
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lib import runs, tally

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

BUILD = Path(sys.argv[1])
ALL = "--names" in sys.argv


class LastLine(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("meson-logs", "meson-info"):
            (self.folder / name).mkdir()

    def told(self, ran, *words, there=None):
        """What is told of tests that ran, name to (result, stdout); (exit status, lines)."""
        log = [json.dumps({"name": f"reprise:{name}", "result": result, "stdout": stdout}) for name, (result, stdout) in ran.items()]
        (self.folder / "meson-logs" / "testlog.json").write_text("\n".join(log))
        tests = [{"suite": [f"reprise:{name.partition(' / ')[0]}"], "name": name.partition(" / ")[2]} for name in (there or ran)]
        (self.folder / "meson-info" / "intro-tests.json").write_text(json.dumps(tests))
        outcome = subprocess.run([SCRIPTS / "tally", self.folder, *words], capture_output=True, text=True)
        self.assertEqual(outcome.stderr, "")
        return outcome.returncode, outcome.stdout.splitlines()

    def long(self, ran, there):
        """Writes what is there only with --all, and what of it ran: as meson does, which leaves out the suite where there is but one."""
        log = [json.dumps({"name": name.partition(" / ")[2], "result": result, "stdout": ""}) for name, result in ran.items()]
        (self.folder / "meson-logs" / "long.json").write_text("\n".join(log))
        tests = [{"suite": ["reprise:long"], "name": name.partition(" / ")[2]} for name in there]
        (self.folder / "meson-info" / "intro-benchmarks.json").write_text(json.dumps(tests))

    def everything(self):
        """All that scripts/test runs."""
        return {name: ("OK", "") for name in tally.named()[0] - tally.spared()}

    def rest(self, ran):
        """Writes what else ran with --all."""
        log = [json.dumps({"name": f"reprise:{name}", "result": result, "stdout": ""}) for name, result in ran.items()]
        (self.folder / "meson-logs" / "rest.json").write_text("\n".join(log))

    def test_it_has_what_needed_another_round(self):
        ran = {"hazards / one": ("OK", "eager: replayed 90 %\nneeded another round: eager: too little\nok\n"), "hazards / two": ("OK", "ok\n"),
               "hazards / three": ("SKIP", "")}
        self.assertEqual(self.told(ran, "--chosen", "one", "two", "three"), (0, ["2 passed, 0 failed, 1 skipped, 1 needed another round"]))

    def test_a_program_that_was_run_for_longer_needed_another_round(self):
        for enough, again in ((400, 0), (3000, 1)):
            with contextlib.redirect_stdout(io.StringIO()) as said:
                self.assertEqual(runs.long_enough(lambda iterations: iterations, lambda iterations: iterations >= enough, (400, 3000)), enough)
            ran = {"ways / one": ("OK", said.getvalue())}
            self.assertEqual(self.told(ran, "--chosen", "one")[1][-1], tally.line(1, 0, 0, again))

    def test_what_did_not_pass_failed(self):
        ran = {f"hazards / {result}": (result, "") for result in ("OK", "FAIL", "TIMEOUT", "ERROR", "INTERRUPT")}
        self.assertEqual(self.told(ran, "--chosen", "OK"), (1, ["1 passed, 4 failed, 0 skipped"]))

    def test_all_that_are_named_are_enough(self):
        ran = self.everything()
        self.assertEqual(self.told(ran, "--left-out", "1"), (0, [f"{len(ran)} passed, 0 failed, 1 skipped"]))

    def test_one_that_vanished_failed(self):
        ran = self.everything()
        gone = sorted(ran)[100]
        del ran[gone]
        status, lines = self.told(ran)
        self.assertEqual((status, lines[-1]), (1, f"{len(ran)} passed, 1 failed, 0 skipped"))
        self.assertRegex(lines[0], f"^FAIL {gone}: it did not run")

    def test_one_that_is_there_and_did_not_run_failed(self):
        ran = self.everything()
        status, lines = self.told(ran, there=[*ran, "unit / new"])
        self.assertEqual((status, lines[-1]), (1, f"{len(ran)} passed, 1 failed, 0 skipped"))

    def test_one_of_a_choice_that_did_not_run_failed(self):
        status, lines = self.told({"hazards / one": ("OK", "")}, "--chosen", "one", "two")
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))

    def test_those_that_are_spare_are_wanted_with_all_alone(self):
        ran, spare = self.everything(), dict.fromkeys(tally.spared(), "OK")
        self.long({}, [])
        first = min(spare)
        for rest, words, status, line in (({}, (), 0, f"{len(ran)} passed, 0 failed, 0 skipped"),
                                          ({}, ("--all",), 1, f"{len(ran)} passed, {len(spare)} failed, 0 skipped"),
                                          (spare, ("--all",), 0, f"{len(ran) + len(spare)} passed, 0 failed, 0 skipped"),
                                          (spare | {first: "FAIL"}, ("--all",), 1, f"{len(ran) + len(spare) - 1} passed, 1 failed, 0 skipped")):
            self.rest(rest)
            with self.subTest(rest=len(rest), words=words):
                outcome = self.told(ran, *words, there=[*ran, *spare])
                self.assertEqual((outcome[0], outcome[1][-1]), (status, line))

    def test_each_test_is_run_by_scripts_test_or_with_all(self):
        spare = min(tally.spared())
        self.told({}, there=[spare, "unit / new"])
        names = {which: subprocess.run([SCRIPTS / "tally", self.folder, "--names", which], capture_output=True, text=True).stdout for which in ("short", "spare")}
        self.assertEqual(names, {"short": "new\n", "spare": spare.partition(" / ")[2] + "\n"})

    def test_those_that_take_long_are_wanted_with_all_alone(self):
        ran = self.everything()
        self.rest(dict.fromkeys(tally.spared(), "OK"))
        there, everything = ["long / one", "long / two"], len(tally.named()[0])
        for long, words, status, line in (({}, (), 0, f"{len(ran)} passed, 0 failed, 0 skipped"),
                                          ({}, ("--all",), 1, f"{everything} passed, 2 failed, 0 skipped"),
                                          ({"long / one": "OK", "long / two": "SKIP"}, ("--all",), 0, f"{everything + 1} passed, 0 failed, 1 skipped"),
                                          ({"long / one": "OK", "long / two": "TIMEOUT"}, ("--all",), 1, f"{everything + 1} passed, 1 failed, 0 skipped")):
            self.long(long, there)
            with self.subTest(long=long, words=words):
                outcome = self.told(ran, *words)
                self.assertEqual((outcome[0], outcome[1][-1]), (status, line))

    def test_how_long_they_took_and_which_took_longest_where_that_is_too_long(self):
        for second, told in ((300, ["the tests took 5.0 minutes; on two processors they may take 15"]),
                             (1200, ["the tests took 20.0 minutes; on two processors they may take 15", "  1200 s: hazards / two", "  60 s: hazards / one"])):
            log = [{"name": f"reprise:hazards / {name}", "result": "OK", "starttime": 1000.0, "duration": duration} for name, duration in (("one", 60), ("two", second))]
            (self.folder / "meson-logs" / "testlog.json").write_text("\n".join(map(json.dumps, log)))
            with self.subTest(second=second):
                self.assertEqual(list(tally.took(self.folder)), told)

    def test_nothing_ran(self):
        status, lines = self.told({}, there=["hazards / one"])
        self.assertEqual((status, lines[-1]), (1, f"0 passed, {len(self.everything()) + 1} failed, 0 skipped"))

    def test_those_of_the_gpu_are_added(self):
        log = self.folder / "gpu-test.log"
        for last, status, line in (("5 passed, 0 failed, 2 skipped, 4 needed another round", 0, "6 passed, 0 failed, 2 skipped, 5 needed another round"),
                                   ("5 passed, 1 failed, 2 skipped", 1, "6 passed, 1 failed, 2 skipped, 1 needed another round"),
                                   ("Traceback of something", 1, "1 passed, 1 failed, 0 skipped, 1 needed another round")):
            log.write_text(f"ok   heat: 1\n{last}\n")
            with self.subTest(last=last):
                outcome = self.told({"hazards / one": ("OK", "needed another round: x")}, "--chosen", "one", "--gpu", str(log))
                self.assertEqual((outcome[0], outcome[1][-1]), (status, line))

    def test_the_gpu_test_ends_with_such_a_line(self):
        """Of a folder where nothing is built, with a GPU or without."""
        outcome = subprocess.run([SCRIPTS / "gpu-test", self.folder], capture_output=True, text=True)
        self.assertEqual(sum(tally.read_line(outcome.stdout.splitlines()[-1])), 1, outcome.stdout)


class Spare(unittest.TestCase):
    def spare(self, lines, groups=(), hazards=(), suite="hazards", **more):
        """Of tests with these lines, named by letters; each takes as many seconds as its letter's place in the alphabet."""
        tests = {f"{suite} / {name}": set(ran) for name, ran in lines.items()}
        seconds = {test: ord(test[-1]) - ord("a") + 1 for test in tests}
        return "".join(test[-1] for test in tally.spare(tests, seconds, groups, set(hazards), **more))

    def test_the_longest_goes_first_while_others_run_its_lines(self):
        self.assertEqual(self.spare({"a": [1, 2], "b": [1], "c": [2]}), "cb")

    def test_who_runs_a_line_alone_stays(self):
        self.assertEqual(self.spare({"a": [1], "b": [1, 2]}), "a")

    def test_who_finds_a_bug_alone_stays(self):
        lines = {"a": [1], "b": [1], "c": [1]}
        self.assertEqual(self.spare(lines), "cb")
        self.assertEqual(self.spare(lines, [["c"]]), "ba")
        self.assertEqual(self.spare(lines, [["c", "b"]]), "ca")

    def test_a_bug_that_the_fuzzer_finds_too_has_a_test_still(self):
        self.assertEqual(self.spare({"a": [1], "b": [1], "c": [1]}, [["c", "fuzz"]]), "ba")

    def test_a_hazards_own_test_stays(self):
        self.assertEqual(self.spare({"a": [1], "b": [1]}, hazards=["b"]), "a")

    def test_who_found_a_mutant_stays(self):
        self.assertEqual(self.spare({"a": [1], "b": [1]}, needed={"hazards / b"}), "a")

    def test_of_what_runs_no_line_that_counts_nothing_is_known(self):
        self.assertEqual(self.spare({"a": [], "b": [1], "c": [1]}), "c")

    def test_of_what_tests_no_line_nothing_is_known(self):
        for suite in tally.NOT_LINES:
            self.assertEqual(self.spare({"a": [1], "b": [1]}, suite=suite), "")

    def test_who_is_quick_stays(self):
        tests = {"unit / quick": {1}, "unit / quick, too": {1}}
        self.assertEqual(tally.spare(tests, dict.fromkeys(tests, tally.LEAST_S * 0.9), [], set()), [])


@unittest.skipUnless(ALL, "this build lacks tests")
class Names(unittest.TestCase):
    def test_each_that_is_named_is_there(self):
        self.assertEqual(list(tally.absent(tally.there(BUILD), tally.named()[0])), [], "written by: scripts/tally BUILD --write")

    def test_not_many_are_not_named(self):
        names, with_nvcc = tally.named()
        self.assertLessEqual(len(tally.there(BUILD) - names - with_nvcc), tally.FEW, "write tests/names.txt anew: scripts/tally BUILD --write")

    def test_what_is_spare_by_hand_is_marked(self):
        self.assertEqual(set(tally.BY_HAND) - tally.spared(), set(), "written by: scripts/tally BUILD --spare COVERAGE --write")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
