#!/usr/bin/env python3
"""The types of the Python module, as mypy sees them: the module's own are right, and a program that uses it otherwise is told.

usage: test_types.py SOURCES
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MODULE = Path(sys.argv[1]).resolve() / "src" / "python"
USE = """import reprise_cuda
with reprise_cuda.paused():
    share: float = reprise_cuda.counts().replayed / 2
on: bool = reprise_cuda.active()
reprise_cuda.counts().opps
reprise_cuda.counts().ops = 0
reprise_cuda.pause(1)
"""
WRONG = {5: "attr-defined", 6: "misc", 7: "call-arg"}

if shutil.which("mypy") is None:
    print("skipped: there is no mypy")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    program = Path(folder, "use.py")
    program.write_text(USE)
    done = subprocess.run(["mypy", "--strict", "--no-error-summary", f"--cache-dir={folder}/cache", MODULE / "reprise_cuda", program], cwd=folder,
                          env=os.environ | {"MYPYPATH": str(MODULE)}, capture_output=True, text=True)
print(done.stdout, done.stderr)
found = {int(line): kind for line, kind in re.findall(r"^use\.py:(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.M)}
assert found == WRONG and done.stdout.count("error:") == len(WRONG), f"expected {WRONG}"
assert (MODULE / "reprise_cuda" / "py.typed").exists()
