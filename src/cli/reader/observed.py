"""The text that `reprise observe` prints: what would be replayed, the gain, and the obstacles."""
import reports
import tables
from amounts import count, duration, of_launches, share, shortened

SEQUENCES_MOST = 8
KERNEL_US = (1, 2, 5, 10, 20)  # assumed durations of a kernel, if none was measured


def idle(report, kernel_ns):
    """
    How long the GPU would wait between launches if each op took so long on it: where the next call came back later than that after the last, the
    rest is waited for; up to an eager launch's own time of it is the launch's fault, and what is more the program's. Stretches over which the
    program waited for the GPU are not counted. That the GPU may still be behind from before is not seen, so this is too much rather than too little.
    """
    eager = report["gain"]["eager_ns"]["kernel"]
    waits = [(max((begin + end) / 2 - kernel_ns, 0), number) for begin, end, number in report["histograms"]["interval"]]
    return sum(wait * number for wait, number in waits), sum(min(wait, eager) * number for wait, number in waits)


def summary(report):
    wall, launching = report["wall_ns"], report["launch_time_ns"]
    measured = "measured" if report["gain"]["eager_measured"] else "assumed, since nothing was measured"
    rows = [("launches", count(report["ops"]), f"{duration(launching / max(report['ops'], 1))} each ({measured})"),
            ("their time on the program's threads", duration(launching), f"{share(launching, wall)} of the run of {duration(wall)}"),
            ("would be replayed", count(report["replayed"]), f"{share(report['replayed'], report['ops'])}, by {count(report['launches'])} graph launches")]
    saved, even = report["saved_ns"], reports.break_even(report)
    if saved > 0:
        rows += [("expected gain", duration(saved), f"of launch time, {share(saved, wall)} of the run at most"), *run_shorter(report)]
    elif saved < 0:
        rows.append(("expected loss", duration(-saved), f"more than launching eagerly, {share(-saved, wall)} of the run"))
    else:
        rows.append(("expected gain", "none", ""))
    if even:
        rows.append(("break-even", of_launches(even), f"of a graph; building {count(report['traces'])} takes about {duration(report['gain']['build_ns'])} in the background"))
    if tables.assumed(report):
        rows.append(("assumed", "", f"as on an H200: {tables.assumed(report)}"))
    return tables.table("What it does", ("<", "", "<"), rows)


def run_shorter(report):
    """A row with the estimated duration of the run under Reprise; no row if there is no estimate."""
    gained = reports.shorter(report)
    if gained is None:
        return []
    wall, kernel = report["wall_ns"], duration(reports.kernel_ns(report))
    left = max(wall - max(gained, 0), 1)
    words = f"with kernels of {kernel}, as measured" if reports.kernels_were_measured(report) else f"if kernels take {kernel}; run with --cupti to measure"
    return [("estimate of the run", f"{duration(wall)} → {duration(left)}", f"{wall / left:.2f} x {words}")]


def measured(report):
    """The measurements of CUPTI, as rows (what, duration, share)."""
    gpu = report["gpu"]
    kernel = gpu["busy_ns"] / max(gpu["kernels"], 1)
    launches = min(idle(report, kernel)[1], gpu["span_ns"] - gpu["busy_ns"])
    rows = [("from the first kernel to the last", duration(gpu["span_ns"]), f"{count(gpu['kernels'])} kernels" +
             (f", {count(gpu['dropped'])} more were lost" if gpu["dropped"] else "")),
            ("at least one ran", duration(gpu["busy_ns"]), share(gpu["busy_ns"], gpu["span_ns"])),
            ("none ran", duration(gpu["span_ns"] - gpu["busy_ns"]), share(gpu["span_ns"] - gpu["busy_ns"], gpu["span_ns"])),
            ("of it for launches", duration(launches), f"estimated, for kernels of {duration(kernel)}")]
    return rows


def longest_kernels(report):
    rows = reports.biggest(report["gpu"]["rows"], "ns", tables.KERNELS_MOST)
    return [(duration(row["ns"]), count(row["launches"]), duration(row["ns"] / max(row["launches"], 1)), shortened(row["name"], 90)) for row in rows]


def idles(report):
    if "gpu" in report:
        return "\n".join((tables.table("The GPU, measured by CUPTI", ("<", "", "<"), measured(report)),
                          tables.table("Kernels on the GPU", ("in all", "launches", "each", "<"), longest_kernels(report))))
    if not report["histograms"]["interval"]:
        return ""
    rows = []
    for us in KERNEL_US:
        waits, launches = idle(report, us * 1000)
        rows.append((f"{us} us", duration(waits), duration(launches)))
    return tables.table("How long the GPU waits between launches: an estimate from the pauses on the host, for kernels that take", ("", "it waits", "of it for launches"),
                        rows)


def sequences(report):
    rows = reports.biggest(report["trace_rows"], "ops", SEQUENCES_MOST)
    told = [(row["length"], count(row["replays"]), share(row["ops"], report["ops"]),
             f"{row['any_value']} new each time" if row["any_value"] else "the same each time", shortened(row.get("first", "-"), tables.NAME_MOST)) for row in rows if row["replays"]]
    return tables.table("Sequences that repeat", ("ops", "times", "of all", "<values", "<begins with"), told)


def rare(report):
    """Kernels that were watched and mostly not replayed."""
    rows = [row for row in reports.biggest(report["kernels"], "watched", 5) if row["watched"] > row["replayed"] and row["watched"] >= 10]
    return [(f"{count(row['watched'])} x", "launches that do not repeat", shortened(row["name"], 60)) for row in rows]


def obstacles(report):
    rows = [(f"{count(number)} x", name, reports.NAMES["unfit"][name]) for name, number in report["unfit"].items() if number]
    rows += tables.call_sites(report, ("unfit",), 5) + tables.call_sites(report, ("waits",), 5) + tables.call_sites(report, ("ends",), 5)
    rows += tables.call_sites(report, ("allocates",), 5) + rare(report)
    return tables.table(f"What stands in the way, or cuts sequences ({reports.call_site_words(report)})", ("", "<", "<"), rows)


def whole(each):
    joined = reports.name_functions(reports.join(each))
    parts = [tables.head(joined) + tables.verdict(joined) + "\n", tables.ranks(each, joined) if len(each) > 1 else ""]
    if joined["ops"]:
        parts += [summary(joined), sequences(joined), idles(joined), obstacles(joined), tables.kernels(joined)]
    return "\n".join(part for part in parts if part)
