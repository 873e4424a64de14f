"""Plots for the page: bars are boxes whose sizes are per cent of their place, and text stands beside them as text of the page, so it is of one size at any width.
Colours come from the page's classes, so they follow its light and dark modes."""
from html import escape
from math import log10

from amounts import duration, of_calls, share

TITLE_MOST = 2000    # characters of what is shown where the mouse rests
TALL = 1000          # units of height in a drawing
LETTER, NARROW_LETTER = 1.2, 3.2    # per cent of a plot's width that a letter of a label takes at most: beside the page's text, and on a phone
EDGES = 5, 92        # labels before the first and behind the second stand inside of the plot


def title(words):
    return f' title="{escape(str(words)[:TITLE_MOST])}"' if words else ""


def per_cent(part, whole=1):
    """A part as a number from 0 to 100."""
    return min(max(100 * part / whole, 0), 100) if whole else 0


def piece(kind, begin, wide, words=""):
    """A piece of a bar. Begin and width in per cent of the bar's place."""
    begin = min(begin, 100)
    return f'<i class="{kind}" style="left:{begin:.2f}%;width:{min(wide, 100 - begin):.2f}%"{title(words)}></i>'


def bar(*pieces, kind=""):
    return f'<span class="bar {kind}">{"".join(pieces)}</span>'


def rows(listed):
    """Bars below one another, each with its label and its value: (label, bar, value), as HTML."""
    return '<div class="rows">' + "".join(f'<div class="row"><span class="label">{label}</span>{drawn}<span class="value">{value}</span></div>' for label, drawn, value in listed) + "</div>"


def stacked(parts):
    """One bar of (kind, amount, words), which together are the whole."""
    whole, at, pieces = sum(amount for _, amount, _ in parts), 0, []
    for kind, amount, words in parts:
        wide = per_cent(amount, whole)
        pieces.append(piece(f"{kind} part", at, wide, f"{words}: {share(amount, whole)}"))
        at += wide
    return bar(*pieces, kind="tall")


def round_step(most, steps=4):
    """A step of 1, 2 or 5 times a power of ten. About so many steps reach `most`."""
    if most <= 0:
        return 1
    power = 10 ** int(log10(most / steps) - (most < steps))
    return next(factor * power for factor in (1, 2, 5, 10, 20) if factor * power * (steps + 0.5) >= most)


def short(value):
    for size, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{name}"
    return f"{value:g}"


def box(x, y, wide, high, kind, words):
    return f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(wide, 0.01):.2f}" height="{max(high, 0):.2f}" class="{kind}"><title>{escape(words)}</title></rect>'


def extent(tick, letter):
    """Where a label begins and ends, with a blank."""
    at, wide = tick[0], letter * (len(tick[1]) + 1)
    begin = at if at < EDGES[0] else at - wide if at > EDGES[1] else at - wide / 2
    return begin, begin + wide


def readable(ticks, letter):
    """As many of the ticks as have room, at equal distances. Those at the ends may be left out: at an edge a label stands closer to the next."""
    for shown in (ticks[::every][part] for every in range(1, len(ticks) + 1) for part in (slice(None), slice(None, -1), slice(1, None), slice(1, -1))):
        extents = [extent(tick, letter) for tick in shown]
        if shown and all(end <= begin for (_, end), (begin, _) in zip(extents, extents[1:])):
            return shown
    return []


def plot(label, boxes, levels, ticks, below):
    """A drawing of 100 by TALL units with its axes. `levels`: (height from 0 to 1, label); `ticks`: (place from 0 to 100, label)."""
    lines = "".join(f'<i style="bottom:{per_cent(high):.2f}%"></i>' for high, _ in levels)
    heights = "".join(f'<span style="bottom:{per_cent(high):.2f}%">{escape(words)}</span>' for high, words in levels)
    narrow = readable(readable(ticks, LETTER), NARROW_LETTER)
    places = "".join(f'<span class="{"" if (at, words) in narrow else "spare"}{" last" if at > EDGES[1] else " first" if at < EDGES[0] else ""}" style="left:{at:.2f}%">{escape(words)}</span>'
                     for at, words in readable(ticks, LETTER))
    return (f'<figure class="plot"><div class="heights">{heights}</div><div class="field">{lines}<svg viewBox="0 0 100 {TALL}" preserveAspectRatio="none" role="img" '
            f'aria-label="{escape(label)}">{"".join(boxes)}</svg></div><div class="places">{places}</div><figcaption>{escape(below)}</figcaption></figure>')


def level_lines(most, name):
    """Round values up to `most`, as (height, label); and the value at the top."""
    step = round_step(most)
    top = max(most, step)
    return [(i * step / top, name(i * step)) for i in range(int(top / step * 1.001) + 1)], top


def over_time(series, replayed_word="replayed", small=False):
    """Calls per interval: replayed ones below, others on top."""
    interval, ops = series["interval_ns"] / 1e9, series["ops"]
    replayed = [min(part, whole) for part, whole in zip(series["replayed"], ops)]
    seconds = max(len(ops) * interval, interval)
    levels, top = level_lines(max(ops, default=0) / interval, short)
    wide, boxes = 100 / max(len(ops), 1), []
    for i, (part, whole) in enumerate(zip(replayed, ops)):
        words = f"from {i * interval:.3g} s: {of_calls(whole)}, {share(part, whole)} {replayed_word}"
        high, all_high = (TALL * value / interval / top for value in (part, whole))
        drawn = wide * (0.8 if len(ops) > 1 else 0.1)
        boxes += [box(i * wide, TALL - high, drawn, high, "replayed", words), box(i * wide, TALL - all_high, drawn, all_high - high, "eager", words)]
    step = round_step(seconds, 2 if small else 6)
    ticks = [(100 * i * step / seconds, f"{i * step:g}{' s' if small else ''}") for i in range(int(seconds / step * 1.001) + 1)]
    return plot(f"calls over time, {replayed_word} and eager", boxes, levels[-1:] if small else levels, ticks,
                "" if small else "seconds since the first CUDA call; up: calls a second")


def histogram(histograms, names):
    """Times of calls on a logarithmic scale, as shares of each kind. `names`: for each, its class and how many calls one of them stands for."""
    shown = {name: [(begin / calls, end / calls, number) for begin, end, number in trimmed(histograms[name])] for name, (_, calls) in names.items() if histograms[name]}
    if not shown:
        return ""
    begin = max(min(bucket[0] for buckets in shown.values() for bucket in buckets), 1)
    end = max(max(bucket[1] for buckets in shown.values() for bucket in buckets), begin + 1)

    def x(ns):
        return 100 * log10(min(max(ns, begin), end) / begin) / log10(end / begin)

    wholes = {name: sum(bucket[2] for bucket in histograms[name]) or 1 for name in shown}
    levels, top = level_lines(max(100 * number / wholes[name] for name, buckets in shown.items() for _, _, number in buckets), lambda value: f"{value:g} %")
    boxes = []
    for name, buckets in shown.items():
        for first, last, number in buckets:
            part = 100 * number / wholes[name]
            words = f"{duration(first)} to {duration(last)} a call: {part:.1f} % of these"
            boxes.append(box(x(first), TALL * (1 - part / top), x(last) - x(first) - 0.1, TALL * part / top, f"{names[name][0]} over", words))
    return plot("how long calls took", boxes, levels, log_ticks(begin, end, x), "time of one call on the program's thread")


def trimmed(buckets):
    """The buckets without the rarest at the long end, a thousandth at most: these would squeeze the others."""
    total, kept, rest = sum(bucket[2] for bucket in buckets), list(buckets), 0
    while len(kept) > 1 and (rest + kept[-1][2]) * 1000 <= total:
        rest += kept.pop()[2]
    return kept


def log_ticks(begin, end, x):
    """Labels at 1, 2 and 5 times each power of ten."""
    values = (factor * 10**power for power in range(20) for factor in (1, 2, 5))
    return [(x(value), duration(value)) for value in values if begin <= value <= end]
