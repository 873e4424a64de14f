"""What scripts/bench makes of its measurements: medians, ratios, whether the ways agree, and whether the targets of bench_rows.py are met."""
import statistics
from dataclasses import dataclass

from lib import bench_rows, runs

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
        self.slower_forms = {}    # written by hand, and not measured beyond the first round: microseconds

    def rounds(self):
        return len(self.samples["eager"])

    def good(self, way):
        return [sample for sample in self.samples.get(way, ()) if sample]

    def forms(self):
        """Those written by hand that were measured, and their medians, the fastest first."""
        medians = {way: statistics.median(sample.us for sample in self.good(way)) for way in self.commands
                   if way not in OURS and not is_beside(way) and self.good(way)}
        return dict(sorted(medians.items(), key=lambda form: form[1]))

    def fastest(self):
        return next(iter(self.forms()), None)

    def by_hand(self):
        """The form that the row names, or else the fastest; or None."""
        return self.row.form if self.row.form in self.forms() else self.fastest()

    def leave_out_slow_forms(self, most):
        """Goes on with so many of those written by hand, and with the one that the row names."""
        for form, us in list(self.forms().items())[most:]:
            if form != self.row.form:
                self.slower_forms[form] = us
                del self.commands[form]


def ratios(over, under):
    """For each round that both ways have: the median over its turns, which were taken one after the other, of the ratio of their times."""
    found = []
    for a, b in zip(over, under):
        if a and b:
            pairs = zip(a.turns, b.turns) if len(a.turns) == len(b.turns) else [(a.us, b.us)]
            found.append(statistics.median(x / y for x, y in pairs))
    return found


def ratio(over, under):
    """The median over the rounds of the ratio of two ways' samples."""
    found = ratios(over, under)
    return statistics.median(found) if found else None


def gains(measured):
    return ratios(measured.samples["eager"], measured.samples["reprise"])


def over_form(measured, form):
    return ratios(measured.samples["reprise"], measured.samples[form]) if form else []


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


def unlike(measured, _others, _of):
    """The slowest round under Reprise over the fastest; one says nothing."""
    us = [sample.us for sample in measured.good("reprise")]
    return max(us) / min(us) if len(us) > 1 else None


def overall(rows, form_of=Measured.by_hand):
    """The geometric mean of Reprise / by hand in each round, over the rows that repeat; and how many rows these are."""
    each = [over_form(measured, form_of(measured)) for measured in rows if measured.row.repeats]
    each = [found for found in each if found]
    rounds = min(map(len, each), default=0)
    return [statistics.geometric_mean(found[number] for found in each) for number in range(rounds)], len(each)


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
    "graph": ("≤ {:g} × {}", "greatest", over_graph),
    "floor": ("≤ {:g} × limit", "greatest", over_floor),
    "replayed": ("≥ {:.0%} replayed", "least", share_replayed),
    "memory": ("≤ {:g} MiB", "greatest", more_memory),
    "like": ("≤ {:g} × {}", "greatest", over_other),
    "scales": ("distance from the graph ≤ {:g} × that of {}", "greatest", scales_as),
    "alike": ("rounds within {:g} ×", "greatest", unlike),
}


def verdicts(measured, others):
    """For each target of a row: its words, and None if it is met or what is to be said of it. `others` are all rows, by name."""
    for kind, target in measured.row.targets.items():
        words, side, value_of = KINDS[kind]
        of, limit = target if isinstance(target, (tuple, list)) else (measured.row.form or "graph", target)
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
    """What is to be said of the answers, and whether all is well with them. Rounds may be of different lengths, but in each all ways must say the same."""
    if measured.errors:
        return f"**{len(measured.errors)} runs failed**", False
    differ = []
    for way in measured.samples:
        pairs = zip(measured.samples[way], measured.samples["eager"])
        if way != "floor" and any(one and eager and one.answer != eager.answer for one, eager in pairs):
            differ.append(way)
    lengths = {}    # of the eager run: as many turns, the same answer
    for sample in measured.good("eager"):
        lengths.setdefault(len(sample.turns), set()).add(sample.answer)
    if any(len(answers) > 1 for answers in lengths.values()):
        differ.append("eager itself")
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
    means, count = overall(rows)
    if count == len(bench_rows.repeating()) and means and statistics.median(means) > bench_rows.OVERALL:
        yield f"geometric mean: {overall_words(means)}"


def number(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def with_ends(numbers, said=number):
    """Their median, with the least and the greatest."""
    return f"{said(statistics.median(numbers))} ({said(min(numbers))}–{said(max(numbers))})" if numbers else "–"


def spread(measured, way):
    return with_ends([sample.us for sample in measured.good(way)])


def by_hand(measured):
    form, fastest = measured.by_hand(), measured.fastest()
    if not form:
        return "–"
    faster = f"; {number(measured.forms()[fastest])} {fastest}" if fastest != form else ""
    return f"{spread(measured, form)} {form}{faster}"


def overall_words(means):
    value = statistics.median(means)
    met = "met" if value <= bench_rows.OVERALL else f"**missed by {value / bench_rows.OVERALL - 1:.1%}**"
    return f"{with_ends(means, cell)} ≤ {bench_rows.OVERALL:g}: {met}"


def overall_text(rows):
    """A sentence on the mean, or None where no row that repeats was measured. Of some rows alone, it is held against nothing."""
    means, count = overall(rows)
    if not means:
        return None
    whole = len(bench_rows.repeating())
    said = overall_words(means) if count == whole else f"{with_ends(means, cell)}, held against nothing, since the others were not measured"
    fastest = overall(rows, Measured.fastest)[0]
    return (f"Reprise / by hand, geometric mean over {count} of {whole} rows that repeat: {said}. "
            f"Against the fastest form of each row, whether a target names it or not: {with_ends(fastest, cell)}.")


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


HEAD = ("program", "eager, us", "Reprise, us", "by hand, us", "limit, us", "eager / Reprise", "Reprise / by hand", "CPU us: eager, Reprise, by hand",
        "replayed", "answers", "targets")


def beside_table(rows, way):
    """Two libraries by turns: the ratio's spread is that of its rounds."""
    lines = ["| program | this library, us | the one beside, us | this / beside | least and greatest of the rounds |", "|---|---|---|---|---|"]
    for measured in rows:
        rounds = ratios(measured.samples["reprise"], measured.samples[way])
        ends = f"{min(rounds):.2f}–{max(rounds):.2f}" if rounds else "–"
        lines.append(f"| {measured.row.name} | {spread(measured, 'reprise')} | {spread(measured, way)} | {cell(over_beside(measured, way))} | {ends} |")
    return "\n".join(lines)


def table(rows):
    others = {measured.row.name: measured for measured in rows}
    lines = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    for measured in rows:
        lines.append("| " + " | ".join((
            measured.row.name, spread(measured, "eager"), spread(measured, "reprise"), by_hand(measured), spread(measured, "floor"),
            with_ends(gains(measured), cell), with_ends(over_form(measured, measured.by_hand()), cell), cpu(measured), replayed(measured), agreement(measured)[0], verdict(measured, others))) + " |")
    return "\n".join(lines)
