#!/usr/bin/env python3
"""
Every row of src/driver/functions.h is called somewhere, and every function that is called has a row.

    check_driver_functions.py TOP

A row that nobody calls is asked of every driver for nothing, and one that is NEEDED switches Reprise off on a driver that lacks it.
"""
import re
import sys
from pathlib import Path


def main():
    top = Path(sys.argv[1])
    table = top / "src" / "driver" / "functions.h"
    rows = re.findall(r"\b(?:NEEDED|OPTIONAL)\((cu\w+)\)", table.read_text())
    sources = [path for folder in ("src", "preload") for path in (top / folder).rglob("*.[ch]") if path != table]
    called = {name for path in sources for name in re.findall(r"\breprise_driver\.(cu\w+)", path.read_text())}
    faults = [f"{name} has {rows.count(name)} rows" for name in sorted(set(rows)) if rows.count(name) > 1]
    faults += [f"nothing in src and preload calls {name}" for name in rows if name not in called]
    faults += [f"{name} is called, and has no row" for name in sorted(called - set(rows))]
    print("\n".join(faults) or f"{len(rows)} functions, each called")
    return 1 if faults or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
