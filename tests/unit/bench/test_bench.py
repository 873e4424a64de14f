#!/usr/bin/env python3
"""scripts/bench with programs that invent their times: what meets its targets ends well; a missed target, another answer and a failed run do not.

usage: test_bench.py SCRIPTS
"""
import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from lib import load  # noqa: E402

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
    if turns > int(option("--batches", None)):
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
        "swap": ways(300, 96, launch=91),
        "all-changed": ways(300, 103, set=120, set_by_8=110, update=130),
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
            status = self.module.main([str(self.folder), "--rows", rows, "--rounds", "1", *more])
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
    expect("the fastest form by hand counts", "110.0 (110.0–110.0) set-by-8" in table["all-changed"], True)
    expect("the floor is told", "513.0 (513.0–513.0) floor" in table["think8"], True)
    expect("what was replayed is told", "99.0%, 7 ops patched" in table["chain100"], True)

    bench.expect_failure("a gain missed", "chain100", "≥ 3 × eager: **missed by 16.7%** (2.5)", lambda ways: ways["eager"].update(us=237.5))
    bench.expect_failure("slower than by hand", "all-changed", "≤ 1 × graph: **missed by 1.8%** (1.02)", lambda ways: ways["reprise"].update(us=112))
    bench.expect_failure("slower than the floor", "think8", "≤ 1.05 × floor: **missed by", lambda ways: ways["floor"].update(us=500))
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
    _, _, said = bench.run(good(), "chain100", "--rounds", "3", "--seconds", "0")
    expect("no round that would end too late", [number for number in "123" if f"round {number} of 3" in said], ["1"])


def main():
    with tempfile.TemporaryDirectory() as folder:
        check(Bench(Path(folder)))
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
