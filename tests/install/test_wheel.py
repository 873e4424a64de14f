#!/usr/bin/env python3
"""The wheel: scripts/package builds it, pip installs it in fresh environments, and what is installed works from there. And `pip install .` in a checkout, which builds one of its own. Without the
package index neither is built, and this skips.

usage: test_wheel.py BUILD SOURCES [aarch64]      aarch64: cross-compiled, looked at, and its command is run under qemu where that is installed
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

from lib import runs

BUILD, SOURCES = (Path(path).resolve() for path in sys.argv[1:3])
MACHINE = sys.argv[3] if len(sys.argv) > 3 else os.uname().machine
OTHER = MACHINE != os.uname().machine
QEMU = shutil.which(f"qemu-{MACHINE}")
SCRATCH = Path(tempfile.mkdtemp(prefix="reprise-wheel-"))
FRESH = SCRATCH / "fresh"    # a virtual environment
PYTHON = sys._base_executable    # none of an environment's own, which has no user's packages
PROGRAM = [BUILD / "tests/ways/ways-linked", BUILD / "tests/programs/driver_kernels.so"]
# As a user has it: what this was started with is not asked for, and nothing built before is used.
SURROUNDINGS = {key: value for key, value in runs.simulated(BUILD).items() if key not in ("PYTHONPATH", "PYTHONHOME")} | {
    "CCACHE_DISABLE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_BREAK_SYSTEM_PACKAGES": "1", "PIP_ROOT_USER_ACTION": "ignore"}


def run(*command, folder=None, **environment):
    return subprocess.run([str(word) for word in command], cwd=folder, env=SURROUNDINGS | environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=500)


def checked(*command, folder=None, **environment):
    done = run(*command, folder=folder, **environment)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.returncode}: {done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir() and "__pycache__" not in path.parts}


class Wheel(unittest.TestCase):
    """What is in it, before it is installed."""

    def test_its_tag_says_which_c_library_it_needs(self):
        self.assertRegex(WHEEL.name, rf"^reprise_cuda-[\d.]+-py3-none-manylinux_2_\d+_{MACHINE}\.whl$")
        with zipfile.ZipFile(WHEEL) as wheel:
            about = wheel.read(next(name for name in wheel.namelist() if name.endswith(".dist-info/WHEEL"))).decode()
        self.assertEqual(re.findall("^Tag: (.*)$", about, re.M), ["-".join(WHEEL.stem.split("-")[2:])])

    def test_these_files(self):
        with zipfile.ZipFile(WHEEL) as wheel:
            names = {re.sub(r"^reprise_cuda-[\d.]+\.", "", name) for name in wheel.namelist()}
        expected = {"data/scripts/reprise", "data/data/share/reprise/lib/libreprise.so", "data/data/share/reprise/lib/reprise/libcuda.so.1",
                    "data/data/share/man/man1/reprise.1", "data/data/share/man/man7/reprise.7", "data/data/share/bash-completion/completions/reprise",
                    "data/data/share/zsh/site-functions/_reprise", "data/data/share/reprise/reader/names.json", "data/data/share/reprise/reader/report.schema.json",
                    "dist-info/METADATA", "dist-info/WHEEL", "dist-info/RECORD", "dist-info/licenses/LICENSE"}
        expected |= {f"data/data/share/reprise/reader/{path.name}" for path in (SOURCES / "src/cli/reader").glob("*.*") if path.suffix in (".py", ".css") and path.name != "names.py"}
        expected |= {f"data/purelib/reprise_cuda/{path.name}" for path in (SOURCES / "src/python/reprise_cuda").iterdir() if path.is_file()}
        self.assertEqual(names, expected)

    def test_what_is_in_it_is_for_that_machine_and_knows_no_folder_of_the_build(self):
        number = {"x86_64": 62, "aarch64": 183}[MACHINE]
        with zipfile.ZipFile(WHEEL) as wheel:
            for name in wheel.namelist():
                data = wheel.read(name)
                if data[:4] == b"\x7fELF":
                    self.assertEqual(int.from_bytes(data[18:20], "little"), number, name)
                self.assertFalse(re.search(re.escape(str(SCRATCH)).encode(), data), name)


@unittest.skipUnless(OTHER and QEMU, "it is for this machine, or there is no qemu")
class Emulated(unittest.TestCase):
    """What is in it, where pip puts it, under qemu's user mode."""

    def test_its_command_runs_and_its_library_loads(self):
        folder = SCRATCH / "emulated"
        with zipfile.ZipFile(WHEEL) as wheel:
            for name in wheel.namelist():
                to = re.sub(r"^.*\.data/(?:data/|(scripts)/)", lambda found: "bin/" if found[1] else "", name)
                if ".data/" in name and "/purelib/" not in name:
                    (folder / to).parent.mkdir(parents=True, exist_ok=True)
                    (folder / to).write_bytes(wheel.read(name))
        command, library = folder / "bin/reprise", folder / "share/reprise/lib/libreprise.so"
        command.chmod(0o755)
        emulated = [QEMU, "-L", f"/usr/{MACHINE}-linux-gnu"]
        version = checked(*emulated, command, "--version")
        self.assertRegex(version, r"^reprise \d+\.\d+\.\d+")
        loaded = run(*emulated, "-E", f"LD_PRELOAD={library}", command, "--version")
        self.assertEqual((loaded.stdout, loaded.stderr), (version, ""))    # ld.so says what it cannot load
        self.assertIn(f" {library}\n", run(*emulated, command, "doctor").stdout)


class Replays(unittest.TestCase):
    def replays(self, *command, **environment):
        outcome = run(*command, "--", *PROGRAM, **environment)
        self.assertEqual((outcome.returncode, outcome.stdout), (0, checked(*PROGRAM)), outcome.stderr)
        self.assertRegex(outcome.stderr, r"reprise: ([\d.]+ % of [\d,]{4,} launches replayed|replayed 0 of [\d,]{4,} launches)")


@unittest.skipIf(OTHER, "it is for another machine")
class Checkout(Replays):
    """As a newcomer does it: where nothing but the sources is, and nothing is installed yet."""

    def test_pip_installs_from_it_what_the_wheel_has(self):
        checkout, pip, fresh = SCRATCH / "checkout", FRESH / "bin/pip", files(FRESH)
        shutil.copytree(SOURCES, checkout, symlinks=True, ignore=lambda folder, names: [name for name in names if name == ".git" or (Path(folder) == SOURCES and name.startswith("build"))])
        sources = files(checkout)
        checked(pip, "install", ".", folder=checkout)
        self.assertEqual(files(checkout), sources)
        installed = files(FRESH)
        self.replays(FRESH / "bin/reprise", "run")
        self.replays(FRESH / "bin/python", "-m", "reprise_cuda", "run")
        checked(pip, "uninstall", "-y", "reprise-cuda")
        self.assertEqual(files(FRESH), fresh)
        checked(pip, "install", "--no-index", WHEEL)
        self.assertEqual(files(FRESH), installed)
        checked(pip, "uninstall", "-y", "reprise-cuda")


@unittest.skipIf(OTHER, "it is for another machine")
class Installed(Replays):
    @classmethod
    def setUpClass(cls):
        cls.folder = FRESH
        cls.before = files(cls.folder)
        checked(cls.folder / "bin/pip", "install", "--no-index", WHEEL)
        cls.reprise, cls.python = cls.folder / "bin/reprise", cls.folder / "bin/python"

    @classmethod
    def tearDownClass(cls):
        checked(cls.folder / "bin/pip", "uninstall", "-y", "reprise-cuda")
        if files(cls.folder) != cls.before:
            raise AssertionError(f"not uninstalled: {files(cls.folder) ^ cls.before}")

    def test_a_program_is_replayed_by_the_command_of_the_path(self):
        self.replays("env", f"PATH={self.folder}/bin:{os.environ['PATH']}", "reprise", "run")

    def test_a_program_is_replayed_by_the_stand_in(self):
        self.replays(self.reprise, "run", "--stand-in")

    def test_a_program_is_replayed_by_the_module(self):
        self.replays(self.python, "-m", "reprise_cuda", "run")

    def test_the_command_s_status_is_the_module_s(self):
        self.assertEqual(run(self.python, "-m", "reprise_cuda", "run", "--", "sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(run(self.python, "-m", "reprise_cuda", "no-such-command").stderr, run(self.reprise, "no-such-command").stderr)

    def test_a_report_is_shown(self):
        self.replays(self.reprise, "run", "--report", SCRATCH / "report.json")
        for command in [self.reprise], [self.python, "-m", "reprise_cuda"]:
            self.assertIn("What happened to each call", checked(*command, "report", SCRATCH / "report.json"))

    def test_the_doctor_says_what_was_installed(self):
        said = checked(self.reprise, "doctor")
        self.assertIn(f" {self.folder}/share/reprise/lib/libreprise.so\n", said)
        self.assertIn(f" {self.folder}/share/reprise/lib/reprise\n", said)

    def test_a_program_in_python_finds_the_library_that_it_runs_under(self):
        asks = ["--", self.python, "-c", "import reprise_cuda; print(reprise_cuda.active(), reprise_cuda.counts().ops)"]
        self.assertEqual(checked(self.python, "-m", "reprise_cuda", "run", *asks), "True 0\n")
        self.assertEqual(checked(*asks[1:]), "False 0\n")

    def test_for_one_user(self):
        home = {"PYTHONUSERBASE": str(SCRATCH / "user")}
        pip = str(next(self.folder.glob("lib/python3*/site-packages")))    # Python's own may be without
        checked(PYTHON, "-m", "pip", "install", "--no-index", "--no-deps", "--user", "--ignore-installed", WHEEL, PYTHONPATH=pip, **home)
        self.replays(SCRATCH / "user/bin/reprise", "run")
        self.replays(PYTHON, "-m", "reprise_cuda", "run", **home)

    def test_in_a_folder_that_is_named(self):
        checked(self.folder / "bin/pip", "install", "--no-index", "--no-deps", "--target", SCRATCH / "target", WHEEL)
        self.replays(SCRATCH / "target/bin/reprise", "run")
        self.replays(PYTHON, "-m", "reprise_cuda", "run", PYTHONPATH=str(SCRATCH / "target"))

    def test_the_module_alone_says_what_is_missing(self):
        outcome = run(PYTHON, "-m", "reprise_cuda", "run", PYTHONPATH=str(SOURCES / "src/python"), PYTHONDONTWRITEBYTECODE="1")
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("the command reprise was not found in a folder above", outcome.stderr)


if __name__ == "__main__":
    checked(PYTHON, "-m", "venv", FRESH)
    index = run(FRESH / "bin/pip", "download", "--no-deps", "--retries", "1", "--timeout", "20", "--dest", SCRATCH / "asked", "meson-python")
    if index.returncode != 0:
        print(f"skipped: the wheel is not built: pip has no package index here: {index.stderr.strip().splitlines()[-1:]}")
        subprocess.run(["rm", "-rf", SCRATCH], check=True)
        sys.exit(77)
    WHEEL = Path(checked(SOURCES / "scripts/package", "--wheel", *([MACHINE] if OTHER else []), PACKAGE=str(SCRATCH / "package")).splitlines()[-1])
    ran = unittest.main(argv=sys.argv[:1], exit=False).result
    if not ran.wasSuccessful():
        sys.exit(f"what was built is in {SCRATCH}")
    subprocess.run(["rm", "-rf", SCRATCH], check=True)
