"""What scripts/predict makes of its measurements: what was gained, whether what was expected is near it, and the page that says so."""
import json
import os
import statistics
import subprocess
import sys

from lib import bench_judge, runs

LEAST_MET, WITHIN, OF_EAGER = 8, 0.15, 0.02
TIMELINE_MOST = 0.05

# In a process of its own, where the reader's modules find each other.
TELLS = """import json, reports, sys
report = json.load(sys.stdin)
print(json.dumps({"shorter_ns": reports.shorter(report), "kernel_ns": reports.kernel_ns(report), "kernels_measured": reports.kernels_were_measured(report)}))
"""


def told(build, report):
    """What a report of observe tells, by the reader of this build, which knows what it means."""
    environment = os.environ | {"PYTHONPATH": str(build / "src" / "cli" / "reader")}
    return json.loads(subprocess.run([sys.executable, "-c", TELLS], input=json.dumps(report), env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout)


class Predicted(bench_judge.Measured):
    """A row, with what observe said of it in each round."""

    def __init__(self, row, commands):
        super().__init__(row, commands)
        self.expected = []     # microseconds of an iteration
        self.observed = []     # reports, and what they tell
        self.without_cupti = set()    # why kernels were not measured

    def eager(self):
        return statistics.median(sample.us for sample in self.good("eager"))

    def gained(self):
        """Microseconds of an iteration; turns of the two were taken one after the other."""
        pairs = [(a, b) for a, b in zip(self.samples["eager"], self.samples["reprise"]) if a and b]
        return statistics.median(statistics.median(x - y for x, y in zip(a.turns, b.turns)) for a, b in pairs)

    def said(self):
        """What was expected; None where observe could not tell."""
        found = [us for us in self.expected if us is not None]
        return statistics.median(found) if found else None

    def met(self):
        difference = abs(self.said() - self.gained()) if self.said() is not None else None
        return difference is not None and (difference <= WITHIN * self.gained() or difference <= OF_EAGER * self.eager())

    def whole(self):
        return not self.errors and self.good("eager") and self.good("reprise") and self.observed


def iterations(found):
    """How many a run had in all, of what it printed."""
    number = {key: int(found[key]) for key in ("steps", "warmup", "iterations", "batches") if key in found}
    return number.get("steps") or number.get("warmup", 0) + number["iterations"] * number.get("batches", 1)


def share(value, whole):
    return f"{100 * value / whole:+.0f} %" if whole else "–"


def middle(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else 0


def verdict(measured):
    if measured.met():
        return "met"
    return "**not told**" if measured.said() is None else "**missed**"


def table(rows):
    head = ("program", "eager, us", "Reprise, us", "gained, us", "expected, us", "of what was gained", f"within {WITHIN:.0%}")
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        gained, said = row.gained(), row.said()
        lines.append("| " + " | ".join((
            row.row.name, bench_judge.spread(row, "eager"), bench_judge.spread(row, "reprise"), f"{gained:.2f} ({share(gained, row.eager())} of eager)",
            "–" if said is None else f"{said:.2f}", "–" if said is None else share(said - gained, gained), verdict(row))) + " |")
    return "\n".join(lines)


def details(rows):
    """What the expectations were made of: medians of what observe saw, and what the runs under Reprise then saw of the same."""
    head = ("program", "kernel, us", "from op to op, us", "launch, us", "first after a wait", "ops to a graph", "replayed: expected, was", "launch time saved an op, us: expected, was")
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for row in rows:
        seen, ran = row.observed, [sample.report for sample in row.good("reprise") if sample.report.get("ops")]

        def saved(of):
            return middle(one["saved_ns"] / max(one["ops"], 1) / 1000 for one in of)

        gains = [one["gain"] for one in seen]
        kernels = f"{middle(one['kernel_ns'] for one in seen) / 1000:.2f}" + (" measured" if all(one["kernels_measured"] for one in seen) else " assumed")
        lines.append("| " + " | ".join((
            row.row.name, kernels, f"{middle(gain['pauses_ns'] / max(gain['pauses'], 1) for gain in gains) / 1000:.2f}",
            f"{middle(gain['eager_ns']['kernel'] for gain in gains) / 1000:.2f}",
            f"{middle(gain['firsts'] / max(gain['firsts'] + gain['pauses'], 1) for gain in gains):.1%}",
            f"{middle(one['replayed'] / max(one['launches'], 1) for one in seen):.1f}",
            f"{middle(map(runs.share_replayed, seen)):.1%}, {middle(map(runs.share_replayed, ran)):.1%}", f"{saved(seen):.2f}, {saved(ran):.2f}")) + " |")
    return "\n".join(lines)


def cost_of_timeline(rows):
    """More time under Reprise with a timeline than without, as a share, and of which program; None if it was not timed."""
    timed = next((row for row in rows if "timeline" in row.commands), None)
    found = bench_judge.ratio(timed.samples["timeline"], timed.samples["reprise"]) if timed else None
    return None if found is None else (found - 1, timed.row.name)


def document(facts, rows, failed):
    timeline = cost_of_timeline(rows)
    met = sum(row.met() for row in rows)
    return "\n".join([
        f"# What observe expects, on {facts['GPU']}, {facts['date']}", "", *(f"- {key}: {value}" for key, value in facts.items()), "",
        f"{met} of {len(rows)} expectations met, at least {LEAST_MET} are to be: within {WITHIN:.0%} of what was gained, or {OF_EAGER:.0%} of the eager time. Times are of an iteration, of heat: a step.", "",
        table(rows), "", "What they were made of ([report.md](../report.md#gain)):", "", details(rows), "",
        "A timeline was not timed." if timeline is None else
        f"With `--timeline`, an iteration of {timeline[1]} takes {100 * timeline[0]:+.1f} % under Reprise (target: less than {TIMELINE_MOST:.0%} more).", "",
        *(["## Failed runs", "", *failed, ""] if failed else [])])
