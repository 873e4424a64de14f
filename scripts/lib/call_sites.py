"""What observe has to say of tests/report/call_sites: shared by its test and scripts/gpu-test, which has the programs with the toolkit's own cudart."""
from pathlib import Path

from lib import runs

ROUNDS = 40

# Kind, driver's call, function of the program, what it called: how often.
CALLS = {
    ("waits", "cuStreamSynchronize", "step_one", "cudaStreamSynchronize"): 2 * ROUNDS,
    ("waits", "cuStreamSynchronize", "step_two", "cudaStreamSynchronize"): 2 * ROUNDS,
    ("waits", "cuStreamSynchronize", "cudaStepThree", "cudaStreamSynchronize"): ROUNDS,
    ("unfit", "pageable", "copy", "cudaMemcpyAsync"): ROUNDS,
    ("allocates", "cuMemAlloc_v2", "take", "cudaMalloc"): ROUNDS,
    ("allocates", "cuMemAlloc_v2", "take_floats", "cudaMalloc"): ROUNDS,
    ("ends", "cuMemFree_v2", "give", "cudaFree"): 2 * ROUNDS,
}


def program(build, variant):
    return Path(build) / "tests" / "report" / "call_sites" / f"call-sites-{variant}"


def called(rows):
    """Call sites of each round, in the form of CALLS."""
    return {(row["kind"], row["call"], row.get("symbol"), row.get("runtime")): row["count"] for row in rows if row["count"] >= ROUNDS}


class Case:
    """With a cudart of the toolkit's, on a GPU."""

    def __init__(self, build, variant):
        self.name, self.program = f"call-sites-{variant}", program(build, variant)

    def judge(self, library):
        if not self.program.exists():
            return "skip", "not built"
        outcome = runs.run([self.program], library, environment={"REPRISE": "observe"})
        if "cannot open shared object file" in outcome.stderr:
            return "skip", "no libcudart.so of this version here"
        found = called(outcome.report.get("call_sites", ()))
        if outcome.status != 0 or found != CALLS:
            return "FAIL", f"it ended with {outcome.status} {outcome.stderr.strip()[-300:]}, and these call sites: {found}"
        return "ok", f"{len(found)} call sites"


def cases(build):
    return [Case(build, "cudart"), Case(build, "cudart-shared")]
