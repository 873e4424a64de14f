#!/usr/bin/env python3
"""The timeline, on the simulated driver: what is in its file, against the report; how large it gets; and that it can be read however the program ends. What ran
on the GPU is in it as tests/report/cupti.c, which stands in for CUPTI, makes it up.

usage: test_timeline.py BUILD LIBRARY [FOLDER]      FOLDER has that CUPTI; without, Reprise was built without CUPTI
"""
import bisect
import collections
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lib import runs
from lib.runs import until

BUILD, LIBRARY = (Path(word).resolve() for word in sys.argv[1:3])
CUPTI = Path(sys.argv[3]).resolve() if sys.argv[3:] and sys.argv[3] else None
MODULE = BUILD / "tests" / "programs" / "driver_kernels.so"
SIMULATION = runs.simulated(BUILD)
EXIT_WORDS = json.loads((BUILD / "src" / "cli" / "reader" / "names.json").read_text())["exit_words"]
DEADLINE = 60


def launches(events):
    """What the program launched: the calls that are ops."""
    return [event for event in events if event["cat"] == "call" and ("grid" in event["args"] or "kind" in event["args"])]


def shape(name, iterations):
    return [BUILD / "tests" / "programs" / "launchbound-driver", "--module", MODULE, "--shape", name, "--iterations", str(iterations)]


def hazard(name):
    return [BUILD / "tests" / "hazards" / "hazards", MODULE, name]


# What events of each phase have, beside name, phase, process and thread: the viewers' format is no schema, and what one of them forgives, another drops.
FORM = {"X": {"cat": str, "ts": (int, float), "dur": (int, float), "args": dict}, "M": {"args": dict}, "C": {"ts": (int, float), "args": dict},
        "i": {"s": str, "ts": (int, float)}, "s": {"cat": str, "id": int, "ts": (int, float)}, "f": {"cat": str, "id": int, "ts": (int, float), "bp": str}}
NAMES_OF_METADATA = {"process_name": "name", "process_labels": "labels", "thread_name": "name"}


def wrong_form(event):
    """What is wrong with the form of an event; "" if nothing is."""
    form = FORM.get(event.get("ph"))
    if form is None:
        return "phase"
    wanted = form | {"name": str, "ph": str, "pid": int, "tid": int}
    if event["ph"] == "C" or event["ph"] == "M" and event["name"].startswith("process_"):    # of the whole process
        wanted.pop("tid")
    if set(event) != set(wanted):
        return f"keys {set(event) ^ set(wanted)}"
    wrong = [key for key, type_ in wanted.items() if not isinstance(event[key], type_) or isinstance(event[key], bool)]
    wrong += [key for key in ("ts", "dur", "pid", "tid") if key in event and event[key] < 0]
    if event["ph"] == "C" and not (len(event["args"]) == 1 and all(isinstance(value, int) and value >= 0 for value in event["args"].values())):
        wrong.append("args")
    if event["ph"] == "M" and list(event["args"]) != [NAMES_OF_METADATA.get(event["name"])]:
        wrong.append("args")
    return f"values {wrong}" if wrong else ""


def nanoseconds(event):
    begin = round(event["ts"] * 1000)
    return begin, begin + round(event["dur"] * 1000)


class Drawn(unittest.TestCase):
    """A program runs, and its timeline is read; for test_perfetto.py, too."""

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
        self.pid = outcome.pid
        report = self.folder / f"report.{outcome.pid}"
        self.report = json.loads(report.read_text()) if report.exists() else {}

    def replayed(self, name, count="replayed", **more):
        """The same with a shape, for as long as it takes to have some of what is counted."""
        def run(iterations):
            self.file.unlink(missing_ok=True)
            self.drawn(shape(name, iterations), REPRISE_TIMELINE_MOST="4096", **more)
        runs.long_enough(run, lambda _: self.report[count] > 0)

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
        self.assertEqual([], [(wrong_form(event), event) for event in self.whole if wrong_form(event)][:3])
        self.arrows_lead_from_deferrals_to_replays(tracks)
        return events

    def arrows_lead_from_deferrals_to_replays(self, tracks):
        """Each from a deferral that lasts then to a replay that begins then and before the deferral ends. A file that is full or cut may lack the last one's end."""
        begins = {phase: {event["id"]: event for event in self.whole if event["ph"] == phase} for phase in "sf"}
        self.assertEqual(sum(event["ph"] in "sf" for event in self.whole), len(begins["s"]) + len(begins["f"]))
        self.assertLessEqual(set(begins["f"]), set(begins["s"]))
        self.assertLessEqual(len(begins["s"]) - len(begins["f"]), 1)
        sorted_tracks = {track: sorted(spans) for track, spans in tracks.items()}

        def last_before(event, name):
            """The last of that name that began by then, on the event's track."""
            spans, at = sorted_tracks[event["pid"], event["tid"]], round(event["ts"] * 1000)
            i = bisect.bisect_right(spans, (at, float("inf"), "")) - 1
            while i >= 0 and spans[i][2] != name:
                i -= 1
            self.assertGreaterEqual(i, 0, event)
            return spans[i]
        for number, end in begins["f"].items():
            hold, replay = last_before(begins["s"][number], "deferral"), last_before(end, "replay")
            self.assertEqual((hold[0], replay[0]), tuple(round(event["ts"] * 1000) for event in (begins["s"][number], end)))
            self.assertTrue(hold[0] <= replay[0] and replay[1] <= hold[1], (hold, replay))

    def agrees(self, events):
        """With the report."""
        names = collections.Counter(event["name"] for event in events)
        self.assertEqual(len(events), self.report["timeline_events"])
        self.assertEqual(names["replay"], self.report["launches"])
        self.assertEqual(sum(event["args"]["calls"] for event in events if event["name"] == "replay"), self.report["replayed"])
        self.assertEqual(len(launches(events)), self.report["ops"])
        self.assertEqual({reason: names[f"early exit: {words}"] for reason, words in EXIT_WORDS.items()}, self.report["exits"])
        for name in ("build", "capture", "instantiate", "upload"):
            self.assertEqual(names[name], self.report["graphs_built"], name)
        return names

    def with_cupti(self, **more):
        if not CUPTI:
            self.skipTest("built without CUPTI")
        return {"REPRISE_CUPTI": "1", "LD_LIBRARY_PATH": f"{CUPTI}:{SIMULATION['LD_LIBRARY_PATH']}"} | more


class Timeline(Drawn):
    def test_everything_in_the_report_is_there(self):
        for name in ("extra-ops", "all-changed", "swap"):
            with self.subTest(name):
                self.replayed(name)
                names = self.agrees(self.read())
                self.assertGreater(names["replay"], 0)
                self.assertGreater(names["deferral"], 0)

    def test_calls_have_the_names_of_their_kernels_and_the_process_has_the_programs(self):
        self.drawn(shape("chain", 50))
        calls = launches(self.read())
        self.assertEqual({(event["name"], "grid" in event["args"]) for event in calls}, {("mix", True)})
        about = {event["name"]: event["args"] for event in self.whole if event["name"].startswith("process_")}
        self.assertEqual(about, {"process_name": {"name": "launchbound-driver"}, "process_labels": {"labels": "under Reprise"}})

    def test_eager_calls_have_the_names_of_their_kernels(self):
        """In eager turns, in pauses, and in captures of the program's."""
        def run(iterations):
            self.file.unlink(missing_ok=True)
            self.drawn(shape("mixed", iterations), REPRISE_TIMELINE_MOST="4096", REPRISE_TURNS="1")
        runs.long_enough(run, lambda _: self.report["turn_ops"] > 0)
        self.assertEqual({event["name"] for event in launches(self.read()) if "grid" in event["args"]}, {"mix", "turn"})
        for name, counter in ("paused", "paused_ops"), ("own_capture", "eager_capturing"):
            with self.subTest(name):
                self.file.unlink()
                self.drawn(hazard(name), REPRISE_TIMELINE_MOST="4096")
                self.assertGreater(self.report[counter], 0)
                self.assertEqual([event for event in launches(self.read()) if "grid" in event["args"] and event["name"] == "kernel"][:1], [])

    def counters(self, name):
        """The values of a counter, by time."""
        return [next(iter(event["args"].values())) for event in sorted((event for event in self.whole if event["ph"] == "C" and event["name"] == name), key=lambda event: event["ts"])]

    def test_calls_have_the_grids_of_their_kernels(self):
        self.drawn(shape("chain", 50))
        self.assertEqual({str(event["args"].get("grid")) for event in launches(self.read())}, {"[1, 1, 1]"})
        self.drawn(shape("pageable", 50), REPRISE_TIMELINE=str(self.folder / "copies"))
        copies = [event for event in launches(self.read(self.folder / "copies")) if event["args"].get("kind") == "copy"]
        self.assertTrue(copies)
        self.assertFalse([event for event in copies if "grid" in event["args"]])

    def test_deferred_calls_are_counted_and_lead_to_their_replays(self):
        for submit in "auto", "always":
            with self.subTest(submit):
                self.replayed("all-changed", "async_launches" if submit == "always" else "replayed", REPRISE_SUBMIT=submit)
                events = self.read()
                holds = [event for event in events if event["name"] == "deferral"]
                self.assertEqual(sorted(self.counters("stream 0: deferred calls")), sorted([0] * len(holds) + [event["args"]["calls"] for event in holds]))
                arrows = sum(event["ph"] == "f" for event in self.whole)
                # A deferral that an early exit ended leads nowhere.
                self.assertGreater(arrows, 0)
                self.assertLessEqual(arrows, len(holds))
                self.assertGreaterEqual(arrows, len(holds) - sum(self.report["exits"].values()))

    def test_the_memory_of_graphs_is_counted(self):
        self.replayed("chain")
        self.read()
        counted = self.counters("graph memory")
        self.assertEqual(max(counted), self.report["graph_bytes_most"])

    def test_what_is_left_to_a_thread_of_ours_is_there(self):
        self.replayed("all-changed", "async_launches", REPRISE_SUBMIT="always")
        names = self.agrees(self.read())
        self.assertGreater(names["deferral"], 0)
        self.assertGreater(names["patch"], 0)

    def test_patches_are_within_their_replays(self):
        self.replayed("all-changed", "patched")
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
        calls = [nanoseconds(event) for event in launches(events)]
        ends = {end for _, end in calls}
        self.assertEqual(len(ends), len(calls))

    def test_nothing_lasts_longer_than_the_run_where_the_counter_goes_back(self):
        if subprocess.run(hazard("counter_jumps"), env=SIMULATION, capture_output=True, timeout=DEADLINE).returncode == 77:
            self.skipTest("the counter cannot be taken over here")
        self.drawn(hazard("counter_jumps"))
        events = [event for event in json.loads(self.file.read_text()) if event["ph"] == "X"]
        self.assertTrue(events)
        self.assertLess(max(event["ts"] + event["dur"] for event in events), DEADLINE * 1e6)

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
        self.assertEqual(self.whole[-1]["pid"], self.pid)
        self.assertGreater(self.whole[-1]["ts"], max(event["ts"] for event in self.whole[:-1] if event["ph"] == "X" and event["tid"] == self.pid) - 1e6)
        self.assertEqual(self.said.count(f"reprise: the timeline {self.file} stopped: it is as large as it may be\n"), 1)

    def test_threads_have_tracks_of_their_own(self):
        self.drawn(hazard("two_threads_one_stream"))
        self.assertGreaterEqual(len({event["tid"] for event in launches(self.read()) if "grid" in event["args"]}), 2)

    def test_threads_that_end_leave_room_for_others(self):
        self.drawn(hazard("thread_exit"), REPRISE_TIMELINE_MOST="19")
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
        self.addCleanup(process.kill)
        until(lambda: self.file.exists() and self.file.stat().st_size > 1 << 20, "a megabyte is written")
        process.kill()
        process.wait()
        self.assertGreater(len(self.read(ended=False)), 1000)

    def test_a_file_that_is_there_is_left_alone(self):
        self.file.write_text("mine")
        self.drawn(shape("chain", 50))
        self.assertEqual(self.file.read_text(), "mine")
        beside, = self.folder.glob("timeline.*")
        self.assertIn(f"reprise: {self.file} is there already: the timeline is in {beside}\n", self.said)
        self.assertGreater(len(self.read(beside)), 0)

    def test_what_cannot_be_written_is_told_once(self):
        target = self.folder / "target"
        target.write_text("mine")
        self.file.symlink_to(target)
        foreign = "the file there is no plain file, is another user's, or has other names (hard links)"
        for file, why in ((self.file, foreign), (Path("/dev/full"), foreign), (self.folder / "missing" / "timeline", "No such file or directory")):
            with self.subTest(str(file)):
                self.drawn(shape("chain", 300), REPRISE_TIMELINE=str(file))
                self.assertEqual(self.said.count(f"reprise: the timeline {file} stopped: {why}\n"), 1, self.said)
                self.assertEqual(self.report["timeline_events"], 0)
        self.assertEqual(target.read_text(), "mine")

    # ---- what ran on the GPU ----

    # Of a round of the CUPTI that stands in: how many there are of each name that it gives, and the streams.
    ROUND = {"alpha": 3, "beta": 3, "last": 1, "memset": 1, "copy, host to device": 1, '"quoted"\\\n\t\x7f\u00c3\u00a9': 1, "n" * 247 + "...": 1, "?": 1}
    STREAMS = {"alpha": 7, "beta": 7} | dict.fromkeys(("last", "memset", "copy, host to device", "?", "end"), 9)

    def on_gpu(self, events):
        """Those that ran on the GPU; the others."""
        return [event for event in events if event["cat"] == "gpu"], [event for event in events if event["cat"] != "gpu"]

    def test_kernels_are_there_on_the_tracks_of_their_streams(self):
        for mode in ("on", "verify"):
            with self.subTest(mode):
                def run(iterations):
                    self.file.unlink(missing_ok=True)
                    self.drawn(shape("chain", iterations), REPRISE=mode, REPRISE_TIMELINE_MOST="4096", **self.with_cupti(FAKE_CUPTI_THREAD="1"))
                    return self.on_gpu(self.read())

                ran, others = runs.long_enough(run, lambda events: sum(event["name"] == "last" for event in events[0]) > 3, (2000, 24000, 96000))
                events = ran + others
                rounds = [event["args"]["correlation"] for event in ran if event["name"] == "last"]
                counted = collections.Counter(event["name"] for event in ran)
                self.assertGreater(len(rounds), 3)
                self.assertEqual(rounds, list(range(1, len(rounds) + 1)))
                self.assertEqual(dict(counted), {name: times * len(rounds) for name, times in self.ROUND.items()} | {"end": 1})
                tracks = {event["tid"]: event["args"]["name"] for event in self.whole if event["name"] == "thread_name"}
                for event in ran:
                    if event["name"] in self.STREAMS:
                        self.assertRegex(tracks[event["tid"]], rf"^GPU 0, context 1, stream {self.STREAMS[event['name']]}($|, at)")
                # Of stream 7 some run at the same time.
                self.assertEqual(len({event["tid"] for event in ran}), 3)
                calls = [nanoseconds(event) for event in others if event["cat"] == "call"]
                self.assertGreaterEqual(min(nanoseconds(event)[0] for event in ran), min(begin for begin, _ in calls))
                for begin, end in map(nanoseconds, ran[:-1]):
                    self.assertLess(end - begin, 100000)
                self.assertEqual(len(events), self.report["timeline_events"])
                self.assertNotIn("gpu", self.report)
                self.file.unlink()

    def test_what_is_said_of_a_kernel(self):
        self.drawn(shape("chain", 600), **self.with_cupti())
        ran, _ = self.on_gpu(self.read())
        first = {event["name"]: event["args"] for event in ran if event["args"]["correlation"] == 1 and event["name"] in ("alpha", "last")}
        self.assertEqual(first["last"], {"grid": [8, 4, 1], "block": [64, 2, 1], "correlation": 1})
        self.assertEqual(first["alpha"], {"grid": [8, 4, 1], "block": [64, 2, 1], "correlation": 1, "graph_id": 4, "node_id": 4 << 32})
        self.assertEqual({event["args"].get("bytes") for event in ran}, {None, 4096, 8192})

    def test_how_busy_the_gpu_is(self):
        """The counter has what any of them ran, in windows of 10 ms: no less than what is known to have run when the last one was told, but for those told late."""
        self.drawn(shape("chain", 600), **self.with_cupti())
        ran, _ = self.on_gpu(self.read())
        busy = self.counters("GPU busy")
        self.assertTrue(busy)
        self.assertTrue(all(0 <= share <= 100 for share in busy), busy)
        at, covered = 0, 0
        for begin, end in sorted(map(nanoseconds, ran)):
            covered += max(end - max(begin, at), 0)
            at = max(at, end)
        counted = sum(share * 10_000_000 // 100 for share in busy)
        self.assertLessEqual(counted, covered)
        self.assertGreaterEqual(counted, covered // 2 - len(busy) * 100_000)    # a share is rounded down to one per cent of a window

    def test_observe_has_kernels_from_where_its_report_has_them(self):
        self.drawn(shape("chain", 400), REPRISE="observe", **self.with_cupti())
        ran, others = self.on_gpu(self.read())
        self.assertEqual(sum(event["name"] in ("alpha", "beta", "last", "end", "?") or event["name"][0] in '"n' for event in ran), self.report["gpu"]["kernels"])
        calls = sorted(nanoseconds(event)[0] for event in launches(others))
        self.assertGreater(min(nanoseconds(event)[0] for event in ran), calls[8191])
        self.drawn(shape("chain", 100), REPRISE="observe", REPRISE_TIMELINE=str(self.folder / "short"), **self.with_cupti())
        self.assertEqual(self.on_gpu(self.read(self.folder / "short"))[0], [])

    def test_kernels_count_for_how_large_the_file_is(self):
        def run(iterations):
            self.file.unlink(missing_ok=True)
            self.drawn(shape("chain", iterations), REPRISE_TIMELINE_MOST="1", **self.with_cupti(FAKE_CUPTI_THREAD="1"))
            self.assertLessEqual(self.file.stat().st_size, 1 << 20)
            self.assertEqual(len(self.read()), self.report["timeline_events"])
        runs.long_enough(run, lambda _: "as large as it may be" in self.whole[-1]["name"], (3000, 12000, 48000))

    def test_streams_beyond_the_last_number_have_no_deferrals(self):
        """They would lie across each other on one track."""
        self.drawn(hazard("streams_beyond_numbers"), REPRISE_MEMORY="1024", REPRISE_TIMELINE_MOST="4096")
        names = self.agrees(self.read())
        self.assertGreater(names["replay"], 0)
        self.assertEqual(names["deferral"], 0)

    def test_a_child_has_no_kernels(self):
        self.file = self.folder / "timeline.%p"
        self.drawn(hazard("fork_threads"), **self.with_cupti(FAKE_CUPTI_THREAD="1"))
        for file in self.folder.glob("timeline.*"):
            ran, _ = self.on_gpu(self.read(file, ended=False))
            self.assertEqual(bool(ran), file.suffix == f".{self.pid}")

    def test_kernels_of_a_program_that_is_killed_are_there(self):
        # Slow, since all that it writes until it is killed is read.
        environment = self.environment(REPRISE_TIMELINE_MOST="4096", SIM_SLOW="cuStreamSynchronize:2000", **self.with_cupti())
        process = subprocess.Popen(shape("chain", 100000000), env=environment, stdout=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        until(lambda: self.file.exists() and self.file.read_text().count('"last"') > 2, "kernels are written")
        process.kill()
        process.wait()
        self.assertGreater(len(self.on_gpu(self.read(ended=False))[0]), 2 * sum(self.ROUND.values()))

    def test_without_cupti_the_rest_is_there(self):
        for more, why in (({"REPRISE_CUPTI": "1"}, "measured: "), (self.with_cupti(FAKE_CUPTI_REFUSES="1"), "CUPTI refused"),
                          (self.with_cupti(FAKE_CUPTI_KEEPS_ITS_CLOCK="1"), r"CUPTI \(version \d+\) does not accept a timestamp callback\n")):
            self.drawn(shape("chain", 600), **more)
            events = self.read()
            self.assertEqual(self.on_gpu(events)[0], [])
            self.agrees(events)
            self.assertEqual(self.said.count("GPU kernels are not measured: "), 1, self.said)
            self.assertRegex(self.said, why)
            self.file.unlink()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
