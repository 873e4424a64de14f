"""What a run of the tests came to, in one line, and whether every test that there must be took part: what scripts/test, scripts/aarch64 and scripts/gpu-test share.

    python3 scripts/tally.py BUILD [--chosen NAME ...] [--gpu LOG] [--left-out N]      after `meson test`: tells what did not run, and then the one line
    python3 scripts/tally.py BUILD --write                                             writes tests/names.txt as BUILD has the tests

tests/names.txt names every test, so that one that vanishes is missed: without it, a build without Check would only have fewer. Python's own library only.
"""
import argparse
import json
import re
import sys
from pathlib import Path

NAMES = Path(__file__).resolve().parents[1] / "tests" / "names.txt"
FEW = 5    # so many tests may be there that are not named yet
SHOWN = 20
WITH_NVCC = "? "
AGAIN = "needed another round"
LINE = re.compile(rf"(\d+) passed, (\d+) failed, (\d+) skipped(?:, (\d+) {AGAIN})?")
HEAD = f"""# Every test, as SUITE / NAME. What begins with "{WITH_NVCC.strip()}" is there only where nvcc is. scripts/test fails where one of these did not run.
# Written by: python3 scripts/tally.py BUILD --write
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


def there(build):
    """The names of the tests that the build folder has."""
    tests = json.loads((Path(build) / "meson-info" / "intro-tests.json").read_text(encoding="utf-8"))
    return {f"{test['suite'][0].partition(':')[2]} / {test['name']}" for test in tests}


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--chosen", nargs="+", help="these must have run, instead of all that tests/names.txt names")
    parser.add_argument("--gpu", help="what scripts/gpu-test printed, which is added")
    parser.add_argument("--left-out", type=int, default=0, help="so many groups of tests were skipped as a whole")
    parser.add_argument("--write", action="store_true")
    settings = parser.parse_args()
    if settings.write:
        return write(settings.build)

    results = ran(settings.build)
    missing = list(absent(results, settings.chosen or named()[0] | there(settings.build)))
    for name in missing[:SHOWN]:
        print(f"FAIL {name}: it did not run, or is not there: was the build set up without what it needs?")
    if len(missing) > SHOWN:
        print(f"FAIL {len(missing) - SHOWN} more did not run, or are not there")
    verdicts = [result for result, _ in results.values()]
    passed, skipped = verdicts.count("OK"), verdicts.count("SKIP")
    counts = [passed, len(verdicts) - passed - skipped + len(missing), skipped + settings.left_out, sum(again for _, again in results.values())]
    if settings.gpu:
        lines = Path(settings.gpu).read_text(encoding="utf-8").splitlines()
        more = read_line(lines[-1]) if lines else None
        if more is None:
            print("FAIL scripts/gpu-test: it did not say at the end how many passed")
        counts = [count + another for count, another in zip(counts, more or (0, 1, 0, 0))]
    print(line(*counts))
    return 1 if counts[1] or not counts[0] else 0


if __name__ == "__main__":
    sys.exit(main())
