"""What scripts/turns makes of its turns: gains with their intervals, whether outputs are the same, and the page that says so."""
import math
import statistics

from lib import paired, runs
from lib.bench_judge import number

LEAST_GAIN, LEAST_MEDIAN, LEAST_MEAN, MOST_CPU, MOST_LEARNING_MS = 0.99, 1.22, 1.25, 1.02, 20
EXPECTED_WITHIN = 0.15       # what observe expects, of the gain
CLOSE = 0.03                 # that far Reprise's own figure may be from the one measured from outside
LEFT_EAGER = ("eager", "costly", "bound", "unclear")
WORDS = ("eager", "replay")


class Process:
    """A loop in one process under Reprise: its pairs of turns, and a run without Reprise of as many steps."""

    def __init__(self):
        self.turns = {word: [] for word in WORDS}    # answers, by pair
        self.first = {}          # the answer for the first seconds
        self.said = {}           # at the end: steps, checksum
        self.report = {}
        self.plain_first, self.plain_rest, self.plain_said = {}, {}, {}
        self.observed_us, self.expected_us = None, None    # in observe: of a step, and what is expected of it under Reprise
        self.error = None

    def numbers(self, word, key="us"):
        return [float(answer[key]) for answer in self.turns[word]]

    def gain(self):
        return paired.ratio(self.numbers("eager"), self.numbers("replay"))[0]

    def same(self):
        """None where there is no run without Reprise."""
        return self.said.get("checksum") == self.plain_said.get("checksum") if self.plain_said else None

    def learning_ms(self):
        """By how much longer the first steps take than without Reprise."""
        return 1000 * (float(self.first["seconds"]) - float(self.plain_first["seconds"])) if self.plain_first else None

    def plain_us(self):
        """Of a step without Reprise, behind the first ones."""
        return float(self.plain_rest["us"]) if self.plain_rest else None

    def own_gain(self):
        """What Reprise's report says, where it has measured by turns itself: of a loop that it has left eager, that there is none."""
        turns = self.report.get("turns")
        verdict = turns.get("verdict") if isinstance(turns, dict) else None
        return 1.0 if verdict in LEFT_EAGER else turns["gain"] / 1000 if verdict == "replay" and turns["gain"] else None

    def expected(self):
        """The gain that observe expects. None if it does not tell."""
        return self.observed_us / self.expected_us if self.expected_us and self.expected_us > 0 else None

    def line(self, loop, which):
        """For the file of JSON lines."""
        kept = ("ops", "replayed", "launches", "traces", "graphs_built", "side_exits", "updates", "node_updates", "paused_ops", "saved_ns", "turns", "measured")
        return {"loop": loop, "process": which, "error": self.error, "gain": self.gain() if self.turns["eager"] else None, "first": self.first, "plain_first": self.plain_first, "plain_rest": self.plain_rest,
                "turns": self.turns, "said": self.said, "plain_said": self.plain_said, "same": self.same(), "observed_us": self.observed_us, "expected_us": self.expected_us, "report": {key: self.report[key] for key in kept if key in self.report}}


def read_process(line):
    """From a line of Process.line()."""
    process = Process()
    for key in ("turns", "first", "said", "report", "plain_first", "plain_rest", "plain_said", "observed_us", "expected_us", "error"):
        setattr(process, key, line[key])
    return process


class Measured:
    """A loop's processes together."""

    def __init__(self, loop, processes, observed=None):
        self.loop, self.processes, self.observed = loop, processes, observed
        self.good = [process for process in processes if not process.error and process.turns["eager"]]

    def pooled(self, word, key="us"):
        return [value for process in self.good for value in process.numbers(word, key)]

    def gain(self):
        """With its interval, or None."""
        return paired.ratio(self.pooled("eager"), self.pooled("replay"))

    def cpu(self):
        """The processor time of a step when replaying, over that when paused."""
        return paired.ratio(self.pooled("replay", "cpu_us"), self.pooled("eager", "cpu_us"))[0]

    def middle(self, of):
        found = [value for value in map(of, self.good) if value is not None]
        return statistics.median(found) if found else None

    def outputs(self):
        verdicts = [process.same() for process in self.good]
        compared = [verdict for verdict in verdicts if verdict is not None]
        if not all(compared):
            return "**differ**"
        return "the same" if len(compared) == len(verdicts) else f"the same, {len(compared)} of {len(verdicts)} compared" if compared else "not compared"

    def cells(self):
        gain, ends = self.gain()
        share = self.middle(lambda process: runs.share_replayed(process.report))
        learning, own, plain = self.middle(Process.learning_ms), self.middle(Process.own_gain), self.middle(Process.plain_us)
        return {"loop": self.loop.name, "without, us": number(plain) if plain else "–", "paused, us": number(statistics.median(self.pooled("eager"))), "replaying, us": number(statistics.median(self.pooled("replay"))),
                "gain": f"{gain:.2f}", "interval": f"{ends[0]:.2f}–{ends[1]:.2f}" if ends else "too few turns", "pairs": str(len(self.pooled("eager"))),
                "processes": f"{min(map(Process.gain, self.good)):.2f}–{max(map(Process.gain, self.good)):.2f}",
                "Reprise says": f"{own:.2f}" if own else "–", "observe expects": f"{self.expected():.2f}" if self.expected() else "–", "CPU": f"{self.cpu():.2f}", "learning": f"{learning:+.0f} ms" if learning is not None else "–",
                "replayed": f"{share:.1%}" if share is not None else "–", "outputs": self.outputs()}

    def expected(self):
        return self.observed.expected() if self.observed else None

    def line(self):
        cells = self.cells()
        return (f"{self.loop.name:24} gain {cells['gain']:>5} ({cells['interval']}, {cells['pairs']} pairs)  paused {cells['paused, us']} us  replaying {cells['replaying, us']} us  "
                f"CPU {cells['CPU']}  replayed {cells['replayed']}")


def errors(measured):
    for each in measured:
        for which, process in enumerate(each.processes, 1):
            if process.error:
                yield f"{each.loop.name}, process {which}: {process.error}"


def table(good):
    rows = [each.cells() for each in good]
    left_out = {"processes": all(len(each.good) == 1 for each in good), "Reprise says": all(row["Reprise says"] == "–" for row in rows),
                **{name: all(row[name] == "–" for row in rows) for name in ("without, us", "learning", "observe expects")}}
    head = [name for name in rows[0] if not left_out.get(name)]
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row[name] for name in head) + " |" for row in rows)])


def summary(good):
    gains = [each.gain()[0] for each in good]
    slow = [each.loop.name for each in good if each.gain()[0] < LEAST_GAIN]
    busy = [each.loop.name for each in good if each.cpu() > MOST_CPU]
    late = [each.loop.name for each in good if (each.middle(Process.learning_ms) or 0) > MOST_LEARNING_MS]
    yield f"{len(good)} loops: median gain {statistics.median(gains):.2f} (at least {LEAST_MEDIAN} is wanted), geometric mean {math.exp(statistics.fmean(map(math.log, gains))):.2f} ({LEAST_MEAN})."
    yield f"Gain below {LEAST_GAIN}: {', '.join(slow) or 'none'}."
    yield f"CPU time of a step above {MOST_CPU} x: {', '.join(busy) or 'none'}."
    if any(each.middle(Process.learning_ms) is not None for each in good):
        yield f"First seconds more than {MOST_LEARNING_MS} ms longer than without Reprise: {', '.join(late) or 'none'}."
    said = [(own, *each.gain()) for each in good if (own := each.middle(Process.own_gain))]
    if said:
        close, within = sum(abs(own / gain - 1) <= CLOSE for own, gain, _ in said), sum(ends is not None and ends[0] <= own <= ends[1] for own, _, ends in said)
        yield f"Reprise has a verdict on {len(said)} loops. What it tells is within {100 * CLOSE:.0f} % of the gain measured from outside in {close}, and within its interval in {within}."


def of_expectations(good):
    told = [(each.expected(), each.gain()[0]) for each in good if each.expected()]
    if any(each.observed for each in good):
        yield (f"`observe` expects something of {len(told)} loops: within {100 * EXPECTED_WITHIN:.0f} % of the gain in "
               f"{sum(abs(expected / gain - 1) <= EXPECTED_WITHIN for expected, gain in told)}.")


def document(facts, measured, left_out):
    good = [each for each in measured if each.good]
    failed = [*(f"- {error}" for error in errors(measured)), *(f"- {line}" for line in left_out)]
    lines = [f"# By turns, on {facts['GPU']}, {facts['date']}", "", *(f"- {key}: {value}" for key, value in facts.items()), "",
             "Each loop ran in one process under Reprise, replaying and paused by turns of random order (`reprise_pause`, `reprise_resume`), so that what disturbs the machine disturbs both. What came before the turns, half of each process and 4 s at most, is not in them. Times are medians "
             "of turns, of a step; gain is paused over replaying, from pairs of turns, with an interval of 95 % (Hodges and Lehmann, Wilcoxon). Outputs are compared with a run of as many steps without "
             "Reprise, another process, whose times are beside them where it was alone. CPU is the process's processor time of a step, replaying over paused.", ""]
    if good:
        lines += [table(good), "", *(f"- {line}" for line in (*summary(good), *of_expectations(good))), ""]
    return "\n".join(lines + (["## Not measured", "", *failed, ""] if failed else []))
