"""Reports as one self-contained page: no network, no script."""
from html import escape
from pathlib import Path

import observed
import plots
import reports
import tables
from amounts import count, duration, of_launches, share, shortened, size

TRACES_MOST = 10

STYLE = """
:root { color-scheme: light dark; --back: #fff; --front: #1c2126; --quiet: #5c6670; --line: #dde2e6; --panel: #f6f8f9; --replayed: #2f7fc1; --eager: #d9822b; }
@media (prefers-color-scheme: dark) {
  :root { --back: #14181c; --front: #e3e7ea; --quiet: #98a3ad; --line: #313940; --panel: #1b2127; --replayed: #58a6e8; --eager: #e79a4c; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; background: var(--back); color: var(--front); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.35rem; line-height: 1.3; margin: 0 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; margin: 2.2rem 0 .3rem; }
p { margin: .3rem 0 .8rem; max-width: 46rem; }
.quiet { color: var(--quiet); font-size: .9rem; margin: .1rem 0 .4rem; overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .7rem; margin: 1.2rem 0; }
.card { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .6rem .8rem; }
.card b { display: block; font-size: 1.45rem; font-weight: 600; line-height: 1.25; white-space: nowrap; }
.card span { color: var(--quiet); font-size: .85rem; }
.wide { overflow-x: auto; }
svg { display: block; width: 100%; min-width: 31rem; height: auto; }
svg text { fill: var(--quiet); font: 12px system-ui, "DejaVu Sans", sans-serif; }
svg text.strong { fill: var(--front); }
svg line { stroke: var(--line); }
.replayed { fill: var(--replayed); background: var(--replayed); }
.eager { fill: var(--eager); background: var(--eager); }
.over { fill-opacity: .72; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin: 0 .35em 0 0; }
.keys span { margin-right: 1.2em; white-space: nowrap; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th { color: var(--quiet); font-weight: 500; }
th, td { text-align: right; padding: .22rem .7rem .22rem 0; border-bottom: 1px solid var(--line); vertical-align: top; white-space: nowrap; }
th.words, td.words { text-align: left; white-space: normal; }
td.name { overflow-wrap: anywhere; min-width: 12rem; }
@media print {
  body { max-width: none; padding: 0; font-size: 11px; }
  .wide { overflow: visible; } svg { min-width: 0; } figure, table, .card { break-inside: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def table(heads, rows):
    """A head with < is for a column of words, one with << for a column of long names."""
    kinds = ["words name" if head.startswith("<<") else "words" if head.startswith("<") else "" for head in heads]

    def cells(tag, row):
        return "".join(f'<{tag} class="{kind}">{escape(str(cell))}</{tag}>' for kind, cell in zip(kinds, row))

    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{cells("th", [head.lstrip("<") for head in heads])}</tr></thead><tbody>{body}</tbody></table></div>'


def section(title, words, *parts):
    parts = [part for part in parts if part]
    return f"<section><h2>{escape(title)}</h2><p>{escape(words)}</p>{''.join(parts)}</section>" if parts else ""


def keys(**names):
    return '<p class="quiet keys">' + "".join(f'<span><i class="key {kind}"></i>{escape(words)}</span>' for kind, words in names.items()) + "</p>"


def figure(svg, legend=""):
    return f'{legend}<figure class="wide" style="margin:0">{svg}</figure>' if svg else ""


def cards(report):
    word, gained = reports.gained(report)
    instead = " would take their place" if report["mode"] == "observe" else ""
    shown = [(share(report["replayed"], report["ops"]), f"of {count(report['ops'])} launches {reports.done(report, 'replayed')}"),
             (duration(gained), f"{word}, of {duration(report['launch_time_ns'])} launch time, by estimate"),
             (count(report["launches"]), f"graph launches of {count(report['traces'])} traces{instead}")]
    if "measured" in report:
        shown.insert(0, (report["measured"].split(":")[0].split(",")[0], f"measured by turns: {report['measured']}"))
    if report["mode"] == "on":
        shown.append((size(report["graph_bytes_most"]), "of device memory at most"))
        shown.append((duration(report["hold_longest_ns"]), "the longest that a launch was held back"))
    return '<div class="cards">' + "".join(f'<div class="card"><b>{escape(value)}</b><span>{escape(words)}</span></div>' for value, words in shown) + "</div>"


def over_time(report):
    if not any(report.get("share", {}).get("ops", ())):
        return ""
    came, go = ("would come", "would go") if report["mode"] == "observe" else ("came", "went")
    return section("Over time", f"Each bar is an interval. Blue launches {came} out of a graph; orange ones {go} to the driver one by one, as without Reprise: "
                   "because their sequence was not known yet, or does not repeat.",
                   figure(plots.over_time(report["share"], reports.done(report, "replayed")),
                          keys(replayed=reports.done(report, "replayed"), eager=reports.done(report, "launched one by one"))))


def traces(report):
    rows = [row for row in reports.biggest(report["trace_rows"], "eager_ns", TRACES_MOST) if row["replays"]]
    if not rows:
        return ""
    observed_only = report["mode"] == "observe"
    heads = ["stream", "length", "times" if observed_only else "replays", "of all calls", "<nodes patched", "<early exits", "<<begins with"]
    cells = [[f"{row.get('who', '')} {row['lane']}".strip(), row["length"], count(row["replays"]), share(row["ops"], report["ops"]), tables.means(row), tables.exits(row),
              shortened(row.get("first", "-"), 120)] for row in rows]
    if not observed_only:
        heads.insert(-1, "memory")
        for row, shown in zip(rows, cells):
            shown.insert(-1, size(row["graph_bytes"]) if row["live"] else "ended")
    listed = table(heads, cells)
    bar = "took one by one; orange is what the graph's launches would take instead, blue what would be saved" if observed_only else \
        "would have taken one by one; orange is what the graph's launches take instead, blue what is saved"
    return section("Traces", f"A trace is a sequence that repeats, and the graph that stands for it. A bar is the time that its launches {bar}.",
                   figure(plots.of_traces(rows, report["gain"]["launch_ns"]),
                          keys(replayed=reports.done(report, "saved"), eager=reports.done(report, "spent on launching graphs"))), listed)


def launch_costs(report):
    kinds = {"eager": ("eager", "launched one by one"), "graph": ("replayed", "launch of a graph")}
    kinds = {name: kind for name, kind in kinds.items() if report["histograms"][name]}
    svg = plots.histogram(report["histograms"], {name: colour for name, (colour, _) in kinds.items()})
    both = "One launch of a graph does the work of many others, so the two are not to be compared one to one. " if len(kinds) > 1 else ""
    return section("What a launch costs", f"How long single launches took on the program's thread; further left is better. {both}"
                   "Samples; times that waited for a full queue are in it, too.", figure(svg, keys(**dict(kinds.values()))))


def fates(report):
    rows = [(name, count(ops), share(ops, report["ops"]), meaning) for name, ops, meaning in reports.fates(report) if ops]
    rows += [(f"({name})", count(number), "", meaning) for name, number, meaning in reports.beside(report)]
    eager = "All of it went to the driver as the program asked" if report["mode"] == "observe" else "What was not replayed went to the driver as the program asked"
    return section("What happened to each call", f"{eager}. What is in brackets is not among the launches.", table(("<", "calls", "share", "<why"), rows))


def gain(report):
    parts = report["gain"]
    word, gained = reports.gained(report)
    first, second = ("launching the calls that would be replayed took", "launching graphs would take") if report["mode"] == "observe" else \
        ("launching the replayed calls one by one would have taken", "launching graphs took")
    rows = [(first, duration(parts["replaced_ns"])), (second, duration(parts["launches_ns"])),
            ("patching them", duration(parts["patches_ns"])), ("early exits, beside issuing", duration(parts["exits_ns"])),
            ("per-call overhead, at 60 ns a call (assumed)", duration(parts["defers_ns"])), (word, duration(gained)),
            *((f"{name}, {words}", shorter) for name, shorter, words in observed.run_shorter(report)),
            (f"building graphs{' would take' if report['mode'] == 'observe' else ''}, in the background", duration(parts["build_ns"]))]
    even = reports.break_even(report)
    assumed = f" Assumed, as on an H200, since nothing was measured: {tables.assumed(report)}." if tables.assumed(report) else ""
    words = f"Time of the program's threads.{assumed} The run gets shorter by this only as far as the GPU waited for launches."
    return section("Gain", words + (f" A graph pays for its building after {of_launches(even)}." if even else ""), table(("<", "time"), rows))


def idle(report):
    if "gpu" in report:
        return section("The GPU, measured by CUPTI", "", table(("<", "time", "<"), observed.measured(report)),
                       table(("in all", "launches", "each", "<<kernel"), observed.longest_kernels(report)))
    if not report["histograms"]["interval"]:
        return ""
    rows = [(f"{us} us", *map(duration, observed.idle(report, us * 1000))) for us in observed.KERNEL_US]
    return section("GPU waiting, estimated", "From the pauses between calls on the host: if kernels take as long as the first column says, the GPU would wait so long between "
                   "launches. Nothing was measured on the GPU.", table(("kernels take", "it waits", "of it for launches"), rows))


def ranks(each):
    if len(each) < 2:
        return ""
    rows = [(reports.who(one), one["host"], one["pid"], count(one["ops"]), share(one["replayed"], one["ops"]), duration(one["launch_time_ns"]),
             duration(one["saved_ns"]), duration(one["hold_longest_ns"]), size(one["graph_bytes_most"])) for one in each]
    return section("Processes", "", table(("<", "<host", "pid", "ops", reports.done(each[0], "replayed"), "launch time", reports.done(each[0], "saved"),
                                           "longest hold", "graphs"), rows))


def kernels(report):
    rows = sorted(report["kernels"], key=lambda row: row["watched"] + row["replayed"], reverse=True)[:20]
    return section("Kernels", "By name; those that nobody looked at are missing.", rows and table(("launches", reports.done(report, "replayed"), "<<name"),
                   [(count(row["watched"] + row["replayed"]), share(row["replayed"], row["watched"] + row["replayed"]), shortened(row["name"], 200)) for row in rows]))


def call_sites(report):
    rows = reports.biggest(report["call_sites"], "count", 20)
    return section("Where sequences end", f"Calls that have everything before them issued first; {reports.call_site_words(report)}.",
                   rows and table(("times", "<call", "<<from", "<what it does"),
                                  [(count(row["count"]), row["call"], reports.call_site(row), reports.NAMES["call_sites"][row["kind"]]) for row in rows]))


def options(report):
    rows = [(name, option["value"], option["from"]) for name, option in report.get("options", {}).items()]
    return section("Options", "What held while this was counted.", rows and table(("<", "<<value", "<from"), rows))


def whole(each):
    report = reports.name_functions(reports.join(each))
    name = Path(report["command"][0]).name if report["command"] else "a program"
    body = [f"<h1>Reprise: {escape(name)}</h1>", *(f'<p class="quiet">{escape(line)}</p>' for line in tables.head(report).splitlines()),
            f"<p>{escape(tables.verdict(report))}</p>"]
    if report["ops"]:
        body += [cards(report), ranks(each), over_time(report), traces(report), launch_costs(report), fates(report), gain(report), idle(report), kernels(report),
                 call_sites(report)]
    body.append(options(report))
    return ('<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'; img-src data:">'
            f'<link rel="icon" href="data:,"><title>Reprise: {escape(shortened(name, 60))}</title><style>{STYLE}</style></head>'
            f"<body>{''.join(body)}</body></html>\n")
