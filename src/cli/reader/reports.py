"""Reading reports, and joining those of several processes into one."""
import json
import os
import shutil
import stat
import subprocess
from pathlib import Path
from statistics import median

import schema
from amounts import count, shortened

FORMAT = 3
FILE_MOST = 64 << 20    # bytes
PLACE_MOST = 90     # characters of a function's name
LEARNING = "still learning"    # a fate of calls
PROGRAMS_MOST = 4   # that are named if they differ
ENDED = "the process ends"    # the reason `stopped` of every process that ended by itself
WORDS = ("host", "version", "commit", "gpu_name", "driver_cuda", "driver", "tool", "tool_sign", "aside", "recording_ended", "difference", "stopped", "measured")
TEXTS_MOST = 3      # that are told of processes that differ,
TEXT_MOST = 70      # characters of each
USUAL_SPREADS = 5      # further from the middle than so many usual distances is an outlier,
NOTABLE_SPREAD = 0.05  # if by more than so much of the middle
SUMMED = ("made", "replays", "ops", "eager_ns", "patched", "node_updates", "updates", "exited_ops", "graph_bytes")    # of sequences that are alike
KERNEL_NS = 1000    # assumed for a kernel that was not measured: the shortest on an H200
NAMES = json.loads((Path(__file__).parent / "names.json").read_text())

COSTS = {"node_set": "setting a node", "capture": "capturing a call anew", "update": "updating a node", "build": "building a node", "launch": "launching a graph"}    # as shown
UNFIT = {"no_lane": "stream not followed", "launches": "may launch kernels", "first": "first launch", "empty": "no bytes", "refused": "refused by the driver", "attribute": "launch attribute"}    # likewise
LEFT = NAMES["exit_words"]    # reasons of side exits as shown; in the report guard, values, ...


class NoReport(Exception):
    """The reason why a file is not a report."""


def no_such_number(text):
    raise ValueError(f"{text} is no number")


def load(path):
    """The checked report of a file, with the path of the file."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise NoReport(f"{path}: is no plain file")
            if status.st_size > FILE_MOST:
                raise NoReport(f"{path}: is too large for a report")
            report = json.loads(file.read(), parse_constant=no_such_number)
    except OSError as error:
        raise NoReport(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise NoReport(f"{path}: is no JSON: {error}") from None
    if not isinstance(report, dict) or "ops" not in report:
        raise NoReport(f"{path}: is no report of Reprise")
    if report.get("format") != FORMAT:
        raise NoReport(f"{path}: is a report of another version of Reprise (format {str(report.get('format', 1))[:20]}, not {FORMAT})")
    problem = schema.wrong(report)
    if problem:
        raise NoReport(f"{path}: is no report of this version of Reprise: {problem}")
    return report, (status.st_dev, status.st_ino)


def files_of(path, problems):
    """The file, or all reports of a folder except drafts."""
    if not path.is_dir():
        return [path]
    try:
        names = sorted(name for name in os.listdir(path) if ".json" in name and not name.endswith(".part"))
    except OSError as error:
        problems.append(f"{path}: cannot be read: {error.strerror}")
        return []
    if not names:
        problems.append(f"{path}: there is no report in this folder")
    return [path / name for name in names]


def identity(report):
    """Identifies the process of a report."""
    return report["host"], report["pid"], report["started"]


class Gathered:
    """Reports that can be joined: all of one mode, and one of each process. The mode is off only if there is no other."""

    def __init__(self):
        self.reports, self.problems, self.paths, self.files, self.off = [], [], {}, set(), []

    def add(self, path):
        try:
            report, file = load(path)
        except NoReport as problem:
            self.problems.append(str(problem))
            return
        if report["mode"] == "off":
            self.off.append((path, report, file))
        else:
            self.join(path, report, file)

    def join_off(self):
        for path, report, file in self.off:
            self.join(path, report, file)

    def join(self, path, report, file):
        before = self.paths.get(identity(report))
        if file in self.files:
            self.problems.append(f"{path}: is counted once, though it is named twice")
        elif before is not None:
            self.problems.append(f"{path}: is of the same process as {before}, and not counted")
        elif self.reports and report["mode"] != self.reports[0]["mode"]:
            self.problems.append(f"{path}: is of mode {report['mode']}, and {next(iter(self.paths.values()))} is of mode {self.reports[0]['mode']}: not counted")
        else:
            self.reports.append(report)
            self.paths[identity(report)] = path
            self.files.add(file)


def load_all(paths):
    """All reports of these files and folders, by rank; and the reasons why others are left out."""
    gathered = Gathered()
    for path in map(Path, paths):
        for file in files_of(path, gathered.problems):
            gathered.add(file)
    gathered.join_off()
    gathered.reports.sort(key=lambda report: (report.get("rank", float("inf")), report["started"], report["pid"]))
    return gathered.reports, gathered.problems, gathered.files


def is_snapshot(report):
    return report.get("complete") is False


def program(report):
    return " ".join(report["command"]) or "?"


def who(report):
    """A process among others, in a few words."""
    return f"rank {report['rank']}" if "rank" in report else f"process {report['pid']}"


# ---- joining ----

def is_longest(name):
    return name.endswith("_longest_ns") or name in ("hold_begun_ns", "recovery_ops", "wall_ns", "node_bytes")


def join(reports):
    """One report for all: sums, or the maximum for durations called longest."""
    if len(reports) == 1:
        return reports[0]
    joined = dict(reports[0]) | {name: joined_words(reports, name) for name in WORDS if any(name in report for report in reports)}
    joined["started"], joined["written"] = min(report["started"] for report in reports), max(report.get("written", report["started"]) for report in reports)
    joined["command"] = joined_commands(reports)
    joined["options"] = joined_options([report.get("options", {}) for report in reports])
    for name, value in joined.items():
        if isinstance(value, int) and not isinstance(value, bool) and name not in ("pid", "format", "rank"):
            joined[name] = (max if is_longest(name) else sum)(report.get(name, 0) for report in reports)
    for name in ("exits", "exited", "unfit", "kinds"):
        joined[name] = {key: sum(report[name][key] for report in reports) for key in joined[name]}
    joined["cost_ns"] = {key: mean(report["cost_ns"][key] for report in reports) for key in joined["cost_ns"]}
    joined["cost_assumed"] = sorted({name for report in reports for name in report["cost_assumed"]})
    joined["gain"] = join_gains([report["gain"] for report in reports])
    joined["trace_rows"] = [named_sequence(row, report) | {"who": who(report)} for report in reports for row in report["trace_rows"]]
    joined["trace_rest"] = sum_rows([report["trace_rest"] for report in reports])
    joined["lane_rows"] = [row | {"who": who(report)} for report in reports for row in report["lane_rows"]]
    joined["kernels"] = sum_by(reports, "kernels", ("name",), ("watched", "replayed"))
    for row in joined["kernels"]:
        row.pop("number", None)
    joined["call_sites"] = sum_by(reports, "call_sites", ("kind", "call", "library", "offset"), ("count",))
    if all("gpu" in report for report in reports):
        joined["gpu"] = join_gpus([report["gpu"] for report in reports])
    joined["share"] = join_shares([report["share"] for report in reports if "share" in report])
    joined["histograms"] = {name: join_histogram([report["histograms"][name] for report in reports]) for name in joined["histograms"]}
    joined["processes"] = len(reports)
    joined["runs_ns"] = sum(report["wall_ns"] for report in reports)
    joined["complete"] = not any(map(is_snapshot, reports))
    joined["outliers"] = outliers_of(reports)
    for name in ("rank", "rank_variable", "pid", "turns"):
        joined.pop(name, None)
    return joined


def joined_words(reports, name):
    """The different texts, each once, or the first of many. That a process ended is left out if another gives a reason. What was measured is each process's own: the least gains come first."""
    if name == "measured":
        reports = sorted(reports, key=lambda report: report.get("turns", {}).get("gain", 0))
    first = {}
    for report in reports:
        if name in report:
            first.setdefault(report[name], report)
    words = [word for word in first if word != ENDED] or list(first)
    if len(words) == 1:
        return words[0]
    return few([f"{who(first[word])}: {word}" if name == "measured" else word for word in words], "; ")


def few(texts, between):
    """A few of them, shortened, and how many more there are."""
    return between.join(shortened(text, TEXT_MOST) for text in texts[:TEXTS_MOST]) + (f"{between}and {len(texts) - TEXTS_MOST} more" if len(texts) > TEXTS_MOST else "")


def joined_commands(reports):
    """The common command, or else the names of the programs."""
    commands = [report["command"] for report in reports]
    if all(command == commands[0] for command in commands):
        return commands[0]
    names = list(dict.fromkeys(Path(command[0]).name if command else "?" for command in commands))
    return [", ".join(names[:PROGRAMS_MOST]) + (f" and {len(names) - PROGRAMS_MOST} more" if len(names) > PROGRAMS_MOST else "")] if len(names) > 1 else names


def joined_options(each):
    """The common value of each option, or all its values."""
    names = dict.fromkeys(name for options in each for name in options)
    return {name: joined_option([options[name] for options in each if name in options]) for name in names}


def joined_option(each):
    if all(option == each[0] for option in each):
        return each[0]
    values, origins = (list(dict.fromkeys(str(option[key]) for option in each)) for key in ("value", "from"))
    return {"value": few(values, " / "), "from": " / ".join(origins)}


def named_sequence(row, report):
    """The row of a trace, the kernels of its sequence by their names: numbers are of one process."""
    names = {kernel["number"]: kernel["name"] for kernel in report["kernels"] if "number" in kernel}
    if "sequence" not in row:
        return row
    return row | {"sequence": [{key: value for key, value in op.items() if key != "kernel"} | ({"name": names[op["kernel"]]} if op.get("kernel") in names else {})
                               for op in row["sequence"]]}


def join_gpus(gpus):
    """Measurements of all processes, added: each has a GPU of its own, or takes turns."""
    joined = {name: sum(gpu[name] for gpu in gpus) for name in ("kernels", "busy_ns", "span_ns", "dropped")}
    return joined | {"rows": sum_by(gpus, "rows", ("name",), ("launches", "ns"))}


def mean(values):
    values = list(values)
    return round(sum(values) / len(values))


def join_gains(gains):
    joined = {name: sum(gain[name] for gain in gains) for name in gains[0] if name not in ("eager_ns", "eager_assumed", "launch_ns")}
    joined["eager_ns"] = {kind: mean(gain["eager_ns"][kind] for gain in gains) for kind in gains[0]["eager_ns"]}
    joined["eager_assumed"] = sorted({kind for gain in gains for kind in gain["eager_assumed"]})
    joined["launch_ns"] = mean(gain["launch_ns"] for gain in gains)
    for name in ("eager_measured", "launch_measured"):
        joined[name] = all(gain[name] for gain in gains)
    return joined


def sum_rows(rows):
    return {name: sum_rows([row[name] for row in rows]) if isinstance(value, dict) else sum(row[name] for row in rows)
            for name, value in rows[0].items()}


def sum_by(reports, table, keys, amounts):
    """The rows of a table of all reports; rows with equal keys are added."""
    rows = {}
    for row in (row for report in reports for row in report[table]):
        there = rows.setdefault(tuple(row.get(key) for key in keys), dict(row) | dict.fromkeys(amounts, 0))
        for amount in amounts:
            there[amount] += row[amount]
    return list(rows.values())


def join_shares(shares):
    """Intervals are powers of two times the shortest, so shorter ones fall into the longest in whole; each process counts from its own start."""
    interval = max((share["interval_ns"] for share in shares), default=1)
    joined = {"interval_ns": interval}
    for name in ("ops", "replayed"):
        joined[name] = [0] * max((-(-len(share[name]) * share["interval_ns"] // interval) for share in shares), default=0)
        for share in shares:
            for i, value in enumerate(share[name]):
                joined[name][i * share["interval_ns"] // interval] += value
    return joined


def join_histogram(histograms):
    """Processes measure their clocks, so their bounds may differ by a little: buckets are put together by what they are nearest to."""
    buckets = {}
    for begin, end, number in (bucket for histogram in histograms for bucket in histogram):
        near = next((key for key in buckets if abs(key - begin) <= (end - begin) / 2), begin)
        first = buckets.setdefault(near, [begin, end, 0])
        first[2] += number
    return [buckets[key] for key in sorted(buckets)]


# ---- processes beside each other ----

def outliers(values):
    """For each value whether it lies far from the middle."""
    middle = median(values)
    usual = median(abs(value - middle) for value in values)
    return [len(values) > 2 and abs(value - middle) > max(USUAL_SPREADS * usual, NOTABLE_SPREAD * abs(middle)) for value in values]


def held_together(reports):
    """What processes of a job are held against each other by: the values of all, by name."""
    held = {"replayed": [100 * report["replayed"] / report["ops"] if report["ops"] else 0 for report in reports], "launch time": [report["launch_time_ns"] for report in reports]}
    if all("turns" in report and report["turns"]["gain"] > 0 for report in reports):
        held["gain"] = [report["turns"]["gain"] for report in reports]
    return held


def outliers_of(reports):
    """The processes that are outliers, and in what."""
    far = {name: outliers(values) for name, values in held_together(reports).items()}
    found = [(report, [name for name in far if far[name][i]]) for i, report in enumerate(reports)]
    return [{name: report[name] for name in ("rank", "host", "pid") if name in report} | {"in": names} for report, names in found if names]


# ---- derived values ----

def done(report, word):
    """The word for what Reprise did, or in observe would have done."""
    return f"would be {word}" if report["mode"] == "observe" else word


def gained(report):
    """What came of it: the word, and how much, never less than nothing."""
    return done(report, "lost" if report["saved_ns"] < 0 else "saved"), abs(report["saved_ns"])


def unfit_reason(name):
    """The reason in two or three words; the report's name of it where that says as much."""
    return UNFIT.get(name, name.replace("_", " "))


def unfit(name):
    """The fate of calls that cannot be graphed for this reason."""
    return f"cannot be graphed: {unfit_reason(name)}"


def fates(report):
    """The fates of the ops, as (name, ops, meaning). All but the first are eager."""
    yield done(report, "replayed"), report["replayed"], done(report, "issued as nodes of graphs")
    for name, ops in report["exited"].items():
        yield LEFT[name], ops, NAMES["exits"][name]
    for name, ops in report["unfit"].items():
        yield unfit(name), ops, NAMES["unfit"][name]
    yield "backed off", report["backed_off"], "eager, and not looked at, since nothing had repeated"
    yield "short sequences", report["short_eager"], "eager, since graphs of one to three calls, or of copies alone, were not measured to gain"
    yield "measured eagerly", report.get("turn_ops", 0), "eager, to look for a loop, to measure what replaying gains, or because it gained nothing"
    known = report.get("turn_ops", 0) + report["replayed"] + report["exited_ops"] + sum(report["unfit"].values()) + report["backed_off"] + report["short_eager"]
    yield LEARNING, max(report["ops"] - known, 0), "eager: no repeating sequence was known yet, or its graph was not ready, or put aside"


def beside(report):
    """Launches that are not among the ops, as (name, launches, meaning)."""
    for counter, name in (("paused_ops", "while off"), ("nvtx_ops", "in NVTX ranges that are eager"), ("eager_capturing", "while the program captured"), ("eager_stopped", "after Reprise had stopped")):
        if report.get(counter):
            yield name, report[counter], NAMES["counters"][counter].partition(";")[0]  # what follows names a key of the report


def machine(report):
    """GPU, driver and version of Reprise in one line; unknown parts are left out."""
    parts = [f"Reprise {report['version']} (commit {report['commit']})" if "version" in report and "commit" in report else "", f"mode {report['mode']}", report.get("gpu_name", ""),
             f"driver {report['driver']}" if "driver" in report else "", f"CUDA {report['driver_cuda']}" if "driver_cuda" in report else ""]
    return ", ".join(part for part in parts if part)


def given_options(report):
    """The options that are not as they are by default, in a line, but for those that the mode and this report come of; "" where nobody knows."""
    if not report.get("options"):
        return ""
    given = {}
    for name, option in report["options"].items():
        for origin in option["from"].split(" / ") if name not in ("REPRISE", "REPRISE_REPORT") else ():
            given.setdefault(origin, []).append(f"{name}={option['value']}")
    words = {origin: ", ".join(listed) for origin, listed in given.items()}
    parts = [f"options from the environment: {words.get('environment', 'none')}", f"from the command line: {words['command']}" if "command" in words else "",
             *(f"from {origin}: {words[origin]}" for origin in sorted(words) if origin.startswith("/"))]
    return "; ".join(part for part in parts if part)


def in_graphs(report):
    """What the replayed calls took of the program's threads, by the model's account."""
    return sum(report["gain"][part] for part in ("launches_ns", "patches_ns", "exits_ns", "defers_ns"))


def break_even(report):
    """The number of launches after which a graph has saved its building time; None if it never does."""
    launches = report["launches"]
    if report["saved_ns"] <= 0 or not launches:
        return None
    return max(1, round(report["gain"]["build_ns"] / graphs(report) / (report["saved_ns"] / launches)))


def run_ns(report):
    """The duration of the run; of several processes, of all their runs."""
    return report.get("runs_ns", report["wall_ns"])


def kernels_were_measured(report):
    return report.get("gpu", {}).get("kernels", 0) > 0


def kernel_ns(report):
    """The duration of a kernel, measured by CUPTI or assumed."""
    return report["gpu"]["busy_ns"] / report["gpu"]["kernels"] if kernels_were_measured(report) else KERNEL_NS


def shorter(report):
    """
    What the run would get shorter by, in nanoseconds (docs/report.md, "Gain"); None where that cannot be told. Of the ops between two waits, all alike: it takes
    the host so long to launch them, and the last to run; or it takes the GPU so long to run them, and the first to be launched, whichever is longer.
    """
    gain, replayed = report["gain"], report["replayed"]
    seen = gain["firsts"] + gain["pauses"]
    if not replayed or not seen or not report["launches"]:    # a snapshot may be taken between two counts
        return None
    ops = seen / max(gain["firsts"], 1)
    together = min(replayed / report["launches"], ops)
    kernel, eager = kernel_ns(report), gain["replaced_ns"] / replayed
    graph = in_graphs(report) / replayed
    between = max(gain["pauses_ns"] / max(gain["pauses"], 1) - eager, 0)

    def takes(launch, at_once):
        """The duration for this time per launch and this many ops per launch."""
        return max(ops * launch + (ops - 1) * between + at_once * kernel, at_once * launch + (at_once - 1) * between + ops * kernel)

    return round(replayed / ops * (takes(eager, 1) - takes(graph, together)))


def graphs(report):
    """The number of graphs built; in observe, the number that would be."""
    return report["graphs_built"] or report["traces"] or 1


def launches_of(row, report):
    """What launching a trace's graph has taken of the program's threads, by the mean of all launches: many are the launch thread's, and take nothing of them."""
    return round(row["replays"] * report["gain"]["launches_ns"] / max(report["launches"], 1))


def saved_by(row, report):
    """The saving of a trace without patches and side exits, which are not known per trace."""
    return row["eager_ns"] - launches_of(row, report)


def alike(rows):
    """One row for all sequences of the same calls, grids and bytes in one stream, added: layers of a network are told apart by their buffers alone. `alike`: how many there are."""
    kinds = {}
    for i, row in enumerate(rows):
        key = i if "sequence" not in row else json.dumps([row.get("who"), row["lane"], row["length"], row["sequence"]])
        there = kinds.setdefault(key, row | dict.fromkeys(SUMMED, 0) | {"exits": dict.fromkeys(row["exits"], 0), "alike": 0, "live": False})
        there |= {name: there[name] + row[name] for name in SUMMED} | {"exits": {name: there["exits"][name] + row["exits"][name] for name in row["exits"]}, "alike": there["alike"] + 1, "live": there["live"] or row["live"]}
    return list(kinds.values())


def biggest(rows, key, most):
    return sorted(rows, key=lambda row: row[key], reverse=True)[:most]


def place(row):
    """The function with its offset, or the offset in the library."""
    return f": {row['symbol']}+{row.get('symbol_offset', 0):#x}" if "symbol" in row else f"+{row.get('offset', 0):#x}"


def call_site(row):
    """The call site: library and offset, the function if known, and the function of the runtime API."""
    if "library" not in row:
        return "(not known)"
    short = row | {"symbol": shortened(row["symbol"], PLACE_MOST)} if "symbol" in row else row
    return Path(row["library"]).name + place(short) + (f", by {row['runtime']}" if "runtime" in row else "")


def call_site_words(report):
    """The meaning of a call site in a report of this mode."""
    words = "the call site is where the program's call returns to" + ("" if report["mode"] == "observe" else "; by way of cudart, that is in cudart, and reprise observe names the program's own")
    return words + ("; a snapshot tells no call site" if is_snapshot(report) else "")


def readable(names):
    """C++ names demangled, if c++filt is installed; others unchanged."""
    names = list(names)
    if names and shutil.which("c++filt"):
        try:
            lines = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, timeout=10).stdout.splitlines()
        except (OSError, subprocess.TimeoutExpired):
            lines = []
        if len(lines) == len(names):
            return dict(zip(names, lines))
    return {name: name for name in names}


def name_functions(report):
    """The report with the names of kernels and of call sites made readable."""
    rows = report["kernels"] + report.get("gpu", {}).get("rows", [])
    sites = [row for row in report["call_sites"] if "symbol" in row]
    names = readable({row["name"] for row in rows} | {row["symbol"] for row in sites})
    for row in rows:
        row["name"] = names[row["name"]]
    for row in sites:
        row["symbol"] = names[row["symbol"]]
    for row in report["trace_rows"]:
        for key in ("first", "last"):
            if key in row:
                row[key] = names.get(row[key], row[key])
        for op in row.get("sequence", ()):
            if "name" in op:
                op["name"] = names.get(op["name"], op["name"])
    return report
