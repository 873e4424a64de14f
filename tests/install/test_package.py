#!/usr/bin/env python3
"""scripts/package: in which folder it builds, and what it says at the end. What builds the package is a command that makes an empty one: try_package.sh builds it."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
NOTHING = "#!/bin/sh\necho 9.9.9\n"
# As it does, beside the folder that it is called in.
BUILDS = "#!/bin/sh\n[ -f debian/control ] && [ -n \"$CUDA_HOME\" ] && echo made && touch ../reprise_0_none.deb\n"


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()
        tools, toolkit, self.sources = self.folder / "tools", self.folder / "toolkit" / "include", self.folder / "sources"
        for made in (tools, toolkit, self.sources / "scripts" / "lib", self.sources / "debian"):
            made.mkdir(parents=True)
        for name in ("dh", "ninja", "meson", "pkg-config", "gcc", "apt-get", "sudo", "dpkg-buildpackage"):
            (tools / name).write_text(BUILDS if name == "dpkg-buildpackage" else NOTHING)
            (tools / name).chmod(0o755)
        (toolkit / "cuda.h").write_text("#define CUDA_VERSION 13000\n")
        for name in ("package", "lib/lib.sh"):
            (self.sources / "scripts" / name).write_bytes((TOP / "scripts" / name).read_bytes())
            (self.sources / "scripts" / name).chmod(0o755)
        (self.sources / "debian" / "control").write_text("Source: reprise\n")
        self.environment = {key: value for key, value in os.environ.items() if key != "PACKAGE"} | {
            "PATH": f"{tools}:{os.environ['PATH']}", "CUDA_HOME": str(toolkit.parent)}

    def builds_in(self, where, **environment):
        outcome = subprocess.run([self.sources / "scripts" / "package"], cwd="/", env=self.environment | environment, stdin=subprocess.DEVNULL,
                                 capture_output=True, text=True, timeout=60)
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))
        self.assertEqual(outcome.stdout.splitlines()[-1], f"{where}/reprise_0_none.deb")
        self.assertEqual((where / "build.log").read_text(), "made\n")
        self.assertTrue((where / "reprise" / "debian" / "control").exists())

    def test_unless_told_otherwise_in_the_sources(self):
        self.builds_in(self.sources / "build-package")

    def test_a_folder_of_the_sources(self):
        self.builds_in(self.sources / "build-elsewhere", PACKAGE="build-elsewhere")

    def test_an_absolute_folder_elsewhere(self):
        self.builds_in(self.folder / "else where" / "package", PACKAGE=str(self.folder / "else where" / "package"))
        self.assertEqual(sorted(path.name for path in self.sources.iterdir()), ["debian", "scripts"])

    def test_no_wheel_for_a_machine_that_it_is_not_built_for(self):
        outcome = subprocess.run([self.sources / "scripts" / "package", "--wheel", "riscv64"], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual((outcome.returncode, outcome.stdout), (2, ""))
        self.assertIn('no wheel is built for "riscv64" here', outcome.stderr)
        self.assertEqual(sorted(path.name for path in self.sources.iterdir()), ["debian", "scripts"])


if __name__ == "__main__":
    unittest.main()
