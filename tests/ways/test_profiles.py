#!/usr/bin/env python3
"""Profiles of whole programs: which is read, what counts more, and where it is told.

usage: test_profiles.py BUILD LIBRARY
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lib import runs

BUILD, LIBRARY = (Path(word).resolve() for word in sys.argv[1:3])
REPRISE = BUILD / "src" / "cli" / "reprise"
PROGRAM = BUILD / "tests" / "programs" / "launchbound-driver"
# As setproctitle does: a title over the arguments, where they lie. And then work.
TITLED = """
import ctypes, sys
start = ctypes.c_void_p.in_dll(ctypes.CDLL(None), "program_invocation_name").value
size = len(open("/proc/self/cmdline", "rb").read())
ctypes.memset(start, 0, size)
ctypes.memmove(start, b"/title" * size, size - 1)
cuda = ctypes.CDLL("libcuda.so.1")
context, memory = ctypes.c_void_p(), ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(64))
if cuda.cuMemsetD8Async(memory, ctypes.c_ubyte(1), ctypes.c_size_t(64), None) or cuda.cuStreamSynchronize(None):
    sys.exit("refused")
"""
ARGUMENTS = ["--module", BUILD / "tests" / "programs" / "driver_kernels.so", "--shape", "chain", "--iterations", "100"]


class Profiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "reprise").mkdir()
        self.reports = self.folder / "reports"
        self.reports.mkdir()
        self.environment = runs.simulated(BUILD) | {"XDG_CONFIG_HOME": str(self.folder)}

    def profile(self, name, *lines):
        path = self.folder / "reprise" / f"{name}.conf"
        path.write_text("\n".join(lines) + "\n")
        return str(path)

    def run_program(self, *command, **more):
        command = command or (PROGRAM, *ARGUMENTS)
        outcome = subprocess.run([str(word) for word in command], env=self.environment | {"LD_PRELOAD": str(LIBRARY), "REPRISE_REPORT": f"{self.reports}/%p"} | more, capture_output=True, text=True, timeout=100)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return outcome

    def report(self):
        path, = self.reports.iterdir()
        report = json.loads(path.read_text())
        path.unlink()
        return report

    def test_the_programs_own_counts_and_the_report_says_where_it_is_from(self):
        path = self.profile("launchbound-driver", "REPRISE_HOLD = 200", "REPRISE_SMALLEST = 2")
        self.profile("other", "REPRISE_HOLD = 1")
        self.run_program(REPRISE_SMALLEST="3")
        (written,) = self.reports.iterdir()
        shown = subprocess.run([REPRISE, "report", written], env=self.environment, capture_output=True, text=True).stdout
        self.assertIn(f"options from the environment: REPRISE_SMALLEST=3; from {path}: REPRISE_HOLD=200\n", shown)
        options = self.report()["options"]
        self.assertEqual(options["REPRISE_HOLD"], {"value": 200, "from": path})
        self.assertEqual(options["REPRISE_SMALLEST"], {"value": 3, "from": "environment"})
        self.assertEqual(options["REPRISE_MEMORY"]["from"], "default")

    def test_the_name_is_the_one_that_it_was_started_by(self):
        path = self.profile("solver", "REPRISE_HOLD = 201")
        os.symlink(PROGRAM, self.folder / "solver")
        self.run_program(self.folder / "solver", *ARGUMENTS)
        self.assertEqual(self.report()["options"]["REPRISE_HOLD"], {"value": 201, "from": path})

    def test_the_title_that_a_program_gives_itself_is_no_name(self):
        interpreter = Path(sys.executable)
        path = self.profile(interpreter.name, "REPRISE_HOLD = 205")
        self.run_program(interpreter, "-c", TITLED)
        self.assertEqual(self.report()["options"]["REPRISE_HOLD"], {"value": 205, "from": path})

    def test_a_script_has_its_own_name_if_it_names_its_interpreter(self):
        self.profile(Path(sys.executable).name, "REPRISE_HOLD = 206")
        path, script = self.profile("train.py", "REPRISE_HOLD = 207"), self.folder / "train.py"
        for first, name in (f"#!{sys.executable}", "train.py"), (f"#!/usr/bin/env -S {sys.executable}", Path(sys.executable).name):
            script.write_text(f"{first}\n{TITLED}")
            script.chmod(0o755)
            self.run_program(script)
            self.assertEqual(self.report()["options"]["REPRISE_HOLD"], {"value": 207 if name == "train.py" else 206, "from": path.replace("train.py", name)})

    def test_a_program_that_another_starts_has_its_own(self):
        self.profile("sh", "REPRISE_HOLD = 1")
        path = self.profile("launchbound-driver", "REPRISE_HOLD = 202")
        self.run_program("sh", "-c", " ".join(map(str, [PROGRAM, *ARGUMENTS])) + "; true")
        self.assertEqual(self.report()["options"]["REPRISE_HOLD"], {"value": 202, "from": path})

    def test_off(self):
        self.profile("launchbound-driver", "REPRISE = off")
        self.run_program()
        self.assertEqual(list(self.reports.iterdir()), [])
        outcome = subprocess.run([REPRISE, "run", "--", PROGRAM, *map(str, ARGUMENTS)], env=self.environment, capture_output=True, text=True, timeout=100)
        self.assertIn("of 2,400 launches", outcome.stderr)    # the command asked for it

    def test_everybodys_counts_less_than_ones_own(self):
        """In a namespace of its own, since /etc is everybody's."""
        mine, etc = self.profile("launchbound-driver", "REPRISE_HOLD = 203"), self.folder / "etc"
        (etc / "reprise").mkdir(parents=True)
        (etc / "reprise" / "launchbound-driver.conf").write_text("REPRISE_HOLD = 204\nREPRISE_SMALLEST = 2\nREPRISE_MEMORY = 100\n")
        there = ["unshare", "-rm", "sh", "-c", f'mount --bind {etc} /etc || exit 77; exec "$@"', "sh"]
        if subprocess.run([*there, "true"], capture_output=True).returncode != 0:
            self.skipTest("no folder can be put in the place of /etc here")
        self.run_program(*there, PROGRAM, *ARGUMENTS, REPRISE_MEMORY="128")
        options, theirs = self.report()["options"], "/etc/reprise/launchbound-driver.conf"
        self.assertEqual([options[name] for name in ("REPRISE_HOLD", "REPRISE_SMALLEST", "REPRISE_MEMORY")],
                         [{"value": 203, "from": mine}, {"value": 2, "from": theirs}, {"value": 128, "from": "environment"}])
        told = subprocess.run([*there, REPRISE, "doctor", PROGRAM], env=self.environment, capture_output=True, text=True, timeout=100)
        for words in (f"REPRISE_HOLD          203 (from {mine})", f"REPRISE_SMALLEST      2 (from {theirs})"):
            self.assertIn(f"  {words}\n", told.stdout)

    def test_what_is_no_file_to_be_read_neither_stops_nor_ends_a_program(self):
        path = Path(self.profile("launchbound-driver"))
        for name, make, why in (("a pipe that nobody writes to", lambda: os.mkfifo(path), "it is no plain file"), ("a folder", path.mkdir, "it is no plain file"),
                                ("a loop of links", lambda: path.symlink_to(path), "Too many levels of symbolic links"), ("a device", lambda: path.symlink_to("/dev/full"), "it is no plain file"),
                                ("what is too long", lambda: path.write_bytes(b"#" * 10**7), "it is too long"), ("a program", lambda: path.write_bytes(PROGRAM.read_bytes()[:9000]), "it is no text"),
                                ("everybody's to write", lambda: path.write_text("REPRISE = off\n") and path.chmod(0o666), "everybody may write it")):
            with self.subTest(what=name):
                path.rmdir() if path.is_dir() else path.unlink()
                make()
                outcome = self.run_program()
                self.assertEqual([line for line in outcome.stderr.splitlines() if not line.startswith("shape=")], [f"reprise: {path} is not read: {why}"])
                self.assertEqual({option["from"] for option in self.report()["options"].values()}, {"default", "environment"})

    def test_many_lines_that_cannot_be_used_are_counted(self):
        path = self.profile("launchbound-driver", *(["x"] * 5000), "REPRISE_SMALLEST = 2")
        said = [line for line in self.run_program().stderr.splitlines() if not line.startswith("shape=")]
        self.assertEqual((len(said), said[-1]), (9, f"reprise: {path}: 4992 more lines cannot be used"))
        self.assertEqual(self.report()["options"]["REPRISE_SMALLEST"]["value"], 2)

    def test_nothing_is_said_of_one_that_nobody_can_have(self):
        name = "x" * 252    # with its ending, longer than a file's name may be
        os.symlink(PROGRAM, self.folder / name)
        outcome = self.run_program(self.folder / name, *ARGUMENTS)
        self.assertEqual([line for line in outcome.stderr.splitlines() if not line.startswith("shape=")], [])

    def test_what_cannot_be_used_is_named_and_the_program_is_as_it_was(self):
        path = self.profile("launchbound-driver", "REPRISE_HOLD = soon", "REPRISE_SMALLEST = 2")
        plain = subprocess.run([PROGRAM, *map(str, ARGUMENTS)], env=self.environment, capture_output=True, text=True, timeout=100)
        outcome = self.run_program()
        said = [line for line in outcome.stderr.splitlines() if not line.startswith("shape=")]
        self.assertEqual(said, [f'reprise: {path}:1: REPRISE_HOLD: "soon" is not a number from 0 to 100000 (microseconds)'])
        self.assertEqual(outcome.stdout, plain.stdout)
        options = self.report()["options"]
        self.assertEqual((options["REPRISE_HOLD"]["from"], options["REPRISE_SMALLEST"]["value"]), ("default", 2))

    def test_a_path_that_json_would_not_take_as_it_is(self):
        self.folder = self.folder / 'a "quoted"\\ place'
        (self.folder / "reprise").mkdir(parents=True)
        self.environment["XDG_CONFIG_HOME"] = str(self.folder)
        path = self.profile("launchbound-driver", "REPRISE_HOLD = 200")
        self.run_program()
        self.assertEqual(self.report()["options"]["REPRISE_HOLD"], {"value": 200, "from": path})

    def test_the_doctor_says_what_came_from_where(self):
        path = self.profile("launchbound-driver", "REPRISE_HOLD = 200", "REPRISE_MEMORY = 64")
        outcome = subprocess.run([REPRISE, "doctor", PROGRAM], env=self.environment | {"REPRISE_MEMORY": "128"}, capture_output=True, text=True, timeout=100)
        for words in (f"REPRISE_HOLD          200 (from {path})", "REPRISE_MEMORY        128 (from the environment)", "other options         defaults; reprise doctor without a program lists them"):
            self.assertIn(f"  {words}\n", outcome.stdout)
        self.assertNotIn("REPRISE_SMALLEST", outcome.stdout)
        without = subprocess.run([REPRISE, "doctor"], env=self.environment, capture_output=True, text=True, timeout=100)
        self.assertIn("REPRISE_HOLD          400 (default)", without.stdout)

    def doctor(self, program=PROGRAM, **environment):
        return subprocess.run([REPRISE, "doctor", program], env=self.environment | environment, capture_output=True, timeout=100).stdout.decode("latin-1")

    def shows_no_control(self, said):
        self.assertEqual([letter for letter in said if letter != "\n" and not letter.isprintable()], [])

    def test_the_doctor_shows_no_control_characters_of_what_is_given(self):
        evil = "a\x1b[2Jb,\x1b]0;evil\x07\x9b31m"
        self.profile("launchbound-driver", f"REPRISE_DENY = {evil}", f"REPRISE_TIMELINE = {self.folder}/{evil}")
        said = self.doctor()
        self.assertIn("REPRISE_DENY          a?[2Jb,?]0;evil?", said)
        self.assertIn(f"timeline              {self.folder}/a?[2Jb,?]0;evil?", said)
        self.shows_no_control(said)
        for name in "REPRISE_DENY", "REPRISE_HOLD", "REPRISE_PAYS", "REPRISE_REPORT", "REPRISE_METRICS":
            with self.subTest(name=name):
                self.shows_no_control(self.doctor(**{name: evil}))

    def test_the_doctor_knows_that_the_command_reads_no_profile(self):
        self.profile("launchbound-driver", f"REPRISE_TIMELINE = {self.folder}/nowhere/x")
        said = self.doctor()
        self.assertIn(f"cannot write timeline to {self.folder}/nowhere/x: No such file or directory\n", said)
        self.assertNotIn("refuses", said)
        outcome = subprocess.run([REPRISE, "run", "--", PROGRAM, *map(str, ARGUMENTS)], env=self.environment, capture_output=True, text=True, timeout=100)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)

    def test_the_doctor_shows_no_values_that_a_program_with_other_rights_does_not_have(self):
        copy, script = self.folder / "privileged", self.folder / "script"
        shutil.copy(PROGRAM, copy)
        script.write_text(f"#!{copy}\n")
        script.chmod(0o755)
        for name in "privileged", "script":
            self.profile(name, "REPRISE_MEMORY = 64")
        for program in copy, script:
            self.assertIn("REPRISE_MEMORY        64 (from ", self.doctor(program))
        copy.chmod(0o4755)
        for program in copy, script:
            said = self.doctor(program, REPRISE_HOLD="77")
            self.assertIn("  options               none: a program with more rights than its user reads none from the environment, and no profile\n", said)
            self.assertNotIn("(from", said)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
