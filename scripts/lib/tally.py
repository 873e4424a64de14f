"""The last line of all that runs tests, what it is counted from, and the names of the tests that there must be: what scripts/tally and scripts/gpu-test share."""
import json
import re
from collections import Counter
from pathlib import Path

from lib.runs import AGAIN

NAMES = Path(__file__).resolve().parents[2] / "tests" / "names.txt"
FEW = 5    # so many tests may be there that are not named yet
WITH_NVCC = "? "
SPARE = "+ "
REST, LONG = "rest", "long"    # the logs of what scripts/test runs with --all alone: the spare ones, and what meson calls benchmarks
BUDGET_S = 900    # that the others may take, on two processors
LEAST_S = 0.5    # a test that takes less is never spare
LONGEST = 8    # so many of them are named where they take more
LINE = re.compile(rf"(\d+) passed, (\d+) failed, (\d+) skipped(?:, (\d+) {AGAIN})?")
# What these suites test is no line of the library, or of the command: that others run the same lines says nothing.
NOT_LINES = ("fuzz", "frameworks", "install", "report", "sim")
# Spare, too, and why: of these, lines say nothing.
BY_HAND = {
    "frameworks / short": "it tests scripts/short, and waits for half a minute",
    "frameworks / turns": "it tests scripts/turns, and waits for most of a minute",
    "fuzz / programs 76 to 300": "those before them are drawn by the same chances",
    "hazards / no hazard passes with an empty library": "it tests the tests of hazards, all of them",
    "install / wheel": ".ci/run tries it apart",
    "sim / conformance last": "the tests of the simulated driver run under this schedule, too",
    "sim / conformance lazy": "`conformance two devices` is run under this schedule, too",
    "sim / conformance random 1": "the tests of the simulated driver run under this schedule, too",
}
HEAD = f"""# Every test, as SUITE / NAME. What begins with "{WITH_NVCC.strip()}" is there only where nvcc is. scripts/test fails where one of these did not run.
# What begins with "{SPARE.strip()}" is spare: for scripts/test --all. It takes {LEAST_S} s or more, others run all lines that it runs, and no hazard, planted bug or mutant needs it.
# Or it stands in BY_HAND of scripts/lib/tally.py, with a reason.
# Written by: scripts/tally BUILD --write, and what is spare: scripts/tally BUILD --spare COVERAGE --write
"""


def line(passed, failed, skipped, again=0):
    """The last line of all that runs tests."""
    return f"{passed} passed, {failed} failed, {skipped} skipped" + (f", {again} {AGAIN}" if again else "")


def read_line(text):
    """The numbers of such a line, [passed, failed, skipped, again], or None."""
    found = LINE.fullmatch(text.strip())
    return found and [int(number or 0) for number in found.groups()]


def logged(build, log):
    """What the last `meson test` with that log wrote of each test, by name. Meson leaves the suite out where there is one alone, which has the log's name."""
    path = Path(build) / "meson-logs" / f"{log}.json"
    tests = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    return {test["name"].partition(":")[2] or f"{log} / {test['name']}": test for test in tests}


def ran(build, log="testlog"):
    """The same: name to (result, whether it needed another round)."""
    return {name: (test["result"], AGAIN in test.get("stdout", "")) for name, test in logged(build, log).items()}


def took(build):
    """Yields how long the last `meson test` took, and where that is more than it may, which tests took longest."""
    tests = {name: test for name, test in logged(build, "testlog").items() if "starttime" in test}
    if not tests:
        return
    whole = max(test["starttime"] + test["duration"] for test in tests.values()) - min(test["starttime"] for test in tests.values())
    yield f"the tests took {whole / 60:.1f} minutes; on two processors they may take {BUDGET_S // 60}"
    if whole > BUDGET_S:
        longest = sorted(tests, key=lambda name: tests[name]["duration"], reverse=True)[:LONGEST]
        yield from (f"  {tests[name]['duration']:.0f} s: {name}" for name in longest)


def tests(build, kind="tests"):
    """The tests that the build folder has, as meson describes them, by name; or the "benchmarks"."""
    found = json.loads((Path(build) / "meson-info" / f"intro-{kind}.json").read_text(encoding="utf-8"))
    return {f"{test['suite'][0].partition(':')[2]} / {test['name']}": test for test in found}


def there(build, kind="tests"):
    """Their names."""
    return set(tests(build, kind))


def marked():
    """What tests/names.txt says: of each name its mark, or an empty text."""
    lines = [text for text in NAMES.read_text(encoding="utf-8").splitlines() if text and not text.startswith("#")]
    marks = [next((mark for mark in (WITH_NVCC, SPARE) if text.startswith(mark)), "") for text in lines]
    return {text.removeprefix(mark): mark for text, mark in zip(lines, marks)}


def named():
    """The names of the tests that there must be, and of those that there are only with nvcc."""
    marks = marked()
    with_nvcc = {name for name, mark in marks.items() if mark == WITH_NVCC}
    return set(marks) - with_nvcc, with_nvcc


def spared():
    """The names of those that are for scripts/test --all."""
    return {name for name, mark in marked().items() if mark == SPARE}


def write(build, spare=None):
    """Names the tests that the build folder has; which of them are spare is as it was, unless it is given."""
    names, with_nvcc = there(build), named()[1]
    marks = dict.fromkeys(spared() if spare is None else spare, SPARE) | dict.fromkeys(with_nvcc, WITH_NVCC)
    NAMES.write_text(HEAD + "".join(f"{marks.get(name, '')}{name}\n" for name in sorted(names | with_nvcc)), encoding="utf-8")


def absent(names, wanted):
    """Yields what is wanted and not among the names. A wanted name without a suite is one of any."""
    without = {name.partition(" / ")[2] for name in names}
    yield from sorted(name for name in wanted if name not in names and name not in without)


def spare(lines, seconds, groups, hazards, needed=()):
    """
    The tests that would be missed least, the longest first, each without those before it: all lines that they run are run by others, another test is left of each group (names
    of tests that find a planted bug, or are of one hazard), they have no hazard's name, and are not among the `needed`. `lines`: of each test, what it runs. A test that runs
    none of the lines that are counted is not among them, nor one that is quick.
    """
    kept, found = set(lines), []
    runs = Counter(line for ran in lines.values() for line in ran)
    for name in sorted(lines, key=seconds.get, reverse=True):
        suite, _, test = name.partition(" / ")
        if seconds[name] < LEAST_S or suite in NOT_LINES or not lines[name] or test in hazards or name in needed:
            continue
        names = {other.partition(" / ")[2] for other in kept - {name}}
        if any(runs[line] == 1 for line in lines[name]) or any(test in group and not names & set(group) for group in groups):
            continue
        kept.remove(name)
        runs.subtract(lines[name])
        found.append(name)
    return found
