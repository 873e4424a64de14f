"""What scripts/bench measures, group by group, and what each row has to reach. Data alone.

A target is one of
  gain       least eager / Reprise
  graph      greatest Reprise / the best hand-written graph
  floor      greatest Reprise / the same program with launches that cost nothing
  replayed   least share of the ops that is launched from graphs
  memory     most device memory, in MiB, that the program takes under Reprise beyond what it takes eagerly
  like       another row, and greatest Reprise here / Reprise there
  scales     another row, and greatest (Reprise / graph here) / (Reprise / graph there)
"""
from dataclasses import dataclass, field

GROUPS = ("steady", "changing", "streams", "torch", "cupy", "devices")


@dataclass
class Row:
    name: str
    groups: tuple
    program: str                  # launchbound, torch_models.py, ... in tests/programs
    arguments: tuple = ()
    environment: dict = field(default_factory=dict)    # of the run under Reprise
    turns: int = 10               # of one run; 0: the program knows no turns
    seconds: float = 0.6          # that a run takes eagerly, at a guess
    targets: dict = field(default_factory=dict)
    devices: int = 1              # GPUs that it takes


def shape(name, *groups, of=None, environment=None, turns=10, seconds=0.6, **targets):
    return Row(name, groups, "launchbound", ("--shape", of or name), environment or {}, turns=turns, seconds=seconds, targets=targets)


def model(name, seconds, **targets):
    return Row(f"torch-{name}", ("torch",), "torch_models.py", ("--model", name), turns=40, seconds=seconds, targets=targets)


def ranks(form):
    return Row(f"torch-{form}", ("devices",), "torch_ranks.py", ("--form", form), turns=0, seconds=15, targets={"gain": 1.0}, devices=2)


# Not by turns: after a pause, as between turns, launches of single ops take a third longer for a while, more than eager ones, and no program pauses so.
HOLD_NOTHING = {"REPRISE_HOLD": "0"}

# Small enough that heat waits for launches, not for the GPU.
SMALL_GRID = ("--size", "8")

ROWS = (
    shape("chain20", "steady"),
    shape("chain100", "steady", "changing", gain=3.0, graph=1.15),
    shape("chain100-legacy", "steady", gain=3.0, graph=1.15),
    shape("cg", "steady", gain=1.0),
    shape("mixed", "steady"),
    shape("kernels1ms", "steady", seconds=0.8, gain=0.99),
    shape("norepeat", "steady", gain=0.98),
    Row("heat", ("steady",), "heat", SMALL_GRID, turns=0, targets={"gain": 2.0}),
    Row("heat-shared", ("steady",), "heat-shared", SMALL_GRID, turns=0, targets={"gain": 2.0}),
    Row("heat-driver", ("steady",), "heat-driver", ("--module", "heat_kernels.fatbin", *SMALL_GRID), turns=0),

    shape("one-changed", "changing", graph=1.08),
    shape("all-changed", "changing", graph=1.0),
    shape("swap", "changing", like=("chain100", 1.03)),
    shape("swap3", "changing", like=("chain100", 1.03)),
    shape("grow", "changing", gain=2.5),
    shape("two-bodies", "changing", gain=2.5),
    shape("eight-bodies", "changing", seconds=0.8, gain=2.5),
    shape("extra-ops", "changing", gain=2.3),
    shape("changing-bodies", "changing", seconds=2.5, gain=3.0),
    shape("think8", "changing", floor=1.05),
    shape("chain100-hold0", "changing", of="chain100", environment=HOLD_NOTHING, turns=0, gain=1.5),
    shape("chain1000-hold0", "changing", of="chain1000", environment=HOLD_NOTHING, turns=0),
    shape("one", "changing", gain=1.2),
    shape("loops10000", "changing", seconds=5, gain=0.98, memory=256),

    shape("chain50", "streams"),
    shape("forkjoin4", "streams", gain=4.0, graph=1.5),
    shape("threads4", "streams", graph=1.2),
    shape("threads16", "streams", seconds=1.5, scales=("chain50", 1.1)),
    shape("async-alloc", "streams", graph=1.25),
    shape("legacy-synccopy", "streams", graph=1.1),

    model("mlp", 1.5, gain=1.2, replayed=0.9),
    model("encoder", 2, gain=1.2, replayed=0.9),
    model("resnet50", 3.5, gain=1.2, replayed=0.9),
    model("train", 3, gain=1.15),

    Row("cupy-cg", ("cupy",), "cupy_cg.py", turns=0, seconds=5),

    Row("heat-devices", ("devices",), "heat-devices", ("--module", "heat_kernels.fatbin", "--size", "64"), turns=0, seconds=2, targets={"gain": 1.0}, devices=2),
    ranks("processes"),
    ranks("communicators"),
)


def selected(groups=(), names=()):
    """In the order of the table. ValueError names what is not there."""
    unknown = (set(groups) - set(GROUPS)) | (set(names) - {row.name for row in ROWS})
    if unknown:
        raise ValueError(f"no {', '.join(sorted(unknown))}; groups: {', '.join(GROUPS)}; rows: {', '.join(row.name for row in ROWS)}")
    return [row for row in ROWS if row.name in names or set(groups) & set(row.groups)]
