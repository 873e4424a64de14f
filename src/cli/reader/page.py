"""Reports as one self-contained page: no network, no script."""
import re
from html import escape
from pathlib import Path

import advice
import judgement
import kernel_names
import observed
import plots
import reports
import tables
import words
from amounts import count, duration, of_calls, share, shortened, size
from words import marked, term

TRACES_MOST = 10
TRACE_NAME_MOST = 36   # characters of each kernel that a sequence is told by
KERNELS_MOST = 20
CALL_SITES_MOST = 6
RARE = 0.001           # of the calls: fates that are rarer are in a fold
ADVICE_MOST = 3        # that are shown at once, if they are worth something or keep out so many of the calls; the others in a fold
ADVICE_LEAST = 0.01
RANKS_DRAWN_MOST = 16  # that have a plot of their own over time
SIMULATED = "Simulated device"    # the name that tests/sim gives to its GPU
INTERPRETERS = re.compile(r"(python|pypy|perl|ruby|julia|bash|sh)[0-9.]*")
BREAKS = re.compile(r"(::|[_/=,])(?=\w)")    # behind these a line may end in a long name,
VALUE_BREAKS = re.compile(r"([/=,])(?=[\w/])")    # and in an option
PLAIN_OPTIONS = ("-u", "-O", "-OO", "-B", "-E", "-I", "-s", "-S")    # of Python's, those that no value follows
VERIFY = "`reprise verify` compares what is replayed with the calls that the program makes"
MARK = f'<span class="mark">{term("outlier", "▲")} </span>'

STYLE = (Path(__file__).parent / "page.css").read_text()


# ---- parts of the page ----

def named(name, most=kernel_names.SHORT_MOST):
    """The short name of a kernel, the whole one where the mouse rests on it."""
    found = kernel_names.short(name)
    return f'<span class="name"{plots.title(name if found != name else "")}>{breakable(cut(found, most))}</span>'


def cut(text, most):
    return text if len(text) <= most else text[: most - 1] + "…"


def breakable(text, breaks=BREAKS):
    """As HTML, with places where a line may end."""
    return breaks.sub(r"\1<wbr>", escape(text))


def coded(text):
    """As HTML, with what stands between backticks as code."""
    return "".join(f"<code>{escape(part)}</code>" if i % 2 else escape(part) for i, part in enumerate(text.split("`")))


def table(heads, rows, kind=""):
    """Cells are HTML. A head with < is for a column of words. On a phone a row is a block, and each cell has its head before it."""
    left = [head.startswith("<") for head in heads]
    heads = [head.lstrip("<") for head in heads]
    if not rows:
        return ""
    body = "".join("<tr>" + "".join(f'<td class="{"words" if to_left else "figure"}" data-head="{escape(head)}">{f"<span>{cell}</span>" if cell else ""}</td>' for cell, head, to_left in zip(row, heads, left)) + "</tr>" for row in rows)
    top = "".join(f'<th class="{"words" if to_left else "figure"}" scope="col">{marked(head)}</th>' for head, to_left in zip(heads, left))
    return f'<table class="{kind}"><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>'


def section(title, explained, *parts):
    """The explanation is HTML."""
    parts = [part for part in parts if part]
    return f'<section><h2>{escape(title)}</h2><p class="about">{explained}</p>{"".join(parts)}</section>' if parts else ""


def keyed(kind, words_):
    """Words as HTML, behind the colour that stands for them: lines after the first begin below the words."""
    return f'<span class="keyed"><i class="key {kind}"></i><span>{words_}</span></span>'


def keys(**names):
    return '<p class="keys">' + "".join(keyed(kind, marked(meaning)) for kind, meaning in names.items()) + "</p>"


def fold(summary, content, kind=""):
    return f'<details class="fold {kind}"><summary>{marked(summary)}</summary>{content}</details>' if content else ""


# ---- the head ----

def facts(report):
    """What ran, on what, by which Reprise: (name, words)."""
    if "processes" in report:
        yield "processes", count(report["processes"])
    else:
        yield "process", f"{report['pid']} on {report['host']}" + (f", rank {report['rank']} ({report.get('rank_variable', '?')})" if "rank" in report else "")
    yield "when", f"{tables.when(report)}, for {duration(report['wall_ns'])}"
    yield "GPU", report.get("gpu_name", "not known")
    yield "driver", ", ".join(part for part in (report.get("driver", ""), f"CUDA {report['driver_cuda']}" if "driver_cuda" in report else "") if part) or "not known"
    yield "Reprise", f"{report.get('version', 'version not known')}, commit {shortened(report.get('commit', 'not known'), 40)}, mode {report['mode']}"
    given = reports.given_options(report)
    if given:
        yield "options", "as by default" if given.endswith("environment: none") else given.removeprefix("options ")


def simulated(report):
    return '<p class="notice">Made on the simulated driver: the counts are right, the times mean nothing.</p>' if SIMULATED in report.get("gpu_name", "") else ""


def head(report):
    rows = "".join(f"<div><dt>{marked(key)}</dt><dd>{breakable(value, VALUE_BREAKS)}</dd></div>" for key, value in facts(report))
    return (f'<header><p class="kicker">Reprise report</p><h1>{escape(shortened(program(report), 200))}</h1><p class="command"><code>{escape(shortened(reports.program(report), 600))}</code></p>'
            f'<dl class="facts">{rows}</dl>{simulated(report)}</header>')


def comparison(told):
    """The two bars."""
    kinds = ("eager", "replayed")
    listed = []
    for i, (label, part, value) in enumerate(told.bars):
        pieces = [plots.piece(kinds[i], 0, 100 * part, f"{label}: {value}")]
        if i == 1 and part > told.bars[0][1]:
            pieces.append(plots.piece(told.tone, 100 * told.bars[0][1], 100 * (part - told.bars[0][1]), "what is lost"))
        if i == 1 and told.spread:
            low, high = (plots.per_cent(end) for end in told.spread)
            pieces.append(plots.piece("spread", low, max(high - low, 0.3), "the interval"))
        listed.append((escape(label), plots.bar(*pieces, kind="tall"), escape(value)))
    return plots.rows(listed) + f'<p class="about">{escape(told.basis)}; shorter is better</p>' if listed else ""


def advised(one):
    code, others = one.site
    between = "; " if code and others == advice.PLACE_BY_OBSERVE else " " if code and others else ""
    site = f" ({f'<code>{breakable(code)}</code>' if code else ''}{between}{coded(others)})" if code or others else ""
    worth = "" if one.worth is None else f"{term('worth')} {escape(at_most(one.worth))} of the run"
    calls = f"{escape(share(one.share, 1))} {term('share of calls', 'of calls')}" if one.share >= advice.NOTABLE else ""
    return (f'<li><p><b>{escape(one.what)}</b>{site}: {coded(one.remedy)}.</p>'
            f'<p class="worth">{"; ".join(part for part in (worth, calls) if part)}</p></li>')


def at_most(part):
    return f"about {100 * part:.2g} %" if part >= 0.001 else "less than 0.1 %"


def next_steps(report, told):
    """The obstacles, each with its remedy; and where nothing was gained, what measures how much could be."""
    found = advice.obstacles(report)
    first = [one for one in found[:ADVICE_MOST] if one.share >= ADVICE_LEAST or (one.worth or 0) >= advice.NOTABLE_WORTH]
    rest = found[len(first):]
    listed = f'<ol>{"".join(map(advised, first))}</ol>' if first else f"<p>Nothing much stands in the way: {escape(share(report['replayed'], report['ops']))} of the calls {'would be' if report['mode'] == 'observe' else 'were'} replayed.</p>"
    more = fold(f"{len(rest)} more", f'<ol start="{len(first) + 1}">{"".join(map(advised, rest))}</ol>') if rest else ""
    verify = f"<p>{coded(VERIFY)}.</p>" if report["mode"] == "on" and told.tone == "good" and not first else ""
    look = report["mode"] == "on" and told.tone != "good" and not advice.is_bound(report) and all(one.remedy != advice.OBSERVE for one in found)
    return f'<h2 class="next">What to do next</h2>{listed}{verify}{more}' + (f"<p>{coded(advice.OBSERVE)}.</p>" if look else "")


def notes(report):
    """What else has to be known before the figures are read."""
    found = [tables.snapshot(report).strip()]
    # Where there are calls, these stand beside their fates.
    if report["paused_ops"] and not report["ops"]:
        found.append(f"{of_calls(report['paused_ops'])} came while Reprise was off and are not counted.")
    if report.get("nvtx_ops") and not report["ops"]:
        found.append(f"{of_calls(report['nvtx_ops'])} came in NVTX ranges that are eager and are not counted.")
    if report.get("stopped") not in (None, reports.ENDED):
        found.append(f"Nothing was replayed any more after: {report['stopped']}.")
    if report.get("recording_ended"):
        found.append(f"The recording ended early: {report['recording_ended']}.")
    return "".join(f'<p class="notice">{escape(note)}</p>' for note in found if note)


def explained(told, report):
    """The sentences of a verdict."""
    return marked(f"{told.words} {judgement.seen(report)}", words.VERDICTS)


def verdict(report, each):
    if report["mode"] == "off" or report.get("aside") or not report["ops"]:
        return f'<section class="verdict fair"><p class="headline">Nothing was replayed</p><p>{coded(judgement.nothing(report))}</p>{notes(report)}</section>'
    told = judgement.of(report, each)
    return (f'<section class="verdict {told.tone}"><p class="headline">{escape(told.headline)}</p><p>{explained(told, report)}</p>'
            f"{comparison(told)}{notes(report)}{next_steps(report, told)}</section>")


def legend(report):
    return keys(replayed=f"blue: {reports.done(report, 'replayed')}, from graphs", eager="grey: eager, as without Reprise", cost="violet: what Reprise itself costs")


# ---- what happened ----

def fate_kind(report, place, name):
    return "replayed" if place == 0 else "cost" if name in reports.LEFT.values() else "eager"


def fate_rows(listed, report):
    return [(keyed(kind, marked(name)), count(ops), escape(share(ops, report["ops"])), marked(meaning, words.REASONS)) for kind, name, ops, meaning in listed]


def fates(report):
    heads = ("<fate", "calls", "share", "<why")
    listed = [(fate_kind(report, i, name), name, ops, meaning) for i, (name, ops, meaning) in enumerate(reports.fates(report)) if ops]
    rare = [one for one in listed if one[2] < RARE * report["ops"]]
    rare = rare if len(rare) > 1 else []
    rows = fate_rows([one for one in listed if one not in rare], report)
    rows += [(keyed("", f"{marked(name)} (not among these)"), count(number), "", escape(meaning)) for name, number, meaning in reports.beside(report)]
    return section("What happened to each call", f"Each of the {of_calls(report['ops'])} has one fate. Violet: {term('held back')} for a {term('sequence')} that then ended with an {term('early exit')}.",
                   plots.stacked([(kind, ops, name) for kind, name, ops, _ in listed]), table(heads, rows, "stack titled fates"),
                   fold(f"{len(rare)} more, each less than 0.1 %", table(heads, fate_rows(rare, report), "stack titled fates")))


def undrawn(report):
    """Calls of eager turns, of which reports of Reprise before 2026-12 do not say when they came. Of a snapshot a few others may be missing, of which nothing is said."""
    turned, left = report.get("turn_ops", 0), report["ops"] - sum(report["share"]["ops"])
    return turned if 0 < turned <= left else 0


def over_time(report, each):
    series = report.get("share", {})
    if len(each) > 1 or not any(series.get("ops", ())):
        return ""
    left, replayed = undrawn(report), reports.done(report, "replayed")
    without = f" {of_calls(left).capitalize()} that {'were' if left != 1 else 'was'} {term('measured eagerly')} {'are' if left != 1 else 'is'} not drawn: when they came was not noted." if left else ""
    return section("Over time", f"Calls a second, over the run. At first none {'' if report['mode'] == 'observe' else 'is '}{term(replayed)}, since sequences are not known yet.{without}",
                   plots.over_time(series, replayed))


PARTS = (("launches_ns", "graph launches", "replayed"), ("patches_ns", "patching", "cost"), ("exits_ns", "early exits", "cost"), ("defers_ns", "per-call overhead", "cost"))    # of what graphs cost


def in_pieces(amounts):
    """(name, begin, end, kind) of each part, one after another."""
    at = 0
    for key, name, kind in PARTS:
        if amounts[key]:
            yield name, at, at + amounts[key], kind
        at += amounts[key]


def waterfall(report):
    """What the calls would have cost; what graphs cost instead, one after another; and in observe what is left: (label, pieces, value)."""
    parts, would = report["gain"], report["mode"] == "observe"
    yield marked("what would be replayed, if eager" if would else "the replayed calls, if eager"), [("", 0, parts["replaced_ns"], "eager")], duration(parts["replaced_ns"])
    pieces, at = list(in_pieces(parts)), reports.in_graphs(report)
    for name, begin, end, kind in pieces:
        yield marked(name), [(name, begin, end, kind)], duration(end - begin)
    if would:
        word, gained = reports.gained(report)
        yield f"<b>{marked(word)}</b>", [("", *sorted((at, parts["replaced_ns"])), "bad" if report["saved_ns"] < 0 else "good")], f"<b>{duration(gained)}</b>"
    else:
        yield f"<b>{marked('in graphs')}</b>", pieces, f"<b>{duration(at)}</b>"
    if would or parts["build_ns"]:
        yield marked("building graphs, in the background"), [("", 0, parts["build_ns"], "cost")], duration(parts["build_ns"])


def drawn_pieces(pieces, whole):
    return plots.bar(*(plots.piece(kind, plots.per_cent(begin, whole), plots.per_cent(end - begin, whole), name and f"{name}: {duration(end - begin)}") for name, begin, end, kind in pieces))


def expected(report):
    """What observe expects of replaying, in sentences."""
    even = reports.break_even(report)
    estimate = observed.estimate(report)
    if report["saved_ns"] > 0 and estimate and estimate[1] > estimate[0]:
        yield "The run would get longer all the same, since the GPU would get the calls of a sequence only when it is complete."
    else:
        yield f"The run gets {'longer' if report['saved_ns'] < 0 else 'shorter'} by what {marked(reports.gained(report)[0])} only as far as the GPU waited for calls."
    if even:
        launches = term("graph launch", "graph launch" if even == 1 else "graph launches")
        yield f"A graph pays for its building after {count(even)} {launches} ({term('break-even')})."
    for name, words_, shorter in observed.run_shorter(report):
        yield f"{escape(name.capitalize())}: {escape(words_)}, {escape(shorter)}."


def gain(report):
    listed = list(waterfall(report))
    whole = max((end for _, pieces, _ in listed for _, _, end, _ in pieces), default=0) or 1
    drawn = [(label, drawn_pieces(pieces, whole), value) for label, pieces, value in listed]
    assumed, would = tables.assumed(report), report["mode"] == "observe"
    lines = ["Time of the program's threads, by estimate from what calls cost."]
    if not would:
        lines.append(f"What the program {term('gain', 'gained')} is measured by {term('turns')}; this account does not tell it.")
    if assumed:
        lines.append(f"Assumed, as on an H200, since nothing was measured: {escape(assumed)}.")
    if would:
        lines += expected(report)
    return section("Gain" if would else "Launch time of the replayed calls", " ".join(lines), plots.rows(drawn))


def call_costs(report):
    """What one call costs the program's thread: by itself, and in a graph."""
    parts, replayed = report["gain"], report["replayed"]
    kinds = [(kind, ns) for kind, ns in parts["eager_ns"].items() if report["kinds"][kind]]
    graph = list(in_pieces({key: parts[key] / replayed for key, _, _ in PARTS})) if replayed else []
    longest = max([ns for _, ns in kinds] + [end for _, _, end, _ in graph], default=0) or 1
    drawn = [(marked(f"an eager {kind}" + (", assumed" if kind in parts["eager_assumed"] else "")), drawn_pieces([("", 0, ns, "eager")], longest), duration(ns)) for kind, ns in kinds]
    if graph:
        drawn.append((marked("a call in a graph"), drawn_pieces(graph, longest), duration(graph[-1][2])))
    together = max(replayed / report["launches"], 1) if report["launches"] else 1
    names = {"eager": ("eager", 1), "graph": ("replayed", together)}
    drawing = plots.histogram(report["histograms"], {name: names[name] for name in names if report["histograms"][name]})
    lines = ["Time of the program's thread; shorter is better."]
    if kinds:
        lines.append("Of eager calls a bar is the lower quartile, so that it has no waits for a full queue.")
    if drawing:
        lines.append("Below: how long all timed calls took, such waits included" + (f"; the time of a graph launch is divided by the {together:.3g} calls that it stands for." if report["histograms"]["graph"] else "."))
    return section("What a call costs", " ".join(lines), plots.rows(drawn) if drawn else "", drawing)


# ---- traces ----

def kernel_of(op, numbers):
    return op.get("name") or numbers.get(op.get("kernel"), "")


def dimensions(op, key):
    return " × ".join(str(value) for value in op[key]) if key in op else ""


def what_changes(op):
    return "arguments" if op["any_value"] else "nothing"


def op_row(place, op, numbers):
    last = place + op["times"] - 1
    name = kernel_of(op, numbers)
    what = named(name) if name else escape(op["kind"] if op["kind"] != "kernel" else "a kernel without a name")
    return (f"{place}" if op["times"] == 1 else f"{place} to {last}", what, dimensions(op, "grid") or (size(op["bytes"]) if "bytes" in op else ""), dimensions(op, "block"), what_changes(op))


def sequence(row, numbers):
    """The kernels of a trace in their order."""
    if "sequence" not in row:
        return '<p class="about">This report does not tell its kernels: it is of an earlier version of Reprise.</p>'
    place, listed = 1, []
    for op in row["sequence"]:
        listed.append(op_row(place, op, numbers))
        place += op["times"]
    left = row.get("sequence_left_out", 0)
    more = f'<p class="about">{count(left)} more call{"s are" if left != 1 else " is"} not listed.</p>' if left else ""
    return table(("<call", "<kernel", "<grid, or bytes", "<block", "<what changes"), listed, "stack") + more


def trace_facts(row, report):
    yield "stream", str(row["lane"])
    yield "nodes patched", tables.means(row) or "none"
    yield "early exits", tables.exits(row) or "none"
    if report["mode"] != "observe":
        yield "graph memory", size(row["graph_bytes"]) if row["live"] else "freed"
        yield "built", "once" if row["made"] == 1 else f"{count(row['made'])} times"


def from_to(row):
    """What tells a sequence from others: its first kernel and its last."""
    if "first" not in row:
        return escape(next((op["kind"] + (f" of {size(op['bytes'])}" if "bytes" in op else "") for op in row.get("sequence", ()) if op["kind"] != "kernel"), "no kernel"))
    first, last = (f'<span{plots.title(row[key])}>{breakable(cut(kernel_names.bare(row[key]), TRACE_NAME_MOST))}</span>' for key in ("first", "last"))
    return first if first == last else f"{first} → {last}"


def first_grid(row):
    """Of its first kernel: what often tells sequences of the same kernels from each other."""
    return next((f"; first grid {dimensions(op, 'grid')}" for op in row.get("sequence", ()) if "grid" in op), "")


def trace(number, row, report, numbers, most):
    spent = min(reports.launches_of(row, report), row["eager_ns"])
    value = reports.saved_by(row, report) if report["mode"] == "observe" else row["eager_ns"]
    words_ = f"{duration(row['eager_ns'])} eager, {duration(spent)} as graphs"
    drawn = plots.bar(plots.piece("eager", 0, plots.per_cent(row["eager_ns"], most), words_), plots.piece("replayed front", 0, plots.per_cent(spent, most), words_))
    listed = "".join(f"<div><dt>{marked(key)}</dt><dd>{escape(value)}</dd></div>" for key, value in trace_facts(row, report))
    whose = f"{row['who']}: " if "who" in row else ""
    calls = marked(f"{of_calls(row['length'])} × {count(row['replays'])}, {share(row['ops'], report['ops'])} of all calls{first_grid(row)}" + (f"; {row['alike']}\u00a0alike" if row["alike"] > 1 else ""))
    return (f'<details class="trace"><summary><span class="label name">{number}. {from_to(row)}<small>{escape(whose)}{calls}</small></span>{drawn}'
            f'<span class="value">{duration(value)}</span></summary><dl class="facts">{listed}</dl>{sequence(row, numbers)}</details>')


def traces(report):
    rows = [row for row in reports.biggest(reports.alike(report["trace_rows"]), "eager_ns", TRACES_MOST) if row["replays"]]
    if not rows:
        return ""
    numbers = {row["number"]: row["name"] for row in report["kernels"] if "number" in row}
    most = max(row["eager_ns"] for row in rows) or 1
    others = len(report["trace_rows"]) - sum(row["alike"] for row in rows) + report["trace_rest"]["made"]
    figure = f"is what {marked(reports.done(report, 'saved'))}" if report["mode"] == "observe" else "is the grey one"
    return section("Sequences", f"A {term('sequence')} repeats, and a graph stands for it. Each has its first kernel and its last; those that are alike, with the same kernels and grids, are one row. Grey: what its calls would take if they were {term('eager')}; blue: what launching its graph took, "
                   f"both of the program's threads. The figure {figure}. Open one to see its kernels.",
                   '<div class="traces">' + "".join(trace(i, row, report, numbers, most) for i, row in enumerate(rows, 1)) + "</div>", f'<p class="about">and {count(others)} more</p>' if others else "")


# ---- the rest ----

def idle(report):
    if "gpu" in report:
        measured = [[marked(name), *(escape(str(cell)) for cell in cells)] for name, *cells in observed.measured(report)]
        rows = [(named(row["name"]), duration(row["ns"]), count(row["launches"]), duration(row["ns"] / max(row["launches"], 1))) for row in reports.biggest(report["gpu"]["rows"], "ns", KERNELS_MOST)]
        return section("The GPU, measured by CUPTI", "", table(("<what", "time", "<share"), measured, "stack titled"), table(("<kernel", "in all", "times", "each"), rows, "stack titled"))
    if not report["histograms"]["interval"]:
        return ""
    rows = [(f"{us} us", *map(duration, observed.idle(report, us * 1000))) for us in observed.KERNEL_US]
    return section("GPU idle time, estimated", "From the pauses between calls on the host: if kernels take as long as the first column says, the GPU would be idle for so long between "
                   "calls. Nothing was measured on the GPU.", table(("kernels take", "idle", "for want of launches"), rows, "narrow"))


def rank_bars(title, explained, each, values, kind, show):
    apart, most = reports.outliers(values), max(max(values), 0) or 1
    drawn = [(term("process", reports.who(one)) if i == 0 else escape(reports.who(one)), plots.bar(plots.piece(kind, 0, plots.per_cent(max(value, 0), most), f"{reports.who(one)} on {one['host']}")),
              (MARK if far else "") + escape(show(value))) for i, (one, value, far) in enumerate(zip(each, values, apart))]
    return f"<h3>{marked(title)}</h3>{explained}{plots.rows(drawn)}"


def ranks_over_time(each):
    drawn = [one for one in each if any(one.get("share", {}).get("ops", ()))]
    parts = [f'<div class="small"><p>{escape(reports.who(one))}</p>{plots.over_time(one["share"], reports.done(one, "replayed"), small=True)}</div>' for one in drawn[:RANKS_DRAWN_MOST]]
    left = len(drawn) - len(parts)
    more = f'<p class="about">{count(left)} more process{"es are" if left != 1 else " is"} not drawn.</p>' if left else ""
    without = f" Calls that were {term('measured eagerly')} are not drawn." if any(map(undrawn, drawn)) else ""
    return f'<h3>Over time</h3><p class="about">Each on its own axis, from its own first CUDA call.{without}</p><div class="smalls">' + "".join(parts) + f"</div>{more}" if parts else ""


def ranks(each):
    if len(each) < 2:
        return ""
    done = reports.done(each[0], "replayed")
    held = reports.held_together(each)
    parts = [rank_bars(f"Calls {done}", "", each, held["replayed"], "replayed", lambda value: f"{value:.1f} %"), rank_bars("Launch time, eager", "", each, held["launch time"], "eager", duration)]
    if "gain" in held:
        parts.append(rank_bars("Gain, measured by turns", "", each, held["gain"], "plain", judgement.times))
    rows = [(escape(reports.who(one)), escape(one["host"]), str(one["pid"]), count(one["ops"]), duration(one["wall_ns"]), *tables.expected(one), duration(one["hold_longest_ns"]),
             size(one["graph_bytes_most"])) for one in each]
    listed = table(("<process", "<host", "pid", "calls", "duration", *tables.expected_head(each[0]), "longest deferral", "graph memory"), rows, "stack titled")
    return section("Processes", f"{MARK} marks an {term('outlier')}.", f'<div class="columns">{"".join(f"<div>{part}</div>" for part in parts)}</div>', ranks_over_time(each), fold("All figures", listed))


def kinds_of_kernels(report):
    """One for each short name, the most launched first: kernels that only template arguments tell apart would read alike."""
    kinds = {}
    for row in report["kernels"]:
        kind = kinds.setdefault(kernel_names.short(row["name"]), {"names": [], "watched": 0, "replayed": 0})
        kind["names"].append(row["name"])
        kind["watched"] += row["watched"]
        kind["replayed"] += row["replayed"]
    return sorted(kinds.values(), key=lambda kind: kind["watched"] + kind["replayed"], reverse=True)


def kernel_label(names):
    if len(names) == 1:
        return named(names[0])
    return f"<span{plots.title(chr(10).join(names))}>{named(kernel_names.short(names[0]))}<small>{len(names)} kernels of this name</small></span>"


def kernels(report):
    rows = kinds_of_kernels(report)
    most = max((row["watched"] + row["replayed"] for row in rows), default=0) or 1
    drawn = [(kernel_label(row["names"]), plots.bar(plots.piece("replayed", 0, plots.per_cent(row["replayed"], most), f"{count(row['replayed'])} {reports.done(report, 'replayed')}"),
                                            plots.piece("eager", plots.per_cent(row["replayed"], most), plots.per_cent(row["watched"], most), f"{count(row['watched'])} eager")),
              count(row["watched"] + row["replayed"])) for row in rows]
    return section("Kernels", f"Calls by kernel. Those that Reprise did not look at are missing: it had {term('backed off')}, {term('measured eagerly')} or was off.", drawn and plots.rows(drawn[:KERNELS_MOST]),
                   fold(f"{count(len(drawn) - KERNELS_MOST)} more", drawn[KERNELS_MOST:] and plots.rows(drawn[KERNELS_MOST:])))


def call_sites(report):
    rows = reports.biggest(report["call_sites"], "count", len(report["call_sites"]))
    first, rest = rows[:CALL_SITES_MOST], rows[CALL_SITES_MOST:]
    return section("Where sequences end", f"Calls that have everything before them issued first; {escape(reports.call_site_words(report))}.", call_site_table(first),
                   fold(f"{len(rest)} more", call_site_table(rest)))


def call_of(row):
    """Of what cannot be part of a graph the report has the reason, not the call."""
    return escape(reports.NAMES["unfit"].get(row["call"], row["call"])) if row["kind"] == "unfit" else f"<code>{escape(row['call'])}</code>"


def place_of(row):
    """The call site with the function's short name, the whole one where the mouse rests on it."""
    if "library" not in row or "symbol" not in row:
        return f"<code>{breakable(reports.call_site(row))}</code>"
    short = row | {"symbol": kernel_names.short(row["symbol"])}
    whole = Path(row["library"]).name + reports.place(row) if short != row else ""
    return f"<code{plots.title(whole)}>{breakable(reports.call_site(short))}</code>"


def call_site_table(rows):
    return table(("<what", "<call site", "times", "<what it does"),
                 [(call_of(row), place_of(row), count(row["count"]), escape(reports.NAMES["call_sites"][row["kind"]])) for row in rows],
                 "stack titled sites")


def figures(report):
    """What is asked for now and then."""
    if report["mode"] != "on":
        return ""
    rows = [("graph memory on the device, at most", size(report["graph_bytes_most"])), ("graph memory on the host, at most", size(report["host_bytes_most"])),
            ("longest that a call was held back", duration(report["hold_longest_ns"])), ("longest that a call waited for Reprise", duration(report["wait_longest_ns"])),
            ("graphs built", f"{count(report['graphs_built'])} in {duration(report['build_ns'])}, in the background")]
    return fold("Graph memory, deferral, building", '<dl class="facts">' + "".join(f"<div><dt>{marked(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in rows) + "</dl>")


def options(report):
    rows = [(f"<code>{escape(name)}</code>", escape(str(option["value"])), escape(option["from"])) for name, option in report.get("options", {}).items()]
    return fold("All options", table(("<option", "<value", "<from"), rows, "stack titled"))


def unbroken(text):
    """No line ends between a number and its per cent."""
    return text.replace("&lt; 0.1 %", "&lt;\u00a00.1 %").replace("&gt; 99.9 %", "&gt;\u00a099.9 %").replace(" %", "\u00a0%")


def document(name, body):
    """The whole file."""
    return ('<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'; img-src data:">'
            f'<link rel="icon" href="data:,"><title>Reprise: {escape(shortened(name, 60))}</title><style>{STYLE}</style></head>'
            f'<body><main>{unbroken("".join(body))}</main></body></html>\n')


def program(report):
    """The program's name; of a script, the script's, since its interpreter says nothing."""
    if not report["command"]:
        return "a program"
    name, *arguments = report["command"]
    name = Path(name).name
    if not INTERPRETERS.fullmatch(name):
        return name
    while arguments and arguments[0] in PLAIN_OPTIONS:
        arguments.pop(0)
    if arguments[:1] == ["-m"]:
        arguments.pop(0)
    return Path(arguments[0]).name if arguments and not arguments[0].startswith("-") else name


def whole(each):
    report = reports.name_functions(reports.join(each))
    body = [head(report), verdict(report, each)]
    if report["ops"]:
        body += [legend(report), ranks(each), fates(report), over_time(report, each), gain(report), call_costs(report), traces(report), idle(report), kernels(report), call_sites(report)]
    return document(program(report), [*body, f'<section class="end">{figures(report)}{options(report)}{words.listed()}</section>'])
