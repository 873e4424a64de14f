#!/usr/bin/env python3
"""Each script answers --help, and refuses what it does not know, before it builds, installs or runs anything. And .ci/run stops where it cannot do what it says."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
SCRIPTS = [path for path in sorted((TOP / "scripts").iterdir()) if path.is_file() and os.access(path, os.X_OK)] + [TOP / ".ci" / "run", *sorted((TOP / "tests" / "install").glob("try_*.sh"))]

# What a script builds, installs and runs with. Here each fails, and leaves a file that tells of it.
TOOLS = ("apt-get", "cp", "dpkg-buildpackage", "meson", "mkdir", "ninja", "rm", "sudo", "tar")
TOOL = """#!/bin/sh
echo "$0 $*" >>'{used}'
exit 1
"""


class Scripts(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(subprocess.run, ["rm", "-r", self.folder], check=True)
        self.used = self.folder / "used"
        for name in TOOLS:
            self.tool(name, TOOL.format(used=self.used))
        self.env = os.environ | {"PATH": f"{self.folder}:{os.environ['PATH']}", "BUILD": str(self.folder / "none"), "PACKAGE": str(self.folder / "none")}

    def tool(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def each(self, judge, *arguments):
        """Judges what every script does with the arguments where nothing is built."""
        self.assertGreater(len(SCRIPTS), 14)
        for script in SCRIPTS:
            self.used.write_text("")
            with self.subTest(script=script.name, arguments=arguments):
                done = subprocess.run([script, *arguments], env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
                self.assertEqual(self.used.read_text(), "", done.stderr)
                judge(script.name, done)

    def tells(self, name, done):
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(name, done.stdout)

    def refuses(self, name, done):
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertRegex(done.stderr.splitlines()[-1], rf"^{name}(\.py)?: \S")

    def test_help(self):
        self.each(self.tells, "--help")
        self.each(self.tells, "-h")

    def test_an_option_that_there_is_not(self):
        self.each(self.refuses, "--no-such-option")

    def test_words_that_mean_nothing(self):
        self.each(self.refuses, "one", "two")

    def test_check_that_cannot_be_removed_stops_ci(self):
        self.tool("id", "#!/bin/sh\necho 0\n")
        self.tool("pkg-config", "#!/bin/sh\nexit 0\n")
        done = subprocess.run([TOP / ".ci" / "run"], env=self.env | {"CI": "true"}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertRegex(done.stderr, r"^run: Check is still there after 'apt-get remove check': .*\n$")
        self.assertEqual(self.used.read_text().splitlines(), [f"{self.folder}/apt-get remove -y -qq check"])


if __name__ == "__main__":
    unittest.main()
