"""The text that `reprise observe` prints: first the launch overhead, what graphs would make of the run and what stands in the way; then the tables behind it."""
import advice
import kernel_names
import reports
import tables
from amounts import count, duration, of_launches, share

SEQUENCES_MOST = 8
OBSTACLES_FIRST = 3    # that are told first
OBSTACLE_LEAST = 0.001    # of the launches: what is rarer is not told first (guess)
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


# ---- what is told first ----

def overhead(report):
    """The launch overhead, and its share of the run. That of several threads may be more than the run lasts: then there is no share."""
    launching, run, ops = report["launch_time_ns"], reports.run_ns(report), report["ops"]
    kinds = [f"{kind} assumed: as on an H200" for kind in tables.eager_assumed(report)]
    measured = ", ".join(["as measured"] * (len(kinds) < sum(1 for calls in report["kinds"].values() if calls)) + kinds)
    of = f"{share(launching, run)} of the run" if launching <= run else f"on several threads of a run of {duration(run)}"
    return f"Launch overhead: {duration(launching)}, {of} ({of_launches(ops)} of {duration(launching / ops)}, {measured})."


def if_kernels(report):
    """What the estimate stands on, in words."""
    kernel = duration(reports.kernel_ns(report))
    if reports.kernels_were_measured(report):
        return f"with kernels of {kernel}, as measured; CUPTI has slowed this run down"
    if str(report.get("options", {}).get("REPRISE_CUPTI", {}).get("value")) == "1":
        return f"if kernels take {kernel}: CUPTI measured none"
    return f"if kernels take {kernel}; run with --cupti to measure"


def factor(before, after):
    """How much faster, or slower, in words."""
    return f"{before / after:.2f} x" if after <= before else f"{after / before:.2f} x slower"


def estimate(report):
    """The durations of the run, eagerly and with graphs; None if there is no estimate. What several threads launch at the same time counts once."""
    gained, run, launching = reports.shorter(report), reports.run_ns(report), report["launch_time_ns"]
    if gained is None:
        return None
    gained = round(gained * min(1, run / max(launching, 1)))
    return (run, run - gained) if gained < run else None


def with_graphs(report):
    found = estimate(report)
    if found is None:
        return "Estimate with graphs: none, since no sequence repeated often enough." if not report["replayed"] else "Estimate with graphs: none, since too little was seen."
    run, left = found
    several = f", {report['processes']} processes together" if "processes" in report else ""
    return f"Estimate with graphs: {duration(run)} → {duration(left)} ({factor(run, left)}) {if_kernels(report)}{several}."


def kept(report):
    """What keeps launches from being replayed, as (launches, what, how, obstacle or None)."""
    obstacles = advice.of_fates(report)
    for name, ops, meaning in list(reports.fates(report))[1:]:
        if name != "measured eagerly":
            obstacle = obstacles.get(name)
            place = " ".join(word for word in obstacle.site if word) if obstacle and obstacle.site[0] else ""
            yield ops, name, meaning + (f"; call site {place}" if place else ""), obstacle


def cuts(report):
    """The call sites that end sequences, or allocate, likewise; the obstacle of their kind at the most frequent one."""
    obstacles = {kind: obstacle for kind, _, obstacle in advice.sites(report)}
    for row in tables.call_sites(report, ("waits", "orders", "ends", "allocates"), None):
        yield (row["count"], row["call"], f"{tables.CUTS[row['kind']]}, {tables.once_in(report, row)}; call site {reports.call_site(row)}",
               obstacles.pop(row["kind"], None))


def to_do(obstacle):
    """A line under an obstacle: the remedy, and what it is worth where that is known."""
    worth = f"; worth about {share(obstacle.worth, 1)} of the run" if (obstacle.worth or 0) >= advice.NOTABLE else ""
    return f"    to do: {obstacle.remedy}{worth}"


def in_the_way(report):
    """What keeps most launches from being replayed, or cuts most sequences: a call that ends one counts as one launch, the next one, which the GPU waits for. Nothing is to be done about
    what is still learnt: it is told only where it is the most."""
    rows = [row for row in [*kept(report), *cuts(report)] if row[0] >= OBSTACLE_LEAST * report["ops"] and row[0]]
    rows = sorted(rows, key=lambda row: row[0], reverse=True)
    rows = [row for i, row in enumerate(rows) if i == 0 or row[1] != reports.LEARNING][:OBSTACLES_FIRST]
    if not rows:
        return f"In the way: nothing that concerns {share(OBSTACLE_LEAST, 1)} of the launches.\n"
    told = tables.table("In the way", ("", "<", "<"), [(f"{count(number)} x", name, how) for number, name, how, _ in rows]).splitlines()
    for i in range(len(rows) - 1, -1, -1):
        if rows[i][3]:
            told.insert(i + 2, to_do(rows[i][3]))
    return "\n".join(told) + "\n"


def first(report):
    return f"{overhead(report)}\n{with_graphs(report)}\n{in_the_way(report)}"


# ---- the tables ----

def summary(report):
    run, launching = reports.run_ns(report), report["launch_time_ns"]
    measured = "measured" if report["gain"]["eager_measured"] else "assumed, since nothing was measured"
    rows = [("launches", count(report["ops"]), f"{duration(launching / max(report['ops'], 1))} each ({measured})"),
            ("their time on the program's threads", duration(launching), f"{share(launching, run)} of the run of {duration(run)}"),
            ("would be replayed", count(report["replayed"]), f"{share(report['replayed'], report['ops'])}, by {count(report['launches'])} graph launch{'es' * (report['launches'] != 1)}")]
    saved, even = report["saved_ns"], reports.break_even(report)
    if saved > 0:
        rows += [("expected saving of launch time", duration(saved), f"{share(saved, launching)} of it"), *run_shorter(report)]
    elif saved < 0:
        rows += [("expected loss of launch time", duration(-saved), f"{share(-saved, launching)} of it"), *run_shorter(report)]
    else:
        rows.append(("expected saving of launch time", "none", ""))
    if even:
        takes = "graph takes about" if report["traces"] == 1 else "graphs takes about"
        rows.append(("break-even", of_launches(even), f"of a graph; building {count(report['traces'])} {takes} {duration(report['gain']['build_ns'])} in the background"))
    if tables.assumed(report):
        rows.append(("assumed", "", f"as on an H200: {tables.assumed(report)}"))
    return tables.table("What it does", ("<", "", "<"), rows)


def run_shorter(report):
    """A row with the estimated duration of the run under Reprise, and why it gets longer though launches take less; no row if there is no estimate."""
    found = estimate(report)
    if found is None:
        return []
    run, left = found
    rows = [("estimate of the run", f"{duration(run)} → {duration(left)}", f"{factor(run, left)} {if_kernels(report)}")]
    if left > run and report["saved_ns"] > 0:
        rows.append(("", "", "slower all the same: the GPU would wait until each sequence is complete"))
    return rows


def measured(report):
    """The measurements of CUPTI, as rows (what, duration, share)."""
    gpu = report["gpu"]
    kernel = gpu["busy_ns"] / max(gpu["kernels"], 1)
    launches = min(idle(report, kernel)[1], gpu["span_ns"] - gpu["busy_ns"])
    rows = [("from the first kernel to the last", duration(gpu["span_ns"]), f"{count(gpu['kernels'])} kernel{'s' * (gpu['kernels'] != 1)}" +
             (f", CUPTI dropped {count(gpu['dropped'])} more" if gpu["dropped"] else "")),
            ("GPU busy", duration(gpu["busy_ns"]), share(gpu["busy_ns"], gpu["span_ns"])),
            ("GPU idle", duration(gpu["span_ns"] - gpu["busy_ns"]), share(gpu["span_ns"] - gpu["busy_ns"], gpu["span_ns"])),
            ("idle for want of launches", duration(launches), f"estimated, for kernels of {duration(kernel)}")]
    return rows


def longest_kernels(report):
    rows = reports.biggest(report["gpu"]["rows"], "ns", tables.KERNELS_MOST)
    return [(duration(row["ns"]), count(row["launches"]), duration(row["ns"] / max(row["launches"], 1)), kernel_names.told(row["name"], tables.KERNEL_MOST)) for row in rows]


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
    return tables.table("GPU idle time between launches: an estimate from the pauses on the host, for kernels that take", ("", "idle", "for want of launches"), rows)


def sequences(report):
    rows = reports.biggest(report["trace_rows"], "ops", SEQUENCES_MOST)
    told = [(row["length"], count(row["replays"]), share(row["ops"], report["ops"]),
             f"{row['any_value']} changed each time" if row["any_value"] else "the same each time", kernel_names.told(row.get("first", "-"), tables.NAME_MOST)) for row in rows if row["replays"]]
    return tables.table("Sequences that repeat", ("launches", "times", "of all", "<arguments", "<begins with"), told)


def rare(report):
    """Kernels that were watched and mostly not replayed."""
    rows = [row for row in reports.biggest(report["kernels"], "watched", 5) if row["watched"] > row["replayed"] and row["watched"] >= 10]
    return [(f"{count(row['watched'])} x", "launches that do not repeat", kernel_names.told(row["name"], 60)) for row in rows]


def obstacles(report):
    rows = [(f"{count(number)} x", reports.unfit_reason(name), reports.NAMES["unfit"][name]) for name, number in report["unfit"].items() if number]
    for kind in ("unfit", "waits", "ends", "orders", "allocates"):
        rows += [(f"{count(row['count'])} x", tables.what(row), reports.call_site(row)) for row in tables.call_sites(report, (kind,), 5)]
    rows += rare(report)
    return tables.table(f"What stands in the way, or cuts sequences ({reports.call_site_words(report)})", ("", "<", "<"), rows)


def whole(each):
    joined = reports.name_functions(reports.join(each))
    parts = [first(joined) if joined["ops"] else "", tables.head(joined) + tables.verdict(joined) + "\n", tables.ranks(each, joined) if len(each) > 1 else ""]
    if joined["ops"]:
        parts += [summary(joined), sequences(joined), idles(joined), obstacles(joined), tables.kernels(joined)]
    return "\n".join(part for part in parts if part)
