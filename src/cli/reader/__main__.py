"""Shows reports as tables, as a page, or as joined JSON. Run by `reprise report`."""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import compare
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
    parser.add_argument("--open", action="store_true", help="open the page, if there is a desktop; without --html, one in a temporary file")
    parser.add_argument("--quiet", action="store_true", help="say nothing of where the page is")
    parser.add_argument("--compare", action="store_true", help="what changed from the first report or folder to the second")
    return parser.parse_args()


def complain(problem):
    print(f"reprise report: {printable.word(problem)}", file=sys.stderr)


def is_desktop():
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")) and shutil.which("xdg-open") is not None


def open_page(path):
    """Shows the page in the user's browser, which goes on by itself. True if that began."""
    try:
        subprocess.Popen(["xdg-open", Path(path).resolve().as_uri()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    except OSError:
        return False
    return True


def page_file(options):
    """Where the page goes; without a name, into a file of its own that stays, since nobody says when the browser has read it."""
    if options.html:
        return open(options.html, "w", encoding="utf-8")
    return tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="reprise-", suffix=".html", delete=False)


def write_page(options, text):
    if not options.html and options.quiet and not is_desktop():
        return    # nobody would be told of it
    with page_file(options) as file:
        file.write(text)
    said = f"reprise report: the page is in {printable.word(file.name)}"
    if options.open and not is_desktop():
        said += "; it is not opened, since there is no desktop here"
    elif options.open:
        said += ", and is being opened" if open_page(file.name) else "; xdg-open could not be started"
    if not options.quiet:
        print(said)


def show(options, each):
    if options.json:
        print(json.dumps(reports.join(each), indent=1))
        return
    each = printable.whole(each)
    if options.html or options.open:
        write_page(options, page.whole(each))
    else:
        print((observed if each[0]["mode"] == "observe" else tables).whole(each), end="")


def show_changes(options, before, after):
    before, after = printable.whole(before), printable.whole(after)
    if options.html or options.open:
        write_page(options, compare.html(before, after))
    else:
        print(compare.text(before, after), end="")


def is_among(path, files):
    """True if the output file is one of the reports."""
    status = os.stat(path) if os.path.exists(path) else None
    return status is not None and (status.st_dev, status.st_ino) in files


def load(options):
    """The reports, in a list for each side of a comparison; what is wrong with others; and their files."""
    loaded = [reports.load_all([path]) for path in options.paths] if options.compare else [reports.load_all(options.paths)]
    return [each for each, _, _ in loaded], [problem for _, problems, _ in loaded for problem in problems], set().union(*(files for _, _, files in loaded))


def main():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")
    options = parse()
    sides, problems, files = load(options)
    for problem in problems:
        complain(problem)
    if not all(sides):
        complain("there is no report" if not options.compare else f"there is no report in {options.paths[1 if sides[0] else 0]}: nothing is compared")
        return 1
    if options.compare and sides[0][0]["mode"] != sides[1][0]["mode"]:
        complain(f"{options.paths[0]} is of mode {sides[0][0]['mode']}, and {options.paths[1]} is of mode {sides[1][0]['mode']}: they are not compared")
        return 1
    if options.html and is_among(options.html, files):
        complain(f"{options.html}: is one of the reports, and not written over")
        return 1
    try:
        (show_changes if options.compare else show)(options, *sides)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())    # the rest is flushed at exit
    except OSError as error:
        complain(f"cannot write {options.html or ('a page to $TMPDIR or /tmp' if options.open else 'the tables')}: {error.strerror}")
        return 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
