#!/usr/bin/env python3
"""reprise bench: whole processes by turns, of programs whose times are known. That times of chance make the right verdict is tests/unit/cli's matter.

usage: test_bench.py BUILD
"""
import json
import signal
import subprocess
import sys
import unittest

import test_command
from lib import beside
from lib.runs import state, until
from test_command import REPRISE

HEAT_LINE = " ".join(map(str, [*test_command.HEAT[:-1], "20000"]))
RUNS = 8
PATIENCE_S = 200
# As long as so many tenths of a second without Reprise, and with it: so different that a busy machine makes no other verdict of them.
LASTS = 'case "$LD_PRELOAD" in *libreprise.so*) sleep 0.{with_it};; *) sleep 0.{without};; esac'


class Bench(test_command.WithFolder):
    def bench(self, *words, status=0, **more):
        outcome = subprocess.run([REPRISE, "bench", *map(str, words)], env=self.environment(), cwd=self.folder, capture_output=True, text=True,
                                 timeout=PATIENCE_S, **{"stdin": subprocess.DEVNULL} | more)
        self.assertIn(outcome.returncode, [1, 3] if status is None else [status], outcome.stdout + outcome.stderr)    # as it is slower or not, where it lasts no longer than a library takes to be loaded
        return outcome

    def shell(self, script, *options, status=3, **more):
        return self.bench(*options, "--", "sh", "-c", script, status=status, **more)

    def test_faster(self):
        said = self.shell(LASTS.format(without=5, with_it="05"), "--runs", RUNS).stdout
        self.assertRegex(said, rf"\nreprise: \d+\.\d\d x faster, measured in {RUNS} pairs of runs, \d+\.\d\d to \d+\.\d\d; nothing is known to have been replayed \(no report came")
        found = json.loads(self.shell(LASTS.format(without=5, with_it="05"), "--runs", RUNS, "--json").stdout)
        self.assertEqual((found["verdict"], found["replayed"], found["ops"]), ("faster", 0, 0))
        self.assertGreater(found["gain"]["least"], 1)
        self.assertLessEqual(found["gain"]["least"], found["gain"]["ratio"])
        self.assertLessEqual(found["gain"]["ratio"], found["gain"]["greatest"])
        for side, least in (("without", 0.5), ("with", 0.05)):
            self.assertEqual([len(found[side][kind]) for kind in ("wall_s", "cpu_s")], [RUNS, RUNS])
            self.assertGreaterEqual(min(found[side]["wall_s"]), least)

    def test_slower(self):
        said = self.shell(LASTS.format(without="05", with_it=5), "--runs", RUNS, status=1).stdout
        self.assertRegex(said, rf"\nreprise: \d+\.\d\d x slower, measured in {RUNS} pairs of runs, \d+\.\d\d to \d+\.\d\d; nothing is known to have been replayed ")

    def test_noise(self):
        # Each side is long in every other run, in turn: whichever goes first, four pairs speak for one and four for the other.
        script = ('n=$(cat $REPRISE 2>/dev/null || echo 0); echo $((n + 1)) > $REPRISE; [ $REPRISE = on ] && n=$((n + 1)); '
                  '[ $((n % 2)) = 0 ] && sleep 0.5 || sleep 0.05')
        said = self.shell(script, "--runs", RUNS).stdout
        self.assertRegex(said, r"\nreprise: the noise forbids a verdict: runs of one side differ by \d+ %, 0\.\d\d to \d+\.\d\d x; more runs: --runs \d+; ")

    def test_too_few_runs(self):
        said = self.shell("exit 0", "--runs", 3).stdout
        self.assertIn("\nreprise: too few runs for a verdict: 3 of each side, of 6 that it takes: --runs 6; ", said)

    def test_the_time_that_is_given(self):
        found = json.loads(self.shell("sleep 0.3", "--seconds", 1, "--json").stdout)
        self.assertEqual((len(found["with"]["wall_s"]), found["verdict"]), (1, "too few runs"))
        found = json.loads(self.shell("sleep 0.3", "--seconds", 1, "--runs", 6, "--json").stdout)
        self.assertEqual(len(found["with"]["wall_s"]), 1)

    def test_the_first_run_of_each_is_not_counted(self):
        self.shell("echo $REPRISE >> order", "--runs", 6, status=None)
        order = (self.folder / "order").read_text().split()
        self.assertEqual(order[:2], ["off", "on"])
        self.assertEqual([sorted(order[i:i + 2]) for i in range(0, 14, 2)], [["off", "on"]] * 7)

    def test_the_order_is_random(self):
        self.shell("echo $REPRISE >> order", "--runs", 30, status=None)
        order = (self.folder / "order").read_text().split()
        self.assertEqual(set(order[2::2]), {"on", "off"})    # thirty pairs in one order: once in 500 million

    def test_processor_time(self):
        spins = 'import os\nend = 0.5 if "libreprise" in os.environ.get("LD_PRELOAD", "") else 0.0\nwhile os.times().user < end: pass'
        found = json.loads(self.bench("--runs", 6, "--json", "--", sys.executable, "-c", spins, status=1).stdout)
        self.assertGreaterEqual(min(found["with"]["cpu_s"]), 0.5)
        self.assertGreater(found["cpu"]["least"], 1)
        children = 'import subprocess, sys; subprocess.run([sys.executable, "-c", sys.argv[1]])'
        found = json.loads(self.bench("--runs", 1, "--json", "--", sys.executable, "-c", children, spins, status=3).stdout)
        self.assertGreaterEqual(min(found["with"]["cpu_s"]), 0.5)

    def test_a_program_that_replays(self):
        script = f"{HEAT_LINE} 2>/dev/null"
        found = json.loads(self.shell(script, "--runs", 2, "--json", status=0).stdout)
        self.assertEqual((found["stdout"], found["stderr"], found["ops"]), ("same", "same", 3 * 24000))    # with the run that is not counted
        self.assertGreater(found["replayed"], 0)
        found = json.loads(self.shell(f"LD_PRELOAD= {script}", "--runs", 2, "--json").stdout)
        self.assertEqual((found["stdout"], found["ops"], found["replayed"]), ("same", 0, 0))
        said = self.shell(script, "--runs", 2, status=0).stdout
        self.assertRegex(said, r"; \d\d?\.\d % of [\d,]+ launches replayed\n$")
        self.assertRegex(said, r"\nstdout: the same, \d+ bytes\nstderr: the same, 0 bytes\n")

    def test_output_that_differs(self):
        said = self.shell("echo same; echo $REPRISE >&2", "--runs", 2, status=1).stdout
        self.assertIn("\nstdout: the same, 5 bytes\nstderr: differs, first in line 1\n  without  off\n  with     on\nreprise: ", said)
        found = json.loads(self.shell("echo $REPRISE; date +%N >&2", "--runs", 2, "--json", status=1).stdout)
        self.assertEqual((found["stdout"], found["stderr"]), ("differs", "varies"))
        self.assertIn("\nstdout: varies from run to run without Reprise, too\n", self.shell("date +%N", "--runs", 2).stdout)

    def test_all_runs_get_the_same_input(self):
        found = json.loads(self.bench("--runs", 3, "--json", "--", "cat", status=3, stdin=None, input="one\ntwo\n").stdout)
        self.assertEqual(found["stdout"], "same")
        self.assertIn("\nstdout: the same, 8 bytes\n", self.bench("--runs", 1, "--", "cat", status=3, stdin=None, input="one\ntwo\n").stdout)

    def test_a_program_that_fails_is_not_measured(self):
        outcome = self.shell("echo run >> count; exit 5", status=2)
        self.assertEqual((outcome.stdout, outcome.stderr), ("", "reprise: sh ended with status 5 without Reprise: what fails is not measured\n"))
        self.assertEqual((self.folder / "count").read_text(), "run\n")
        outcome = self.shell("[ $REPRISE = off ] || kill -SEGV $$", status=1)
        self.assertEqual((outcome.stdout, outcome.stderr), ("", "reprise: sh ended with signal 11 with Reprise, and with status 0 without\n"))

    def test_a_program_that_fails_later(self):
        outcome = self.shell('[ $REPRISE = on ] || echo run >> count; [ $REPRISE = on ] || [ $(wc -l < count) -lt 4 ]', "--json", status=2)
        self.assertEqual((outcome.stdout, outcome.stderr), ("", "reprise: sh ended with status 1 without Reprise: what fails is not measured\n"))
        self.assertEqual((self.folder / "count").read_text(), "run\n" * 4)

    def test_a_program_that_cannot_be_started(self):
        for word, status, why in (("./missing", 127, "No such file or directory"), (str(self.folder), 126, "Permission denied")):
            outcome = self.bench("--", word, status=status)
            self.assertEqual((outcome.stdout, outcome.stderr), ("", f"reprise: cannot start {word}: {why}\n"))

    def test_who_ends_it(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            for run in "off", "on":
                with self.subTest(number.name, run=run):
                    (self.folder / "process").unlink(missing_ok=True)
                    script = f"[ $REPRISE = {run} ] || exit 0; echo $$ > new; mv new process; exec sleep 60"
                    process = subprocess.Popen([REPRISE, "bench", "--", "sh", "-c", script], env=self.environment(), cwd=self.folder,
                                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                               preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
                    self.addCleanup(process.communicate)
                    self.addCleanup(process.kill)
                    child = int(until(lambda: (self.folder / "process").exists() and (self.folder / "process").read_text(), "the program runs"))
                    process.send_signal(number)
                    self.assertEqual(process.wait(PATIENCE_S), -number)
                    self.assertEqual((process.stdout.read(), state(child)), ("", ""))
                    self.assertEqual(list(self.temporary.iterdir()), [])


if __name__ == "__main__":
    beside.main(sys.argv[2:])
