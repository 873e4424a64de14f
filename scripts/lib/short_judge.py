"""What scripts/short makes of its pairs: how much longer the first seconds take under Reprise, and the page that says so."""
import itertools
import statistics

from lib import paired

SIDES = ("without Reprise", "under Reprise")
MOST_SLOWER = 1.01           # of the time without Reprise
LEARNS_S, MOST_MS = 2, 20    # so much longer the first seconds may take


class Pair:
    """A process of a loop without Reprise, and one under it, of as many steps."""

    def __init__(self):
        self.setup = {}          # seconds, by side
        self.seconds = {side: [] for side in SIDES}    # from mark to mark
        self.said = {}           # at the end: steps, checksum
        self.error = None

    def until(self, side):
        """Seconds from the first step to each mark."""
        return list(itertools.accumulate(self.seconds[side]))

    def same(self):
        plain, under = (self.said.get(side, {}).get("checksum") for side in SIDES)
        return plain == under

    def line(self, loop, which):
        """For the file of JSON lines."""
        return {"loop": loop, "pair": which, "error": self.error, "setup": self.setup, "until": {side: self.until(side) for side in SIDES}, "same": self.same()}


class Measured:
    """A loop's pairs together."""

    def __init__(self, loop, pairs, marks):
        self.loop, self.pairs, self.marks = loop, pairs, marks
        self.good = [pair for pair in pairs if not pair.error]

    def at(self, which):
        """The times until a mark, by side."""
        return [[pair.until(side)[which] for pair in self.good] for side in SIDES]

    def longer_ms(self, which):
        plain, under = self.at(which)
        return 1000 * statistics.median(b - a for a, b in zip(plain, under))

    def ratio(self, which):
        """Under Reprise over without, with its interval, or None."""
        plain, under = self.at(which)
        return paired.ratio(under, plain)

    def is_slower(self, which):
        """For sure, as far as the pairs tell."""
        _, ends = self.ratio(which)
        return ends is not None and ends[0] > MOST_SLOWER

    def setup_ms(self):
        plain, under = ([pair.setup[side] for pair in self.good] for side in SIDES)
        return 1000 * statistics.median(b - a for a, b in zip(plain, under))

    def same(self):
        return all(pair.same() for pair in self.good)

    def cells(self):
        yield "loop", self.loop.name
        yield "pairs", str(len(self.good))
        yield "setting up", f"{self.setup_ms():+.0f} ms"
        for which, mark in enumerate(self.marks):
            ratio, ends = self.ratio(which)
            yield f"{mark:g} s", f"{self.longer_ms(which):+.0f} ms, {ratio:.2f}" + (f" ({ends[0]:.2f}–{ends[1]:.2f})" if ends else "")
        yield "outputs", "the same" if self.same() else "**differ**"

    def line(self):
        return "  ".join(f"{name} {value}" if place > 1 else value for place, (name, value) in enumerate(self.cells()))


def errors(measured):
    for each in measured:
        for which, pair in enumerate(each.pairs, 1):
            if pair.error:
                yield f"{each.loop.name}, pair {which}: {pair.error}"


def table(good):
    rows = [dict(each.cells()) for each in good]
    return "\n".join(["| " + " | ".join(rows[0]) + " |", "|" + "---|" * len(rows[0]), *("| " + " | ".join(row.values()) + " |" for row in rows)])


def summary(good):
    marks = good[0].marks
    for which, mark in enumerate(marks):
        slower = [each.loop.name for each in good if each.is_slower(which)]
        longer = [each.ratio(which)[0] for each in good]
        yield f"Until {mark:g} s: {statistics.median(longer):.2f} x the time in the median of the loops; more than {MOST_SLOWER} x, with its whole interval: {', '.join(slower) or 'none'}."
    if LEARNS_S in marks:
        late = [each.loop.name for each in good if each.longer_ms(marks.index(LEARNS_S)) > MOST_MS]
        yield f"The first {LEARNS_S} s take more than {MOST_MS} ms longer, in the median: {', '.join(late) or 'none'}."


def document(facts, measured, left_out):
    good = [each for each in measured if each.good]
    failed = [*(f"- {error}" for error in errors(measured)), *(f"- {line}" for line in left_out)]
    lines = [f"# The first seconds, on {facts['GPU']}, {facts['date']}", "", *(f"- {key}: {value}" for key, value in facts.items()), "",
             "A pair is a process without Reprise and one under it, in random order, of as many steps. Times run from the first step; setting up is timed apart, and loading libraries is not in them. A cell has the median of how much longer it takes under Reprise, and the ratio from pairs, with an "
             "interval of 95 % where there are enough (Hodges and Lehmann, Wilcoxon). Two processes of one program differ, so few pairs say little of a hundredth.", ""]
    if good:
        lines += [table(good), "", *(f"- {line}" for line in summary(good)), ""]
    return "\n".join(lines + (["## Not measured", "", *failed, ""] if failed else []))
