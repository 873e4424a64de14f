"""Runs the tests of a file beside each other, in threads: for tests that mostly wait, each in a folder of its own."""
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

AT_ONCE = 4


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def main(words=()):
    """Of unittest's words only names of tests. Tells what unittest tells of those that failed; ends the process."""
    loader, module = unittest.TestLoader(), sys.modules["__main__"]
    tests = list(flat(loader.loadTestsFromNames(words, module) if words else loader.loadTestsFromModule(module)))

    def run(test):
        result = unittest.TestResult()
        test.run(result)
        return result

    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(run, tests))
    wrong = [(kind, *told) for result in results for kind, found in (("FAIL", result.failures), ("ERROR", result.errors)) for told in found]
    for kind, test, told in wrong:
        print(f"{kind}: {test}\n{told}", file=sys.stderr)
    print(f"ran {len(tests)} tests, {len(wrong)} wrong, {sum(len(result.skipped) for result in results)} skipped", file=sys.stderr)
    sys.exit(1 if wrong or not tests else 0)
