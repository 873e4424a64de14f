#!/usr/bin/env python3
"""check_tools.py SOURCE PAGE: each row of the table of tools is on the page, with its sign and the same decision."""
import re
import sys
from pathlib import Path

ROW = re.compile(r'\{REPRISE_TOOL_(\w+), "([^"]*)", (true|false), "([^"]*)"')


def main():
    source, page = (Path(path).read_text(encoding="utf-8") for path in sys.argv[1:3])
    lines = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("|")]
    rows = ROW.findall(source)
    missing = [(name, sign) for kind, sign, aside, name in rows
               if not any(name in cells[0] and sign in cells[1] and cells[2].strip() == ("stands aside" if aside == "true" else "works") for cells in lines)]
    for name, sign in missing:
        print(f"{name}, known by {sign!r}, is not on the page as it is in the table")
    return 1 if missing or len(rows) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
