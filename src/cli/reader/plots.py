"""Plots as SVG inside the page. Colours come from the page's classes, so they follow its light and dark modes."""
from html import escape
from math import log10

from amounts import count, duration, share, shortened

WIDTH = 640
LEFT, RIGHT, TOP, BOTTOM = 62, 10, 10, 40  # margins
LETTER = 6.6  # approximate width of a letter; labels too long for their room are shortened


def text(x, y, words, anchor="middle", kind=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(str(words))}</text>'


def rect(x, y, width, height, kind, title):
    return (f'<rect x="{x:.2f}" y="{y:.2f}" width="{max(width, 0.5):.2f}" height="{max(height, 0):.2f}" class="{kind}">'
            f'<title>{escape(title)}</title></rect>')


def line(x1, y1, x2, y2):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def drawing(height, label, parts):
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">' + "".join(parts) + "</svg>"


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


def levels(most, top, bottom, name):
    """Horizontal lines at round values, with labels; and the function from a value to its y."""
    step = round_step(most)
    most = max(most, step)

    def y(value):
        return bottom - (bottom - top) * value / most

    parts, value = [], 0
    while value <= most * 1.001:
        parts += [line(LEFT, y(value), WIDTH - RIGHT, y(value)), text(LEFT - 6, y(value) + 4, name(value), "end")]
        value += step
    return parts, y


def over_time(series, replayed_word="replayed"):
    """Launches per interval: replayed ones below, eager ones on top."""
    height, interval = 230, series["interval_ns"] / 1e9
    bottom = height - BOTTOM
    ops = series["ops"]
    replayed = [min(part, whole) for part, whole in zip(series["replayed"], ops)]
    seconds = max(len(ops) * interval, interval)
    parts, y = levels(max(ops, default=0) / interval, TOP, bottom, short)
    wide = (WIDTH - LEFT - RIGHT) / max(len(ops), 1)
    for i, (part, whole) in enumerate(zip(replayed, ops)):
        title = f"from {i * interval:.3g} s: {count(whole)} launches, {share(part, whole)} {replayed_word}"
        x, bar = LEFT + i * wide, wide - min(1, wide / 5)
        parts += [rect(x, y(part / interval), bar, bottom - y(part / interval), "replayed", title),
                  rect(x, y(whole / interval), bar, y(part / interval) - y(whole / interval), "eager", title)]
    step = round_step(seconds, 6)
    for i in range(int(seconds / step) + 1):
        x = LEFT + (WIDTH - LEFT - RIGHT) * i * step / seconds
        parts.append(text(min(x, WIDTH - RIGHT - 12), bottom + 16, f"{i * step:g}"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, height - 6, "seconds since the first CUDA call; launches a second"))
    return drawing(height, f"launches over time, {replayed_word} and eager", parts)


def of_traces(rows, launch_ns):
    """A bar per trace: the launch time of its ops, and the part that its graph launches took; beside it, the time saved."""
    high, label = 36, 250
    most = max((row["eager_ns"] for row in rows), default=0) or 1
    parts = []
    for i, row in enumerate(rows):
        y, spent = TOP + i * high, min(row["replays"] * launch_ns, row["eager_ns"])
        wide, taken = ((WIDTH - label - 80) * part / most for part in (row["eager_ns"], spent))
        words = f"{row['length']} op{'s' * (row['length'] > 1)}, {count(row['replays'])} times"
        kernel = shortened(row.get("first", "no kernel"), int(label / LETTER) - 2)
        title = f"{words}: {duration(row['eager_ns'])} eagerly, {duration(spent)} as graphs"
        parts += [text(label - 8, y + 10, words, "end", "strong"), text(label - 8, y + 24, kernel, "end"),
                  rect(label, y, taken, high - 10, "eager", title), rect(label + taken, y, wide - taken, high - 10, "replayed", title),
                  text(label + wide + 6, y + 16, duration(row["eager_ns"] - row["replays"] * launch_ns), "start")]
    return drawing(TOP + len(rows) * high + 4, "launch time that each trace saves", parts)


def histogram(histograms, names):
    """Durations of launches on a logarithmic scale, as shares of each kind of launch."""
    height = 230
    bottom = height - BOTTOM
    shown = {name: trimmed(histograms[name]) for name in names if histograms[name]}
    if not shown:
        return ""
    begin = min(bucket[0] for buckets in shown.values() for bucket in buckets)
    end = max(bucket[1] for buckets in shown.values() for bucket in buckets)
    begin = max(begin, 1)
    end = max(end, begin + 1)

    def x(ns):
        return LEFT + (WIDTH - LEFT - RIGHT) * log10(max(ns, begin) / begin) / log10(end / begin)

    shares = {name: [(*bucket[:2], bucket[2] / (sum(other[2] for other in histograms[name]) or 1)) for bucket in buckets] for name, buckets in shown.items()}
    parts, y = levels(max(part for buckets in shares.values() for _, _, part in buckets) * 100, TOP, bottom, lambda value: f"{value:g} %")
    for name, buckets in shares.items():
        for first, last, part in buckets:
            title = f"{duration(first)} to {duration(last)}: {100 * part:.1f} % of these launches"
            parts.append(rect(x(first), y(100 * part), x(last) - x(first) - 0.5, bottom - y(100 * part), f"{names[name]} over", title))
    parts += ticks(begin, end, x, bottom)
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, height - 6, "time of one launch on the program's thread"))
    return drawing(height, "how long launches took", parts)


def trimmed(buckets):
    """The buckets without the rarest at the long end, a thousandth at most: these would squeeze the others."""
    total, kept, rest = sum(bucket[2] for bucket in buckets), list(buckets), 0
    while len(kept) > 1 and (rest + kept[-1][2]) * 1000 <= total:
        rest += kept.pop()[2]
    return kept


def ticks(begin, end, x, bottom):
    """Labels at 1, 2 and 5 times each power of ten, far enough apart to be readable."""
    last, parts = -1e9, []
    for power in range(10):
        for factor in (1, 2, 5):
            value = factor * 10**power
            if begin <= value <= end and x(value) - last > 48 and x(value) < WIDTH - 20:
                last = x(value)
                parts += [line(last, bottom, last, bottom + 4), text(last, bottom + 16, duration(value))]
    return parts
