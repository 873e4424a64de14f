#!/usr/bin/env python3
"""`reprise report --compare`; and the pages that `reprise run --html` and `reprise observe --html` write, and --open opens.

usage: test_compare.py BUILD
"""
import copy
import json
import os
import stat
import sys
import tempfile
import unittest
from pathlib import Path

import compare
from alter import EVIL, is_harmless
from lib import runs

COMMAND = runs.Command(Path(sys.argv[1]))
program, replayed, report, reprise = COMMAND.program, COMMAND.replayed, COMMAND.report, COMMAND.reprise
NO_DESKTOP = {"DISPLAY": "", "WAYLAND_DISPLAY": ""}


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.page = self.folder / "page.html"

    def written(self, name, told):
        path = self.folder / name
        path.write_text(json.dumps(told))
        return path


class Compare(WithFolder):
    def setUp(self):
        super().setUp()
        self.before, _ = replayed(self.folder / "r.json", "pageable")
        self.after = copy.deepcopy(self.before)
        self.after["started"] += 1
        self.after["replayed"] += self.after["unfit"]["pageable"]
        self.after["unfit"]["pageable"] = 0
        self.after["launches"] *= 20
        self.after["saved_ns"] = -self.before["saved_ns"] - 1
        self.after["options"]["REPRISE_HOLD"] = {"value": 777, "from": "command"}
        self.paths = self.written("a.json", self.before), self.written("b.json", self.after)

    def rows(self, *paths):
        shown = reprise("report", *paths, "--compare")
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        return {line[: line.find("  ", 2)].strip(): line[line.find("  ", 2):].split("  ") for line in shown.stdout.splitlines() if line.startswith("  ")}, shown.stdout

    def test_what_changed(self):
        rows, text = self.rows(*self.paths)
        rows = {name: [cell.strip() for cell in cells if cell.strip()] for name, cells in rows.items()}
        share = 100 * self.before["unfit"]["pageable"] / self.before["ops"]
        self.assertEqual(rows["cannot be graphed: pageable"], [f"{share:.1f} %", "0.0 %", f"-{share:.1f} points"])
        self.assertEqual(rows["graph launches"], [f"{self.before['launches']:,}", f"{self.after['launches']:,}", "20 times"])
        self.assertEqual(rows["REPRISE_HOLD"], ["400", "777"])
        self.assertEqual(rows["copies from or to pageable or managed memory"][1:], ["-", "gone"])
        self.assertEqual(rows["calls"], [f"{self.before['ops']:,}", f"{self.before['ops']:,}", "same"])
        self.assertNotIn("program", rows)    # it is the same
        self.assertTrue(text.startswith("before: ") and "\nafter:  " in text)

    def test_the_other_way_round(self):
        rows, _ = self.rows(*reversed(self.paths))
        self.assertEqual(rows["copies from or to pageable or managed memory"][-1].strip(), "new")

    def test_a_report_and_itself(self):
        _, text = self.rows(self.paths[0], self.paths[0])
        self.assertFalse([line for line in text.splitlines() if line.startswith("  ") and not line.endswith((" same", " change"))])

    def test_changes_in_words(self):
        for before, after, words in ((100, 100, "same"), (100, 112, "+12 %"), (1000, 995, "-0.5 %"), (0, 5, "new"), (0, 0, "same"), (10, 200, "20 times"), (1, 2210, "2,210 times"), (10, 0, "-100 %")):
            self.assertEqual(compare.changed_by(before, after), words)
        self.assertEqual(compare.points(0.5, 0.75), "+25.0 points")
        self.assertEqual(compare.points(0.5, 0.5001), "same")
        self.assertEqual(compare.amount_row("x", -5, 20, str)[3], "+25")
        self.assertEqual(compare.amount_row("x", 20, -5, str)[3], "-25")

    def test_folders(self):
        for name, told in (("before", self.before), ("after", self.after)):
            (self.folder / name).mkdir()
            for rank in range(2):
                self.written(f"{name}/{rank}.json", told | {"rank": rank, "pid": rank + 1})
        rows, _ = self.rows(self.folder / "before", self.folder / "after")
        self.assertEqual(rows["calls"][-1].strip(), "same")
        self.assertIn(f"{2 * self.before['ops']:,}", " ".join(rows["calls"]))

    def test_as_a_page(self):
        shown = reprise("report", *self.paths, "--compare", "--html", self.page)
        self.assertEqual((shown.returncode, shown.stdout), (0, f"reprise report: the page is in {self.page}\n"))
        text = self.page.read_text()
        for words in ("before: ", "after: ", "What stands in the way", "simulated driver", "default-src 'none'"):
            self.assertIn(words, text)
        self.assertEqual(text.count('class="verdict '), 2)

    def test_what_cannot_be_compared(self):
        observed = self.written("o.json", report(self.folder / "r.json", "observe", "chain")[0])
        for words, problem in (((self.paths[0], observed), "they are not compared"), ((self.paths[0], self.folder / "none.json"), f"there is no report in {self.folder}/none.json: nothing is compared"),
                               ((self.folder / "none.json", self.paths[0]), f"there is no report in {self.folder}/none.json: nothing is compared")):
            shown = reprise("report", *words, "--compare")
            self.assertEqual((shown.returncode, shown.stdout), (1, ""))
            self.assertIn(problem, shown.stderr)
            self.assertNotIn("Traceback", shown.stderr)
        for path in self.paths:
            before = path.read_text()
            self.assertEqual(reprise("report", *self.paths, "--compare", "--html", path).returncode, 1)
            self.assertEqual(path.read_text(), before)

    def test_names_that_move_a_terminal(self):
        self.after["kernels"][0]["name"] = EVIL
        self.after["command"] = [EVIL]
        path = self.written("b.json", self.after)
        self.assertTrue(is_harmless(reprise("report", self.paths[0], path, "--compare").stdout))
        reprise("report", self.paths[0], path, "--compare", "--html", self.page)
        self.assertTrue(is_harmless(self.page.read_text()))

    def test_counts_of_nothing(self):
        path = self.written("b.json", self.after | {"ops": 0, "replayed": 0, "launches": 0, "wall_ns": 0, "kernels": [], "launch_time_ns": 0})
        for pair in ((self.paths[0], path), (path, self.paths[0]), (path, path)):
            for form in [], ["--html", self.page]:
                shown = reprise("report", *pair, "--compare", *form)
                self.assertEqual((shown.returncode, shown.stderr), (0, ""))


class OfARun(WithFolder):
    def run_it(self, *words, command="run", **environment):
        return reprise(command, "--html", self.page, *words, "--", *program("chain"), **(NO_DESKTOP | environment))

    def test_the_page_is_written_at_the_end(self):
        for command, words in (("run", ">replayed</abbr>, by "), ("observe", ">would be replayed</abbr>, by ")):
            self.page.unlink(missing_ok=True)
            outcome = self.run_it(command=command, REPRISE_PAYS="assumed", SIM_SLOW="cuLaunchKernel:3")    # us: long enough for a graph to be built
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
            self.assertEqual(outcome.stderr.splitlines()[-1], f"reprise report: the page is in {self.page}")
            self.assertNotIn("the page", outcome.stdout)
            self.assertIn(words, self.page.read_text())

    def test_of_all_processes(self):
        outcome = reprise("run", "--html", self.page, "--", "sh", "-c", '"$@" & "$@"; wait', "sh", *program("chain"), **NO_DESKTOP)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("processes</abbr></dt><dd>2</dd>", self.page.read_text())

    def test_the_status_is_the_programs(self):
        outcome = reprise("run", "--html", self.page, "--", "sh", "-c", '"$@"; exit 5', "sh", *program("chain"), **NO_DESKTOP)
        self.assertEqual(outcome.returncode, 5)
        self.assertTrue(self.page.exists())

    def test_without_a_report_there_is_no_page(self):
        outcome = reprise("run", "--html", self.page, "--", "true", **NO_DESKTOP)
        self.assertIn(f"reprise: {self.page} was not written: there is no report to make a page of", outcome.stderr)
        self.assertFalse(self.page.exists())

    def test_the_report_is_not_written_over(self):
        path = self.folder / "r.json"
        outcome = reprise("run", "--report", path, "--html", path, "--", *program("chain"), **NO_DESKTOP)
        self.assertIn("is one of the reports, and not written over", outcome.stderr)
        self.assertIn("ops", json.loads(path.read_text()))

    def test_without_a_desktop_it_is_not_opened(self):
        outcome = self.run_it("--open")
        self.assertEqual(outcome.stderr.splitlines()[-1], f"reprise report: the page is in {self.page}; it is not opened, since there is no desktop here")

    def desktop(self):
        """The environment of one, and the file that has what xdg-open was told there."""
        opener, told = self.folder / "xdg-open", self.folder / "told"
        opener.write_text(f'#!/bin/sh\necho "$#" "$1" > {told}.part; mv {told}.part {told}\n')
        opener.chmod(opener.stat().st_mode | stat.S_IXUSR)
        return {"DISPLAY": ":77", "PATH": f"{self.folder}:{os.environ['PATH']}"}, told

    def test_it_is_opened(self):
        desktop, told = self.desktop()
        self.page = self.folder / "a page.html"
        outcome = self.run_it("--open", **desktop)
        self.assertEqual(outcome.stderr.splitlines()[-1], f"reprise report: the page is in {self.page}, and is being opened")
        runs.until(told.exists, "xdg-open was told")
        self.assertEqual(told.read_text(), f"1 {self.page.as_uri()}\n")

    def test_without_a_name_it_is_opened_in_a_temporary_file(self):
        desktop, told = self.desktop()
        replayed(self.folder / "r.json", "chain")
        for words, desktop_too in ((("run", "--open", "--", *program("chain")), True), (("observe", "--open", "--", *program("chain")), True), (("report", "--open", self.folder / "r.json"), True),
                                   (("report", "--compare", "--open", self.folder / "r.json", self.folder / "r.json"), True), (("run", "--open", "--", *program("chain")), False)):
            with self.subTest(command=words[0], desktop=desktop_too), tempfile.TemporaryDirectory() as folder:
                told.unlink(missing_ok=True)
                outcome = reprise(*words, **(desktop if desktop_too else NO_DESKTOP), TMPDIR=folder)
                self.assertEqual(outcome.returncode, 0, outcome.stderr)
                page, = Path(folder).glob("reprise-*.html")
                self.assertEqual(stat.S_IMODE(page.stat().st_mode), 0o600)
                self.assertTrue(page.read_text().startswith("<!doctype html>"))
                self.assertEqual((outcome.stdout if words[0] == "report" else outcome.stderr).splitlines()[-1],
                                 f"reprise report: the page is in {page}" + (", and is being opened" if desktop_too else "; it is not opened, since there is no desktop here"))
                if desktop_too:
                    runs.until(told.exists, "xdg-open was told")
                    self.assertEqual(told.read_text(), f"1 {page.as_uri()}\n")

    def test_no_page_is_made_of_which_nobody_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            outcome = reprise("run", "--open", "--quiet", "--", *program("chain"), **NO_DESKTOP, TMPDIR=folder)
            self.assertEqual((outcome.returncode, "reprise" in outcome.stderr, list(Path(folder).iterdir())), (0, False, []))
            outcome = reprise("run", "--open", "--", "true", **NO_DESKTOP, TMPDIR=folder)
            self.assertEqual((outcome.stderr.splitlines()[-1], list(Path(folder).iterdir())), ("reprise: no page is opened: there is no report to make one of", []))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
