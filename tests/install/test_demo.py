#!/usr/bin/env python3
"""scripts/demo on the simulated driver: that it replays, and that it fails and says so where it does not, or where the output differs.

usage: test_demo.py BUILD

Nothing is installed or built: what would do that is a command that does nothing.
"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

from lib import runs

TOP = Path(__file__).resolve().parents[2]
BUILD = Path(sys.argv[1]).resolve()
LEAST = 95    # per cent
LINE = re.compile(r"^  reprise: ([\d.]+) % of ([\d,]+) launches replayed", re.M)
NO_TOOL = "#!/bin/sh\n[ \"$1\" != --version ] || echo 1.9.9\n[ \"${0##*/}\" != nvidia-smi ]\n"
# In place of a program that takes seconds.
PROGRAM = "#!/bin/sh\necho digest=1\necho 'cuLaunchKernel 1' >\"$SIM_STATS\"\n"
# In place of what takes long: it goes on only when that file is there.
WAITS = "until [ -e {} ]; do sleep 0.01; done\n"
BUILDS = "#!/bin/sh\necho '[1/300] one'\necho '[100/300] another'\n{waits}echo '[300/300] the last'\n"
# In place of the command: runs the program, and says what is told to.
SAYS = "#!/bin/sh\n[ \"$1\" != report ] || {{ echo page >\"$4\"; exit; }}\nwhile [ \"$1\" != -- ]; do shift; done\nshift\n\"$@\"\n{after}\necho '{line}' >&2\n"


class Demo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        tools = self.folder / "tools"
        toolkit = self.folder / "toolkit" / "include"
        self.build = self.folder / "build"
        for made in (tools, toolkit, self.build / "src" / "cli"):
            made.mkdir(parents=True)
        for name in ("meson", "ninja", "nvidia-smi", "apt-get", "sudo"):
            (tools / name).write_text(NO_TOOL)
            (tools / name).chmod(0o755)
        (toolkit / "cuda.h").write_text("#define CUDA_VERSION 13000\n")
        for name in ("scripts", "tests"):
            (self.folder / name).symlink_to(TOP / name)
        (self.build / "preload").symlink_to(BUILD / "preload")
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("REPRISE") and key not in ("DISPLAY", "WAYLAND_DISPLAY")} | {
            "PATH": f"{tools}:{os.environ['PATH']}", "CUDA_HOME": str(toolkit.parent), "BUILD": "build"}

    def demo(self, command):
        """Runs the demonstration with that in place of the command `reprise`."""
        return subprocess.run(self.words(command), env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=110)

    def words(self, command):
        (self.build / "src" / "cli" / "reprise").unlink(missing_ok=True)
        if isinstance(command, Path):
            (self.build / "src" / "cli" / "reprise").symlink_to(command)
        else:
            (self.build / "src" / "cli" / "reprise").write_text(command)
            (self.build / "src" / "cli" / "reprise").chmod(0o755)
        # By its own path it would go to the checkout's top folder, and its build.
        script = f"cd {self.folder}; . scripts/lib/lib.sh; " + (TOP / "scripts" / "demo").read_text().partition(". scripts/lib/lib.sh")[2]
        return ["bash", "-euc", script, "demo"]

    def program_in_place_of_the_real_one(self):
        folder = self.build / "tests" / "programs"
        folder.mkdir(parents=True)
        (folder / "heat-driver").write_text(PROGRAM)
        (folder / "heat-driver").chmod(0o755)

    def judged(self, line, status, *texts, after=""):
        outcome = self.demo(SAYS.format(line=line, after=after))
        self.assertEqual(outcome.returncode, status, outcome.stdout + outcome.stderr)
        for text in texts:
            self.assertIn(text, outcome.stdout)
        self.assertEqual("LESS THAN" in outcome.stdout, status == 1 and not after)

    def test_what_it_says_is_what_was_replayed(self):
        (self.build / "tests").symlink_to(BUILD / "tests")
        outcome = self.demo(BUILD / "src" / "cli" / "reprise")
        self.assertEqual(outcome.returncode, 0, outcome.stdout + outcome.stderr)
        share, launches = LINE.search(outcome.stdout).groups()
        self.assertGreaterEqual(float(share), LEAST, outcome.stdout)
        self.assertEqual(launches, "1,200,000")
        self.assertIn("output: identical", outcome.stdout)
        eager, under = map(int, re.search(r"^  cuLaunchKernel +(\d+) +(\d+)$", outcome.stdout, re.M).groups())
        self.assertLessEqual(under, eager * (100 - LEAST) / 100)
        self.assertNotRegex(outcome.stdout.partition("It took")[0], r"\d (s|ms|us)\b")    # they mean nothing on the simulated driver
        page = self.folder / "build" / "demo" / "heat.html"
        self.assertEqual(outcome.stdout.splitlines()[-1], f"The report, as a page: {page} (its times are the simulated driver's, and mean nothing)")
        self.assertIn("heat-driver", page.read_text())
        self.assertRegex(outcome.stdout, r"(?m)^It took \d+ s: \d+ s to set the build up, \d+ s to build, \d+ s to run the programs\.$")
        with_ = re.search(r"(?m)^To go on with the same program: export (\w+)=(.*), and$", outcome.stdout)
        for line in re.findall(r"(?m)^  (\S+/reprise .*)$", outcome.stdout):
            again = subprocess.run(line, shell=True, env=os.environ | {with_[1]: with_[2]}, cwd=self.folder, capture_output=True, text=True, timeout=60)
            said = again.stdout + again.stderr
            self.assertEqual(again.returncode, 0, said)
            self.assertNotRegex(said, r"(?m)^step ")
            if " observe " not in line:    # as the demonstration itself
                self.assertGreater(float(re.search(r"([\d.]+) % of 120,000 launches replayed", said)[1]), 50, said)

    def test_how_far_it_is_is_told_meanwhile(self):
        """What is told of comes to its end only when that was read."""
        self.program_in_place_of_the_real_one()
        go = {name: self.folder / name for name in ("built", "run eagerly", "run under Reprise")}
        waits = {name: WAITS.format(f"'{path}'") for name, path in go.items()}
        (self.folder / "tools" / "ninja").write_text(BUILDS.format(waits=waits["built"]))
        program = self.build / "tests" / "programs" / "heat-driver"
        program.write_text(PROGRAM + waits["run eagerly"])
        says = SAYS.format(line="reprise: 99.0 % of 1,200,000 launches replayed", after=waits["run under Reprise"])
        with subprocess.Popen(self.words(says), env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True) as demo:
            patience = threading.Timer(60, os.killpg, (demo.pid, signal.SIGKILL))
            patience.start()
            for line, then in (("  100 of 300", "built"), ("  300 of 300", None), ("running heat-driver eagerly", "run eagerly"),
                               ("running heat-driver under Reprise", "run under Reprise"), ("The outputs are identical.", None)):
                self.assertIn(line + "\n", iter(demo.stdout.readline, ""))
                if then:
                    go[then].touch()
            demo.stdout.read()
            self.assertEqual(demo.wait(), 0)
            patience.cancel()

    def test_the_page_is_opened_where_there_is_a_desktop(self):
        self.program_in_place_of_the_real_one()
        opened = self.folder / "opened"
        opener = self.folder / "tools" / "xdg-open"
        opener.write_text(f'#!/bin/sh\necho "$1" >{opened}.part; mv {opened}.part {opened}\n')
        opener.chmod(0o755)
        self.judged("reprise: 99.0 % of 1,200,000 launches replayed", 0)
        self.assertFalse(opened.exists())
        self.environment["DISPLAY"] = ":9"
        self.judged("reprise: 99.0 % of 1,200,000 launches replayed", 0)
        runs.until(opened.exists, "the page is opened")
        self.assertEqual(opened.read_text(), f"{self.folder}/build/demo/heat.html\n")

    def test_enough(self):
        self.program_in_place_of_the_real_one()
        self.judged("reprise: 95.0 % of 1,200,000 launches replayed", 0)
        self.judged("reprise: 100.0 % of 1,200,000 launches replayed, 1.31 x faster, measured in 42 turns, 1.27 to 1.35", 0)

    def test_too_little(self):
        self.program_in_place_of_the_real_one()
        for line in ("reprise: 94.9 % of 1,200,000 launches replayed", "reprise: 9.9 % of 1,200,000 launches replayed", "reprise: replayed 0 of 1,200,000 launches", "reprise: "):
            with self.subTest(line=line):
                self.judged(line, 1, f"LESS THAN {LEAST} %", "The outputs are identical.")

    def test_another_output(self):
        self.program_in_place_of_the_real_one()
        self.judged("reprise: 99.0 % of 1,200,000 launches replayed", 1, "THE OUTPUTS DIFFER", "DIFFERENT", after="echo digest=0")

    def test_no_page(self):
        self.program_in_place_of_the_real_one()
        command = SAYS.format(line="reprise: 99.0 % of 1,200,000 launches replayed", after="").replace('echo page >"$4"; exit', "exit 3")
        outcome = self.demo(command)
        self.assertEqual((outcome.returncode, outcome.stdout.splitlines()[-1]), (1, "NO PAGE WAS MADE OF THE REPORT."))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
