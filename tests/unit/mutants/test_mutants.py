#!/usr/bin/env python3
"""scripts/mutants: which tests judge a mutant, in which order, for how long, and what it is called that is not found.

usage: test_mutants.py SCRIPTS
"""
import contextlib
import io
import sys
import tempfile
import time
from pathlib import Path

SCRIPTS = Path(sys.argv[1])
sys.path.insert(0, str(SCRIPTS))
from lib import load, mutants, trees  # noqa: E402


def same(got, wanted, what):
    if got != wanted:
        sys.exit(f"{what}: {got}, and not {wanted}")


class Coverage(mutants.Coverage):
    """Tests with their seconds and the lines of one file that they run."""

    def __init__(self, folder, tests):
        super().__init__(Path(folder))
        for name, (seconds, lines) in tests.items():
            self.add(name, seconds, {"src/op/a.c": set(lines)})


PROGRAMS = {"room": "/b/tests/unit/op/test_room", "other": "/b/tests/unit/lane/test_other", "short": "/t/short.py", "long": "/t/long.py", "far": "/t/far.py"}


def mutant(line, room="op"):
    return mutants.Mutant(room, "src/op/a.c", line, "a;\n", "b;\n")


def test_choice(folder):
    coverage = Coverage(folder, {"room": (6, {1, 2}), "other": (1, {1}), "short": (0.5, {1, 20}), "long": (30, {1, 30}), "far": (1, {30})})

    def order(line, finders=(), room="op"):
        return coverage.in_order(mutant(line, room), PROGRAMS, dict(finders))

    same(order(1), ["room", "short", "other", "long"], "a unit test of the room is first, then the shortest")
    same(order(1, room="lane"), ["other", "short", "room", "long"], "of another room")
    same(order(1, {"long": 99}), ["room", "long", "short", "other"], "one that has found many is worth its time")
    same(order(22), ["short"], "of a line that nobody runs, the nearest")
    same(order(25), ["short", "far", "long"], "of two that are as near, both")
    same(coverage.in_order(mutant(1), {"short": "/t/short.py"}, {}), ["short"], "a test that is not there")
    same(Coverage(folder + "/none", {}).in_order(mutant(1), PROGRAMS, {}), [], "nothing is known")


def test_options(module):
    for words, allowed in ((["--quick", "5", "--seed", "1"], True), (["--quick", "5", "--seed", "1", "--write"], False), (["--seed", "1", "--write"], True), ([], False)):
        sys.argv = ["mutants", *words]
        with contextlib.redirect_stderr(io.StringIO()):
            try:
                settings = module.arguments()
            except SystemExit:
                settings = None
        same(settings is not None, allowed, f"options {words}")
        if allowed and "--quick" in words:
            same(settings.tests, 5, "seconds of tests with --quick")


class Kept:
    def finders(self):
        return {}


class NoCopy:
    """A copy in which nothing is built: the tests are commands that fail, or not."""
    library = Path("/b/preload/libreprise.so")
    sound = Path("/b/sound")

    def plant(self, _):
        return lambda: None

    def make_library(self, _):
        pass


def test_verdicts(module, folder):
    def test(command):
        return {"cmd": ["/bin/sh", "-c", command, "/x/preload/libreprise.so"], "env": {}, "workdir": folder, "timeout": 30}

    # The name of the library tells whether the mutant is in it.
    finds, misses, always_fails = 'case $0 in */sound/*) exit 0;; esac; exit 1', "exit 0", "exit 1"
    fuzzed = []

    def verdict(commands, quick):
        coverage = Coverage(tempfile.mkdtemp(dir=folder), {name: (0.1, {1}) for name in commands})
        sys.argv = ["mutants", "--seed", "1", *(["--quick", str(quick)] if quick else [])]
        judge = module.Judge.__new__(module.Judge)
        judge.settings, judge.coverage, judge.kept, judge.build = module.arguments(), coverage, Kept(), Path("/b")
        judge.tests, judge.sound, judge.lock = {name: test(command) for name, command in commands.items()}, {}, contextlib.nullcontext()
        judge.by_fuzzer = lambda *_: fuzzed.append(1) and False
        facts = judge.judge(NoCopy(), mutant(1))
        return facts["verdict"], facts["by"]

    same(verdict({"one": misses, "two": finds}, 5), ("found", "two"), "found")
    same(verdict({"one": misses, "two": always_fails}, 5), ("late", ""), "a test that fails without the mutant, too, finds nothing")
    same(verdict({"one": misses}, 5), ("late", ""), "not found quickly")
    same(fuzzed, [], "quick mutants are not fuzzed")
    same(verdict({"one": misses}, None), ("survived", ""), "not found")
    same(len(fuzzed), 1, "others are fuzzed")
    begin = time.monotonic()
    same(verdict({"one": finds.replace("exit 1", "sleep 30")}, 1), ("found", "one"), "a test that hangs with the mutant")
    if time.monotonic() - begin > 20:
        sys.exit("a test ran for longer than --quick lets it")


def test_overdue(folder):
    """A process group of its own, as a test of Check's has, is killed as well, and a session of its own: either holds the pipe open."""
    for apart in ("setpgid(0, 0)", "setsid()"):
        begin = time.monotonic()
        command = f"{sys.executable} -c 'import os, time; os.{apart}; time.sleep(60)' & sleep 60"
        same(trees.run_test({"cmd": ["/bin/sh", "-c", command], "env": {}, "workdir": folder, "timeout": 2}, folder)[0], None, "a test that runs past its time")
        if time.monotonic() - begin > 30:
            sys.exit(f"what a test had started was waited for, after {apart}")


def main():
    module = load("scripts/mutants")
    with tempfile.TemporaryDirectory(prefix="reprise-mutants-test-") as folder:
        (Path(folder) / "none").mkdir()
        test_choice(folder)
        test_options(module)
        test_verdicts(module, folder)
        test_overdue(folder)


main()
