"""What stands in the way of replaying, what to do about it, and what that is worth (docs/report.md, "What to do next")."""
from pathlib import Path

import kernel_names
import reports
from amounts import count

NOWHERE = ("", "")    # a site that is not known
FEW_CALLS = 16       # between two waits: a graph of so few does not save much
OFTEN = 100          # places that make this part of the calls of the most frequent place are counted beside it
NOTABLE = 0.0005     # of the calls, or of the run: what is less is not worth a line
NOTABLE_WORTH = 0.001    # of the run: what is worth less, or nothing that is known, is sorted by its share of the calls
MANY_EAGER = 0.05    # of the calls: fewer that are learnt, measured, backed off or in short sequences belong to any run (guess)
CUDART = "libcudart"    # begins the name of its file, and of its functions where it is linked in: all calls by way of it are made from there
PLACE_BY_OBSERVE = "`reprise observe` names the place"
OBSERVE = "`reprise observe --cupti` measures how long the GPU waits for launches, and no more than that can be gained"

# For each reason why a call cannot be graphed: what the calls are, what they do, and what to do.
UNFIT = {
    "unknown_parameters": ("kernel calls whose parameters the driver does not tell", "a driver of CUDA 12.4 or newer tells them"),
    "bad_parameters": ("kernel calls with parameters that are missing or of another size", "check the parameters of this call"),
    "attribute": ("kernel calls with an attribute that a graph does not take here", "leave out the attribute if the kernel does not need it"),
    "pageable": ("copies from or to pageable or managed memory", "pin this buffer (cudaHostAlloc, cudaHostRegister; pin_memory in PyTorch)"),
    "between_devices": ("copies between devices on the legacy default stream", "copy on a stream of your own"),
    "launches": ("calls of kernels that launch kernels, or may", "with an older driver, build this module without the device runtime if it does not need it"),
    "denied": ("calls of kernels on the deny list", "nothing, if they are NCCL's or NVSHMEM's; otherwise change REPRISE_DENY"),
    "no_lane": ("calls on streams of a green context, or of another context than is current", "use streams of the current context"),
    "host_to_host": ("copies between host memory, which wait until they are done", "copy with memcpy"),
    "refused": ("calls that the driver refuses", "check the addresses and sizes of this call"),
    "empty": ("copies or memsets of no bytes", "leave them out"),
}

OF_COPIES = ("pageable", "between_devices", "host_to_host", "refused", "empty")

EXITS = {
    "guard": ("calls came in another order than before", "keep the order of calls the same in each round"),
    "values": ("calls came with other arguments than before", "keep buffers and sizes for as long as the loop runs"),
    "barrier": ("calls were needed before their sequence was over", "move this call to the end of the round"),
    "hold": ("calls were held back for longer than the limit, since the program paused", "do the host's work outside of the sequence, or raise --hold"),
    "launch": ("calls of graphs that could not be patched or launched", "see what failed in the tables of reprise report"),
}


# Why calls were eager in turns, by their verdict: what they are, what they do, and what to do.
IN_TURNS = {
    "replay": ("were eager to measure the gain", "a longer run has a smaller part of them"),
    "eager": ("were left eager, since replaying gained nothing", OBSERVE),
    "unclear": ("were left eager, since no clear gain was seen", OBSERVE),
    "costly": ("were left eager, since replaying took too much processor time", "if processor time is no matter, `REPRISE_TURNS=0` replays them"),
    "bound": ("were left eager, since the GPU is behind", "make kernels shorter or fewer; launches are not what the program waits for"),
    "undecided": ("were eager to measure the gain, or until a loop was found to measure", "run longer, until there is a verdict; `REPRISE_TURNS=0` replays without measuring"),
    "several": ("were eager to measure the gain, or since nothing was gained", "see the page of each process for its verdict"),
    "no loop": ("were eager, since no loop was found to measure", "make the steps of the loop alike, with a wait in each; `REPRISE_TURNS=0` replays without measuring"),
}


class Obstacle:
    """`name` is the same in all reports; `site` is code and words; `share` is of all calls; `worth` of the run's time, or None where nothing is known of it."""

    def __init__(self, name, what, site, remedy, share, worth):
        self.name, self.what, self.site, self.remedy, self.share, self.worth = name, what, site, remedy, share, worth


def in_graphs_ns(report):
    """What a replayed call costs the program's threads; None if none was replayed."""
    return reports.in_graphs(report) / report["replayed"] if report["replayed"] else None


def eager_ns(report):
    """What a call costs that goes to the driver by itself: the mean of those that were replayed, or else of a kernel."""
    return report["gain"]["replaced_ns"] / report["replayed"] if report["replayed"] else report["gain"]["eager_ns"]["kernel"]


def unfit_ns(report, name):
    """The same of calls that cannot be graphed for this reason."""
    return report["gain"]["eager_ns"]["copy" if name in OF_COPIES else "kernel"]


def is_bound(report):
    return "GPU-bound" in report.get("measured", "")


def worth(report, calls, cuts=0, eager=None):
    """The launch time that so many calls would save in graphs, and so many cuts less, as a part of the run: no more than there is. `eager`: what such a call costs by itself, in ns."""
    wall, graph = report["wall_ns"] * report.get("processes", 1), in_graphs_ns(report)
    if not wall or graph is None or is_bound(report):
        return None
    eager = eager_ns(report) if eager is None else eager
    return min(min(calls * max(eager - graph, 0) + cuts * report["gain"]["launch_ns"], report["launch_time_ns"]) / wall, 1)


def where(report, *wanted, call=None):
    """The most frequent call site of these kinds, as code and the words after it; both are "" if none is known. The place of a call by way of cudart is cudart itself, which says nothing."""
    rows = [row for row in report["call_sites"] if row["kind"] in wanted and (call is None or row["call"] == call)]
    if not rows:
        return "", ""
    most = max(rows, key=lambda row: row["count"])
    name = most["call"] if most["call"] not in reports.NAMES["unfit"] else ""
    library = Path(most.get("library", "")).name
    if any(name_.startswith(CUDART) for name_ in (library, most.get("symbol", ""))):
        return name, PLACE_BY_OBSERVE
    if library:
        most = most | {"symbol": kernel_names.short(most["symbol"])} if "symbol" in most else most
        name += f"{' in ' if name else ''}{library}{reports.place(most)}"
    others = sum(row["count"] * OFTEN >= most["count"] for row in rows) - 1
    return name, f"and {count(others)} other place{'s' * (others > 1)}" if others and name else ""


def unfit(report):
    for name, calls in report["unfit"].items():
        if name in UNFIT and calls:
            what, remedy = UNFIT[name]
            yield reports.unfit(name), calls, Obstacle(what, f"{count(calls)} {what} cut the sequences", where(report, "unfit", call=name), remedy, calls / report["ops"], worth(report, calls, calls, unfit_ns(report, name)))


def exits(report):
    for name, calls in report["exited"].items():
        if calls:
            what, remedy = EXITS[name]
            yield reports.LEFT[name], calls, Obstacle(what, f"{count(calls)} {what}", where(report, "waits", "ends") if name == "barrier" else NOWHERE, remedy, calls / report["ops"], worth(report, calls))


def of_fates(report):
    """The obstacles that are fates of calls, by those names (reports.py, fates)."""
    return {fate: obstacle for fate, _, obstacle in (*unfit(report), *exits(report))}


def total(report, kind):
    return sum(row["count"] for row in report["call_sites"] if row["kind"] == kind)


def waits_often(report):
    return report["ops"] < FEW_CALLS * total(report, "waits")


def sites(report):
    """Calls that cut sequences, and are not among the ops, by the kinds of call sites."""
    waits, ops = total(report, "waits"), report["ops"]
    if waits_often(report):
        yield "waits", waits, Obstacle("few calls between two waits", f"Only about {ops / waits:.{int(ops < 2 * waits)}f} calls come between two waits", where(report, "waits"), "wait less often, or only for what the host reads", report["short_eager"] / ops,
                              worth(report, report["short_eager"], min(waits, report["launches"])))
    for kind, what, remedy in (("allocates", "allocations between calls", "allocate before the loop, or keep what is freed in a pool"),
                               ("orders", "calls that order streams, or that no graph takes,", "let streams fork from one and join it again in each round, which makes them one graph"),
                               ("ends", "calls that free or change what graphs use", "keep memory, streams and events until the loop is over")):
        calls = total(report, kind)
        if calls / ops > NOTABLE:
            yield kind, calls, Obstacle(what, f"{count(calls)} {what} cut the sequences", where(report, kind), remedy, 0, worth(report, 0, min(calls, report["launches"])))


def left_eager(report):
    """Calls that could be part of a graph, and were not: without a cut or an exit to blame for it."""
    ops, turns = report["ops"], report.get("turns", {})
    verdict = turns.get("verdict", "several")
    measured, to_do = IN_TURNS["no loop" if verdict == "undecided" and not turns["turns"] else verdict]
    fates = dict(fate[:2] for fate in reports.fates(report))
    short = 0 if waits_often(report) else report["short_eager"]    # told there
    open_ = verdict in ("undecided", "several")    # otherwise turns have told whether graphs would make them faster
    for calls, name, words, remedy, is_loss in (
            (report["backed_off"], "calls where nothing repeats", "came where nothing had repeated for long", "if steps are alike, keep their calls in the same order; what does not repeat stays eager", False),
            (fates.get(reports.LEARNING, 0), "calls without a graph yet", "came before a graph was ready, or in an order that does not repeat", "run longer, with the same calls in the same order in each step", open_ or verdict == "replay"),
            (report.get("turn_ops", 0), "calls measured eagerly", measured, to_do, open_),
            (short, "short sequences", "came in sequences of one to three, which graphs were not measured to make faster", "let more calls come between two waits, or between calls that order streams", True)):
        if calls >= MANY_EAGER * ops:
            yield calls, Obstacle(name, f"{count(calls)} calls {words}", NOWHERE, remedy, calls / ops, worth(report, calls) if is_loss else None)


def busy(report):
    """A GPU that is never idle: no graph is built."""
    if report["quiescence_missed"] and not report["graphs_built"] and report["mode"] != "observe":
        yield report["ops"], Obstacle("a GPU that is never idle", "No graph was built, since the GPU had work whenever one was to be", NOWHERE, "nothing is to be done: a GPU that always has work does not wait for calls",
                                      1, None)


def value(obstacle):
    """What obstacles are sorted by."""
    return obstacle.worth if (obstacle.worth or 0) >= NOTABLE_WORTH else 0, obstacle.share


def obstacles(report):
    """All that is worth a line, the most worth first."""
    if not report["ops"]:
        return []
    found = [row[-2:] for row in (*unfit(report), *exits(report), *sites(report), *left_eager(report), *busy(report))]
    found = [(calls, one) for calls, one in found if max(one.share, one.worth or 0) >= NOTABLE]
    return [one for _, one in sorted(found, key=lambda pair: (value(pair[1]), pair[0]), reverse=True)]
