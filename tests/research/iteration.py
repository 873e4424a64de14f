#!/usr/bin/env python3
"""Where the time of an iteration goes, by hand and under Reprise: tables, and a drawing of the median iteration of each, on one scale.

    iteration.py FOLDER [--tell WAY]... [--draw WAY]... [--write FOLDER]

FOLDER has what tests/research/iteration.c recorded: SHAPE-hand-WAY.jsonl and SHAPE-reprise-WAY.jsonl, or these with .gz. WAY is edges, without CUPTI and with the first call
after each wait alone, which costs least; host, without CUPTI; graphs, where CUPTI tells of each graph as a whole; or kernels, where it tells of each kernel. Beside them may be
SHAPE-FORM-WAY.txt: the program's own line (us_median=...), of which WAY may be plain, too: nothing was recorded.
Prints a page of Markdown, with columns for each --tell, or for all. With --write, writes SHAPE-WAY.svg for each --draw (kernels, unless said otherwise) into that folder, and the page shows them.

An iteration begins with the first op that the thread calls after a wait, and ends where the next wait returns. Where several threads wait, each has its own iterations. All figures are medians
over all iterations of a recording. A launch is what reaches the driver: of a graph, or of an op that was not replayed; without CUPTI, a replay as Reprise tells it, with all that belongs to it.
"""
import argparse
import gzip
import json
import re
import statistics
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

WAYS = {"edges": "first calls and waits", "host": "without CUPTI", "graphs": "CUPTI, a graph as a whole", "kernels": "CUPTI, each kernel"}
FORMS = {"hand": "by hand", "reprise": "Reprise"}
WAIT = "cudaStreamSynchronize"
LAUNCH = re.compile(r"cu(GraphLaunch|Launch|Memcpy|Memset)")
ON_GPU = ("kernel", "graph", "copy", "memset")

# What the whole is made of, from mark to mark: on its way through the GPU, and without CUPTI on the host's.
PATHS = {
    "gpu": (("first op", "first launch begins", "ops until the launch"), ("first launch begins", "GPU begins", "launch, until the GPU begins"), ("GPU begins", "GPU ends", "GPU, first to last"),
            ("GPU ends", "wait returns", "GPU's end until the wait returns")),
    "host": (("first op", "first launch begins", "ops until the launch"), ("first launch begins", "last launch ends", "launches, first to last"), ("last launch ends", "wait begins", "until the wait"),
             ("wait begins", "wait returns", "the wait")),
}
# What else is told, also from mark to mark.
GAPS = (
    ("last wait returned", "first op", "between two iterations: the program"),
    ("first launch begins", "first launch ends", "the first launch, in the driver"),
    ("first launch ends", "GPU begins", "first launch has returned, until the GPU begins"),
    ("last op", "last launch begins", "last op, until the last launch"),
    ("last launch ends", "last op ends", "after the last launch, until the op returns"),
    ("last op ends", "wait begins", "last op has returned, until the wait"),
    ("wait begins", "driver's wait begins", "the wait, before the driver's"),
    ("wait begins", "GPU ends", "the wait, until the GPU ends"),
    ("GPU ends", "driver's wait returns", "GPU's end, until the driver's wait returns"),
    ("driver's wait returns", "wait returns", "the wait, after the driver's"),
)


@dataclass
class Recording:
    head: dict = field(default_factory=dict)
    names: dict = field(default_factory=dict)                               # of threads
    calls: dict = field(default_factory=lambda: defaultdict(list))          # of the program, by thread
    replays: dict = field(default_factory=lambda: defaultdict(list))        # by thread
    driver: dict = field(default_factory=lambda: defaultdict(list))         # by thread
    gpu: list = field(default_factory=list)
    waits: list = field(default_factory=list)                               # as CUPTI tells them, with their streams
    odd: list = field(default_factory=list)                                 # what is wrong with it


@dataclass
class Iteration:
    thread: int
    before: int        # when the last wait returned
    edges: bool        # of the ops only the first was recorded
    ops: list
    wait: dict
    launches: list = field(default_factory=list)
    replays: list = field(default_factory=list)
    driver_wait: dict | None = None
    gpu: list = field(default_factory=list)

    @property
    def begin(self):
        return self.ops[0]["begin"]

    @property
    def whole(self):
        return self.wait["end"] - self.begin

    def marks(self):
        marks = {"last wait returned": self.before, "first op": self.begin, "wait begins": self.wait["begin"], "wait returns": self.wait["end"]}
        if not self.edges:
            marks |= {"last op": self.ops[-1]["begin"], "last op ends": self.ops[-1]["end"]}
        if self.launches:
            first, last = self.launches[0], self.launches[-1]
            marks |= {"first launch begins": first["begin"], "first launch ends": first["end"], "last launch begins": last["begin"], "last launch ends": last["end"]}
        if self.driver_wait:
            marks |= {"driver's wait begins": self.driver_wait["begin"], "driver's wait returns": self.driver_wait["end"]}
        if self.gpu:
            marks |= {"GPU begins": min(activity["begin"] for activity in self.gpu), "GPU ends": max(activity["end"] for activity in self.gpu)}
        return marks


# ---- reading ----

def opened(path):
    return gzip.open(path, "rt", encoding="utf-8", errors="replace") if path.suffix == ".gz" else open(path, encoding="utf-8", errors="replace")


def read(path):
    recording, broken, other = Recording(), 0, {}
    with opened(path) as lines:
        for line in lines:
            try:
                entry = json.loads(line)
                kind = entry["kind"]
                if kind == "head":
                    recording.head = entry
                elif kind == "thread":
                    recording.names[entry["thread"]] = entry["name"]
                    other[entry.get("other")] = entry["thread"]
                    if entry["full"]:
                        recording.odd.append(f"a thread, {entry['name']}, had no room for all")
                elif kind in ("call", "replay", "driver"):
                    {"call": recording.calls, "replay": recording.replays, "driver": recording.driver}[kind][other.get(entry["thread"], entry["thread"])].append(entry)
                elif kind in ON_GPU:
                    recording.gpu.append(entry)
                elif kind == "wait":
                    recording.waits.append(entry)
            except (ValueError, KeyError, TypeError):
                broken += 1
    for rows in (*recording.calls.values(), *recording.replays.values(), *recording.driver.values(), recording.gpu):
        rows.sort(key=lambda row: (row["begin"], -row["end"]))
    if recording.head.get("dropped"):
        recording.odd.append(f"CUPTI had no room for {recording.head['dropped']} records")
    if broken:
        recording.odd.append(f"{broken} lines cannot be read")
    return recording


def iterations_of(recording):
    """Of all threads that wait. The first of each is left out: it may have begun before its records."""
    for thread, calls in recording.calls.items():
        ops, before = [], None
        for call in calls:
            if call["name"] != WAIT:
                ops.append(call)
                continue
            if ops and before is not None:
                yield Iteration(thread, before, recording.head.get("edges", False), ops, call)
            ops, before = [], call["end"]


def within(rows, iteration):
    return [row for row in rows if iteration.begin <= row["begin"] and row["end"] <= iteration.wait["end"]]


def owners(recording, programs):
    """The thread of the program for which each number of a driver call was, where Reprise's threads made the call: the one that waits for that stream."""
    thread_of = {row["correlation"]: thread for thread, rows in recording.driver.items() for row in rows}
    waits_for = {wait["stream"]: thread_of[wait["correlation"]] for wait in recording.waits if thread_of.get(wait["correlation"]) in programs}
    found = {}
    for activity in recording.gpu:
        thread = thread_of.get(activity["correlation"])
        found[activity["correlation"]] = thread if thread in programs else waits_for.get(activity["stream"], next(iter(programs)) if len(programs) == 1 else None)
    return found


def complete(recording):
    """The iterations, with what the driver and the GPU did for them."""
    iterations = list(iterations_of(recording))
    programs = {iteration.thread for iteration in iterations}
    owner, activities, has_driver = owners(recording, programs), defaultdict(list), bool(recording.driver)
    for activity in recording.gpu:
        activities[activity["correlation"]].append(activity)
    others = [row for thread, rows in recording.driver.items() if thread not in programs for row in rows if LAUNCH.match(row["name"])]
    only_other_replays = [row for thread, rows in recording.replays.items() if thread not in programs for row in rows] if len(programs) == 1 else []
    for iteration in iterations:
        own = within(recording.driver.get(iteration.thread, []), iteration)
        waits = [row for row in own if row["name"].startswith("cuStreamSynchronize")]
        iteration.driver_wait = waits[-1] if waits else None
        iteration.replays = within(recording.replays.get(iteration.thread, []) + only_other_replays, iteration)
        launches = [row for row in own if LAUNCH.match(row["name"])] + [row for row in within(others, iteration) if owner.get(row["correlation"]) == iteration.thread]
        if not has_driver:
            launches = iteration.replays or [op for op in iteration.ops if op["name"] == "cudaGraphLaunch"]
        iteration.launches = sorted(launches, key=lambda row: row["begin"])
        if has_driver:
            # By number, not by time: the GPU's clock is brought to the host's with an error.
            iteration.gpu = [activity for launch in iteration.launches if "correlation" in launch for activity in activities[launch["correlation"]]]
        elif len(programs) == 1:    # with several threads it is not known whose work it was
            iteration.gpu = within(recording.gpu, iteration)
    return iterations


# ---- figures ----

def us(values):
    """The median, of nanoseconds."""
    values = [value for value in values if value is not None]
    return statistics.median(values) / 1000 if values else None


def between(iterations, begin, end):
    marks = [iteration.marks() for iteration in iterations]
    return us([mark[end] - mark[begin] for mark in marks if begin in mark and end in mark])


def busy(activities):
    """Nanoseconds in which anything ran, of activities in the order of their begin."""
    total, until = 0, 0
    for activity in sorted(activities, key=lambda activity: activity["begin"]):
        total += max(0, activity["end"] - max(activity["begin"], until))
        until = max(until, activity["end"])
    return total


def idle(iteration):
    if not iteration.gpu:
        return None
    marks = iteration.marks()
    return marks["GPU ends"] - marks["GPU begins"] - busy(iteration.gpu)


def answered(iterations):
    """How long ops take in which nothing is launched. Of edges, the first one is another than the others."""
    if iterations[0].edges:
        return None
    return us([op["end"] - op["begin"] for iteration in iterations for op in iteration.ops if not any(op["begin"] <= launch["begin"] <= op["end"] for launch in iteration.launches)])


def around(iterations, which):
    """What Reprise does in a replay before the driver's launch, or after it."""
    taken = []
    for iteration in iterations:
        for replay in iteration.replays:
            launch = next((launch for launch in iteration.launches if launch is not replay and replay["begin"] <= launch["begin"] and launch["end"] <= replay["end"]), None)
            if launch:
                taken.append(launch["begin"] - replay["begin"] if which == "before" else replay["end"] - launch["end"])
    return us(taken)


def count(iterations, what):
    return statistics.median(len(getattr(iteration, what)) for iteration in iterations) if iterations else None


def rows_of(iterations):
    """(name, microseconds or a number, in this order), for one recording."""
    whole = sorted(iteration.whole for iteration in iterations)
    rows = {"the whole": us(whole), "a quarter takes less than": us([whole[len(whole) // 4]]), "a quarter takes more than": us([whole[3 * len(whole) // 4]])}
    has_gpu = any(iteration.gpu for iteration in iterations)
    for begin, end, name in PATHS["gpu" if has_gpu else "host"]:
        rows[f"= {name}"] = between(iterations, begin, end)
    for begin, end, name in GAPS:
        rows[name] = between(iterations, begin, end)
    rows["an op that is answered at once"] = answered(iterations)
    rows["a replay, before the driver's launch"] = around(iterations, "before")
    rows["a replay, after the driver's launch"] = around(iterations, "after")
    rows["GPU, idle between first and last"] = us([idle(iteration) for iteration in iterations])
    rows["number of ops"] = None if iterations[0].edges else count(iterations, "ops")
    rows["number of launches"] = count(iterations, "launches")
    rows["number of records of the GPU"] = count(iterations, "gpu") if has_gpu else None
    return rows


ORDER = ["the whole", "a quarter takes less than", "a quarter takes more than", *dict.fromkeys(f"= {name}" for path in PATHS.values() for *_, name in path), *(name for *_, name in GAPS), "an op that is answered at once",
         "a replay, before the driver's launch", "a replay, after the driver's launch", "GPU, idle between first and last", "number of ops", "number of launches", "number of records of the GPU"]


def cell(value, digits=2):
    return "–" if value is None else f"{value:.{digits}f}" if digits else f"{value:g}"


def table(found):
    """found: way -> form -> rows. What no recording has is left out."""
    ways = [way for way in WAYS if way in found]
    yield "| us | " + " | ".join(f"{FORMS[form]}, {way}" if form in FORMS else "more" for way in ways for form in (*FORMS, "more")) + " |"
    yield "|---" * (1 + 3 * len(ways)) + "|"
    for name in ORDER:
        cells = []
        for way in ways:
            values = [found[way].get(form, {}).get(name) for form in FORMS]
            digits = 0 if name.startswith("number") else 2
            cells += [cell(value, digits) for value in values] + [cell(values[1] - values[0], digits) if None not in values and digits else "–"]
        if any(value != "–" for value in cells):
            yield f"| {name} | " + " | ".join(cells) + " |"


def clock_error(iterations):
    """A sentence about how far the GPU's clock is off the host's, as far as the order of things tells."""
    early, late = [], []
    for iteration in iterations:
        marks = iteration.marks()
        if iteration.gpu and iteration.launches:
            early.append(marks["GPU begins"] - marks["first launch begins"])
            late.append(marks["wait returns"] - marks["GPU ends"])
    return f"{min(early) / 1000:.2f} us from a launch's begin to the GPU's, and {min(late) / 1000:.2f} from the GPU's end to the wait's, at the least" if early else None


def own_line(folder, shape, form, way):
    path = folder / f"{shape}-{form}-{way}.txt"
    told = re.search(r"us_median=([\d.]+)", path.read_text(errors="replace")) if path.exists() else None
    return float(told[1]) if told else None


def cost_table(folder, shapes):
    """What recording costs: the program's own median of each."""
    ways = ["plain", *WAYS]
    told = {(shape, form, way): own_line(folder, shape, form, way) for shape in shapes for form in FORMS for way in ways}
    if not any(told.values()):
        return
    yield "| us an iteration, as the program tells | " + " | ".join(("nothing recorded", *WAYS.values())) + " |"
    yield "|---" * (1 + len(ways)) + "|"
    for shape in shapes:
        for form, name in FORMS.items():
            yield f"| {shape}, {name} | " + " | ".join(cell(told[shape, form, way]) for way in ways) + " |"


# ---- drawing ----

WIDE, LEFT, RIGHT, ROW, BAR = 1180, 190, 20, 20, 14
COLOURS = {"call": "#0072b2", "wait": "#9a9a9a", "replay": "#56b4e9", "driver": "#e69f00", "kernel": "#009e73", "graph": "#009e73", "copy": "#cc79a7", "memset": "#d55e00"}
PATH_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#9a9a9a")


def text(x, y, words, anchor="start", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def bar(x, begin, end, y, colour, title, label=""):
    wide = max(x(end) - x(begin), 0.6)
    yield f'<rect x="{x(begin):.2f}" y="{y}" width="{wide:.2f}" height="{BAR}" fill="{colour}" stroke="#fff" stroke-width="0.4"><title>{escape(title)}</title></rect>'
    if label and wide > 6.2 * len(label) + 4:
        yield text(x(begin) + wide / 2, y + BAR - 3, label, "middle", ' fill="#fff"')


def short(name):
    """Of a kernel, its name without C++'s; of a call, without its prefix."""
    mangled = re.match(r"_Z\d*N?(?:\d+_GLOBAL__N__\w*?)?(\d+)(\w+)", name)
    return mangled[2][:int(mangled[1])] if mangled else re.sub(r"^(cuda|cu)(?=[A-Z])", "", name)


def stacked(rows):
    """Rows of which none has two things at a time."""
    lanes = []
    for row in sorted(rows, key=lambda row: row["begin"]):
        lane = next((lane for lane in lanes if lane[-1]["end"] <= row["begin"]), None)
        if lane is None:
            lanes.append(lane := [])
        lane.append(row)
    return lanes


def rows_drawn(recording, chosen):
    """(name, what is in it) for each row: of each thread its calls, replays and driver calls; of each stream what ran."""
    begin, end = chosen.begin, chosen.wait["end"]

    def seen(rows):
        return [row for row in rows if row["end"] >= begin and row["begin"] <= end]

    threads = [chosen.thread, *sorted(set(recording.calls) - {chosen.thread}), *sorted((set(recording.driver) | set(recording.replays)) - set(recording.calls))]
    programs = [thread for thread in threads if recording.calls.get(thread)]
    for thread in threads:
        name = (f"thread {programs.index(thread) + 1}" if len(programs) > 1 else "program") if thread in programs else recording.names.get(thread) or "another thread"
        for what, rows in (("calls", recording.calls), ("replays", recording.replays), ("driver", recording.driver)):
            # A call within another one is a row below.
            for lane in stacked(seen(rows.get(thread, []))):
                yield f"{name}: {what}", lane
    streams, ran = defaultdict(list), seen(recording.gpu)
    for activity in ran:
        streams[activity["stream"]].append(activity)
    for number, stream in enumerate(sorted(streams), 1):
        for lane in stacked(streams[stream]):
            yield f"GPU: stream {number}", lane


def panel(recording, chosen, title, x, top, far):
    """The rows of one iteration, and how far down they reach."""
    zero, marks = chosen.begin, chosen.marks()
    path = PATHS["gpu" if chosen.gpu else "host"]
    parts, y = [text(LEFT, top + 13, f"{title}: {chosen.whole / 1000:.2f} us", more=' font-weight="bold" font-size="14"')], top + 24
    first_y, lines = y, []
    for (begin, end, name), colour in zip(path, PATH_COLOURS):
        if begin not in marks or end not in marks:
            continue
        at, until = marks[begin] - zero, marks[end] - zero
        told = f"{(until - at) / 1000:.2f}"
        parts += bar(x, max(at, 0), min(max(at, until, 0), far), y, colour, f"{name}: {told} us", told)
        lines.append(min(until, far))
    parts.append(text(LEFT - 8, y + BAR - 3, "parts of the whole, us", "end"))
    y += ROW + 6
    last = None
    for name, rows in rows_drawn(recording, chosen):
        parts.append(text(LEFT - 8, y + BAR - 3, name if name != last else "", "end"))
        last = name
        for row in rows:
            kind = "wait" if row["kind"] in ("call", "driver") and "Synchronize" in row["name"] else row["kind"]
            label = f"replay, {row['calls']} calls" if row["kind"] == "replay" else short(row["name"])
            at, until = max(row["begin"] - zero, 0), min(row["end"] - zero, far)
            parts += bar(x, at, max(at, until), y, COLOURS[kind], f"{label}: at {(row['begin'] - zero) / 1000:.2f}, {(row['end'] - row['begin']) / 1000:.2f} us", label)
        y += ROW
    for at in [0, *lines]:
        parts.append(f'<line x1="{x(at):.1f}" y1="{first_y}" x2="{x(at):.1f}" y2="{y}" stroke="#333" stroke-width="0.7" stroke-dasharray="3 3"/>')
    return parts, y + 12


def ticks(far):
    step = next(step for step in (500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 10**9) if far / step <= 16)
    return range(0, int(far) + 1, step)


def median_of(iterations):
    """The iteration in the middle, by time."""
    return sorted(iterations, key=lambda iteration: iteration.whole)[len(iterations) // 2]


def drawing(shape, way, forms):
    """forms: form -> (recording, iterations)."""
    chosen = {form: median_of(iterations) for form, (_, iterations) in forms.items()}
    far = 1.02 * max(iteration.whole for iteration in chosen.values())

    def x(at):
        return LEFT + at / far * (WIDE - LEFT - RIGHT)

    parts, y = [text(LEFT, 22, f"{shape}, {WAYS[way]}: the median iteration", more=' font-size="16" font-weight="bold"')], 36
    for form, iteration in chosen.items():
        drawn, y = panel(forms[form][0], iteration, FORMS[form], x, y, far)
        parts += drawn
    for at in ticks(far):
        parts += [f'<line x1="{x(at):.1f}" y1="{y - 6}" x2="{x(at):.1f}" y2="{y}" stroke="#333"/>', text(x(at), y + 14, f"{at / 1000:g}", "middle")]
    parts.append(text(WIDE - RIGHT, y + 30, "us since the first op was called", "end"))
    place = LEFT
    for colour, (*_, name) in zip(PATH_COLOURS, PATHS["gpu" if any(iteration.gpu for iteration in chosen.values()) else "host"]):
        parts += [f'<rect x="{place}" y="{y + 40}" width="10" height="10" fill="{colour}"/>', text(place + 14, y + 49, name)]
        place += 34 + 6.4 * len(name)
    high = y + 62
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDE}" height="{high}" viewBox="0 0 {WIDE} {high}" font-family="sans-serif" font-size="11">',
                      f'<rect width="{WIDE}" height="{high}" fill="#fff"/>', *parts, "</svg>"]) + "\n"


# ---- the page ----

def recordings_of(folder):
    """shape -> way -> form -> path."""
    found = defaultdict(lambda: defaultdict(dict))
    for path in sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")]):
        named = re.match(r"(.+)-(hand|reprise)-(edges|host|graphs|kernels)\.jsonl", path.name)
        if named:
            found[named[1]][named[3]][named[2]] = path
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tell", action="append", choices=WAYS, default=[], metavar="WAY")
    parser.add_argument("--draw", action="append", choices=WAYS, default=[], metavar="WAY")
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    asked = parser.parse_args()
    shapes = recordings_of(asked.folder)
    if not shapes:
        sys.exit(f"iteration: {asked.folder} has no recordings")
    for shape, ways in shapes.items():
        figures, errors, drawings = defaultdict(dict), [], []
        for way, forms in sorted(ways.items(), key=lambda item: list(WAYS).index(item[0])):
            usable = {}
            for form in FORMS:
                if form not in forms:
                    continue
                recording = read(forms[form])
                iterations = complete(recording)
                if way in ("graphs", "kernels"):
                    lacking = sum(not iteration.gpu for iteration in iterations)
                    iterations = [iteration for iteration in iterations if iteration.gpu]
                    if lacking:
                        recording.odd.append(f"{lacking} iterations have no record of the GPU, and are left out")
                where = f"{FORMS[form]}, {WAYS[way]}"
                errors += [f"- {where}: {odd}" for odd in recording.odd]
                if not iterations:
                    errors.append(f"- {where}: no iteration is complete")
                    continue
                if way in (asked.tell or WAYS):
                    figures[way][form] = rows_of(iterations)
                usable[form] = (recording, iterations)
                error = clock_error(iterations)
                errors += [f"- {where}: {len(iterations)} iterations{'; ' + error if error else ''}"]
            if usable and asked.write and way in (asked.draw or ["kernels"]):
                asked.write.mkdir(parents=True, exist_ok=True)
                name = f"{shape}-{way}.svg"
                (asked.write / name).write_text(drawing(shape, way, usable), encoding="utf-8")
                drawings.append(f"![{shape}, {WAYS[way]}: by hand and under Reprise]({name})")
        print(f"## {shape}\n", *(f"{line}\n" for line in drawings), *table(figures), "", *errors, "", sep="\n")
    print("## What recording costs\n", *cost_table(asked.folder, shapes), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
