#!/usr/bin/env python3
"""`reprise report` on reports that were altered: one line for each that is none, the others are shown, and nothing of them does anything to a terminal.

usage: test_altered.py BUILD
"""
import json
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import schema
from alter import EVIL, alter_text, alter_value, is_harmless
from lib import runs

COMMAND = runs.Command(Path(sys.argv[1]))
replayed, report, reprise = COMMAND.replayed, COMMAND.report, COMMAND.reprise

ALTERED = 120
SEED = 20261123
SECONDS_MOST = 30
FORMS = ([], ["--json"], ["--html"])


def altered(chance, whole):
    value = json.loads(json.dumps(whole))
    for _ in range(chance.randrange(1, 4)):
        if isinstance(value, dict):
            value = alter_value(chance, value)
    text = json.dumps(value)
    return alter_text(chance, text) if chance.randrange(4) == 0 else text


class Altered(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.folder = Path(cls.place.name)
        path = cls.folder / "whole.json"
        cls.wholes = [replayed(path, "one-changed")[0], report(path, "observe", "pageable")[0]]
        cls.whole = path
        path.write_text(json.dumps(cls.wholes[0]))
        chance = random.Random(SEED)
        (cls.folder / "altered").mkdir()
        cls.files = []
        for i in range(ALTERED):
            cls.files.append(cls.folder / "altered" / f"{i:03}.json")
            cls.files[-1].write_text(altered(chance, cls.wholes[i % 2]), errors="surrogatepass")

    @classmethod
    def tearDownClass(cls):
        cls.place.cleanup()

    def show(self, *words):
        return subprocess.run([COMMAND.command, "report", *map(str, words)], env=COMMAND.environment, capture_output=True, text=True, timeout=SECONDS_MOST)

    def test_each_alone(self):
        refused = 0
        for i, file in enumerate(self.files):
            form, page = FORMS[i % 3], self.folder / "page.html"
            page.unlink(missing_ok=True)
            with self.subTest(file=file.name, form=form):
                shown = self.show(file, *form, *([page] if form == ["--html"] else []))
                self.assertIn(shown.returncode, (0, 1))
                self.assertNotIn("Traceback", shown.stderr)
                self.assertTrue(is_harmless(shown.stdout) and is_harmless(shown.stderr), (shown.stdout, shown.stderr))
                lines = shown.stderr.splitlines()
                if shown.returncode == 0:
                    self.assertEqual(lines, [])
                    self.assertNotEqual(page.read_text() if form == ["--html"] else shown.stdout, "")
                    if form == ["--html"]:
                        self.assertTrue(is_harmless(page.read_text()))
                else:
                    refused += 1
                    self.assertEqual(len(lines), 2, shown.stderr)
                    self.assertTrue(lines[0].startswith(f"reprise report: {file}: "), lines[0])
                    self.assertLess(len(lines[0]), 400)
        # Neither all, nor none: both ways were gone.
        self.assertGreater(refused, ALTERED // 4)
        self.assertLess(refused, ALTERED - 5)

    def test_compared_with_a_whole_one(self):
        shown_in_all, page = 0, self.folder / "page.html"
        wholes = [self.folder / "whole.json", self.folder / "observed.json"]
        wholes[1].write_text(json.dumps(self.wholes[1]))
        for i, file in enumerate(self.files):
            whole = wholes[i % 2]
            pair = (file, whole) if i % 2 else (whole, file)
            with self.subTest(file=file.name):
                shown = self.show("--compare", *pair, *(["--html", page] if i % 4 < 2 else []))
                self.assertIn(shown.returncode, (0, 1))
                self.assertNotIn("Traceback", shown.stderr)
                self.assertTrue(is_harmless(shown.stdout) and is_harmless(shown.stderr), (shown.stdout, shown.stderr))
                self.assertEqual(shown.returncode == 0, shown.stderr == "")
                shown_in_all += shown.returncode == 0
        self.assertGreater(shown_in_all, 0)

    def test_all_in_one_folder(self):
        (self.folder / "altered" / "zzz.json").write_text(self.whole.read_text())
        self.addCleanup((self.folder / "altered" / "zzz.json").unlink)
        for form in [], ["--json"], ["--html", self.folder / "page.html"]:
            shown = self.show(self.folder / "altered", *form)
            self.assertEqual(shown.returncode, 1)
            self.assertNotIn("Traceback", shown.stderr)
            lines = shown.stderr.splitlines()
            self.assertTrue(all(line.startswith(f"reprise report: {self.folder}/altered/") for line in lines), lines)
            self.assertEqual(len(lines), len(set(lines)))
            self.assertTrue(form[:1] == ["--html"] or shown.stdout)


class Joined(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def reports(self, *modes):
        for i, mode in enumerate(modes):
            report(self.folder / f"{i}.json", mode, "chain")
        return [self.folder / f"{i}.json" for i in range(len(modes))]

    def show(self, *words, status=1):
        shown = reprise("report", *words)
        self.assertEqual(shown.returncode, status, shown.stderr)
        return shown

    def test_modes_are_not_summed(self):
        on, observe, second = self.reports("run", "observe", "run")
        for words in (on, observe, second), (self.folder,):
            shown = self.show(*words)
            self.assertEqual(shown.stderr, f"reprise report: {observe}: is of mode observe, and {on} is of mode on: not counted\n")
            self.assertIn("of 19,200 launches", shown.stdout)

    def test_what_was_off_comes_after_all_others(self):
        off, on = self.reports("run", "run")
        off.write_text(json.dumps(json.loads(off.read_text()) | {"mode": "off", "ops": 0}))
        self.assertLess(off, on)
        shown = self.show(off, on, status=1)
        self.assertIn("mode on", shown.stdout)
        self.assertEqual(shown.stderr.splitlines(), [f"reprise report: {off}: is of mode off, and {on} is of mode on: not counted"])
        self.assertIn("Reprise was off", self.show(off, status=0).stdout)

    def test_one_file_is_counted_once(self):
        on, = self.reports("run")
        (self.folder / "link.json").symlink_to(on)
        (self.folder / "copy.json").write_text(on.read_text())
        shown = self.show(on, on, self.folder / "link.json", self.folder / "copy.json")
        self.assertEqual(shown.stderr.splitlines(), [f"reprise report: {on}: is counted once, though it is named twice",
                                                     f"reprise report: {self.folder}/link.json: is counted once, though it is named twice",
                                                     f"reprise report: {self.folder}/copy.json: is of the same process as {on}, and not counted"])
        self.assertIn("of 9,600 launches", shown.stdout)

    def test_why_a_file_is_no_report(self):
        on, = self.reports("run")
        whole = json.loads(on.read_text())
        lacking = {name: value for name, value in whole.items() if name != "siblings"}
        for content, why in (("", "is no JSON: "), ("[1]", "is no report of Reprise"), (json.dumps(lacking), "is no report of this version of Reprise: the report has no siblings"),
                             (json.dumps(whole | {"ops": "many"}), "ops is a text, not a number"), (json.dumps(whole | {"mode": "loud"}), "mode is none of off, observe, on, verify"),
                             (json.dumps(whole | {"ops": -1}), "ops is -1, which cannot be"), (json.dumps(whole | {"exits": whole["exits"] | {"hold": None}}), "hold of exits is null")):
            on.write_text(content)
            first, last = self.show(on).stderr.splitlines()
            self.assertTrue(first.startswith(f"reprise report: {on}: ") and why in first, first)
            self.assertEqual(last, "reprise report: there is no report")
        on.unlink()
        self.assertIn(f"{on}: cannot be read: No such file or directory", self.show(on).stderr)
        self.assertIn(f"{self.folder}: there is no report in this folder", self.show(self.folder).stderr)
        self.assertIn("/dev/null: is no plain file", self.show("/dev/null").stderr)

    def test_a_snapshot_between_two_counts(self):
        on, = self.reports("observe")
        whole = json.loads(on.read_text())
        on.write_text(json.dumps(whole | {"complete": False, "replayed": whole["ops"] + 1, "launches": 0, "saved_ns": 1000, "histograms": whole["histograms"] | {"eager": [[5, 5, 0]]}}))
        for form in [], ["--html", self.folder / "page.html"]:
            self.assertEqual(self.show(on, *form, status=0).stderr, "")

    def test_what_another_commit_counts_is_passed_over(self):
        on, = self.reports("run")
        whole = json.loads(on.read_text())
        on.write_text(json.dumps({name: value for name, value in whole.items() if name not in schema.LATER} | {"new_counter": 5}))
        self.assertEqual(self.show(on, status=0).stderr, "")

    def test_a_report_is_not_written_over_by_its_page(self):
        on, = self.reports("run")
        before = on.read_text()
        self.assertIn("is one of the reports, and not written over", self.show(on, "--html", on).stderr)
        self.assertEqual(on.read_text(), before)

    def test_names_are_shown_without_what_moves_a_terminal(self):
        on, = self.reports("run")
        whole = json.loads(on.read_text())
        whole["kernels"][0]["name"] = EVIL + "k\u00c3\u00bcrn"    # the bytes of an ü
        whole["command"] = [EVIL]
        on.write_text(json.dumps(whole))
        shown = self.show(on, status=0)
        self.assertTrue(is_harmless(shown.stdout))
        self.assertIn("evil", shown.stdout)
        whole["kernels"][0]["name"] = "k\u00c3\u00bcrn"
        on.write_text(json.dumps(whole))
        self.assertIn("kürn", self.show(on, status=0).stdout)
        (self.folder / "\x1b[2J.json").write_text("{")
        self.assertTrue(is_harmless(self.show(self.folder).stderr))

    def test_a_snapshot_is_told_as_one(self):
        on, = self.reports("run")
        whole = json.loads(on.read_text())
        on.write_text(json.dumps(whole | {"complete": False}))
        self.assertIn("A snapshot: the process ran on, or ended before its last report.", self.show(on, status=0).stdout)
        on.write_text(json.dumps(whole | {"complete": True}))
        self.assertNotIn("napshot", self.show(on, status=0).stdout)

    def test_nobody_reads_to_the_end(self):
        on, = self.reports("run")
        shown = subprocess.run(f"{COMMAND.command} report {on} | head -1", shell=True, env=COMMAND.environment, capture_output=True, text=True, timeout=SECONDS_MOST)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
