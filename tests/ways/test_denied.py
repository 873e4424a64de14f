#!/usr/bin/env python3
"""The deny list, with whole programs: each way that a list is given in, names of C++ mangled and in its own words, and what a report tells of them.

usage: test_denied.py BUILD
"""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lib import runs

BUILD = Path(sys.argv[1]).resolve()
REPRISE = BUILD / "src" / "cli" / "reprise"
HAZARDS = BUILD / "tests" / "hazards" / "hazards"
# Launches chain::turn twice in each iteration, among eight of chain::turn_back.
PROGRAM = [HAZARDS, BUILD / "tests" / "programs" / "driver_kernels.so", "denied_template"]
ITERATIONS = 1200    # as in hazard.h
NAMED, OTHERS = 2 * ITERATIONS, 8 * ITERATIONS
ALIKE = "_ZN5chain9turn_backIjEEvPT_PKS1_S1_"
MANGLED, WORDS = "_ZN5chain4turnIjEEvPT_PKS1_S1_", "void chain::turn<unsigned int>(unsigned int*, unsigned int const*, unsigned int)"
DEADLINE = 100


class Denied(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "reprise").mkdir()
        self.environment = runs.simulated(BUILD) | {"XDG_CONFIG_HOME": str(self.folder), "REPRISE_PAYS": "assumed"}
        self.plain = subprocess.run(PROGRAM, env=self.environment, capture_output=True, text=True, timeout=DEADLINE, check=True)

    def report(self, *options, **environment):
        """Of the program, which has to print what it prints without Reprise."""
        path = self.folder / "report.json"
        done = subprocess.run([REPRISE, "run", "--report", path, *options, "--", *PROGRAM], env=self.environment | environment, capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual((done.returncode, done.stdout), (0, self.plain.stdout), done.stderr)
        return json.loads(path.read_text())

    def is_eager(self, report):
        """The kernel alone is; the others are replayed as ever. Of its launches, the first ones are told as such, or as not looked at."""
        self.assertLessEqual(report["unfit"]["denied"], NAMED)
        self.assertGreater(report["unfit"]["denied"], NAMED / 2)
        self.assertGreater(report["replayed"], OTHERS / 2)
        self.assertLessEqual(report["replayed"], OTHERS)
        self.assertEqual({kernel["name"] for kernel in report["kernels"] if kernel["replayed"]}, {ALIKE})

    def test_a_name_mangled_or_in_words_is_the_same_kernel(self):
        for names in MANGLED, "_ZN5chain4turnI*", WORDS, "chain::turn<unsigned int>", "chain::turn", "turn", "other,ch*::turn,":
            with self.subTest(names=names):
                self.is_eager(self.report("--deny", names))

    def test_what_is_another_name_denies_nothing(self):
        for names in "chain", "chain::tur", "chain::turn_", "other::turn", "chain::turn::", MANGLED[:-1], "_Z4turn*", "":
            with self.subTest(names=names):
                report = self.report("--deny", names)
                self.assertNotIn("denied", {reason for reason, count in report["unfit"].items() if count})
                self.assertGreater(report["replayed"], OTHERS)

    def test_the_environment_and_a_profile_have_such_names_too(self):
        profile = self.folder / "reprise" / "hazards.conf"
        for names in MANGLED, "chain::turn":
            with self.subTest(names=names):
                report = self.report(REPRISE_DENY=names)
                self.is_eager(report)
                self.assertEqual(report["options"]["REPRISE_DENY"], {"value": names, "from": "environment"})
                for key in "REPRISE_DENY", "deny", "--deny":
                    profile.write_text(f"{key} = {names}\n")
                    report = self.report()
                    self.is_eager(report)
                    self.assertEqual(report["options"]["REPRISE_DENY"], {"value": names, "from": str(profile)})
                profile.unlink()

    def test_what_is_denied_is_told_as_such(self):
        denied = self.report("--deny", "chain::turn")["unfit"]["denied"]
        shown = subprocess.run([REPRISE, "report", self.folder / "report.json"], env=self.environment, capture_output=True, text=True, timeout=DEADLINE)
        self.assertRegex(shown.stdout, rf"(?m)^  cannot be graphed: denied +{denied:,} +[\d.]+ %  kernel on the deny list \(REPRISE_DENY\)$")


if __name__ == "__main__":
    runs.hear_signals()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
