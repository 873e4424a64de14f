"""What stands in the way of replaying, what to do about it, and what that is worth (docs/report.md, "What to do next")."""
from pathlib import Path

import kernel_names
import reports
from amounts import count

FEW_CALLS = 16       # between two waits: a graph of so few does not save much
OFTEN = 100          # places that make this part of the calls of the most frequent place are counted beside it
NOTABLE = 0.0005     # of the calls, or of the run: what is less is not worth a line

# For each reason why a call cannot be graphed: what the calls are, what they do, and what to do.
UNFIT = {
    "unknown_parameters": ("kernel calls whose parameters the driver does not tell", "a driver of CUDA 12.4 or newer tells them"),
    "bad_parameters": ("kernel calls with parameters that are missing or of another size", "check the parameters of this call"),
    "attribute": ("kernel calls with an attribute that a graph does not take here", "leave out the attribute if the kernel does not need it"),
    "pageable": ("copies from or to pageable or managed memory", "pin this buffer (cudaHostAlloc, cudaHostRegister; pin_memory in PyTorch)"),
    "between_devices": ("copies between devices on the legacy default stream", "copy on a stream of your own"),
    "launches": ("calls of kernels that may launch kernels", "build this module without the device runtime if it does not need it"),
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


class Obstacle:
    """`name` is the same in all reports; `share` is of all calls; `worth` of the run's time, or None where nothing is known of it."""

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
    """The most frequent call site of these kinds, in a few words; "" if none is known."""
    rows = [row for row in report["call_sites"] if row["kind"] in wanted and (call is None or row["call"] == call)]
    if not rows:
        return ""
    most = max(rows, key=lambda row: row["count"])
    name = most["call"] if most["call"] not in reports.NAMES["unfit"] else ""
    if "library" in most:
        place = f": {kernel_names.short(most['symbol'])}+{most.get('symbol_offset', 0):#x}" if "symbol" in most else f"+{most.get('offset', 0):#x}"
        name += f"{' at ' if name else ''}{Path(most['library']).name}{place}"
    others = sum(row["count"] * OFTEN >= most["count"] for row in rows) - 1
    return name and name + (f" and {count(others)} other place{'s' * (others > 1)}" if others else "")


def unfit(report):
    for name, calls in report["unfit"].items():
        if name in UNFIT and calls:
            what, remedy = UNFIT[name]
            yield reports.unfit(name), calls, Obstacle(what, f"{count(calls)} {what} cut the sequences", where(report, "unfit", call=name), remedy, calls / report["ops"], worth(report, calls, calls, unfit_ns(report, name)))


def exits(report):
    for name, calls in report["exited"].items():
        if calls:
            what, remedy = EXITS[name]
            yield reports.LEFT[name], calls, Obstacle(what, f"{count(calls)} {what}", where(report, "waits", "ends") if name == "barrier" else "", remedy, calls / report["ops"], worth(report, calls))


def of_fates(report):
    """The obstacles that are fates of calls, by those names (reports.py, fates)."""
    return {fate: obstacle for fate, _, obstacle in (*unfit(report), *exits(report))}


def total(report, kind):
    return sum(row["count"] for row in report["call_sites"] if row["kind"] == kind)


def sites(report):
    """Calls that cut sequences, and are not among the ops."""
    waits, ops = total(report, "waits"), report["ops"]
    if waits and ops / waits < FEW_CALLS:
        yield waits, Obstacle("few calls between two waits", f"Only about {ops / waits:.3g} calls come between two waits", where(report, "waits"), "wait less often, or only for what the host reads", report["short_eager"] / ops,
                              worth(report, report["short_eager"], min(waits, report["launches"])))
    for kind, what, remedy in (("allocates", "allocations between calls", "allocate before the loop, or keep what is freed in a pool"),
                               ("orders", "calls that order streams, or that no graph takes,", "let streams fork from one and join it again in each round: that becomes one graph"),
                               ("ends", "calls that free or change what graphs use", "keep memory, streams and events until the loop is over")):
        calls = total(report, kind)
        if calls / ops > NOTABLE:
            yield calls, Obstacle(what, f"{count(calls)} {what} cut the sequences", where(report, kind), remedy, 0, worth(report, 0, min(calls, report["launches"])))


def unlike(report):
    """Calls in which nothing repeats."""
    if report["backed_off"]:
        yield report["backed_off"], Obstacle("calls where nothing repeats", f"{count(report['backed_off'])} calls came where nothing had repeated for long", "", "nothing is to be done: what does not repeat is left eager",
                                             report["backed_off"] / report["ops"], None)


def busy(report):
    """A GPU that is never idle: no graph is built."""
    if report["quiescence_missed"] and not report["graphs_built"] and report["mode"] != "observe":
        yield report["ops"], Obstacle("a GPU that is never idle", "No graph was built, since the GPU had work whenever one was to be", "", "nothing is to be done: a GPU that always has work does not wait for calls",
                                      1, None)


def obstacles(report):
    """All that is worth a line, the most worth first."""
    if not report["ops"]:
        return []
    found = [row[-2:] for row in (*unfit(report), *exits(report), *sites(report), *unlike(report), *busy(report))]
    found = [(calls, one) for calls, one in found if max(one.share, one.worth or 0) >= NOTABLE]
    return [one for _, one in sorted(found, key=lambda pair: (pair[1].worth or 0, pair[1].share, pair[0]), reverse=True)]
