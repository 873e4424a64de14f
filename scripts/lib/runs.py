"""Running programs: plain and under Reprise, by turns, and on the simulated driver; for how long, and what of them is waited for."""
import contextlib
import glob
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

# What runs programs that are built for another machine, as `meson test` tells: an emulator, which is slow.
EMULATOR = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
EMULATOR_IS_SLOWER = 8
FOR_THE_LOADER = ("LD_PRELOAD", "LD_LIBRARY_PATH")

LENGTHS = (400, 3000, 24000, 96000)  # iterations
AGAIN = "needed another round"    # as scripts/tally counts it
IN_MEMORY = "/dev/shm"
ENOUGH_BYTES = 4 << 30    # a test's logs take some ten MiB, few of them a hundred
PATIENCE_S = 60    # for what comes at once, but for a busy machine

PLAIN_REMOVES = ("LD_PRELOAD", "REPRISE", "REPRISE_REPORT")

CUPTI_FOLDERS = ("/usr/local/cuda*/extras/CUPTI/lib64", "/usr/local/cuda*/lib64", "/usr/local/cuda*/lib", *(f"{folder}/nvidia/*/lib" for folder in sys.path))


class Outcome:
    def __init__(self, status, stdout, stderr, report, others=()):
        self.status = status    # exit status; negative: the signal; None: it ran past its time
        self.stdout = stdout
        self.stderr = stderr
        self.report = report    # Reprise's counters, {} where there are none
        self.others = others    # those of other processes that it started


def library(build):
    return Path(build).resolve() / "preload" / "libreprise.so"


def stand_in(build):
    """The folder with the libcuda.so.1 that stands in for the driver."""
    return Path(build).resolve() / "preload" / "stand_in"


def surroundings(reprise, environment):
    """The environment of a run, and the folder for its reports: None without Reprise."""
    env = {key: value for key, value in os.environ.items() if key not in PLAIN_REMOVES}
    env.update(environment or {})
    if not reprise:
        return env, None
    reports = tempfile.mkdtemp(prefix="reprise-reports-")
    # By process, so that the programs that a program starts leave its report alone.
    variable = "LD_LIBRARY_PATH" if Path(reprise).is_dir() else "LD_PRELOAD"
    others = [env[variable]] if variable in env else []
    env[variable] = ":".join([str(reprise), *others] if Path(reprise).is_dir() else [*others, str(reprise)])
    env.update(REPRISE=env.get("REPRISE", "on"), REPRISE_REPORT=f"{reports}/%p.json")
    return env, reports


def emulated(command, env):
    """The command and the environment where programs are emulated: what the loader is told is meant for the program, not for the emulator."""
    told = {name: env[name] for name in FOR_THE_LOADER if name in env}
    options = [word for name, value in told.items() for word in ("-E", f"{name}={value}")]
    return [*EMULATOR, *options, *command], {name: value for name, value in env.items() if name not in told}


def kill_session(leader):
    """Kills the process that began a session, and all that it has started: also what has a process group of its own, as the tests of a program of Check's have, or a
    session, as what such a process runs in its turn."""
    of = {}    # each process: its parent and its session
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):    # it has ended
            words = stat.read_text().rpartition(")")[2].split()
            of[int(stat.parent.name)] = {int(words[1]), int(words[3])}
    found, more = set(), {leader}
    while more:
        found |= more
        more = {process for process, origins in of.items() if origins & found} - found
    for process in found:
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)


def run_within(command, timeout, environment, folder=None):
    """The process's number; its exit status, None where it ran past its time and was killed with all that it began; its stdout and stderr."""
    process = subprocess.Popen([str(part) for part in command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               errors="replace", start_new_session=True)
    try:
        stdout, stderr = process.communicate(timeout=timeout)
        return process.pid, process.returncode, stdout, stderr
    except subprocess.TimeoutExpired:
        kill_session(process.pid)
        return process.pid, None, *process.communicate()


def run(command, reprise=None, timeout=60, environment=None):
    """Runs a command, under Reprise if `reprise` is given: the library to preload, after what the environment here preloads, or the
    folder of the stand-in. What runs past its time is killed."""
    env, reports = surroundings(reprise, environment)
    if EMULATOR:
        command, env = emulated(command, env)
        timeout *= EMULATOR_IS_SLOWER
    number, status, stdout, stderr = run_within(command, timeout, env)
    others = [report for report in (read_report(path) for path in Path(reports).glob("*.json") if path.stem != str(number)) if report] if reports else []
    return Outcome(status, stdout, stderr, take_report(reports, number), others)


def quick_folder():
    """The folder for files that are soon gone: in memory, if enough is free there, else None: where temporary files are anyway."""
    return IN_MEMORY if Path(IN_MEMORY).is_dir() and os.access(IN_MEMORY, os.W_OK) and shutil.disk_usage(IN_MEMORY).free > ENOUGH_BYTES else None


def find_cupti():
    """A folder with libcupti, or None: then it is where the loader looks, or nowhere."""
    return next((folder for pattern in CUPTI_FOLDERS for folder in sorted(glob.glob(pattern), reverse=True) if glob.glob(f"{folder}/libcupti.so*")), None)


def with_cupti(found, folder):
    """The environment in which Reprise measures with CUPTI. Of where that was found, the program is shown nothing else, by links in `folder`: there may be other
    libraries of CUDA."""
    for library in glob.glob(f"{found}/libcupti.so*"):
        Path(folder, Path(library).name).symlink_to(library)
    return {"REPRISE_CUPTI": "1", "LD_LIBRARY_PATH": ":".join([str(folder), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])}


class ByTurns:
    """A program with --turns: it works when it is asked to, so that several can be timed by turns. It is killed when its time is over."""

    def __init__(self, command, reprise=None, timeout=60, environment=None):
        env, self.reports = surroundings(reprise, environment)
        self.stderr = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen([str(part) for part in command], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.stderr, text=True, errors="replace", start_new_session=True)
        self.overdue = False
        self.timer = threading.Timer(timeout, self.kill)
        self.timer.start()

    def kill(self):
        self.overdue = True
        kill_session(self.process.pid)

    def say(self, word=""):
        """False: it has ended, and says nothing more."""
        try:
            self.process.stdin.write(f"{word}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return False
        return True

    def hear(self):
        """What the program answers, as a dictionary, or None: it has ended."""
        found = values(self.process.stdout.readline())
        return found if "us" in found else None

    def ask(self, word=""):
        return self.hear() if self.say(word) else None

    def turn(self):
        """Microseconds per iteration, or None: it has ended."""
        found = self.ask()
        return float(found["us"]) if found else None

    def end(self):
        """Asks for no more turns, and waits for the end."""
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        with self.process.stdout:
            stdout = self.process.stdout.read()    # not communicate(), which would miss what came along with the last turn's line
        self.process.wait()
        self.timer.cancel()
        self.stderr.seek(0)
        with self.stderr:
            return Outcome(None if self.overdue else self.process.returncode, stdout, self.stderr.read(),
                           take_report(self.reports, self.process.pid))


def take_report(folder, pid):
    """The counters of Reprise's report, a JSON object; numbers at its top level are all that is used here."""
    report = {}
    if folder:
        report = read_report(Path(folder, f"{pid}.json"))
        shutil.rmtree(folder, ignore_errors=True)
    return report


def read_report(path):
    try:
        report = json.loads(Path(path).read_text(encoding="utf-8", errors="replace"))
    except (OSError, ValueError):
        return {}
    return report if isinstance(report, dict) else {}


def share_replayed(report):
    """From 0 to 1, or None where the report does not say."""
    ops, replayed = report.get("ops"), report.get("replayed")
    if not isinstance(ops, (int, float)) or not isinstance(replayed, (int, float)) or not ops:
        return None
    return replayed / ops


def values(text):
    """The key=value pairs of a program's output; a later one of the same key counts."""
    return dict(word.split("=", 1) for word in text.split() if "=" in word)


HEAT_DEVICES_FORMS = ("together", "apart")    # written by hand


def launchbound_forms(program, environment=None):
    """The shapes of launchbound, each with the forms that it has."""
    listed = (line.split(None, 2) for line in run([program, "--list"], environment=environment).stdout.splitlines())
    return {words[0]: tuple(words[1].split(",")) for words in listed if len(words) == 3}


def other_left(plain, reprise):
    """Whether another number of things was alive where contexts ended, from what the simulation wrote (SIM_LEFT), if it could: in words, or None."""
    before, after = (sorted(Path(path).read_text().splitlines()) if Path(path).exists() else [] for path in (plain, reprise))
    pair = next(((a, b) for a, b in zip(before, after) if a != b), None if len(before) == len(after) else ("", "another number of contexts"))
    return f"left {pair[1]!r}, plain {pair[0]!r}" if pair else None


def simulated(build):
    """The environment here, a sanitizer's options with it, but none of Reprise's, with the simulated driver of the build folder."""
    return {key: value for key, value in os.environ.items() if not key.startswith("REPRISE")} | {"LD_LIBRARY_PATH": str(Path(build) / "tests" / "sim")}


class Command:
    """The command of a build folder, on the simulated driver: programs that it runs, and the reports that they leave."""

    def __init__(self, build):
        self.command = build / "src" / "cli" / "reprise"
        self.module = build / "tests" / "programs" / "driver_kernels.so"
        self.launchbound = build / "tests" / "programs" / "launchbound-driver"
        self.environment = simulated(build)

    def reprise(self, *words, **environment):
        return subprocess.run([self.command, *map(str, words)], env=self.environment | environment, capture_output=True, text=True, timeout=100)

    def program(self, shape, iterations=400):
        return self.launchbound, "--module", self.module, "--shape", shape, "--iterations", iterations

    def report(self, path, mode, shape, *options, iterations=400, **environment):
        """Runs a program and returns its report, the one there being gone. Times mean nothing on the simulated driver: traces are followed whatever they cost."""
        Path(path).unlink(missing_ok=True)
        environment.setdefault("REPRISE_PAYS", "assumed")
        outcome = self.reprise(mode, "--report", path, *options, "--", *self.program(shape, iterations), **environment)
        assert outcome.returncode == 0, outcome.stderr
        return json.loads(Path(path).read_text()), outcome

    def replayed(self, path, shape, count="replayed", **environment):
        """The same under `run`, for as long as it takes to have some of what is counted."""
        return long_enough(lambda iterations: self.report(path, "run", shape, iterations=iterations, **environment), lambda run: run[0][count] > 0)


def long_enough(run, enough, lengths=LENGTHS):
    """
    Calls run(iterations), ever longer until enough(what it returned): how soon graphs are there is a matter of how busy the machine is. Returns the last.
    A longer run is another round: a line says so, which scripts/test counts. What a run must never do, run() itself has to find.
    """
    for number, iterations in enumerate(lengths):
        if number > 0:
            print(f"{AGAIN}: not enough in {lengths[number - 1]} iterations", flush=True)
        outcome = run(iterations)
        if enough(outcome):
            return outcome
    raise AssertionError(f"not enough in {lengths[-1]} iterations: {outcome}")


def hear_signals():
    """What a shell or nohup told this process to ignore, it and the programs that it starts hear again. For tests that send signals."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def until(condition, what):
    """Waits until the condition is true. Returns what it returned then."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"never: {what}")


def state(process):
    """R, S, T and so on; Z and gone are the same."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0].replace("Z", "")
    except OSError:
        return ""
