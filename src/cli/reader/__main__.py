"""Shows reports as tables, as a page, or as joined JSON. Run by `reprise report`."""
import argparse
import json
import os
import sys

import observed
import page
import printable
import reports
import tables


def parse():
    parser = argparse.ArgumentParser(prog="reprise report", description="Shows what reports tell; those of several processes joined.", allow_abbrev=False)
    parser.add_argument("paths", nargs="+", metavar="FILE|FOLDER", help="reports, as REPRISE_REPORT has them written")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON, joined into one object")
    form.add_argument("--html", metavar="FILE", help="as a page for a browser, with plots; needs no network")
    return parser.parse_args()


def complain(problem):
    print(f"reprise report: {printable.word(problem)}", file=sys.stderr)


def show(options, each):
    if options.json:
        print(json.dumps(reports.join(each), indent=1))
        return
    each = printable.whole(each)
    if options.html:
        with open(options.html, "w", encoding="utf-8") as file:
            file.write(page.whole(each))
    else:
        print((observed if each[0]["mode"] == "observe" else tables).whole(each), end="")


def is_among(path, files):
    """True if the output file is one of the reports."""
    status = os.stat(path) if os.path.exists(path) else None
    return status is not None and (status.st_dev, status.st_ino) in files


def main():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")
    options = parse()
    each, problems, files = reports.load_all(options.paths)
    for problem in problems:
        complain(problem)
    if not each:
        complain("there is no report")
        return 1
    if options.html and is_among(options.html, files):
        complain(f"{options.html}: is one of the reports, and not written over")
        return 1
    try:
        show(options, each)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())    # the rest is flushed at exit
    except OSError as error:
        complain(f"cannot write {options.html or 'the tables'}: {error.strerror}")
        return 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
