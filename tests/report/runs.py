"""Programs run under the command on the simulated driver, and the reports that they leave."""
import json
import os
import subprocess
import sys
from pathlib import Path

BUILD = Path(sys.argv[1])
COMMAND = BUILD / "src" / "cli" / "reprise"
MODULE = BUILD / "tests" / "programs" / "driver_kernels.so"
LAUNCHBOUND = BUILD / "tests" / "programs" / "launchbound-driver"
SIMULATION = {key: value for key, value in os.environ.items() if not key.startswith("REPRISE")} | {"LD_LIBRARY_PATH": str(BUILD / "tests" / "sim")}


def reprise(*words, **environment):
    return subprocess.run([COMMAND, *map(str, words)], env=SIMULATION | environment, capture_output=True, text=True, timeout=100)


def program(shape, iterations=400):
    return LAUNCHBOUND, "--module", MODULE, "--shape", shape, "--iterations", iterations


def report(path, mode, shape, *options, **environment):
    """Runs a program and returns its report. Times mean nothing on the simulated driver: traces are followed whatever they cost."""
    environment.setdefault("REPRISE_PAYS", "assumed")
    outcome = reprise(mode, "--report", path, *options, "--", *program(shape), **environment)
    assert outcome.returncode == 0, outcome.stderr
    return json.loads(Path(path).read_text()), outcome
