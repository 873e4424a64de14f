"""Amounts in readable form."""


def count(value):
    return f"{value:,}"


def of_launches(number):
    return f"{count(number)} launch{'es' * (number != 1)}"


def of_calls(number):
    """The page's word for them."""
    return f"{count(number)} call{'s' * (number != 1)}"


def share(part, whole):
    """A part is never told as none, nor as all, where it is neither."""
    if not whole:
        return "-"
    shown = f"{100 * part / whole:.1f}"
    return "< 0.1 %" if shown == "0.0" and part > 0 else "> 99.9 %" if shown == "100.0" and part < whole else f"{shown} %"


def duration(ns):
    """Three digits, with a suitable unit."""
    sign, ns = ("-" if ns < 0 else ""), abs(ns)
    for size, name in ((3600e9, "h"), (60e9, "min")):
        if ns >= 2 * size:
            return f"{sign}{digits(ns / size)} {name}"
    for size, name in ((1e9, "s"), (1e6, "ms"), (1e3, "us")):
        if ns >= size * 0.9995:
            return f"{sign}{digits(ns / size)} {name}"
    return f"{sign}{ns:.0f} ns"


def digits(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def size(bytes_):
    for factor, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if bytes_ >= factor:
            return f"{digits(bytes_ / factor)} {name}"
    return f"{bytes_} B"


def shortened(text, most):
    """A long name without its middle."""
    if len(text) <= most:
        return text
    return text[: most - most // 3 - 1] + "…" + text[-(most // 3):]
