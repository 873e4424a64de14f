"""Debuggers, checkers and profilers over programs under Reprise, on a GPU: part of scripts/gpu-test.

A tool that is not installed is skipped. Under one that is, with Reprise and without: the program prints and returns the same, the tool complains of the
same, of nothing mostly, and Reprise's report says that it stood aside, and for what; or, where REPRISE_TOOLS=ignore insists, that it replayed.

And a timeline of Reprise's own with CUPTI, which is skipped where that is not found: the program prints the same, each of its launches is there as a kernel
on the GPU, and none of these begins before its call.
"""
import collections
import json
import os
import re
import shutil
import tempfile
from pathlib import Path

from lib import runs

# Where toolkits put what is not on the path.
FOLDERS = ("/usr/local/cuda/bin", "/usr/local/cuda/compute-sanitizer", "/opt/nvidia/nsight-systems/bin", "/opt/nvidia/nsight-compute")


class Tool:
    def __init__(self, name, command, found_as, complaint="", environment=None, insisted=False, preloads=(), printed=None):
        self.name = name
        self.command = command          # goes before the program; {folder} is a folder of its own
        self.found_as = found_as        # the report's words for it
        self.complaint = complaint      # a regular expression: what the tool says when it has found something
        self.environment = environment or {}
        self.insisted = insisted        # Reprise is to replay all the same
        self.preloads = preloads        # arguments that preload {library} for the program alone, where the tool itself would not bear it
        self.printed = printed          # the file in {folder} that has what the program printed, where the tool's lines come in the midst of it


def sanitizer(check):
    return Tool(f"compute-sanitizer {check}", ["compute-sanitizer", "--tool", check, "--error-exitcode", "9"], "compute-sanitizer",
                r"ERROR SUMMARY: [1-9]|RACECHECK SUMMARY: [1-9]")


TOOLS = (
    sanitizer("memcheck"), sanitizer("racecheck"), sanitizer("initcheck"), sanitizer("synccheck"),
    Tool("blocking launches", [], "blocking launches", environment={"CUDA_LAUNCH_BLOCKING": "1"}),
    Tool("blocking launches, insisted", [], "blocking launches", environment={"CUDA_LAUNCH_BLOCKING": "1", "REPRISE_TOOLS": "ignore"}, insisted=True),
    Tool("core dumps of the device", [], "core dumps of the device", environment={"CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "1"}, insisted=True),
    Tool("nsys", ["nsys", "profile", "--trace", "cuda", "--sample", "none", "--cpuctxsw", "none", "--output", "{folder}/profile"], "Nsight Systems"),
    Tool("nsys, insisted", ["nsys", "profile", "--trace", "cuda", "--sample", "none", "--cpuctxsw", "none", "--output", "{folder}/profile"],
         "Nsight Systems", environment={"REPRISE_TOOLS": "ignore"}, insisted=True),
    Tool("ncu", ["ncu", "--launch-count", "3", "--section", "SpeedOfLight"], "Nsight Compute", r"==ERROR=="),
    Tool("cuda-gdb", ["cuda-gdb", "--batch", "--nx", "-ex", "run > {folder}/printed", "--args"], "cuda-gdb", r"received signal|CUDA_EXCEPTION",
         preloads=("-ex", "set environment LD_PRELOAD={library}"), printed="printed"),
)

# Short where the tool is slow; long enough to become hot where something is to be replayed.
SHORT = {"heat": ["--steps", "400"], "launchbound": ["--warmup", "20", "--iterations", "20", "--batches", "1"]}
LONG = {"heat": ["--steps", "40000"], "launchbound": ["--warmup", "600", "--iterations", "50", "--batches", "2"]}


class Case:
    def __init__(self, tool, name, program, kept):
        self.tool = tool
        self.name = f"tools {tool.name}: {name}"
        self.program = program
        self.kept = kept                # a regular expression: the lines of the program's output that are the same in every run

    def output(self, text):
        return [match.group(0) for match in re.finditer(self.kept, text, re.MULTILINE)]

    def judge(self, library):
        tool = find(self.tool.command[0]) if self.tool.command else None
        if not Path(self.program[0]).exists():
            return "skip", "not built"
        if self.tool.command and tool is None:
            return "skip", f"{self.tool.command[0]} is not installed"
        plain, _ = self.run(tool, None)
        if "ERR_NVGPUCTRPERM" in plain.stdout + plain.stderr:
            return "skip", "the tool may not read the GPU's counters here"
        if plain.status is None or not self.output(plain.stdout):
            return "skip" if self.tool.command else "FAIL", f"without Reprise, it ended with {plain.status}: {(plain.stdout + plain.stderr).strip()[-200:]}"
        under, reports = self.run(tool, library)
        wrong = self.wrong(plain, under, reports)
        return ("FAIL", wrong) if wrong else ("ok", self.remark(reports[0]))

    def run(self, tool, library):
        """Under the tool, with Reprise if `library` is given. The tool starts the program, so any process's report may be the one."""
        environment = dict(self.tool.environment)
        with tempfile.TemporaryDirectory(prefix="reprise-tools-") as folder:
            command = [word.format(folder=folder) for word in self.tool.command]
            if tool:
                command[0] = tool
            if library:
                environment |= {"REPRISE": "on", "REPRISE_REPORT": f"{folder}/%p.json"}
                if self.tool.preloads:
                    command[1:1] = [word.format(library=library) for word in self.tool.preloads]
                else:
                    environment["LD_PRELOAD"] = str(library)
            outcome = runs.run([*command, *self.program], timeout=200, environment=environment)
            if self.tool.printed:
                file = Path(folder, self.tool.printed)
                outcome.stderr += outcome.stdout
                outcome.stdout = file.read_text(errors="replace") if file.exists() else ""
            reports = [runs.read_report(path) for path in sorted(Path(folder).glob("*.json"))]
        return outcome, [report for report in reports if report.get("tool") == self.tool.found_as]

    def complaints(self, outcome):
        return re.findall(self.tool.complaint, outcome.stdout + outcome.stderr) if self.tool.complaint else []

    def wrong(self, plain, under, reports):
        if under.status != plain.status:
            return f"it ended with {under.status}, without Reprise with {plain.status}: {(under.stdout + under.stderr).strip()[-300:]}"
        if self.output(under.stdout) != self.output(plain.stdout):
            return f"it printed {self.output(under.stdout)[:2]}, without Reprise {self.output(plain.stdout)[:2]}"
        if self.complaints(under) != self.complaints(plain):
            return f"the tool complains: {self.complaints(under)}, without Reprise {self.complaints(plain)}"
        if not reports:
            return f"no report names {self.tool.found_as!r}"
        for report in reports:
            if self.tool.insisted and (report.get("mode") != "on" or not report.get("replayed")):
                return "nothing was replayed"
            if not self.tool.insisted and (report.get("mode") != "off" or not report.get("aside")):
                return "the report does not say that Reprise stood aside"
        return None

    @staticmethod
    def remark(report):
        share = runs.share_replayed(report)
        return f"stood aside ({report.get('tool_sign')})" if report.get("aside") else f"{share or 0:.1%} of {report.get('ops')} ops replayed"


class Drawn(Case):
    """A program of one stream, with a timeline that has what ran on the GPU."""
    EARLIEST_US = -10    # a kernel may begin by so much before its call: the GPU's clock is brought to the processor's
    LATEST_US = 5000     # of those in a tenth of the run, one at least begins within so much after its call, however much is queued

    def __init__(self, mode, name, program, kept):
        self.mode = mode
        self.name = f"tools timeline with CUPTI, {mode}: {name}"
        self.program = program
        self.kept = kept

    def judge(self, library):
        if not Path(self.program[0]).exists():
            return "skip", "not built"
        with tempfile.TemporaryDirectory(prefix="reprise-timeline-") as folder:
            file = Path(folder, "timeline")
            told = {"REPRISE": self.mode, "REPRISE_TIMELINE": str(file), "REPRISE_TIMELINE_MOST": "4096", "REPRISE_PAYS": "assumed"}
            plain = runs.run(self.program, timeout=200)
            under = runs.run(self.program, library, timeout=200, environment=told | runs.with_cupti(runs.find_cupti(), folder))
            refusal = re.search("kernels are not measured: (.*)", under.stderr)
            if refusal:
                return "skip", refusal.group(1)
            if under.status != plain.status or not self.output(plain.stdout) or self.output(under.stdout) != self.output(plain.stdout):
                return "FAIL", f"it ended with {under.status}, alone with {plain.status}, or printed something else: {(under.stdout + under.stderr).strip()[-300:]}"
            return self.compare([event for event in json.loads(file.read_text()) if event["ph"] == "X"], under.report)

    def compare(self, events, report):
        """In their order, kernels and the calls that they are of."""
        calls = sorted(event["ts"] for event in events if event["cat"] == "call" and "grid" in event["args"])
        ran = sorted((event["ts"], event["args"].get("graph_id", 0)) for event in events if event["cat"] == "gpu" and "grid" in event["args"])
        graphs = sum(graph != 0 for _, graph in ran)
        if len(ran) != len(calls) or not calls:
            return "FAIL", f"{len(ran)} kernels ran, {len(calls)} were launched"
        lags = [begin - call for (begin, _), call in zip(ran, calls)]
        part = max(1, len(lags) // 10)
        least = [min(lags[at:at + part]) for at in range(0, len(lags), part)]
        if min(least) < self.EARLIEST_US or max(least) > self.LATEST_US:
            return "FAIL", f"in tenths, the shortest time from a call to its kernel was {[round(lag, 1) for lag in least]} us"
        if report.get("replayed") and not graphs:
            return "FAIL", "ops were replayed, and no kernel is a graph's"
        others = collections.Counter(event["name"] for event in events if event["cat"] == "gpu" and "grid" not in event["args"])
        return "ok", f"{len(ran)} kernels, {graphs} of graphs, {sum(others.values())} copies and memsets; from call to kernel {min(least):.1f} us at least"


def find(name):
    """The tool's path, or None."""
    places = os.environ.get("PATH", "").split(os.pathsep) + list(FOLDERS)
    return shutil.which(name, path=os.pathsep.join(places))


def cases(build):
    folder = build / "tests" / "programs"
    for tool in TOOLS:
        arguments = LONG if tool.insisted else SHORT
        yield Case(tool, "heat", [folder / "heat", *arguments["heat"]], r"^step .*$|digest=\S+")
        yield Case(tool, "launchbound", [folder / "launchbound", "--shape", "chain100", *arguments["launchbound"]], r"checksum=\S+")
    for mode in ("on", "verify"):
        yield Drawn(mode, "heat", [folder / "heat", "--steps", "10000"], r"^step .*$|digest=\S+")
        yield Drawn(mode, "launchbound", [folder / "launchbound", "--shape", "chain100", *LONG["launchbound"]], r"checksum=\S+")
