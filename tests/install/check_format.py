#!/usr/bin/env python3
"""Every source in C is as clang-format 14 makes it by .clang-format. Skipped where there is no clang-format 14: other versions differ.

    check_format.py SOURCES
"""
import re
import subprocess
import sys
from pathlib import Path

ROOMS = ("src", "preload", "include", "tests")
SKIPPED = 77
VERSION = "14"


def version():
    try:
        said = subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return None
    return re.search(r"version (\d+)", said).group(1)


def main(sources):
    if version() != VERSION:
        print(f"skipped: there is no clang-format {VERSION}")
        return SKIPPED
    files = [path for room in ROOMS for path in sorted((Path(sources) / room).rglob("*.[ch]"))]
    if len(files) < 400:
        print(f"{len(files)} sources: the folders are wrong")
        return 1
    said = subprocess.run(["clang-format", "--dry-run", *files], capture_output=True, text=True).stderr
    wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: warning", said, re.MULTILINE)))
    for path in wrong:
        print(f"{path}: not as .clang-format has it: clang-format -i {path}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
