"""Reports as text."""
from datetime import datetime

import judgement
import kernel_names
import reports
import words
from amounts import count, duration, of_launches, share, shortened, size

TRACES_MOST = 12
KERNELS_MOST = 10
NAME_MOST = 44      # characters
KERNEL_MOST = 90
MARK = "!"    # of an outlier
CUTS = {"waits": "ends a sequence", "orders": "ends the sequence of its stream", "ends": "ends a sequence, and frees or changes what it may use", "allocates": "allocates between launches",
        "unfit": "is eager, and ends the sequence of its stream"}


def table(title, heads, rows):
    """Aligned columns. A head with < is for a column of words, other columns have figures."""
    rows = [[str(cell) for cell in row] for row in rows]
    if not rows:
        return ""
    left = [head.startswith("<") for head in heads]
    heads = [head.lstrip("<") for head in heads]
    widths = [max(len(row[i]) for row in [heads, *rows]) for i in range(len(heads))]

    def line(cells):
        return ("  " + "  ".join(cell.ljust(width) if to_left else cell.rjust(width) for cell, width, to_left in zip(cells, widths, left))).rstrip()

    return "\n".join([title, *([line(heads)] if any(heads) else []), *map(line, rows)]) + "\n"


def when(report):
    return datetime.fromtimestamp(report["started"]).strftime("%Y-%m-%d %H:%M:%S")


def head(report):
    how = "".join(f"{line}\n" for line in (reports.machine(report), reports.given_options(report)) if line)
    if "processes" in report:
        return f"{report['processes']} processes of {reports.program(report)}\n{how}"
    rank = f", rank {report['rank']} ({report['rank_variable']})" if "rank" in report else ""
    return (f"{reports.program(report)}\n"
            f"process {report['pid']} on {report['host']}{rank}, {when(report)}, {duration(report['wall_ns'])} from its first CUDA call\n{how}")


def verdict(report):
    """The main result in one sentence."""
    if report.get("aside"):
        return f"Reprise stood aside for {report['tool']}: {report['aside']}."
    if report["mode"] == "off":
        return "Reprise was off, by REPRISE=off in the environment: nothing is known of the launches."
    would = "would be" if report["mode"] == "observe" else "were"
    text = f"{share(report['replayed'], report['ops'])} of {of_launches(report['ops'])} {would} replayed" if report["ops"] else "No launches were seen"
    if "measured" in report:
        text += f"; {report['measured']}"
    elif report["mode"] != "observe" and report["replayed"]:    # what graphs would make of an observed run is told first (observed.py)
        text += "; gain not measured"
    if report["paused_ops"]:
        text += f"; {count(report['paused_ops'])} more came while Reprise was off"
    if report.get("nvtx_ops"):
        text += f"; {count(report['nvtx_ops'])} more came in NVTX ranges that are eager"
    if report.get("difference"):
        text += f". verify found a difference: {report['difference']}"
    if report.get("stopped") not in (None, reports.ENDED):
        text += f". Nothing was replayed any more after: {report['stopped']}"
    return text + "." + snapshot(report)


def snapshot(report):
    """A note if there may have been more."""
    if not reports.is_snapshot(report):
        return ""
    return " Processes ended before their last report: their last snapshots are shown." if "processes" in report else " A snapshot: the process ran on, or ended before its last report."


def expected_head(report):
    """In observe, what replaying is expected to save."""
    return [reports.done(report, "saved")] if report["mode"] == "observe" else []


def expected(report):
    return [duration(report["saved_ns"])] if report["mode"] == "observe" else []


def ranks(each, joined):
    held = reports.held_together(each)
    far = {name: reports.outliers(values) for name, values in held.items()}

    def row(name, host, report, marks=()):
        def marked(name, shown):
            return f"{MARK} {shown}" if name in marks else shown

        gain = [marked("gain", judgement.times(report["turns"]["gain"])) if "turns" in report else ""] if "gain" in held else []
        return (name, host, report.get("pid", ""), count(report["ops"]), marked("replayed", share(report["replayed"], report["ops"])), marked("launch time", duration(report["launch_time_ns"])),
                *expected(report), *gain, count(report["traces"]), duration(report["hold_longest_ns"]), size(report["graph_bytes_most"]))

    heads = ("<", "<host", "pid", "launches", reports.done(joined, "replayed"), "launch time", *expected_head(joined), *(["gain"] if "gain" in held else []), "sequences", "longest deferral", "graph memory")
    rows = [row(f"rank {one['rank']}" if "rank" in one else "", one["host"], one, [name for name in far if far[name][i]]) for i, one in enumerate(each)]
    text = table("Processes", heads, [*rows, row("all", "", joined)])
    return text + (f"  {MARK} marks an outlier: {words.TERMS['outlier'][:1].lower()}{words.TERMS['outlier'][1:]}\n" if any(map(any, far.values())) else "")


def fates(report):
    ops = report["ops"]
    rows = [(name, count(number), share(number, ops), meaning) for name, number, meaning in reports.fates(report) if number]
    rows += [(f"({name})", count(number), "", meaning) for name, number, meaning in reports.beside(report)]
    return table("What happened to each call", ("<", "calls", "share", "<"), rows)


def means(row):
    """How a trace's graph was patched."""
    names = (("node_updates", "set"), ("updates", "updated"))
    return ", ".join(f"{count(row[key])} {word}" for key, word in names if row[key])


def exits(row):
    return ", ".join(f"{reports.LEFT[name]} {count(number)}" for name, number in row["exits"].items() if number)


def traces(report):
    rows = [row for row in reports.biggest(reports.alike(report["trace_rows"]), "ops", TRACES_MOST) if row["ops"] or row["exited_ops"]]
    told = [(row.get("who", ""), row["lane"], row["length"], count(row["alike"]), count(row["replays"]), share(row["ops"], report["ops"]),
             duration(row["eager_ns"]), means(row) or "-", exits(row) or "-", size(row["graph_bytes"]) if row["live"] else "freed",
             " → ".join(dict.fromkeys(shortened(kernel_names.bare(row.get(key, "-")), NAME_MOST) for key in ("first", "last")))) for row in rows]
    text = table("Biggest sequences", ("<", "stream", "length", "alike", "replays", "of calls", "eager", "<nodes patched", "<early exits", "memory", "<first → last kernel"), told)
    others = len(report["trace_rows"]) - sum(row["alike"] for row in rows) + report["trace_rest"]["made"]
    if others and not rows:
        return f"Sequences that repeat: {count(others)}; none was replayed\n"
    return text + (f"  and {count(others)} more\n" if others else "")


def eager_assumed(report):
    """The kinds of calls that the process made, and whose cost was not measured in it."""
    return [kind for kind in report["gain"]["eager_assumed"] if report["kinds"][kind]]


def assumed(report):
    """The costs that were not measured in the process, of what it did, in words; "" if all were."""
    eager = [f"an eager {kind}" for kind in eager_assumed(report)]
    return "; ".join([*eager, *(reports.COSTS.get(name, name.replace("_", " ")) for name in report["cost_assumed"] if name != "eager")])


def gain(report):
    """The model's account of the replayed calls: what they would have taken eagerly, and what graphs took. What came of that, turns measure."""
    amounts = report["gain"]
    measured = "as measured" if amounts["eager_measured"] else "assumed: as on an H200"
    launched = "as measured" if amounts["launch_measured"] else "assumed: as on an H200"
    rows = [("eager, expected", duration(amounts["replaced_ns"]), f"{duration(amounts['eager_ns']['kernel'])} a kernel, {measured}"),
            ("graph launches", duration(amounts["launches_ns"]), f"{duration(amounts['launch_ns'])} each, {launched}"),
            ("patching them", duration(amounts["patches_ns"]), ""),
            ("early exits", duration(amounts["exits_ns"]), "beside issuing"),
            ("per-call overhead", duration(amounts["defers_ns"]), "assumed: 60 ns a call"),
            ("in graphs", duration(reports.in_graphs(report)), "by the program's threads"),
            ("building graphs", duration(amounts["build_ns"]), "in the background")]
    text = table("Launch time of the replayed calls", ("<", "time", "<"), rows)
    return text + (f"  assumed, as on an H200, since nothing was measured: {assumed(report)}\n" if assumed(report) else "")


def stalls(report):
    rows = [("waited too long (hold limit)", count(report["hold_flushes"]), f"{count(report['hold_overruns'])} of them issued later than the limit"),
            ("longest deferral, until issuing began", duration(report["hold_begun_ns"]), ""),
            ("longest deferral, until all was issued", duration(report["hold_longest_ns"]), ""),
            ("longest that a call waited for Reprise", duration(report["wait_longest_ns"]), "a lock, or the building thread"),
            ("longest capture, instantiation, upload", " / ".join(duration(report[f"{what}_longest_ns"]) for what in ("capture", "instantiate", "upload")),
             "in the background; calls may wait for the driver meanwhile"),
            ("graphs built", count(report["graphs_built"]), f"{count(report['graph_nodes'])} node{'s' * (report['graph_nodes'] != 1)} in {duration(report['build_ns'])}"),
            ("builds put off", count(report["quiescence_missed"]), "the GPU was busy"),
            ("graph memory, at most", size(report["graph_bytes_most"]), f"on the host {size(report['host_bytes_most'])}")]
    return table("Deferral, stalls, building", ("<", "", "<"), rows)


def troubles(report):
    names = [name for name in reports.NAMES["counters"] if "failed" in name or name.startswith("refused") or name in ("rebuilds", "memory_shortages")]
    names = [name for name in names if report[name]]
    return table("What failed (and was done eagerly)", ("<", ""), [(reports.NAMES["counters"][name].rstrip(":"), count(report[name])) for name in names])


def kernels(report):
    rows = sorted(report["kernels"], key=lambda row: row["watched"] + row["replayed"], reverse=True)[:KERNELS_MOST]
    return table("Kernels", ("launches", reports.done(report, "replayed"), "<"),
                 [(count(row["watched"] + row["replayed"]), share(row["replayed"], row["watched"] + row["replayed"]), kernel_names.told(row["name"], KERNEL_MOST)) for row in rows])


def once_in(report, row):
    """In how many launches the call comes once."""
    return f"once in {of_launches(max(round(report['ops'] / row['count']), 1))}"


def what(row):
    """The call, or why it cannot be graphed."""
    return reports.unfit_reason(row["call"]) if row["kind"] == "unfit" else row["call"]


def call_sites(report, kinds, most):
    """The most frequent ones of these kinds."""
    return [row for row in reports.biggest(report["call_sites"], "count", len(report["call_sites"])) if row["kind"] in kinds and row["count"]][:most]


def cuts(report):
    """The call sites that cut sequences, with how often and how."""
    return [(f"{count(row['count'])} x", once_in(report, row), what(row), CUTS[row["kind"]], reports.call_site(row))
            for row in call_sites(report, ("waits", "orders", "ends", "unfit"), 10)]


def whole(each):
    """The report of one process, or of several joined."""
    joined = reports.name_functions(reports.join(each))
    parts = [head(joined) + verdict(joined) + "\n", ranks(each, joined) if len(each) > 1 else "", fates(joined)]
    if joined["mode"] == "on" and joined["ops"]:
        parts += [traces(joined), gain(joined), stalls(joined), troubles(joined)]
    parts += [kernels(joined), table(f"What stands in the way, or cuts sequences ({reports.call_site_words(joined)})", ("", "<", "<call", "<", "<returns to"), cuts(joined))]
    return "\n".join(part for part in parts if part)
