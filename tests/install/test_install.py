#!/usr/bin/env python3
"""What `meson install` puts where, that it works from there and from anywhere it is moved to, and that nothing is left when it is uninstalled.

usage: test_install.py BUILD SOURCES
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from check_links import wrong_links

BUILD, SOURCES = (Path(path).resolve() for path in sys.argv[1:3])
OPTIONS = {option["name"]: option["value"] for option in json.loads((BUILD / "meson-info/intro-buildoptions.json").read_text())}
LOG = BUILD / "meson-logs" / "install-log.txt"    # what uninstalling goes by
PROGRAM = [BUILD / "tests/ways/ways-linked", BUILD / "tests/programs/driver_kernels.so"]
MODULECMD = next((path for path in ("/usr/lib/x86_64-linux-gnu/modulecmd.tcl", "/usr/lib/aarch64-linux-gnu/modulecmd.tcl") if Path(path).exists()), None)


def run(*command, **environment):
    simulation = {"LD_LIBRARY_PATH": str(BUILD / "tests/sim"), "PATH": os.environ["PATH"]}
    return subprocess.run([str(word) for word in command], env=simulation | environment, capture_output=True, text=True)


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="reprise-install-"))
        cls.log_before = LOG.read_bytes() if LOG.exists() else None
        outcome = run("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", cls.folder)
        if outcome.returncode:
            raise RuntimeError(outcome.stdout + outcome.stderr)
        cls.prefix = cls.folder / OPTIONS["prefix"].lstrip("/")
        cls.library = cls.prefix / OPTIONS["libdir"] / "libreprise.so"
        cls.reprise = cls.prefix / OPTIONS["bindir"] / "reprise"
        cls.docs = cls.prefix / OPTIONS["datadir"] / "doc" / "reprise"

    @classmethod
    def tearDownClass(cls):
        """Uninstalls; and leaves the build folder as if this had not been here."""
        outcome = run("ninja", "-C", BUILD, "uninstall")
        left = [path for path in cls.folder.rglob("*") if not path.is_dir()]
        shutil.rmtree(cls.folder)
        if cls.log_before is None:
            LOG.unlink(missing_ok=True)
        else:
            LOG.write_bytes(cls.log_before)
        if outcome.returncode or left:
            raise AssertionError(f"not uninstalled: {left} {outcome.stdout[-500:]}")

    def replays(self, outcome):
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertEqual(outcome.stdout, run(*PROGRAM).stdout)
        self.assertRegex(outcome.stderr, r"reprise: ([\d.]+ % of [\d,]{4,} launches replayed|replayed 0 of [\d,]{4,} launches)")

    def test_these_files_and_the_documentation(self):
        libdir, datadir, mandir = (OPTIONS[name] for name in ("libdir", "datadir", "mandir"))
        header = ["include/reprise/reprise.h"] if (SOURCES / "include/reprise/reprise.h").exists() else []
        expected = {f"{OPTIONS['bindir']}/reprise", f"{libdir}/libreprise.so", f"{libdir}/reprise/libcuda.so.1", f"{libdir}/pkgconfig/reprise.pc",
                    f"{mandir}/man1/reprise.1", f"{mandir}/man7/reprise.7", f"{datadir}/bash-completion/completions/reprise",
                    f"{datadir}/zsh/site-functions/_reprise", *header}
        expected |= {f"{datadir}/reprise/reader/{path.name}" for path in (SOURCES / "src/cli/reader").glob("*.*") if path.suffix in (".py", ".css") and path.name != "names.py"}
        expected.add(f"{datadir}/reprise/reader/names.json")
        expected.add(f"{datadir}/reprise/reader/report.schema.json")
        files = {str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if path.is_file() and self.docs not in path.parents}
        self.assertEqual(files, expected)

    def test_the_command_finds_the_library_beside_itself(self):
        said = run(self.reprise, "doctor").stdout
        self.assertIn(f" {self.library}\n", said)
        self.assertIn(f" {self.library.parent}/reprise\n", said)

    def test_a_program_is_replayed(self):
        self.replays(run(self.reprise, "run", "--", *PROGRAM))

    def test_a_program_is_replayed_by_the_stand_in(self):
        self.replays(run(self.reprise, "run", "--stand-in", "--", *PROGRAM))

    def test_by_name_alone_where_the_loader_searches(self):
        said = run(*PROGRAM, LD_PRELOAD="libreprise.so", REPRISE_REPORT="stderr", LD_LIBRARY_PATH=f"{self.library.parent}:{BUILD}/tests/sim")
        self.replays(said)

    def from_elsewhere(self, name, *words):
        """What the command says when all that was installed was moved to another folder."""
        moved = self.prefix.with_name(name)
        self.prefix.rename(moved)
        try:
            return run(moved / OPTIONS["bindir"] / "reprise", *words)
        finally:
            moved.rename(self.prefix)

    def test_moved_as_a_whole(self):
        self.replays(self.from_elsewhere("elsewhere", "run", "--", *PROGRAM))

    def test_a_folder_that_cannot_stand_in_a_list(self):
        for name in ("a folder", "a:folder"):
            outcome = self.from_elsewhere(name, "run", "--", *PROGRAM)
            self.assertEqual(outcome.returncode, 127)
            self.assertIn("install it elsewhere", outcome.stderr)

    def test_pkg_config(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("there is no pkg-config")
        for name, place in (("library", self.library), ("stand_in", self.library.parent / "reprise")):
            said = run("pkg-config", f"--variable={name}", "reprise", PKG_CONFIG_PATH=str(self.library.parent / "pkgconfig"))
            self.assertEqual(str(self.folder) + said.stdout.strip(), str(place), said.stderr)

    def test_links_of_the_documentation(self):
        self.assertEqual(list(wrong_links(self.docs)), [])

    def test_the_module(self):
        if MODULECMD is None:
            self.skipTest("there are no environment-modules")
        said = run(MODULECMD, "bash", "load", self.docs / "examples" / "modulefile", REPRISE_PRELOAD="1", MODULEPATH="/nowhere",
                   PATH="/usr/bin:/bin").stdout
        set_to = dict(re.findall(r"^([A-Z_]+)='?([^;']*)'?; export", said, flags=re.M))
        self.assertEqual(str(self.folder) + set_to.get("REPRISE_LIBRARY", said), str(self.library))
        self.assertEqual(str(self.folder) + set_to["LD_PRELOAD"], str(self.library))
        self.assertTrue((Path(str(self.folder) + set_to["PATH"].split(":")[0]) / "reprise").exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
