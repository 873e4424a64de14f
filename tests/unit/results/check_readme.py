#!/usr/bin/env python3
"""Every row of README's table is a row of a page in docs/results, rounded; and the pages that README names are there.

usage: check_readme.py SOURCES
"""
import re
import sys
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path


def rows(text):
    """The cells of each row of a page's tables."""
    for line in text.splitlines():
        if line.startswith("| "):
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def number(cell):
    """The number that a cell begins with, as it is written, or None."""
    found = re.match(r"\**(\d+(?:\.\d+)?)", cell)
    return Decimal(found.group(1)) if found else None


def rounds_to(exact, said):
    return exact is not None and exact.quantize(said, ROUND_HALF_UP) == said


def measured(row, result):
    """Whether a row of README (program, eager, Reprise, by hand, gain) can come from a row of results (program, eager, Reprise, ...)."""
    eager, under, by_hand, gain = (number(cell) for cell in row[1:5])
    found = [number(cell) for cell in result]
    if len(found) < 4 or not rounds_to(found[1], eager) or not rounds_to(found[2], under):
        return False
    if by_hand is not None and not rounds_to(found[3], by_hand):
        return False
    ratios = [found[1] / found[2]] + found[4:5]    # of the medians, and the median of the rounds' own
    return any(rounds_to(ratio, gain) for ratio in ratios)


def problems(readme, results):
    """README's text, and the pages of results by name."""
    for name in set(re.findall(r"docs/results/([\w.-]+\.md)", readme)) - results.keys():
        yield f"README names {name}, which is not in docs/results"
    known = [result for page in results.values() for result in rows(page)]
    figures = [row for row in rows(readme) if len(row) == 5 and number(row[1]) is not None]
    if not figures:
        yield "README has no table of figures"
    for row in figures:
        if not any(measured(row, result) for result in known):
            yield f"README's «{row[0]}» is no row of docs/results: {', '.join(row[1:])}"


def main():
    sources = Path(sys.argv[1])
    readme = (sources / "README.md").read_text(encoding="utf-8")
    results = {path.name: path.read_text(encoding="utf-8") for path in sources.glob("docs/results/*.md")}
    found = list(problems(readme, results))
    # A figure that was never measured is found.
    invented = "| swap | 296 us | **90.0 us** | 90.9 us | 3.3 x |\n"
    if not list(problems(invented, results)):
        found.append("a row that was never measured is not found")
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
