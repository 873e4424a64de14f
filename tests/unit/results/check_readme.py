#!/usr/bin/env python3
"""Every row of README's table is a row of a page in docs/results, its output and the figures of its text are there, too; the pages that README names are there; there are as many tests as it says; and
docs/programs.md says what the pages of programs say.

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
    """Whether a row of README (program with the loop's name, eager, replayed, gain, interval) is a row of results (loop, eager, replayed, gain, interval, ...)."""
    if len(result) < 5 or f"`{result[0]}`" not in row[0]:
        return False
    return [number(cell) for cell in row[1:4]] == [number(cell) for cell in result[1:4]] and row[4] == result[4]


def shown_lines(readme):
    """The lines that README shows as the output of `reprise`."""
    for fence in re.findall(r"^```\n(.*?)^```$", readme, re.S | re.M):
        if "$ reprise " in fence:
            yield from (line for line in fence.splitlines() if line[:2] not in ("$ ", "# "))


def told_in_text(readme):
    """The figures of README's sentences: times of a program in three ways, as such, and gains."""
    prose = "\n".join(line for line in re.sub(r"^```.*?^```$", "", readme, flags=re.S | re.M).splitlines() if not line.startswith("|"))
    return re.findall(r"([\d.]+) us\s+eagerly,\s+([\d.]+)\s+under\s+Reprise,\s+and\s+([\d.]+)\b", prose), re.findall(r"(\d+\.\d+) x\b", prose), len(re.findall(r"\d us\b", prose))


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
    lines = {line for page in results.values() for line in page.splitlines()}
    shown = list(shown_lines(readme))
    if not shown:
        yield "README shows no output"
    yield from (f"README shows what is not in docs/results: {line}" for line in shown if line not in lines)
    triples, gains, times = told_in_text(readme)
    for triple in triples:
        if not any(len(result) > 3 and all(rounds_to(number(cell), Decimal(said)) for cell, said in zip(result[1:4], triple)) for result in known):
            yield f"README tells times that are no row of docs/results: {', '.join(triple)}"
    yield from (f"README tells a gain that is not in docs/results: {gain}" for gain in gains if not any(re.search(rf"(?<![\d.]){re.escape(gain)}(?![\d.])", page) for page in results.values()))
    # The hold limit is a time, and not measured.
    if times - len(triples) - len(re.findall(r"held back for \d+ us", readme)):
        yield "README tells a time in a form that is not held against docs/results"


def programs_told_otherwise(page, readme, results):
    """A row of docs/programs.md is a row of the page that it names."""
    listed = [row for row in rows(page) if len(row) == 8 and row[0] not in ("program", "---")]
    for row in listed:
        name = re.search(r"results/([\w.-]+\.md)", row[7])
        heads, interval = {}, "too few runs" if row[2] == "–" else row[2]
        for cells in rows(results.get(name and name[1], "")):
            if cells[0] == "program":
                heads = {head: place for place, head in enumerate(cells)}
            elif cells[0] == row[0] and heads and cells[heads["gain"]] == row[1] and (cells[heads["interval"]] if "interval" in heads else "too few runs") == interval:
                break
        else:
            yield f"docs/programs.md: «{row[0]}» is no row of {name and name[1]}: {row[1]}, {row[2]}"
    if f"{len(listed)} public programs" not in readme or f" {len(listed)} programs: " not in page:
        yield f"README or docs/programs.md does not say that there are {len(listed)} programs"


def counted(sources):
    """How many hazards docs/hazards.md has, how many of them on a GPU, and the checks of the conformance suite."""
    hazards = [row for row in rows((sources / "docs" / "hazards.md").read_text(encoding="utf-8")) if len(row) == 5 and row[0] != "name"]
    checks = sum(len(re.findall(r"^\s+CHECK(?:_ALONE)?\(", path.read_text(encoding="utf-8"), re.M)) for path in sources.glob("tests/conformance/*.c"))
    return len(hazards), sum("GPU" in row[3] for row in hazards), checks


def told_otherwise(readme, there):
    """The first two are told in tens."""
    told = re.search(r"some (\d+) hazards, some (\d+) of them on the GPU.*?with (\d+) checks", readme, re.S)
    wanted = (*(round(count, -1) for count in there[:2]), there[2])
    if not told or tuple(map(int, told.groups())) != wanted:
        yield "README does not say that there are some {} hazards, some {} of them on the GPU, and {} checks of the driver API".format(*wanted)


def main():
    sources = Path(sys.argv[1])
    readme = (sources / "README.md").read_text(encoding="utf-8")
    results = {path.name: path.read_text(encoding="utf-8") for path in sources.glob("docs/results/*.md")}
    there = counted(sources)
    programs = (sources / "docs" / "programs.md").read_text(encoding="utf-8")
    found = [*problems(readme, results), *told_otherwise(readme, there), *programs_told_otherwise(programs, readme, results)]
    for changed in (("| 1.62 | 1.32–1.91 |", "| 1.63 | 1.32–1.91 |"), ("| 1.62 | 1.32–1.91 |", "| 1.62 | 1.33–1.91 |")):
        if changed[0] not in programs or not list(programs_told_otherwise(programs.replace(*changed), readme, results)):
            found.append(f"a program's figure that was never measured is not found: {changed[1]}")
    if not list(told_otherwise(readme, (there[0] + 10, *there[1:]))) or not list(told_otherwise(readme, (*there[:2], there[2] + 1))):
        found.append("a wrong number of tests is not found")
    # What was never measured is found.
    for changed in (("3.68–3.95", "3.68–3.96"), ("96.7 us", "95.7 us"), ("3.81 x", "3.80 x"), ("(`chain100`)", "(`chain20`)"), ("2.69 x faster", "2.79 x faster"),
                    ("and 187 as", "and 188 as"), ("gain of 1.19 x", "gain of 9.99 x"), ("eagerly, 1530", "eagerly or 1530")):
        if changed[0] not in readme or not list(problems(readme.replace(*changed), results)):
            found.append(f"a figure that was never measured is not found: {changed[1]}")
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
