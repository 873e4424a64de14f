#!/usr/bin/env python3
"""NVTX, on the simulated driver: replays as ranges of the domain `reprise`, as tests/nvtx/listener.c hears them; the program's ranges that REPRISE_NVTX_OFF names,
whose calls are eager; and listeners that are not there, fail, or call back.

usage: test_nvtx.py BUILD LIBRARY PROGRAM LISTENER [TEST ...]
"""
import json
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from lib import runs

BUILD, LIBRARY, PROGRAM, LISTENER = (Path(word).resolve() for word in sys.argv[1:5])
MODULE = BUILD / "tests" / "programs" / "driver_kernels.so"
COMMAND = BUILD / "src" / "cli" / "reprise"
DEADLINE = 60
ITERATIONS, IN_RANGE, CHAIN = 400, 5, 24    # as in program.c
WAYS, IN_DOMAIN = 8, 3                      # as in ways.h; so many of them push in the domain `tests`
SURE = {"REPRISE_PAYS": "assumed", "REPRISE_SUBMIT": "never"}


class Nvtx(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.heard_in = self.folder / "heard"
        self.report_in = self.folder / "report.json"

    def ran(self, command, **environment):
        """Runs a command, which must print what the program prints without Reprise."""
        self.heard_in.unlink(missing_ok=True)
        self.report_in.unlink(missing_ok=True)
        env = runs.simulated(BUILD) | SURE | {"NVTX_HEARD": str(self.heard_in), "LC_ALL": "C.UTF-8"} | {name: str(value) for name, value in environment.items()}
        outcome = subprocess.run([str(word) for word in command], env=env, capture_output=True, text=True, timeout=DEADLINE)
        plain = subprocess.run([PROGRAM, MODULE], env=runs.simulated(BUILD), capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual((outcome.returncode, outcome.stdout), (plain.returncode, plain.stdout), outcome.stderr)
        self.report = json.loads(self.report_in.read_text()) if self.report_in.exists() else None
        return outcome

    def preloaded(self, *arguments, **environment):
        return self.ran([PROGRAM, MODULE, *arguments], LD_PRELOAD=LIBRARY, REPRISE_REPORT=self.report_in, **environment)

    def by_command(self, names, *more, run="run", **environment):
        return self.ran([COMMAND, run, "--nvtx-off", names, *more, "--report", self.report_in, "--", PROGRAM, MODULE, "ranges"], **environment)

    def by_hand(self, names, before="", program="ranges", **environment):
        """The same without the command, which has a library of its own."""
        return self.preloaded(program, REPRISE_NVTX_OFF=names, NVTX_INJECTION64_PATH=LIBRARY, _REPRISE_NVTX_BEFORE=before, **environment)

    def heard(self, kind=None, domain=None):
        """What the listener heard: tuples of the words of a line."""
        lines = [tuple(line.split("\t")) for line in self.heard_in.read_text().splitlines()] if self.heard_in.exists() else []
        of_domain = {"push": 2, "pop": 2, "string": 1, "domain": 1}
        return [line for line in lines if kind in (None, line[0]) and (domain is None or (line[0] in of_domain and line[of_domain[line[0]]] == domain))]

    def of_program(self):
        """What it heard of the program, without threads' numbers."""
        return [(line[0], *line[2:]) if line[0] in ("push", "pop") else line for line in self.heard() if "reprise" not in line and line[0] != "object"]

    # ---- replays ----

    def test_each_graph_launch_is_a_range_that_says_what_it_is(self):
        for submit in ("never", "always"):
            self.preloaded(NVTX_INJECTION64_PATH=LISTENER, REPRISE_SUBMIT=submit)
            pushed, popped = self.heard("push", "reprise"), self.heard("pop", "reprise")
            self.assertGreater(len(pushed), 100)
            self.assertEqual(len(pushed), self.report["launches"], submit)
            self.assertEqual(Counter(line[1] for line in popped), Counter(line[1] for line in pushed))
            self.assertEqual(sum(int(line[4]) for line in pushed), self.report["replayed"])
            for line in pushed:
                self.assertRegex(line[3], rf"^replay of {line[4]} calls?, (mix|turn)( \.\.\. (mix|turn))?$")
            self.assertEqual(self.heard("domain"), [("domain", "reprise")])
            self.assertEqual(self.report["tool"], "a reader of NVTX ranges")

    def test_a_range_ends_before_the_next_begins(self):
        self.preloaded(NVTX_INJECTION64_PATH=LISTENER)
        kinds = [line[0] for line in self.heard() if "reprise" in line and line[0] in ("push", "pop")]
        self.assertEqual(kinds, ["push", "pop"] * (len(kinds) // 2))

    def test_a_name_is_registered_once(self):
        self.preloaded(NVTX_INJECTION64_PATH=LISTENER)
        names = Counter(line[2] for line in self.heard("string"))
        self.assertEqual({name: 1 for name in {line[3] for line in self.heard("push")} | {"replay"}}, dict(names))

    def test_verified_replays_are_ranges_too(self):
        self.preloaded(NVTX_INJECTION64_PATH=LISTENER, REPRISE="verify")
        self.assertEqual(len(self.heard("push", "reprise")), self.report["launches"])

    def test_nothing_is_told_where_nothing_is_replayed(self):
        for mode in ("off", "observe"):
            self.preloaded(NVTX_INJECTION64_PATH=LISTENER, REPRISE=mode)
            self.assertEqual(self.heard(), [], mode)

    def loaded(self, **environment):
        """What libreprise.so has loaded."""
        self.preloaded(LD_DEBUG="files", LD_DEBUG_OUTPUT=self.folder / "loader", **environment)
        text = "".join(path.read_text(errors="replace") for path in self.folder.glob("loader.*"))
        for path in self.folder.glob("loader.*"):
            path.unlink()
        return {Path(line.split("file=")[1].split()[0]).name for line in text.splitlines() if "dynamically loaded by" in line and str(LIBRARY) in line}

    def test_nothing_is_loaded_where_nobody_listens(self):
        without = self.loaded()
        self.assertFalse([name for name in without if name != "libcuda.so.1"], without)
        for nobody in ("", "0"):
            self.assertEqual(self.loaded(NVTX_INJECTION64_PATH=nobody), without)
        self.assertEqual(self.loaded(NVTX_INJECTION64_PATH=LISTENER) - without, {LISTENER.name})

    def test_the_program_is_heard_as_ever(self):
        self.ran([PROGRAM, MODULE, "ranges"], NVTX_INJECTION64_PATH=LISTENER)
        alone = self.of_program()
        self.assertEqual(len([line for line in alone if line[0] == "push"]), 2 * ITERATIONS + 1)
        self.preloaded("ranges", NVTX_INJECTION64_PATH=LISTENER)
        self.assertEqual(self.of_program(), alone)
        self.assertEqual(len(self.heard("push", "reprise")), self.report["launches"])

    # ---- listeners that are none ----

    def test_a_library_that_does_not_listen_is_left_alone(self):
        text = self.folder / "text.so"
        text.write_text("no library\n")
        for path in (self.folder / "missing.so", text, self.folder, LIBRARY, BUILD / "tests" / "sim" / "libcuda.so.1", MODULE):
            said = self.preloaded(NVTX_INJECTION64_PATH=path, REPRISE_LOG="info").stderr
            self.assertGreater(self.report["launches"], 100)
            if path not in (LIBRARY, BUILD / "tests" / "sim" / "libcuda.so.1"):
                self.assertIn(f"replays are no NVTX ranges: {path} does not listen", said)

    def test_a_listener_that_fails_hears_nothing(self):
        for like in ("fails", "deaf"):
            for program in ((), ("ranges",)):
                self.preloaded(*program, NVTX_INJECTION64_PATH=LISTENER, NVTX_LISTENER=like)
                self.assertEqual([line for line in self.heard() if line != ("object",)], [], like)
                self.assertGreater(self.report["launches"], 100)

    def test_a_listener_without_strings_hears_of_replays(self):
        self.preloaded(NVTX_INJECTION64_PATH=LISTENER, NVTX_LISTENER="no-strings")
        self.assertEqual({line[3] for line in self.heard("push", "reprise")}, {"replay"})
        self.assertEqual(len(self.heard("push", "reprise")), self.report["launches"])

    def test_a_listener_may_call_cuda_and_nvtx(self):
        for submit in ("never", "always"):
            self.preloaded("ranges", NVTX_INJECTION64_PATH=LISTENER, NVTX_LISTENER="calls", REPRISE_SUBMIT=submit)
            self.assertEqual(len(self.heard("push", "reprise")), self.report["launches"])
        self.by_hand("eager*", LISTENER, NVTX_LISTENER="calls")
        self.assertEqual(self.report["nvtx_ops"], IN_RANGE * ITERATIONS)

    # ---- ranges whose calls are eager ----

    def check_eager(self, ranges=ITERATIONS):
        self.assertEqual(self.report["nvtx_ops"], IN_RANGE * ranges)
        self.assertEqual(self.report["ops"], (CHAIN + IN_RANGE) * ITERATIONS - IN_RANGE * ranges)
        self.assertGreater(self.report["replayed"], CHAIN * ITERATIONS // 2)

    def test_calls_in_a_named_range_are_eager_in_whatever_way_it_is_pushed(self):
        for ran in (self.by_hand, self.by_command):
            ran("eager*")
            self.check_eager()
            self.assertNotIn("tool", self.report)

    def test_names_are_globs_in_any_domain_unless_one_is_named(self):
        in_domain = ITERATIONS * IN_DOMAIN // WAYS
        for names, ranges in (("eager \u00e9", ITERATIONS), ("eager", 0), ("nothing,eager ?*,", ITERATIONS), ("tests@eager*", in_domain), ("@eager*", ITERATIONS - in_domain),
                              ("te*@eager*,other@*", in_domain), ("tests@eager*,@eager*", ITERATIONS), ("*@eager*", ITERATIONS), ("tests@", 0)):
            with self.subTest(names):
                self.by_hand(names)
                self.check_eager(ranges)

    def test_all_calls_may_be_eager(self):
        self.by_hand("eager*,replayed")
        self.assertEqual((self.report["ops"], self.report["nvtx_ops"]), (0, (CHAIN + IN_RANGE) * ITERATIONS))

    def test_the_command_says_how_many(self):
        self.assertIn("; 2,000 more came in NVTX ranges that are eager", self.by_command("eager*").stderr)
        self.assertIn("none of 11,600 launches was looked at: they came while Reprise was off or had stopped, in NVTX ranges that are eager, or in captures of the program's own",
                      self.by_command("eager*,replayed").stderr)

    def test_results_of_nvtx_are_as_without_reprise(self):
        def said(outcome):
            return [line for line in outcome.stderr.splitlines() if line.startswith(("pushed", "popped"))]
        self.assertEqual(said(self.by_hand("eager*")), said(self.ran([PROGRAM, MODULE, "ranges"])))
        with_listener = said(self.ran([PROGRAM, MODULE, "ranges"], NVTX_INJECTION64_PATH=LISTENER))
        self.assertEqual(with_listener, ["pushed 3", "popped 3"])
        self.assertEqual(said(self.by_hand("eager*", LISTENER)), with_listener)

    def test_ranges_count_in_every_mode_and_by_the_stand_in(self):
        for run in ("observe", "run"):
            self.by_command("eager*", run=run)
            self.assertEqual(self.report["nvtx_ops"], IN_RANGE * ITERATIONS)
        self.by_command("eager*", "--stand-in")
        self.check_eager()

    def test_by_turns_they_are_no_part_of_what_is_measured(self):
        self.by_hand("eager*", REPRISE_TURNS="1")
        self.assertEqual(self.report["nvtx_ops"], IN_RANGE * ITERATIONS)
        self.assertEqual(self.report["ops"], CHAIN * ITERATIONS)

    def test_by_hand_the_listener_has_to_be_reprise(self):
        self.assertIn("REPRISE_NVTX_OFF has no effect: NVTX_INJECTION64_PATH does not name this library", self.preloaded("ranges", REPRISE_NVTX_OFF="eager*").stderr)
        self.assertEqual(self.report["nvtx_ops"], 0)

    def profile(self, name, line):
        path = self.folder / "config" / "reprise" / f"{name}.conf"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(line + "\n")

    def test_a_profile_names_ranges_as_the_command_does(self):
        """Of the program, which another may start; the environment counts more."""
        self.profile(Path(PROGRAM).name, "REPRISE_NVTX_OFF = eager*")
        config, program = {"XDG_CONFIG_HOME": self.folder / "config"}, [PROGRAM, MODULE, "ranges"]
        run = [COMMAND, "run", "--report", self.report_in]
        for words, ranges in (["--", *program], True), (["--stand-in", "--", *program], True), (["--", "sh", "-c", '"$@"; true', "sh", *program], True), (["--nvtx-off", "other", "--", *program], False):
            with self.subTest(words=words[0]):
                self.assertNotIn("has no effect", self.ran([*run, *words], **config).stderr)
                self.assertEqual(self.report["nvtx_ops"], IN_RANGE * ITERATIONS if ranges else 0)
        self.profile(Path(PROGRAM).name, "REPRISE_NVTX_OFF =")
        self.profile("other", "REPRISE_NVTX_OFF = eager*")
        self.ran([*run, "--", *program], NVTX_INJECTION64_PATH=LISTENER, **config)
        self.assertEqual(self.report["nvtx_ops"], 0)
        self.assertEqual(len(self.heard("push", "reprise")), self.report["launches"])

    # ---- who listened before ----

    def test_the_listener_hears_all_the_same(self):
        self.ran([PROGRAM, MODULE, "ranges"], NVTX_INJECTION64_PATH=LISTENER)
        alone = self.of_program()
        for ran, environment in ((self.by_hand, {"before": LISTENER}), (self.by_command, {"NVTX_INJECTION64_PATH": LISTENER})):
            ran("eager*", **environment)
            self.assertEqual(self.of_program(), alone)
            self.assertEqual(len(self.heard("push", "reprise")), self.report["launches"])
            self.check_eager()
            self.assertEqual(self.report["tool"], "a reader of NVTX ranges")
        self.by_hand("eager*", LISTENER, NVTX_LISTENER="no-strings")
        self.assertEqual(self.report["nvtx_ops"], IN_RANGE * ITERATIONS * (WAYS - 2) // WAYS)    # what it does not know by a handle

    def test_a_listener_that_fails_leaves_the_ranges_known(self):
        for path, like in ((LISTENER, "fails"), (LISTENER, "deaf"), (self.folder / "missing.so", ""), (MODULE, "")):
            with self.subTest(path=path, like=like):
                self.by_hand("eager*", path, NVTX_LISTENER=like)
                self.assertEqual([line for line in self.heard() if line != ("object",)], [])
                self.assertEqual(self.report["nvtx_ops"], IN_RANGE * ITERATIONS * (WAYS - 2) // WAYS if like == "deaf" else IN_RANGE * ITERATIONS)

    def test_it_hears_where_reprise_is_off_and_in_a_command_within_another(self):
        self.ran([PROGRAM, MODULE, "ranges"], NVTX_INJECTION64_PATH=LISTENER)
        alone = self.of_program()
        self.preloaded("ranges", REPRISE="off", REPRISE_NVTX_OFF="eager*", NVTX_INJECTION64_PATH=LIBRARY, _REPRISE_NVTX_BEFORE=LISTENER)
        self.assertEqual(self.of_program(), alone)
        self.ran([COMMAND, "run", "--nvtx-off", "other", "--", COMMAND, "run", "--nvtx-off", "eager*", "--report", self.report_in, "--", PROGRAM, MODULE, "ranges"],
                 NVTX_INJECTION64_PATH=LISTENER)
        self.assertEqual(self.of_program(), alone)
        self.check_eager()

    def test_an_older_nvtx_and_extensions_are_passed_on(self):
        asks = "import ctypes, sys; library = ctypes.CDLL(sys.argv[1]); print(library.InitializeInjectionNvtx(b'a'), library.InitializeInjectionNvtxExtension(b'b'))"
        for before, answer, heard in ((LISTENER, "2 5\n", [("version 2", "a"), ("extension", "b")]), (self.folder / "missing.so", "0 0\n", []), ("", "0 0\n", []), (LIBRARY, "0 0\n", [])):
            env = runs.simulated(BUILD) | {"NVTX_HEARD": str(self.heard_in), "NVTX_INJECTION64_PATH": str(LIBRARY), "_REPRISE_NVTX_BEFORE": str(before)}
            outcome = subprocess.run([sys.executable, "-c", asks, LIBRARY], env=env, capture_output=True, text=True, timeout=DEADLINE)
            self.assertEqual((outcome.stdout, outcome.returncode), (answer, 0), outcome.stderr)
            self.assertEqual(self.heard(), heard)
            self.heard_in.unlink(missing_ok=True)

    def test_every_object_of_the_program_is_heard(self):
        for listener in ("", LISTENER):
            self.by_hand("eager*", listener, "objects")
            self.check_eager()
        self.assertEqual(len(self.heard("push", "default")), ITERATIONS * (2 * WAYS - IN_DOMAIN) // WAYS + 1)

    def test_an_object_that_gets_other_functions_is_heard_by_the_listener_alone(self):
        said = self.by_hand("eager*", LISTENER, "objects", NVTX_LISTENER="others").stderr
        self.assertEqual(self.report["nvtx_ops"], 0)
        self.assertEqual(len(self.heard("other")), ITERATIONS)
        self.assertEqual(said.count("a part of the program is not heard, since the listener has other functions for it"), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
