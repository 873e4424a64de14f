"""Reads what valgrind's callgrind has counted."""
import re


def own_costs(file, records):
    """What each line of code took itself, without what it called: the name of the last of these records before it ("ob": the library, "fl|fi|fe": the source file), and its counts, in
    the order of the file's events. Zeros at the end are left out."""
    names, at, called = {}, "", False
    for line in file.read_text().splitlines():
        named = re.match(rf"(c?)({records})=(\(\d+\))(?: (.*))?", line)
        if named:    # of a callee, too: it may be the first to have the name
            names.setdefault(named.group(3), named.group(4))
            at = at if named.group(1) else names[named.group(3)]
        elif line.startswith("calls="):
            called = True    # the next line is what the call took, with all that it called
        elif re.match(r"[+\-*\d]", line):
            if not called:
                yield at, [int(number) for number in line.split()[1:]]
            called = False
