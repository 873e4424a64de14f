"""What scripts/bench measures, group by group, and what each row has to reach. Data alone.

A target is one of
  gain       least eager / Reprise
  graph      greatest Reprise / the best hand-written graph, or the form that the row names
  floor      greatest Reprise / the limit: the same program with ops that are answered and never executed
  replayed   least share of the ops that is launched from graphs
  memory     most device memory, in MiB, that the program takes under Reprise beyond what it takes eagerly
  like       another row, and greatest Reprise here / Reprise there
  scales     another row, and greatest (Reprise / graph here) / (Reprise / graph there)
  alike      greatest (slowest round under Reprise) / (fastest): each round is a process of its own
"""
from dataclasses import dataclass, field

# What there is no time for is left out from the end of this list: a row counts for the first of its groups here.
# byhand: what has to be as fast as the graph written by hand. sweep: for the plots, over the number of kernels and over their length.
GROUPS = ("byhand", "sweep", "steady", "changing", "streams", "torch", "cupy", "devices")

# Greatest geometric mean of Reprise / by hand over all rows that repeat.
OVERALL = 1.04


@dataclass
class Row:
    name: str
    groups: tuple
    program: str                  # launchbound, torch_models.py, ... in tests/programs
    arguments: tuple = ()
    environment: dict = field(default_factory=dict)    # of the run under Reprise
    turns: int = 10               # of one run at most; 0: the program knows no turns
    seconds: float = 0.6          # that its turns take eagerly, at a guess
    warm: float = 3               # turns that it takes to warm up
    targets: dict = field(default_factory=dict)
    devices: int = 1              # GPUs that it takes
    form: str = ""                # written by hand, that targets are held against; else the fastest
    repeats: bool = False         # it counts in the geometric mean
    sweep: dict = field(default_factory=dict)          # where it is in the plots: number of kernels, and microseconds of each
    kept: bool = False            # all its rounds are in the same processes: these take long to start, or the row is for a plot

    def rank(self):
        return min(map(GROUPS.index, self.groups), default=len(GROUPS))


def shape(name, *groups, of=None, environment=None, turns=10, seconds=0.6, warm=3, form="", repeats=True, sweep=None, kept=False, **targets):
    return Row(name, groups, "launchbound", ("--shape", of or name), environment or {}, turns=turns, seconds=seconds, warm=warm, targets=targets, form=form,
               repeats=repeats, sweep=sweep or {}, kept=kept)


def swept(name, seconds=0.6, **sweep):
    """For the plots alone: of lengths at which there is nothing to gain, a mean would say little."""
    return shape(name, "sweep", turns=40, seconds=4 * seconds, repeats=False, sweep=sweep, kept=True)


def unheld(name, of, seconds=0.6, **targets):
    return shape(name, "changing", of=of, environment=HOLD_NOTHING, turns=0, seconds=seconds, repeats=False, **targets)


def model(name, seconds, **targets):
    return Row(f"torch-{name}", ("torch",), "torch_models.py", ("--model", name), turns=40, seconds=seconds, targets=targets, kept=True)


def ranks(form):
    return Row(f"torch-{form}", ("devices",), "torch_ranks.py", ("--form", form), turns=0, seconds=15, targets={"gain": 1.0}, devices=2)


# Not by turns: after a pause, as between turns, launches of single ops take a third longer for a while, more than eager ones, and no program pauses so.
HOLD_NOTHING = {"REPRISE_HOLD": "0"}

# Small enough that heat waits for launches, not for the GPU.
SMALL_GRID = ("--size", "8")

# A kernel that does next to nothing, in the plot over the length.
TINY_US = 1

ROWS = (
    shape("one", "byhand", "changing", sweep={"kernels": 1}, gain=1.2, graph=1.03),
    shape("chain20", "byhand", "steady", sweep={"kernels": 20}, graph=1.08),
    shape("chain100-sync50", "byhand", "steady", graph=1.02),
    shape("chain100-ptds", "byhand", "steady", gain=3.0),
    shape("chain2-nosync", "byhand", "steady", gain=1.15),
    shape("cg", "byhand", "steady", gain=1.0, graph=1.05),
    shape("converge", "byhand", "changing", graph=1.05),
    shape("changing-bodies", "byhand", "changing", turns=6, seconds=1.8, warm=1, gain=3.0, graph=1.05),
    shape("alternate", "byhand", "changing", graph=1.05),
    shape("buckets8", "byhand", "changing", graph=1.05),
    shape("one-changed", "byhand", "changing", graph=1.03),
    shape("all-changed", "byhand", "changing", form="set", graph=0.69),
    shape("swap", "byhand", "changing", like=("chain100", 1.03), graph=1.03),
    shape("think8", "byhand", "changing", floor=1.04),
    shape("think1", "byhand", "changing", gain=1.0),
    shape("forkjoin4", "byhand", "streams", gain=4.0, graph=1.15),
    # One process has to be as fast as the next; 1.1 is a guess at what the machine makes of it.
    shape("jacobi3", "byhand", "streams", alike=1.1),
    shape("threads4", "byhand", "streams", graph=1.05),
    # By hand: with memory nodes. A program that allocates once is another program.
    shape("async-alloc", "byhand", "streams", form="launch", graph=1.1),

    shape("chain100", "byhand", "steady", "changing", sweep={"kernels": 100, "us": TINY_US}, gain=3.0, graph=1.15),
    shape("chain50", "streams", "sweep", sweep={"kernels": 50}),
    swept("chain5", kernels=5),
    swept("chain300", kernels=300),
    swept("chain1000", kernels=1000),
    swept("kernels2us", us=2),
    swept("kernels5us", us=5),
    swept("kernels10us", us=10),
    swept("kernels30us", us=30),

    shape("chain100-legacy", "steady", gain=3.0, graph=1.15),
    shape("mixed", "steady"),
    shape("kernels1ms", "steady", seconds=0.8, repeats=False, gain=0.99),
    shape("norepeat", "steady", repeats=False, gain=0.98),
    Row("heat", ("steady",), "heat", SMALL_GRID, turns=0, targets={"gain": 2.0}),
    Row("heat-shared", ("steady",), "heat-shared", SMALL_GRID, turns=0, targets={"gain": 2.0}),
    Row("heat-driver", ("steady",), "heat-driver", ("--module", "heat_kernels.fatbin", *SMALL_GRID), turns=0),

    shape("swap3", "changing", like=("chain100", 1.03)),
    shape("grow", "changing", gain=2.5),
    shape("two-bodies", "changing", gain=2.5),
    shape("eight-bodies", "changing", seconds=0.8, gain=2.5),
    shape("extra-ops", "changing", gain=2.3),
    unheld("chain100-hold0", "chain100", gain=1.5),
    unheld("chain1000-hold0", "chain1000"),
    # All of the loops are in one process, so its rounds are, too.
    shape("loops10000", "changing", turns=15, seconds=7.5, warm=0, repeats=False, kept=True, gain=0.98, memory=256),

    shape("threads16", "streams", seconds=1.5, scales=("chain50", 1.1)),
    shape("legacy-synccopy", "streams", graph=1.1),

    model("mlp", 1.5, gain=1.2, replayed=0.9),
    model("encoder", 2, gain=1.2, replayed=0.9),
    model("resnet50", 3.5, gain=1.2, replayed=0.9),
    model("train", 3, gain=1.15),

    Row("cupy-cg", ("cupy",), "cupy_cg.py", turns=40, seconds=0.5, kept=True),

    Row("heat-devices", ("devices",), "heat-devices", ("--module", "heat_kernels.fatbin", "--size", "64"), turns=0, seconds=2, targets={"gain": 1.0}, devices=2),
    ranks("processes"),
    ranks("communicators"),
)


def repeating():
    return [row.name for row in ROWS if row.repeats]


def selected(groups=(), names=()):
    """In the order of the table. ValueError names what is not there."""
    unknown = (set(groups) - set(GROUPS)) | (set(names) - {row.name for row in ROWS})
    if unknown:
        raise ValueError(f"no {', '.join(sorted(unknown))}; groups: {', '.join(GROUPS)}; rows: {', '.join(row.name for row in ROWS)}")
    return [row for row in ROWS if row.name in names or set(groups) & set(row.groups)]
