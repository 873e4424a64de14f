#!/usr/bin/env python3
"""Runs a program on the simulated driver plain and under Reprise, and requires the same of both.

    compare.py --build BUILD --library LIBRARY [options] -- PROGRAM [ARGUMENT ...]

For each schedule of the simulation, up to the first under which something is wrong: the same output, the same exit status, by sim-check
the same ops in the same order with the same bytes, each after the same others, and by sim-record the same calls of the program's with the
same results, thread by thread, after which the driver keeps the same for the thread. Where a context ends, as much must be alive in it as
plainly: all of Reprise's has been given back. The program has to come to Reprise: there must be a report, which counts ops. Options say
what else must be, so that a test cannot pass because nothing was replayed.

What is wrong is said at once. Where only too little was replayed, or counted, graphs may have been built late on a busy machine: then there
is another round under that schedule, in which the program awaits graphs wherever it waits for the GPU (awaits.c). A line says "needed another
round", and scripts/test counts those.
"""
import argparse
import ctypes.util
import os
import sys
import tempfile
from pathlib import Path

from lib import runs

SKIPPED = 77

SCHEDULES = ("eager", "lazy", "last", "random:1", "random:2")
if runs.EMULATOR:    # for another machine's code, not for other orders
    SCHEDULES = ("eager", "random:1")
ASYNC_LAUNCH = {"lazy": "always", "random:1": "always"}    # REPRISE_SUBMIT
AS_IT_IS = "random:2"    # Reprise as it is by default: what pays there is a matter of time, so how much is replayed is not asked
SLOW = "SLOW_BUILD" in os.environ    # with a sanitizer
SLOW_SHARE = 0.1      # then programs only have to replay at all
EMULATED_SHARE = 1    # how much is replayed is a matter of how soon graphs are built there: only that something is
PARTS = (("hold_overruns", "hold_flushes"), ("hold_begun_ns", "hold_longest_ns"))    # counters of which the first is never more
ROUNDS = 2            # what must be reached may take another on a busy machine, which builds late; what must never be, may not
# Later rounds give the program more time, also where awaits.c does not see its waits: 3 s at most for each of these calls.
LATER = {"SIM_SLOW": "cuStreamSynchronize:300:10000,cuCtxSynchronize:300:10000"}


def parse(words=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True, type=Path)
    parser.add_argument("--library", required=True, type=Path, help="libreprise.so")
    parser.add_argument("--schedules", default=",".join(SCHEDULES))
    parser.add_argument("--fault", default="", help="SIM_FAULT of the run under Reprise")
    parser.add_argument("--env", action="append", default=[], help="NAME=VALUE for the run under Reprise; {folder} is one that is gone afterwards, {library} is Reprise's")
    parser.add_argument("--simulate", action="append", default=[], help="NAME=VALUE for both runs")
    parser.add_argument("--preload", help="a library to load before Reprise: a path, or the name of an installed one (skipped where there is none)")
    parser.add_argument("--preload-after", help="one to load after it")
    parser.add_argument("--stand-in", action="store_true", help="Reprise is not preloaded, but stands in for libcuda.so.1")
    parser.add_argument("--each", default="", help="NAME=VALUE,...: a run under Reprise with each of these values; M..N stands for all from M to N")
    parser.add_argument("--replayed", default="0", help="N[,SCHEDULE=N,...]: least share of the ops that must be replayed in every run, in per cent; under those schedules another")
    parser.add_argument("--replayed-once", type=float, default=0, help="least share that must be replayed in one of the runs")
    parser.add_argument("--counter", action="append", default=[], help="NAME=N: the report must count at least N in every run")
    parser.add_argument("--counter-once", action="append", default=[], help="NAME=N: the report must count at least N in one of the runs")
    parser.add_argument("--within", action="append", default=[], help="NAME=N: the report must count from 1 to N in every run")
    parser.add_argument("--longest", type=int, default=0, metavar="N", help="a graph of at least N ops must be replayed in every run")
    parser.add_argument("--most", action="append", default=[], help="NAME=N: the report must never count more than N; NAME/OTHER=N: than N for each OTHER")
    parser.add_argument("--stderr", action="append", default=[], help="TEXT=N: lines of stderr with TEXT, exactly N")
    parser.add_argument("--report", action="append", default=[], help="KEY=TEXT: what the report must have, word for word; TEXT empty: it must not have the key")
    parser.add_argument("--no-report", action="store_true", help="there must be no report")
    parser.add_argument("--control", action="store_true", help="and there must be one where neither --env nor --preload says otherwise")
    parser.add_argument("--processes", type=int, default=0, help="so many other processes that the program starts must have written reports, which count together; its own is\n"
                             "not asked for")
    parser.add_argument("--more", action="append", default=[], help="NAME=N: both runs say NAME=value on stderr, the one under Reprise at most N more")
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--may-skip", action="store_true", help="a program that ends with 77, plain, says on stderr what it cannot have here")
    parser.add_argument("--on-disk", action="store_true", help="logs are not kept in /dev/shm: the program has none")
    parser.add_argument("--no-log", action="store_true", help="do not compare executed ops (the program ends with work pending)")
    parser.add_argument("--no-record", action="store_true", help="of the program's calls compare only what they leave in the thread (how many it makes, or\n"
                             "which thread is first, is a matter of time)")
    parser.add_argument("--no-left", action="store_true", help="what is alive where contexts end is not compared: there is too little time to give it back")
    parser.add_argument("--no-states", action="store_true", help="nor that: time decides it, too, or the recorder must not be there")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args(words)
    if SLOW:
        options.timeout *= 4
    least, *others = options.replayed.split(",")
    options.replayed = {schedule: float(least) for schedule in options.schedules.split(",")} | {name: float(share) for name, share in (other.split("=") for other in others)}
    if SLOW or runs.EMULATOR:
        options.replayed = {schedule: min(share, SLOW_SHARE if SLOW else EMULATED_SHARE) for schedule, share in options.replayed.items()}
        options.replayed_once = min(options.replayed_once, SLOW_SHARE)
    return options


def each(text):
    """The settings that --each asks for: one, empty, without it."""
    name, _, values = text.partition("=")
    for value in values.split(","):
        first, dots, last = value.partition("..")
        for one in range(int(first), int(last) + 1) if dots else [value]:
            yield {name: str(one)} if name else {}


def instruments(options, log, record, preload=None, awaits=False):
    """What watches a run: the simulation's log, and the recorder of the program's calls. With `awaits` it has the graphs that it asks for."""
    libraries = [options.build.resolve() / "tests" / "hazards" / "libawaits.so"] if awaits else []
    libraries += [preload] if preload else []
    if not options.no_states:
        libraries.append(options.build.resolve() / "tests" / "sim" / "librecord.so")
    watched = {"SIM_RECORD": str(record), "SIM_LEFT": str(left_of(log))} | ({} if options.no_log else {"SIM_LOG": str(log)})
    return watched | ({"LD_PRELOAD": ":".join(str(library) for library in libraries)} if libraries else {})


class Run:
    """One run under Reprise: what is wrong, what there is too little of, which may be for want of time, and what was counted."""

    def __init__(self, what):
        self.what = what      # schedule and settings, for people
        self.wrong = []
        self.short = []
        self.share = 0
        self.report = {}


def under(options, schedule, later):
    """The runs under one schedule, one for each setting, up to the first that is wrong."""
    simulation = {"SIM_SCHEDULE": schedule, "LD_LIBRARY_PATH": str(options.build.resolve() / "tests" / "sim")} | (LATER if later else {})
    simulation |= dict(setting.split("=", 1) for setting in options.simulate)
    with tempfile.TemporaryDirectory(dir=None if options.on_disk else runs.quick_folder()) as folder:
        plain = Plain(options, simulation, Path(folder))
        done = []
        for setting in each(options.each):
            done.append(one(options, schedule, setting, simulation | setting, plain, Path(folder), later))
            if done[-1].wrong:
                break
        return done


class Plain:
    """The program's plain run: done once, when it is first asked for."""

    def __init__(self, options, simulation, folder):
        self.log, self.record = folder / "plain.log", folder / "plain.record"
        self.how = (options.program, None, options.timeout, simulation | instruments(options, self.log, self.record))
        self.done = None
        self.is_sound = False    # it was seen to have no races

    def outcome(self):
        self.done = self.done or runs.run(*self.how)
        return self.done


def one(options, schedule, setting, environment, plain, folder, later):
    """One run under Reprise, judged."""
    run = Run(", ".join([schedule, *(f"{name}={value}" for name, value in setting.items())]))
    log, record = folder / "reprise.log", folder / "reprise.record"
    if options.may_skip and plain.outcome().status == SKIPPED:
        print(f"skipped: {plain.outcome().stderr.strip()}")
        sys.exit(SKIPPED)
    for old in (log, left_of(log), *folder.glob("reprise.record*")):
        old.unlink(missing_ok=True)
    ours = dict(text.replace("{folder}", str(folder)).replace("{library}", str(options.library.resolve())).split("=", 1) for text in options.env)
    if schedule != AS_IT_IS:
        # Times mean nothing there, and a trace that seems dear must be tested too.
        ours = {"REPRISE_PAYS": "assumed", "REPRISE_SUBMIT": ASYNC_LAUNCH.get(schedule, "auto")} | ours
    if options.fault:
        ours["SIM_FAULT"] = options.fault
    reprise = runs.run(options.program, library_of(options), options.timeout, environment | ours | instruments(options, log, record, options.preload, later))
    run.report = together(reprise.others) if options.processes else reprise.report
    run.share = 100 * (runs.share_replayed(run.report) or 0)
    run.wrong += unreported(options, run.report, reprise)
    run.wrong += differences(options, plain, reprise, (log, record)) if not run.wrong else []
    run.wrong += excesses(options, reprise, run.report)
    run.short += shortages(options, run) if schedule != AS_IT_IS else []
    return run


def left_of(log):
    """The file in which the simulation says what is alive where a context ends."""
    return log.with_suffix(".left")


def library_of(options):
    library = options.library.resolve()
    if options.stand_in:
        return library.parent / "stand_in"
    return f"{library}:{options.preload_after}" if options.preload_after else library


def together(reports):
    """The sums of what several processes counted."""
    names = {name for report in reports for name, value in report.items() if isinstance(value, int)}
    return {name: sum(report.get(name, 0) for report in reports) for name in names}


def unreported(options, report, reprise):
    """Yields what shows that the program did not come to Reprise, or that it should not have."""
    if options.processes and len(reprise.others) != options.processes:
        yield f"{len(reprise.others)} processes wrote reports, not {options.processes}"
    if options.no_report:
        if report:
            yield "wrote a report"
    elif reprise.status is None:
        yield "ran past its time under Reprise"
    elif not report:
        yield f"wrote no report (is it Reprise?), and ended with {reprise.status}: {reprise.stderr.strip()[-300:]}"
    elif report.get("ops", 0) == 0 and report.get("paused_ops", 0) == 0 and "ops=0" not in options.report:
        yield "no op came to Reprise"


def differences(options, plain, reprise, written):
    """Yields where a run under Reprise is not as the plain one."""
    sim, outcome = options.build.resolve() / "tests" / "sim", plain.outcome()
    if outcome.status is None or reprise.status is None:
        yield f"ran past its time {'plain' if outcome.status is None else 'under Reprise'}"
        return
    if outcome.status != reprise.status:
        yield f"ended with {reprise.status}, plain with {outcome.status}: {reprise.stderr.strip()[-300:]}"
    if outcome.stdout != reprise.stdout:
        pair = next(((a, b) for a, b in zip(outcome.stdout.splitlines(), reprise.stdout.splitlines()) if a != b), ("", "another length"))
        yield f"printed {pair[1]!r}, plain {pair[0]!r}"
    races = [] if plain.is_sound else ["--races"]
    checks = [] if options.no_log else [("by sim-check: ", [sim / "sim-check", *races, plain.log, written[0]])]
    if not options.no_states:
        checks.append(("the program's calls differ: ", [sim / "sim-record", *(["--states"] if options.no_record else []), plain.record, written[1]]))
    for words, command in checks:
        check = runs.run(command, timeout=options.timeout)
        if check.status != 0:
            yield words + (check.stdout + check.stderr).strip()[-400:]
        plain.is_sound |= check.status == 0 and "--races" in command
    left = runs.other_left(left_of(plain.log), left_of(written[0]))
    if left and not options.no_left:
        yield left
    for wanted in options.more:
        name, most = wanted.split("=", 1)
        values = [runs.values(end.stderr).get(name) for end in (outcome, reprise)]
        if None in values or int(values[1]) - int(values[0]) > int(most):
            yield f"{name} is {values[1]}, plain {values[0]}"


def excesses(options, reprise, report):
    """Yields what a run said or counted and must not have, or the other way round, whatever the time."""
    for wanted in options.most:
        what, number = wanted.split("=")
        name, _, other = what.partition("/")
        most = int(number) * (report.get(other, 0) if other else 1)
        if report.get(name, 0) > most:
            yield f"counted {report[name]} of {name}, more than {most}"
    for part, whole in PARTS:
        if report.get(part, 0) > report.get(whole, 0):
            yield f"counted {report[part]} of {part}, and {report[whole]} of {whole}, which they are part of"
    for wanted in options.stderr:
        text, count = wanted.rsplit("=", 1)
        seen = sum(text in line for line in reprise.stderr.splitlines())
        if seen != int(count):
            yield f"said {text!r} {seen} times, not {count}"
    for wanted in options.report:
        key, text = wanted.split("=", 1)
        if str(report.get(key, "")) != text:
            yield f"reported {key!r} as {report.get(key, '')!r}, not {text!r}"


def shortages(options, run):
    """Yields what there was too little of."""
    least = options.replayed[run.what.split(",")[0]]
    if run.share < least:
        yield f"replayed {run.share:.1f} %, not {least:g}"
    for wanted in options.counter:
        name, number = wanted.split("=")
        if run.report.get(name, 0) < int(number):
            yield f"counted {run.report.get(name, 0)} of {name}, not {number}"
    for wanted in options.within:
        name, number = wanted.split("=")
        if not 0 < run.report.get(name, 0) <= int(number):
            yield f"counted {run.report.get(name, 0)} of {name}, not from 1 to {number}"
    longest = max((row["length"] for row in run.report.get("trace_rows", []) if row["replays"] > 0), default=0)
    if longest < options.longest:
        yield f"replayed no graph of more than {longest} ops, not {options.longest}"


def installed(name):
    """The path of a library to preload; a bare name is searched for where the loader does."""
    if not name or "/" in name:
        return name and str(Path(name).resolve())
    found = ctypes.util.find_library(name)
    if not found:
        print(f"skipped: there is no lib{name} here")
        sys.exit(SKIPPED)
    return found


def missed(options, done):
    """Yields what must be reached in one of the runs, and was not."""
    for wanted in options.counter_once:
        name, number = wanted.split("=")
        most = max(run.report.get(name, 0) for run in done)
        if most < int(number):
            yield f"never counted more than {most} of {name}, not {number}"
    most = max(run.share for run in done)
    if most < options.replayed_once:
        yield f"never replayed more than {most:.1f} %, not {options.replayed_once:g}"


def controlled(options):
    """Whether there is a report where nothing stands in the way of one: else that there is none would say nothing."""
    outcome = runs.run(options.program, library_of(options), options.timeout, {"LD_LIBRARY_PATH": str(options.build.resolve() / "tests" / "sim")})
    return outcome.report.get("ops", 0) > 0


def told(options, schedule, later=False):
    """The runs under one schedule, and what was wrong and what too little in them. Says so."""
    done = under(options, schedule, later)
    wrong = [f"{run.what}: {problem}" for run in done for problem in run.wrong]
    short = [f"{run.what}: {problem}" for run in done for problem in run.short]
    print(f"{schedule}: replayed " + ", ".join(f"{run.share:.1f} %" for run in done), *wrong, *short, sep="\n    ")
    return done, wrong, short


def rounds(options, schedule, again):
    """The runs under one schedule, of the first round with which nothing is amiss, or of the last. Says what it finds; adds to `again` what needed another round."""
    for number in range(ROUNDS):
        done, wrong, short = told(options, schedule, number > 0)
        if wrong or not short:
            return done, not wrong
        if number + 1 < ROUNDS:
            again.append(f"{runs.AGAIN}: {short[0]}")
    return done, False


def main():
    options = parse()
    options.preload, options.preload_after = installed(options.preload), installed(options.preload_after)
    if options.control and not controlled(options):
        print("without what keeps it from one, it wrote no report either")
        return 1
    done, again = [], []
    for schedule in options.schedules.split(","):
        more, fine = rounds(options, schedule, again)
        done += more
        if not fine:
            return 1
    left = list(missed(options, done))
    if left:
        again.append(f"{runs.AGAIN}: {left[0]}")
        for schedule in options.schedules.split(","):
            more, wrong, _ = told(options, schedule, later=True)
            done += more
            if wrong:
                return 1
        left = list(missed(options, done))
    print(*again, *left, "" if left else "ok", sep="\n")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
