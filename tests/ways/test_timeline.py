#!/usr/bin/env python3
"""The timeline, on the simulated driver: what is in its file, against the report; how large it gets; and that it can be read however the program ends.

usage: test_timeline.py BUILD LIBRARY
"""
import collections
import json
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import simulation  # noqa: E402

BUILD, LIBRARY = (Path(word).resolve() for word in sys.argv[1:3])
MODULE = BUILD / "tests" / "programs" / "driver_kernels.so"
SIMULATION = simulation.environment(BUILD)
CALLS = {"kernel", "copy", "copy 2D", "copy 3D", "memset"}
DEADLINE = 60


def shape(name, iterations):
    return [BUILD / "tests" / "programs" / "launchbound-driver", "--module", MODULE, "--shape", name, "--iterations", str(iterations)]


def hazard(name):
    return [BUILD / "tests" / "hazards" / "hazards", MODULE, name]


def nanoseconds(event):
    begin = round(event["ts"] * 1000)
    return begin, begin + round(event["dur"] * 1000)


class Timeline(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "timeline"

    def environment(self, **more):
        ours = {"REPRISE_TIMELINE": str(self.file), "REPRISE_REPORT": str(self.folder / "report.%p"), "REPRISE_PAYS": "assumed"}
        return SIMULATION | {"LD_PRELOAD": str(LIBRARY)} | ours | more

    def drawn(self, command, **more):
        """Runs a program, which must print and return what it does alone."""
        plain = subprocess.run(command, env=SIMULATION, capture_output=True, text=True, timeout=DEADLINE)
        outcome = subprocess.Popen(command, env=self.environment(**more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder)
        said, self.said = outcome.communicate(timeout=DEADLINE)
        self.assertEqual((outcome.returncode, said), (plain.returncode, plain.stdout), self.said)
        report = self.folder / f"report.{outcome.pid}"
        self.report = json.loads(report.read_text()) if report.exists() else {}

    def read(self, file=None, ended=True):
        """The events that last, all of which must be within one another or apart, on each track. The array's end may be missing if the program was not let
        end."""
        text = (file or self.file).read_text()
        self.whole = json.loads(text if ended or text.endswith("]\n") else text + "]")
        events = [event for event in self.whole if event["ph"] == "X"]
        tracks = collections.defaultdict(list)
        for event in events:
            tracks[event["pid"], event["tid"]].append((*nanoseconds(event), event["name"]))
        for track in tracks.values():
            around = []
            for begin, end, name in sorted(track, key=lambda event: (event[0], -event[1])):
                while around and around[-1][1] <= begin:
                    around.pop()
                self.assertTrue(not around or end <= around[-1][1], f"{name} at {begin} sticks out of {around and around[-1][2]}")
                around.append((begin, end, name))
        named = {(event["pid"], event["tid"]) for event in self.whole if event["name"] == "thread_name"}
        self.assertLessEqual(set(tracks), named)
        return events

    def agrees(self, events):
        """With the report."""
        names = collections.Counter(event["name"] for event in events)
        self.assertEqual(len(events), self.report["timeline_events"])
        self.assertEqual(names["replay"], self.report["launches"])
        self.assertEqual(sum(event["args"]["ops"] for event in events if event["name"] == "replay"), self.report["replayed"])
        self.assertEqual(sum(names[name] for name in CALLS), self.report["ops"])
        self.assertEqual({reason: names[f"side exit: {reason}"] for reason in self.report["exits"]}, self.report["exits"])
        for name in ("build", "capture", "instantiate", "upload"):
            self.assertEqual(names[name], self.report["graphs_built"], name)
        return names

    def test_everything_in_the_report_is_there(self):
        for name in ("absent-ops", "all-changed", "swap"):
            with self.subTest(name):
                self.drawn(shape(name, 600))
                names = self.agrees(self.read())
                self.assertGreater(names["replay"], 0)
                self.assertGreater(names["hold"], 0)
                self.file.unlink()

    def test_patches_are_within_their_replays(self):
        self.drawn(shape("all-changed", 600))
        events = self.read()
        patches = sorted(nanoseconds(event) for event in events if event["name"] == "patch")
        replays = sorted(nanoseconds(event) for event in events if event["name"] == "replay")
        self.assertGreater(len(patches), 0)
        at = 0
        for begin, end in patches:
            while at + 1 < len(replays) and replays[at + 1][0] <= begin:
                at += 1
            self.assertTrue(replays[at][0] <= begin and end <= replays[at][1])

    def test_a_call_that_replays_takes_no_longer_than_it_is_shown(self):
        self.drawn(shape("chain", 600))
        events = self.read()
        calls = [nanoseconds(event) for event in events if event["name"] in CALLS]
        ends = {end for _, end in calls}
        self.assertEqual(len(ends), len(calls))

    def test_without_being_asked_there_is_no_file(self):
        for more in ({"REPRISE_TIMELINE": ""}, {"REPRISE": "off"}):
            self.drawn(shape("chain", 50), **more)
            self.assertFalse(self.file.exists())

    def test_the_file_is_no_larger_than_it_may_be(self):
        self.drawn(shape("chain", 2000), REPRISE_TIMELINE_MOST="1")
        self.assertLessEqual(self.file.stat().st_size, 1 << 20)
        self.assertGreater(self.file.stat().st_size, 1 << 19)
        self.assertEqual(len(self.read()), self.report["timeline_events"])
        self.assertIn("as large as it may be", self.whole[-1]["name"])

    def test_threads_have_tracks_of_their_own(self):
        self.drawn(hazard("two_threads_one_stream"))
        self.assertGreaterEqual(len({event["tid"] for event in self.read() if event["name"] == "kernel"}), 2)

    def test_threads_that_end_leave_room_for_others(self):
        self.drawn(hazard("thread_exit"), REPRISE_TIMELINE_MOST="16")
        self.agrees(self.read())
        self.assertNotIn("as large", self.whole[-1]["name"])

    def test_each_process_has_a_file(self):
        self.file = self.folder / "timeline.%p"
        self.drawn(hazard("fork_before_init"))
        files = list(self.folder.glob("timeline.*"))
        self.assertGreaterEqual(len(files), 2)
        for file in files:
            pids = {event["pid"] for event in self.read(file)}
            self.assertEqual(pids, {int(file.suffix[1:])})

    def test_a_child_in_the_midst_of_the_loop_leaves_the_file_alone(self):
        for name in ("fork_threads", "fork_exec_mid_loop", "exit_pending"):
            with self.subTest(name):
                self.drawn(hazard(name))
                for file in self.folder.glob("timeline*"):
                    self.assertEqual(len({event["pid"] for event in self.read(file, ended=False)}), 1)
                    file.unlink()

    def test_a_program_that_is_killed_leaves_what_was_written(self):
        process = subprocess.Popen(shape("chain", 100000000), env=self.environment(REPRISE_TIMELINE_MOST="4096"), stdout=subprocess.DEVNULL)
        end = time.monotonic() + DEADLINE
        while not (self.file.exists() and self.file.stat().st_size > 1 << 20) and time.monotonic() < end:
            time.sleep(0.01)
        process.kill()
        process.wait()
        self.assertGreater(len(self.read(ended=False)), 1000)

    def test_a_file_that_is_there_is_left_alone(self):
        self.file.write_text("mine")
        self.drawn(shape("chain", 50))
        self.assertEqual(self.file.read_text(), "mine")
        beside, = self.folder.glob("timeline.*")
        self.assertGreater(len(self.read(beside)), 0)

    def test_what_cannot_be_written_is_told_once(self):
        target = self.folder / "target"
        target.write_text("mine")
        self.file.symlink_to(target)
        for file in (self.file, Path("/dev/full"), self.folder / "missing" / "timeline"):
            with self.subTest(str(file)):
                self.drawn(shape("chain", 300), REPRISE_TIMELINE=str(file))
                self.assertEqual(self.said.count("the timeline ends early"), 1, self.said)
                self.assertEqual(self.report["timeline_events"], 0)
        self.assertEqual(target.read_text(), "mine")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
