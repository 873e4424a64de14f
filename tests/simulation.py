"""What programs are run with on the simulated driver, for how long, and what of them is waited for."""
import os
import time
from pathlib import Path

LENGTHS = (400, 3000, 24000, 96000)  # iterations
AGAIN = "needed another round"    # as scripts/tally.py counts it
PATIENCE_S = 60    # for what comes at once, but for a busy machine


def environment(build):
    """The one here, a sanitizer's options with it, but none of Reprise's."""
    return {key: value for key, value in os.environ.items() if not key.startswith("REPRISE")} | {"LD_LIBRARY_PATH": str(build / "tests" / "sim")}


def long_enough(run, enough, lengths=LENGTHS):
    """
    Calls run(iterations), ever longer until enough(what it returned): how soon graphs are there is a matter of how busy the machine is. Returns the last.
    A longer run is another round: a line says so, which scripts/test counts. What a run must never do, run() itself has to find.
    """
    for number, iterations in enumerate(lengths):
        if number > 0:
            print(f"{AGAIN}: not enough in {lengths[number - 1]} iterations", flush=True)
        outcome = run(iterations)
        if enough(outcome):
            return outcome
    raise AssertionError(f"not enough in {lengths[-1]} iterations: {outcome}")


def until(condition, what):
    """Waits until the condition is true. Returns what it returned then."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.01)
    raise AssertionError(f"never: {what}")


def state(process):
    """R, S, T and so on; Z and gone are the same."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0].replace("Z", "")
    except OSError:
        return ""
