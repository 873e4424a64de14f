#!/usr/bin/env python3
"""Names of reasons, counts and costs in reports, with their meanings. They are read from the headers, which list each once.

    names.py SOURCE         writes them as JSON
"""
import json
import re
import sys
from pathlib import Path

# For each list: its header, its macro, and the arguments of a row that are name and meaning.
TABLES = {
    "exits": ("trace/trace.h", "REPRISE_EXITS", 0, 2),
    "exit_words": ("trace/trace.h", "REPRISE_EXITS", 0, 1),
    "unfit": ("op/op.h", "REPRISE_UNFIT_REASONS", 1, 2),
    "call_sites": ("stats/sites.h", "REPRISE_CALL_SITE_KINDS", 0, 1),
    "histograms": ("stats/histogram.h", "REPRISE_HISTOGRAMS", 0, 1),
    "costs": ("graph/cost.h", "REPRISE_COSTS", 0, 2),
    "counters": ("stats/counters.h", "REPRISE_COUNTERS", 0, 1),
}
ARGUMENT = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[^,"]*?)\s*(?:,|$)')


def rows(text, macro):
    """The arguments of each row of a list macro."""
    body = re.search(rf"#define {macro}\(X\)((?:.*\\\n)*.*\n)", text).group(1)
    body = re.sub(r"\s*\\\n\s*(?!\s|X\()", " ", body)  # one row, one line
    body = re.sub(r'(?<=[^"\\])" "(?=[^"])', "", body)  # one text, one literal
    for row in re.findall(r"X\((.*)\)", body):
        yield [argument.strip('"') for argument in ARGUMENT.findall(row)[:3]]


def read(source):
    names = {}
    for table, (header, macro, name, meaning) in TABLES.items():
        listed = {row[name]: row[meaning] for row in rows((Path(source) / header).read_text(), macro)}
        listed.pop("none", None)
        names[table] = listed
    return names


if __name__ == "__main__":
    json.dump(read(sys.argv[1]), sys.stdout, indent=1)
