#!/usr/bin/env python3
"""What the command says, and when: it says what it knows, refuses what cannot be right before anything is started, and passes signals on.

usage: test_command.py BUILD
"""
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from lib import runs
from lib.runs import state, until

BUILD = Path(sys.argv[1]).resolve()
REPRISE = BUILD / "src" / "cli" / "reprise"
ENVIRONMENT = runs.simulated(BUILD) | {"REPRISE_PAYS": "assumed"}
PROGRAMS = BUILD / "tests" / "programs"
HEAT = [PROGRAMS / "heat-driver", "--module", PROGRAMS / "heat_kernels.so", "--size", "32", "--steps", "2000"]
FOR_LONG = [*HEAT[:-1], "1000000"]
HEAT_LINE = " ".join(map(str, HEAT))
STARTS_CUDA = [sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0)"]
PATIENCE = 60


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()

    def tearDown(self):
        self.assertEqual(list(self.temporary.iterdir()) if self.temporary.exists() else [], [], "something is left in the temporary place")

    def environment(self, **more):
        return ENVIRONMENT | {"TMPDIR": str(self.temporary)} | more

    def reprise(self, *words, status=0, **environment):
        outcome = subprocess.run([REPRISE, *words], env=self.environment(**environment), cwd=self.folder, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                                 timeout=PATIENCE)
        self.assertIn(outcome.returncode, [status] if status is not None else [0, 3], outcome.stdout + outcome.stderr)
        return outcome

    def said(self, *words, status=0, **environment):
        """What the command itself says, of what is on stderr."""
        return [line for line in self.reprise(*words, status=status, **environment).stderr.splitlines() if line.startswith("reprise")]

    def start(self, *words, **options):
        process = subprocess.Popen([REPRISE, *words], env=self.environment(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   **options)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def script(self, text, name="script"):
        path = self.folder / name
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)
        return str(path)

    def reporting(self, *changes, then=""):
        """A program that uses no CUDA and leaves reports as the library would, one for each of the changes."""
        if not hasattr(WithFolder, "real"):
            self.reprise("run", "--report", "real.json", "--", *HEAT)
            WithFolder.real = json.loads((self.folder / "real.json").read_text())
        lines = []
        for number, change in enumerate(changes, 1):
            report = WithFolder.real | {"ops": 2400, "replayed": 2328, "launches": 194, "traces": 2, "graphs_built": 2, "saved_ns": 4000000, "stopped": "the process ends", "run": "MARK"} | change
            text = "{\n" + ",\n".join(f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in report.items()) + "\n}\n"
            (self.folder / f"template{number}").write_text(text)
            lines.append(f'sed "s|MARK|$_REPRISE_RUN|" {self.folder}/template{number} > "$(printf %s "$REPRISE_REPORT" | sed "s/%p/{number}/g")"')
        return self.script("\n".join(lines + [then]))


class AtTheEnd(WithFolder):
    def test_a_signal_before_any_report(self):
        for words in (), ("--report", "kept.json"):
            said = self.said("run", *words, "--", "sh", "-c", "kill -TERM $$", status=-signal.SIGTERM)
            self.assertEqual(said, ["reprise: nothing is known of the launches: sh was ended by signal 15 (Terminated) before it could report"])

    def test_a_signal_to_a_program_that_replays(self):
        for mode in "run", "observe":
            process = self.start(mode, "--", *FOR_LONG)
            until(lambda: any(5 * report["replayed"] > report["ops"] for report in map(json.loads, map(Path.read_text, self.temporary.glob("*/*.json")))), "a snapshot has replays")
            process.send_signal(signal.SIGTERM)
            said = process.communicate(timeout=PATIENCE)[1]
            self.assertEqual(process.returncode, -signal.SIGTERM)
            self.assertIn("reprise: ended by signal 15 (Terminated); the last snapshot is shown\n", said)
            self.assertRegex(said, r"\d\d\.\d % of [\d,]+ launches (would be|were)? ?replayed")

    def test_a_snapshot_is_told_as_one(self):
        said = self.said("run", "--", self.reporting({"complete": False}, then="kill -KILL $$"), status=-signal.SIGKILL)
        self.assertEqual(said[0], "reprise: ended by signal 9 (Killed); the last snapshot is shown")
        self.assertRegex(said[1], r"% of 2,400 launches replayed")
        said = self.said("run", "--", self.reporting({"complete": False}, {"complete": True}))
        self.assertEqual(said[0], "reprise: 1 of 2 processes ended before the last report; the last snapshot is shown")
        self.assertEqual(len(self.said("run", "--", self.reporting({"complete": True}))), 1)
        self.assertEqual(len(self.said("run", "--", self.reporting({}))), 1)

    def test_a_snapshot_is_shown_by_observe(self):
        outcome = self.reprise("observe", "--", self.reporting({"complete": False, "mode": "observe"}, then="kill -KILL $$"), status=-signal.SIGKILL)
        self.assertIn("the last snapshot is shown", outcome.stderr)
        self.assertIn("What it does", outcome.stderr)

    def test_a_place_that_cannot_be_written(self):
        (self.folder / "link").symlink_to("elsewhere")
        for place, why in (("nowhere/r.json", "No such file or directory"), (f"{sys.executable}/r.json", "Not a directory"), ("link", "it is a link"), (".", "Is a directory"),
                           ("/dev/null", "it is a device or a pipe"), (str(self.folder), "Is a directory")):
            with self.subTest(place):
                said = self.said("run", "--", "touch", "started", status=2, REPRISE_REPORT=place)
                self.assertEqual(len(said), 1)
                self.assertTrue(said[0].startswith(f"reprise: REPRISE_REPORT: cannot write to {place}: {why}"), said)
                self.assertFalse((self.folder / "started").exists())
        for variable in "REPRISE_TIMELINE", "REPRISE_RECORD", "REPRISE_DOT":
            self.assertEqual(self.said("run", "--", "true", status=2, **{variable: "nowhere/x"}), [f"reprise: {variable}: cannot write to nowhere/x: No such file or directory"])
        self.assertEqual(len(self.said("observe", "--", "true", REPRISE_DOT="nowhere")), 1)    # where nothing is drawn

    def test_a_report_that_does_not_fit(self):
        for words in (), ("--report", "kept.json"):
            script = self.script(f'ulimit -f 0; exec {REPRISE} run {" ".join(words)} -- true')
            outcome = subprocess.run([script], env=self.environment(), cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
            self.assertRegex(outcome.stderr.splitlines()[-1], r"nothing is known of the launches: cannot write report to .*: File too large$")

    def test_a_report_that_does_not_fit_is_told_once(self):
        for words in [], ["--report", "kept.json"]:
            limited = self.script(f'ulimit -f 0; exec {REPRISE} run "$@"')
            outcome = subprocess.run([limited, *words, "--", *STARTS_CUDA], env=self.environment(), cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual((outcome.returncode, outcome.stdout), (0, ""), outcome.stderr)
            self.assertRegex(outcome.stderr, r"^reprise: nothing is known of the launches: cannot write report to .*: File too large\n$")

    def test_a_limit_that_the_command_does_not_have_is_told_by_the_library(self):
        limits_itself = STARTS_CUDA[-1] + "; import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
        said = self.said("run", "--report", "kept.json", "--", *STARTS_CUDA[:-1], limits_itself)
        self.assertEqual(said[0], "reprise: cannot write report to kept.json: File too large")

    def on_small_disk(self, script, *words):
        """Runs it with TMPDIR on a disk that has room for a few reports, and is gone afterwards."""
        disk = self.folder / "disk"
        disk.mkdir(exist_ok=True)
        script = self.script(f'mount -t tmpfs -o size=512k none {disk} || exit 77; mkdir {disk}/tmp; TMPDIR={disk}/tmp; export TMPDIR; {script}', name="on_disk")
        outcome = subprocess.run(["unshare", "-rm", script, REPRISE, *words], env=self.environment(), cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        if outcome.returncode in (1, 77) and "unshare" in outcome.stderr + outcome.stdout or outcome.returncode == 77:
            self.skipTest(f"there can be no disk of ours: {outcome.stderr}")
        return outcome

    def test_a_disk_that_is_full_at_the_end(self):
        program = self.reporting({}, then=f"(cat /dev/zero > {self.folder}/disk/full) 2>/dev/null; true")
        said = self.on_small_disk('"$@"', "run", "--", program).stderr.splitlines()
        self.assertEqual(said[0], f"reprise: cannot write report to {self.folder}/disk/tmp: No space left on device; what is not there is not counted")
        self.assertIn("of 2,400 launches", said[1])

    def test_a_full_disk(self):
        disk = self.folder / "disk"

        def on_full_disk(*words):
            return self.on_small_disk(f'(cat /dev/zero > {disk}/full) 2>/dev/null; "$@"', *words)
        for words in (), ("--report", f"{disk}/r.json"):
            outcome = on_full_disk("run", *words, "--", *HEAT)
            self.assertEqual(outcome.returncode, 0, outcome.stderr)
            said = [line for line in outcome.stderr.splitlines() if line.startswith("reprise")]
            self.assertEqual(said, [f"reprise: nothing is known of the launches: cannot write report to {words[1] if words else disk / 'tmp'}: No space left on device"])
        outcome = on_full_disk("run", "--report", f"{disk}/r.%p.json", "--", *HEAT)
        self.assertIn(f"cannot write report to {disk}: No space", outcome.stderr)
        outcome = on_full_disk("verify", "--", "date", "+%N")
        self.assertEqual(outcome.returncode, 2, outcome.stdout + outcome.stderr)
        self.assertIn("No space left on device", outcome.stderr)
        self.assertNotIn("differs", outcome.stdout)

    def test_without_the_temporary_place(self):
        self.assertRegex(self.said("run", "--", *HEAT, TMPDIR=str(self.folder / "missing"))[-1], r"of 2,400 launches")

    def test_a_program_that_cannot_be_started(self):
        for word, status, why in (("./missing", 127, "No such file or directory"), ("missing-altogether", 127, "No such file or directory"), (str(self.folder), 126, "Permission denied")):
            for command in "run", "observe":
                self.assertEqual(self.said(command, "--", word, status=status), [f"reprise: cannot start {word}: {why}"])

    def test_a_static_program(self):
        program = BUILD / "tests" / "ways" / "ways-nothing-static"
        self.assertEqual(self.said("run", "--", program),
                         [f"reprise: nothing is known of the launches: {program} is static, and nothing can be preloaded into it"])

    NO_REPORT = "no report came: {0} made no CUDA call that Reprise could see, ended by _exit, forbade itself to open files, or changed the environment; try reprise doctor {0}"

    def test_no_launches_are_said_only_of_who_reported_none(self):
        self.assertIn(self.NO_REPORT.format("true"), self.said("run", "--", "true")[0])
        for words in (["env", "-u", "LD_PRELOAD"], ["env", "REPRISE_REPORT="]):
            self.assertIn(self.NO_REPORT.format("env"), self.said("run", "--", *words, *HEAT)[0])
        self.assertEqual(self.said("run", "--", *STARTS_CUDA), ["reprise: no CUDA launches were seen"])
        self.assertIn("none of 7 launches was looked at", self.said("run", "--", self.reporting({"ops": 0, "replayed": 0, "paused_ops": 7}))[0])

    def test_what_a_model_expects_is_told_as_no_gain(self):
        for saved in (-469000, 0, 469000):
            program = self.reporting({"ops": 2400, "replayed": 984, "saved_ns": saved})
            self.assertEqual(self.said("run", "--", program), ["reprise: 41.0 % of 2,400 launches replayed, gain not measured"])

    def test_what_turns_have_measured_takes_the_place_of_the_estimate(self):
        words = "1.31 x faster, measured in 42 turns, 1.27 to 1.35"
        measured = {"measured": words, "saved_ns": 4000000}
        self.assertEqual(self.said("run", "--", self.reporting(measured)), [f"reprise: 97.0 % of 2,400 launches replayed, {words}"])
        several = self.said("run", "--report", "%p.json", "--", self.reporting(measured, measured))[0]
        self.assertRegex(several, r"^reprise: 97\.0 % of 4,800 launches replayed \(2 processes\), each report tells its gain; reprise report ")
        several = self.said("run", "--report", "%p.json", "--", self.reporting({}, {}))[0]
        self.assertRegex(several, r"^reprise: 97\.0 % of 4,800 launches replayed \(2 processes\), gain not measured; reprise report ")

    def test_run_measures_by_turns(self):
        self.assertRegex(self.said("run", "--turns", "1", "--", *HEAT[:-1], "20000")[0], r"launches replayed, (\d+\.\d\d x faster, measured in \d+ turns|no gain: left eager after|GPU-bound: nothing to gain|too short to measure)")

    def test_launches_that_nobody_looked_at_are_told_beside_those_that_were(self):
        self.assertRegex(self.said("run", "--", self.reporting({"paused_ops": 437520}))[0], r"gain not measured; 437,520 more came while Reprise was off$")
        self.assertRegex(self.said("run", "--", self.reporting({"eager_stopped": 10, "stopped": "a capture failed"}))[0], r"; 10 more came after it had stopped: a capture failed$")
        self.assertNotIn("more came", self.said("run", "--", self.reporting({"eager_stopped": 10, "stopped": "the process ends"}))[0])

    def test_why_nothing_was_replayed(self):
        nothing = {"ops": 2400, "replayed": 0, "wall_ns": 8000000, "saved_ns": 0}
        for change, why in (({"traces": 0}, "in 8 ms no sequence of launches came often enough"), ({"graphs_built": 0}, "the program ended after 8 ms, before any graph was ready"),
                            ({"graphs_built": 0, "quiescence_missed": 3}, "graphs are built while the GPU is idle, and it was not when one was to be built"),
                            ({"stopped": "a capture failed"}, "Reprise stopped: a capture failed"),
                            ({"unfit": {"pageable": 2400}, "traces": 0}, "none of them can be part of a graph; reprise observe says why")):
            self.assertEqual(self.said("run", "--", self.reporting(nothing | change)), [f"reprise: replayed 0 of 2,400 launches: {why}"])

    def test_a_gpu_that_is_never_idle_is_why_nothing_was_replayed(self):
        said = self.said("run", "--report", "r.json", "--", BUILD / "tests" / "hazards" / "hazards", PROGRAMS / "driver_kernels.so", "persistent_kernel", REPRISE_PAYS="measured")[0]
        self.assertRegex(said, r"^reprise: replayed 0 of [\d,]+ launches: the GPU was busy whenever a graph was to be built, so none was")
        self.assertRegex(json.loads((self.folder / "r.json").read_text())["measured"], "^the GPU was busy whenever a graph was to be built, so none was")

    def test_a_host_that_runs_ahead_of_the_gpu_has_nothing_to_gain(self):
        """It waits for nothing until the end, and the GPU takes many times as long for a launch as it does."""
        loop = [PROGRAMS / "launchbound-driver", "--module", PROGRAMS / "driver_kernels.so", "--shape", "chain-nosync", "--iterations"]

        def ran(iterations):
            said, = self.said("run", "--report", "r.json", "--", *loop, str(iterations), REPRISE_PAYS="measured", SIM_PACE="2000:10000:10000")
            return said, json.loads((self.folder / "r.json").read_text())

        # Where the machine is too busy for the host to run ahead, there is no verdict yet; where it paused, the loop behind that is another one.
        said, report = runs.long_enough(ran, lambda run: "bound" in (run[1]["turns"]["verdict"], run[1]["turns"].get("earlier", {}).get("verdict")), lengths=(10000, 20000, 40000, 80000))
        words = r"GPU-bound: (nothing to gain; left eager after [\d.]+ m?s|an earlier loop had nothing to gain)"
        self.assertRegex(said, rf"^reprise: [\d.]+ % of [\d,]+ launches replayed, {words}")
        self.assertRegex(report["measured"], f"^{words}")
        self.assertRegex(self.reprise("report", "r.json").stdout, rf"(?m)^[\d.]+ % of [\d,]+ launches were replayed; {words}")

    def test_what_turns_have_found_is_why_nothing_was_replayed(self):
        nothing = {"ops": 2400, "replayed": 0, "wall_ns": 8000000, "saved_ns": 0}
        left = "no gain: left eager after 5.1 ms, cost 100 us"
        self.assertEqual(self.said("run", "--", self.reporting(nothing | {"measured": left})), [f"reprise: replayed 0 of 2,400 launches: {left}"])
        for measured in "too short to measure", "not measured: no loop was found":
            short = self.said("run", "--", self.reporting(nothing | {"graphs_built": 0, "measured": measured}))
            self.assertEqual(short, ["reprise: replayed 0 of 2,400 launches: the program ended after 8 ms, before any graph was ready"])

    def test_quiet_says_nothing(self):
        for mode in "run", "observe":
            for program in self.reporting({"mode": "on" if mode == "run" else mode}), "true":
                self.assertEqual(self.reprise(mode, "--quiet", "--", program).stderr, "")
        self.assertEqual(self.reprise("run", "--quiet", "--report", "kept.json", "--", *HEAT).stderr.count("reprise"), 0)
        self.assertEqual(json.loads((self.folder / "kept.json").read_text())["options"]["REPRISE_LOG"], {"value": "silent", "from": "command"})
        self.assertEqual(self.reprise("run", "--quiet", "--html", "page.html", "--", *HEAT).stderr.count("reprise"), 0)
        self.assertIn("<html", (self.folder / "page.html").read_text())
        self.reprise("run", "--quiet", "--log", "info", "--report", "kept.json", "--", *HEAT)
        self.assertEqual(json.loads((self.folder / "kept.json").read_text())["options"]["REPRISE_LOG"]["value"], "info")

    def test_quiet_tells_errors(self):
        self.assertEqual(len(self.said("run", "--quiet", "--", "./missing", status=127)), 1)
        self.assertEqual(self.said("run", "--quiet", "--progress", "--", "true", status=2), ["reprise: --quiet and --progress exclude each other"])
        script = self.script(f'ulimit -f 0; exec {REPRISE} run --quiet --report kept.json -- true')
        outcome = subprocess.run([script], env=self.environment(), cwd=self.folder, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((outcome.returncode, outcome.stderr), (0, "reprise: cannot write report to kept.json: File too large\n"))

    def test_a_share_that_is_required(self):
        enough = self.reporting({})    # 97 %
        for quiet in [], ["--quiet"]:
            self.assertNotIn("--require", self.reprise("run", *quiet, "--require", "97", "--", enough).stderr)
            told = self.said("run", *quiet, "--require", "97.5", "--", enough, status=125)
            self.assertEqual(told[-1], "reprise: --require 97.5: only 97 % of 2,400 launches were replayed")
        for change in {"paused_ops": 100}, {"eager_stopped": 100, "stopped": "a capture failed"}:
            self.assertEqual(self.said("run", "--require", "97", "--", self.reporting(change), status=125)[-1], "reprise: --require 97: only 93.12 % of 2,500 launches were replayed")
        both = self.reporting({}, {"mode": "observe", "ops": 100})
        self.assertIn("93.12 % of 2,500 launches", self.said("run", "--require", "97", "--", both, status=125)[-1])
        for program in "true", self.reporting({"ops": 0, "replayed": 0}):
            self.assertEqual(self.said("run", "--require", "1", "--", program, status=125)[-1], "reprise: --require 1: no launch is known to be replayed")

    def test_a_program_that_fails_fails_as_itself(self):
        self.said("run", "--require", "99", "--", self.reporting({}, then="exit 7"), status=7)
        self.said("run", "--require", "99", "--", self.reporting({}, then="kill -TERM $$"), status=-signal.SIGTERM)

    def test_shares_that_cannot_be_required(self):
        for word in "0", "101", "x", "-1", "5x", "1e1", "nan", "1.2.3", ".":
            self.assertEqual(self.said("run", "--require", word, "--", "true", status=2), [f'reprise: --require: "{word}" is not a number above 0, up to 100 (per cent)'])

    def test_a_report_on_stderr_is_the_line_that_run_says(self):
        nothing = f"reprise: nothing is known of the launches: {self.NO_REPORT.format('true')}"
        self.assertEqual(self.said("run", "--report", "stderr", "--", "true"), [nothing])
        self.assertEqual(self.said("observe", "--", "true", REPRISE_REPORT="stderr"), [nothing])
        self.assertRegex(self.said("run", "--report", "stderr", "--", "sh", "-c", f"{HEAT_LINE}; {HEAT_LINE}")[0], r"of 4,800 launches.* \(2 processes\)[^;]*$")
        self.assertEqual(len(self.said("observe", "--report", "stderr", "--", *HEAT)), 1)
        self.assertNotIn("What it does", self.reprise("observe", "--report", "stderr", "--", *HEAT).stderr)
        said = self.said("run", "--report", "stderr", "--", self.reporting({"complete": False}, then="kill -KILL $$"), status=-signal.SIGKILL)
        self.assertEqual((len(said), said[0]), (2, "reprise: ended by signal 9 (Killed); the last snapshot is shown"))
        self.assertFalse((self.folder / "stderr").exists())

    def test_a_report_cut_short(self):
        program = self.reporting({}, then='printf "{\\n  \\"run\\": \\"$_REPRISE_RUN\\",\\n  \\"format\\": 2" > "$(printf %s "$REPRISE_REPORT" | sed "s/%p/2/g")"')
        said = self.said("run", "--", program)
        self.assertRegex(said[0], r"^reprise: the report in .*/2.json is not whole, and not counted$")
        self.assertRegex(said[1], r"% of 2,400 launches replayed")

    def test_nobody_reads_what_is_told(self):
        for mode in "run", "observe":
            process = self.start(mode, "--", "sh", "-c", f"{HEAT_LINE} 2>/dev/null")
            process.stderr.close()
            process.stdout.read()
            self.assertEqual(process.wait(PATIENCE), 0)
            process.stderr = None

    def test_nodes_that_were_checked(self):
        told = self.said("run", "--verify", "--", self.reporting({"mode": "verify", "nodes_verified": 119880, "nodes_not_verified": 0}))
        self.assertEqual(told[1], "reprise: verify: 119,880 graph nodes checked, all match")
        for words, environment in ((HEAT, {"CUDA_LAUNCH_BLOCKING": "1"}), (STARTS_CUDA, {})):
            self.assertEqual(self.said("run", "--verify", "--", *words, **environment)[1], "reprise: verify: no graph node was checked: this proves nothing")
        told = self.said("run", "--verify", "--", self.reporting({"mode": "verify", "nodes_verified": 0, "nodes_not_verified": 0}))
        self.assertEqual(told[1], "reprise: verify: no graph node was checked: this proves nothing")


class OfSeveralProcesses(WithFolder):
    BOTH = f"{HEAT_LINE} & {HEAT_LINE} & wait"

    def test_reports_by_process_are_summed_up(self):
        for pattern in "r.%p.json", "r.%p-%p.json", "%p.%p":
            with self.subTest(pattern):
                said = self.said("run", "--report", pattern, "--", "sh", "-c", self.BOTH)
                files = sorted(path.name for path in self.folder.iterdir() if path.is_file())
                self.assertEqual(len(files), 2)
                self.assertNotIn("%", " ".join(files))
                self.assertRegex(said[-1], r"of 4,800 launches.* \(2 processes\)")
                self.assertIn(f"reprise report {files[0]} {files[1]} tells more", said[-1])
                for file in files:
                    (self.folder / file).unlink()

    def test_observe_shows_them_joined(self):
        outcome = self.reprise("observe", "--report", "r.%p.json", "--", "sh", "-c", self.BOTH)
        self.assertIn("of 4,800 launches would be replayed", outcome.stderr)
        self.assertIn("2 processes of", outcome.stderr)

    def test_processes_that_only_observe_are_not_counted_as_replaying(self):
        alone = "reprise: nothing was replayed; 1 process only observed 2,400 launches"
        self.assertEqual(self.said("run", "--", "sh", "-c", f"REPRISE=observe {HEAT_LINE}"), [alone])
        self.assertEqual(self.said("run", "--", REPRISE, "observe", "--", *HEAT)[-1], alone)
        said = self.said("run", "--", self.reporting({"mode": "observe"}, {}, {"mode": "observe", "ops": 100}))
        self.assertRegex(said[0], r"^reprise: 97\.0 % of 2,400 launches replayed, gain not measured; 2 processes only observed 2,500 launches$")
        said = self.said("run", "--verify", "--", self.reporting({"mode": "observe", "nodes_verified": 0}))
        self.assertEqual(said, [alone, "reprise: verify: no graph node was checked: this proves nothing"])

    def test_processes_that_replay_are_not_counted_as_observing(self):
        self.assertEqual(self.said("observe", "--", "sh", "-c", f"REPRISE=on {HEAT_LINE}"),
                         ["reprise: nothing was observed; 1 process replayed instead of observing: 2,400 launches"])
        outcome = self.reprise("observe", "--", self.reporting({"pid": 1}, {"pid": 2, "mode": "observe", "ops": 2500, "replayed": 1250}))
        self.assertIn("50.0 % of 2,500 launches would be replayed", outcome.stderr)
        self.assertEqual(outcome.stderr.splitlines()[-1], "reprise: 1 process replayed instead of observing: 2,400 launches")
        self.assertNotIn("launches replayed", outcome.stderr)

    def test_processes_that_replay_without_checking_are_told_by_verify(self):
        said = self.said("run", "--verify", "--", self.reporting({"mode": "verify", "nodes_verified": 5, "nodes_not_verified": 2}, {}))
        self.assertEqual(said[1], "reprise: verify: 5 graph nodes checked, all match; 2 more could not be checked; 1 of 2 processes had REPRISE=on, which checks nothing")

    def test_a_program_that_switches_it_off_is_named(self):
        off = "1 process had REPRISE=off, which the program set, or what started it"
        alone, both = f"REPRISE=off {HEAT_LINE}", f"REPRISE=off {HEAT_LINE}; {HEAT_LINE}"
        self.assertEqual(self.said("run", "--", "sh", "-c", alone), [f"reprise: nothing was replayed; {off}"])
        self.assertEqual(self.said("observe", "--", "sh", "-c", alone), [f"reprise: nothing was observed; {off}"])
        self.assertRegex(self.said("run", "--", "sh", "-c", both)[0], rf"^reprise: .* of 2,400 launches[ ,:][^;]*; {off}$")
        outcome = self.reprise("observe", "--", "sh", "-c", both)
        self.assertIn("of 2,400 launches would be replayed", outcome.stderr)
        self.assertEqual(outcome.stderr.splitlines()[-1], f"reprise: {off}")
        self.assertNotIn(str(self.temporary), outcome.stderr)
        self.assertIn(f"reprise: nothing was replayed: this proves nothing ({off})\n", self.reprise("verify", "--", "sh", "-c", f"{alone} 2>/dev/null", status=3).stdout)
        self.said("run", "--report", "off.json", "--", "sh", "-c", alone)
        self.assertIn("Reprise was off, by REPRISE=off in the environment", self.reprise("report", "off.json").stdout)

    def test_processes_that_stood_aside_are_told_beside_those_that_did_not(self):
        aside = f"CUDA_LAUNCH_BLOCKING=1 {HEAT_LINE}"
        told = "1 process stood aside for blocking launches"
        self.assertEqual(self.said("run", "--", "sh", "-c", aside), ["reprise: stood aside for blocking launches; --tools ignore replays all the same"])
        for both in f"{aside}; {HEAT_LINE}", f"{HEAT_LINE}; {aside}":
            self.assertRegex(self.said("run", "--", "sh", "-c", both)[0], rf"^reprise: .* of 2,400 launches[ ,:][^;]*; {told}$")
            outcome = self.reprise("observe", "--", "sh", "-c", both)
            self.assertIn("of 2,400 launches would be replayed", outcome.stderr)
            self.assertEqual(outcome.stderr.splitlines()[-1], f"reprise: {told}")
        said = self.said("run", "--", self.reporting({"mode": "off", "ops": 0, "aside": "why", "tool": "one"}, {"mode": "off", "ops": 0, "aside": "why", "tool": "another"}, {"mode": "off", "ops": 0}))
        self.assertEqual(said, ["reprise: nothing was replayed; 2 processes stood aside for several tools; 1 process had REPRISE=off, which the program set, or what started it"])

    def test_who_is_off_by_hand_leaves_nothing(self):
        by_hand = ENVIRONMENT | {"LD_PRELOAD": str(BUILD / "preload" / "libreprise.so"), "REPRISE": "off", "REPRISE_REPORT": str(self.folder / "r.json")}
        outcome = subprocess.run(HEAT, env=by_hand, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((outcome.returncode, "reprise" in outcome.stderr, list(self.folder.glob("r.json*"))), (0, False, []))

    def test_what_verify_runs_without_is_not_counted_as_off(self):
        told = self.reprise("verify", "--", "sh", "-c", f"{HEAT_LINE} 2>/dev/null", LD_PRELOAD=str(BUILD / "preload" / "libreprise.so"), status=None).stdout
        self.assertNotIn("REPRISE=off", told)

    def test_a_second_file_of_one_name_is_counted_and_named(self):
        for how in self.BOTH, f"{HEAT_LINE}; {HEAT_LINE}", f"{REPRISE} run -- {HEAT_LINE}; {REPRISE} run -- {HEAT_LINE}":
            for _ in range(2):    # the second replaces the first one's
                said = self.said("run", "--report", "shared.json", "--", "sh", "-c", how)
                second = next(path.name for path in self.folder.iterdir() if path.name.startswith("shared.json."))
                self.assertRegex(said[-1], r"of 4,800 launches.* \(2 processes\)")
                self.assertIn(f"reprise report shared.json {second} tells more", said[-1])
                (self.folder / second).unlink()

    def test_others_reports_are_not_counted(self):
        self.reprise("run", "--report", "r.%p.json", "--", *HEAT)
        self.assertRegex(self.said("run", "--report", "r.%p.json", "--", *HEAT)[-1], r"of 2,400 launches")

    def test_names_that_look_like_patterns(self):
        self.assertIn("reprise report r[1]*?.json tells more", self.said("run", "--report", "r[1]*?.json", "--", *HEAT)[-1])

    def test_a_command_within_a_command(self):
        outcome = self.reprise("run", "--", REPRISE, "run", "--", *HEAT)
        told = [line for line in outcome.stderr.splitlines() if line.startswith("reprise")]
        self.assertEqual(len(told), 2)
        for line in told:
            self.assertRegex(line, r"of 2,400 launches")
            self.assertNotIn("tells more", line)
        outcome = self.reprise("run", "--report", "kept.json", "--", REPRISE, "run", "--", *HEAT)
        self.assertEqual(outcome.stderr.count("reprise report kept.json tells more"), 2)


class Signals(WithFolder):
    COUNT = """if 1:
        import signal, sys, time
        from pathlib import Path
        came = []
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP):
            signal.signal(number, lambda number, frame: came.append(number))
        Path("ready").touch()
        end = time.monotonic() + 60
        while not came and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.5)
        Path("came").write_text(" ".join(str(int(number)) for number in came))
    """

    def test_what_the_command_alone_gets_is_passed_on(self):
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
            for name in "ready", "came":
                (self.folder / name).unlink(missing_ok=True)
            process = self.start("run", "--", sys.executable, "-c", self.COUNT)
            until((self.folder / "ready").exists, "the program runs")
            process.send_signal(number)
            self.assertEqual(process.wait(PATIENCE), 0)
            self.assertEqual((self.folder / "came").read_text(), str(int(number)))

    def test_a_key_comes_once(self):
        # Nobody would let this process go on if it stopped, so TSTP does not stop it.
        for key, number in ((b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT), (b"\x1a", signal.SIGTSTP)):
            for name in "ready", "came":
                (self.folder / name).unlink(missing_ok=True)
            process, terminal = pty.fork()
            if process == 0:
                os.chdir(self.folder)
                os.execve(REPRISE, [str(REPRISE), "run", "--", sys.executable, "-c", self.COUNT], self.environment())
            until((self.folder / "ready").exists, "the program runs")
            os.write(terminal, key)
            self.read_to_end(terminal)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), 0)
            self.assertEqual((self.folder / "came").read_text(), str(int(number)))

    def child_of(self, process):
        child = int(until(lambda: Path(f"/proc/{process}/task/{process}/children").read_text().split(), "the program is there")[0])
        until(lambda: "sleep" in Path(f"/proc/{child}/comm").read_text(), "it runs")
        return child

    def test_who_stops_the_command_stops_the_program(self):
        process = self.start("run", "--", "sleep", "60", process_group=0)
        child = self.child_of(process.pid)
        for _ in range(2):
            process.send_signal(signal.SIGTSTP)
            self.assertEqual(os.waitpid(process.pid, os.WUNTRACED)[1], signal.SIGTSTP << 8 | 0x7f)
            until(lambda: state(child) == "T", "the program is stopped")
            process.send_signal(signal.SIGCONT)
            until(lambda: state(child) == "S" and state(process.pid) == "S", "both go on")
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE), -signal.SIGTERM)

    def test_a_command_that_ignores_the_stop_goes_on(self):
        process = self.start("run", "--", "sleep", "1", process_group=0, preexec_fn=lambda: signal.signal(signal.SIGTSTP, signal.SIG_IGN))
        self.child_of(process.pid)
        process.send_signal(signal.SIGTSTP)
        self.assertEqual(process.wait(PATIENCE), 0)

    def test_the_key_that_stops_a_job_of_a_shell(self):
        shell, terminal = pty.fork()
        if shell == 0:
            os.chdir(self.folder)
            os.execve("/bin/sh", ["sh", "-mc", f"{REPRISE} run -- sleep 60; touch stopped; until [ -e go ]; do sleep 0.01; done; fg"], self.environment())
        job = int(until(lambda: Path(f"/proc/{shell}/task/{shell}/children").read_text().split(), "the job is there")[0])
        child = self.child_of(job)
        os.write(terminal, b"\x1a")
        until((self.folder / "stopped").exists, "the shell has seen the job stop")
        until(lambda: (state(job), state(child)) == ("T", "T"), "both have stopped")
        (self.folder / "go").touch()
        until(lambda: state(job) == "S" and state(child) == "S", "both go on")
        os.write(terminal, b"\x03")
        self.read_to_end(terminal)
        self.assertIn(os.waitstatus_to_exitcode(os.waitpid(shell, 0)[1]), (-signal.SIGINT, 128 + signal.SIGINT))    # as shells differ

    @staticmethod
    def read_to_end(terminal):
        try:
            while select.select([terminal], [], [], PATIENCE)[0] and os.read(terminal, 4096):
                pass
        except OSError:
            pass
        os.close(terminal)

    def test_a_program_that_ends_by_the_signal(self):
        process = self.start("run", "--", "sleep", "60")
        child = until(lambda: Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split(), "the program is there")[0]
        until(lambda: "sleep" in Path(f"/proc/{child}/comm").read_text(), "it runs")
        process.send_signal(signal.SIGINT)
        self.assertIn("ended by signal 2 (Interrupt)", process.communicate(timeout=PATIENCE)[1])
        self.assertEqual(process.returncode, -signal.SIGINT)

    def test_what_is_ignored_stays_ignored(self):
        process = self.start("run", "--", "sh", "-c", f"touch ready; sleep 0.5; exit 7", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        until((self.folder / "ready").exists, "the program runs")
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(PATIENCE), 7)


class Usage(WithFolder):
    REFUSED = (
        ("runn -- touch started", "unknown command runn; did you mean run?"),
        ("./app", "unknown command ./app; reprise --help lists those that there are"),
        ("run --hold abc -- touch started", '--hold: "abc" is not a number from 0 to 100000 (microseconds)'),
        ("run --hold=-1 -- touch started", '--hold: "-1" is not a number from 0 to 100000 (microseconds)'),
        ("run --hold -- touch started", "--hold needs a value: a number from 0 to 100000 (microseconds)"),
        ("run --memory 0 touch started", '--memory: "0" is not a number from 1 to 65536 (MiB)'),
        ("observe --smallest 129 touch started", '--smallest: "129" is not a number from 1 to 128 (launches)'),
        ("run --pays mesured -- touch started", '--pays: "mesured" is not one of measured|assumed; did you mean measured?'),
        ("run --log loud -- touch started", '--log: "loud" is not one of silent|warning|info|debug'),
        ("run --cupti=2 -- touch started", '--cupti: "2" is not one of 0|1'),
        ("run --hodl 5 -- touch started", "run has no option --hodl; did you mean --hold?"),
        ("run -x -- touch started", "run has no option -x; reprise run --help lists those that it has"),
        ("run --files x -- touch started", "--files is an option of verify, not of run"),
        ("observe --verify -- touch started", "--verify is an option of run, not of observe"),
        ("observe --dot . -- touch started", "--dot is an option of run, verify, bench, not of observe"),
        ("observe --submit never -- touch started", "--submit is an option of run, verify, bench, not of observe"),
        ("observe --pays assumed -- touch started", "--pays is an option of run, verify, bench, not of observe"),
        ("observe --turns -- touch started", "--turns is an option of run, bench, not of observe"),
        ("verify --turns -- touch started", "--turns is an option of run, bench, not of verify"),
        ("verify --report stderr -- touch started", "verify: its verdict is on stdout, with no line on stderr: a report may go to a file"),
        ("verify --log info -- touch started", "verify: info and debug on stderr would be differences: the log may be silent or warning"),
        ("bench --report stderr -- touch started", "bench: its verdict is on stdout, with no line on stderr: a report may go to a file"),
        ("bench --log debug -- touch started", "bench: info and debug on stderr would be differences: the log may be silent or warning"),
        ("bench --runs 0 -- touch started", '--runs: "0" is not a number from 1 to 500'),
        ("bench --runs 501 -- touch started", '--runs: "501" is not a number from 1 to 500'),
        ("bench --runs ten -- touch started", '--runs: "ten" is not a number from 1 to 500'),
        ("bench --runs=-1 -- touch started", '--runs: "-1" is not a number from 1 to 500'),
        ("bench --seconds 1s -- touch started", '--seconds: "1s" is not a number from 1 to 1000000'),
        ("bench --runs", "--runs needs a value: N"),
        ("bench --runs -- touch started", "--runs needs a value: N"),
        ("bench --files x -- touch started", "--files is an option of verify, not of bench"),
        ("verify --runs 5 -- touch started", "--runs is an option of bench, not of verify"),
        ("run --json -- touch started", "--json is an option of report, bench, not of run"),
        ("bench", "bench needs a program: reprise bench [options] -- PROGRAM [ARGUMENT ...]"),
        ("observe --progress -- touch started", "--progress is an option of run, not of observe"),
        ("verify --progress -- touch started", "--progress is an option of run, not of verify"),
        ("doctor --hold 5", "--hold is an option of run, observe, verify, bench, not of doctor"),
        ("report --hold 5 x", "--hold is an option of run, observe, verify, bench, not of report"),
        ("run --verify=1 -- touch started", "--verify takes no value"),
        ("run --report - -- touch started", "--report: cannot write to -: it goes to a file, not to standard output"),
        ("run --report nowhere/r.json -- touch started", "--report: cannot write to nowhere/r.json: No such file or directory"),
        ("run --report /dev/null -- touch started", "--report: cannot write to /dev/null: it is a device or a pipe, not a plain file"),
        ("run --timeline nowhere/t.json -- touch started", "--timeline: cannot write to nowhere/t.json: No such file or directory"),
        ("run --dot nowhere -- touch started", "--dot: cannot write to nowhere: No such file or directory"),
        ("run --stream nowhere/s -- touch started", "--stream: cannot write to nowhere/s: No such file or directory"),
        ("run --stream-most many -- touch started", '--stream-most: "many" is not a number from 1 to 4096 (MiB)'),
        ("run --record-most", "--record-most needs a value: a number from 1 to 4096 (MiB)"),
        ("run --record-mots 5 -- touch started", "run has no option --record-mots; did you mean --record-most?"),
        ("doctor --stream x", "--stream is an option of run, observe, verify, bench, not of doctor"),
        ("run --cupti -- touch started", '--cupti: "1" has no effect without --timeline FILE, except in observe'),
        ("verify --cupti=1 -- touch started", '--cupti: "1" has no effect without --timeline FILE, except in observe'),
        ("run --timeline-most 5 -- touch started", '--timeline-most: "5" has no effect without --timeline FILE'),
        ("observe --record-most 5 -- touch started", '--record-most: "5" has no effect without --record FILE'),
        ("run --stream-most 5 -- touch started", '--stream-most: "5" has no effect without --record FILE'),
        ("run", "run needs a program: reprise run [options] -- PROGRAM [ARGUMENT ...]"),
        ("run --hold 5", "run needs a program: reprise run [options] -- PROGRAM [ARGUMENT ...]"),
        ("verify --files", "--files needs a value: GLOB"),
        ("verify --files -- touch started", "--files needs a value: GLOB"),
        ("doctor one two", "doctor looks at one program, without its arguments: reprise doctor one"),
        ("report", "report needs a report: reprise report FILE|FOLDER ... [--compare] [--json | --html FILE]"),
        ("report --compare x", "--compare takes two reports or folders, the earlier one first"),
        ("report --compare x y z", "--compare takes two reports or folders, the earlier one first"),
        ("report --compare --json x y", "--json and --compare exclude each other"),
        ("report --json --open x", "--json and --open exclude each other"),
        ("run --html /nonexistent/page.html -- touch started", "--html: cannot write to /nonexistent/page.html: No such file or directory"),
        ("verify --html page.html -- touch started", "--html is an option of run, observe, report, not of verify"),
        ("report --json --html x y", "--json and --html exclude each other"),
        ("report --jsn x", "report has no option --jsn; did you mean --json?"),
        ("ctl 5", "ctl needs a process and a word: reprise ctl PID|NAME|all on|off|report"),
        ("ctl 5 of", 'ctl: "of" is not one of on|off|report; did you mean on?'),
        (f"ctl {2 ** 32 + 1} report", f'ctl: "{2 ** 32 + 1}" is not the number of a process'),
        ("help runn", "help knows no command runn"),
    )

    def test_what_cannot_be_right_is_refused_before_the_program_starts(self):
        for words, line in self.REFUSED:
            with self.subTest(words):
                outcome = self.reprise(*words.split(), status=2)
                self.assertEqual((outcome.stdout, outcome.stderr), ("", f"reprise: {line}\n"))
                self.assertFalse((self.folder / "started").exists())

    def test_a_text_too_long(self):
        self.assertRegex(self.said("run", "--deny", "x" * 600, "--", "true", status=2)[0], r'--deny: "x{63}\.\.\." is not a text of at most 511 characters$')

    def test_a_switch_may_be_followed_by_its_value(self):
        for words, value in ((["--cupti"], "1"), (["--cupti", "1"], "1"), (["--cupti", "0"], "0"), (["--cupti=0"], "0"), (["--cupti=1"], "1")):
            self.assertEqual(self.reprise("observe", *words, "--", "printenv", "REPRISE_CUPTI").stdout, value + "\n")

    def test_what_has_an_effect_beside_another_option_is_taken_with_it(self):
        for words in ("--cupti --timeline t", "--timeline-most 5 --timeline t", "--record-most 5 --record r", "--record-most 5 --stream r", "--stream-most 5 --record r",
                      "--cupti 0"):
            self.reprise("run", *words.split(), "--", "true")
        for words, variable in (("--cupti", "REPRISE_TIMELINE"), ("--timeline-most 5", "REPRISE_TIMELINE"), ("--record-most 5", "REPRISE_RECORD"),
                                ("--record-most 5", "REPRISE_STREAM")):
            self.reprise("run", *words.split(), "--", "true", **{variable: "file"})
            self.reprise("run", *words.split(), "--", "true", status=2, **{variable: ""})

    def test_the_old_names_of_a_recording(self):
        def told(*words, **environment):
            outcome = self.reprise("run", *words, "--", "sh", "-c", "echo $REPRISE_RECORD $REPRISE_RECORD_MOST", **environment)
            return outcome.stdout.strip(), outcome.stderr.splitlines()[:-1]

        option = ["reprise: --stream has no effect: it is the old name of --record, which is given and counts"]
        variable = ["reprise: REPRISE_STREAM has no effect: it is the old name of REPRISE_RECORD, which is set and counts"]
        self.assertEqual(told("--record", "new", "--record-most", "5"), ("new 5", []))
        self.assertEqual(told("--stream", "old", "--stream-most", "5"), ("old 5", []))
        self.assertEqual(told("--stream", "old", "--record", "new"), ("new", option))
        self.assertEqual(told("--stream", "same", "--record", "same"), ("same", []))
        self.assertEqual(told("--record", "new", REPRISE_STREAM="old"), ("new", variable))
        self.assertEqual(told(REPRISE_RECORD="new", REPRISE_STREAM="old"), ("new", variable))
        self.assertEqual(told(REPRISE_STREAM="old"), ("", []))
        self.assertEqual(self.said("run", "--", "true", status=2, REPRISE_STREAM="nowhere/x"), ["reprise: REPRISE_STREAM: cannot write to nowhere/x: No such file or directory"])
        self.assertEqual(len(self.said("run", "--", *HEAT, REPRISE_RECORD="new", REPRISE_STREAM="old")), 2)    # the library does not say it again
        self.assertTrue((self.folder / "new").exists())
        self.assertFalse((self.folder / "old").exists())

    def test_an_old_name_records(self):
        self.reprise("run", "--", *HEAT, REPRISE_STREAM="by-variable")
        self.reprise("run", "--stream", "by-option", "--", *HEAT)
        for name in "by-variable", "by-option":
            self.assertTrue((self.folder / name).read_bytes().startswith(b"OPSTREAM2\n"))

    def test_help_and_version_everywhere(self):
        commands = re.findall(r"^(?:usage:)? +reprise ([a-z]+)", self.reprise("--help").stdout, re.M)
        self.assertEqual(set(commands), {"run", "observe", "report", "doctor", "verify", "bench", "ctl", "top", "help"})
        for words in (["--help"], ["-h"], ["help"]):
            self.assertEqual(self.reprise(*words).stdout, self.reprise("--help").stdout)
        version = self.reprise("--version").stdout
        self.assertRegex(version, r"^reprise \d+\.\d+\.\d+\n$")
        for command in commands:
            told = self.reprise(command, "--help").stdout
            self.assertTrue(told.startswith(f"usage: reprise {command} "), told)
            self.assertEqual(self.reprise(command, "-h").stdout, told)
            self.assertEqual(self.reprise("help", command).stdout, told)
            self.assertEqual(self.reprise(command, "help").stdout, told)
            self.assertEqual(self.reprise(command, "--version").stdout, version)

    def test_a_program_or_a_file_named_help_is_meant(self):
        program = self.script("echo a program", name="help")
        self.assertEqual(self.reprise("run", "--", program).stdout, "a program\n")
        for words, status in ((["run", "help"], 127), (["doctor", "help"], 1), (["report", "help"], 1)):
            self.assertNotIn("usage", self.reprise(*words, status=status).stdout)
        path = f"{self.folder}:{os.environ['PATH']}"
        program_alone = subprocess.run([REPRISE, "run", "help"], env=self.environment(PATH=path), cwd=self.temporary, capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(program_alone.stdout, "a program\n")
        self.assertIn("cannot start help", self.reprise("run", "--", "help", status=127).stderr)

    def test_a_command_tells_its_own_options_only(self):
        for command, there, missing in (("run", {"--hold", "--progress", "--stand-in"}, {"--files", "--json"}), ("verify", {"--hold", "--files"}, {"--progress", "--verify", "--runs"}), ("bench", {"--hold", "--runs", "--seconds", "--json"}, {"--files", "--progress"}),
                                        ("observe", {"--hold", "--cupti"}, {"--dot", "--submit", "--pays"}), ("report", {"--json", "--html"}, {"--hold"}), ("doctor", {"--help"}, {"--hold", "--json"})):
            told = set(re.findall(r"^  (--[a-z-]+)", self.reprise(command, "--help").stdout, re.M))
            self.assertLessEqual(there, told)
            self.assertFalse(missing & told)

    def test_without_a_word_all_is_told(self):
        self.assertIn("usage: reprise run", self.reprise(status=2).stderr)

    def test_an_environment_that_disagrees_is_told(self):
        line = "reprise: REPRISE=off in the environment is overridden by reprise run"
        self.assertEqual(self.said("run", "--", "true", REPRISE="off")[0], line)
        self.assertEqual(len(self.said("run", "--", "true", REPRISE="on")), 1)
        self.assertEqual(self.said("observe", "--", "true", REPRISE="on")[0], "reprise: REPRISE=on in the environment is overridden by reprise observe")
        self.assertEqual(self.said("run", "--", "true", REPRISE="\x1b[2J")[0], "reprise: REPRISE=?[2J in the environment is overridden by reprise run")
        self.assertEqual(self.said("run", "--hold", "8", "--hold", "9", "--", "true", REPRISE_HOLD="7")[0], "reprise: REPRISE_HOLD=7 in the environment is overridden by --hold 9")
        self.assertEqual(len(self.said("run", "--hold", "9", "--", "true", REPRISE_HOLD="9")), 1)
        self.assertEqual(self.said("run", "--progress", "--", "true", REPRISE_CONTROL="0")[0], "reprise: REPRISE_CONTROL=0 in the environment is overridden by --progress")

    def test_what_is_wrong_in_the_environment_is_named_once(self):
        wrong = {"REPRISE_HODL": "5", "REPRISE_MEMORY": "abc"}
        lines = ['reprise: REPRISE_MEMORY: "abc" is not a number from 1 to 65536 (MiB); the default is used', "reprise: REPRISE_HODL is no option; did you mean REPRISE_HOLD?"]
        for command, program, status in (("run", ["true"], 0), ("run", STARTS_CUDA, 0), ("observe", STARTS_CUDA, 0), ("verify", STARTS_CUDA, 3), ("run", [REPRISE, "run", "--", *STARTS_CUDA], 0)):
            with self.subTest(command, program=program):
                said = self.said(command, "--", *program, status=status, **wrong)
                self.assertEqual([line for line in said if "default" in line or "no option" in line], lines)
        for words, status in ((["report", "nowhere"], 1), (["ctl", str(os.getpid()), "on"], 1), (["doctor"], 0)):
            self.assertEqual(self.said(*words, status=status, **wrong)[:2], lines)
        # What a program says itself, its processes hear of.
        self.assertEqual(self.said("run", "--", "sh", "-c", 'REPRISE_HODL=6 exec "$@"', "sh", *STARTS_CUDA, **wrong)[2], lines[1])

    def test_a_process_that_does_not_accept_control(self):
        self.assertEqual(self.said("ctl", str(os.getpid()), "report", status=1),
                         [f"reprise: process {os.getpid()} does not accept control: start it with --control; it listens from its first CUDA call on"])
        gone = subprocess.Popen(["true"])
        gone.wait()
        self.assertEqual(self.said("ctl", str(gone.pid), "report", status=1), [f"reprise: there is no process {gone.pid}"])


class Verify(WithFolder):
    def test_nothing_replayed_proves_nothing(self):
        for program, why in ((["true"], "no report came"), ([BUILD / "tests" / "ways" / "ways-nothing-static"], "is static"), (STARTS_CUDA, "no CUDA launches were seen")):
            told = self.reprise("verify", "--", *program, status=3).stdout
            self.assertIn("nothing was replayed: this proves nothing", told)
            self.assertIn(why, told)
            self.assertNotIn("nothing differs", told)
        self.assertIn("Reprise stood aside for", self.reprise("verify", "--", *STARTS_CUDA, CUDA_LAUNCH_BLOCKING="1", status=3).stdout)

    def test_what_only_observes_proves_nothing(self):
        observes = f"REPRISE=observe {HEAT_LINE} 2>/dev/null"
        told = self.reprise("verify", "--", "sh", "-c", observes, status=3).stdout
        self.assertIn("reprise: nothing was replayed: this proves nothing (1 process only observed 2,400 launches)\n", told)
        told = self.reprise("verify", "--", "sh", "-c", f'[ "$REPRISE" = off ] || {{ {self.reporting({}, {"mode": "observe"})}; }}').stdout
        self.assertIn("reprise: nothing differs; 97.0 % of 2,400 launches replayed; 1 process only observed 2,400 launches\n", told)

    def test_a_difference_without_replaying_is_told_as_one(self):
        prints_the_library = [*STARTS_CUDA[:2], STARTS_CUDA[2] + "; import os; print(os.environ.get('LD_PRELOAD'))"]
        told = self.reprise("verify", "--", *prints_the_library, CUDA_LAUNCH_BLOCKING="1", status=1).stdout
        self.assertRegex(told, r"\nreprise: 1 differs, but nothing was replayed: this is not shown to come from replaying \(Reprise stood aside for .*\)\n$")

    def test_what_cannot_be_run_is_not_compared(self):
        self.assertEqual(self.said("verify", "--", "/nonexistent", status=127), ["reprise: cannot start /nonexistent: No such file or directory"])
        self.assertEqual(self.reprise("verify", "--", "/nonexistent", status=127).stdout, "")
        self.assertEqual(self.said("verify", "--", str(self.folder), status=126), [f"reprise: cannot start {self.folder}: Permission denied"])

    def test_without_means_without(self):
        told = self.reprise("verify", "--", *STARTS_CUDA[:2], "import os; print(os.environ['REPRISE'])", LD_PRELOAD=str(BUILD / "preload" / "libreprise.so"), status=1).stdout
        self.assertIn("  without  off\n  with     on\n", told)

    def test_who_ends_it_finds_all_as_it_was(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            for run in "off", "on":
                with self.subTest(number.name, run=run):
                    (self.folder / "kept").write_text("as it was\n")
                    (self.folder / "process").unlink(missing_ok=True)
                    script = self.script(f'echo changed > kept; echo new > made; [ $REPRISE = {run} ] || exit 0; echo $$ > process.new; mv process.new process; exec sleep 60')
                    # The tests may have been started with it ignored, as by nohup.
                    process = self.start("verify", "--files", "kept", "--files", "made", "--", script, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
                    child = int(until(lambda: (self.folder / "process").exists() and (self.folder / "process").read_text(), "the program runs"))
                    process.send_signal(number)
                    self.assertEqual(process.wait(PATIENCE), -number)
                    self.assertEqual(state(child), "")
                    self.assertEqual((self.folder / "kept").read_text(), "as it was\n")
                    self.assertFalse((self.folder / "made").exists())
                    self.assertEqual(list(self.temporary.iterdir()), [])

    def test_a_signal_that_it_was_to_ignore_does_not_end_it(self):
        script = self.script("[ $REPRISE = off ] && touch ready && sleep 0.5; echo done >> ended")
        process = self.start("verify", "--", script, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        until((self.folder / "ready").exists, "the program runs")
        process.send_signal(signal.SIGHUP)
        self.assertEqual(process.wait(PATIENCE), 3)
        self.assertEqual((self.folder / "ended").read_text(), "done\ndone\n")

    def test_who_ends_it_while_it_reads_its_input(self):
        end, begin = os.pipe()
        process = subprocess.Popen([REPRISE, "verify", "--", "cat"], env=self.environment(), stdin=end, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        until(lambda: list(self.temporary.iterdir()), "it has begun")
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(PATIENCE), -signal.SIGTERM)
        os.close(begin)
        os.close(end)


if __name__ == "__main__":
    runs.hear_signals()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
