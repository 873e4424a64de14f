"""The last line of all that runs tests, what it is counted from, and the names of the tests that there must be: what scripts/tally and scripts/gpu-test share."""
import json
import re
from pathlib import Path

from lib.runs import AGAIN

NAMES = Path(__file__).resolve().parents[2] / "tests" / "names.txt"
FEW = 5    # so many tests may be there that are not named yet
WITH_NVCC = "? "
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


def ran(build):
    """What the last `meson test` did: name to (result, whether it needed another round)."""
    log = Path(build) / "meson-logs" / "testlog.json"
    tests = [json.loads(text) for text in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
    return {test["name"].partition(":")[2]: (test["result"], AGAIN in test.get("stdout", "")) for test in tests}


def tests(build):
    """The tests that the build folder has, as meson describes them, by name."""
    found = json.loads((Path(build) / "meson-info" / "intro-tests.json").read_text(encoding="utf-8"))
    return {f"{test['suite'][0].partition(':')[2]} / {test['name']}": test for test in found}


def there(build):
    """Their names."""
    return set(tests(build))


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
