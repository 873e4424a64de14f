#!/usr/bin/env python3
"""The rooms of src/ stand in one order, and so do the files within each: includes and calls go one way.

    check_rooms.py SOURCES LIBRARY DOORS COMMAND

A room includes and calls only rooms before it in ROOMS; what preload/ includes of src/ is in DOORS. Within a room files do not include or call each other in a
circle; a file is a .c with the .h of its name. Nor do those of preload/ and src/cli/, where a header may be of several files and counts for itself. Calls are
read from the symbols of object files: those in LIBRARY and DOORS, static libraries, and in COMMAND, the folder with those of the command. Prints each pair that
offends.
"""
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOMS = ("base", "driver", "op", "stats", "record", "timeline", "gpu", "nvtx", "graph", "trace", "lane", "workers", "report", "control", "process", "entry", "api")
DOORS = ("base", "driver", "op", "graph", "stats", "lane", "process", "entry")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def room_of(name):
    return name.split("/")[0]


def includes(sources):
    """(file, file that it includes): without .c and .h, relative to src/."""
    for room in ROOMS:
        for path in sorted((sources / "src" / room).rglob("*.[ch]")):
            for included in INCLUDE.findall(path.read_text()):
                if room_of(included) in ROOMS:
                    yield str(path.relative_to(sources / "src").with_suffix("")), included.removesuffix(".h")


def members(sources, library):
    """(member of the library, its lines of nm). Meson names an object file by its source's path, with _ for /."""
    files = {str(path.relative_to(sources / "src").with_suffix("")).replace("/", "_"): str(path.relative_to(sources / "src").with_suffix(""))
             for path in (sources / "src").rglob("*.c")}
    printed = subprocess.run(["nm", "--print-file-name", library], capture_output=True, text=True, check=True).stdout
    for line in printed.splitlines():
        head, rest = line.rsplit(":", 1)
        member = head.split(":")[-1].split("/")[-1]
        yield files[member.removesuffix(".c.o")], rest.split()


def calls(sources, library):
    """(file, file whose symbol it uses, the symbol)."""
    defined, used = {}, []
    for name, words in members(sources, library):
        kind, symbol = words[-2:]
        if kind == "U":
            used.append((name, symbol))
        elif kind.isupper():
            defined[symbol] = name
    for name, symbol in used:
        if symbol in defined and defined[symbol] != name:
            yield name, defined[symbol], symbol


def inside(folder, objects):
    """(file, file that it includes or calls) of a folder that is no room of the library; `objects` is a static library or a folder."""
    names = {path.name for path in folder.glob("*.[ch]")}
    for path in sorted(folder.glob("*.[ch]")):
        for included in INCLUDE.findall(path.read_text()):
            if room_of(included) in (included, folder.name) and Path(included).name in names:
                yield path.name, Path(included).name
    files = sorted(objects.glob("*.o")) if objects.is_dir() else [objects]
    printed = subprocess.run(["nm", "--print-file-name", *files], capture_output=True, text=True, check=True).stdout
    defined, used = {}, []
    for line in printed.splitlines():
        head, rest = line.rsplit(":", 1)
        name, (kind, symbol) = head.split(":")[-1].split("/")[-1].removesuffix(".o"), rest.split()[-2:]
        if kind == "U":
            used.append((name, symbol))
        elif kind.isupper():
            defined[symbol] = name
    yield from ((name, defined[symbol]) for name, symbol in used if defined.get(symbol) in names and name in names)


def circles(edges):
    """Pairs of files that can reach each other."""
    reached = {}

    def reach(start):
        if start not in reached:
            reached[start], left = set(), [start]
            while left:
                for after in edges[left.pop()]:
                    if after not in reached[start]:
                        reached[start].add(after)
                        left.append(after)
        return reached[start]

    return sorted((one, other) for one in list(edges) for other in edges[one] if one in reach(other))


def main(sources, library, doors, command):
    wrong, edges = [], defaultdict(set)
    for kind, found in (("includes", [(*pair, "") for pair in includes(sources)]), ("calls", list(calls(sources, library)))):
        if len(found) < 200:
            wrong.append(f"only {len(found)} {kind} were seen: the folders are wrong")
        for one, other, symbol in found:
            if ROOMS.index(room_of(other)) > ROOMS.index(room_of(one)):
                wrong.append(f"{one} {kind} {other} {symbol}".rstrip() + f": {room_of(other)} is an outer room of {room_of(one)}")
            elif room_of(one) == room_of(other) and one != other:
                edges[one].add(other)
    wrong += [f"{one} uses {other}, which uses it, at once or by way of others" for one, other in circles(edges)]
    for folder, objects in ((sources / "preload", doors), (sources / "src" / "cli", command)):
        pairs, edges = set(inside(folder, objects)), defaultdict(set)
        if len(pairs) < 20:
            wrong.append(f"only {len(pairs)} pairs were seen in {folder.name}: the folders are wrong")
        for one, other in pairs:
            if one != other:
                edges[one].add(other)
        wrong += [f"{folder.name}/{one} uses {other}, which uses it, at once or by way of others" for one, other in circles(edges)]
    for path in sorted((sources / "preload").glob("*.[ch]")):
        wrong += [f"{path.name} includes {included}: that is no affair of the doors" for included in INCLUDE.findall(path.read_text())
                  if room_of(included) in ROOMS and room_of(included) not in DOORS]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:5])))
