#!/usr/bin/env python3
"""Runs a program on the simulated driver plain and under Reprise, and requires the same of both.

    compare.py --build BUILD --library LIBRARY [options] -- PROGRAM [ARGUMENT ...]

For each schedule of the simulation, up to the first under which something is wrong: the same output, the same exit status, by sim-check
the same ops in the same order with the same bytes, each after the same others, and by sim-record the same calls of the program's with the
same results, thread by thread. Options say what else must be, so that a test cannot pass because nothing was replayed.
"""
import argparse
import ctypes.util
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))
import runs  # noqa: E402

SKIPPED = 77

SCHEDULES = ("eager", "lazy", "last", "random:1", "random:2")
if runs.EMULATOR:    # for another machine's code, not for other orders
    SCHEDULES = ("eager", "random:1")
SUBMIT = {"lazy": "always", "random:1": "always"}    # REPRISE_SUBMIT
SLOW = "SLOW_BUILD" in os.environ    # with a sanitizer
EMULATED_SHARE = 1    # how much is replayed is a matter of how soon graphs are built there: only that something is
ROUNDS = 3            # what must be reached under one schedule may take several rounds on a busy machine, which builds late; what must never be, may not
LATER = {"SIM_SLOW": "cuStreamSynchronize:300,cuCtxSynchronize:300"}    # and later rounds have more time


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--library", required=True, type=Path, help="libreprise.so")
    parser.add_argument("--schedules", default=",".join(SCHEDULES))
    parser.add_argument("--fault", default="", help="SIM_FAULT of the run under Reprise")
    parser.add_argument("--env", action="append", default=[], help="NAME=VALUE for the run under Reprise; {folder} is one that is gone afterwards")
    parser.add_argument("--simulate", action="append", default=[], help="NAME=VALUE for both runs")
    parser.add_argument("--preload", help="a library to load before Reprise: a path, or the name of an installed one (skipped where there is none)")
    parser.add_argument("--preload-after", help="one to load after it")
    parser.add_argument("--stand-in", action="store_true", help="Reprise is not preloaded, but stands in for libcuda.so.1")
    parser.add_argument("--each", default="", help="NAME=VALUE,...: a run under Reprise with each of these values; M..N stands for all from M to N")
    parser.add_argument("--replayed", type=float, default=0, help="least share of the ops that must be replayed under one schedule, in per cent: how soon graphs are\n"
                             "built depends on the schedule")
    parser.add_argument("--replayed-each", type=float, default=0, help="least share that must be replayed in every run")
    parser.add_argument("--counter", action="append", default=[], help="NAME=N: the report must count at least N under one schedule")
    parser.add_argument("--within", action="append", default=[], help="NAME=N: the report must count from 1 to N under one schedule")
    parser.add_argument("--most", action="append", default=[], help="NAME=N: the report must never count more than N; NAME/OTHER=N: than N for each OTHER")
    parser.add_argument("--stderr", action="append", default=[], help="TEXT=N: lines of stderr with TEXT, exactly N")
    parser.add_argument("--report", action="append", default=[], help="KEY=TEXT: what the report must have, word for word; TEXT empty: it must not have the key")
    parser.add_argument("--no-report", action="store_true", help="there must be no report")
    parser.add_argument("--more", action="append", default=[], help="NAME=N: both runs say NAME=value on stderr, the one under Reprise at most N more")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--no-log", action="store_true", help="do not compare executed ops (the program ends with work pending)")
    parser.add_argument("--no-record", action="store_true", help="do not compare the program's calls (how many it makes, or which thread is first, is a\n"
                             "matter of time)")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    if SLOW:
        options.timeout *= 4
    if runs.EMULATOR:
        options.replayed = min(options.replayed, EMULATED_SHARE)
    return options


def each(text):
    """The settings that --each asks for: one, empty, without it."""
    name, _, values = text.partition("=")
    for value in values.split(","):
        first, dots, last = value.partition("..")
        for one in range(int(first), int(last) + 1) if dots else [value]:
            yield {name: str(one)} if name else {}


def instruments(options, log, record, preload=None):
    """What watches a run: the simulation's log, and the recorder of the program's calls."""
    libraries = [preload] if preload else []
    if not options.no_record:
        libraries.append(options.build.resolve() / "tests" / "sim" / "librecord.so")
    watched = {"SIM_RECORD": str(record)} | ({} if options.no_log else {"SIM_LOG": str(log)})
    return watched | ({"LD_PRELOAD": ":".join(str(library) for library in libraries)} if libraries else {})


def problems(options, simulation, folder, shares, counted):
    """Yields what is wrong under one schedule."""
    simulation = simulation | {"LD_LIBRARY_PATH": str(options.build.resolve() / "tests" / "sim")}
    simulation |= dict(setting.split("=", 1) for setting in options.simulate)
    for left in folder.iterdir():
        left.unlink()
    plain = runs.run(options.program, timeout=options.timeout,
                     environment=simulation | instruments(options, folder / "plain.log", folder / "plain.record"))
    if plain.status is None:
        yield "ran past its time plain"
        return
    for setting in each(options.each):
        prefix = "".join(f"{name}={value}: " for name, value in setting.items())
        for problem in differences(options, simulation | setting, plain, folder, shares, counted):
            yield prefix + problem


def differences(options, environment, plain, folder, shares, counted):
    """Yields what is wrong with one run under Reprise."""
    build = options.build.resolve()
    logs = [folder / "plain.log", folder / "reprise.log"]
    records = [folder / "plain.record", folder / "reprise.record"]
    for left in (logs[1], records[1]):
        left.unlink(missing_ok=True)
    # Times mean nothing there, and a trace that seems dear must be tested too.
    ours = {"REPRISE_PAYS": "assumed", "REPRISE_SUBMIT": SUBMIT.get(environment["SIM_SCHEDULE"], "auto")} | dict(setting.replace("{folder}", str(folder)).split("=", 1) for setting in options.env)
    if options.fault:
        ours["SIM_FAULT"] = options.fault
    library = options.library.resolve()
    if options.stand_in:
        library = runs.stand_in(build)
    if options.preload_after:
        library = f"{library}:{options.preload_after}"
    reprise = runs.run(options.program, library, options.timeout,
                       environment | ours | instruments(options, logs[1], records[1], options.preload))

    if reprise.status is None:
        yield "ran past its time under Reprise"
        return
    if plain.status != reprise.status:
        yield f"ended with {reprise.status}, plain with {plain.status}: {reprise.stderr.strip()[-300:]}"
    if plain.stdout != reprise.stdout:
        pair = next(((a, b) for a, b in zip(plain.stdout.splitlines(), reprise.stdout.splitlines()) if a != b), ("", "another length"))
        yield f"printed {pair[1]!r}, plain {pair[0]!r}"
    if not options.no_log:
        check = runs.run([build / "tests" / "sim" / "sim-check", *logs], timeout=options.timeout)
        if check.status != 0:
            yield "executed other ops, or in another order: " + (check.stdout + check.stderr).strip()[-400:]
        check = runs.run([build / "tests" / "sim" / "sim-check", "--races", logs[0]], timeout=options.timeout)
        if check.status != 0:
            yield "the program itself has " + (check.stdout + check.stderr).strip()[-400:]
    if not options.no_record:
        check = runs.run([build / "tests" / "sim" / "sim-record", *records], timeout=options.timeout)
        if check.status != 0:
            yield "the program's calls differ: " + (check.stdout + check.stderr).strip()[-400:]
    shares.append(100 * (runs.share_replayed(reprise.report) or 0))
    for name in counted:
        counted[name].append(reprise.report.get(name, 0))
    if shares[-1] < options.replayed_each:
        yield f"replayed {shares[-1]:.1f} %, not {options.replayed_each}"
    for wanted in options.most:
        what, number = wanted.split("=")
        name, _, other = what.partition("/")
        most = int(number) * (reprise.report.get(other, 0) if other else 1)
        if reprise.report.get(name, 0) > most:
            yield f"counted {reprise.report[name]} of {name}, more than {most}"
    for wanted in options.stderr:
        text, count = wanted.rsplit("=", 1)
        seen = sum(text in line for line in reprise.stderr.splitlines())
        if seen != int(count):
            yield f"said {text!r} {seen} times, not {count}"
    if options.no_report and reprise.report:
        yield "wrote a report"
    for wanted in options.report:
        key, text = wanted.split("=", 1)
        if str(reprise.report.get(key, "")) != text:
            yield f"reported {key!r} as {reprise.report.get(key, '')!r}, not {text!r}"
    for wanted in options.more:
        name, most = wanted.split("=", 1)
        values = [runs.values(outcome.stderr).get(name) for outcome in (plain, reprise)]
        if None in values or int(values[1]) - int(values[0]) > int(most):
            yield f"{name} is {values[1]}, plain {values[0]}"


def installed(name):
    """The path of a library to preload; a bare name is searched for where the loader does."""
    if not name or "/" in name:
        return name and str(Path(name).resolve())
    found = ctypes.util.find_library(name)
    if not found:
        print(f"skipped: there is no lib{name} here")
        sys.exit(SKIPPED)
    return found


def missed(options, shares, counted):
    """Yields what must be reached under one schedule, and was not."""
    for wanted in options.counter:
        name, number = wanted.split("=")
        if max(counted[name]) < int(number):
            yield f"never counted more than {max(counted[name])} of {name}, not {number}"
    for wanted in options.within:
        name, number = wanted.split("=")
        if not any(0 < count <= int(number) for count in counted[name]):
            yield f"never counted from 1 to {number} of {name}, but {counted[name]}"
    # How much depends on how soon graphs are built: a build with a sanitizer only has to replay at all.
    least_share = min(options.replayed, 0.1) if SLOW else options.replayed
    if max(shares, default=0) < least_share:
        yield f"never as much as {least_share} %"


def main():
    options = parse()
    options.preload, options.preload_after = installed(options.preload), installed(options.preload_after)
    shares = []
    counted = {wanted.split("=")[0]: [] for wanted in options.counter + options.within}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(ROUNDS):
            for schedule in options.schedules.split(","):
                wrong = list(problems(options, {"SIM_SCHEDULE": schedule} | (LATER if number > 0 else {}), Path(folder), shares, counted))
                print(f"{schedule}: {'; '.join(wrong) if wrong else 'ok'}")
                if wrong:
                    return 1
            print("replayed:", ", ".join(f"{share:.1f} %" for share in shares))
            left = list(missed(options, shares, counted))
            if not left:
                return 0
            print("\n".join(left))
    return 1


if __name__ == "__main__":
    sys.exit(main())
