#!/usr/bin/env python3
"""reprise doctor: what it says of each kind of program, and reprise run --stand-in.

usage: test_doctor.py BUILD
"""
import os
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lib import runs

BUILD = Path(sys.argv[1])
WAYS = BUILD / "tests" / "ways"
SIMULATION = runs.simulated(BUILD)


def reprise(*words, **environment):
    return subprocess.run([BUILD / "src" / "cli" / "reprise", *words], env=SIMULATION | environment, capture_output=True, text=True)


def computed_s():
    """Seconds for which programs started here have computed, whatever else the machine does."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def header(elf_class, machine):
    """The beginning of an executable; no more of it is needed."""
    return b"\x7fELF" + bytes([elf_class, 1, 1]) + bytes(9) + struct.pack("<HHI", 2, machine, 1) + bytes(40)


class Doctor(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def says(self, program, status, *texts, **environment):
        outcome = reprise("doctor", str(program), **environment)
        self.assertEqual(outcome.returncode, status, outcome.stdout + outcome.stderr)
        for text in texts:
            self.assertIn(text, outcome.stdout)
        return outcome.stdout

    def file(self, content):
        path = self.folder / "program"
        path.write_bytes(content)
        path.chmod(0o755)
        return path

    def segments(self, count, size, entry_size=56):
        """A program whose headers all say that the dynamic section is the rest of the file."""
        machine = struct.unpack_from("<H", Path(sys.executable).resolve().read_bytes(), 18)[0]
        begin = 64 + 56 * (count if entry_size else 1)
        head = b"\x7fELF" + bytes([2, 1, 1]) + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 64, 0, 0, 64, entry_size, count, 0, 0, 0)
        return self.file(head + struct.pack("<IIQQQQQQ", 2, 4, begin, 0, 0, size - begin, size - begin, 8) * (count if entry_size else 1) + bytes(size - begin))

    def test_a_file_made_to_be_slow_is_not(self):
        for entry_size in 0, 56:
            program = self.segments(65535, 8 << 20, entry_size)
            begin = computed_s()
            reprise("doctor", str(program))
            self.assertLess(computed_s() - begin, 5)

    def test_a_file_says_nothing_to_the_terminal(self):
        said = self.says(self.file(b"#!/bin/\x1b[2J\x07sh\n"), 1)
        self.assertNotIn("\x1b", said)
        self.assertNotIn("\x07", said)

    def test_what_is_installed_and_where_the_driver_is(self):
        said = reprise("doctor").stdout
        for path in ("preload/libreprise.so", "preload/stand_in", "tests/sim/libcuda.so.1"):
            self.assertIn(str(BUILD / path), said)

    def test_no_driver_is_no_failure(self):
        outcome = reprise("doctor", LD_LIBRARY_PATH="")
        self.assertEqual(outcome.returncode, 0)

    def test_options_with_their_origin(self):
        said = reprise("doctor", REPRISE="observe", REPRISE_HOLD="50", REPRISE_REPORT="/x").stdout
        for line in ("REPRISE observe (from the environment)", "REPRISE_HOLD 50 (from the environment)", "REPRISE_MEMORY 256 (default)",
                     "REPRISE_LOG warning (default)", "REPRISE_REPORT /x (from the environment)"):
            self.assertIn(line, " ".join(said.split()))

    def test_of_a_program_only_options_that_are_given_are_listed(self):
        plain = " ".join(reprise("doctor", "/bin/true").stdout.split())
        self.assertIn(" options defaults; reprise doctor without a program lists them ", plain)
        self.assertNotIn("REPRISE_HOLD", plain)
        given = " ".join(reprise("doctor", "/bin/true", REPRISE_HOLD="50", REPRISE_PAYS="maybe").stdout.split())
        for words in ("REPRISE_HOLD 50 (from the environment)", "REPRISE_PAYS measured (default, since ", " other options defaults; "):
            self.assertIn(words, given)

    def test_an_option_that_cannot_be_used_is_named(self):
        outcome = reprise("doctor", REPRISE_HOLD="much")
        self.assertIn("REPRISE_HOLD", outcome.stderr)
        self.assertIn('REPRISE_HOLD 400 (default, since the environment\'s "much" is not from 0 to 100000)', " ".join(outcome.stdout.split()))

    def test_words_and_texts_that_cannot_be_used_are_named(self):
        said = " ".join(reprise("doctor", REPRISE_PAYS="maybe", REPRISE_DENY="x" * 600).stdout.split())
        self.assertIn('REPRISE_PAYS measured (default, since the environment\'s "maybe" is none of measured|assumed)', said)
        self.assertIn("REPRISE_DENY *nccl*,*nvshmem* (default, since the environment's value has more than 511 characters)", said)

    def test_the_driver_its_devices_and_the_toolkit(self):
        said = reprise("doctor", SIM_DEVICES="2", CUDA_HOME=str(self.toolkit(12080))).stdout
        self.assertRegex(said, r"driver's version      CUDA \d+\.\d")
        self.assertIn("0: Simulated device", said)
        self.assertIn("1: Simulated device", said)
        self.assertIn(f"CUDA 12.8 in {self.folder}/toolkit;", said)
        self.assertNotIn("in the way", said)

    def toolkit(self, version):
        (self.folder / "toolkit" / "include").mkdir(parents=True)
        (self.folder / "toolkit" / "include" / "cuda.h").write_text(f"/* a header */\n#define CUDA_VERSION {version}\n")
        return self.folder / "toolkit"

    def test_a_driver_that_does_not_start(self):
        said = reprise("doctor", SIM_FAULT="cuInit:1=100").stdout
        self.assertIn("the driver does not start: CUDA_ERROR_NO_DEVICE (100)", said)
        self.assertIn("nvidia-smi", said)

    def test_the_stub_of_the_toolkit(self):
        self.assertIn("from LD_LIBRARY_PATH", reprise("doctor", SIM_FAULT="cuInit:1=34").stdout)

    def test_tools_and_what_is_done_beside_them(self):
        self.assertIn("stands aside for it", reprise("doctor", CUDA_INJECTION64_PATH="/tool.so").stdout)
        self.assertIn("goes on all the same", reprise("doctor", CUDA_INJECTION64_PATH="/tool.so", REPRISE_TOOLS="ignore").stdout)

    def test_off_is_told(self):
        self.assertIn("REPRISE is off", reprise("doctor", REPRISE="off").stdout)

    def test_a_stand_in_on_the_path(self):
        said = reprise("doctor", LD_LIBRARY_PATH=f"{BUILD}/preload/stand_in:{BUILD}/tests/sim").stdout
        self.assertIn("under Reprise already", said)
        self.assertIn(f"{BUILD}/tests/sim/libcuda.so.1", said)

    def test_what_else_is_preloaded(self):
        interposer = BUILD / "tests" / "unit" / "doors" / "libdoors_interposer.so"
        harmless = WAYS / "libway-looked-up.so"
        said = reprise("doctor", LD_PRELOAD=f"{interposer} {harmless}:{BUILD}/preload/libreprise.so").stdout
        self.assertIn(f"{interposer} is preloaded, too, and seems to stand in for dlsym", said)
        self.assertRegex(said, rf"preloaded +{harmless}\n")
        self.assertIn("libreprise.so: every program is under Reprise already", said)

    def test_a_library_that_cannot_be_loaded(self):
        command = self.installed("elsewhere")
        (command.parents[2] / "preload" / "libreprise.so").write_bytes(b"no library")
        outcome = subprocess.run([command, "doctor"], env=SIMULATION, capture_output=True, text=True)
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("the library cannot be loaded", outcome.stdout)
        outcome = subprocess.run([command, "doctor", WAYS / "ways-linked"], env=SIMULATION, capture_output=True, text=True)
        self.assertIn("cannot be preloaded: the library cannot be loaded", outcome.stdout)

    def installed(self, folder):
        """The command, as in a build folder of that name; there is a place for a library beside it."""
        command = self.folder / folder / "src" / "cli" / "reprise"
        command.parent.mkdir(parents=True)
        shutil.copy(BUILD / "src" / "cli" / "reprise", command)
        (self.folder / folder / "preload").mkdir()
        return command

    def test_a_library_is_no_program(self):
        self.says(WAYS / "libway-linked.so", 1, "a library", "links libcuda.so.1", "the program that loads it")

    def test_a_program_that_links_the_driver(self):
        self.says(WAYS / "ways-linked", 0, "links libcuda.so.1", "64-bit", "dynamic")

    def test_a_program_that_looks_the_driver_up_and_opens_namespaces(self):
        self.says(WAYS / "ways-looked-up", 0, "looks libcuda.so.1 up itself", "calls dlmopen", "--stand-in")

    def test_a_program_at_a_fixed_address(self):
        self.says(WAYS / "ways-fixed", 0, "at a fixed address", "can be preloaded")

    def test_a_static_program_cannot_be_preloaded(self):
        self.says(WAYS / "ways-nothing-static", 1, "static-pie", "cannot be preloaded")

    def test_cudart_static_or_not(self):
        if not (BUILD / "tests" / "programs" / "heat").exists():
            self.skipTest("there are no programs of nvcc here")
        self.assertNotIn("dlmopen", self.says(BUILD / "tests" / "programs" / "heat", 0, "static cudart"))
        self.says(BUILD / "tests" / "programs" / "heat-shared", 0, "libcudart.so.")

    def test_a_32_bit_program_and_what_the_loader_says_of_it(self):
        self.says(self.file(header(1, 3)), 1, "32-bit, x86", "wrong ELF class", "harmless")

    def test_a_program_for_another_architecture(self):
        self.says(self.file(header(2, 243)), 1, "64-bit, risc-v", "cannot be preloaded")

    def test_a_set_user_id_program(self):
        path = self.file((WAYS / "ways-linked").read_bytes())
        path.chmod(0o4755)
        self.says(path, 1, "more rights than its user", "cannot be preloaded")

    def test_a_script_is_its_interpreter(self):
        self.says(self.file(f"#! {WAYS}/ways-linked -x\n".encode()), 0, "a script for", "links libcuda.so.1")

    def test_a_script_by_env_is_the_program_that_env_finds(self):
        for line, name in (("/usr/bin/env python3", "python3"), ("/usr/bin/env -S python3 -u", "python3"), ("/usr/bin/env -S -i -u HOME A=b python3 -u", "python3"),
                           ("/usr/bin/env -Spython3 -u", "python3"), ("/usr/bin/env --split-string=python3 -u", "python3")):
            with self.subTest(line):
                said = self.says(self.file(f"#!{line}\nprint()\n".encode()), 0, f"a script for          {line}", "can be preloaded")
                self.assertRegex(said, rf"program +{shutil.which(name)}\n")
        said = self.says(self.file(b"#!/usr/bin/env ways-nothing-static\n"), 1, "cannot be preloaded: a static program", PATH=f"{WAYS}:{os.environ['PATH']}")
        self.assertIn(f"{WAYS}/ways-nothing-static", said)

    def test_a_script_by_env_that_env_would_not_find(self):
        self.says(self.file(b"#!/usr/bin/env python3 -u\n"), 1, 'cannot be run: env looks for a program named "python3 -u"')
        self.says(self.file(b"#!/usr/bin/env no-such-program\n"), 1, 'cannot be run: env looks for a program named "no-such-program"')

    def test_a_script_whose_interpreter_is_a_script(self):
        inner = self.folder / "inner"
        inner.write_text(f"#!{WAYS}/ways-linked\n")
        inner.chmod(0o755)
        self.says(self.file(f"#!{inner}\n".encode()), 0, "links libcuda.so.1")
        inner.write_text(f"#!{inner}\n")
        self.says(inner, 1, "more of them than the kernel follows")

    def test_why_a_file_cannot_be_read(self):
        (self.folder / "loop").symlink_to("loop")
        os.mkfifo(self.folder / "pipe")
        (self.folder / "empty").touch()
        for name, why in (("missing", "No such file or directory"), (".", "it is a folder"), ("empty", "it is empty"), ("loop", "Too many levels of symbolic links"),
                          ("pipe", "it is a pipe (FIFO)"), ("empty/below", "Not a directory")):
            path = self.folder / name
            self.says(path, 1, f"cannot say: {path} cannot be read: {why}")
        self.says("no-such-program-at-all", 1, "cannot be run: no-such-program-at-all: no such program is in any folder of PATH")
        path = self.file((WAYS / "ways-linked").read_bytes())
        path.chmod(0o644)
        self.says(path, 1, f"cannot be run: {path}: Permission denied")

    def test_the_verdict_follows_from_what_is_in_the_way(self):
        program = WAYS / "ways-linked"
        self.says(program, 1, "can be preloaded, but nothing would be replayed: the driver does not start: CUDA_ERROR_NO_DEVICE (100).", SIM_FAULT="cuInit:1=100")
        self.says(program, 1, "can be preloaded, but nothing would be replayed: Reprise would stand aside for", CUDA_LAUNCH_BLOCKING="1")
        self.says(program, 0, "can be preloaded", CUDA_LAUNCH_BLOCKING="1", REPRISE_TOOLS="ignore")
        self.says(program, 0, "REPRISE is off", "can be preloaded", REPRISE="off")    # reprise run sets it

    def test_the_verdict_follows_from_places_that_cannot_be_written_to(self):
        program, place = WAYS / "ways-linked", f"{self.folder}/nowhere/x"
        for name, what in (("REPORT", "report"), ("TIMELINE", "timeline"), ("RECORD", "recording"), ("DOT", "drawings"), ("METRICS", "metrics")):
            refused = {f"REPRISE_{name}": place}
            said = self.says(program, 1, f"can be preloaded, but reprise run refuses to start it: cannot write {what} to {place}: No such file or directory.\n", **refused)
            self.assertEqual(said.count("can be preloaded"), 1)
            self.assertEqual(reprise("doctor", **refused).returncode, 1)
            self.assertEqual(reprise("run", "--", "true", **refused).returncode, 2)
        self.says(program, 1, f"No such file or directory; and nothing would be replayed: Reprise would stand aside for", REPRISE_REPORT=place, CUDA_LAUNCH_BLOCKING="1")
        self.says(program, 0, "can be preloaded", REPRISE_REPORT=str(self.folder / "x"))

    def test_a_word_for_reports_is_no_word_for_other_places(self):
        self.assertRegex(reprise("doctor", REPRISE_RECORD="stderr").stdout, r"recording +stderr, which can be written to")
        said = self.says(WAYS / "ways-linked", 1, "cannot write drawings to stderr: No such file or directory", REPRISE_DOT="stderr")
        self.assertIn("refuses to start it", said)
        self.says(WAYS / "ways-linked", 1, "cannot write report to -: it goes to a file, not to standard output", REPRISE_REPORT="-")

    def test_a_library_whose_path_has_a_space(self):
        command = self.installed("a folder")
        shutil.copy(BUILD / "preload" / "libreprise.so", command.parents[2] / "preload" / "libreprise.so")
        outcome = subprocess.run([command, "doctor", WAYS / "ways-linked"], env=SIMULATION, capture_output=True, text=True)
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("cannot be preloaded: the library's path has a space or a colon in it.\n", outcome.stdout)
        self.assertNotIn("can be preloaded", outcome.stdout)

    def test_places_that_are_written_to(self):
        for name, what in (("REPORT", "report"), ("TIMELINE", "timeline"), ("STREAM", "recording")):
            said = reprise("doctor", **{f"REPRISE_{name}": f"{self.folder}/nowhere/x.%p"}).stdout
            self.assertIn(f"cannot write {what} to {self.folder}/nowhere/x.%p: No such file or directory", said)
            self.assertIn("reprise run refuses to start the program so, and preloaded by hand it runs and leaves none", said)
            self.assertRegex(reprise("doctor", **{f"REPRISE_{name}": f"{self.folder}/x.%p"}).stdout, rf"{what} +{self.folder}/x.%p, which can be written to")
        (self.folder / "link").symlink_to("x")
        self.assertIn(f"cannot write report to {self.folder}/link: it is a link", reprise("doctor", REPRISE_REPORT=f"{self.folder}/link").stdout)
        self.assertIn("cannot write report to /dev/null: it is a device", reprise("doctor", REPRISE_REPORT="/dev/null").stdout)
        self.assertIn(f"cannot write drawings to {self.folder}/nowhere: No such file", reprise("doctor", REPRISE_DOT=f"{self.folder}/nowhere").stdout)
        self.assertNotIn("cannot write", reprise("doctor", REPRISE_REPORT="stderr", REPRISE_DOT=str(self.folder)).stdout)

    def test_a_name_is_searched_for_as_the_shell_does(self):
        self.says("sh", 0, "can be preloaded")

    def test_a_file_that_is_cut_short_while_it_is_read(self):
        """All of it is gone, or what comes behind the first page."""
        whole = (WAYS / "ways-linked").read_bytes()
        self.assertGreater(len(whole), 2 * resource.getpagesize())
        for rest in 0, 1, resource.getpagesize():
            path = self.file(whole)
            said = self.says(path, 1, f"cannot say: {path} cannot be read: it became shorter meanwhile", LD_PRELOAD=str(WAYS / "libshrinks.so"), SHRINKS=str(path),
                             SHRINKS_TO=str(rest))
            self.assertNotIn("neither a program", said)
            self.assertEqual(path.stat().st_size, rest)
        self.says(self.file(whole), 0, LD_PRELOAD=str(WAYS / "libshrinks.so"))

    def test_files_that_are_no_programs(self):
        truncated = header(2, {"x86_64": 62, "aarch64": 183}[os.uname().machine])
        for content in (b"", b"#", b"\x7fELF", b"hello", b"\x7fELF" + b"\xff" * 60, truncated[:-1] + b"\xff", truncated[:32] + b"\xff" * 32):
            with self.subTest(content=content):
                self.assertEqual(reprise("doctor", str(self.file(content))).returncode, 1)
        self.assertEqual(reprise("doctor", str(self.folder)).returncode, 1)
        self.assertEqual(reprise("doctor", "no-such-program-at-all").returncode, 1)

    def test_a_program_cut_short_anywhere(self):
        whole = (WAYS / "ways-linked").read_bytes()
        for size in range(1, len(whole), 997):
            self.assertIn(reprise("doctor", str(self.file(whole[:size]))).returncode, (0, 1), size)


class StandIn(unittest.TestCase):
    MODULE = str(BUILD / "tests" / "programs" / "driver_kernels.so")

    def test_run_sets_the_path_and_leaves_the_rest(self):
        said = reprise("run", "--stand-in", "--", "env", LD_PRELOAD="libm.so.6").stdout
        self.assertIn(f"LD_LIBRARY_PATH={BUILD}/preload/stand_in:{BUILD}/tests/sim\n", said)
        self.assertIn("LD_PRELOAD=libm.so.6\n", said)

    def test_a_program_is_replayed(self):
        outcome = reprise("run", "--stand-in", "--", str(WAYS / "ways-linked"), self.MODULE)
        self.assertEqual(outcome.returncode, 0)
        self.assertRegex(outcome.stderr, r"of [\d,]+ launches")

    def test_it_speaks_on_the_commands_stderr_though_it_comes_late(self):
        outcome = reprise("run", "--stand-in", "--", str(WAYS / "ways-looked-up"), self.MODULE, REPRISE_PAYS="perhaps")
        self.assertEqual(outcome.stderr.count('"perhaps" is not one of'), 1)

    def test_twice_is_once(self):
        command = str(BUILD / "src" / "cli" / "reprise")
        outcome = reprise("run", "--stand-in", "--", command, "run", "--stand-in", "--", str(WAYS / "ways-linked"), self.MODULE)
        self.assertEqual((outcome.returncode, outcome.stdout), (0, reprise("run", "--", str(WAYS / "ways-linked"), self.MODULE).stdout))

    def test_without_a_driver_the_program_runs_without(self):
        outcome = reprise("run", "--stand-in", "--", str(WAYS / "ways-nothing"), LD_LIBRARY_PATH="")
        self.assertEqual(outcome.returncode, 0)
        if "no libcuda.so.1" in reprise("doctor", LD_LIBRARY_PATH="").stdout:
            self.assertIn("no libcuda.so.1", outcome.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
