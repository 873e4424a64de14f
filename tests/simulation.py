"""What programs are run with on the simulated driver, and for how long."""
import os

LENGTHS = (400, 3000, 24000, 96000)  # iterations


def environment(build):
    """The one here, a sanitizer's options with it, but none of Reprise's."""
    return {key: value for key, value in os.environ.items() if not key.startswith("REPRISE")} | {"LD_LIBRARY_PATH": str(build / "tests" / "sim")}


def long_enough(run, enough, lengths=LENGTHS):
    """Calls run(iterations), ever longer until enough(what it returned): how soon graphs are there is a matter of how busy the machine is. Returns the last."""
    for iterations in lengths:
        outcome = run(iterations)
        if enough(outcome):
            return outcome
    raise AssertionError(f"not enough in {lengths[-1]} iterations: {outcome}")
