#!/usr/bin/env python3
"""Recording of op streams, on the simulated driver: what is in the file, what becomes of the file, and what the finder makes of it.

usage: test_recording.py BUILD LIBRARY [unittest's words]

LIBRARY is libreprise.so.
"""
import collections
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from lib import opstreams, runs
from lib.opstreams import DEVICE, NO_LANE, OTHER, PINNED
from lib.runs import until

BUILD, LIBRARY = (Path(word).resolve() for word in sys.argv[1:3])
PROGRAMS = BUILD / "tests" / "programs"
MODULE = PROGRAMS / "driver_kernels.so"
CHAIN = 24      # ops of an iteration of most shapes
SLOW = "SLOW_BUILD" in os.environ
BIG = 64 << 10  # bytes: more than is written at a time
TOP = Path(__file__).resolve().parents[2]
SIMULATION = runs.simulated(BUILD)


def shape(name, iterations=300, seed=1):
    return [PROGRAMS / "launchbound-driver", "--module", MODULE, "--shape", name, "--iterations", str(iterations), "--seed", str(seed)]


def relay(*words):
    return [PROGRAMS / "relay-driver", "--module", MODULE, "--iterations", "300", *words]


def hazard(name):
    return [BUILD / "tests" / "hazards" / "hazards", MODULE, name]


class Recording(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "stream"
        self.addTypeEqualityFunc(list, self.same)

    def same(self, first, second, msg=None):
        """Of lists: unittest's own difference of two long ones takes longer than a test may."""
        if first != second:
            at = next((i for i, (one, other) in enumerate(zip(first, second)) if one != other), min(len(first), len(second)))
            self.fail(self._formatMessage(msg, f"{len(first)} and {len(second)} long; from {at} on: {first[at:at + 8]} and {second[at:at + 8]}"))

    def environment(self, mode, file, **more):
        # Whether a trace pays is a matter of times, which mean nothing on the simulation.
        ours = {"REPRISE": mode, "REPRISE_RECORD": str(file), "REPRISE_REPORT": str(self.folder / "report.%p"), "REPRISE_PAYS": "assumed"}
        return SIMULATION | {"LD_PRELOAD": str(LIBRARY)} | ours | more

    def start(self, command, mode="observe", file=None, **more):
        return subprocess.Popen(command, env=self.environment(mode, file or self.file, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, cwd=self.folder)

    def run_recorded(self, command, mode="observe", file=None, preexec=None, **more):
        """Runs a program, which must print and return what it does alone; leaves its report and what was said in self."""
        plain = subprocess.run(command, env=self.environment("off", self.folder / "none"), capture_output=True, text=True, timeout=60)
        outcome = subprocess.Popen(command, env=self.environment(mode, file or self.file, **more), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, cwd=self.folder, preexec_fn=preexec)
        said, self.said = outcome.communicate(timeout=60)
        self.assertEqual((outcome.returncode, said), (plain.returncode, plain.stdout), self.said)
        report = self.folder / f"report.{outcome.pid}"
        self.report = json.loads(report.read_text()) if report.exists() else {}
        self.pid = outcome.pid

    def record(self, command, mode="observe", **more):
        self.run_recorded(command, mode, **more)
        records = opstreams.read(self.file)
        self.assertEqual(len(records), self.report["records_written"])
        self.assertEqual(sum(record.is_op for record in records), self.report["ops"])
        self.assertNotIn("recording_ended", self.report)
        return records

    def ends_early(self):
        self.assertEqual(len(re.findall(r"^reprise: the recording /\S+ stopped: ", self.said, re.M)), 1, self.said)
        self.assertIn("recording_ended", self.report)


def ops_of(records):
    return [record for record in records if record.is_op]


def kinds_of(records):
    return [record.kind for record in records]


class Records(Recording):
    def iterations(self, name, length=CHAIN, **more):
        """The ops of a shape, iteration by iteration."""
        ops = ops_of(self.record(shape(name), **more))
        self.assertEqual(len(ops), 300 * length)
        return [ops[i:i + length] for i in range(0, len(ops), length)]

    def test_each_op_and_wait_is_there(self):
        records = self.record(shape("chain"))
        loop = records[next(i for i, record in enumerate(records) if record.is_op):]
        self.assertEqual(kinds_of(loop[:300 * (CHAIN + 1)]), (["kernel"] * CHAIN + ["wait"]) * 300)
        self.assertEqual({record.lane for record in loop[:300 * (CHAIN + 1)]}, {0})

    def test_the_page_has_the_kinds_of_records(self):
        self.record(shape("chain"))
        named = [line.split(" ", 1) for line in self.file.read_bytes().split(b"\nend\n")[0].decode().split("\n")[1:]]
        self.assertEqual(re.findall(r"^\| (\d+) \| ([\w ]+) \|", (TOP / "docs" / "recording.md").read_text(), re.MULTILINE), [tuple(pair) for pair in named])

    def test_equal_ops_have_equal_hashes_and_others_do_not(self):
        first, *others = [[op.value for op in ops] for ops in self.iterations("chain")]
        self.assertEqual(len(set(first)), CHAIN)
        self.assertTrue(all(values == first for values in others))

    def test_one_kernel_is_one_shape_whatever_its_arguments(self):
        self.assertEqual(len({op.shape for ops in self.iterations("all-changed") for op in ops}), 1)

    def test_two_kernels_are_two_shapes(self):
        self.assertEqual(len({op.shape for ops in self.iterations("swap") for op in ops}), 2)

    def test_an_argument_that_changes_changes_the_value_alone(self):
        first, second = self.iterations("one-changed")[1:3]
        self.assertEqual([i for i in range(CHAIN) if first[i].value != second[i].value], [7])
        self.assertEqual([op.shape for op in first], [op.shape for op in second])

    def test_kinds_of_ops_and_of_memory(self):
        ops = self.iterations("mixed", 39)[5]
        self.assertEqual(kinds_of(ops)[:7], ["copy", "kernel", "memset", "kernel", "copy", "kernel", "memset"])
        copies = [(op.target_memory, op.source_memory) for op in ops if op.kind == "copy"]
        self.assertEqual(copies, [(DEVICE, PINNED)] + [(DEVICE, DEVICE)] * 6 + [(PINNED, DEVICE)])
        self.assertEqual({op.unfit for op in ops}, {0})

    def test_what_cannot_be_deferred_is_said_to_be_so(self):
        ops = self.iterations("pageable", 10)[5]
        self.assertEqual([bool(op.unfit) for op in ops], [True] + [False] * 8 + [True])
        self.assertEqual((ops[0].source_memory, ops[9].target_memory), (OTHER, OTHER))

    def test_each_stream_is_a_lane_and_a_barrier_says_whose_it_is(self):
        records = self.record(shape("two-streams"))
        iteration = [("kernel", 0)] * 8 + [("order", 0)] + [("kernel", 1)] * 8 + [("order", 1)] + [("kernel", 0)] * 4 + [("order", 0)] + [("kernel", 0)] * 4 + [("wait", 0)]
        told = [(record.kind, record.lane) for record in records if record.kind != "lane"]
        self.assertEqual(told[:300 * len(iteration)], iteration * 300)

    def test_lanes_are_described_once_with_their_order(self):
        records = self.record(shape("legacy-between"))
        lanes = [record for record in records if record.kind == "lane"]
        self.assertEqual([(lane.lane, lane.shape) for lane in lanes], [(0, 2), (1, 3)])
        self.assertEqual(len({lane.value for lane in lanes}), 1)

    def test_threads_on_one_stream(self):
        ops = ops_of(self.record(relay()))
        self.assertEqual([(op.lane, op.thread) for op in ops], ([(0, 0)] * 20 + [(0, 1)] * 20) * 300)

    def test_threads_with_streams_of_their_own(self):
        # Which lane comes first is chance, and so is which thread does.
        pairs = collections.Counter((op.lane, op.thread) for op in ops_of(self.record(relay("--own-streams"))))
        self.assertIn(pairs, ({(0, 0): 6000, (1, 1): 6000}, {(0, 1): 6000, (1, 0): 6000}))

    def test_many_threads_and_streams_that_end(self):
        records = self.record(hazard("threads_many_streams"))
        self.assertEqual({record.thread for record in ops_of(records)}, set(range(16)))
        self.assertEqual(kinds_of(records).count("stream"), 16 * 6)
        self.assertEqual(kinds_of(records).count("lane"), 16 * 6)

    def test_a_stream_without_a_lane(self):
        ops = ops_of(self.record(hazard("per_thread_default")))
        self.assertEqual({bool(op.unfit) for op in ops if op.lane == NO_LANE}, {True})
        self.assertEqual(sum(op.lane == NO_LANE for op in ops), 2 * 1200 * CHAIN)

    def test_what_the_driver_refused(self):
        records = self.record(shape("bad-launch"))
        refused = [i for i, kind in enumerate(kinds_of(records)) if kind == "refused"]
        self.assertEqual(len(refused), 300 // 37)
        self.assertEqual({records[i - 1].kind for i in refused}, {"kernel"})

    def test_a_lane_that_is_left_alone_is_recorded_all_the_same(self):
        # A few ops that come again, for want of time, keep it awake.
        records = self.record(shape("norepeat", 2000), REPRISE_SMALLEST="64")
        self.assertGreater(self.report["backed_off"], 0)
        self.assertEqual(sum(record.kind == "wait" and record.lane == 0 for record in records), 2000)

    def test_captures_of_the_program_are_marked_and_left_out(self):
        records = self.record(hazard("own_capture"))
        self.assertGreater(kinds_of(records).count("capture"), 10)

    def test_pauses_are_the_programs_own(self):
        began = time.monotonic()
        records = self.record(hazard("mapped_poll"))
        self.assertLess(sum(record.gap_ns for record in records) / 1e9, time.monotonic() - began)
        self.assertEqual([record.gap_ns for record in records if record.is_op][0], 0)

    def test_the_same_whether_replayed_or_only_observed(self):
        for command in (shape("chain"), shape("mixed"), shape("two-streams"), shape("pageable"), relay()):
            observed, replayed = (self.renamed(self.record(command, mode, file=self.folder / mode)) for mode in ("observe", "on"))
            self.assertEqual(observed, replayed, command)

    def record(self, command, mode="observe", file=None, **more):
        if file:
            self.file = file
            file.unlink(missing_ok=True)
        return super().record(command, mode, **more)

    @staticmethod
    def renamed(records):
        """Without pauses, and hashes by the order in which they come: addresses differ from run to run."""
        names = {}
        return [(record.kind, record.lane, record.thread, record.detail, *(names.setdefault(part, len(names)) for part in (record.shape, record.value)))
                for record in records if record.kind != "lane"]


class File(Recording):
    """What becomes of the file."""

    def test_it_is_its_users_alone(self):
        self.record(shape("chain"))
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o600)

    def test_percent_p_is_the_process(self):
        self.run_recorded(shape("chain"), file=self.folder / "stream.%p")
        self.assertTrue((self.folder / f"stream.{self.pid}").exists())

    def test_a_file_that_is_there_is_left_alone(self):
        self.file.write_text("mine")
        self.run_recorded(shape("chain"))
        self.assertEqual(self.file.read_text(), "mine")
        self.assertEqual(len(ops_of(opstreams.read(self.folder / f"stream.{self.pid}"))), 300 * CHAIN)

    def test_a_root_or_folder_that_is_gone_ends_it(self):
        self.run_recorded(hazard("nowhere"))

    def test_what_is_no_plain_file_is_not_written(self):
        other = self.folder / "other"
        unfit = {name: self.folder / name for name in ("link", "broken", "folder", "pipe")}
        other.write_text("mine")
        unfit["link"].symlink_to(other)
        unfit["broken"].symlink_to(self.folder / "made")
        unfit["folder"].mkdir()
        os.mkfifo(unfit["pipe"])
        before = set(self.folder.iterdir())
        for path in (*unfit.values(), "/dev/full", self.folder / "nowhere" / "stream", "/proc/stream"):
            for mode in ("observe", "on"):
                self.run_recorded(shape("chain"), mode, file=path)
                self.ends_early()
        self.assertEqual(other.read_text(), "mine")
        self.assertEqual({path for path in self.folder.iterdir() if not path.name.startswith("report.")}, before)

    def test_one_beside_an_earlier_one_is_told_of(self):
        self.run_recorded(shape("chain"), "observe")
        self.assertNotIn("there already", self.said)
        self.run_recorded(shape("chain"), "observe")
        beside = self.folder / f"{self.file.name}.{self.pid}"
        self.assertIn(f"reprise: {self.file} is there already: the recording is in {beside}\n", self.said)
        self.assertGreater(len(opstreams.read(beside)), 0)

    def test_another_file_that_takes_its_name_is_not_written(self):
        program = self.start(shape("chain", 40000))
        until(lambda: self.file.exists() and self.file.stat().st_size > BIG, "a part is written")
        self.file.rename(self.folder / "moved")
        self.file.write_text("mine")
        _, said = program.communicate(timeout=60)
        self.assertEqual(self.file.read_text(), "mine")
        self.assertIn(f"the recording {self.file} stopped: ", said)
        self.assertGreater(len(opstreams.read(self.folder / "moved")), 4000)

    def test_it_ends_at_its_size(self):
        self.run_recorded(shape("chain", 4000), REPRISE_RECORD_MOST="1")
        self.ends_early()
        self.assertLessEqual(self.file.stat().st_size, 1 << 20)
        self.assertGreater(self.file.stat().st_size, (1 << 20) - opstreams.RECORD.size)
        self.assertEqual(len(opstreams.read(self.file)), self.report["records_written"])

    def test_a_limit_on_files_ends_it_and_not_the_program(self):
        self.run_recorded(shape("chain", 4000), preexec=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2 * BIG, 2 * BIG)))
        self.ends_early()
        self.assertGreater(len(opstreams.read(self.file)), 4000)

    def test_a_killed_program_leaves_what_was_written(self):
        program = self.start(shape("chain", 1000000))
        until(lambda: self.file.exists() and self.file.stat().st_size > BIG, "a part is written")
        program.send_signal(signal.SIGKILL)
        program.communicate()
        self.assertGreater(len(ops_of(opstreams.read(self.file))), 3500)

    def test_children_add_nothing_to_it(self):
        for name in ("fork_threads", "fork_exec_mid_loop", "vfork_mid_loop"):
            self.file.unlink(missing_ok=True)
            self.run_recorded(hazard(name))
            records = opstreams.read(self.file)
            self.assertEqual(sum(record.is_op for record in records), self.report["ops"], name)
            self.assertEqual([path.name for path in self.folder.glob("stream*")], ["stream"], name)

    def test_it_agrees_with_the_report_where_lanes_cannot_be_watched(self):
        for name in ("many_streams", "streams_beyond_tables"):
            self.file.unlink(missing_ok=True)
            self.record(hazard(name), REPRISE_MEMORY="1")

    def test_nothing_stays_deferred_while_it_asks_about_a_kernel(self):
        for name in ("loading_behind_function", "loading_beside_deferred", "loading_in_backoff_stream", "loading_in_backoff_blocking_stream"):
            self.run_recorded(hazard(name), "on", SIM_SCHEDULE="eager", REPRISE_HOLD="100000")
            self.assertGreater(self.report["replayed"], 1000, name)

    def test_each_process_has_a_file(self):
        self.run_recorded(hazard("fork_before_init"), file=self.folder / "stream")
        self.assertEqual(len(list(self.folder.glob("stream*"))), 2)
        for path in self.folder.glob("stream*"):
            self.assertGreater(len(ops_of(opstreams.read(path))), 1000)

    def test_nothing_is_written_with_off(self):
        self.run_recorded(shape("chain"), "off")
        self.assertFalse(self.file.exists())


class Finding(Recording):
    """
    The finder replays of a recording what the library replayed in the very run that was recorded. It has two points more to lose, for each time that the
    machine interrupted the program: its hold limit strikes at once. And the library ten: until its graphs are built, which the finder has at once.
    """

    def replayed(self, path):
        found = subprocess.run([BUILD / "tests" / "streams" / "finder", "--from", "0", path], capture_output=True, text=True, check=True).stdout
        return float(dict(pair.split("=") for pair in found.split())["replayed"])

    def shares(self, command):
        """Of the library, and of the finder."""
        self.file.unlink(missing_ok=True)
        self.record(command, "on")
        return self.report["replayed"] / self.report["ops"], self.replayed(self.file)

    def lag(self, command):
        ours, theirs = self.shares(command)
        return theirs - ours

    def test_shares(self):
        for command in (*map(shape, ("chain", "one-changed", "all-changed", "swap", "mixed", "pageable", "cg", "two-streams", "legacy-between", "random-bodies",
                                     "extra-ops", "bad-launch")), relay(), relay("--own-streams")):
            with self.subTest(" ".join(str(word) for word in command[3:])):
                # A machine that is busy elsewhere lets the library build late, or leave a trace so often that it is put aside for long, or interrupts the
                # program again and again, but not each time.
                runs.long_enough(lambda iterations: self.lag([*command, "--iterations", str(iterations)]), lambda lag: -0.02 < lag < (1 if SLOW else 0.1),
                                       (5000, 5000, 5000, 5000, 20000, 80000))

    def test_what_comes_again_by_chance_is_left_alone_by_both(self):
        ours, theirs = self.shares(shape("norepeat", 5000))
        self.assertLess(max(ours, theirs), 0.2)


class Script(Recording):
    """scripts/record-stream."""

    def record_stream(self, *words):
        return subprocess.run([TOP / "scripts" / "record-stream", *words[:1], "--build", BUILD, *words[1:]], env=SIMULATION, cwd=self.folder,
                              capture_output=True, text=True)

    def test_a_program_is_recorded_and_added_to_the_test_data(self):
        archive = self.folder / "archive.tar.xz"
        shutil.copy(TOP / "tests" / "streams" / "recorded.tar.xz", archive)
        outcome = self.record_stream("relay", "--add", archive, "--", *relay())
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertIn("12000 ops on 1 lanes from 2 threads", outcome.stdout)
        self.assertEqual(len(ops_of(opstreams.read(self.folder / "streams" / "relay.ops"))), 12000)
        table = subprocess.run([TOP / "tests" / "streams" / "finding.py", BUILD / "tests" / "streams" / "finder", archive, "--only", "relay"],
                               capture_output=True, text=True, check=True).stdout
        self.assertIn("| relay |", table)

    def test_a_part_is_enough(self):
        self.assertEqual(self.record_stream("part", "--records", "1000", "--", *shape("chain")).returncode, 0)
        self.assertEqual(len(opstreams.read(self.folder / "streams" / "part.ops")), 1000)

    def test_what_fails_leaves_nothing(self):
        for command in (["false"], ["true"], shape("none")):
            self.assertNotEqual(self.record_stream("none", "--", *command).returncode, 0)
        self.assertEqual(list((self.folder / "streams").iterdir()), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
