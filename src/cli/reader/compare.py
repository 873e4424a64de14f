"""What changed from one run to another: as tables, or as a page with both verdicts side by side."""
from html import escape

import advice
import judgement
import kernel_names
import page
import reports
import tables
from amounts import count, duration, share, size

KERNELS_MOST = 8
TIMES_FROM = 900    # per cent: a larger change is told as a factor
OBSTACLES = "What stands in the way"
RAN_ON = "What it ran on and with"
POINTS = 0.05    # of a hundred: a smaller change of a share is none


def changed_by(before, after):
    """The change of an amount, in per cent of what it was."""
    if before == after:
        return "same"
    if not before:
        return "new" if after else "same"
    change = 100 * (after - before) / before
    if change >= TIMES_FROM:
        return f"{round(after / before):,} times" if after >= 100 * before else f"{after / before:.3g} times"
    return f"{change:+.0f} %" if abs(change) >= 10 else f"{change:+.1f} %"


def points(before, after):
    """The change of a share."""
    change = 100 * (after - before)
    return f"{change:+.1f} points" if abs(change) >= POINTS else "same"


def part(report, amount):
    return amount / report["ops"] if report["ops"] else 0


def amount_row(name, before, after, show):
    change = changed_by(before, after) if before >= 0 and after >= 0 else f"{'+' * (after > before)}{show(after - before)}" if before != after else "same"
    return name, show(before), show(after), change


def share_row(name, before, after):
    return name, *(share(one, 1) for one in (before, after)), points(before, after)


def ran_on(before, after):
    """What it ran on and with, as far as it differs."""
    def told(report):
        options = {name: str(option["value"]) for name, option in report.get("options", {}).items() if name != "REPRISE_REPORT"}
        return {"program": reports.program(report), "host": report["host"], "GPU": report.get("gpu_name", "-"), "driver": report.get("driver", "-"), "CUDA": report.get("driver_cuda", "-"),
                "Reprise": f"{report.get('version', '-')}, commit {report.get('commit', '-')}", "processes": str(report.get("processes", 1))} | options
    first, second = told(before), told(after)
    return [(name, first.get(name, "-"), second.get(name, "-"), "") for name in dict.fromkeys([*first, *second]) if first.get(name, "-") != second.get(name, "-")]


def gain_rows(before, after):
    """What turns have measured, where both have."""
    gains = [report.get("turns", {}).get("gain", 0) for report in (before, after)]
    if all(gains):
        yield amount_row("gain, measured by turns", *gains, judgement.times)


def outcome(before, after):
    pair = (before, after)
    yield amount_row("calls", *(report["ops"] for report in pair), count)
    yield share_row(reports.done(after, "replayed"), *(part(report, report["replayed"]) for report in pair))
    yield from gain_rows(before, after)
    expected = [(reports.done(after, "saved"), "saved_ns", duration)] if after["mode"] == "observe" else []
    for name, key, show in (("duration", "wall_ns", duration), ("launch time, eager", "launch_time_ns", duration), *expected, ("graph launches", "launches", count),
                            ("sequences", "traces", count), ("early exits", "side_exits", count), ("graph memory, at most", "graph_bytes_most", size), ("longest deferral", "hold_longest_ns", duration)):
        yield amount_row(name, *(report[key] for report in pair), show)


def costs(before, after):
    for kind in before["gain"]["eager_ns"]:
        if all(report["kinds"][kind] for report in (before, after)):
            yield amount_row(f"an eager {kind}", *(report["gain"]["eager_ns"][kind] for report in (before, after)), duration)
    graphs = [advice.in_graphs_ns(report) for report in (before, after)]
    if None not in graphs:
        yield amount_row("a call in a graph", *graphs, duration)
    yield amount_row("a graph launch", *(report["gain"]["launch_ns"] for report in (before, after)), duration)
    for name in before["cost_ns"]:
        if not any(name in report["cost_assumed"] for report in (before, after)) and name not in ("launch", "eager"):
            yield amount_row(reports.COSTS.get(name, name.replace("_", " ")), *(report["cost_ns"][name] for report in (before, after)), duration)


def fates(before, after):
    each = [{name: part(report, ops) for name, ops, _ in reports.fates(report)} for report in (before, after)]
    return [share_row(name, each[0].get(name, 0), each[1].get(name, 0)) for name in dict.fromkeys([*each[0], *each[1]]) if each[0].get(name) or each[1].get(name)]


def worth_of(one):
    if one is None:
        return "-"
    return f"{share(one.share, 1)} of calls" + ("" if one.worth is None else f", worth {page.at_most(one.worth)}")


def obstacles(before, after):
    each = [{one.name: one for one in advice.obstacles(report)} for report in (before, after)]
    for name in dict.fromkeys([*each[0], *each[1]]):
        first, second = each[0].get(name), each[1].get(name)
        yield name, worth_of(first), worth_of(second), "new" if first is None else "gone" if second is None else points(first.share, second.share)


def kernels(before, after):
    """Those whose replayed share changed most."""
    def shares(report):
        return {row["name"]: (row["replayed"] / (row["watched"] + row["replayed"]), row["watched"] + row["replayed"]) for row in report["kernels"] if row["watched"] + row["replayed"]}
    first, second = shares(before), shares(after)
    both = sorted((name for name in first if name in second), key=lambda name: abs(first[name][0] - second[name][0]) * second[name][1], reverse=True)
    return [share_row(kernel_names.short(name), first[name][0], second[name][0]) for name in both[:KERNELS_MOST] if points(first[name][0], second[name][0]) != "same"]


def sections(before, after):
    """(title, rows): each row is what, before, after and the change."""
    yield RAN_ON, ran_on(before, after)
    yield "Outcome", list(outcome(before, after))
    yield "What a call costs", list(costs(before, after))
    yield "What happened to each call", fates(before, after)
    yield OBSTACLES, list(obstacles(before, after))
    yield f"Kernels, {reports.done(after, 'replayed')}", kernels(before, after)


def joined(each):
    return reports.name_functions(reports.join(each))


def named(report):
    return f"{tables.when(report)}, {reports.machine(report)}"


def text(first, second):
    before, after = joined(first), joined(second)
    parts = [f"before: {named(before)}\nafter:  {named(after)}\n"]
    parts += [tables.table(title, ("<", "before", "after", "change"), [(tables.shortened(str(row[0]), 70), *(tables.shortened(str(cell), 40) for cell in row[1:])) for row in rows]) for title, rows in sections(before, after)]
    return "\n".join(part for part in parts if part)


def panel(title, report, each):
    told = judgement.of(report, each) if report["ops"] else None
    if told is None:
        return f'<div class="verdict fair"><p class="kicker">{title}</p><p class="headline">No calls</p></div>'
    return (f'<div class="verdict {told.tone}"><p class="kicker">{title}: {escape(named(report))}</p><p class="headline">{escape(told.headline)}</p>'
            f"<p>{page.explained(told, report)}</p>{page.comparison(told)}</div>")


def labels(title, before, after):
    """How the first cell of a section's rows is shown: names of kernels as such, obstacles with their remedy, all others with the meaning of their terms."""
    if title.startswith("Kernels"):
        return page.named
    remedies = {one.name: one.remedy for report in (before, after) for one in advice.obstacles(report)} if title == OBSTACLES else {}
    return lambda name: f'<abbr title="{escape(remedies[name])}">{escape(name)}</abbr>' if name in remedies else page.marked(name)


def html(first, second):
    before, after = joined(first), joined(second)
    body = [f'<header><p class="kicker">Reprise: what changed</p><h1>{escape(page.shortened(page.program(after), 200))}</h1></header>', page.simulated(after) or page.simulated(before),
            f'<div class="columns pair">{panel("before", before, first)}{panel("after", after, second)}</div>']
    for title, rows in sections(before, after):
        heads, show = ("<what", "before", "after", "change"), escape
        if title == RAN_ON:
            heads, show = ("<what", "<before", "<after"), lambda cell: f"<code>{page.breakable(cell)}</code>"
        label = labels(title, before, after)
        body.append(page.section(title, "", page.table(heads, [(label(name), *(show(str(cell)) for cell in cells)) for name, *cells in rows], "stack titled changes")))
    return page.document(f"{page.program(after)}, compared", body)
