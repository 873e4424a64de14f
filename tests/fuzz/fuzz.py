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
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HOLDS = ("400", "400", "30", "1000", "0")
SUBMITS = ("auto", "always", "always")
SCHEDULES = "eager,random,lazy"

# Calls that the programs themselves do not make: whatever Reprise does when they fail, the program is not to see it.
FAULTS = ("", "", "", "cuGraphUpload:2=2", "cuGraphExecKernelNodeSetParams_v2:3=910", "cuGraphUpload:every=2",
          "cuGraphExecKernelNodeSetParams_v2:every=910")


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
        self.timeout = settings.timeout
        self.stacks = settings.stacks
        self.schedules = settings.schedules.split(",")
        self.base = {key: value for key, value in os.environ.items() if key not in ("LD_PRELOAD", "REPRISE", "SIM_LOG")}
        if not settings.gpu:
            self.base["LD_LIBRARY_PATH"] = str(build / "tests/sim")
            self.base["REPRISE_PAYS"] = "assumed"  # times mean nothing there

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
            process.send_signal(signal.SIGKILL)
            out, messages = process.communicate()
            return None, out, messages + stacks

    def ways(self, seed):
        """The environments to run under Reprise: (name, variables)."""
        if self.gpu:
            # Seeds come by twenties.
            hold = HOLDS[seed // TOGETHER % len(HOLDS)]
            return [(f"hold {hold}, submit {submit}", {"REPRISE_HOLD": hold, "REPRISE_SUBMIT": submit})
                    for hold, submit in dict.fromkeys((("400", "auto"), (hold, SUBMITS[seed // TOGETHER % len(SUBMITS)])))]
        ways = []
        # What nothing waits for starts soon, so that a host that polls memory gets on.
        for i, schedule in enumerate(self.schedules):
            name = f"random:{seed}" if schedule == "random" else schedule
            hold = HOLDS[(seed + i) % len(HOLDS)]
            fault = FAULTS[(seed // 3 + i) % len(FAULTS)]
            submit = SUBMITS[(seed // 2 + i) % len(SUBMITS)]
            ways.append((f"{name}, hold {hold}, submit {submit}" + (f", {fault}" if fault else ""),
                         {"SIM_SCHEDULE": name, "REPRISE_HOLD": hold, "REPRISE_SUBMIT": submit, "SIM_FAULT": fault, "SIM_PATIENCE": "1"}))
        return ways


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


def forget(folder, records):
    """Removes records, since the recorder writes no file that is there; and those of forked processes."""
    for record in records:
        for path in folder.glob(Path(record).name + "*"):
            path.unlink()


class Outcome:
    def __init__(self):
        self.finding = None  # in words
        self.bad = None      # why the program itself is of no use
        self.ops = self.replayed = 0


def judge(runs, source, seed, folder, only=None):
    """Runs one program every way, or `only` one."""
    outcome = Outcome()
    plain_log, log, report = (str(folder / name) for name in ("plain.log", "reprise.log", "report.json"))
    records = [str(folder / name) for name in ("plain.record", "reprise.record")]
    simulated = {} if runs.gpu else {"SIM_LOG": plain_log, "SIM_RECORD": records[0], "LD_PRELOAD": runs.recorder}
    forget(folder, records)
    status, out, messages = runs.run(source, simulated)
    if status != 0:
        outcome.bad = f"plain, it {ending(status)}: {messages.strip()[-300:]}"
        return outcome
    if not runs.gpu:
        races = subprocess.run([runs.check, "--races", plain_log], capture_output=True, text=True)
        if races.returncode != 0:
            outcome.bad = f"plain, it has {races.stdout.strip()}"
            return outcome
    for name, variables in runs.ways(seed):
        if only and name != only:
            continue
        Path(report).unlink(missing_ok=True)
        again = dict(variables, LD_PRELOAD=runs.library, REPRISE="on", REPRISE_REPORT=report)
        if not runs.gpu:
            again |= {"SIM_LOG": log, "SIM_RECORD": records[1], "LD_PRELOAD": f"{runs.recorder}:{runs.library}"}
            forget(folder, records[1:])
        other_status, other_out, messages = runs.run(source, again)
        if other_status != 0:
            outcome.finding = (name, f"it {ending(other_status)}: {messages.strip()[-1000 if not runs.stacks else -20000:]}")
        elif other_out != out:
            outcome.finding = (name, f"printed something else: {difference(out, other_out)}" + ("\n" + messages if runs.stacks else ""))
        elif not runs.gpu:
            check = subprocess.run([runs.check, plain_log, log], capture_output=True, text=True)
            if check.returncode != 0:
                outcome.finding = (name, f"executed something else: {(check.stdout + check.stderr).strip()}")
            check = subprocess.run([runs.compare, *records], capture_output=True, text=True)
            if check.returncode != 0 and not outcome.finding:
                outcome.finding = (name, f"its calls differ: {(check.stdout + check.stderr).strip()}")
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

    text = subprocess.run([runs.program, "--seed", str(seed), "--text"], capture_output=True, text=True, env=runs.base).stdout
    best = parse(text)
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
        return seed, judge(runs, ["--seed", str(seed)] + (["--count", str(TOGETHER)] if runs.gpu else []), seed, Path(folder))


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
    parser.add_argument("--schedules", default=SCHEDULES)
    parser.add_argument("--timeout", type=float, default=30, help="seconds for a program")
    parser.add_argument("--stacks", type=float, default=0, help="show the threads' stacks, by a debugger, of what is found and took so many seconds")
    parser.add_argument("--findings", type=int, default=5, help="stop after so many")
    parser.add_argument("--shorten", type=float, default=60, help="seconds to spend on making one short; 0: none")
    parser.add_argument("--keep", type=Path, help="folder for what is found")
    parser.add_argument("--gpu", action="store_true")
    settings = parser.parse_args()
    if not settings.count and not settings.seconds:
        settings.seconds = 60
    runs = Runs(settings)
    runs.scratch = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
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
