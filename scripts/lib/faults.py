"""Programs of the suite in which one driver call or allocation of Reprise's fails, and whether it shows: what scripts/faults is made of."""
import itertools
import re
import struct
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from lib import runs, tally
from lib.executed import lanes

TOP = Path(__file__).resolve().parents[2]
sys.path.append(str(TOP / "tests" / "hazards"))
import compare

ERRORS = TOP / "tests" / "faults" / "errors.txt"
BROKEN = 719          # CUDA_ERROR_LAUNCH_FAILED: stands for what an earlier kernel did
# After these, says CUDA, the context has to be destroyed or the process ended: no call answers one and leaves the context as it was.
RUINOUS = {214, 700, 702, 710, 714, 715, 716, 717, 718, 719}
NO_MEMORY, NOT_READY, INVALIDATED = 2, 600, 901
# What cuda.h does not list for them, and drivers answer. `own` ops are those that are captured.
BESIDES = {
    "cuStreamEndCapture": [NO_MEMORY, INVALIDATED], "cuStreamBeginCapture_v2": [NO_MEMORY], "cuGraphInstantiateWithFlags": [NO_MEMORY, 801], "cuGraphUpload": [NO_MEMORY],
    "cuGraphLaunch": [NO_MEMORY], "cuGraphExecUpdate_v2": [NO_MEMORY], "cuGraphExecKernelNodeSetParams_v2": [NO_MEMORY, 910], "cuGraphExecMemcpyNodeSetParams": [NO_MEMORY, 910],
    "cuGraphExecMemsetNodeSetParams": [NO_MEMORY, 910], "cuGraphExecHostNodeSetParams": [NO_MEMORY, 910],
}
# Where it is an answer and no failure: there is no such parameter.
ANSWERS = {"cuFuncGetParamInfo": [1], "cuKernelGetParamInfo": [1]}
CAPTURED = re.compile(r"own:cu(Launch|Mem|EventRecord|StreamWaitEvent)\w*")
# What these print, or how much they call, is a matter of time where there are few iterations.
OF_TIME = {"alternate_stack", "signal_handler", "signal_longjmp"}
# Programs that wait in memory for what an op does: where one is missing they wait for good, without Reprise too.
WAIT_IN_MEMORY = re.compile(r"mapped_poll|slow_host|one_processor|flag_from_host|persistent_kernel|\w*spin\w*|fork_side_before_legacy|wait_value")
RELEASE = "cuDevicePrimaryCtxRelease_v2"
ENDS = ("cuStreamDestroy_v2", "cuEventDestroy_v2", "cuGraphDestroy", "cuGraphExecDestroy", "cuDevicePrimaryCtxRelease_v2")
ROW = struct.Struct("48sQQQ")        # as tests/faults/failing.c writes it
ALLOCATION = "allocation"
HANG = 86
PATIENCE_S = 30


# ---- what fails, and how ----

def documented():
    """By name: the errors that the function may answer, and whether it may answer those of earlier work."""
    table = {}
    for line in ERRORS.read_text().splitlines():
        name, *words = line.split()
        table[name] = [int(word) for word in words if word != "previous"], "previous" in words
    return table


def faults_of(what, table, test=""):
    """The ways in which calls of WHOSE:NAME are made to fail, as failing.c reads them: an error, with + where the call is made all the same, with ! where the
    context is broken."""
    if what == ALLOCATION:
        return [""]
    whose, _, name = what.partition(":")
    waits = WAIT_IN_MEMORY.fullmatch(test) is not None
    if waits and whose == "issued":
        return []
    errors, previous = table[name]
    errors = [*errors, *BESIDES.get(name, []), *([NO_MEMORY, INVALIDATED] if CAPTURED.fullmatch(what) else [])]
    plain = [str(error) for error in dict.fromkeys(errors) if error not in RUINOUS and error not in ANSWERS.get(name, [])]
    ruinous = [f"{error}!" for error in dict.fromkeys([*errors, BROKEN] if previous else errors) if error in RUINOUS]
    ended = [f"{error}+" for error in plain] if name in ENDS else []
    # Without effect it would keep the program's own context.
    return ([] if name == RELEASE else plain) + ended + ([] if waits else ruinous)


# ---- programs ----

class Program:
    """A hazard of the suite with the options of its test, fewer iterations, and a context that ends."""

    def __init__(self, test, build, words):
        self.test = test
        self.options = compare.parse(words)
        self.options.build = build
        self.options.program = [str(build / "tests" / "hazards" / "hazards-short"), *self.options.program[1:]]
        self.options.timeout, self.options.more = PATIENCE_S, []

    def is_fit(self):
        """True if all of it is compared, and nothing else of Reprise's is made to fail, or looked at beside."""
        all_compared = not (self.options.no_log or self.options.no_record or self.options.no_left or self.options.no_states)
        slow = any(setting.startswith(("SIM_SLOW", "SIM_MEMORY", "REPRISE=", "REPRISE_RECORD", "REPRISE_LOG")) for setting in self.options.env + self.options.simulate)
        others = (self.options.preload, self.options.preload_after, self.options.stand_in, self.options.each, self.options.fault, self.options.processes, self.options.no_report)
        return all_compared and not slow and not any(others) and self.test not in OF_TIME and "eager" in self.options.schedules.split(",")


def programs(build, count, only=None):
    """The `count` that make the fewest driver calls plain, of those that are fit and have one process; or, of all such, those of which the test's name
    matches `only`: (program, calls)."""
    found, seen = [], set()
    for name, test in tally.tests(build).items():
        words = test["cmd"]
        if not words[0].endswith("hazards/compare.py") or "--" not in words or not words[words.index("--") + 1].endswith("hazards/hazards"):
            continue
        program = Program(name.partition(" / ")[2], build, words[1:])
        same = (program.options.program[-1], *sorted(program.options.env), *sorted(program.options.simulate))
        if program.is_fit() and same not in seen and (only is None or re.search(only, program.test)):
            seen.add(same)
            found.append(program)
    counted = []
    for program in found:
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            record, log = Path(folder, "record"), Path(folder, "log")
            outcome = runs.run(program.options.program, None, PATIENCE_S,
                               simulation(program, "eager") | compare.instruments(program.options, log, record) | {"SIM_STATS": f"{folder}/stats"})
            if outcome.status == 0 and not list(Path(folder).glob("record.*")):
                counted.append((program, int(Path(folder, "stats").read_text().split()[0])))
    return sorted(counted, key=lambda pair: (pair[1], pair[0].test))[:count if only is None else None]


def simulation(program, schedule):
    return {"SIM_SCHEDULE": schedule, "LD_LIBRARY_PATH": str(program.options.build / "tests" / "sim")} | dict(setting.split("=", 1) for setting in program.options.simulate)


# ---- runs ----

class Build:
    def __init__(self, build, library=None):
        self.folder = Path(build).resolve()
        self.library = Path(library).resolve() if library else runs.library(build)
        symbols = dict(reversed(line.rsplit(" ", 2)[::2]) for line in subprocess.run(["nm", self.library], capture_output=True, text=True, check=True).stdout.splitlines())
        self.at = f"{symbols['reprise_driver_load']},{symbols['reprise_driver']}"
        self.failing = self.folder / "tests" / "faults" / "libfailing.so"
        self.host_memory = self.folder / "tests" / "hazards" / "libhostmemory.so"

    def place(self, site):
        """The file and line that a call returns to."""
        told = subprocess.run(["addr2line", "-e", self.library, hex(site - 1)], capture_output=True, text=True).stdout
        return told.split(" ")[0].strip().rpartition("/../")[2] or hex(site)


class Bench:
    """One program under one schedule: its plain runs, done once, and those in which something fails."""

    def __init__(self, build, program, schedule, folder):
        self.build, self.program, self.schedule, self.folder = build, program, schedule, Path(folder)
        self.options = program.options
        self.plains = {}

    def plain(self, goes_on):
        if goes_on not in self.plains:
            folder = self.folder / f"plain-{goes_on}"
            folder.mkdir()
            self.plains[goes_on] = compare.Plain(self.options, simulation(self.program, self.schedule) | going_on(goes_on), folder)
            self.plains[goes_on].outcome()
        return self.plains[goes_on]

    def under(self, what=None, n=0, fault="", goes_on=False):
        """Runs it under Reprise, the n-th of `what` failing."""
        log, record, table = (self.folder / name for name in ("reprise.log", "reprise.record", "table"))
        for old in (log, table, compare.left_of(log), *self.folder.glob("reprise.record*"), *self.folder.glob("reprise.log.*")):
            old.unlink(missing_ok=True)
        environment = simulation(self.program, self.schedule) | going_on(goes_on) | compare.instruments(self.options, log, record)
        environment |= {"REPRISE_PAYS": "assumed", "REPRISE_SUBMIT": compare.ASYNC_LAUNCH.get(self.schedule, "auto")}
        environment |= dict(text.split("=", 1) for text in self.options.env)
        if what == ALLOCATION:
            environment |= {"HOST_MEMORY_COUNT": str(table)} | ({"HOST_MEMORY_FAIL": str(n)} if n else {})
            first = self.build.host_memory
        else:
            environment |= {"FAILING_AT": self.build.at, "FAILING_CALLS": str(table)} | ({"FAILING": f"{what}:{n}={fault}"} if n else {})
            first = self.build.failing
        environment["LD_PRELOAD"] += f":{first}"
        outcome = runs.run(self.options.program, self.build.library, PATIENCE_S, environment)
        return Run(outcome, log, record, table, what == ALLOCATION)


def going_on(goes_on):
    return {"FAILED_GOES_ON": "1"} if goes_on else {}


class Run:
    def __init__(self, outcome, log, record, table, of_memory):
        self.outcome, self.log, self.record = outcome, log, record
        raw = table.read_bytes() if table.exists() else b""
        self.sites, self.struck = Counter(), []
        if of_memory:
            count, struck, site = struct.unpack("QQQ", raw) if raw else (0, 0, 0)
            self.sites[ALLOCATION, 0] = count
            self.struck = [(ALLOCATION, site)] * struck
            return
        for name, site, calls, struck in itertools.takewhile(lambda row: row[0][0], ROW.iter_unpack(raw)):
            name = name.rstrip(b"\0").decode()
            self.sites[name, site] = calls
            self.struck += [(name, site)] * struck

    def counts(self):
        """How often each WHOSE:NAME was called."""
        counts = defaultdict(int)
        for (name, _), calls in self.sites.items():
            counts[name] += calls
        return counts


# ---- judging ----

def judge(bench, what, n, fault):
    """(where it struck, or None; what is wrong, in words, or None)"""
    issued = what.startswith("issued:") and not fault.endswith("!")
    run = bench.under(what, n, fault, issued)
    if not run.struck:
        return None, None
    may_be_left = 1 if what.partition(":")[2] in ENDS and not fault.endswith("+") else 0
    if fault.endswith("!"):
        wrong = broken(bench, run, int(fault[:-1]), may_be_left)
    elif issued:
        wrong = told(bench, run, int(fault))
    else:
        wrong = unseen(bench, run, may_be_left)
    return run.struck[0], wrong


def unseen(bench, run, may_be_left):
    """A failure of Reprise's own, of which the program sees nothing. What a call should have ended that had no effect may be left."""
    if may_be_left:
        bench.options.no_left = True
    found = list(compare.differences(bench.options, bench.plain(False), run.outcome, (run.log, run.record)))
    if may_be_left:
        bench.options.no_left = False
        found += filter(None, [reprises_left(run, may_be_left)])
    return "; ".join(found) or None


def broken(bench, run, error, may_be_left):
    """The context broke, as by a kernel of the program's: each of its calls may fail with that, and no other error is new; what was executed is a beginning."""
    plain = bench.plain(False)
    ended = badly(run.outcome)
    if ended:
        return ended
    seen, before = results(run.record), results(plain.record)
    strange = set(seen) - set(before) - {error, NOT_READY}    # whether work is ready is a matter of time
    if strange:
        return f"calls of the program's answered {sorted(strange)}, the context being broken by {error}"
    if run.outcome.status != 0 and not seen[error]:
        return f"ended with {run.outcome.status} without an error {error}: {run.outcome.stderr.strip()[-300:]}"
    if run.outcome.status == 0 and not seen[error] and run.outcome.stdout != plain.outcome().stdout:
        return "printed something else, and no call failed"
    asked = iter(lanes(plain.log))
    for which, executed in enumerate(lanes(run.log)):
        # A stream that had none before the context broke has no lane there.
        if not any(executed == whole[:len(executed)] for whole in asked):
            return f"executed something else before the context broke: stream {which + 1} with ops, {len(executed)} of them, from {executed[0]}"
    return reprises_left(run, may_be_left)


def told(bench, run, error):
    """An op of the program's failed that Reprise issued in its place: it alone is missing, and the program was told of it once."""
    plain = bench.plain(True)
    ended = badly(run.outcome)
    if ended:
        return ended
    failed = sum(count - results(plain.record)[code] for code, count in results(run.record).items() if code != NOT_READY)
    missing, strange = lost(lanes(plain.log), lanes(run.log))
    if strange:
        return strange
    events = run.struck[0][0].endswith(("cuEventRecord", "cuEventRecordWithFlags", "cuStreamWaitEvent"))
    if failed == 0 and not missing and error == NO_MEMORY:
        return None    # it was made again when there was room
    if failed != 1:
        return f"{failed} calls more than plain failed, not 1; {len(missing)} ops are missing: " + "; ".join(missing[:3])
    # A synchronous copy or memset that tells of an op's error is not made itself.
    telling = sum(what.startswith("set ") or "pageable" in what for what in missing)
    if len(missing) - (0 if events else 1) not in ((0, 1) if telling else (0,)):
        return f"told once, and {len(missing)} ops are missing: " + "; ".join(missing[:3])
    return reprises_left(run, 0)


def badly(outcome):
    if outcome.status is None:
        return "ran past its time"
    if outcome.status < 0 or outcome.status == HANG:
        return f"ended with {outcome.status}: {outcome.stderr.strip()[-400:]}"
    return None


def results(record):
    """How often the program's calls answered what."""
    lines = Path(record).read_bytes().replace(b"\0", b"").decode(errors="replace").splitlines()
    words = [line.split() for line in lines]
    return Counter(int(each[2]) for each in words if len(each) == 3 and not each[1].startswith("@") and each[2] != "0")


def lost(plain, seen):
    """What of the plain run was not executed; and what is wrong with the rest, in words, or None."""
    missing = []
    if len(plain) != len(seen):
        # A stream that had none but what failed: then what was executed is compared without its order.
        plain, seen = ([sorted(what for its in lane for what in its)] for lane in (plain, seen))
    for which, (asked, executed) in enumerate(zip(plain, seen)):
        wanted = iter(asked)
        for what in executed:
            for other in wanted:
                if other == what:
                    break
                missing.append(other)
            else:
                return missing, f"executed what was not asked for, or not in that order: stream {which + 1} with ops: {what}"
        missing.extend(wanted)
    return missing, None


def reprises_left(run, may_be):
    """Where more than `may_be` that Reprise made was alive in a context that ended: in words, or None."""
    lines = compare.left_of(run.log).read_text().splitlines() if compare.left_of(run.log).exists() else []
    return next((f"left {line!r}" for line in lines if line.startswith("context ") and int(line.rsplit(" ", 1)[1]) > may_be), None)
