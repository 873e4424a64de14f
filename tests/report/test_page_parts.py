#!/usr/bin/env python3
"""What the page says, without a browser: short names of kernels, the verdict, what to do next, the kernels of a trace, outliers; and that nothing of a report becomes a part of the page.

usage: test_page_parts.py BUILD
"""
import copy
import html
import html.parser
import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import advice
import compare
import judgement
import kernel_names
import page
import plots
import reports
import words
from lib import runs

COMMAND = runs.Command(Path(sys.argv[1]))
SCREENSHOTS = Path(__file__).resolve().parents[2] / "scripts" / "screenshots"
REAL = Path(__file__).resolve().parent / "real"
TAGS = {"html", "head", "meta", "link", "title", "style", "body", "main", "header", "section", "h1", "h2", "h3", "p", "code", "dl", "div", "dt", "dd", "span", "i", "b", "small", "ol", "li", "abbr",
        "table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "svg", "rect", "details", "summary", "wbr"}
ATTRIBUTES = {"lang", "charset", "name", "content", "http-equiv", "rel", "href", "class", "title", "style", "data-head", "scope", "start", "viewbox", "preserveaspectratio", "role", "aria-label", "x", "y",
              "width", "height"}
INJECTED = "\"'><script>alert(1)</script><img src=x onerror=alert(2)></style></title>"


class Parts(html.parser.HTMLParser):
    """The tags and attributes of a page; and the text of its elements, by class."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.titles, self.texts = set(), set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        self.titles += [value for name, value in attributes if name == "title"]

    def handle_data(self, text):
        self.texts.append(text)


def strings_replaced(value, by):
    """A report with other texts wherever any may stand."""
    if isinstance(value, list):
        return [strings_replaced(member, by) for member in value]
    if isinstance(value, dict):
        return {name: member if name in ("mode", "kind", "verdict", "cost_assumed", "eager_assumed") else strings_replaced(member, by) for name, member in value.items()}
    return by if isinstance(value, str) else value


class KernelNames(unittest.TestCase):
    def test_short_names(self):
        for name, short in (("mix", "mix"), ("void mix(int*, float)", "mix"), ("void at::native::reduce_kernel<512, 1, at::ReduceOp<float> >(at::ReduceOp<float>)", "at::native::reduce_kernel"),
                            ("void (anonymous namespace)::softmax<float, (Kind)2>(float*)", "softmax"), ("ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn"),
                            ("std::enable_if<!(T::a), void>::type ns::run<T>(T)", "ns::run"), ("void cutlass::Kernel2<cutlass_80>(cutlass_80::Params)", "cutlass::Kernel2"),
                            ("void a::operator()<int>(int)", "a::operator()"), ("bool a::operator< <int>(a::b<int> const&)", "a::operator<"), ("void f<&(g(int))>(int)", "f"),
                            ("<>", "<>"), ("", ""), ("((((", "(((("), ("void ", "void"), (">>>a(", ">>>a")):
            with self.subTest(name=name):
                self.assertEqual(kernel_names.short(name), short)

    def test_long_names_are_cut_at_their_end(self):
        found = kernel_names.short("k" * 1000)
        self.assertEqual((len(found), found[-1]), (kernel_names.SHORT_MOST, "…"))


class WithReports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "r.json"
            cls.on, cls.observed, cls.pageable = COMMAND.replayed(path, "one-changed")[0], COMMAND.report(path, "observe", "pageable")[0], COMMAND.replayed(path, "pageable")[0]

    def told(self, which="on", **changed):
        report = copy.deepcopy(getattr(self, which)) | changed
        return report, page.whole([copy.deepcopy(report)])


TURNS = {"verdict": "replay", "gain": 1250, "low": 1200, "high": 1300, "processor": 960, "turns": 16, "tests": 1, "loops": 1, "decided_ns": 10**9, "lost_ns": 10**6}


class Verdict(WithReports):
    def judged(self, **changed):
        report = copy.deepcopy(self.on) | changed
        return judgement.of(report, [report])

    def test_faster(self):
        told = self.judged(turns=TURNS, measured="1.25 x faster")
        self.assertEqual((told.tone, told.headline), ("good", "1.25 x faster"))
        self.assertEqual([(round(part, 3), value) for _, part, value in told.bars], [(1, "100 %"), (0.8, "80 %")])
        self.assertEqual([round(end, 3) for end in told.spread], [round(1 / 1.3, 3), round(1 / 1.2, 3)])

    def test_slower_is_the_longer_bar(self):
        told = self.judged(turns=TURNS | {"verdict": "eager", "gain": 800, "low": 750, "high": 850})
        self.assertEqual((told.tone, told.bars[1][2]), ("fair", "125 %"))
        self.assertAlmostEqual(told.bars[1][1] / told.bars[0][1], 1.25)
        self.assertLessEqual(max(told.spread), 1)

    def test_a_loss_is_told_as_plainly_as_a_gain(self):
        told = self.judged(turns=TURNS | {"gain": 980, "low": 960, "high": 995})
        self.assertEqual((told.tone, told.headline), ("bad", "1.02 x slower"))
        self.assertIn("interval 1.01 to 1.04.", told.words)
        told = self.judged(turns=TURNS | {"verdict": "eager", "gain": 950, "low": 940, "high": 960})
        self.assertEqual(told.headline, "No gain: left as it was; measuring cost 1 ms")
        self.assertIn("Replaying gained nothing (1.05 x slower, interval 1.04 to 1.06), so after 1 s all calls were left eager.", told.words)
        each = [copy.deepcopy(self.on) | {"rank": rank, "turns": TURNS | {"gain": gain}} for rank, gain in enumerate((980, 1300))]
        self.assertEqual(judgement.of({**self.on, "processes": 2}, each).headline, "1.02 x slower to 1.30 x faster")
        observed = copy.deepcopy(self.observed)
        with mock.patch.object(reports, "shorter", lambda report: -report["wall_ns"] // 10):
            told = judgement.of(observed, [observed])
        self.assertEqual((told.tone, told.headline), ("bad", "Would be about 1.10 x slower"))

    def test_the_page_has_one_word_for_a_call(self):
        """Launches are those of graphs, and the time in calls that launch."""
        told = {name: judgement.seen(report) for name, report in (("on", self.on), ("observed", self.observed))}
        self.assertRegex(told["on"], r"^[\d.]+ % of [\d,]+ calls were replayed, by [\d,]+ graph launches of \d+ sequences?\.$")
        self.assertRegex(told["observed"], r"^[\d.]+ % of [\d,]+ calls would be replayed, by ")
        for which in ("on", "observed", "pageable"):
            text = " ".join(Parts(self.told(which)[1].split("</style>")[1].split("Words on this page")[0]).texts)
            self.assertNotRegex(text, r"[0-9] launch(es)?\b|between launches|launches a second|Launches by|launches of graphs")
        for report in (self.on | {"ops": 0, "paused_ops": 7, "nvtx_ops": 1}, self.on | {"mode": "off"}):
            text = page.whole([copy.deepcopy(report)])
            self.assertIn("<p class=\"headline\">Nothing was replayed</p>", text)
            self.assertNotIn("launches", text.split('class="verdict')[1].split("</section>")[0])
        self.assertIn("7 calls came while Reprise was off", page.whole([copy.deepcopy(self.on) | {"ops": 0, "paused_ops": 7}]))

    def test_only_the_place_is_in_the_code_font(self):
        for site, shown in ((("app+0x7", "and 1 other place"), "<code>app+0x7</code> and 1 other place"), (("cuMemFree in a and b+0x7", "and 1,234 other places"), "<code>cuMemFree in a and b+0x7</code> and 1,234 other places"),
                            (("app+0x7", ""), "<code>app+0x7</code>"), (("cuMemFree", advice.PLACE_BY_OBSERVE), "<code>cuMemFree</code>; <code>reprise observe</code> names the place"),
                            (("", advice.PLACE_BY_OBSERVE), "<code>reprise observe</code> names the place"), (advice.NOWHERE, None)):
            text = page.advised(advice.Obstacle("x", "7 calls", site, "do this", 0.5, 0.1))
            self.assertIn(f"</b> ({shown}): do this" if shown else "</b>: do this", text)

    def test_a_gain_that_was_left_for_its_processor_time(self):
        told = self.judged(turns=TURNS | {"verdict": "costly", "processor": 1083})
        self.assertEqual((told.tone, told.headline, told.bars[1][2]), ("fair", "Left as it was: its processor time; measuring cost 1 ms", "80 %"))
        self.assertIn("Replaying was 1.25 x faster, interval 1.20 to 1.30, for 1.08 x the processor time of the process.", told.words)

    def test_a_gain_that_was_not_seen_is_told_with_its_most(self):
        told = self.judged(turns=TURNS | {"verdict": "unclear", "gain": 1010, "low": 980, "high": 1040})
        self.assertEqual((told.tone, told.headline), ("fair", "No clear gain: left as it was; measuring cost 1 ms"))
        self.assertIn("turns have not shown whether replaying gains: at most 1.04 x, interval 0.98 to 1.04.", told.words)

    def test_without_a_verdict_the_turns_are_told(self):
        for turns, measured, headline, words in (
                (176, "too short to measure: no verdict in 176 turns, cost 1 ms", "Too short to measure; measuring cost 1 ms", "176 turns have not shown yet whether replaying gains, in a run of 2 s."),
                (0, "too short to measure", "Too short to measure", "The run of 2 s ended before a loop was measured."),
                (1, "the GPU was busy 7 of the 8 times that a graph was to be built, cost 1 ms", "The GPU was busy: nothing was replayed", "The GPU was busy 7 of the 8 times that a graph was to be built, cost 1 ms. Graphs"),
                (0, "not measured: no loop was found", "No loop was found to measure", "None was found in 470 ms of search; 7 calls in between were eager.")):
            told = self.judged(turns=TURNS | {"verdict": "undecided", "gain": 0, "turns": turns, "searched_ns": 470_000_000}, measured=measured, wall_ns=2_000_000_000, turn_ops=7)
            self.assertEqual((told.tone, told.headline, told.bars), ("fair", headline, ()))
            self.assertIn(words, told.words)

    def test_an_earlier_loop_is_told_where_the_last_has_no_verdict(self):
        def earlier(verdict, gain, low, high):
            return self.judged(turns=TURNS | {"verdict": "undecided", "gain": 0, "earlier": {"verdict": verdict, "gain": gain, "low": low, "high": high}}, measured="anything")

        told = earlier("replay", 2000, 1250, 2500)
        self.assertEqual((told.tone, told.headline, told.words), ("good", "2.00 x faster in an earlier loop", "Measured by turns, interval 1.25 to 2.50. The last loop was too short to measure. Measuring cost 1 ms."))
        self.assertEqual([(label, value) for label, _, value in told.bars], [("without Reprise", "100 %"), ("with Reprise", "50 %")])
        self.assertEqual(told.spread, (0.4, 0.8))
        for verdict, gain, words in (("eager", 900, "Replaying gained nothing (1.11 x slower, interval 1.00 to 1.25), so that loop was left eager."), ("eager", 0, "In the long run replaying was slower than eager calls, so"),
                                     ("costly", 1100, "for more than 1.02 x the processor time, so"), ("unclear", 1010, "Replaying gained at most 1.00 x, interval 0.80 to 1.00, so"), ("bound", 0, "The program was GPU-bound there, so")):
            told = earlier(verdict, gain, 800, 1000)
            self.assertEqual((told.tone, told.headline, bool(told.bars)), ("fair", "An earlier loop was left as it was; measuring cost 1 ms", gain > 0))
            self.assertIn(words, told.words)

    def test_a_loop_that_became_slower_says_so(self):
        told = self.judged(turns=TURNS | {"verdict": "eager", "gain": 0})
        self.assertEqual((told.words, told.bars), ("In the long run replaying was slower than eager calls, so after 1 s all calls were left eager.", []))

    def test_what_turned_turns_off_is_told(self):
        without = {name: value for name, value in self.on.items() if name not in ("turns", "measured")}
        for options, words in (({}, "Turns, which measure it, were off."), ({"REPRISE_PAYS": "assumed"}, "were off: REPRISE_PAYS=assumed."), ({"REPRISE_TURNS": 0, "REPRISE_RECORD": "x.ops"}, "were off: REPRISE_TURNS=0, REPRISE_RECORD is set.")):
            report = without | {"options": {name: {"value": value, "from": "environment"} for name, value in options.items()}}
            self.assertTrue(judgement.of(report, [report]).words.endswith(words))

    def test_what_was_not_replayed_says_how_many_graphs_were_built(self):
        without = {name: value for name, value in self.on.items() if name not in ("turns", "measured")} | {"replayed": 0, "wall_ns": 5_000_000}
        for built, words in ((0, "No graph was built in the run of 5 ms."), (1, "One graph was built in the run of 5 ms."), (2, "2 graphs were built in the run of 5 ms.")):
            report = without | {"graphs_built": built}
            told = judgement.of(report, [report])
            self.assertEqual((told.tone, told.headline, told.words), ("fair", "Nothing was replayed", words))

    def test_the_loss_has_the_colour_of_the_verdict(self):
        for turns, kind in ((TURNS | {"verdict": "eager", "gain": 800, "low": 750, "high": 850}, "fair"), (TURNS | {"gain": 800, "low": 750, "high": 850}, "bad"), (TURNS, None)):
            self.assertEqual(re.findall(r'<i class="(\w+)"[^>]* title="what is lost">', page.comparison(self.judged(turns=turns))), [kind] if kind else [])

    def test_a_script_is_named_and_not_its_interpreter(self):
        for command, name in ((["/usr/bin/python3", "train.py", "--epochs", "3"], "train.py"), (["python3.12", "-u", "/a/b/train.py"], "train.py"), (["python3", "-m", "package.train"], "package.train"),
                              (["python3", "-c", "print()"], "python3"), (["python3", "-X", "dev", "train.py"], "python3"), (["/bin/heat", "train.py"], "heat"), (["python3"], "python3"), ([], "a program"),
                              (["pythonic", "x.py"], "pythonic")):
            with self.subTest(command=command):
                self.assertEqual(page.program({"command": command}), name)

    def test_where_nothing_was_measured_no_bar_says_so(self):
        told = self.judged(turns=TURNS | {"verdict": "bound", "gain": 0})
        self.assertEqual((told.headline, told.bars), ("Nothing to gain: the GPU is behind; measuring cost 1 ms", []))
        told = self.judged(turns=TURNS | {"verdict": "undecided", "gain": 0}, measured="too short to measure")
        self.assertEqual((told.headline, told.tone, told.bars), ("Too short to measure; measuring cost 1 ms", "fair", ()))
        without = {name: value for name, value in self.on.items() if name not in ("turns", "measured")}
        for report, headline in ((without, "Gain not measured"), (without | {"measured": "too short to measure"}, "No gain was measured")):
            told = judgement.of(report | {"saved_ns": 10**9}, [report])
            self.assertEqual((told.headline, told.tone, told.bars), (headline, "fair", ()))

    def test_a_loss_and_a_difference_are_red(self):
        for lost in (self.observed | {"saved_ns": -5_000_000, "replayed": 0}, self.observed | {"saved_ns": -5_000_000, "launches": 0}):
            self.assertEqual(judgement.of(lost, [lost]).tone, "bad")
        self.assertEqual(self.judged(difference="node 3").tone, "bad")

    def test_several_processes_show_the_one_that_gained_least(self):
        each = [copy.deepcopy(self.on) | {"rank": rank, "turns": TURNS | {"gain": gain}} for rank, gain in enumerate((1500, 1100, 1300))]
        told = judgement.of({**self.on, "processes": 3}, each)
        self.assertEqual((told.tone, told.headline), ("good", "1.10 to 1.50 x faster"))
        self.assertIn("rank 1", told.bars[1][0])
        each[0]["turns"] = TURNS | {"verdict": "eager"}
        self.assertEqual(judgement.of({**self.on, "processes": 3}, each).tone, "fair")

    def test_observe_estimates_the_run(self):
        told = judgement.of(self.observed, [self.observed])
        self.assertIn("estimate", told.basis + told.words)
        self.assertEqual(len(told.bars), 2)


class RealReports(unittest.TestCase):
    """Those of an H200 (tests/report/real), whose figures do not depend on this machine."""

    def test_each_has_its_verdict_and_what_to_do_next(self):
        for name, tone, headline, first in (
                ("gain", "good", "1.25 x faster", None), ("small", "good", "1.08 x faster", "few calls between two waits"), ("none", "fair", "No gain: left as it was; measuring cost 31.1 ms", "calls where nothing repeats"),
                ("nothing", "fair", "No loop was found to measure", "calls where nothing repeats"), ("earlier", "good", "1.94 x faster in an earlier loop", "calls measured eagerly"),
                ("short", "fair", "Too short to measure; measuring cost 68.6 ms", "calls measured eagerly")):
            with self.subTest(report=name):
                report, _ = reports.load(REAL / f"{name}.json")
                told = judgement.of(report, [report])
                self.assertEqual((told.tone, told.headline), (tone, headline))
                self.assertEqual(len(told.bars), 2 if tone == "good" or name == "none" else 0)
                self.assertEqual(next((one.name for one in advice.obstacles(report)), None), first)
                text = page.whole([report])
                self.assertIn("are not drawn: when they came was not noted", text)
                self.assertNotIn("libcudart", text.split('class="verdict')[1].split("</section>")[0])

    def test_calls_are_not_drawn_where_it_is_not_known_when_they_came(self):
        for turned, drawn, left in ((0, 100, 0), (40, 100, 0), (40, 97, 0), (40, 60, 40), (40, 57, 40)):
            self.assertEqual(page.undrawn({"ops": 100, "turn_ops": turned, "share": {"ops": [drawn - 7, 7]}}), left)

    def test_sequences_are_told_apart(self):
        report, _ = reports.load(REAL / "gain.json")
        labels = re.findall(r'<summary><span class="label name">(.*?)</span></span>', re.sub("<small>.*?</small>", "", page.whole([report])))
        self.assertEqual([re.match(r"(\d+)\. <span title=", label)[1] for label in labels], [str(i + 1) for i in range(page.TRACES_MOST)])
        self.assertTrue(all(" → " in label for label in labels))


class Advice(WithReports):
    def test_pageable_copies_are_told_with_place_remedy_and_worth(self):
        report = copy.deepcopy(self.pageable)
        report["wall_ns"] = 10 * report["launch_time_ns"]
        first = next(one for one in advice.obstacles(report) if "pageable" in one.what)
        self.assertTrue(first.what.startswith(f"{report['unfit']['pageable']:,} copies"))
        self.assertRegex(first.site[0], r"launchbound-driver(: \w+)?\+0x")
        self.assertIn("pin this buffer", first.remedy)
        self.assertAlmostEqual(first.share, report["unfit"]["pageable"] / report["ops"])
        self.assertGreater(first.worth, 0)
        _, text = self.told("pageable")
        self.assertIn("pin this buffer", text)

    def test_worth_is_what_the_calls_and_their_cuts_cost(self):
        report = copy.deepcopy(self.pageable)
        report["gain"] |= {"launch_ns": 5000, "launches_ns": 100 * report["replayed"], "patches_ns": 0, "exits_ns": 0, "defers_ns": 0}
        report["gain"]["eager_ns"]["copy"] = 1100
        report |= {"wall_ns": 10**9, "launch_time_ns": 10**8}
        report["unfit"]["pageable"] = 1000

        def worth():
            return next(one for one in advice.obstacles(report) if "pageable" in one.what).worth

        self.assertAlmostEqual(worth(), 1000 * (1100 - 100 + 5000) / 1e9)
        report["launch_time_ns"] = 10**6    # no more can be saved than there is
        self.assertAlmostEqual(worth(), 10**6 / 1e9)

    def test_nothing_is_worth_anything_where_the_gpu_is_behind(self):
        self.assertEqual({one.worth for one in advice.obstacles(self.pageable | {"measured": "GPU-bound: nothing to gain"})}, {None})

    def test_every_reason_has_a_remedy(self):
        self.assertEqual(set(advice.UNFIT) | {"first"}, set(self.on["unfit"]))
        self.assertEqual(set(advice.EXITS), set(self.on["exited"]))

    def test_each_reason_alone(self):
        for table, reasons in (("unfit", advice.UNFIT), ("exited", advice.EXITS)):
            for name, (what, remedy) in reasons.items():
                report = copy.deepcopy(self.on) | {"call_sites": [], "replayed": self.on["ops"]}
                report["unfit"] = dict.fromkeys(report["unfit"], 0)
                report["exited"] = dict.fromkeys(report["exited"], 0)
                report[table][name] = report["ops"] // 10
                self.assertEqual([(one.what, one.remedy) for one in advice.obstacles(report)], [(f"{report['ops'] // 10:,} {what}" + " cut the sequences" * (table == "unfit"), remedy)])

    def test_no_obstacle_is_said(self):
        report = self.quiet()
        self.assertIn("Nothing much stands in the way: 100.0 % of the calls were replayed.", page.whole([report]).replace("\u00a0", " "))

    def quiet(self, **changed):
        """A report without an obstacle, and what is changed in it."""
        report = copy.deepcopy(self.on) | {"call_sites": [], "replayed": self.on["ops"], "turns": TURNS, "measured": "1.25 x faster"}
        report |= dict.fromkeys(("exited_ops", "backed_off", "short_eager", "turn_ops"), 0)
        return report | {"unfit": dict.fromkeys(report["unfit"], 0), "exited": dict.fromkeys(report["exited"], 0)} | changed

    def test_large_groups_of_eager_calls_are_obstacles(self):
        """Not small ones; short sequences not twice, where they are told with the waits that make them."""
        tenth = self.on["ops"] // 10
        for name, words in (("backed_off", "where nothing had repeated"), ("short_eager", "in sequences of one to three"), ("turn_ops", "eager to measure the gain"), ("learning", "before a graph was ready")):
            for calls, told in ((tenth, 1), (tenth // 4, 0)):
                report = self.quiet(**{name: calls}, replayed=self.on["ops"] - calls)
                self.assertEqual([words in one.what for one in advice.obstacles(report)], [True] * told)
                self.assertEqual([one.share for one in advice.obstacles(report)], [calls / report["ops"]] * told)
        report = self.quiet(short_eager=tenth, call_sites=[{"kind": "waits", "call": "cuStreamSynchronize", "count": tenth * 2}])
        self.assertEqual([one.name for one in advice.obstacles(report)], ["few calls between two waits"])
        self.assertEqual(advice.obstacles(report)[0].what, "Only about 5 calls come between two waits")

    def test_calls_in_turns_are_told_by_the_verdict(self):
        half = self.on["ops"] // 2
        for verdict, turns, what, remedy, has_worth in (
                ("replay", 4, "were eager to measure the gain", "longer run", False), ("eager", 4, "since replaying gained nothing", "reprise observe --cupti", False), ("unclear", 4, "no clear gain was seen", "reprise observe --cupti", False),
                ("costly", 4, "too much processor time", "REPRISE_TURNS=0", False), ("bound", 4, "since the GPU is behind", "kernels shorter", False), ("undecided", 4, "until a loop was found", "run longer", True),
                ("undecided", 0, "since no loop was found", "a wait in each", True)):
            report = self.quiet(turn_ops=half, replayed=half, turns=TURNS | {"verdict": verdict, "turns": turns, "gain": 0}, measured="x")
            (one,) = advice.obstacles(report)
            self.assertIn(what, one.what)
            self.assertIn(remedy, one.remedy)
            self.assertEqual(one.worth is not None, has_worth)

    def test_what_measures_a_gain_is_told_once_where_there_is_none(self):
        for verdict, told in (("replay", 0), ("eager", 1), ("unclear", 1), ("undecided", 1)):
            for calls in (0, self.on["ops"] // 2):
                text = page.whole([self.quiet(turn_ops=calls, replayed=self.on["ops"] - calls, turns=TURNS | {"verdict": verdict}, measured="x")])
                self.assertEqual(text.count("<code>reprise observe --cupti</code> measures how long the GPU waits"), told)

    def test_a_place_in_cudart_is_none(self):
        row = {"kind": "waits", "call": "cuStreamSynchronize", "count": 900}
        for place, shown in (({"library": "/x/libcudart.so.13", "offset": 7}, ("cuStreamSynchronize", advice.PLACE_BY_OBSERVE)), ({"library": "/x/a.so", "symbol": "libcudart_static_0f", "symbol_offset": 7}, ("cuStreamSynchronize", advice.PLACE_BY_OBSERVE)),
                             ({"library": "/x/a.so", "symbol": "f", "symbol_offset": 7}, ("cuStreamSynchronize in a.so: f+0x7", "and 1 other place")), ({}, ("cuStreamSynchronize", "and 1 other place"))):
            self.assertEqual(advice.where({"call_sites": [row | place, row | {"count": 9}]}, "waits"), shown)
        self.assertEqual(advice.where({"call_sites": [row | {"kind": "unfit", "call": "pageable", "library": "/x/libcudart.so.13"}]}, "unfit", call="pageable"), ("", advice.PLACE_BY_OBSERVE))
        self.assertEqual(advice.where({"call_sites": []}, "waits"), advice.NOWHERE)

    def test_what_is_worth_little_is_sorted_by_its_share(self):
        each = [advice.Obstacle(name, "", advice.NOWHERE, "", share, worth) for name, share, worth in (("a", 0.01, 0.0009), ("b", 0.6, None), ("c", 0.001, 0.002), ("d", 0.3, 0.05))]
        self.assertEqual("".join(one.name for one in sorted(each, key=advice.value, reverse=True)), "dcba")


class Page(WithReports):
    def test_what_cannot_be_graphed_is_named_by_its_reason(self):
        self.assertEqual(page.call_of({"kind": "unfit", "call": "pageable"}), "copy from or to pageable, managed or unknown memory")
        self.assertEqual(page.call_of({"kind": "waits", "call": "cuStreamSynchronize"}), "<code>cuStreamSynchronize</code>")
        self.assertEqual(page.call_of({"kind": "unfit", "call": INJECTED}).count("<"), 0)

    def test_a_call_site_has_the_short_name_and_the_whole_one_on_hover(self):
        row = {"library": "/x/a.so", "symbol": "ns::wait(ns::Stream*)", "symbol_offset": 16}
        self.assertEqual(page.place_of(row), '<code title="a.so: ns::wait(ns::Stream*)+0x10">a.so: ns::<wbr>wait+0x10</code>')
        self.assertEqual(page.place_of(row | {"symbol": "wait"}), "<code>a.so: wait+0x10</code>")
        self.assertEqual(page.place_of({"library": "/x/a.so", "offset": 7}), "<code>a.so+0x7</code>")
        self.assertEqual(page.place_of({}), "<code>(not known)</code>")

    def test_the_longer_run_of_a_saving_is_explained(self):
        for saved, estimate, told in ((10**6, (100, 110), True), (10**6, (100, 90), False), (-10**6, (100, 110), False), (10**6, None, False)):
            with mock.patch.object(page.observed, "estimate", lambda report: estimate):
                self.assertEqual("longer all the same" in " ".join(page.expected(copy.deepcopy(self.observed) | {"saved_ns": saved})), told)

    def test_kernels_of_one_short_name_are_one_bar(self):
        rows = [{"name": f"void ns::add<{kind}>(int)", "watched": 1, "replayed": 10 * kind} for kind in (1, 2, 3)] + [{"name": "void ns::mul<1>(int)", "watched": 0, "replayed": 61}]
        kinds = page.kinds_of_kernels({"kernels": rows})
        self.assertEqual([(len(kind["names"]), kind["watched"], kind["replayed"]) for kind in kinds], [(3, 3, 60), (1, 0, 61)])
        self.assertIn("3 kernels of this name", page.kernel_label(kinds[0]["names"]))
        self.assertIn(' title="void ns::add&lt;1&gt;(int)\nvoid ns::add&lt;2&gt;(int)\nvoid ns::add&lt;3&gt;(int)"', page.kernel_label(kinds[0]["names"]))
        self.assertIn("void ns::mul&lt;1&gt;(int)", page.kernel_label(kinds[1]["names"]))

    def test_what_the_launch_thread_launched_took_nothing_of_the_program(self):
        report = copy.deepcopy(self.on)
        row = report["trace_rows"][0]
        report["launches"], report["gain"]["launches_ns"] = 10 * row["replays"], 1000 * row["replays"]    # one launch in ten of 1 us is the program's
        self.assertEqual(reports.launches_of(row, report), 100 * row["replays"])
        self.assertEqual(reports.saved_by(row, report), row["eager_ns"] - 100 * row["replays"])

    def test_sequences_that_are_alike_are_one_row(self):
        """Of the same calls, grids and stream, added; any other is a row of its own, and so is one of a report without its calls."""
        row = max(copy.deepcopy(self.on)["trace_rows"], key=lambda row: row["eager_ns"]) | {"live": False}
        other = row | {"sequence": [op | {"block": [7, 1, 1]} for op in row["sequence"]]}
        old = {key: value for key, value in row.items() if key != "sequence"}
        found = reports.alike([row, row | {"live": True, "exits": {name: 1 for name in row["exits"]}}, other, row | {"lane": 9}, old, old, row | {"who": "rank 1"}])
        self.assertEqual([one["alike"] for one in found], [2, 1, 1, 1, 1, 1])
        self.assertEqual([found[0][name] for name in reports.SUMMED], [2 * row[name] for name in reports.SUMMED])
        self.assertEqual((found[0]["live"], found[0]["exits"]), (True, {name: number + 1 for name, number in row["exits"].items()}))
        report = copy.deepcopy(self.on) | {"trace_rows": [row, row, other]}
        text = page.whole([report])
        self.assertEqual((text.count('<details class="trace">'), text.count("; 2\u00a0alike")), (2, 1))
        self.assertIn(f"and {self.on['trace_rest']['made']} more" if self.on["trace_rest"]["made"] else "</details></div></section>", text)

    def test_a_trace_opens_to_its_kernels(self):
        report = copy.deepcopy(self.on)
        row = max(report["trace_rows"], key=lambda row: row["eager_ns"])
        row["sequence"] = [{"kind": "kernel", "times": 1, "any_value": True, "kernel": 200, "grid": [7, 5, 3], "block": [64, 2, 1]},
                           {"kind": "copy", "times": 3, "any_value": False, "bytes": 4096}, {"kind": "kernel", "times": 1, "any_value": False, "grid": [1, 1, 1], "block": [1, 1, 1]}]
        row["sequence_left_out"] = 9
        report["kernels"].append({"name": "void ns::seventh<int>(int)", "number": 200, "watched": 1, "replayed": 1})
        text = page.whole([report])
        for part in ("7 × 5 × 3", "64 × 2 × 1", "ns::seventh", "void ns::seventh&lt;int&gt;(int)", "arguments", "2 to 4", "4 KiB", "a kernel without a name", "9 more calls are not listed"):
            self.assertIn(part, text.replace("<wbr>", ""))

    def test_joined_processes_keep_the_kernels_of_their_own(self):
        each = [copy.deepcopy(self.on) | {"rank": rank, "pid": rank + 1} for rank in range(2)]
        for rank, report in enumerate(each):
            report["kernels"] = [{"name": f"kernel_of_{rank}", "number": 1, "watched": 1, "replayed": 1}]
            for row in report["trace_rows"]:
                row["sequence"], row["first"] = [{"kind": "kernel", "times": row["length"], "any_value": False, "kernel": 1, "grid": [1, 1, 1], "block": [1, 1, 1]}], "x"
        text = page.whole(each).replace("<wbr>", "")
        self.assertEqual([f"kernel_of_{rank}</span></span></td>" in text for rank in range(2)], [True, True])

    def test_a_report_of_an_earlier_version(self):
        report = copy.deepcopy(self.on)
        for row in report["trace_rows"]:
            del row["sequence"], row["sequence_left_out"]
        for row in report["kernels"]:
            del row["number"]
        for name in ("version", "commit", "options", "gpu_name", "driver_cuda", "measured", "turns", "turn_ops"):
            report.pop(name, None)
        text = page.whole([report])
        self.assertIn("of an earlier version of Reprise", text)
        self.assertIn("not known", text)

    def test_the_head_tells_what_it_ran_on(self):
        _, text = self.told(gpu_name="NVIDIA X", driver="580.1", driver_cuda="13.0", version="9.9", commit="abc")
        for part in ("NVIDIA X", "580.1, CUDA 13.0", "9.9, commit abc, mode on", "REPRISE_PAYS=assumed"):
            self.assertIn(part, text)
        self.assertNotIn("simulated driver", text)
        self.assertIn("Made on the simulated driver", self.told()[1])

    def test_labels_below_a_plot_do_not_meet(self):
        """At equal distances; the first and the last one stand inside of the plot, or are left out."""
        ticks = [(4, "500 ns"), (20, "1 us"), (40, "2 us"), (60, "5 us"), (80, "10 us"), (97, "20 us")]
        self.assertEqual(plots.readable(ticks, 1.2), ticks)
        self.assertEqual([words for _, words in plots.readable(ticks, 3.2)], ["1 us", "2 us", "5 us", "10 us"])
        self.assertEqual([words for _, words in plots.readable([(10, "1 us"), (50, "2 us"), (90, "5 us"), (97, "10 us")], 1.2)], ["1 us", "2 us", "5 us"])
        self.assertEqual([words for _, words in plots.readable([(3, "100 ns"), (11, "200 ns"), (40, "500 ns")], 1.2)], ["200 ns", "500 ns"])
        self.assertEqual(plots.extent((4, "500 ns"), 2), (4, 18))
        self.assertEqual(plots.extent((97, "20 us"), 2), (85, 97))
        self.assertEqual(len(plots.readable(ticks, 30)), 1)
        self.assertEqual(plots.readable([], 2), [])

    def test_rare_fates_are_in_a_fold(self):
        report = copy.deepcopy(self.on)
        report["exited"], report["unfit"] = dict.fromkeys(report["exited"], 0), dict.fromkeys(report["unfit"], 0)
        for rare, folded in (({"pageable": 1}, 0), ({"pageable": 1, "empty": 1}, 1)):
            text = page.whole([report | {"ops": 10**6, "replayed": 10**6 - 9000, "backed_off": 0, "unfit": report["unfit"] | rare}])
            self.assertEqual(text.count("2 more, each less than 0.1\u00a0%"), folded)
            self.assertIn("cannot be graphed</abbr>: pageable", text)
            self.assertIn("&lt;\u00a00.1\u00a0%", text)

    def test_calls_that_are_not_drawn_over_time_are_told(self):
        report = copy.deepcopy(self.on) | {"share": {"interval_ns": 10**7, "ops": [90, 9], "replayed": [0, 9]}}
        for ops, words in ((99, None), (100, "1 call that was "), (1101, "1,002 calls that were ")):
            self.assertEqual(re.findall(r"known yet\. ([^<]*)<", page.over_time(report | {"ops": ops, "turn_ops": ops - 99}, [report])), [words] if words else [])

    def test_what_is_in_graphs_is_drawn_in_its_two_colours(self):
        parts = dict.fromkeys(("launches_ns", "patches_ns", "exits_ns", "defers_ns"), 10)
        listed = list(page.waterfall({"mode": "on", "gain": parts | {"replaced_ns": 100, "build_ns": 0}}))
        self.assertEqual([kind for _, _, _, kind in listed[-1][1]], ["replayed", "cost", "cost", "cost"])
        self.assertEqual([(begin, end) for _, begin, end, _ in listed[-1][1]], [(0, 10), (10, 20), (20, 30), (30, 40)])

    def test_outliers(self):
        self.assertEqual(reports.outliers([10, 10.1, 9.9, 10, 5]), [False, False, False, False, True])
        self.assertEqual(reports.outliers([10, 10, 10, 10.1]), [False] * 4)    # less than a twentieth
        self.assertEqual(reports.outliers([1, 100]), [False, False])
        each = [copy.deepcopy(self.on) | {"rank": rank, "launch_time_ns": 10**9 if rank != 3 else 2 * 10**9} for rank in range(6)]
        self.assertEqual(page.ranks(each).count('class="mark"'), 2)    # it, and what explains the mark

    def test_one_file_without_scripts_under_a_policy(self):
        for which in ("on", "observed", "pageable"):
            _, text = self.told(which)
            self.assertIn("content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"", text)
            parts = Parts(text)
            self.assertEqual((parts.tags - TAGS, parts.attributes - ATTRIBUTES), (set(), set()))
            self.assertEqual(text.count("href="), 1)

    def test_nothing_of_a_report_becomes_part_of_the_page(self):
        for which in ("on", "observed", "pageable"):
            report = strings_replaced(getattr(self, which), INJECTED) | {"stopped": INJECTED, "recording_ended": INJECTED, "measured": INJECTED, "driver": INJECTED, "rank": 1, "rank_variable": INJECTED}
            report["gpu"] = {"kernels": 1, "busy_ns": 1, "span_ns": 2, "dropped": 0, "rows": [{"name": INJECTED, "launches": 1, "ns": 1}]}
            for site in report["call_sites"]:
                site |= {"library": INJECTED, "symbol": INJECTED, "runtime": INJECTED}
            other = copy.deepcopy(report) | {"rank": 2, "host": INJECTED + "2"}
            for each in [report], [report, other], [report | {"difference": INJECTED}], [report | {"aside": INJECTED, "tool": INJECTED}], [report | {"turns": TURNS}]:
                parts = Parts(page.whole(copy.deepcopy(each)))
                self.assertEqual((parts.tags - TAGS, parts.attributes - ATTRIBUTES), (set(), set()))
                self.assertTrue(any("alert(1)" in text for text in parts.texts))

    def test_each_term_is_explained(self):
        text = words.listed()
        for word, meaning in words.TERMS.items():
            self.assertIn(f"<dt>{word}</dt>", text)
            self.assertIn(html.escape(meaning), words.term(word))


class Pictures(unittest.TestCase):
    def checked(self, *words):
        return subprocess.run([SCREENSHOTS, "--check", *words], capture_output=True, text=True)

    def test_the_pictures_of_the_documentation_are_of_this_page(self):
        outcome = self.checked()
        self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))

    def test_older_pictures_are_noticed(self):
        """The test can fail: for want of the list, for another source, and for one that is new or gone."""
        with tempfile.TemporaryDirectory() as folder:
            listed = Path(folder) / "made-of.txt"
            subprocess.run([SCREENSHOTS, "--renew", "--out", folder], check=True)
            right = listed.read_text()
            self.assertEqual(self.checked("--out", folder).returncode, 0)
            self.assertLessEqual({"page.css", "page.py", "plots.py", "words.py", "judgement.py", "advice.py", "compare.py", "screenshots"}, {Path(line.split()[1]).name for line in right.splitlines()})
            line = next(line for line in right.splitlines(keepends=True) if line.endswith("page.css\n"))
            for text, name in (("", "src/cli/reader/page.css, src/cli/reader/page.py"), (right.replace(line, "0" + line[1:] if line[0] != "0" else "1" + line[1:]), "src/cli/reader/page.css"),
                               (right.replace(line, ""), "src/cli/reader/page.css"), (right + line.replace("page.css", "gone.css"), "src/cli/reader/gone.css")):
                listed.write_text(text)
                outcome = self.checked("--out", folder)
                self.assertEqual(outcome.returncode, 1)
                self.assertIn("run scripts/screenshots ", outcome.stderr)
                self.assertIn(name, outcome.stderr)


class Labels(html.parser.HTMLParser):
    """The words that name something on a page: heads and first cells of tables, names of facts, labels of bars, legends, folds. Each is (text, what of it is no term and no name of the program's, terms)."""
    VOID = ("meta", "link", "wbr")

    def __init__(self, text):
        super().__init__()
        self.open, self.label, self.row, self.explained, self.found = [], None, [], None, []
        self.feed(text)

    def inside(self, *kinds):
        return any(tag in kinds or set(kinds) & set(classes) for tag, classes in self.open)

    def begins(self, tag, classes):
        if tag == "td" and not self.row:
            return not self.inside("stack") or self.inside("titled")    # those without a title are of calls in their order
        return tag in ("th", "h3") or tag == "dt" and not self.inside("words") or tag == "summary" and self.inside("fold") or {"label", "keyed"} & set(classes)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        classes = (attributes.get("class") or "").split()
        if tag == "tr":
            self.row = []
        if self.label is None and self.begins(tag, classes):
            self.label = {"depth": len(self.open), "text": "", "rest": "", "terms": [], "named": False, "why": False}
            self.found.append(self.label)
        if tag == "td":
            self.row.append(self.found[-1] if not self.row else {})
        if self.label is not None and tag == "abbr":
            self.label["terms"].append(attributes["title"])
        if self.label is not None and (tag == "code" or "name" in classes):
            self.label["named"] = True
        if tag == "td":
            self.explained = self.row[0] if attributes.get("data-head") in ("why", "what it does") else None
        if tag not in self.VOID:
            self.open.append((tag, classes))

    def handle_endtag(self, tag):
        self.open.pop()
        if self.label is not None and len(self.open) == self.label["depth"]:
            self.label = None

    def handle_data(self, text):
        if self.explained is not None and self.inside("td"):
            self.explained["why"] = True
        if self.label is not None and not self.inside("code", "name"):
            self.label["text"] += text
            self.label["rest"] += "\n" if self.inside("abbr") else text    # no term goes over what is one


PLAIN = re.compile(r"""    # what everybody knows, or the page says beside it
    fate|share|why|times|time|in[ ]all|each|what|what[ ]it[ ]does|kernel|host|pid|duration|when|GPU|driver|Reprise|options?|value|from|before|after|change
    |(rank|process)[ ]\d+|[\d,]+[ ]more(,[ ]each[ ]less[ ]than[ ]0\.1[ ]%)?|All[ ](figures|options)|Words[ ]on[ ]this[ ]page|Over[ ]time|with(out)?[ ]Reprise|replaying|with,[ ].*|\d+[ ]us|program|from[ ]the[ ]first[ ]kernel[ ]to[ ]the[ ]last|CUDA""", re.X)


def unmarked(text):
    """(label, term) for each term that stands in a label and is not marked there."""
    every = {word: words.meaning(word) for word in [*words.TERMS, *words.FORMS]}
    return [(label["text"], word) for label in Labels(text).found for word, meaning in every.items() if words.pattern([word]).search(label["rest"]) and meaning not in label["terms"]]


def unexplained(text):
    """The labels that are no terms and no names, whose rows do not say what they mean, and that are not plain."""
    return {label["text"].replace("\u00a0", " ") for label in Labels(text).found
            if not (label["terms"] or label["named"] or label["why"] or PLAIN.fullmatch(label["text"].strip().replace("\u00a0", " ")))}


class Terms(WithReports):
    def pages(self):
        """Pages that have all that a page may have: (name, text)."""
        full = copy.deepcopy(self.on) | {"turn_ops": 5, "short_eager": 5, "backed_off": 5, "paused_ops": 5, "nvtx_ops": 5, "eager_capturing": 5, "eager_stopped": 5}
        for name in ("exited", "unfit"):
            full[name] = dict.fromkeys(full[name], 3)
        full["ops"] += 1000
        full["gain"] |= {"patches_ns": 9, "exits_ns": 9, "build_ns": 9, "eager_assumed": ["kernel"]}
        full["gpu"] = {"kernels": 1, "busy_ns": 1, "span_ns": 2, "dropped": 0, "rows": [{"name": "k", "launches": 1, "ns": 1}]}
        yield "a run", page.whole([copy.deepcopy(full)])
        for name, saved in (("a loss", -10**6), ("a gain", 10**6)):    # which of them was measured here is a matter of time
            yield name, page.whole([copy.deepcopy(self.observed) | {"saved_ns": saved}])
        for which in ("observed", "pageable"):
            yield which, self.told(which)[1]
        for verdict in ("replay", "eager", "costly", "unclear", "bound", "undecided"):
            yield f"turns: {verdict}", self.told(turns=TURNS | {"verdict": verdict})[1]
        each = [copy.deepcopy(full) | {"rank": rank, "pid": rank + 1, "turns": TURNS, "launch_time_ns": 10**9 * (1 + rank // 5)} for rank in range(6)]
        yield "processes", page.whole(each)
        for one, other in (("on", "pageable"), ("pageable", "on")):
            before, after = copy.deepcopy(getattr(self, one)) | {"turns": TURNS}, copy.deepcopy(getattr(self, other)) | {"turns": TURNS, "host": "other", "driver": "1"}
            yield "a comparison", compare.html([before], [after])

    def test_terms_are_marked_where_they_stand_in_tables_and_legends(self):
        for name, text in self.pages():
            with self.subTest(page=name):
                self.assertEqual(unmarked(text), [])

    def test_each_label_is_a_term_or_has_its_meaning_beside_it(self):
        for name, text in self.pages():
            with self.subTest(page=name):
                self.assertEqual(unexplained(text), set())

    def test_each_term_stands_on_a_page(self):
        marked = {title for _, text in self.pages() for title in re.findall(r'<abbr title="([^"]*)"', text)}
        self.assertEqual([word for word, meaning in words.TERMS.items() if html.escape(meaning) not in marked], [])

    def test_what_these_would_find(self):
        """The tests can fail: labels that nobody marks, a term without a meaning, and a row without a reason."""
        with mock.patch.object(page, "marked", html.escape):
            text = self.told("pageable")[1]
        self.assertLessEqual({("replayed", "replayed"), ("cannot be graphed: pageable", "cannot be graphed"), ("calls", "calls"), ("blue: replayed, from graphs", "replayed"), ("early exits", "early exits"),
                              ("nodes patched", "nodes patched"), ("built", "built"), ("Graph memory, deferral, building", "deferral")}, set(unmarked(text)))
        self.assertLessEqual({"nodes patched", "built", "early exits", "blue: replayed, from graphs"}, unexplained(text))
        with mock.patch.object(reports, "fates", lambda report: [("put off", 1, "")]):
            self.assertEqual(unexplained(page.whole([copy.deepcopy(self.on)])), {"put off"})


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
