"""Measures what Reprise costs where it has nothing to do: what scripts/costs and scripts/bench share."""
from pathlib import Path

from lib import runs

NAMES = {
    "dlsym": "dlsym of a foreign name",
    "passed": "entry point without a door, looked up",
    "passed-linked": "the same, linked",
    "barrier": "entry point with a door, nothing deferred, looked up",
    "barrier-linked": "the same, linked",
    "start": "start of a program without CUDA",
}
PROGRAMS = ("ways-cost", "ways-nothing")
TARGETS = {"ns": 5, "us": 1000}     # at most as much more


class Cost:
    def __init__(self, name, unit):
        self.name, self.unit = name, unit
        self.plain, self.under = [], []    # one number a round: the median over the turns of that process
        self.within = []                   # medians of the differences within one process

    def more(self):
        """By turns in one process: that differs by the doors alone. Between two processes there is also one more library to search, and
        whatever else the machine does: the other columns tell."""
        return sorted(self.within)[len(self.within) // 2]

    def met(self):
        return self.more() < TARGETS[self.unit]

    def row(self):
        both = (f"{min(side):.1f} ({sorted(side)[len(side) // 2]:.1f})" for side in (self.plain, self.under))
        within = sorted(self.within)
        return "| " + " | ".join((f"{NAMES[self.name]}, {self.unit}", *both, f"{min(self.under) - min(self.plain):.1f}",
                                  f"{within[len(within) // 2]:.1f} ({within[0]:.1f}–{within[-1]:.1f})",
                                  f"< {TARGETS[self.unit]}: {'met' if self.met() else '**missed**'}")) + " |"


def lines(command, library, environment):
    outcome = runs.run(command, library, environment=environment)
    if outcome.status != 0:
        raise RuntimeError(f"{command[0]}: status {outcome.status}: {outcome.stderr.strip()[-200:]}")
    for line in outcome.stdout.splitlines():
        yield runs.values(line)


def folder_of(build):
    return Path(build).resolve() / "tests" / "ways"


def missing(build):
    """The first of its programs that is not built, or None."""
    return next((folder_of(build) / name for name in PROGRAMS if not (folder_of(build) / name).exists()), None)


def measure(build, rounds, environment=None):
    folder, library = folder_of(build), runs.library(build)
    costs = {}
    for _ in range(rounds):
        for side in (None, library):
            for found in lines([folder / PROGRAMS[0]], side, environment):
                cost = costs.setdefault(found["cost"], Cost(found["cost"], found["unit"]))
                (cost.under if side else cost.plain).append(float(found["reprise"]))
                if side:
                    cost.within.append(float(found["more"]))
        for found in lines([folder / PROGRAMS[0], "--start", library, folder / PROGRAMS[1]], None, environment):
            cost = costs.setdefault(found["cost"], Cost(found["cost"], found["unit"]))
            cost.plain.append(float(found["plain"]))
            cost.under.append(float(found["reprise"]))
            cost.within.append(float(found["more"]))
    return list(costs.values())


def table(costs):
    head = ("what", "plain: least (median)", "under Reprise", "more, least to least", "more, by turns in one process", "target, by turns")
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *(cost.row() for cost in costs)])
