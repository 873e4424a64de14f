"""Random mutants of Reprise, which tests run which lines, and what object code a tree makes: what scripts/mutants is made of."""
import contextlib
import hashlib
import importlib
import io
import json
import os
import random
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
TOOL = "universalmutator==1.14.1"
RULES = ["universal.rules", "c_like.rules", "c.rules"]
ROOMS = {"op": "src/op", "lane": "src/lane", "graph": "src/graph", "trace": "src/trace", "preload": "preload"}
UNIT_TESTS = {"preload": "doors"}    # the folder in tests/unit, where it has another name
LEAST_SHARE = 0.1    # of the sample, for each room
OF_ROOM = 30    # a unit test of its room is as likely to find a mutant as so many others (92 mutants of seed 1)


def generator(folder):
    """universalmutator's own generator; installed into the folder if it is not there."""
    sys.path.append(str(folder))
    try:
        return importlib.import_module("universalmutator.mutator")
    except ImportError:
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--target", folder, TOOL], check=True)
        importlib.invalidate_caches()
        return importlib.import_module("universalmutator.mutator")


class Mutant:
    def __init__(self, room, file, line, before, after):
        self.room, self.file, self.line, self.before, self.after = room, file, line, before, after
        self.key = hashlib.sha256(repr((file, line, before, after)).encode()).hexdigest()[:12]

    def text(self, lines):
        """The file with this change; `lines` is what it has."""
        return "".join([*lines[:self.line - 1], self.after, *lines[self.line:]])


def all_mutants(tool):
    """By room: every mutant of every source and header there."""
    found = {}
    for room, folder in ROOMS.items():
        found[room] = []
        for path in sorted((TOP / folder).rglob("*.[ch]")):
            name, lines = str(path.relative_to(TOP)), path.read_text().splitlines(keepends=True)
            with contextlib.redirect_stdout(io.StringIO()):
                made = tool.mutants_regexp(lines, ruleFiles=RULES, ignorePatterns=[])
            unique = {(line, after if after.endswith("\n") else after + "\n") for line, after, *_ in made}
            found[room] += [Mutant(room, name, line, lines[line - 1], after) for line, after in sorted(unique) if after != lines[line - 1]]
    return found


def drawn(found, seed, count):
    """Of each room: its mutants in random order, and its share of `count`, by its size."""
    order = random.Random(seed)
    total = sum(map(len, found.values()))
    shares = {room: max(LEAST_SHARE, len(mutants) / total) for room, mutants in found.items()}
    scale = count / sum(shares.values())
    return {room: (order.sample(mutants, len(mutants)), round(shares[room] * scale)) for room, mutants in found.items()}


def objects(build):
    """The object code of the library: name to hash. What names the commit is left out."""
    hashes = {}
    for path in sorted([*(build / "src/libreprise_core.a.p").glob("*.o"), *(build / "preload").glob("*.p/*.o")]):
        if path.name != "stats_machine.c.o":
            hashes[str(path.relative_to(build))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return hashes


# ---- which test runs which lines ----

def gcov_lines(build, folder):
    """Lines that were run, by file, as the .gcda under `folder` say; paths are relative to the top folder."""
    ran = {}
    for data in sorted(folder.rglob("*.gcda")):
        notes = build / data.relative_to(folder).with_suffix(".gcno")
        if not notes.exists():
            continue
        link = data.with_suffix(".gcno")
        link.symlink_to(notes)
        told = subprocess.run(["gcov", "--json-format", "--stdout", data], cwd=build, capture_output=True, text=True).stdout
        for line in told.splitlines():
            for file in json.loads(line)["files"]:
                path = Path(os.path.normpath(build / file["file"]))
                if path.is_relative_to(TOP):
                    lines = ran.setdefault(str(path.relative_to(TOP)), set())
                    lines.update(each["line_number"] for each in file["lines"] if each["count"] > 0)
    return {file: lines for file, lines in ran.items() if file.startswith(tuple(ROOMS.values()))}


class Coverage:
    """Of each test: how long it takes, and which lines of the rooms it runs. Kept in a file for each test."""

    def __init__(self, folder):
        self.folder = folder
        self.seconds, self.lines = {}, {}
        for path in sorted(folder.glob("*.json")):
            kept = json.loads(path.read_text())
            self.seconds[kept["test"]] = kept["seconds"]
            self.lines[kept["test"]] = {file: set(lines) for file, lines in kept["lines"].items()}

    def add(self, test, seconds, lines):
        name = hashlib.sha256(test.encode()).hexdigest()[:16]
        kept = {"test": test, "seconds": seconds, "lines": {file: sorted(ran) for file, ran in lines.items()}}
        (self.folder / f"{name}.json").write_text(json.dumps(kept))
        self.seconds[test], self.lines[test] = seconds, lines

    def tests_of(self, mutant):
        """The tests that run the mutant's line. gcov does not tell every line of optimised code, nor those of a macro: where no test runs the line, those that run
        the nearest one."""
        ran = {test: lines[mutant.file] for test, lines in self.lines.items() if mutant.file in lines}
        nearest = min((abs(line - mutant.line) for lines in ran.values() for line in lines), default=0)
        return [test for test, lines in ran.items() if mutant.line - nearest in lines or mutant.line + nearest in lines]

    def in_order(self, mutant, programs, finders):
        """
        Those of `programs` (name to path) that run the mutant's line, the best first: those that take least time for each mutant that they are likely to find.
        `finders`: how many each has found so far. A unit test of the mutant's room counts as one that has found many: it looks at little else.
        """
        def seconds_each(test):
            of_room = f"/unit/{UNIT_TESTS.get(mutant.room, mutant.room)}/" in str(programs[test])
            return self.seconds[test] / (1 + finders.get(test, 0)) / (OF_ROOM if of_room else 1)

        return sorted((test for test in self.tests_of(mutant) if test in programs), key=seconds_each)
