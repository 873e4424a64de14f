#!/usr/bin/env python3
"""Metrics in Prometheus' text format: what the file says, when it is there, and what it does not replace.

usage: test_metrics.py BUILD LIBRARY
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from lib import beside, runs
from lib.runs import until

BUILD, LIBRARY = (Path(word).resolve() for word in sys.argv[1:3])
PROGRAM = BUILD / "tests" / "programs" / "launchbound-driver"
LOOP = ["--module", str(BUILD / "tests" / "programs" / "driver_kernels.so"), "--shape", "chain", "--iterations"]
FOR_LONG, SHORT = "100000000", "400"
DEADLINE = 60
SAMPLE = re.compile(r'([a-z_]+)\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)+)\} (\S+)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')


def read(text):
    """The samples of a file, by name and labels. Strict: each metric has one HELP and one TYPE, before its samples, which are together and end in a newline."""
    samples, types, current = {}, {}, None
    assert text.endswith("\n"), text
    lines = text.splitlines()
    while lines:
        line = lines.pop(0)
        if line.startswith("# HELP "):
            current, words = line[7:].split(" ", 1)
            kind = re.fullmatch(rf"# TYPE {current} (counter|gauge)", lines.pop(0))
            assert kind and words.endswith(".") and current not in types, line
            assert current.endswith("_total") == (kind[1] == "counter"), line
            types[current] = kind[1]
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample and sample[1] == current, line
        labels = dict(LABEL.findall(sample[2]))
        key = (sample[1], labels.get("reason"))
        assert key not in samples and float(sample[3]) >= 0, line
        samples[key] = (float(sample[3]), labels)
    return samples


class Metrics(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.metrics = self.folder / "metrics"
        self.metrics.mkdir()

    def start(self, iterations=FOR_LONG, program=PROGRAM, **environment):
        environment = runs.simulated(BUILD) | {"LD_PRELOAD": str(LIBRARY), "REPRISE_PAYS": "assumed", "REPRISE_METRICS": str(self.metrics)} | environment
        process = subprocess.Popen([program, *LOOP, iterations], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def file(self, process):
        path = self.metrics / f"reprise-{process.pid}.prom"
        until(path.exists, "the metrics are there")
        return path

    def test_what_is_counted(self):
        report = self.folder / "r.json"
        process = self.start(REPRISE_REPORT=str(report), RANK="3")
        path = self.file(process)
        first = read(path.read_text())
        later = until(lambda: (lambda now: now if now["reprise_ops_total", None][0] > first["reprise_ops_total", None][0] else None)(read(path.read_text())), "more is counted")
        for key, (value, labels) in first.items():
            self.assertEqual({name: labels[name] for name in ("pid", "program", "rank")}, {"pid": str(process.pid), "program": "launchbound-driver", "rank": "3"})
            if key[0].endswith("_total"):
                self.assertGreaterEqual(later[key][0], value, key)
        self.assertEqual({reason for name, reason in first if name == "reprise_side_exits_total"}, {"guard", "values", "barrier", "hold", "launch"})
        for name in ("replayed_ops", "graph_launches", "traces", "eager_turn_ops", "paused_ops"):
            self.assertIn((f"reprise_{name}_total", None), first)
        self.assertGreater(later["reprise_replayed_ops_total", None][0], 0)
        self.assertGreater(later["reprise_graph_bytes", None][0], 0)
        self.assertLess(abs(time.time() - later["reprise_written_timestamp_seconds", None][0]), DEADLINE)
        self.assertGreaterEqual(later["reprise_written_timestamp_seconds", None][0], first["reprise_written_timestamp_seconds", None][0] + 0.5)
        self.assertNotIn(("reprise_gain_ratio", None), later)    # without turns nothing is measured
        process.kill()
        process.wait()
        last, told = read(path.read_text()), json.loads(report.read_text())
        self.assertLessEqual(last["reprise_ops_total", None][0], told["ops"] * 2)
        self.assertEqual([entry.name for entry in self.metrics.iterdir()], [path.name])    # of a process that was killed it is left, and no draft

    def test_turns_are_told_of_where_they_are(self):
        process = self.start(REPRISE_TURNS="1")
        path = self.file(process)
        until(lambda: read(path.read_text()).get(("reprise_turns_total", None), (0,))[0] > 0, "turns are counted")
        self.assertIn(("reprise_turns_lost_seconds_total", None), read(path.read_text()))

    def test_the_file_goes_with_the_process(self):
        process = self.start("300000")
        self.file(process)
        process.wait(DEADLINE)
        self.assertEqual(list(self.metrics.iterdir()), [])

    def test_a_short_program_has_none(self):
        process = self.start(SHORT)
        self.assertEqual(process.wait(DEADLINE), 0)
        self.assertEqual((list(self.metrics.iterdir()), process.stderr.read().count("reprise:")), ([], 0))

    def test_a_relative_folder_is_that_of_the_start(self):
        process = self.start(REPRISE_METRICS="metrics")
        self.file(process)

    def test_a_folder_that_is_not_there_is_named_once(self):
        process = self.start(REPRISE_METRICS=str(self.folder / "none"))
        first = process.stderr.readline()
        time.sleep(2.5)
        process.terminate()
        said = [line for line in (first + process.communicate(timeout=DEADLINE)[1]).splitlines() if line.startswith("reprise:")]
        self.assertEqual(said, [f"reprise: cannot write metrics to {self.folder}/none: No such file or directory"])

    def test_what_is_not_ours_is_not_replaced(self):
        (self.folder / "theirs").write_text("theirs")
        script = f"ln -s {self.folder}/theirs {self.metrics}/reprise-$$.prom; exec {PROGRAM} {' '.join(LOOP)} {FOR_LONG}"
        environment = runs.simulated(BUILD) | {"LD_PRELOAD": str(LIBRARY), "REPRISE_METRICS": str(self.metrics)}
        process = subprocess.Popen(["sh", "-c", script], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        said = process.stderr.readline()
        process.terminate()
        self.assertRegex(said + process.communicate(timeout=DEADLINE)[1], rf"(?m)^reprise: cannot write metrics to {self.metrics}: ")
        self.assertEqual((self.folder / "theirs").read_text(), "theirs")
        self.assertTrue((self.metrics / f"reprise-{process.pid}.prom").is_symlink())

    def test_an_old_draft_is_not_in_the_way(self):
        script = f"echo x > {self.metrics}/.reprise-$$.prom.part; exec {PROGRAM} {' '.join(LOOP)} {FOR_LONG}"
        environment = runs.simulated(BUILD) | {"LD_PRELOAD": str(LIBRARY), "REPRISE_METRICS": str(self.metrics)}
        process = subprocess.Popen(["sh", "-c", script], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        read(self.file(process).read_text())

    def test_a_name_that_a_label_cannot_have_as_it_is(self):
        program = self.folder / 'a"b\\c\nd\u00e9'
        os.symlink(PROGRAM, program)
        process = self.start(program=program)
        labels = read(self.file(process).read_text())["reprise_ops_total", None][1]
        self.assertEqual(labels["program"], 'a\\"b\\\\c?d??')

    def test_everybody_may_read_it(self):
        self.assertEqual(self.file(self.start()).stat().st_mode & 0o777, 0o644 & ~runs_umask())


def runs_umask():
    mask = os.umask(0o22)
    os.umask(mask)
    return mask


if __name__ == "__main__":
    runs.hear_signals()
    beside.main(sys.argv[3:])
