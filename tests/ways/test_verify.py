#!/usr/bin/env python3
"""reprise verify, which runs a program twice and compares, and reprise run --verify.

usage: test_verify.py BUILD
"""
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lib import runs

BUILD = Path(sys.argv[1]).resolve()
REPRISE = BUILD / "src" / "cli" / "reprise"
ENVIRONMENT = runs.simulated(BUILD) | {"REPRISE_PAYS": "assumed"}
# Some ops for which the loop's time is not printed: to stdout goes what it has computed.
LOOP = [BUILD / "tests" / "hazards" / "hazards", BUILD / "tests" / "programs" / "driver_kernels.so", "patch_mixed"]


class Verify(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "tmp").mkdir()

    def verify(self, *words, status=0, **more):
        outcome = subprocess.run([REPRISE, "verify", *words], env=ENVIRONMENT | {"TMPDIR": str(self.folder / "tmp")}, cwd=self.folder, capture_output=True,
                                 text=True, timeout=100, **{"stdin": subprocess.DEVNULL} | more)
        self.assertEqual(outcome.returncode, status, outcome.stdout + outcome.stderr)
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])
        return outcome.stdout

    def shell(self, script, *options, status=1, **more):
        return self.verify(*options, "--", "sh", "-c", script, status=status, **more)

    def test_a_program_that_does_the_same(self):
        said = self.verify("--", *LOOP)
        self.assertRegex(said, r"^end: the same, status 0\nstdout: the same, \d+ bytes\nstderr: the same, \d+ bytes\nreprise: nothing differs; [\d.]+ % of [\d,]+ launches replayed\n$")

    def test_the_first_line_that_differs(self):
        said = self.shell("echo one; echo two ${LD_PRELOAD:+and a half}; echo ${LD_PRELOAD:+three}")
        self.assertIn("stdout: differs, first in line 2\n  without  two\n  with     two and a half\n", said)
        self.assertIn("stderr: the same", said)
        self.assertIn("\nreprise: 1 differs, but nothing is known to have been replayed: ", said)

    def test_output_that_varies_by_itself(self):
        """It counts its runs on stderr, and what Reprise would have changed is on stdout."""
        counts = f"echo run >> {self.folder}/runs; wc -l < {self.folder}/runs >&2; "
        loop = " ".join(map(str, LOOP))
        said = self.shell(counts + loop, status=0)
        self.assertRegex(said, r"stderr: differs, first in line 1\n  without  1\n  with     2\nstderr: varies from run to run without Reprise, too\nreprise: nothing else differs; [\d.]+ % of [\d,]+ launches replayed\n$")
        self.assertIn("\nstdout: the same", said)
        said = self.shell(f"{counts} echo ${{LD_PRELOAD:+more}}; {loop}")
        self.assertIn("\nreprise: 1 differs\n", said)
        self.assertNotIn("stdout: varies", said)
        (self.folder / "kept").write_text("same")
        said = self.shell(counts + loop, "--files", str(self.folder / "kept"))    # it is not run again where files are compared
        self.assertNotIn("varies", said)

    def test_output_that_ends_early(self):
        self.assertIn("  without  (ends here)\n  with     more\n", self.shell("echo same; test -z \"$LD_PRELOAD\" || echo more"))

    def test_the_first_byte_that_differs(self):
        said = self.shell(r"""printf "abc\\001"; test -z "$LD_PRELOAD" && printf "\\001" || printf "\\002" """)
        self.assertIn("stdout: differs, first at byte 4\n  without  0x01\n  with     0x02\n", said)

    def test_how_it_ends(self):
        self.assertIn("end: differs\n  without  status 0\n  with     status 3\n", self.shell("test -z \"$LD_PRELOAD\" || exit 3"))
        self.assertIn("end: differs\n  without  status 0\n  with     signal 15\n", self.shell("test -z \"$LD_PRELOAD\" || kill $$"))

    def test_files_that_differ_or_are_missing(self):
        said = self.shell("echo $LD_PRELOAD > a.txt; echo b > b.txt; test -z \"$LD_PRELOAD\" || echo c > c.txt", "--files", "*.txt", "--files", "none*")
        self.assertIn("a.txt: differs, first in line 1", said)
        self.assertIn("b.txt: the same, 2 bytes", said)
        self.assertIn("c.txt: only there with Reprise", said)

    def test_both_runs_find_the_files_as_they_were(self):
        (self.folder / "log").write_text("0\n")
        (self.folder / "gone").write_text("0\n")
        self.shell("echo 1 >> log; wc -l < log; test ! -e made && echo new > made; rm gone", "--files", "log", "--files", "made", "--files", "gone", status=3)
        self.assertEqual((self.folder / "log").read_text(), "0\n1\n")

    def test_both_runs_read_the_same_input(self):
        with tempfile.TemporaryFile("w+") as text:
            text.write("some words\n")
            text.seek(0)
            self.assertIn("stdout: the same, 11 bytes", self.shell("cat", status=3, stdin=text))

    def test_words_that_make_no_sense(self):
        self.verify(status=2)
        self.verify("--files", status=2)

    def test_every_node_compared_while_it_runs(self):
        outcome = subprocess.run([REPRISE, "run", "--verify", "--", *LOOP], env=ENVIRONMENT, capture_output=True, text=True, timeout=100)
        self.assertEqual(outcome.returncode, 0)
        found = re.search(r"reprise: verify: ([\d,]+) graph nodes checked, all match", outcome.stderr)
        self.assertGreater(int(found.group(1).replace(",", "")), 1000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
