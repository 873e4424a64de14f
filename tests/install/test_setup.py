#!/usr/bin/env python3
"""What cannot be built is refused when the build is set up, with the reason. And a build is set up again when what it finds has changed."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent.parent


class Setup(unittest.TestCase):
    def refuses(self, *options, reason, **environment):
        """Refuses with one line, which has the reason."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["meson", "setup", *options, folder, str(TOP)], env=os.environ | environment, capture_output=True, text=True, timeout=100)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        said, = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
        self.assertIn(reason, said)

    def refuses_header(self, text, reason):
        with tempfile.TemporaryDirectory() as toolkit:
            include = Path(toolkit) / "include"
            include.mkdir()
            (include / "cuda.h").write_text(text)
            self.refuses(f"-Dcuda={toolkit}", reason=f"{include}/cuda.h {reason}")

    def test_a_toolkit_that_is_not_there(self):
        self.refuses("-Dcuda=/nonexistent", reason="-Dcuda=/nonexistent: there is no include/cuda.h in it")
        with tempfile.TemporaryDirectory() as toolkit:
            (Path(toolkit) / "include" / "cuda.h").mkdir(parents=True)
            self.refuses(f"-Dcuda={toolkit}", reason=f"-Dcuda={toolkit}: there is no include/cuda.h in it")

    def test_a_toolkit_whose_place_depends_on_where_one_stands(self):
        self.refuses("-Dcuda=include", reason="-Dcuda=include: it has to be an absolute path")

    def test_a_toolkit_that_is_too_old(self):
        self.refuses_header("#define CUDA_VERSION 12040\n", "is of CUDA 12.4: 13.0 or newer is needed")

    def test_a_header_that_is_another_or_broken(self):
        for text in "", "#error\n", "#define CUDA_VERSION\n", "#define CUDA_VERSION 13\n", "<html>\n":
            with self.subTest(text=text):
                self.refuses_header(text, "does not say of which CUDA it is, or cannot be compiled")

    def test_a_wheel_is_built_with_the_header_that_its_python_has(self):
        """Whatever toolkit is here: this one is refused, by its own name."""
        with tempfile.TemporaryDirectory() as folder:
            include, about = Path(folder, "nvidia", "cu12", "include"), Path(folder, "nvidia_cuda_runtime-12.4.0.dist-info")
            for made in include, about:
                made.mkdir(parents=True)
            (include / "cuda.h").write_text("#define CUDA_VERSION 12040\n")
            (about / "METADATA").write_text("Metadata-Version: 2.1\nName: nvidia-cuda-runtime\nVersion: 12.4.0\n")
            (about / "RECORD").write_text("nvidia/cu12/include/cuda.h,,\n")
            self.refuses("-Dwheel=true", reason=f"{include.resolve()}/cuda.h is of CUDA 12.4: 13.0 or newer is needed", PYTHONPATH=folder)

    def test_link_time_optimisation(self):
        self.refuses("-Db_lto=true", reason="-Db_lto=true: the entry points are assembly")

    def test_link_time_optimisation_by_flags_as_packages_have_them(self):
        self.refuses("-Dtests=disabled", reason="-flto=auto: the entry points are assembly", CFLAGS="-O2 -flto=auto -ffat-lto-objects")
        self.refuses("-Dc_args=-flto", reason="-flto: the entry points are assembly")
        self.refuses("-Dcuda=/nonexistent", reason="-Dcuda=/nonexistent", CFLAGS="-flto -fno-lto")    # the last counts: it gets to what is next

    def test_files_that_are_compiled_as_one(self):
        self.refuses("--unity=on", reason="--unity=on: names that a file keeps to itself")

    def test_a_sanitizer_that_the_whole_process_would_need(self):
        self.refuses("-Db_sanitize=memory", reason="-Db_sanitize=memory: it has to be in all that a process loads")

    @unittest.skipUnless(shutil.which("aarch64-linux-gnu-gcc"), "there is no compiler here that has it")
    def test_a_sanitizer_that_marks_pointers(self):
        """For AArch64, and by a flag: on x86-64 compilers have it without what it needs, and older ones of meson do not offer it."""
        self.refuses("--cross-file", str(TOP / "cross" / "aarch64-linux-gnu.ini"), "-Dc_args=-fsanitize=hwaddress", reason="-fsanitize=hwaddress: it marks pointers")

    @unittest.skipUnless(shutil.which("clang"), "there is no clang here")
    def test_a_sanitizer_whose_functions_would_be_missed(self):
        for sanitizer in "address", "thread", "address,undefined":
            self.refuses(f"-Db_sanitize={sanitizer}", "-Db_lundef=false", reason=f"-Db_sanitize={sanitizer}: with clang its functions are in the program", CC="clang")

    def test_a_sanitizer_by_flags(self):
        """Whatever the compiler: before it is asked for anything else."""
        self.refuses("-Dtests=disabled", reason="-fsanitize=memory: it has to be in all that a process loads", CFLAGS="-O2 -fsanitize=memory", CC="clang" if shutil.which("clang") else "gcc")
        self.refuses("-Dc_args=-fsanitize=memory", reason="-fsanitize=memory: it has to be in all that a process loads", CC="clang" if shutil.which("clang") else "gcc")
        if shutil.which("gcc"):
            for flags in {"CFLAGS": "-fsanitize=address,undefined"}, {"CFLAGS": "-fsanitize=address -fsanitize=undefined"}, {"LDFLAGS": "-fsanitize=address,undefined"}:
                self.refuses(reason="-fsanitize=address,undefined: the build does not know of it by flags", CC="gcc", **flags)
            self.refuses(reason="-fsanitize=thread: the build does not know of it by flags", CC="gcc", CFLAGS="-fsanitize=undefined -fno-sanitize=undefined -fsanitize=thread")
        if shutil.which("clang"):
            self.refuses(reason="-fsanitize=undefined: with clang its functions are in the program", CC="clang", CFLAGS="-fsanitize=undefined")

    @unittest.skipUnless(shutil.which("gcc"), "there is no gcc here")
    def test_a_sanitizer_that_a_later_flag_takes_away(self):
        for taken in "-fno-sanitize=all", "-fno-sanitize=undefined,address":
            self.refuses("-Dcuda=/nonexistent", reason="-Dcuda=/nonexistent", CC="gcc", CFLAGS=f"-fsanitize=undefined,address {taken}")

    @unittest.skipUnless(shutil.which("gcc"), "there is no gcc here")
    def test_the_sanitizers_that_scripts_sanitize_has_are_not_refused(self):
        for sanitizer in "thread", "address,undefined":
            self.refuses(f"-Db_sanitize={sanitizer}", "-Dcuda=/nonexistent", reason="-Dcuda=/nonexistent", CC="gcc")


class Again(unittest.TestCase):
    """The demonstration sets the build up where Check is not there yet; the tests come to the same folder with it."""

    # In place of meson: notes what it is called with, and leaves what says that the folder is set up.
    MESON = """#!/bin/sh
        [ "$1" = setup ] || { echo 1.9.9; exit; }
        shift
        echo "$*" >>called
        for folder; do case $folder in -*) ;; *) mkdir -p "$folder"; touch "$folder/build.ninja" ;; esac; done
        """
    # Says what is in the file Check, and that it is not there without one.
    PKG_CONFIG = "#!/bin/sh\ncat Check 2>/dev/null\n"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, text in (("meson", self.MESON), ("pkg-config", self.PKG_CONFIG)):
            self.tool(name, text)

    def tool(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def set_up(self):
        """What meson is called with, and what is said."""
        called = self.folder / "called"
        called.unlink(missing_ok=True)
        script = f'cuda={self.folder}/toolkit; . "{TOP}/scripts/lib/lib.sh"; set_up build'
        done = subprocess.run(["bash", "-euc", script, "script"], cwd=self.folder, env=os.environ | {"PATH": f".:{os.environ['PATH']}"}, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return called.read_text().split() if called.exists() else [], done.stdout

    def test_what_has_come_since_sets_it_up_again(self):
        words, said = self.set_up()
        self.assertEqual((words[0], said), ("build", ""))
        self.assertEqual(self.set_up(), ([], ""))
        for change in (lambda: (self.folder / "Check").write_text("0.15.2"), lambda: (self.folder / "Check").write_text("0.16.0"), lambda: self.tool("nvcc", "#!/bin/sh\n"),
                       lambda: (self.folder / "Check").unlink()):
            change()
            words, said = self.set_up()
            self.assertEqual((words[:2], said), (["--reconfigure", "build"], "setting build up again: what it is built with has changed\n"))
            self.assertEqual(self.set_up(), ([], ""))

    def test_ci_runs_the_two_commands_in_the_order_of_README(self):
        for page in "README.md", ".ci/run":
            with self.subTest(page=page):
                self.assertEqual(re.findall(r"^(?:exec )?scripts/(demo|test)\b", (TOP / page).read_text(), re.M), ["demo", "test"])


if __name__ == "__main__":
    unittest.main()
