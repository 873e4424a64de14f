"""What scripts/bench makes of its measurements: medians, ratios, whether the ways agree, and whether the targets of bench_rows.py are met."""
import statistics
from dataclasses import dataclass

from lib import runs

OURS = ("eager", "reprise", "floor")    # every other way is another library, or a form written by hand
BESIDE = "beside "


def beside_way(library):
    """The way that is this program under another libreprise.so."""
    return BESIDE + library.name


def is_beside(way):
    return way.startswith(BESIDE)


@dataclass
class Sample:
    """One run: microseconds per iteration or step of each of its turns, and what it said in the end."""
    turns: list
    cpu_us: float
    device_mib: float
    answer: str
    report: dict

    @property
    def us(self):
        return statistics.median(self.turns)

    @classmethod
    def of(cls, outcome, turns=()):
        """None if the run does not say what it took."""
        found = runs.values(outcome.stdout + " " + outcome.stderr)
        whole = found.get("us_median") or found.get("us_per_step") or found.get("us_per_iteration")
        if not whole:
            return None
        numbers = (float(found[key]) if key in found else None for key in ("process_cpu_us", "device_mib"))
        return cls(list(turns) or [float(whole)], *numbers, found.get("checksum", outcome.stdout), outcome.report)


class Measured:
    """A row of the table: the commands of its ways, and a sample of each way and round, None where a run failed."""

    def __init__(self, row, commands):
        self.row = row
        self.commands = commands
        self.samples = {way: [] for way in commands}
        self.errors = []

    def good(self, way):
        return [sample for sample in self.samples.get(way, ()) if sample]

    def by_hand(self):
        """The form of the least median among those written by hand, or None."""
        medians = {way: statistics.median(sample.us for sample in self.good(way)) for way in self.commands
                   if way not in OURS and not is_beside(way) and self.good(way)}
        return min(medians, key=medians.get) if medians else None


def ratio(over, under):
    """The median over the rounds of the ratio of two ways' samples, each the median over its turns, which were taken one after the other."""
    found = []
    for a, b in zip(over, under):
        if a and b:
            pairs = zip(a.turns, b.turns) if len(a.turns) == len(b.turns) else [(a.us, b.us)]
            found.append(statistics.median(x / y for x, y in pairs))
    return statistics.median(found) if found else None


def gain(measured, _others=None, _of=None):
    return ratio(measured.samples["eager"], measured.samples["reprise"])


def over_graph(measured, _others=None, _of=None):
    form = measured.by_hand()
    return ratio(measured.samples["reprise"], measured.samples[form]) if form else None


def over_beside(measured, way):
    """Reprise of this build over a library beside it."""
    return ratio(measured.samples["reprise"], measured.samples.get(way, ()))


def over_floor(measured, _others, _of):
    return ratio(measured.samples["reprise"], measured.samples.get("floor", ()))


def share_replayed(measured, _others=None, _of=None):
    shares = [runs.share_replayed(sample.report) for sample in measured.good("reprise")]
    return statistics.median(shares) if shares and None not in shares else None


def more_memory(measured, _others, _of):
    eager, under = ([sample.device_mib for sample in measured.good(way)] for way in ("eager", "reprise"))
    return max(under) - min(eager) if eager and under and None not in eager + under else None


def over_other(measured, others, of):
    return ratio(measured.samples["reprise"], others[of].samples["reprise"]) if of in others else None


def scales_as(measured, others, of):
    here, there = over_graph(measured), over_graph(others[of]) if of in others else None
    return here / there if here and there else None


# How each kind of target is said, whether it is the least or the greatest, and what is held against it.
KINDS = {
    "gain": ("≥ {:g} × eager", "least", gain),
    "graph": ("≤ {:g} × graph", "greatest", over_graph),
    "floor": ("≤ {:g} × floor", "greatest", over_floor),
    "replayed": ("≥ {:.0%} replayed", "least", share_replayed),
    "memory": ("≤ {:g} MiB", "greatest", more_memory),
    "like": ("≤ {:g} × {}", "greatest", over_other),
    "scales": ("distance from the graph ≤ {:g} × that of {}", "greatest", scales_as),
}


def verdicts(measured, others):
    """For each target of a row: its words, and None if it is met or what is to be said of it. `others` are all rows, by name."""
    for kind, target in measured.row.targets.items():
        words, side, value_of = KINDS[kind]
        of, limit = target if isinstance(target, tuple) else (None, target)
        said, value = words.format(limit, of), value_of(measured, others, of)
        if value is None:
            yield said, "not measured", value
        elif value < limit if side == "least" else value > limit:
            yield said, f"missed by {abs(value / limit - 1):.1%}", value
        else:
            yield said, None, value


def verdict(measured, others):
    said = []
    for words, wrong, value in verdicts(measured, others):
        found = "" if value is None else f" ({value:.3g})"
        said.append(f"{words}: " + (f"**{wrong}**" if wrong else "met") + found)
    return "; ".join(said)


def agreement(measured):
    """What is to be said of the answers, and whether all is well with them."""
    if measured.errors:
        return f"**{len(measured.errors)} runs failed**", False
    answers = {way: {sample.answer for sample in measured.good(way)} for way in measured.commands if way != "floor"}
    differ = [way for way in answers if answers[way] != answers["eager"]] + (["eager itself"] if len(answers["eager"]) != 1 else [])
    return (f"**they differ: {', '.join(differ)}**", False) if differ else ("equal", True)


def failures(rows):
    """A line for each row with which something is wrong."""
    others = {measured.row.name: measured for measured in rows}
    for measured in rows:
        answers, well = agreement(measured)
        wrong = [] if well else [answers.strip("*")]
        wrong += [f"{words}: {what}" for words, what, _ in verdicts(measured, others) if what]
        if wrong:
            yield f"{measured.row.name}: {'; '.join(wrong)}"


def number(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(measured, way):
    numbers = [sample.us for sample in measured.good(way)]
    return f"{number(statistics.median(numbers))} ({number(min(numbers))}–{number(max(numbers))})" if numbers else "–"


def by_hand(measured):
    form = measured.by_hand()
    said = [f"{spread(measured, form)} {form}"] if form else []
    if measured.good("floor"):
        said.append(f"{spread(measured, 'floor')} floor")
    return "; ".join(said) or "–"


def cpu(measured):
    cells = []
    for way in ("eager", "reprise", measured.by_hand()):
        numbers = [sample.cpu_us for sample in measured.good(way) if sample.cpu_us is not None]
        cells.append(number(statistics.median(numbers)) if numbers else "–")
    return ", ".join(cells)


# What of the last run's counters is worth a word, where it is not 0.
COUNTED = (("patched", "ops patched"), ("node_updates", "nodes set"), ("updates", "updates"), ("side_exits", "side exits"), ("evicted", "evicted"))


def replayed(measured):
    share = share_replayed(measured)
    if share is None:
        return "no report"
    last = measured.good("reprise")[-1].report
    return ", ".join([f"{share:.1%}", *(f"{last[key]} {label}" for key, label in COUNTED if last.get(key))])


def cell(value):
    return f"{value:.2f}" if value else "–"


HEAD = ("program", "eager, us", "Reprise, us", "by hand, us", "eager / Reprise", "Reprise / by hand", "CPU us: eager, Reprise, by hand",
        "replayed", "answers", "targets")


def beside_table(rows, way):
    """Two libraries by turns: the ratio's spread is that of its rounds."""
    lines = ["| program | this library, us | the one beside, us | this / beside | least and greatest of the rounds |", "|---|---|---|---|---|"]
    for measured in rows:
        rounds = [ratio([this], [other]) for this, other in zip(measured.samples["reprise"], measured.samples[way]) if this and other]
        ends = f"{min(rounds):.2f}–{max(rounds):.2f}" if rounds else "–"
        lines.append(f"| {measured.row.name} | {spread(measured, 'reprise')} | {spread(measured, way)} | {cell(over_beside(measured, way))} | {ends} |")
    return "\n".join(lines)


def table(rows):
    others = {measured.row.name: measured for measured in rows}
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    for measured in rows:
        lines.append("| " + " | ".join((
            measured.row.name, spread(measured, "eager"), spread(measured, "reprise"), by_hand(measured), cell(gain(measured)),
            cell(over_graph(measured)), cpu(measured), replayed(measured), agreement(measured)[0], verdict(measured, others))) + " |")
    return "\n".join(lines)
