#!/usr/bin/env python3
"""Reports: their schema, that their figures fit together, and what `reprise report` and `reprise observe` make of them.

usage: test_report.py BUILD
"""
import html
import json
import os
import re
import sys
import tempfile
import time
import unittest
from pathlib import Path

from lib import runs

import amounts
import observed
import reports

BUILD = Path(sys.argv[1])
COMMAND = runs.Command(BUILD)
program, replayed, report, reprise = COMMAND.program, COMMAND.replayed, COMMAND.report, COMMAND.reprise
TOP = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((TOP / "docs" / "report.schema.json").read_text())

try:
    import jsonschema
except ImportError:
    jsonschema = None


class WithFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "report.json"


class Schema(WithFolder):
    def holds(self, path):
        if jsonschema is None:
            self.skipTest("there is no python3-jsonschema")
        jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(Path(path).read_text()))

    def test_reports_of_many_programs(self):
        for mode in ("run", "observe"):
            for shape in ("chain", "one-changed", "cg", "pageable", "extra-ops", "norepeat", "two-streams", "bad-launch"):
                with self.subTest(mode=mode, shape=shape):
                    report(self.path, mode, shape)
                    self.holds(self.path)

    def test_turns(self):
        told, _ = report(self.path, "run", "chain", REPRISE_TURNS="1")
        self.assertIn(told["turns"]["verdict"], ("undecided", "replay", "eager"))
        self.holds(self.path)

    def test_a_process_that_stood_aside(self):
        report(self.path, "run", "chain", CUDA_LAUNCH_BLOCKING="1")
        self.holds(self.path)

    def test_a_rank_of_a_job(self):
        report(self.path, "run", "chain", PMI_RANK="7")
        self.holds(self.path)

    def test_a_command_line_that_is_no_text(self):
        name = b'quote" back\\slash line\nbreak \xff\x01 \xc3\xbc'
        script = f"import os; os.execv({str(COMMAND.launchbound)!r}, [{name!r}, *{[str(word) for word in program('chain')[1:]]!r}])"
        outcome = reprise("run", "--report", self.path, "--", sys.executable, "-c", script)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.holds(self.path)
        command = json.loads(self.path.read_text())["command"]
        self.assertEqual((command[0].encode("latin-1"), command[1:3]), (name, ["--module", str(COMMAND.module)]))


class Figures(WithFolder):
    def test_every_op_has_one_fate(self):
        for mode in ("run", "observe"):
            for shape in ("chain", "pageable", "extra-ops", "norepeat"):
                with self.subTest(mode=mode, shape=shape):
                    told, _ = report(self.path, mode, shape)
                    self.assertEqual(sum(ops for _, ops, _ in reports.fates(told)), told["ops"])

    def test_traces_and_lanes_and_the_series_have_all_ops(self):
        told, _ = report(self.path, "run", "two-streams")
        rows = [*told["trace_rows"], told["trace_rest"]]
        self.assertEqual(sum(row["ops"] for row in rows), told["replayed"])
        self.assertEqual(sum(row["replays"] for row in rows), told["launches"])
        self.assertEqual(sum(row["made"] for row in rows), told["traces"])
        self.assertEqual(sum(sum(row["exits"].values()) for row in rows), told["side_exits"])
        for name in ("ops", "replayed", "launches", "traces"):
            self.assertEqual(sum(row[name] for row in told["lane_rows"]), told[name], name)
        for name in ("ops", "replayed"):
            self.assertEqual(sum(told["share"][name]), told[name], name)

    def test_the_series_has_the_ops_of_eager_turns_when_they_came(self):
        def run(iterations):
            told = report(self.path, "run", "chain", iterations=iterations, REPRISE_TURNS="1")[0]
            self.assertEqual([sum(told["share"][name]) for name in ("ops", "replayed")], [told["ops"], told["replayed"]])
            return told

        told = runs.long_enough(run, lambda told: told["turn_ops"] > 100_000, (20_000, 80_000, 320_000))
        eager = [ops - replayed for ops, replayed in zip(told["share"]["ops"], told["share"]["replayed"])]
        self.assertGreater(sum(eager[:-1]), sum(eager) - told["turn_ops"])    # not all of them at the end

    def test_updates_are_told_of_their_traces(self):
        told, _ = replayed(self.path, "all-changed", "patched")
        rows = [*told["trace_rows"], told["trace_rest"]]
        for name in ("patched", "node_updates", "updates"):
            self.assertEqual(sum(row[name] for row in rows), told[name], name)

    def test_kernels_are_told_by_name(self):
        told, _ = report(self.path, "run", "chain")
        kernels = {row["name"]: row["watched"] + row["replayed"] for row in told["kernels"]}
        # The first one that is not scanned is not looked at.
        self.assertEqual(told["unfit"]["first"], 1)
        self.assertEqual(kernels, {"mix": told["ops"] - told["backed_off"] - 1})
        self.assertLess(told["backed_off"], 20)
        self.assertEqual({row["first"] for row in told["trace_rows"]}, {"mix"})

    def test_a_trace_has_its_ops_in_their_order(self):
        told, _ = replayed(self.path, "one-changed")
        numbers = {row["number"]: row["name"] for row in told["kernels"]}
        for row in told["trace_rows"]:
            self.assertEqual(sum(op["times"] for op in row["sequence"]) + row["sequence_left_out"], row["length"])
            self.assertEqual(sum(op["times"] for op in row["sequence"] if op["any_value"]), row["any_value"])
            kernels = [numbers[op["kernel"]] for op in row["sequence"] if op["kind"] == "kernel"]
            self.assertEqual((kernels[0], kernels[-1]), (row["first"], row["last"]))
            self.assertTrue(all(len(op["grid"]) == len(op["block"]) == 3 and min(op["grid"] + op["block"]) > 0 for op in row["sequence"] if op["kind"] == "kernel"))

    def test_the_number_of_traces_told_of_is_bounded(self):
        told, _ = report(self.path, "run", "eight-bodies", "--hold", "0")
        self.assertGreater(told["traces"], 32)
        self.assertEqual(len(told["trace_rows"]), 32)
        self.assertGreaterEqual(min(row["ops"] for row in told["trace_rows"]) * told["trace_rest"]["made"], told["trace_rest"]["ops"])

    def test_observe_has_no_graphs_and_times_every_pause(self):
        told, _ = report(self.path, "observe", "chain")
        self.assertEqual((told["graphs_built"], told["graph_bytes_most"], told["mode"]), (0, 0, "observe"))
        self.assertFalse(told["gain"]["launch_measured"])
        # All but the first of each iteration, which a wait precedes.
        self.assertEqual(sum(bucket[2] for bucket in told["histograms"]["interval"]), told["ops"] * 23 // 24)

    def test_what_was_not_measured_is_told_as_assumed(self):
        told, _ = report(self.path, "observe", "chain")
        self.assertEqual(set(told["cost_assumed"]), set(told["cost_ns"]))    # nothing is built, patched or launched
        self.assertEqual(set(told["gain"]["eager_assumed"]), set(told["gain"]["eager_ns"]) - {"kernel"})
        for kind in told["gain"]["eager_assumed"]:
            self.assertEqual(told["kinds"][kind], 0)
        self.assertRegex(reprise("report", self.path).stdout, r"\n +assumed +as on an H200: setting a node; capturing a call anew; updating a node; building a node; launching a graph\n")    # of eager ops, none came
        told |= {"mode": "on", "cost_assumed": ["build"]}
        told["gain"]["eager_assumed"].append("kernel")
        self.path.write_text(json.dumps(told))
        self.assertIn("assumed, as on an H200, since nothing was measured: an eager kernel; building a node\n", reprise("report", self.path).stdout)
        page = self.folder / "page.html"
        self.assertEqual(reprise("report", self.path, "--html", page).returncode, 0)
        self.assertIn("Assumed, as on an H200, since nothing was measured: an eager kernel; building a node.", page.read_text())

    def test_what_was_measured_is_not_told_as_assumed(self):
        told, _ = replayed(self.path, "all-changed", "patched", REPRISE_PAYS="measured")
        self.assertNotIn("build", told["cost_assumed"])
        self.assertNotIn("kernel", told["gain"]["eager_assumed"])

    def test_call_sites_are_the_programs_own_calls(self):
        told, _ = report(self.path, "observe", "pageable")
        pageable = [row for row in told["call_sites"] if row["kind"] == "unfit"]
        self.assertEqual({row["call"] for row in pageable}, {"pageable"})
        self.assertEqual(sum(row["count"] for row in pageable), told["unfit"]["pageable"])
        self.assertEqual({row["library"] for row in told["call_sites"]}, {str(COMMAND.launchbound)})
        waits = {row["call"]: row["count"] for row in told["call_sites"] if row["kind"] == "waits"}
        self.assertGreaterEqual(waits["cuStreamSynchronize"], 400)

    def test_the_call_site_is_where_the_call_returns_to(self):
        """A call of five bytes, or of six by way of a table, stands before it."""
        told, _ = report(self.path, "observe", "chain")
        image = COMMAND.launchbound.read_bytes()
        offsets = [row["offset"] for row in told["call_sites"]]
        self.assertTrue(offsets)
        if os.uname().machine == "x86_64":
            self.assertTrue(all(image[offset - 5] == 0xE8 or image[offset - 6] == 0xFF for offset in offsets), offsets)

    def call_sites_of(self, hazard):
        outcome = reprise("observe", "--report", self.path, "--", BUILD / "tests" / "hazards" / "hazards", COMMAND.module, hazard)
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        return {(row["kind"], row["call"]): row["count"] for row in json.loads(self.path.read_text())["call_sites"]}

    def test_allocations_between_launches(self):
        """1200 times, of which the first comes before any op."""
        self.assertEqual(self.call_sites_of("free_async")["allocates", "cuMemAllocAsync"], 1199)

    def test_calls_that_end_something(self):
        self.assertGreaterEqual(self.call_sites_of("host_free_reuse")["ends", "cuMemHostUnregister"], 30)

    def test_calls_that_order_streams(self):
        """Each of a thread's first 4096 is looked at, and then one in 17. Three streams meet by events: nine calls in an iteration, of which none is a launch."""
        self.assertEqual(self.call_sites_of("own_graph_launch")["orders", "cuGraphLaunch"], 1200)
        outcome = reprise("observe", "--report", self.path, "--", BUILD / "tests" / "programs" / "launchbound-sim", "--shape", "jacobi3", "--iterations", "2000", "--batches", "1")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        told = json.loads(self.path.read_text())
        orders = {row["call"]: row["count"] for row in told["call_sites"] if row["kind"] == "orders"}
        iterations = told["ops"] / 9
        self.assertAlmostEqual(orders["cuEventRecord"] / iterations, 3, delta=0.02)
        self.assertAlmostEqual(orders["cuStreamWaitEvent"] / iterations, 6, delta=0.02)
        self.assertRegex(outcome.stderr, r" x  cuStreamWaitEvent +ends the sequence of its stream, once in 1 launch; call site launchbound-sim: Run::await")
        self.assertEqual([kind for kind in told["gain"]["eager_assumed"] if told["kinds"][kind]], [])    # copies that a sequence has are timed, too
        self.assertIn("as measured).", outcome.stderr)

    def test_a_rank_is_taken_from_the_launcher(self):
        for variables, rank in (({"OMPI_COMM_WORLD_RANK": "3", "RANK": "9"}, 3), ({"SLURM_PROCID": "0", "RANK": "9", "LOCAL_RANK": "1", "WORLD_SIZE": "16"}, 9), ({"SLURM_PROCID": "x", "LOCAL_RANK": "1"}, 1), ({"RANK": ""}, None)):
            told, _ = report(self.path, "run", "chain", **variables)
            self.assertEqual(told.get("rank"), rank)
        self.assertNotIn("rank_variable", told)


class Command(WithFolder):
    def ranks(self, count=3):
        for rank in range(count):
            report(self.folder / f"{rank}.json", "run", "chain", RANK=str(rank))
        return [json.loads((self.folder / f"{rank}.json").read_text()) for rank in range(count)]

    def test_tables_of_one_process(self):
        told, _ = replayed(self.path, "one-changed", "patched")
        self.assertEqual((told["gain"]["launch_measured"], "launch" in told["cost_assumed"]), (True, False))    # behind patches, with REPRISE_PAYS=assumed, too
        shown = reprise("report", self.path)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        for words in ("What happened to each call", "Biggest sequences", "Launch time of the replayed calls", "Deferral, stalls, building", "Kernels", f"process {told['pid']}", f"{told['replayed']:,}",
                      amounts.duration(told["gain"]["replaced_ns"]), amounts.duration(sum(told["gain"][part] for part in ("launches_ns", "patches_ns", "exits_ns", "defers_ns"))), "replayed; gain not measured."):
            self.assertIn(words, shown.stdout)
        self.assertRegex(shown.stdout, r"cuStreamSynchronize +ends a sequence +launchbound-driver: (one_changed|sync)\+0x")    # the second where the compiler leaves it a function
        self.assertLess(max(map(len, shown.stdout.splitlines())), 220)

    def test_what_it_ran_on_and_how(self):
        told, _ = report(self.path, "run", "chain", "--hold", "200", REPRISE_PAYS="measured")
        page = self.folder / "page.html"
        self.assertEqual(reprise("report", self.path, "--html", page).returncode, 0)
        reprise_and_device = f"Reprise {told['version']} (commit {told['commit']}), mode on, Simulated device, "
        # A machine with a driver tells its version, although the device is simulated.
        machine = reprise_and_device + (f"driver {told['driver']}, " if told.get("driver") else "") + "CUDA 13.0"
        options = "options from the environment: REPRISE_PAYS=measured; from the command line: REPRISE_HOLD=200"
        origins = {name: option["from"] for name, option in told["options"].items() if option["from"] != "default"}
        self.assertEqual(origins, {"REPRISE": "command", "REPRISE_HOLD": "command", "REPRISE_REPORT": "command", "REPRISE_PAYS": "environment"})
        shown = reprise("report", self.path).stdout
        self.assertIn(machine, shown)
        self.assertIn(options, shown)
        seen = page.read_text().replace("<wbr>", "")
        for words in (f"{told['version']}, commit {told['commit']}, mode on", "Simulated device", "CUDA 13.0", options.removeprefix("options ")):
            self.assertIn(f"{words}</dd>", seen)
        seen = re.sub(r"</?(span|code)>", "", seen)
        for name, option in told["options"].items():
            row = (("words", "option", name), ("words", "value", option["value"]), ("words", "from", option["from"]))
            self.assertIn("".join(f'<td class="{kind}" data-head="{head}">{cell}</td>' for kind, head, cell in row), seen)
        told.update(driver="580.82.07", options={})
        self.path.write_text(json.dumps(told))
        shown = reprise("report", self.path).stdout
        self.assertIn(f"{reprise_and_device}driver 580.82.07, CUDA 13.0\n", shown)
        self.assertNotIn("options", shown)

    def test_what_was_not_looked_at_is_shown_beside_what_was(self):
        told, _ = report(self.path, "run", "chain")
        told.update(paused_ops=437520, eager_capturing=12, eager_stopped=3)
        self.path.write_text(json.dumps(told))
        page = self.folder / "page.html"
        reprise("report", self.path, "--html", page)
        for words in ("; 437,520 more came while Reprise was off.", "(while off)", "(while the program captured)", "(after Reprise had stopped)"):
            self.assertIn(words, reprise("report", self.path).stdout)
        for words in ("<td class=\"figure\" data-head=\"calls\"><span>437,520</span></td>", *(f"{name} (not among these)" for name in ("while off", "while the program captured", "after Reprise had stopped"))):
            self.assertIn(words, page.read_text())

    def test_a_difference_that_verify_found_is_shown(self):
        told, _ = report(self.path, "run", "chain")
        told.update(mode="verify", difference="node 3 of graph 2: grid")
        self.path.write_text(json.dumps(told))
        self.assertIn("verify found a difference: node 3 of graph 2: grid", reprise("report", self.path).stdout)

    def test_a_snapshot_says_that_call_sites_are_not_told(self):
        told, _ = report(self.path, "run", "chain")
        told["complete"] = False
        for row in told["call_sites"]:
            row.pop("library")
        self.path.write_text(json.dumps(told))
        shown = reprise("report", self.path).stdout
        self.assertIn("What stands in the way, or cuts sequences (the call site is where the program's call returns to; by way of cudart, that is in cudart, and reprise observe names the program's own; a snapshot tells no call site)", shown)
        self.assertRegex(shown, r"once in 24 launches +cuStreamSynchronize +ends a sequence +\(not known\)")

    def test_what_differs_between_processes_is_shown_of_all(self):
        each = self.ranks()
        each[1].update(gpu_name="Another device", difference="op 3", stopped="a capture failed", command=["/bin/other", "-x"], started=each[1]["started"] - 100)
        each[1]["options"]["REPRISE_HOLD"] = {"value": 7, "from": "environment"}
        (self.folder / "1.json").write_text(json.dumps(each[1]))
        shown = reprise("report", self.folder).stdout
        for words in ("3 processes of launchbound-driver, other\n", "Simulated device; Another device", "REPRISE_HOLD=400 / 7", "verify found a difference: op 3",
                      "Nothing was replayed any more after: a capture failed"):
            self.assertIn(words, shown)
        joined = json.loads(reprise("report", self.folder, "--json").stdout)
        self.assertEqual((joined["started"], joined["written"]), (each[1]["started"], max(one["written"] for one in each)))

    def test_ranks_of_a_folder_are_joined(self):
        each = self.ranks()
        shown = reprise("report", self.folder)
        self.assertEqual(shown.returncode, 0)
        lines = [line.split() for line in shown.stdout.splitlines()]
        self.assertEqual([line[1] for line in lines if line[:1] == ["rank"] and len(line) > 8 and line[3] in {str(one["pid"]) for one in each}], ["0", "1", "2"])
        self.assertIn(f"{sum(one['ops'] for one in each):,}", next(line for line in lines if line[:1] == ["all"]))

    def made_ranks(self, change, count):
        """Reports of so many ranks, made of one: `change` gives what differs."""
        told, _ = report(self.path, "run", "chain")
        self.path.unlink()
        for rank in range(count):
            (self.folder / f"{rank}.json").write_text(json.dumps(told | {"rank": rank, "rank_variable": "RANK", "pid": 1000 + rank, "launch_time_ns": 10**9} | change(rank)))
        return told

    def test_outliers_are_marked_in_the_table_and_named_in_json(self):
        turns = {"verdict": "replay", "gain": 1300, "low": 1200, "high": 1400, "processor": 0, "turns": 42, "tests": 1, "loops": 1, "decided_ns": 1, "lost_ns": 1}
        changes = {2: {"launch_time_ns": 3 * 10**9}, 4: {"turns": turns | {"gain": 700}}}
        self.made_ranks(lambda rank: {"turns": turns} | changes.get(rank, {}), 6)
        shown = reprise("report", self.folder)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        rows = {line.split()[1]: line for line in shown.stdout.partition("What happened")[0].splitlines() if line.startswith("  rank ")}
        self.assertEqual({rank: row.count("!") for rank, row in rows.items() if row.count("!")}, {"2": 1, "4": 1})
        self.assertIn(" ! 3 s ", rows["2"])
        self.assertIn(" ! 0.70 x ", rows["4"])
        self.assertIn("\n  ! marks an outlier: further from the middle of all processes than", shown.stdout)
        listed = json.loads(reprise("report", self.folder, "--json").stdout)["outliers"]
        self.assertEqual([(one["rank"], one["pid"], one["in"]) for one in listed], [(2, 1002, ["launch time"]), (4, 1004, ["gain"])])

    def test_where_there_is_no_outlier_none_is_spoken_of(self):
        self.made_ranks(lambda rank: {}, 3)
        self.assertNotIn("!", reprise("report", self.folder).stdout)
        self.assertEqual(json.loads(reprise("report", self.folder, "--json").stdout)["outliers"], [])

    def test_of_many_ranks_a_few_are_named_those_that_gained_least_first(self):
        turns = {"verdict": "replay", "low": 1200, "high": 1400, "processor": 0, "turns": 42, "tests": 1, "loops": 1, "decided_ns": 1, "lost_ns": 1}
        told = self.made_ranks(lambda rank: {"measured": f"1.{99 - rank} x faster, measured in 42 turns, 1.20 to 1.40", "turns": turns | {"gain": 1990 - 10 * rank}, "host": f"node{rank}",
                                             "driver": f"580.{rank}", "stopped": f"a capture failed with {rank}"}, 64)
        lines = reprise("report", self.folder).stdout.splitlines()
        verdict, = [line for line in lines if "were replayed" in line]
        for words in ("; rank 63: 1.36 x faster, measured in 42 turns, 1.20 to 1.40; rank 62: 1.37 x", "rank 61: 1.38 x faster, measured in 42 turns, 1.20 to 1.40; and 61 more",
                      "Nothing was replayed any more after: a capture failed with 0; a capture failed with 1; a capture failed with 2; and 61 more."):
            self.assertIn(words, verdict)
        self.assertLess(len(verdict.partition(" Nothing")[0]), 300)
        self.assertIn("driver 580.0; 580.1; 580.2; and 61 more, ", lines[1])
        joined = json.loads(reprise("report", self.folder, "--json").stdout)
        self.assertEqual(joined["ops"], 64 * told["ops"])

    def test_options_that_differ_between_many_ranks(self):
        told = self.made_ranks(lambda rank: {}, 1)
        self.made_ranks(lambda rank: {"options": told["options"] | {"REPRISE_TIMELINE": {"value": f"rank{rank}.json", "from": "environment"}}}, 64)
        self.assertIn("REPRISE_TIMELINE=rank0.json / rank1.json / rank2.json / and 61 more", reprise("report", self.folder).stdout)

    def test_what_turns_have_measured_is_shown(self):
        told, _ = report(self.path, "run", "chain", REPRISE_TURNS="1")
        self.path.write_text(json.dumps(told | {"measured": "1.31 x faster, measured in 42 turns, 1.27 to 1.35", "turn_ops": 5}))
        shown = reprise("report", self.path).stdout
        self.assertIn("launches were replayed; 1.31 x faster, measured in 42 turns, 1.27 to 1.35.", shown)
        self.assertRegex(shown, r"measured eagerly +5 ")

    def test_joined_as_json(self):
        each = self.ranks(2)
        joined = json.loads(reprise("report", self.folder, "--json").stdout)
        for name in ("ops", "replayed", "launches", "saved_ns", "graph_bytes_most"):
            self.assertEqual(joined[name], sum(one[name] for one in each), name)
        self.assertEqual(joined["hold_longest_ns"], max(one["hold_longest_ns"] for one in each))
        self.assertEqual(sum(joined["share"]["ops"]), joined["ops"])
        self.assertEqual(sum(bucket[2] for bucket in joined["histograms"]["eager"]), sum(bucket[2] for one in each for bucket in one["histograms"]["eager"]))
        self.assertEqual(joined["kernels"], [{"name": "mix", "watched": sum(one["kernels"][0]["watched"] for one in each),
                                              "replayed": sum(one["kernels"][0]["replayed"] for one in each)}])

    def test_the_report_of_one_process_as_json_is_the_report(self):
        told, _ = report(self.path, "run", "chain")
        self.assertEqual(json.loads(reprise("report", self.path, "--json").stdout), told)

    def test_what_is_no_report_is_named(self):
        for content in ("", "{", "[]", "{}", '{"ops": 5}', '{"ops": 5, "format": 1}', "[" * 100000):
            self.path.write_text(content)
            shown = reprise("report", self.path)
            self.assertEqual((shown.returncode, shown.stdout), (1, ""))
            self.assertIn(str(self.path), shown.stderr)
            self.assertNotIn("Traceback", shown.stderr)

    def test_one_that_cannot_be_read_keeps_nothing_from_the_others(self):
        report(self.path, "run", "chain")
        (self.folder / "another.json").write_text("{")
        shown = reprise("report", self.folder)
        self.assertEqual(shown.returncode, 1)
        self.assertIn("What happened to each call", shown.stdout)
        self.assertIn("another.json", shown.stderr)

    def test_without_python_the_command_says_so(self):
        report(self.path, "run", "chain")
        shown = reprise("report", self.path, PATH=str(self.folder))
        self.assertEqual(shown.returncode, 127)
        self.assertIn("python3", shown.stderr)

    def test_a_page_that_cannot_be_written(self):
        report(self.path, "run", "chain")
        shown = reprise("report", self.path, "--html", self.folder / "nowhere" / "page.html")
        self.assertEqual(shown.returncode, 1)
        self.assertNotIn("Traceback", shown.stderr)

    def test_a_page_may_have_any_names(self):
        told, _ = report(self.path, "run", "chain")
        told["command"] = ["</title><script>alert(1)</script>"]
        told["kernels"][0]["name"] = "<img src=x onerror=alert(1)>"
        self.path.write_text(json.dumps(told))
        page = self.folder / "page.html"
        self.assertEqual(reprise("report", self.path, "--html", page).returncode, 0)
        self.assertNotIn("<script", page.read_text())
        self.assertNotIn("<img", page.read_text())


class AtTheEnd(WithFolder):
    def test_run_says_one_line(self):
        outcome = reprise("run", "--pays", "assumed", "--", *program("chain"))
        lines = outcome.stderr.splitlines()
        self.assertRegex(lines[-1], r"^reprise: (\d+\.\d % of 9,600 launches replayed|replayed 0 of 9,600 launches)")
        self.assertEqual(sum(line.startswith("reprise") for line in lines), 1)

    def test_run_names_the_report_where_it_is_kept(self):
        pattern = self.folder / "r-%p.json"
        outcome = reprise("run", "--report", pattern, "--", *program("chain"))
        kept = next(self.folder.iterdir())
        self.assertIn(f"reprise report {kept} tells more", outcome.stderr)
        self.assertEqual(reprise("report", kept).returncode, 0)

    def test_a_report_from_before_is_not_taken_for_this_runs(self):
        report(self.path, "run", "chain")
        os.utime(self.path, (time.time() + 1, time.time() + 1))  # a file's clock is another than the processes', and coarse
        for mode in ("run", "observe"):
            outcome = reprise(mode, "--report", self.path, "--", "true")
            self.assertIn("no report came", outcome.stderr)
            self.assertNotIn(str(self.path), outcome.stderr)

    def test_a_report_in_the_place_of_one_from_before_is(self):
        for _ in range(2):
            outcome = reprise("run", "--report", self.path, "--", *program("chain"))
            self.assertIn("of 9,600 launches", outcome.stderr)

    def test_observe_says_what_stands_in_the_way(self):
        outcome = reprise("observe", "--", *program("pageable"))
        self.assertRegex(outcome.stderr, "expected (saving|loss) of launch time")
        for words in ("would be replayed", "Sequences that repeat", "estimate", "What stands in the way", "pageable", "launchbound-driver: pageable+0x"):
            self.assertIn(words, outcome.stderr)
        first = outcome.stderr[outcome.stderr.index("Launch overhead"):].splitlines()    # behind what the program says
        self.assertRegex(first[0], r"^Launch overhead: \S+ \S+, (\S+ % of the run|on several threads of a run of \S+ \S+) \([\d,]+ launches of \S+ \S+, as measured\)\.$")
        self.assertRegex(first[1], r"^Estimate with graphs: \S+ \S+ → \S+ \S+ \(\d+\.\d\d x( slower)?\) if kernels take 1 us; run with --cupti to measure\.$")
        self.assertEqual(first[2], "In the way")
        self.assertRegex("\n".join(first[3:]), r" x  cannot be graphed: pageable +copy from or to pageable.*\n    to do: pin this buffer")
        obstacles = first[3:first.index("")]
        self.assertLessEqual(len([line for line in obstacles if " x  " in line]), 3)
        self.assertFalse([line for line in obstacles if " x  " not in line and not line.startswith("    to do: ")])
        self.assertNotIn("would be replayed", outcome.stdout)

    def test_builds_that_a_busy_gpu_puts_off_are_told(self):
        whole, _ = report(self.path, "run", "chain")
        self.path.write_text(json.dumps(whole | {"graphs_built": 0, "replayed": 0, "launches": 0, "quiescence_missed": 7}))
        self.assertRegex(reprise("report", self.path).stdout, r"\n  builds put off +7  the GPU was busy\n")
        page = self.folder / "page.html"
        self.assertEqual(reprise("report", self.path, "--html", page).returncode, 0)
        self.assertIn("No graph was built, since the GPU had work whenever one was to be", page.read_text())

    def test_observe_writes_the_report_too(self):
        told, outcome = report(self.path, "observe", "chain")
        self.assertEqual(told["mode"], "observe")
        self.assertIn("Sequences that repeat", outcome.stderr)

    def test_what_observe_did_not_do_is_not_told_as_done(self):
        for each in ("one.json", "two.json"):
            report(self.folder / each, "observe", "mixed")
        page = self.folder / "page.html"
        for what in ([self.folder / "one.json"], [self.folder / "one.json", self.folder / "two.json"]):
            self.assertEqual(reprise("report", *what, "--html", page).returncode, 0)
            seen = html.unescape(re.sub(r"<style>.*?</style>|<dl class=\"words\">.*?</dl>|<[^>]*>", " ", page.read_text(), flags=re.DOTALL))
            for shown in reprise("report", *what).stdout, seen:
                self.assertIn("would be replayed", shown)
                self.assertEqual(re.findall(r".{0,40}(?<!would be )(?<!had they been )\b(?:replayed|saved|issued as)\b.{0,40}", shown), [])
                self.assertNotIn("launch of a graph", shown)

    def seen_on_page(self):
        page = self.folder / "page.html"
        self.assertEqual(reprise("report", self.path, "--html", page).returncode, 0)
        return html.unescape(re.sub(r"<style>.*?</style>|<dl class=\"words\">.*?</dl>|<svg.*?</svg>|<[^>]*>", " ", page.read_text(), flags=re.DOTALL))

    def test_an_expected_loss_is_told_as_a_loss(self):
        whole, _ = report(self.path, "observe", "chain")
        for saved, there in ((-469000, True), (0, False), (469000, False)):
            with self.subTest(saved=saved):
                self.path.write_text(json.dumps(whole | {"saved_ns": saved, "replayed": 2400}))
                shown, seen = reprise("report", self.path).stdout, self.seen_on_page()
                self.assertEqual("expected loss of launch time" in shown, there, shown)
                self.assertEqual("469 us" in shown, saved != 0, shown)
                self.assertRegex(seen, rf" would be {'lost' if there else 'saved'} +{'0 ns' if saved == 0 else '469 us'} ")
                self.assertNotIn("-469 us", shown + seen)

    def test_what_was_not_measured_is_told_as_no_gain(self):
        """What a model expects is no gain of a run that replays, whatever it is."""
        whole, _ = report(self.path, "run", "chain")
        self.assertNotIn("turns", whole)
        for saved in (-469000, 0, 469000):
            with self.subTest(saved=saved):
                self.path.write_text(json.dumps(whole | {"saved_ns": saved, "replayed": 2400}))
                shown, seen = reprise("report", self.path).stdout, self.seen_on_page()
                self.assertIn("launches were replayed; gain not measured.", shown)
                self.assertIn("Gain not measured", seen)
                for told in (shown, seen):
                    self.assertNotRegex(told, r"469 us|\b(saved|lost|faster|slower|break-even)\b")

    def test_observe_without_python_says_one_line(self):
        outcome = reprise("observe", "--", *program("chain"), PATH=str(self.folder))
        self.assertRegex(outcome.stderr.splitlines()[-1], r"^reprise: \d+\.\d % of 9,600 launches would be replayed")

    def test_a_program_that_launches_nothing_reports_that(self):
        outcome = reprise("run", "--report", self.path, "--", sys.executable, "-c", "import ctypes; ctypes.CDLL('libcuda.so.1').cuInit(0)")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)
        self.assertEqual(json.loads(self.path.read_text())["ops"], 0)

    def test_a_program_without_cuda(self):
        self.assertIn("no report came", reprise("observe", "--", "true").stderr)


class Shorter(unittest.TestCase):
    """What a run gets shorter by. Ten ops to a wait, each 0.5 us after the one before and 2.5 us to launch, in graphs of five at 0.4 us an op: a hundred times."""

    def shorter(self, kernel=None, **gain):
        gain = {"replaced_ns": 1000 * 2500, "launches_ns": 1000 * 400, "patches_ns": 0, "exits_ns": 0, "defers_ns": 0, "firsts": 100, "pauses": 900, "pauses_ns": 900 * 3000} | gain
        return reports.shorter({"replayed": 1000, "launches": 200, "gain": gain} | ({"gpu": {"busy_ns": kernel * 7, "kernels": 7}} if kernel is not None else {}))

    def test_what_launches_save_where_the_gpu_has_little_to_do(self):
        # The last five kernels come at once, not only the last one.
        self.assertEqual(self.shorter(10), 100 * (10 * 2100 - 4 * 10))

    def test_up_to_what_the_gpu_has_to_do(self):
        # Eagerly 10 launches, 9 pauses and a kernel; replayed 5 launches, 4 pauses and 10 kernels.
        self.assertEqual(self.shorter(1000), 100 * ((25000 + 4500 + 1000) - (2000 + 2000 + 10000)))

    def test_nothing_where_kernels_take_longer(self):
        # The first kernel begins later.
        self.assertEqual(self.shorter(50000), 100 * (2500 - (2000 + 2000)))

    def test_less_where_much_is_patched(self):
        self.assertEqual(self.shorter(10, patches_ns=1000 * 600), self.shorter(10) - 1000 * 600)

    def test_a_kernel_for_each_wait(self):
        self.assertEqual(self.shorter(5000, firsts=1000, pauses=0, pauses_ns=0), 1000 * 2100)

    def test_a_run_without_waits(self):
        self.assertEqual(self.shorter(1000, firsts=0, pauses=1000, pauses_ns=3000000), (2500 * 1000 + 999 * 500 + 1000) - (5 * 400 + 4 * 500 + 1000 * 1000))

    def test_kernels_are_short_where_nobody_measured_them(self):
        self.assertEqual(self.shorter(), self.shorter(1000))

    def test_nothing_is_told_where_nothing_was_seen(self):
        self.assertIsNone(self.shorter(firsts=0, pauses=0))


class Words(unittest.TestCase):
    def test_what_the_run_would_take(self):
        told = {"wall_ns": 181_000_000, "launch_time_ns": 2_500_000, "replayed": 1000, "launches": 200, "saved_ns": 0, "histograms": {},
                "gain": {"replaced_ns": 1000 * 2500, "launches_ns": 1000 * 400, "patches_ns": 0, "exits_ns": 0, "defers_ns": 0, "firsts": 1000, "pauses": 0, "pauses_ns": 0}}
        self.assertEqual(observed.run_shorter(told), [("estimate of the run", "181 ms → 179 ms", "1.01 x if kernels take 1 us; run with --cupti to measure")])
        told["gpu"] = {"kernels": 10, "busy_ns": 50000}
        self.assertEqual(observed.run_shorter(told)[0][2], "1.01 x with kernels of 5 us, as measured; CUPTI has slowed this run down")
        told["gain"]["launches_ns"] *= 100
        self.assertEqual(observed.run_shorter(told)[0][1:], ("181 ms → 218 ms", "1.21 x slower with kernels of 5 us, as measured; CUPTI has slowed this run down"))
        self.assertEqual(observed.with_graphs(told), "Estimate with graphs: 181 ms → 218 ms (1.21 x slower) with kernels of 5 us, as measured; CUPTI has slowed this run down.")
        self.assertEqual(observed.run_shorter(told | {"saved_ns": 300_000})[1:], [("", "", "slower all the same: the GPU would wait until each sequence is complete")])
        del told["gpu"]
        told["options"] = {"REPRISE_CUPTI": {"value": 1, "from": "command"}}
        self.assertIn("if kernels take 1 us: CUPTI measured none.", observed.with_graphs(told))
        told |= {"processes": 4, "runs_ns": 724_000_000}
        self.assertEqual(observed.with_graphs(told), "Estimate with graphs: 724 ms → 762 ms (1.05 x slower) if kernels take 1 us: CUPTI measured none, 4 processes together.")
        told["gain"]["launches_ns"] = 0
        self.assertIn("724 ms → 722 ms (1.00 x)", observed.with_graphs(told))
        told["launch_time_ns"] = 2 * told["runs_ns"]    # in each process two threads, at the same time
        self.assertEqual(observed.with_graphs(told), "Estimate with graphs: 724 ms → 723 ms (1.00 x) if kernels take 1 us: CUPTI measured none, 4 processes together.")
        for gone, why in (({"launches": 0}, "too little was seen"), ({"replayed": 0}, "no sequence repeated often enough")):
            self.assertEqual(observed.with_graphs(told | gone), f"Estimate with graphs: none, since {why}.")

    def test_the_launch_overhead(self):
        told = {"launch_time_ns": 371_000_000, "wall_ns": 697_000_000, "ops": 120000, "kinds": {"kernel": 80000, "copy": 40000, "memset": 0}, "gain": {"eager_assumed": ["memset"]}}
        self.assertEqual(observed.overhead(told), "Launch overhead: 371 ms, 53.2 % of the run (120,000 launches of 3.09 us, as measured).")
        told |= {"launch_time_ns": 900_000_000, "gain": {"eager_assumed": ["kernel", "copy"]}}
        self.assertEqual(observed.overhead(told), "Launch overhead: 900 ms, on several threads of a run of 697 ms (120,000 launches of 7.5 us, kernel assumed: as on an H200, copy assumed: as on an H200).")
        told |= {"gain": {"eager_assumed": ["copy"]}}
        self.assertIn("7.5 us, as measured, copy assumed: as on an H200).", observed.overhead(told))

    def test_the_three_things_that_stand_in_the_way_are_those_of_the_most_launches(self):
        sites = [{"kind": "waits", "call": "cuStreamSynchronize", "count": 500, "library": "/opt/app", "symbol": "main", "symbol_offset": 16},
                 {"kind": "waits", "call": "cuEventSynchronize", "count": 9}, {"kind": "unfit", "call": "pageable", "count": 900}]
        told = {"mode": "observe", "ops": 10000, "replayed": 8000, "exited": {"values": 700, "guard": 20}, "exited_ops": 720, "unfit": {"pageable": 900}, "backed_off": 0, "launches": 800,
                "short_eager": 0, "call_sites": sites, "wall_ns": 100_000_000, "launch_time_ns": 30_000_000, "gain": dict.fromkeys(("launches_ns", "patches_ns", "exits_ns", "defers_ns", "launch_ns"), 0)
                | {"replaced_ns": 8000 * 3000, "launches_ns": 8000 * 1000, "launch_ns": 5000, "eager_ns": {"kernel": 3000, "copy": 4000}}}
        self.assertEqual(observed.in_the_way(told).splitlines(),
                         ["In the way", "  900 x  cannot be graphed: pageable  copy from or to pageable, managed or unknown memory",
                          "    to do: pin this buffer (cudaHostAlloc, cudaHostRegister; pin_memory in PyTorch); worth about 7.2 % of the run",
                          "  700 x  arguments changed            other arguments came than the graph was built for; they may come again",
                          "    to do: keep buffers and sizes for as long as the loop runs; worth about 1.4 % of the run",
                          "  500 x  cuStreamSynchronize          ends a sequence, once in 20 launches; call site app: main+0x10"])
        sites[0]["count"], sites[2]["library"] = 800, "/opt/app"
        self.assertEqual(observed.in_the_way(told).splitlines()[1:5],
                         ["  900 x  cannot be graphed: pageable  copy from or to pageable, managed or unknown memory; call site app+0x0",
                          "    to do: pin this buffer (cudaHostAlloc, cudaHostRegister; pin_memory in PyTorch); worth about 7.2 % of the run",
                          "  800 x  cuStreamSynchronize          ends a sequence, once in 12 launches; call site app: main+0x10",
                          "    to do: wait less often, or only for what the host reads; worth about 4.0 % of the run"])
        told |= {"replayed": 10000, "exited": {}, "exited_ops": 0, "unfit": {}, "call_sites": sites[1:2]}
        self.assertEqual(observed.in_the_way(told), "In the way: nothing that concerns 0.1 % of the launches.\n")


class Amounts(unittest.TestCase):
    def test_durations(self):
        for ns, words in ((0, "0 ns"), (999, "999 ns"), (1000, "1 us"), (12345, "12.3 us"), (999_400, "999 us"), (999_600, "1 ms"), (1.5e9, "1.5 s"), (-2500000, "-2.5 ms"), (240e9, "4 min"), (36e15, "10000 h")):
            self.assertEqual(amounts.duration(ns), words)

    def test_a_share_is_none_or_all_only_where_it_is(self):
        for part, whole, words in ((0, 10**6, "0.0 %"), (1, 10**6, "< 0.1 %"), (499, 10**6, "< 0.1 %"), (501, 10**6, "0.1 %"), (999_400, 10**6, "99.9 %"), (999_900, 10**6, "> 99.9 %"), (10**6, 10**6, "100.0 %"), (3, 2, "150.0 %"), (1, 0, "-")):
            self.assertEqual(amounts.share(part, whole), words)

    def test_long_names_keep_both_ends(self):
        self.assertEqual(amounts.shortened("abcdefghijkl", 7), "abcd…kl")
        self.assertEqual(len(amounts.shortened("x" * 500, 44)), 44)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
