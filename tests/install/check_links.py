#!/usr/bin/env python3
"""Every link of the pages in a folder leads to a file in that folder, and to a heading that there is: what is installed links to what is installed.

usage: check_links.py FOLDER
"""
import re
import sys
from pathlib import Path

LINK = re.compile(r"\]\(<?([^()\s<>]+)>?\)")
FENCED = re.compile(r"^```.*?^```", re.S | re.M)


def text_of(page):
    """Without what is shown as code."""
    return re.sub(r"`[^`\n]*`", lambda code: re.sub(r"[\[\]()]", " ", code[0]), FENCED.sub("", page.read_text(encoding="utf-8")))


def headings(page):
    """The names that a page's headings have in links."""
    titles = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in re.findall(r"^#+ (.*)$", text_of(page), re.M))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def wrong_links(folder):
    """Yields the links that lead nowhere, or out of the folder; and how many there are."""
    folder, count = Path(folder).resolve(), 0
    for page in sorted(folder.rglob("*.md")):
        for link in LINK.findall(text_of(page)):
            count += 1
            if re.match(r"\w+:", link):
                continue
            file, _, heading = link.partition("#")
            leads_to = (page.parent / file).resolve() if file else page
            if not leads_to.exists() or folder not in leads_to.parents:
                yield f"{page.relative_to(folder)}: {link}: there is no such file in {folder}"
            elif heading and heading not in headings(leads_to):
                yield f"{page.relative_to(folder)}: {link}: there is no such heading"
    if count < 100:
        yield f"{folder}: only {count} links were found"


if __name__ == "__main__":
    wrong = list(wrong_links(sys.argv[1]))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)
