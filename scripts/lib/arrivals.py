"""At which entry points of the driver the calls of the runtime API arrive: what scripts/gpu-arrivals and scripts/gpu-test share.

A program of tests/arrivals makes every call that takes a stream, under the recorder (tests/sim), and once more with Reprise
between. A call that ends the process costs that call: the rest is made by another process.
"""
import tempfile
from pathlib import Path

from lib import entry_points, runs

TABLE = Path(__file__).resolve().parents[2] / "preload" / "entry_points.def"
VARIANTS = ("", "-shared", "-ptds", "-ptds-shared")
TIMEOUT_S = 240

# Reasons for which an entry point that takes a stream may be NO_DOOR: it orders nothing.
HARMLESS = ("QUERY", "CREATION", "CAPTURE")


class Call:
    def __init__(self, number, name, way, unless):
        self.number = number    # None: it is not made, for the reason `unless`
        self.name = name
        self.title = f"{name} ({way})" if way else name
        self.unless = unless    # why it may arrive nowhere


class Visit:
    """What one program made of one call: by where ("created", "default") and turn."""

    def __init__(self):
        self.results = {}     # (where, turn) -> name of the error
        self.arrivals = {}    # (where, turn) -> names of entry points, in order
        self.ended = None     # how the process ended, if it did so here


def program(build, variant):
    return Path(build) / "tests" / "arrivals" / f"arrivals{variant}"


def listed(path):
    lines = [line.split("\t") for line in runs.run([path, "--list"]).stdout.splitlines()]
    return [Call(None if number == "-" else int(number), name, way, unless) for number, name, way, unless in lines]


def read_record(folder, visits):
    """Adds what the recorder wrote to the visits; returns the look-ups of names that the recorder does not know."""
    unknown = set()
    for path in sorted(Path(folder).glob("record*")):
        place = None
        for line in path.read_bytes().rstrip(b"\0").decode(errors="replace").splitlines():
            fields = line.strip("\0").split(" ")
            if len(fields) != 3 or fields[0] != "1":    # other threads are the driver's, or call back
                continue
            name = fields[1]
            if name == "#end":
                place = None
            elif name.startswith("#"):
                number, where, turn = name[1:].split(":")
                place = visits[int(number)].arrivals.setdefault((where, int(turn)), [])
            elif name.startswith("?"):
                unknown.add(name[1:])
            elif place is not None and (not place or place[-1] != name):
                place.append(name)
    return unknown


def read_output(text, visits):
    """The numbers of the calls with which the process started, in order."""
    started = []
    for fields in (line.split() for line in text.splitlines()):
        if len(fields) == 2 and fields[0] == "start":
            started.append(int(fields[1]))
        elif len(fields) == 4 and fields[0].isdigit():
            visits[int(fields[0])].results[fields[1], int(fields[2])] = fields[3]
    return started


def how_ended(status):
    if status is None:
        return "did not end in time"
    return f"ended by signal {-status}" if status < 0 else "ruined the context" if status == 3 else f"ended with {status}"


def visit(path, calls, recorder, library=None):
    """Has the program at `path` make all calls. Returns number -> Visit, the unknown look-ups, and an error or None."""
    visits = {call.number: Visit() for call in calls if call.number is not None}
    left, unknown = sorted(visits), set()
    while left:
        with tempfile.TemporaryDirectory(prefix="reprise-arrivals-") as folder:
            outcome = runs.run([path, *left], library, TIMEOUT_S, {"LD_PRELOAD": str(recorder), "SIM_RECORD": f"{folder}/record"})
            started = read_output(outcome.stdout, visits)
            unknown |= read_record(folder, visits)
        if outcome.status == 0:
            return visits, unknown, None
        if not started:
            return visits, unknown, f"{path.name} {how_ended(outcome.status)}: {(outcome.stdout + outcome.stderr).strip()[-300:]}"
        visits[started[-1]].ended = how_ended(outcome.status)
        left = [number for number in left if number > started[-1]]
    return visits, unknown, None


def steady(visit, where):
    """What a call arrives at once everything is loaded: at its second turn, or at the first if there was no second."""
    return visit.arrivals.get((where, 2)) or visit.arrivals.get((where, 1)) or []


def with_streams(names, table):
    return [name for name in names if name not in table or "STREAM" in table[name].takes]


def problems_of_arrivals(call, visit, table):
    """What the table has to say of every entry point that a call arrives at."""
    for name in sorted({name for names in visit.arrivals.values() for name in names}):
        row = table.get(name)
        if row is None:
            yield f"arrives at {name}, which the table has not"
        elif row.kind == "NO_DOOR" and "STREAM" in row.takes and row.reason not in HARMLESS:
            yield f"arrives at {name}, which takes a stream and is NO_DOOR as {row.reason}"
    if not call.unless and not with_streams(steady(visit, "created"), table):
        yield "arrives at no entry point that takes a stream"


def problems_of(call, plain, under, table):
    """`plain` and `under` are the visits with the recorder alone and with Reprise as well."""
    for visit, how in ((plain, "plain"), (under, "under Reprise")):
        if visit.ended:
            yield f"{how}, the process {visit.ended}"
    yield from problems_of_arrivals(call, plain, table)
    if not plain.ended and not under.ended:
        if plain.results != under.results:
            yield f"returns {sorted(set(plain.results.items()) ^ set(under.results.items()))} plain or under Reprise only"
        for where in ("created", "default"):
            ways = [with_streams(steady(visit, where), table) for visit in (plain, under)]
            if ways[0] != ways[1]:
                yield f"on the {where} stream arrives at {ways[0]}, but under Reprise at {ways[1]}"


class Shown:
    """What a variant of the program showed."""

    def __init__(self, build, variant):
        path, recorder = program(build, variant), Path(build) / "tests" / "sim" / "librecord.so"
        self.variant, self.calls, self.visits, self.unknown = variant, [], {}, set()
        self.problems, self.skipped = [], None
        if not path.exists() or not recorder.exists():
            self.skipped = "not built"
            return
        probe = runs.run([path, "--list"])
        if probe.status != 0:
            self.skipped = probe.stderr.strip()[-200:] or "the list cannot be had"
            return
        self.calls = listed(path)
        self.look(path, recorder, runs.library(build))

    def look(self, path, recorder, library):
        table = {row.name: row for row in entry_points.read(TABLE)[0]}
        self.visits, self.unknown, error = visit(path, self.calls, recorder)
        under, _, error_under = visit(path, self.calls, recorder, library)
        self.problems = [problem for problem in (error, error_under) if problem]
        if self.problems:
            return
        for call in self.calls:
            if call.number is not None:
                self.problems += [f"{call.title}: {problem}" for problem in
                                  problems_of(call, self.visits[call.number], under[call.number], table)]

    def verdict(self):
        """"ok", "FAIL" or "skip", and a remark: as scripts/gpu-test has them."""
        if self.skipped:
            return "skip", self.skipped
        if self.problems:
            return "FAIL", f"{len(self.problems)} problems; {self.problems[0][:300]}"
        return "ok", f"{len(self.visits)} calls arrive at entry points of the table"
