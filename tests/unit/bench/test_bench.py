#!/usr/bin/env python3
"""scripts/bench with programs that invent their times: what meets its targets ends well; a missed target, another answer and a failed run do not. What it writes
can be read and compared.

usage: test_bench.py SCRIPTS
"""
import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

sys.path.insert(0, sys.argv[1])
from lib import bench_file, bench_judge, bench_plan, bench_plots, bench_rows, load  # noqa: E402

# Stands for launchbound: its times, answers and failures are in a file beside it, by shape and way.
PROGRAM = '''#!{python}
import json, os, sys
folder = os.path.dirname(os.path.abspath(sys.argv[0]))
behaviour = json.load(open(os.path.join(folder, "behaviour.json")))
if sys.argv[1:] == ["--list"]:
    for shape, ways in behaviour.items():
        print(shape, ",".join(way for way in ways if way != "reprise" and not way.endswith(".so")), "about it")
    sys.exit(0)
option = lambda name, other: sys.argv[sys.argv.index(name) + 1] if name in sys.argv else other
shape, way = option("--shape", None), option("--mode", "eager")
under = os.environ.get("REPRISE") == "on"
if under and os.environ.get("REPRISE_HOLD") != "0":
    library = os.path.basename(os.environ["LD_PRELOAD"])
    way = library if library in behaviour[shape] else "reprise"
if under:
    counters = dict(ops=1000, replayed=behaviour[shape]["reprise"].get("replayed", 990), patched=7, side_exits=0)
    json.dump(counters, open(os.environ["REPRISE_REPORT"].replace("%p", str(os.getpid())), "w"))
does = behaviour[shape][way]
turns = 0
said = ""
for line in sys.stdin:
    if turns == does.get("dies_at"):
        sys.exit("it died")
    turns += 1
    said = "us=%f\\n" % does["us"]
    if turns > int(option("--batches", None)) + 1:    # it has set up, and warmed up
        break    # and the last line comes along with the last turn's
    print(said, end="", flush=True)
print(said + "us_median=%f process_cpu_us=1 device_mib=%f checksum=%s" % (does["us"], does.get("mib", 0), does.get("answer", "same")))
'''


def good():
    """Times with which every target is met."""
    def ways(eager, reprise, **others):
        return {"eager": {"us": eager}, "reprise": {"us": reprise}} | {form.replace("_", "-"): {"us": us} for form, us in others.items()}
    return {
        "chain100": ways(300, 95, launch=91),
        "swap": ways(300, 96, launch=94),
        "all-changed": ways(300, 103, set=150, set_by_8=110, update=130),
        "jacobi3": ways(60, 40, launch=38, floor=5),
        "think8": ways(700, 530, launch=515, floor=513),
        "loops10000": ways(20, 20),
        "chain50": ways(150, 50, launch=45),
        "threads16": ways(900, 110, launch=100),
    }


failures = []


def expect(what, found, expected):
    if found != expected:
        failures.append(f"{what}: {found!r}, not {expected!r}")


class Bench:
    def __init__(self, folder):
        self.module = load("scripts/bench")
        self.module.results.gpu_name = lambda: ("No GPU", None)
        self.folder = folder
        programs = folder / "tests" / "programs"
        programs.mkdir(parents=True)
        self.behaviour = programs / "behaviour.json"
        program = programs / "launchbound"
        program.write_text(PROGRAM.format(python=sys.executable))
        program.chmod(0o755)
        library = self.module.runs.library(folder)
        library.parent.mkdir()
        library.touch()

    def run_whole(self, behaviour, rows, *more):
        """Exit status, and the whole document."""
        self.behaviour.write_text(json.dumps(behaviour))
        out, self.said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(self.said):
            status = self.module.main([str(self.folder), "--rows", rows, *([] if "--minutes" in more else ["--rounds", "1"]), *more])
        return status, out.getvalue()

    def run(self, behaviour, rows, *more):
        """Exit status, the table's rows by name, and what was said."""
        status, text = self.run_whole(behaviour, rows, *more)
        table = {line.split(" | ")[0].strip("| "): line for line in text.splitlines() if line.startswith("| ")}
        return status, table, self.said.getvalue()

    def expect_failure(self, what, row, words, change, rows=None):
        behaviour = good()
        change(behaviour[row])
        status, table, said = self.run(behaviour, rows or row)
        expect(f"{what}: status", status, 1)
        expect(f"{what}: {words!r} in the table", words in table[row], True)
        expect(f"{what}: named at the end", f"bench: {row}: " in said, True)


def check(bench):
    status, table, _ = bench.run(good(), ",".join(good()), "--rounds", "2")
    expect("all is met", (status, [row for row in table.values() if "**" in row]), (0, []))
    expect("the form by hand counts that the row names", "150.0 (150.0–150.0) set; 110.0 set-by-8 |" in table["all-changed"], True)
    expect("the limit is a column", "| 515.0 (515.0–515.0) launch | 513.0 (513.0–513.0) |" in table["think8"], True)
    expect("ratios have a spread", "3.16 (3.16–3.16) | 1.04 (1.04–1.04)" in table["chain100"], True)
    expect("what was replayed is told", "99.0%, 7 ops patched" in table["chain100"], True)

    bench.expect_failure("a gain missed", "chain100", "≥ 3 × eager: **missed by 16.7%** (2.5)", lambda ways: ways["eager"].update(us=237.5))
    bench.expect_failure("slower than by hand", "all-changed", "≤ 0.69 × set: **missed by 8.2%** (0.747)", lambda ways: ways["reprise"].update(us=112))
    bench.expect_failure("slower than the limit", "think8", "≤ 1.04 × limit: **missed by", lambda ways: ways["floor"].update(us=500))
    bench.expect_failure("slower than another row", "swap", "≤ 1.03 × chain100: **missed by", lambda ways: ways["reprise"].update(us=99), "swap,chain100")
    bench.expect_failure("worse than one thread", "threads16", "that of chain50: **missed by", lambda ways: ways["reprise"].update(us=130),
                         "chain50,threads16")
    bench.expect_failure("too much memory", "loops10000", "≤ 256 MiB: **missed by", lambda ways: ways["reprise"].update(mib=300))
    bench.expect_failure("the row to compare with is not there", "swap", "≤ 1.03 × chain100: **not measured**", lambda ways: None)
    bench.expect_failure("another answer under Reprise", "chain100", "**they differ: reprise**", lambda ways: ways["reprise"].update(answer="other"))
    bench.expect_failure("another answer by hand", "all-changed", "**they differ: set-by-8**", lambda ways: ways["set-by-8"].update(answer="other"))
    bench.expect_failure("a run dies under Reprise", "chain100", "**1 runs failed**", lambda ways: ways["reprise"].update(dies_at=4))
    bench.expect_failure("a run dies at once by hand", "chain100", "**1 runs failed**", lambda ways: ways["launch"].update(dies_at=0))

    # With its own environment, the stand-in is as slow as eagerly.
    status, table, _ = bench.run(good(), "chain100-hold0")
    expect("a row's own environment", (status, "≥ 1.5 × eager: **missed by 33.3%** (1)" in table["chain100-hold0"]), (1, True))

    # Libraries beside this one: each has a table of its own, and neither counts as written by hand.
    faster = good()
    for name, us in (("faster.so", 50), ("slower.so", 190)):
        Path(bench.folder, name).touch()
        faster["chain100"][name] = {"us": us}
    beside = [word for name in ("faster.so", "slower.so") for word in ("--beside", str(bench.folder / name))]
    status, text = bench.run_whole(faster, "chain100", *beside)
    tables = text.split("## Beside ")[1:]
    expect("a table for each library beside", [(table.split()[0], table.split(" | ")[-2]) for table in tables], [("faster.so", "1.90"), ("slower.so", "0.50")])
    expect("a library beside is not a form written by hand", (status, "91.0 (91.0–91.0) launch" in text), (0, True))

    written = bench.folder / "results"
    bench.run(good(), "chain100", "--write", str(written))
    expect("--write", ["chain100" in path.read_text() for path in written.iterdir()], [True])
    bench_plan.MOST_ROUNDS = 7
    status, _, said = bench.run(good(), "chain100", "--minutes", "1")
    expect("more rounds where there is time", (status, "round 7 of 7" in said), (0, True))
    expect_end("no time for anything", lambda: bench.run(good(), "chain100", "--minutes", "0.01"), "no time for any row")
    expect("and it is named", "left out chain100: no time" in bench.said.getvalue(), True)


def expect_end(what, act, words):
    try:
        act()
        failures.append(f"{what}: it did not end")
    except SystemExit as end:
        expect(f"{what}: {words!r}", words in str(end), True)


def measured(name, ways, form="", **more):
    """A row whose rounds took so long: microseconds of each round, by way."""
    found = bench_judge.Measured(bench_rows.Row(name, ("byhand",), "launchbound", ("--shape", name), form=form, repeats=True, **more), dict.fromkeys(ways, ()))
    for way, rounds in ways.items():
        found.samples[way] = [us and bench_judge.Sample([us], 1.0, 0.0, "same", {"ops": 100, "replayed": 99}) for us in rounds]
    return found


def check_judge():
    rows = [measured("a", {"eager": [30, 30], "reprise": [12, 11], "launch": [10, 10]}), measured("b", {"eager": [30, 30], "reprise": [30, 33], "launch": [10, 10]}),
            measured("c", {"eager": [30, 30], "reprise": [10, 10]})]
    means, count = bench_judge.overall(rows)
    expect("the mean is geometric, round by round, of those with a form by hand", ([round(mean, 4) for mean in means], count), ([1.8974, 1.9053], 2))
    expect("of some rows it is held against nothing", "held against nothing" in bench_judge.overall_text(rows), True)
    whole = [measured(name, {"eager": [30], "reprise": [12], "launch": [10]}) for name in bench_rows.repeating()]
    expect("a mean that is missed is a failure", list(bench_judge.failures(whole)), ["geometric mean: 1.20 (1.20–1.20) ≤ 1.04: **missed by 15.4%**"])
    unlike = measured("jacobi3", {"eager": [30, 30], "reprise": [10, 14]}, targets={"alike": 1.1})
    expect("processes that differ", bench_judge.verdict(unlike, {}), "rounds within 1.1 ×: **missed by 27.3%** (1.4)")
    forms = measured("many", {"eager": [9], "reprise": [1], "set": [4], "update": [2], "launch": [3], "floor": [1]}, form="set")
    forms.leave_out_slow_forms(1)
    expect("slow forms end after the first round, but not the named one", (list(forms.commands), forms.slower_forms),
           (["eager", "reprise", "set", "update", "floor"], {"launch": 3}))
    forms.samples["launch"][0].answer = "other"
    expect("what they computed counts", bench_judge.agreement(forms), ("**they differ: launch**", False))
    longer = measured("lengths", {"eager": [9, 9], "reprise": [9, 9]})
    for way in longer.samples.values():
        way[1].turns, way[1].answer = [9, 9], "of more turns"
    expect("rounds of different lengths may differ", bench_judge.agreement(longer), ("equal", True))


def planned(seconds, rounds=None, **costs):
    """A plan of rows that cost so much: (start, turn), by name. Ranks are those of the groups, in the order that they are named here."""
    rows = [measured(name, {"eager": []}) for name in costs]
    for row, group in zip(rows, bench_rows.GROUPS):
        row.row.groups = (group,)
    plan = bench_plan.Plan(rows, rounds)
    for row in rows:
        plan.note(row, *costs[row.row.name])
    plan.fit(seconds)
    return plan, rows


def check_plan():
    least = bench_plan.LEAST_ROUNDS * (1 + bench_plan.LEAST_TURNS * 1)
    plan, rows = planned(2 * least, a=(1, 1), b=(1, 1), c=(1, 1))
    expect("the last of the groups has no time", ([row.row.name for row in plan.taken], list(plan.left_out())), (["a", "b"], ["c"]))
    expect("turns are few then", (plan.turns(rows[0]), plan.rounds), (bench_plan.LEAST_TURNS, bench_plan.LEAST_ROUNDS))
    plan, rows = planned(2 * least, a=(1, 1), b=(100, 1), c=(1, 1))
    expect("a row that takes too long is left out for a later one", [row.row.name for row in plan.taken], ["a", "c"])
    plan, rows = planned(1.5 * least, a=(1, 1))
    expect("turns get longer first", (plan.turns(rows[0]) > bench_plan.LEAST_TURNS, plan.rounds, plan.seconds() <= 1.5 * least), (True, bench_plan.LEAST_ROUNDS, True))
    plan, rows = planned(8 * 11, a=(1, 1))
    expect("then there are more rounds", (plan.turns(rows[0]), plan.rounds), (10, 8))
    plan, rows = planned(1000, rounds=2, a=(1, 1))
    expect("but not where their number was told", plan.rounds, 2)
    rows[0].samples["eager"] = [None] * 2
    expect("then nothing is left", plan.fit(1000), False)
    kept, rows = planned(1000, a=(10, 1))
    rows[0].row.kept, rows[0].row.turns = True, 40
    kept.fit(60)
    expect("one start for all rounds", kept.seconds_of_round(rows[0]) <= 60, True)
    kept.fit(10000)
    expect("and as many rounds as are asked for, but no more", (kept.rounds > 5, kept.left(rows[0]), kept.turns(rows[0])), (True, 5, 8))
    expect("its processes last for all turns of all rounds", [bench_plan.batches(rows[0].row, rounds) for rounds in (1, 5, 20)], [40, 40, 60])


def check_files(folder):
    def written(name, *rows, **facts):
        path = folder / name
        path.write_text(bench_file.text({"GPU": "none", **facts}, rows, []))
        return path

    def compared(before, after):
        lines, count = bench_file.compare(bench_file.read(written("a.json", *before)), bench_file.read(written("b.json", *after)))
        return count, "; ".join(lines)

    eager, hand = [30.0] * 5, [10.0, 10.1, 10.2, 9.9, 10.0]
    was = measured("a", {"eager": eager, "reprise": [11.0, 11.1, 10.9, 11.2, 11.0], "launch": hand})
    again = measured("a", {"eager": eager, "reprise": [11.1, 11.3, 11.0, 11.2, 11.1], "launch": hand})
    slow = measured("a", {"eager": eager, "reprise": [12.0, 12.1, 11.9, 12.2, 12.0], "launch": hand})
    one_slow = measured("a", {"eager": eager, "reprise": [11.0, 11.1, 20.0, 11.2, 19.0], "launch": hand})
    machine = measured("a", {"eager": [36.0] * 5, "reprise": [13.2, 13.3, 13.1, 13.4, 13.2], "launch": [1.2 * us for us in hand]})
    other = measured("a", {"eager": eager, "reprise": [11.0] * 5, "launch": hand})
    other.samples["reprise"][3].answer = "other"
    expect("what is as it was", compared([was], [again])[0], 0)
    expect("what is slower", compared([was], [slow]), (2, "worse: a: Reprise, us 12.0 (11.9–12.2), was 11.0 (10.9–11.2); eager / Reprise 2.50 (2.46–2.52), was 2.73 (2.68–2.75); "
           "Reprise / by hand 1.20 (1.17–1.23), was 1.10 (1.07–1.13); worse: geometric mean of Reprise / by hand 1.20 (1.17–1.23), was 1.10 (1.07–1.13)"))
    expect("what is faster", (compared([slow], [was])[0], "better: a: Reprise, us 11.0" in compared([slow], [was])[1]), (0, True))
    expect("two rounds of five are within the spread", compared([was], [one_slow])[0], 0)
    expect("where all is slower, that is said", "eager is slower, too; launch is slower, too" in compared([was], [machine])[1], True)
    expect("answers that differ", (compared([was], [other])[0], "they differ: reprise" in compared([was], [other])[1]), (1, True))
    named = measured("b", {"eager": eager, "reprise": eager})
    expect("what one has alone", compared([was], [named]), (0, "not in B: a; not in A: b"))
    failed = measured("a", {"eager": eager, "reprise": [11.0, None, 11.0, 11.0, 11.0], "launch": hand})
    failed.errors.append("reprise: status 1")
    expect("a run that fails", compared([was], [failed]), (1, "worse: a: 1 runs failed"))

    def main_of(*arguments):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            return load("scripts/bench").main(list(map(str, arguments))), out.getvalue()

    paths = written("a.json", was), written("b.json", slow, GPU="another")
    status, said = main_of("--compare", *paths)
    expect("--compare", (status, said.splitlines()[0], said.splitlines()[-1]), (1, "GPU: another, was none", "2 got worse by more than the spread"))
    expect("--compare with itself", main_of("--compare", paths[0], paths[0]), (0, "nothing got worse by more than its spread\n"))
    paths[1].write_text("{}")
    expect_end("another file", lambda: main_of("--compare", *paths), "b.json was not written by scripts/bench --json")
    expect_end("no file", lambda: main_of("--compare", paths[0], folder / "c.json"), "c.json: No such file or directory")

    # All groups at once, with invented times.
    with contextlib.redirect_stderr(io.StringIO()) as told:
        status, page = main_of(folder / "no-build", "--dry", "--json", folder / "dry.json", "--write", folder / "dry")
    facts, rows = bench_file.read(folder / "dry.json")
    expect("a dry run ends well", status, 0)
    expect("within its time", float(facts["time"].split()[0]) <= 8, True)
    expect("five rounds of each row, or it is named", ({line.split(":")[0] for line in facts["left_out"]} | set(rows), min(row.rounds() for row in rows.values()) >= 5),
           ({row.name for row in bench_rows.ROWS}, True))
    expect("what is left out is told at once, and on the page", all(f"left out {line}" in told.getvalue() and line in page for line in facts["left_out"]), True)
    expect("nothing of what is as by hand is left out", [row.name for row in bench_rows.selected(["byhand", "sweep"]) if row.name not in rows], [])
    expect("the page has the mean", "Reprise / by hand, geometric mean over" in page, True)
    pictures = sorted((folder / "dry").glob("*.svg"))
    expect("two plots, both on the page", [f"]({picture.name})" in page for picture in pictures], [True, True])
    for picture in pictures:
        lines = ElementTree.parse(picture).getroot().findall("{http://www.w3.org/2000/svg}polyline")
        expect("four lines in a plot, each through as many points", [len(line.get("points").split()) for line in lines],
               [sum(picture.stem.rpartition("-")[2] in row.sweep for row in bench_rows.ROWS)] * 4)
    expect("one point is no plot", bench_plots.svg([measured("a", {"eager": [1]}, sweep={"us": 1})], "us", "none"), None)


def main():
    check_judge()
    check_plan()
    with tempfile.TemporaryDirectory() as folder:
        check_files(Path(folder))
    with tempfile.TemporaryDirectory() as folder:
        check(Bench(Path(folder)))
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
