"""Shows reports: as tables, as a page, or joined as JSON. Run by `reprise report`."""
import argparse
import json
import sys

import observed
import page
import reports
import tables


def parse():
    parser = argparse.ArgumentParser(prog="reprise report", description="Shows what reports tell; those of several processes joined.")
    parser.add_argument("paths", nargs="+", metavar="FILE|FOLDER", help="reports, as REPRISE_REPORT has them written")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="as JSON, joined into one object")
    form.add_argument("--html", metavar="FILE", help="as a page for a browser, with plots; needs no network")
    return parser.parse_args()


def show(options, each):
    if options.json:
        print(json.dumps(reports.join(each), indent=1))
    elif options.html:
        with open(options.html, "w", encoding="utf-8") as file:
            file.write(page.whole(each))
    else:
        print((observed if each[0]["mode"] == "observe" else tables).whole(each), end="")


def main():
    options = parse()
    each, problems = reports.load_all(options.paths)
    for problem in problems:
        print(f"reprise report: {problem}", file=sys.stderr)
    if not each:
        print("reprise report: there is no report", file=sys.stderr)
        return 1
    try:
        show(options, each)
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:
        print(f"reprise report: {error}", file=sys.stderr)
        return 1
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
