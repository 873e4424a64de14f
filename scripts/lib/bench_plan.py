"""How much scripts/bench measures in its time: which rows, how many rounds, and how many turns in each. Seconds alone, so it is tested without a GPU.

First it goes by guesses; after the first round, which is a short one, by what each row took. Every row that is measured gets the least number of rounds. What there
is no time for is left out from the end of bench_rows.GROUPS, and is named.
"""
from dataclasses import dataclass

LEAST_TURNS = 3      # of a round
LEAST_ROUNDS = 5
MOST_ROUNDS = 15     # more say little more

# Guesses. Seconds until a process is ready, and until the processes of a row have their libraries or their contexts, which they load at the same time.
START = {"launchbound": 0.1, "torch_models.py": 1, "cupy_cg.py": 1}
TOGETHER = {"launchbound": 0.8, "torch_models.py": 8, "cupy_cg.py": 6}
SHARE_OF_EAGER = {"eager": 1, "reprise": 0.5, "floor": 0.3}    # of its time; a form by hand 0.4
COSTS_S = 12         # for what Reprise costs where there is nothing to do


@dataclass
class Cost:
    """Seconds of a round: those that it takes anyway, and those of a turn."""
    start: float
    turn: float

    def of(self, rounds, turns, kept=False):
        return (1 if kept else rounds) * self.start + rounds * turns * self.turn


def guess(measured):
    row = measured.row
    shares = [SHARE_OF_EAGER.get(way, 0.4) for way in measured.commands]
    start = TOGETHER.get(row.program, 0) + sum(START.get(row.program, 0.5) for _ in shares)
    if not row.turns:
        return Cost(start + row.seconds * sum(shares), 0)
    turn = row.seconds * sum(shares) / row.turns
    return Cost(start + row.warm * turn, turn)


def most_turns(row, rounds):
    """Of a round. A row that keeps its processes has so many rounds in them, and shares its turns out among these."""
    return max(LEAST_TURNS, row.turns // rounds) if row.kept else row.turns


def batches(row, rounds):
    """The most that a process of a row does: by this, launchbound has its choices ready."""
    return most_turns(row, rounds) * (rounds if row.kept else 1)


class Plan:
    """`rows`: what is to be measured. `rounds`: so many of each, or None: as many as there is time for, LEAST_ROUNDS at least."""

    def __init__(self, rows, rounds=None):
        self.rows = rows
        self.fixed = rounds is not None
        self.least = self.rounds = rounds if self.fixed else LEAST_ROUNDS
        self.cost = {measured.row.name: guess(measured) for measured in rows}
        self.taken = list(rows)
        self.share = 0.0    # of the turns between the least and the most
        self.told = set()   # names of rows that were said to be left out

    def note(self, measured, start, turn):
        self.cost[measured.row.name] = Cost(start, turn)

    def left(self, measured):
        if measured.row.kept:
            return 0 if measured.rounds() else self.least
        return max(self.rounds - measured.rounds(), 0)

    def turns(self, measured):
        most = most_turns(measured.row, self.least)
        return min(most, LEAST_TURNS + int(self.share * max(most - LEAST_TURNS, 0)))

    def seconds_of(self, measured, turns=None):
        """What is left of a row."""
        turns = min(LEAST_TURNS, most_turns(measured.row, self.least)) if turns is None else turns
        return self.cost[measured.row.name].of(self.left(measured), turns, measured.row.kept) if self.left(measured) else 0

    def seconds_of_round(self, measured):
        rounds = self.left(measured) if measured.row.kept else 1
        return self.cost[measured.row.name].of(rounds, self.turns(measured), measured.row.kept)

    def seconds(self):
        """All that is left."""
        return sum(self.seconds_of(measured, self.turns(measured)) for measured in self.taken)

    def fit(self, seconds):
        """Takes what fits into so many seconds: rows by their rank, the shortest of a rank first; then longer turns; then more rounds.
        Returns whether anything is left to do."""
        left, taken, self.rounds = seconds, [], self.least
        for measured in sorted(self.rows, key=lambda measured: (measured.row.rank(), self.seconds_of(measured))):
            least = self.seconds_of(measured)
            if least <= left:
                left -= least
                taken.append(measured)
        self.taken = [measured for measured in self.rows if measured in taken]
        longer = sum(self.seconds_of(measured, most_turns(measured.row, self.least)) for measured in self.taken) - (seconds - left)
        self.share = max(0.0, min(1.0, left / longer)) if longer > 0 else 1.0
        while not self.fixed and self.share == 1.0 and self.rounds < MOST_ROUNDS and self.seconds() + self.whole_round() <= seconds:
            self.rounds += 1
        return any(self.left(measured) for measured in self.taken)

    def whole_round(self):
        return sum(self.cost[measured.row.name].of(1, self.turns(measured)) for measured in self.taken if not measured.row.kept)

    def left_out(self):
        """A line for each row that there is no time for, by name."""
        found = {}
        for measured in self.rows:
            if measured not in self.taken and self.left(measured):
                had = f" after {measured.rounds()} rounds" if measured.rounds() else ""
                found[measured.row.name] = f"{measured.row.name}: no time{had}; what is left of it takes {self.seconds_of(measured):.0f} s"
        return found
