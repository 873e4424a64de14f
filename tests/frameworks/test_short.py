#!/usr/bin/env python3
"""scripts/short: with loops whose times are known, with a stand-in for Reprise that tells them that it is there; and whole, on the simulated driver.

usage: test_short.py BUILD PAUSING
"""
import argparse
import json
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
BUILD, PAUSING = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
sys.path.insert(0, str(TOP / "scripts"))
from lib import load, loops, short_judge    # noqa: E402

SCRIPT = TOP / "scripts" / "short"
PATIENCE_S = 200
LOOP = '''
import ctypes, time
def setup():
    under = hasattr(ctypes.CDLL(None), "reprise_pause")
    open(__file__ + ".log", "a").write("u" if under else "p")
    time.sleep({setup} * under)
    steps = [0]
    def step():
        steps[0] += 1
        time.sleep({under} if under and steps[0] <= {until} else 0.001)
        {each}
    return step, lambda: None, lambda: [{outputs}]
'''
short = load("scripts/short")


class Short(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.json = self.folder / "lines"

    def loop(self, name, **parts):
        path = self.folder / f"{name}.py"
        path.write_text(LOOP.format(**{"setup": 0, "under": 0.001, "until": math.inf, "each": "", "outputs": "steps"} | parts).replace("<= inf", "> 0"))
        return loops.Loop(name, name, [sys.executable, str(loops.RUNNER), str(path)], digests=True)

    def measured(self, *made_up, marks=(0.1, 0.3), **more):
        settings = argparse.Namespace(**{"build": BUILD, "loops": made_up, "pairs": 1, "marks": list(marks), "seconds": marks[-1], "batch": 1, "gpus": 1, "limit": math.inf, "json": self.json, "simulated": False} | more)
        return short.measure(settings, PAUSING)

    def test_what_is_slower_is_told_at_each_mark(self):
        (slow, begins_late), _ = self.measured(self.loop("slow", under=0.01), self.loop("late", setup=0.5), pairs=6)
        self.assertGreater(slow.ratio(0)[1][0], 2)
        self.assertGreater(slow.longer_ms(1), slow.longer_ms(0))
        self.assertGreater(slow.longer_ms(0), 0)
        self.assertTrue(slow.is_slower(0) and slow.is_slower(1))
        self.assertFalse(begins_late.is_slower(0))
        self.assertGreater(begins_late.setup_ms(), 300)
        self.assertTrue(slow.same())
        self.assertEqual(list(short_judge.summary([slow, begins_late]))[0].split("; ")[1], "more than 1.01 x, with its whole interval: slow.")

    def test_what_is_slower_at_first_is_slower_less_and_less(self):
        (learns,), _ = self.measured(self.loop("learns", under=0.01, until=20), marks=(0.1, 2), pairs=1)
        self.assertGreater(learns.longer_ms(0), 80)
        self.assertGreater(learns.ratio(0)[0], learns.ratio(1)[0])
        late = [line for line in short_judge.summary([learns]) if line.startswith("The first 2 s")]
        self.assertEqual(late, ["The first 2 s take more than 20 ms longer, in the median: learns."])

    def test_both_do_as_many_steps_in_random_order(self):
        (each,), _ = self.measured(self.loop("pairs"), pairs=6)
        for pair in each.pairs:
            plain, under = (pair.said[side] for side in short_judge.SIDES)
            self.assertEqual(plain, under)
            self.assertEqual([len(seconds) for seconds in pair.seconds.values()], [2, 2])
        order = (self.folder / "pairs.py.log").read_text()
        self.assertEqual((len(order), order.count("u")), (12, 6))
        self.assertEqual({order[i:i + 2] for i in range(0, 12, 2)}, {"up", "pu"})
        lines = [json.loads(line) for line in self.json.read_text().splitlines()]
        self.assertEqual([(line["loop"], line["pair"], line["error"], line["same"]) for line in lines], [("pairs", which, None, True) for which in range(1, 7)])

    def test_what_fails_or_differs_is_named(self):
        measured, _ = self.measured(self.loop("fails", each="under and 1 / 0"), self.loop("plain", each="under or 1 / 0"), self.loop("differs", outputs="[steps[0], int(under)]"))
        self.assertEqual(list(short_judge.errors(measured)), ["fails, pair 1: under Reprise: status 1: ZeroDivisionError: division by zero", "plain, pair 1: without Reprise: status 1: ZeroDivisionError: division by zero"])
        self.assertFalse(measured[2].same())
        page = short_judge.document({"GPU": "none", "date": "today"}, measured, ["other: no time was left for 1 of its pairs"])
        self.assertIn("| differs | 1 |", page)
        self.assertIn("| **differ** |", page)
        self.assertIn("## Not measured\n\n- fails, pair 1: ", page)

    def test_no_pair_begins_after_the_limit(self):
        measured, left_out = self.measured(self.loop("one"), self.loop("two"), limit=0.1, pairs=2)
        self.assertEqual(([(each.loop.name, len(each.good)) for each in measured], left_out), ([("one", 1)], ["one: no time was left for 1 of its pairs", "two: no time was left for 2 of its pairs"]))

    def test_on_the_simulated_driver(self):
        done = subprocess.run([SCRIPT, BUILD, "--simulated", "--marks", "0.1,0.2", "--write", self.folder / "pages"], capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        (page,) = (self.folder / "pages").iterdir()
        self.assertIn(page.read_text(), done.stdout)
        self.assertRegex(page.read_text(), r"\n\| chain \| 1 \| .* \| the same \|\n")

    def test_marks_rise(self):
        for marks in ("0,1", "1,1", "2,1", "x"):
            done = subprocess.run([SCRIPT, "--marks", marks], capture_output=True, text=True, timeout=PATIENCE_S)
            self.assertEqual(done.returncode, 2, marks)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
