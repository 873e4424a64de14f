"""Plots of a page of scripts/bench: SVG, both axes logarithmic. A page of Markdown shows them as pictures, so colours and fonts are their own."""
import statistics
from html import escape
from math import log10

WIDE, HIGH = 760, 460
LEFT, RIGHT, TOP, BELOW = 70, 130, 40, 60
# Of colours that people who see few of them tell apart; lines differ in their dashes, too.
LINES = (("eager", "eager", "#d55e00", ""), ("reprise", "Reprise", "#0072b2", ""), ("by hand", "by hand", "#009e73", "7 4"), ("floor", "limit", "#666666", "2 4"))
AXES = {"kernels": ("number of kernels", "kernels of about 1 us, then a wait"), "us": ("length of a kernel, us", "100 kernels, then a wait")}


def points(rows, axis):
    """For each line: (x, least, median, greatest), of the rows that have a place on the axis."""
    found = {way: [] for way, *_ in LINES}
    for measured in sorted((measured for measured in rows if axis in measured.row.sweep), key=lambda measured: measured.row.sweep[axis]):
        for way in found:
            us = [sample.us for sample in measured.good(measured.by_hand() if way == "by hand" else way)]
            if us:
                found[way].append((measured.row.sweep[axis], min(us), statistics.median(us), max(us)))
    return found


def steps(least, greatest, factors=(1, 2, 5)):
    """Round numbers, from the last below to the first above."""
    every = [factor * 10.0**power for power in range(-3, 8) for factor in factors]
    begin = max((value for value in every if value <= least * 1.0001), default=every[0])
    end = min((value for value in every if value >= greatest * 0.9999), default=every[-1])
    return [value for value in every if begin <= value <= end]


def scale(ticks, begin, end):
    low, high = log10(ticks[0]), log10(max(ticks[-1], ticks[0] * 1.01))
    return lambda value: begin + (log10(value) - low) / (high - low) * (end - begin)


def text(x, y, words, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def line(x1, y1, x2, y2, colour, wide=1.0):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{wide:g}"/>'


def drawn_line(found, x, y, colour, dashes):
    """A line through the medians, and from the least to the greatest at each."""
    place = " ".join(f"{x(at):.1f},{y(median):.1f}" for at, _, median, _ in found)
    yield f'<polyline points="{place}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'
    for at, least, median, greatest in found:
        yield line(x(at), y(least), x(at), y(greatest), colour, 1.5)
        yield f'<circle cx="{x(at):.1f}" cy="{y(median):.1f}" r="3.5" fill="{colour}"/>'


def names(found, y):
    """Each line's name at its end, in the order of the lines; moved apart where they would cover each other."""
    ends = sorted((y(found[way][-1][2]), name, colour) for way, name, colour, _ in LINES if found[way])
    last = TOP - 16
    for high, name, colour in ends:
        last = max(high, last + 16)
        yield text(WIDE - RIGHT + 12, last + 4, name, "start", f' fill="{colour}" font-weight="bold"')


def svg(rows, axis, title):
    """None where there are no two places on the axis."""
    found = points(rows, axis)
    every = [point for each in found.values() for point in each]
    if len({point[0] for point in every}) < 2:
        return None
    across = steps(min(point[0] for point in every), max(point[0] for point in every))
    upwards = steps(min(point[1] for point in every), max(point[3] for point in every))
    x, y = scale(across, LEFT, WIDE - RIGHT), scale(upwards, HIGH - BELOW, TOP)
    label, what = AXES[axis]
    parts = [f'<rect width="{WIDE}" height="{HIGH}" fill="#ffffff"/>', text(LEFT, 22, f"{title}: {what}", "start", ' font-weight="bold"')]
    for value in across:
        parts += [line(x(value), TOP, x(value), HIGH - BELOW, "#dddddd"), text(x(value), HIGH - BELOW + 18, f"{value:g}")]
    for value in upwards:
        parts += [line(LEFT, y(value), WIDE - RIGHT, y(value), "#dddddd"), text(LEFT - 8, y(value) + 4, f"{value:g}", "end")]
    parts += [text((LEFT + WIDE - RIGHT) / 2, HIGH - 14, label), text(18, (TOP + HIGH - BELOW) / 2, "us an iteration", more=f' transform="rotate(-90 18 {(TOP + HIGH - BELOW) / 2:.1f})"')]
    for way, _, colour, dashes in LINES:
        if found[way]:
            parts += drawn_line(found[way], x, y, colour, dashes)
    parts += names(found, y)
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" width="{WIDE}" height="{HIGH}" font-family="sans-serif" font-size="13" fill="#333333" role="img">\n'
            f"<title>{escape(title)}: us an iteration against {escape(label)}</title>\n{body}\n</svg>\n")
