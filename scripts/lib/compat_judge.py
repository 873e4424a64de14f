"""What scripts/compat makes of the runs of a program: whether it is the same under Reprise, what it gains, and what keeps it from more."""
import json
import math
import statistics
import tempfile
from pathlib import Path

from lib.runs import read_report, run_within

LEAST = 0.99    # none may be slower by more than 1 %
FASTER, NO_SLOWER, SLOWER, NOISE, TOO_FEW = VERDICTS = ("faster", "no slower than 1 % as measured", "slower by more than 1 %", "noise forbids a verdict", "too few runs for a verdict")
REASON_LEAST = 0.01    # of the calls: less is no reason
SAID_MOST = 300    # characters of an error


class Program:
    """One of the caller's, and what was found of it."""

    def __init__(self, name, command, folder, compare, timeout):
        self.name, self.command, self.folder, self.compare, self.timeout = name, command, folder, compare, timeout
        self.bench, self.reports, self.error, self.found = {}, [], None, None

    def words(self):
        """The command, what is compared of its output alone, and its own exit status."""
        command = f"{{ {self.command}\n}}" + (f" | {{ {self.compare}\n}}" if self.compare else "")
        return ["bash", "-o", "pipefail", "-c", command]

    def run(self, command, timeout, environment):
        """Exit status, None where it ran past its time, and what it said."""
        try:
            _, *outcome = run_within(command, timeout, environment, self.folder)
        except OSError as error:
            return 1, "", str(error)
        return outcome

    def judge(self, bench):
        """Keeps what `reprise bench --json` printed, or why it is not there."""
        status, stdout, stderr = bench
        last = (stderr.strip().splitlines() or ["it said nothing"])[-1][:SAID_MOST]
        try:
            self.bench = json.loads(stdout)
        except ValueError:
            self.error = "ran past its time" if status is None else f"reprise bench ended with {status}: {last}"

    def with_reports(self, reprise, environment):
        """The reports of its processes, from one more run."""
        with tempfile.TemporaryDirectory() as folder:
            self.run([reprise, "run", "--report", f"{folder}/%p.json", "--", *self.words()], self.timeout, environment)
            return [report for report in map(read_report, sorted(Path(folder).glob("*.json"))) if report]

    def line(self, fates):
        """All that is known of it, for the file of JSON lines. `fates`: what became of the calls of a report, as the reader of reports tells it."""
        counted = [report for report in self.reports if report.get("ops")]
        gain, cpu = (self.bench.get(name) or {} for name in ("gain", "cpu"))
        return {"program": self.name, "command": self.command, "compare": self.compare, "error": self.error,
                "without_s": middle(self.bench, "without"), "with_s": middle(self.bench, "with"), "gain": gain.get("ratio"), "least": gain.get("least"), "greatest": gain.get("greatest"),
                "cpu": cpu.get("ratio"), "verdict": self.bench.get("verdict"), "stdout": self.bench.get("stdout"), "ops": sum(report["ops"] for report in counted),
                "replayed": sum(report.get("replayed", 0) for report in counted), "processes": len(counted), "reason": reason(counted, fates), "measured": measured(counted),
                "graph_bytes": max((report.get("graph_bytes_most", 0) for report in counted), default=0)}


def middle(bench, side):
    return statistics.median(bench[side]["wall_s"]) if bench.get(side, {}).get("wall_s") else None


def reason(counted, fates):
    """What kept most calls from being replayed, with its share of all; None where that is none to speak of."""
    calls, ops = {}, sum(report["ops"] for report in counted)
    for report in counted:
        _, *others = fates(report)    # the first are those that were replayed
        for name, count, _ in others:
            calls[name] = calls.get(name, 0) + count
    most = max(calls, key=calls.get, default=None)
    return [most, calls[most] / ops] if most and calls[most] >= REASON_LEAST * ops else None


def measured(counted):
    """What Reprise said of the process with most calls."""
    return max(counted, key=lambda report: report["ops"]).get("measured") if counted else None


def verdict(line):
    """By the interval of its gain, in which the true one is with a probability of 95 %."""
    if line["least"] is None:
        return TOO_FEW
    if line["greatest"] < LEAST:
        return SLOWER
    return FASTER if line["least"] > 1 else NO_SLOWER if line["least"] >= LEAST else NOISE


def interval(line):
    return f"{line['least']:.2f}–{line['greatest']:.2f}" if line["least"] is not None else "too few runs"


def problems(line, timed=True):
    """What is wrong with a program, in words. Not `timed`: its times mean nothing."""
    name = line["program"]
    if line["error"]:
        yield f"{name}: {line['error']}"
        return
    if line["stdout"] == "differs":
        yield f"{name}: the output differs"
    if timed and verdict(line) == SLOWER:
        yield f"{name}: slower, {line['gain']:.2f} x, {line['least']:.2f} to {line['greatest']:.2f}"


def said(line):
    if line["error"]:
        return f"{line['program']}: {line['error']}"
    return f"{line['program']}: " + ", ".join(f"{key} {value}" for key, value in cells(line).items() if key != "program")


def cells(line):
    return {"program": line["program"], "without, s": f"{line['without_s']:.3g}", "with, s": f"{line['with_s']:.3g}", "gain": f"{line['gain']:.2f}", "interval": interval(line), "verdict": verdict(line), "CPU": f"{line['cpu']:.2f}" if line["cpu"] else "–",
            "calls": f"{line['ops']:,}", "replayed": f"{line['replayed'] / line['ops']:.1%}" if line["ops"] else "no calls seen",
            "most of the rest": f"{line['reason'][0]} ({line['reason'][1]:.1%})" if line["reason"] else "–", "Reprise says": line["measured"] or "–", "graphs, MiB": f"{line['graph_bytes'] / 2**20:.1f}",
            "output": {"same": "the same", "differs": "**differs**", "varies": "varies by itself"}.get(line["stdout"], str(line["stdout"]))}


def document(facts, found, left_out):
    good = [line for line in found if not line["error"] and line["gain"]]
    failed = [*(f"- {line['program']}: {line['error']}" for line in found if line["error"]), *(f"- {line}" for line in left_out)]
    lines = [f"# Programs, on {facts['GPU']}, {facts['date']}", "", *(f"- {key}: {value}" for key, value in facts.items()), "",
             "Whole processes by turns (`reprise bench`): pairs of runs without and with Reprise, in random order. Times are medians, from start to end; gain is without over with, with an interval of 95 % (Hodges and Lehmann, Wilcoxon). "
             "Calls and what became of them are of one more run.", ""]
    if good:
        rows = [cells(line) for line in good]
        lines += ["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0]), *("| " + " | ".join(row.values()) + " |" for row in rows), "", *(f"- {line}" for line in summary(good)), "",
                  "## Commands", "", *(f"- {line['program']}: `{' '.join(line['command'].split())}`" + (f", compared: `{line['compare']}`" if line["compare"] else "") for line in good), ""]
    return "\n".join(lines + (["## Failed, or not measured", "", *failed, ""] if failed else []))


def summary(good):
    yield f"{len(good)} programs: geometric mean of the gains {math.exp(statistics.fmean(math.log(line['gain']) for line in good)):.2f}, median {statistics.median(line['gain'] for line in good):.2f}."
    for kind in VERDICTS:
        found = [line for line in good if verdict(line) == kind]
        named = ", ".join(f"{line['program']} ({interval(line)})" for line in found) if kind in (SLOWER, NOISE) else ", ".join(line["program"] for line in found) if kind == TOO_FEW else ""
        if found or kind != TOO_FEW:
            yield f"{kind[0].upper()}{kind[1:]}: {len(found)}{f': {named}' if named else ''}."
    yield f"Output differs: {', '.join(line['program'] for line in good if line['stdout'] == 'differs') or 'none'}."
