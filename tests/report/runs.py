"""Programs run under the command on the simulated driver, and the reports that they leave."""
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import simulation  # noqa: E402

BUILD = Path(sys.argv[1])
COMMAND = BUILD / "src" / "cli" / "reprise"
MODULE = BUILD / "tests" / "programs" / "driver_kernels.so"
LAUNCHBOUND = BUILD / "tests" / "programs" / "launchbound-driver"
SIMULATION = simulation.environment(BUILD)


def reprise(*words, **environment):
    return subprocess.run([COMMAND, *map(str, words)], env=SIMULATION | environment, capture_output=True, text=True, timeout=100)


def program(shape, iterations=400):
    return LAUNCHBOUND, "--module", MODULE, "--shape", shape, "--iterations", iterations


def report(path, mode, shape, *options, iterations=400, **environment):
    """Runs a program and returns its report, the one there being gone. Times mean nothing on the simulated driver: traces are followed whatever they cost."""
    Path(path).unlink(missing_ok=True)
    environment.setdefault("REPRISE_PAYS", "assumed")
    outcome = reprise(mode, "--report", path, *options, "--", *program(shape, iterations), **environment)
    assert outcome.returncode == 0, outcome.stderr
    return json.loads(Path(path).read_text()), outcome


def replayed(path, shape, count="replayed", **environment):
    """The same under `run`, for as long as it takes to have some of what is counted."""
    return simulation.long_enough(lambda iterations: report(path, "run", shape, iterations=iterations, **environment), lambda run: run[0][count] > 0)
