#!/usr/bin/env python3
"""Holds docs/hazards.md against the tests, the GPU programs and tests/mutations.py, and README against docs/hazards.md.

    check_hazards.py BUILD [--write]

Each hazard there has its test in the build folder where it says sim, its program in tests/hazards_gpu where it says GPU, and in the last column the
bugs that its test has to find, or the reason why there is none; and each program of tests/hazards and tests/hazards_gpu is a hazard there. Not all tests of a
hazard are for scripts/test --all alone. README says how many hazards there are. --write fills in the last column, and README's numbers.
"""
import argparse
import json
import re
import sys
from pathlib import Path

from lib import tally
from lib.planting import BUGS, WITHOUT

TOP = Path(__file__).resolve().parents[2]
PAGE = TOP / "docs" / "hazards.md"
README = TOP / "README.md"
NUMBERS = r"(?:some )?\d+ hazards, (?:some )?\d+ of them on the GPU"


def programs(folder):
    """The names in the tables of hazards of a folder's C files."""
    return {name for path in (TOP / "tests" / folder).glob("*.c") for name in re.findall(r'[\t ]\{"(\w+)",\s+[a-z_]\w*\},', path.read_text())}


def of(name, names, listed):
    """The names that are the hazard's: its own, and those that begin with it and are no hazard by themselves, since it may come in several forms."""
    return [one for one in names if one == name or (re.match(rf"{name}[ _]", one) and one not in listed)]


def rows(text):
    """Each hazard's line, and its cells."""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 5 and re.fullmatch(r"\w+", cells[0]) and cells[0] != "name":
            yield line, cells


def tests_of(cells, tests, listed):
    """The tests that its row names; else those of its name. Meson puts _ for : in names."""
    named = [name.replace(":", "_") for name in re.findall(r"`([^`]+)`", cells[3])]
    return named or of(cells[0], tests, listed)


def last_column(finders):
    """What the last column has to say of a hazard whose tests are these, and whether there is either a bug to find or a reason why not."""
    bugs = [bug[0] for bug in BUGS if set(bug[4].split()) & set(finders)]
    reasons = list(dict.fromkeys(f"nothing to break: {WITHOUT[name]}" for name in finders if name in WITHOUT))
    return "; ".join(bugs + reasons), bool(bugs) != bool(reasons)


def problems(cells, tests, listed):
    name, _, _, tested, column = cells
    finders = tests_of(cells, tests, listed)
    if not finders and re.search(r"\bsim\b", tested):
        yield "there is no test of that name"
    for one in finders:
        if one not in tests:
            yield f"there is no test {one}"
    if finders and {f"hazards / {one}" for one in finders} <= tally.spared():
        yield "all its tests are spare in tests/names.txt"
    if re.search(r"\bGPU\b", tested) and not of(name, programs("hazards_gpu"), listed):
        yield "there is no such program in tests/hazards_gpu"
    expected, sound = last_column([name, *finders])
    if not sound:
        yield "tests/mutations.py has neither a bug that its test finds nor a reason why not, or both"
    elif column != expected:
        yield "the last column is not what tests/mutations.py says: --write fills it in"


def numbers(hazards):
    """What README says of them, in tens: one more leaves it as it is."""
    on_gpu = sum("GPU" in cells[3].split("`")[0] for _, cells in hazards)
    return f"some {round(len(hazards), -1)} hazards, some {round(on_gpu, -1)} of them on the GPU"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--write", action="store_true")
    settings = parser.parse_args()
    tests = [test["name"] for test in json.loads((settings.build / "meson-info/intro-tests.json").read_text())]
    page = PAGE.read_text()
    hazards = list(rows(page))
    listed = {cells[0] for _, cells in hazards}
    if settings.write:
        for line, cells in hazards:
            cells[4] = last_column([cells[0], *tests_of(cells, tests, listed)])[0]
            page = page.replace(line, "| " + " | ".join(cells).rstrip() + " |")
        PAGE.write_text(page)
        README.write_text(re.sub(NUMBERS, numbers(hazards), README.read_text()))

    wrong = [f"{cells[0]}: {problem}" for _, cells in hazards for problem in problems(cells, tests, listed)]
    wrong += [f"{name}: a program, but no hazard in docs/hazards.md" for name in sorted(programs("hazards") | programs("hazards_gpu"))
              if not any(of(hazard, [name], listed) for hazard in listed)]
    if re.findall(NUMBERS, README.read_text()) != [numbers(hazards)]:
        wrong.append(f"README: it does not say \"{numbers(hazards)}\" once: --write fills it in")
    wrong += [f"{name}: tests/mutations.py says that nothing can be broken, but it is no hazard" for name in WITHOUT if name not in listed]
    for line in wrong:
        print(line)
    print(f"{len(listed)} hazards, {len(wrong)} things wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
