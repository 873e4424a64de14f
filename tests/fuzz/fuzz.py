#!/usr/bin/env python3
"""Runs generated programs plain and under Reprise, and requires the same of both; makes short what it finds.

    fuzz.py --build BUILD [--first SEED] [--count N] [--seconds S] [--jobs J] [--schedules A,B] [--keep FOLDER] [--gpu]

On the simulated driver a program runs plain once and under Reprise by several schedules, with a hold limit, and who launches graphs, that depend on the seed. Each run has
to end alike and print the same, and sim-check has to find the same ops with the same bytes in the same order. On a GPU
(--gpu) ends and output count, over several hold limits, and programs come by twenties in one process. What fails is made as short as it can be, and printed as text and as C. The last
line sums up: programs, ops, the share that was replayed, findings. Fails if anything was found.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lib.executed import lanes
from lib.runs import other_left, quick_folder

HOLDS = ("400", "400", "30", "1000", "0")
ASYNC_LAUNCH = ("auto", "always", "always")
SCHEDULES = "eager,random,lazy"

# Every second program runs with the default options, and so with the second or third of these: what a replay costs decides, and in some, launches take long enough for
# replays to pay.
PAYS = ({"REPRISE_PAYS": "assumed"}, {}, {"SIM_SLOW": "cuLaunchKernel*:3"})
# What takes long, so that other threads come in between.
SLOWS = ("", "", "", "", "cuStreamEndCapture*:700", "cuGraphInstantiate*:500", "cuGraphLaunch*:20", "cuMemHost*:200,cuFuncSetAttribute:200,cuEventDestroy*:100")
MEMORIES = ({}, {}, {}, {"REPRISE_MEMORY": "1"})

# Calls that the programs themselves do not make: whatever Reprise does when they fail, the program is not to see it.
FAULTS = ("", "", "", "cuGraphUpload:2=2", "cuGraphExecKernelNodeSetParams_v2:3=910", "cuGraphUpload:every=2",
          "cuGraphExecKernelNodeSetParams_v2:every=910", "cuGraphExec*NodeSetParams*:every=910", "cuGraphExec*NodeSetParams*:7=1")
# Some programs do, by these actions; for the others the same holds of these calls.
OWN_GRAPHS = {"capture", "capture_again", "replay", "capture_broken", "captures_together", "make", "spin_and_make", "elsewhere"}
GRAPH_FAULTS = ("cuGraphLaunch*:{}=2", "cuGraphLaunch*:{}=1", "cuGraphLaunch*:every=2", "cuGraphLaunch*:from-{}=801", "cuGraphExecUpdate*:every=910", "cuGraphExecUpdate*:2=910",
                "cuStreamEndCapture*:3=901", "cuGraphInstantiate*:to-4=2")
# An op that fails is the program's affair, wherever it was issued: it is told so once, and that op alone is missing. Not where something waits for it.
WAITED_FOR = OWN_GRAPHS | {"mapped_poll", "spin_across", "mapped_flag"}
OP_FAULTS = ("cuLaunchKernel:{}=1", "cuLaunchKernel:{}=701", "cuLaunchKernelEx:{}=1", "cuMemsetD32Async:{}=1", "cuMemcpyDtoDAsync_v2:{}=1", "cuGraphLaunch*:every=2,cuLaunchKernel:{}=1",
             "cuGraphLaunch*:from-5=2,cuLaunchKernel:{}=1")


class Runs:
    """Where things are, and how a program is run."""

    def __init__(self, settings):
        build = settings.build.resolve()
        self.gpu = settings.gpu
        self.program = str(build / "tests/fuzz/fuzz-program")
        self.module = str(build / "tests/fuzz" / ("fuzz_kernels.fatbin" if settings.gpu else "fuzz_kernels.so"))
        self.library = str(settings.library or build / "preload/libreprise.so")
        self.check = str(build / "tests/sim/sim-check")
        self.compare = str(build / "tests/sim/sim-record")
        self.recorder = str(build / "tests/sim/librecord.so")
        self.timeout = settings.timeout or (120 if settings.gpu else 30)
        self.stacks = settings.stacks
        self.schedules = settings.schedules.split(",")
        self.without = {word for word in settings.without.split(",") if word}
        self.base = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "REPRISE", "SIM_LOG")}
        if not settings.gpu:
            self.base["LD_LIBRARY_PATH"] = str(build / "tests/sim")
            self.base["SIM_MEMORY"] = "64G"
            self.base["SIM_DEVICES"] = "2"
            self.base["SIM_FUNCTIONS"] = "56"    # as on an H200

    def run(self, source, environment):
        """Status (negative: a signal, None: too long), output, messages."""
        command = [self.program, *source[:2], "--module", self.module, *source[2:]]
        process = subprocess.Popen(command, env=self.base | environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, errors="replace", close_fds=False)
        stacks = ""
        if self.stacks:
            try:
                process.wait(self.stacks)
            except subprocess.TimeoutExpired:
                stacks = stacks_of(process.pid)
        try:
            out, messages = process.communicate(timeout=self.timeout)
            return process.returncode, out, messages + stacks
        except subprocess.TimeoutExpired:
            return None, *end(process, stacks)

    def text(self, seed):
        """The program of a seed, without what is to be left out."""
        text = subprocess.run([self.program, "--seed", str(seed), "--text"], capture_output=True, text=True, env=self.base).stdout
        return "".join(f"{line}\n" for line in text.splitlines() if line.split()[0] not in self.without)

    def fault(self, seed, number):
        """What of the driver's calls fails, and whether the program is told."""
        kind = number % 8
        nth = 20 + number * 37 % 1500
        if kind < 5:
            return FAULTS[number // 8 % len(FAULTS)], False
        actions = {line.split()[0] for line in self.text(seed).splitlines()}
        if kind == 5 and not actions & WAITED_FOR and "op_faults" not in self.without:
            return OP_FAULTS[number // 8 % len(OP_FAULTS)].format(nth), True
        if kind > 5 and not actions & OWN_GRAPHS:
            return GRAPH_FAULTS[number // 8 % len(GRAPH_FAULTS)].format(nth % 40 + 1), False
        return "", False

    def ways(self, seed):
        """How to run it under Reprise: (name, variables, whether a fault is the program's affair)."""
        if self.gpu:
            # Seeds come by twenties.
            hold = HOLDS[seed // TOGETHER % len(HOLDS)]
            pays = PAYS[seed // TOGETHER % 2]
            return [(f"hold {hold}, async launch {async_launch}" + ("".join(f", {key}={value}" for key, value in pays.items())),
                     pays | {"REPRISE_HOLD": hold, "REPRISE_SUBMIT": async_launch}, False)
                    for hold, async_launch in dict.fromkeys((("400", "auto"), (hold, ASYNC_LAUNCH[seed // TOGETHER % len(ASYNC_LAUNCH)])))]
        ways = []
        # What nothing waits for starts soon, so that a host that polls memory gets on.
        for i, schedule in enumerate(self.schedules):
            number = seed * len(self.schedules) + i
            name = f"random:{seed}" if schedule == "random" else "last" if schedule == "lazy" and seed % 3 == 0 else schedule
            fault, told = self.fault(seed, number * 7 + seed // 3)
            if seed % 2:
                pays, options = PAYS[1 + (seed // 2 + i) % 2], {}
            else:
                pays = PAYS[(seed // 2 + i) % len(PAYS)]
                options = MEMORIES[(seed // 7 + i) % len(MEMORIES)] | {"REPRISE_HOLD": HOLDS[(seed + i) % len(HOLDS)], "REPRISE_SUBMIT": ASYNC_LAUNCH[(seed // 2 + i) % len(ASYNC_LAUNCH)]}
            slow = ",".join(word for word in (pays.get("SIM_SLOW", ""), SLOWS[(seed // 5 + i) % len(SLOWS)]) if word)
            variables = pays | options | {"SIM_SCHEDULE": name, "SIM_FAULT": fault, "SIM_SLOW": slow, "SIM_PATIENCE": "1"}
            ways.append((" ".join(f"{key}={value}" for key, value in variables.items() if value), variables, told))
        return ways


def end(process, stacks):
    """Output and messages of a process that takes too long. By this signal it says where it is; one that cannot, ends all the same."""
    process.send_signal(signal.SIGALRM)
    try:
        out, messages = process.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        out, messages = process.communicate()
    return out, messages + stacks


def stacks_of(pid):
    """Where the threads of a process are that takes too long."""
    gdb = shutil.which("gdb") or shutil.which("cuda-gdb-minimal") or shutil.which("cuda-gdb")
    if not gdb:
        return "\n(no debugger to show stacks)\n"
    try:
        shown = subprocess.run([gdb, "-batch", "-p", str(pid), "-ex", "thread apply all backtrace 14"], capture_output=True, text=True, timeout=60).stdout
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"\n(no stacks: {error})\n"
    return "\n" + "".join(f"{line}\n" for line in shown.splitlines() if line.startswith(("Thread", "#")))


def ending(status):
    return "ran past its time" if status is None else f"ended with {status}"


def difference(first, second):
    pair = next(((a, b) for a, b in zip(first.splitlines(), second.splitlines()) if a != b), ("", "another length"))
    gave_up = next((line for line in second.splitlines() if "gave up" in line), None)
    return f"plain {pair[0]!r}, under Reprise {pair[1]!r}" + (f"; {gave_up}: not as concurrent as plain" if gave_up else "")


def waits(report):
    """The longest waits that the report tells of: what to look at first where something came too late."""
    try:
        counters = json.loads(Path(report).read_text())
    except (OSError, ValueError):
        return ""
    told = ", ".join(f"{name.removesuffix('_longest_ns')} {counters[name] / 1e6:.1f}" for name in counters if name.endswith("_longest_ns"))
    return f"\n(longest, in ms: {told})"


def forget(folder, files):
    """Removes records and logs, and those of forked processes. The recorder never overwrites a record. The simulation does not overwrite a log that another process has
    locked: it writes beside it, and the old log would be compared."""
    for file in files:
        for path in folder.glob(Path(file).name + "*"):
            path.unlink()


def errors(out):
    """How many of the program's calls failed, and what else it says of its threads' state."""
    told = re.findall(r"state changed (\d+) times; errors(.*)", out)
    at_the_end = len(re.findall(r"synchronize [^0]", out))    # the last calls are not among those
    return sum(int(word.split(":")[1]) for _, words in told for word in words.split()) + at_the_end, [changed for changed, _ in told]


def struck(plain_out, out, plain_log, log):
    """What is wrong where ops failed: each that is missing was told of, and none else is missing; or None."""
    missing = []
    plain, seen = lanes(plain_log), lanes(log)
    if len(plain) != len(seen):
        # A stream that had none but what failed: then what was executed is compared without its order.
        plain, seen = ([sorted(what for its in lane for what in its)] for lane in (plain, seen))
    for which, (asked, executed) in enumerate(zip(plain, seen)):
        wanted = iter(asked)
        for what in executed:
            for other in wanted:
                if other == what:
                    break
                missing.append(f"stream {which + 1} with ops: {other}")
            else:
                return f"executed what was not asked for, or not in that order: stream {which + 1} with ops: {what}"
        missing.extend(f"stream {which + 1} with ops: {other}" for other in wanted)
    (before, state), (after, state_after) = errors(plain_out), errors(out)
    if state != state_after:
        return "a thread's state has changed"
    # A synchronous copy or memset that tells of an op's error is not made itself.
    failed, unmade = after - before, len(missing) - (after - before)
    telling = sum(what.split(": ", 1)[1].startswith("set ") or "pageable" in what for what in missing)
    if not 0 <= unmade <= min(telling, failed):
        return f"{len(missing)} ops missing, {failed} calls more that failed: " + "; ".join(missing[:3])
    return None


class Outcome:
    def __init__(self):
        self.finding = None  # in words
        self.bad = None      # why the program itself is of no use
        self.ops = self.replayed = 0


def judge(runs, source, seed, folder, only=None):
    """Runs one program every way that the seed's has, or `only` one."""
    outcome = Outcome()
    plain_log, log, report = (str(folder / name) for name in ("plain.log", "reprise.log", "report.json"))
    records, left = ([str(folder / f"{name}.{what}") for name in ("plain", "reprise")] for what in ("record", "left"))
    simulated = {} if runs.gpu else {"SIM_LOG": plain_log, "SIM_RECORD": records[0], "SIM_LEFT": left[0], "LD_PRELOAD": runs.recorder}
    forget(folder, [plain_log, *records, *left])
    status, out, messages = runs.run(source, simulated)
    if status != 0:
        outcome.bad = f"plain, it {ending(status)}: {messages.strip()[-300:]}"
        return outcome
    if not runs.gpu:
        races = subprocess.run([runs.check, "--races", plain_log], capture_output=True, text=True)
        if races.returncode != 0:
            outcome.bad = f"plain, it has {races.stdout.strip()}"
            return outcome
    for name, variables, told in runs.ways(seed):
        if only and name != only:
            continue
        Path(report).unlink(missing_ok=True)
        again = dict(variables, LD_PRELOAD=runs.library, REPRISE="on", REPRISE_REPORT=report)
        if not runs.gpu:
            again |= {"SIM_LOG": log, "SIM_RECORD": records[1], "SIM_LEFT": left[1], "LD_PRELOAD": f"{runs.recorder}:{runs.library}"}
            forget(folder, [log, records[1], left[1]])
        other_status, other_out, messages = runs.run(source, again)
        if other_status != 0:
            outcome.finding = (name, f"it {ending(other_status)}: {messages.strip()[-1000 if not runs.stacks else -20000:]}")
        elif told:
            wrong = struck(out, other_out, plain_log, log)
            outcome.finding = (name, wrong) if wrong else None
        elif other_out != out:
            outcome.finding = (name, f"printed something else: {difference(out, other_out)}" + ("\n" + messages if runs.stacks else ""))
        if not runs.gpu and other_status == 0:
            # Which op, and which call, say more than what was printed. Where ops fail, the threads' states.
            compared = [("its threads' states differ", [runs.compare, "--states", *records])] if told else \
                [("executed something else", [runs.check, plain_log, log]), ("its calls differ", [runs.compare, *records])]
            for said, command in compared:
                check = subprocess.run(command, capture_output=True, text=True)
                if check.returncode != 0:
                    before = f"\nand {outcome.finding[1]}" if outcome.finding else ""
                    outcome.finding = (name, f"{said}: {(check.stdout + check.stderr).strip()}{before}")
            if not outcome.finding and (odd := other_left(*left)):
                outcome.finding = (name, odd)
        if outcome.finding:
            outcome.finding = (name, outcome.finding[1] + waits(report))
            return outcome
        try:
            counters = json.loads(Path(report).read_text())
            outcome.ops += counters["ops"]
            outcome.replayed += counters["replayed"]
        except (OSError, ValueError, KeyError):
            pass  # a program without an op: Reprise says nothing
    return outcome


# ---- making short ----

def parse(text):
    """[(count, [statement, ...]), ...]"""
    loops = []
    for line in text.splitlines():
        if line.startswith("loop "):
            loops.append((int(line.split()[1]), []))
        elif line != "end":
            loops[-1][1].append(line)
    return loops


def unparse(loops):
    return "".join(f"loop {count}\n" + "".join(f"{line}\n" for line in body) + "end\n" for count, body in loops)


def smaller(loops):
    """Programs with less in them, the boldest first."""
    for i in range(len(loops)):
        if len(loops) > 1:
            yield loops[:i] + loops[i + 1:]
    for i, (count, body) in enumerate(loops):
        size = len(body) // 2
        while size >= 1:
            for at in range(0, len(body), size):
                if len(body) > size or len(loops) > 1:
                    yield loops[:i] + [(count, body[:at] + body[at + size:])] + loops[i + 1:]
            size //= 2
    for i, (count, body) in enumerate(loops):
        for fewer in (count // 2, count * 3 // 4, count - 1):
            if 0 < fewer < count:
                yield loops[:i] + [(fewer, body)] + loops[i + 1:]
    for i, (count, body) in enumerate(loops):
        for at, line in enumerate(body):
            words = line.split(" if ")[0].split()
            if " if " in line:
                yield loops[:i] + [(count, body[:at] + [" ".join(words)] + body[at + 1:])] + loops[i + 1:]
            for w in range(1, len(words)):
                if words[w] != "0":
                    simpler = " ".join(words[:w] + ["0"] + words[w + 1:]) + (" if " + line.split(" if ")[1] if " if " in line else "")
                    yield loops[:i] + [(count, body[:at] + [simpler] + body[at + 1:])] + loops[i + 1:]


def shorten(runs, seed, way, folder, deadline, tries=3):
    """The shortest program found that still fails that way, or None if it does not fail again."""
    def fails(loops):
        path = folder / "candidate.txt"
        path.write_text(unparse(loops))
        for _ in range(tries):
            outcome = judge(runs, ["--file", str(path)], seed, folder, only=way)
            if outcome.bad:
                return None
            if outcome.finding:
                return outcome.finding[1]
        return None

    best = parse(runs.text(seed))
    why = fails(best)
    if not why:
        return None
    found = True
    while found and time.monotonic() < deadline:
        found = False
        for candidate in smaller(best):
            if time.monotonic() > deadline:
                break
            said = fails(candidate)
            if said:
                best, why, found = candidate, said, True
                break
    return unparse(best), why


# ---- the command ----

# So many programs share a process on a GPU.
TOGETHER = 20


def one(runs, seed):
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=runs.scratch) as folder:
        source = ["--seed", str(seed)] + (["--count", str(TOGETHER)] if runs.gpu else [])
        if runs.without and not runs.gpu:
            path = Path(folder) / "program.txt"
            path.write_text(runs.text(seed))
            source = ["--file", str(path)]
        return seed, judge(runs, source, seed, Path(folder))


def tell(runs, seed, outcome, settings):
    way, why = outcome.finding
    print(f"seed {seed}, {way}: {why}", flush=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=runs.scratch) as folder:
        short = shorten(runs, seed, way, Path(folder), time.monotonic() + settings.shorten) if settings.shorten else None
        if not short:
            print(f"seed {seed}: not made short" if not settings.shorten else f"seed {seed}: it does not fail again when it is run alone", flush=True)
            return
        text, why = short
        path = Path(folder) / "short.txt"
        path.write_text(text)
        as_c = subprocess.run([runs.program, "--file", str(path), "--c"], capture_output=True, text=True, env=runs.base).stdout
        print(f"seed {seed}, made short: {why}\n\n{text}\n{as_c}", flush=True)
        if settings.keep:
            settings.keep.mkdir(parents=True, exist_ok=True)
            (settings.keep / f"{seed}.txt").write_text(f"# {way}\n{text}")
            (settings.keep / f"{seed}.c").write_text(as_c)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path("build"))
    parser.add_argument("--library", type=Path, help="another libreprise.so than the build's")
    parser.add_argument("--first", "--seed", type=int, default=1, metavar="SEED")
    parser.add_argument("--count", type=int, default=0, help="how many programs; else until the time is up")
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() + 1)
    parser.add_argument("--without", default="", metavar="ACTION,...", help="leave these out of all programs (not on a GPU); op_faults: no failures that the program is told of")
    parser.add_argument("--schedules", default=SCHEDULES)
    parser.add_argument("--timeout", type=float, help="seconds for a program, 30 by default; on a GPU for twenty in one process, 120")
    parser.add_argument("--stacks", type=float, default=0, help="show the threads' stacks, by a debugger, of what is found and took so many seconds")
    parser.add_argument("--findings", type=int, default=5, help="stop after so many")
    parser.add_argument("--shorten", type=float, default=60, help="seconds to spend on making one short; 0: none")
    parser.add_argument("--keep", type=Path, help="folder for what is found")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--check", action="store_true", help="run nothing: only refuse what cannot be used")
    settings = parser.parse_args()
    if settings.check:
        return 0
    if not settings.count and not settings.seconds:
        settings.seconds = 60
    runs = Runs(settings)
    runs.scratch = quick_folder()
    begin = time.monotonic()
    programs = ops = replayed = findings = bad = 0
    seed = settings.first
    with concurrent.futures.ThreadPoolExecutor(settings.jobs) as pool:
        waiting = set()
        while True:
            more = (not settings.count or seed < settings.first + settings.count) and findings < settings.findings and \
                (not settings.seconds or time.monotonic() < begin + settings.seconds)
            while more and len(waiting) < 2 * settings.jobs and (not settings.count or seed < settings.first + settings.count):
                waiting.add(pool.submit(one, runs, seed))
                seed += TOGETHER if settings.gpu else 1
            if not waiting:
                break
            done, waiting = concurrent.futures.wait(waiting, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                which, outcome = future.result()
                programs += TOGETHER if settings.gpu else 1
                ops += outcome.ops
                replayed += outcome.replayed
                if outcome.bad:
                    bad += 1
                    print(f"seed {which} is no good: {outcome.bad}", flush=True)
                if outcome.finding:
                    findings += 1
                    if findings <= settings.findings:
                        tell(runs, which, outcome, settings)
    took = time.monotonic() - begin
    print(f"{programs} programs, {ops} ops under Reprise, {100 * replayed / max(ops, 1):.1f} % replayed, {findings} findings, {bad} no good, "
          f"{took:.0f} s, {programs / max(took, 0.001):.1f} a second")
    if replayed == 0:
        print("nothing was replayed: is the library there?")
    return 1 if findings or bad or replayed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
