#!/usr/bin/env python3
"""src/base/tuning.h has every heuristic number, with its unit, what it is for, and where it was measured.

    check_tuning.py SOURCES

A source is `guess`, or names a GPU and a commit or a decision, or a decision alone; a decision has a page. A number that a file of src/ defines by itself, in
nanoseconds or ops, or by a name as heuristics have them, is in LEFT with the reason. Each number is used.
"""
import re
import sys
from pathlib import Path

ROW = re.compile(r'X\((\w+),\s*([^,"]+),\s*"([^"]*)",[\s\\]*"([^"]*)",[\s\\]*"([^"]*)"\)')
SOURCE = re.compile(r"guess|(?:[A-Z]+\d+, (?:decision \d+|[0-9a-f]{7,}))|(?:recorded streams, )?decision \d+(?:, [0-9a-f]{7,})?")
HEURISTIC = re.compile(r"_(NS|MS|OPS|SHARE|WEIGHT|MARGIN|PATIENCE|PERIOD|SPAN|LINGER|BACKOFF|COOLDOWN)\b|\b(SHARE|WEIGHT|MARGIN|VISIT|LEAST|TRUSTED|HELD|FAR|CROWD)\b")
NUMBER = re.compile(r"^#define (\w+)[ \\\n]+\(*-?\d", re.MULTILINE)
LEFT = {
    ("src/cli/control.c", "PATIENCE_MS"): "the command's, which has no part in launches",
    ("src/cli/progress.c", "PATIENCE_MS"): "the command's",
    ("src/cli/control.h", "REPRISE_PROGRESS_MS"): "the command's",
}


def complaints(sources):
    text = (sources / "src/base/tuning.h").read_text()
    table = text[text.index("#define REPRISE_TUNING"):]
    table = table[:table.index("\n\n")]
    rows = ROW.findall(table)
    there = len(re.findall(r"\bX\(", table))
    if len(rows) < 100 or len(rows) != there:
        yield f"{len(rows)} rows can be read of {there}"
    names = [row[0] for row in rows]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{name}: there twice"
    files = {path: path.read_text() for path in sorted((sources / "src").rglob("*.[ch]")) if path.name != "tuning.h"}
    used = set(re.findall(r"REPRISE_TUNE_(\w+)", "\n".join(files.values()) + table))
    for name, value, unit, purpose, source in rows:
        if unit == "" or purpose == "":
            yield f"{name}: no unit, or nothing that it is for"
        if name.endswith("_NS") and unit != "ns":
            yield f"{name}: is in {unit}"
        if SOURCE.fullmatch(source) is None:
            yield f"{name}: `{source}` is no source"
        for number in re.findall(r"decision (\d+)", source):
            if not list((sources / "docs/decisions").glob(f"{int(number):04}-*.md")):
                yield f"{name}: there is no decision {number}"
        if name not in used:
            yield f"{name}: is not used"
    for name in sorted(used - set(names)):
        yield f"{name}: is not in the table"
    left = set()
    for path, code in files.items():
        for name in NUMBER.findall(code):
            where = (str(path.relative_to(sources)), name)
            left.add(where)
            if HEURISTIC.search(name) is not None and where not in LEFT:
                yield f"{where[0]}: {name} belongs into src/base/tuning.h"
    for file, name in sorted(set(LEFT) - left):
        yield f"{file}: {name} is gone, and still named here"


def main(sources):
    found = list(complaints(Path(sources)))
    print("\n".join(found) or "every heuristic number is in one table")
    return len(found) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
