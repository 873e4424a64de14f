#!/usr/bin/env python3
"""scripts/turns: with loops whose times are known, which a stand-in for Reprise tells if they are paused; and whole, on the simulated driver.

usage: test_turns.py BUILD PAUSING
"""
import argparse
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD, PAUSING = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(TOP / "scripts"))
from lib import load, loops, paired, turns_judge    # noqa: E402

SCRIPT = TOP / "scripts" / "turns"
PATIENCE_S = 200
# How long a step takes, in milliseconds: so different that a busy machine makes no other order of them.
LOOP = '''
import ctypes, time
{before}
def setup():
    {first}
    try:
        paused = ctypes.c_int.in_dll(ctypes.CDLL(None), "paused")
    except ValueError:
        paused = None    # without Reprise
    steps = [0]
    def step():
        steps[0] += 1
        time.sleep({plain} if paused is None else {paused} if paused.value else {replaying})
        {each}
    return step, lambda: None, lambda: [{outputs}]
'''
QUICK, SLOW = 0.001, 0.02
LONG_S = 5    # for four times as many pairs as an interval takes
turns = load("scripts/turns")


class Turns(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.json = self.folder / "lines"

    def loop(self, name, **parts):
        path = self.folder / f"{name}.py"
        path.write_text(LOOP.format(**{"before": "", "first": "", "each": "", "outputs": "steps", "plain": QUICK, "replaying": QUICK, "paused": QUICK} | parts))
        return loops.Loop(name, name, [sys.executable, str(loops.RUNNER), str(path)], digests=True)

    def settings(self, *made_up, seconds=1, **more):
        return argparse.Namespace(**{"build": BUILD, "loops": made_up, "seconds": seconds, "turn": 0.05, "processes": 1, "together": 1, "batch": 1, "gpus": 1, "observe": 0, "limit": math.inf, "json": self.json,
                                     "reports": None, "earlier": [], "simulated": False} | more)

    def measured(self, *made_up, **more):
        settings = self.settings(*made_up, **more)
        measured, left_out = turns.measure(settings, PAUSING)
        turns.compare_all(settings, measured)
        return [turns_judge.Measured(each.loop, each.processes) for each in measured], left_out

    def lines(self):
        return [json.loads(line) for line in self.json.read_text().splitlines()]

    def test_a_loop_that_gains(self):
        (each,), _ = self.measured(self.loop("gains", paused=SLOW), seconds=LONG_S)
        gain, (least, greatest) = each.gain()
        self.assertGreater(least, 1)
        self.assertLessEqual(least, gain)
        self.assertLessEqual(gain, greatest)
        self.assertEqual((each.outputs(), each.processes[0].error), ("the same", None))
        self.assertEqual(each.processes[0].said, each.processes[0].plain_said)
        under, compared = self.lines()
        self.assertEqual((under["loop"], under["process"], under["same"], compared["same"]), ("gains", 1, None, True))
        self.assertGreater(under["gain"], 1)

    def test_a_loop_that_loses(self):
        (each,), _ = self.measured(self.loop("loses", replaying=SLOW), seconds=LONG_S)
        self.assertLess(each.gain()[1][1], 1)
        self.assertIn("Gain below 0.99: loses.", list(turns_judge.summary([each])))

    def test_the_first_seconds_beside_those_without_reprise(self):
        (quick, slow), _ = measured = self.measured(self.loop("quick", plain=5 * QUICK), self.loop("slow", replaying=5 * QUICK))
        self.assertLess(quick.processes[0].learning_ms(), 0)
        self.assertGreater(slow.processes[0].learning_ms(), 0)
        self.assertGreater(quick.processes[0].plain_us(), slow.processes[0].plain_us())
        self.assertLess({"without, us", "learning"}, set(turns_judge.table(measured[0]).splitlines()[0].strip("| ").split(" | ")))

    def test_turns_come_in_random_order(self):
        loop = self.loop("order", each='open(__file__ + ".log", "a").write("." if paused is None else "er"[paused.value == 0])')
        (each,), _ = self.measured(loop, seconds=LONG_S)
        order = "".join(side for side, _ in itertools.groupby((self.folder / "order.py.log").read_text().partition(".")[0]))
        pairs = len(each.processes[0].turns["eager"])
        self.assertLess(len(order), 1 + 2 * pairs)    # somewhere two turns of a side follow each other; of 20 pairs or so, nearly for sure: the order is drawn by the loop's name

    def test_outputs_that_differ_are_found(self):
        (each, other), _ = self.measured(self.loop("differs", outputs="[steps[0], int(paused is None)]"), self.loop("agrees"))
        self.assertEqual((each.outputs(), other.outputs()), ("**differ**", "the same"))
        self.assertIs(self.lines()[-2]["same"], False)

    def test_a_loop_that_fails_is_named_and_the_next_one_comes(self):
        failing = {"imports": ({"before": "import no_such_library"}, "under Reprise: status 1: ModuleNotFoundError: No module named 'no_such_library'"),
                   "sets_up": ({"first": "raise OSError('no weights')"}, "under Reprise: status 1: OSError: no weights"),
                   "steps": ({"each": "steps[0] < 50 or 1 / 0"}, "under Reprise: status 1: ZeroDivisionError: division by zero"),
                   "leaves": ({"each": "steps[0] < 50 or __import__('os')._exit(3)"}, "under Reprise: status 3: it said nothing"),
                   "infinite": ({"outputs": "[float('nan')]"}, "under Reprise: status 1: ValueError: what the loop computes is not finite, so that a digest would say little"),
                   "plain": ({"each": "paused is not None or 1 / 0"}, "without Reprise: status 1: ZeroDivisionError: division by zero")}
        measured, _ = self.measured(*(self.loop(name, **parts) for name, (parts, _) in failing.items()), self.loop("last"))
        self.assertEqual(list(turns_judge.errors(measured)), [f"{name}, process 1: {error}" for name, (_, error) in failing.items()])
        self.assertEqual((measured[-1].loop.name, measured[-1].outputs()), ("last", "the same"))
        page = turns_judge.document({"GPU": "none", "date": "today"}, measured, ["other: no time was left"])
        self.assertEqual([line.split(" | ")[0] for line in page.splitlines() if line.startswith("| ")], ["| loop", "| last"])
        self.assertIn("## Not measured\n\n- imports, process 1: ", page)
        self.assertIn("- other: no time was left\n", page)

    def test_so_many_steps_without_turns(self):
        command = [*self.loop("alone", before='print("imported")').command, "--steps", "7"]
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_S)
        self.assertRegex(done.stdout, r"^steps=7 checksum=[0-9a-f]{32}\n$")
        self.assertEqual((done.returncode, done.stderr), (0, "imported\n"))

    def test_what_a_library_prints_is_no_answer(self):
        (each,), _ = self.measured(self.loop("prints", before='print("us=5 checksum=6")', each='print("us=7", flush=True)'))
        self.assertEqual((each.processes[0].error, each.outputs()), (None, "the same"))

    def test_no_loop_begins_after_the_limit(self):
        measured, left_out = self.measured(self.loop("one"), self.loop("two"), self.loop("three"), limit=0.5)
        self.assertEqual(([each.loop.name for each in measured], left_out), (["one"], ["two: no time was left", "three: no time was left"]))

    def test_loops_beside_each_other(self):
        made_up = [self.loop(name, first="import os; os.environ['CUDA_VISIBLE_DEVICES']") for name in ("one", "two", "three")]
        measured, left_out = self.measured(*made_up, gpus=2, processes=2)
        self.assertEqual(([(each.loop.name, len(each.good)) for each in measured], left_out), ([("one", 2), ("two", 2), ("three", 2)], []))
        places = list(loops.places(2))
        self.assertEqual([place.environment for place in places], [{"CUDA_VISIBLE_DEVICES": "0"}, {"CUDA_VISIBLE_DEVICES": "1"}])
        processors = [set(place.prefix[-1].split(",")) for place in places]
        self.assertTrue(all(processors))
        if len(os.sched_getaffinity(0)) > 1:
            self.assertFalse(processors[0] & processors[1])

    def test_what_there_was_no_time_to_compare_is_named(self):
        made_up = [self.loop("quick"), self.loop("endless", plain=PATIENCE_S, paused=QUICK)]
        settings, ends = self.settings(*made_up), time.monotonic() + LONG_S
        measured, _ = turns.measure(settings, PAUSING)
        late = turns.compare_all(settings, measured, ends)
        self.assertLess(time.monotonic() - ends, LONG_S)
        self.assertEqual(late, ["endless: the outputs of 1 process were not compared: no time was left"])
        self.assertEqual([(each.outputs(), each.processes[0].error) for each in measured], [("the same", None), ("not compared", None)])
        late = turns.compare_all(settings, measured, time.monotonic())    # none is begun, and what is known stays
        self.assertEqual(late, ["endless: the outputs of 1 process were not compared: no time was left"])

    def test_a_program_that_is_not_built_is_left_out(self):
        measured, left_out = self.measured(loops.Loop("other", "other", [str(self.folder / "missing"), "--turns"]), self.loop("one"))
        self.assertEqual(([each.loop.name for each in measured], left_out), (["one"], ["other: missing is not built"]))

    def test_several_processes_are_pooled(self):
        (each,), _ = self.measured(self.loop("several", paused=SLOW), processes=4, together=2, batch=3)
        self.assertEqual(len(each.pooled("eager")), sum(len(process.turns["eager"]) for process in each.processes))
        self.assertIn("processes", turns_judge.table([each]))
        self.assertEqual((each.cells()["learning"], each.cells()["without, us"]), ("–", "–"))    # not timed beside each other

    def test_all_processes_of_a_loop_are_compared_with_one(self):
        mark = 'paused is None and open(__file__ + ".log", "a").write("x")'
        (each, other), _ = self.measured(self.loop("agrees", first=mark.replace("paused is None", "not hasattr(ctypes.CDLL(None), 'paused')")), self.loop("differs", outputs="[steps[0], int(paused is None)]"),
                                         processes=3, together=2)
        self.assertEqual(((self.folder / "agrees.py.log").read_text(), each.outputs(), other.outputs()), ("x", "the same", "**differ**"))
        self.assertEqual([(process.error, process.said) for process in each.processes], [(None, process.plain_said) for process in each.processes])
        self.assertGreater(len({process.said["steps"] for process in each.processes}), 1)
        (failing,), _ = self.measured(self.loop("fails", each="paused is not None or steps[0] < 500 or 1 / 0"), processes=2, together=2)
        self.assertEqual({process.error for process in failing.processes}, {"without Reprise: status 1: ZeroDivisionError: division by zero"})

    def test_processes_of_an_earlier_run_are_in_the_table_too(self):
        made_up = [self.loop("one"), self.loop("two")]
        first, _ = self.measured(*made_up, processes=2, together=2)
        earlier, self.json = self.json, self.folder / "later"
        later, _ = self.measured(made_up[1], together=2)
        both = turns.with_earlier(self.settings(*made_up, earlier=[earlier]), later)
        self.assertEqual([(each.loop.name, len(each.good), each.outputs()) for each in both], [("one", 2, "the same"), ("two", 3, "the same")])
        self.assertEqual(both[0].line(), first[0].line())
        self.assertEqual(sorted(both[1].pooled("replay")), sorted([*first[1].pooled("replay"), *later[0].pooled("replay")]))

    def test_what_observe_expects_is_held_against_the_gain(self):
        process, expected = turns_judge.Process(), []
        process.turns = {"eager": [{"us": 130, "cpu_us": 1}] * 9, "replay": [{"us": 100, "cpu_us": 1}] * 9}
        for us in (100, 90, 75, 150, None, -5):
            observed = turns_judge.Process()
            observed.observed_us, observed.expected_us = 120, us
            expected.append(turns_judge.Measured(loops.Loop("loop", "loop", []), [process], observed))
        self.assertEqual([each.cells()["observe expects"] for each in expected], ["1.20", "1.33", "1.60", "0.80", "–", "–"])
        self.assertEqual(list(turns_judge.of_expectations(expected)), ["`observe` expects something of 4 loops: within 15 % of the gain in 2."])
        self.assertEqual(list(turns_judge.of_expectations([turns_judge.Measured(each.loop, each.processes) for each in expected])), [])

    def test_what_reprise_says_has_a_column_only_where_it_says_something(self):
        (each,), _ = self.measured(self.loop("says"))
        self.assertNotIn("Reprise says", turns_judge.table([each]))
        each.processes[0].report = {"turns": {"verdict": "replay", "gain": 1310}}
        self.assertEqual(each.cells()["Reprise says"], "1.31")
        self.assertIn("Reprise says", turns_judge.table([each]))

    def test_of_a_loop_that_is_left_eager_reprise_says_that_nothing_is_gained(self):
        process = turns_judge.Process()
        for verdict, says in (("eager", 1), ("costly", 1), ("bound", 1), ("unclear", 1), ("replay", 0.87), ("undecided", None)):
            process.report = {"turns": {"verdict": verdict, "gain": 870}}
            self.assertEqual(process.own_gain(), says, verdict)
        process.report = {}
        self.assertIsNone(process.own_gain())

    def test_what_reprise_says_is_held_against_what_is_measured(self):
        told = []
        for gain, own in ((1.3, 1.32), (1.3, 1.36), (1.3, 1.5)):
            process = turns_judge.Process()
            process.turns = {"eager": [{"us": 100 * gain * (1 + 0.02 * pair), "cpu_us": 1} for pair in range(-4, 5)], "replay": [{"us": 100, "cpu_us": 1}] * 9}
            process.report = {"turns": {"verdict": "replay", "gain": round(1000 * own)}}
            told.append(turns_judge.Measured(loops.Loop("loop", "loop", []), [process]))
        self.assertIn("Reprise has a verdict on 3 loops. What it tells is within 3 % of the gain measured from outside in 1, and within its interval in 2.", list(turns_judge.summary(told)))

    def test_on_the_simulated_driver(self):
        done = subprocess.run([SCRIPT, BUILD, "--simulated", "--seconds", "1", "--turn", "0.05", "--observe", "0.5", "--json", self.json, "--reports", self.folder / "kept" / "reports", "--write", self.folder / "pages"], capture_output=True, text=True,
                              timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        observed = [line for line in self.lines() if line["process"] == 0]
        self.assertEqual([(line["loop"], line["error"], line["expected_us"] is not None) for line in observed], [("driver_api", None, True), ("chain", None, True)])
        measured = [line for line in self.lines() if line["process"] > 0]
        for line in measured:
            self.assertIsNone(line["error"])
            self.assertGreater(line["report"]["paused_ops"], 0)    # by turns it was paused, and by turns it was not
            self.assertGreater(line["report"]["ops"], 0)
        self.assertEqual([(line["loop"], line["same"]) for line in measured], [("driver_api", None), ("chain", None), ("driver_api", True), ("chain", True)])
        kept = {path.name: json.loads(path.read_text()) for path in (self.folder / "kept" / "reports").iterdir()}
        self.assertEqual(sorted(kept), ["chain-1.json", "driver_api-1.json"])
        for line in measured[:2]:
            report = kept[f"{line['loop']}-{line['process']}.json"]
            self.assertTrue(report["complete"])
            self.assertEqual({name: report[name] for name in line["report"]}, line["report"])
        (page,) = (self.folder / "pages").iterdir()
        self.assertIn(page.read_text(), done.stdout)
        self.assertRegex(page.read_text(), r"\n\| chain \| .* \| the same \|\n")

    def test_a_loop_that_there_is_not(self):
        done = subprocess.run([SCRIPT, "--only", "torch_fused,missing"], capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (2, "turns: error: no loop missing; --list names them"))
        named = subprocess.run([SCRIPT, "--only", "torch_fused,chain20", "--list"], capture_output=True, text=True, timeout=PATIENCE_S).stdout
        self.assertEqual([line.split()[0] for line in named.splitlines()], ["torch_fused", "chain20"])


class Pairs(unittest.TestCase):
    def test_the_interval_is_that_of_the_signed_ranks(self):
        for count, critical in ((5, None), (6, 0), (8, 3), (10, 8), (20, 52)):    # Wilcoxon's table, two-sided, 0.05
            self.assertEqual(paired.outside(count), 0 if critical is None else critical + 1)

    def test_it_is_exact(self):
        for count in (6, 7, 9):
            sums = sorted(sum(rank for rank, sign in enumerate(signs, 1) if sign) for signs in itertools.product((0, 1), repeat=count))
            cut = paired.outside(count)
            self.assertLessEqual(2 * sum(found < cut for found in sums) / len(sums), 0.05)
            self.assertGreater(2 * sum(found <= cut for found in sums) / len(sums), 0.05)

    def test_the_ratio(self):
        ratio, ends = paired.ratio([2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 200], [1] * 12)
        self.assertAlmostEqual(ratio, 2)
        self.assertAlmostEqual(ends[1], 2)    # one that was disturbed moves little
        self.assertIsNone(paired.ratio([2, 2], [1, 1])[1])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
