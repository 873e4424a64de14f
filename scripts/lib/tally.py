"""The last line of all that runs tests, what it is counted from, and the names of the tests that there must be: what scripts/tally and scripts/gpu-test share."""
import json
import re
from collections import Counter
from pathlib import Path

from lib.runs import AGAIN

NAMES = Path(__file__).resolve().parents[2] / "tests" / "names.txt"
FEW = 5    # so many tests may be there that are not named yet
WITH_NVCC = "? "
LONG = "long"    # the log of those that scripts/test runs with --all alone: what meson calls benchmarks
BUDGET_S = 900    # that the others may take, on two processors
LONGEST = 8    # so many of them are named where they take more
LINE = re.compile(rf"(\d+) passed, (\d+) failed, (\d+) skipped(?:, (\d+) {AGAIN})?")
HEAD = f"""# Every test, as SUITE / NAME. What begins with "{WITH_NVCC.strip()}" is there only where nvcc is. scripts/test fails where one of these did not run.
# Written by: scripts/tally BUILD --write
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


def named():
    """The names of the tests that there must be, and of those that there are only with nvcc."""
    lines = [text for text in NAMES.read_text(encoding="utf-8").splitlines() if text and not text.startswith("#")]
    with_nvcc = {text.removeprefix(WITH_NVCC) for text in lines if text.startswith(WITH_NVCC)}
    return {text for text in lines if not text.startswith(WITH_NVCC)}, with_nvcc


def write(build):
    with_nvcc = named()[1]
    NAMES.write_text(HEAD + "".join(f"{WITH_NVCC if name in with_nvcc else ''}{name}\n" for name in sorted(there(build) | with_nvcc)), encoding="utf-8")


def absent(names, wanted):
    """Yields what is wanted and not among the names. A wanted name without a suite is one of any."""
    without = {name.partition(" / ")[2] for name in names}
    yield from sorted(name for name in wanted if name not in names and name not in without)


def spare(lines, seconds, bugs, hazards):
    """
    The tests that would be missed least, the longest first, each without those before it: all lines that they run are run by others, each planted bug (names of who finds
    it) is found by another, and they are no hazard's own. `lines`: of each test, what it runs. A test that runs none of the lines that are counted is not among them.
    """
    kept, found = set(lines), []
    runs = Counter(line for ran in lines.values() for line in ran)
    for name in sorted(lines, key=seconds.get, reverse=True):
        alone = any(runs[line] == 1 for line in lines[name])
        names = {test.partition(" / ")[2] for test in kept - {name}} | {"fuzz"}
        test = name.partition(" / ")[2]
        if not lines[name] or alone or test in hazards or any(test in bug and not names & set(bug) for bug in bugs):
            continue
        kept.remove(name)
        runs.subtract(lines[name])
        found.append(name)
    return found
