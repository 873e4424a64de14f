#!/usr/bin/env python3
"""Every option of the table is on the pages that people read, as the table has it, and no other is; and the manual pages are well written.

usage: check_pages.py SOURCES REPRISE
"""
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROW = re.compile(r'X\((\w+), "(\w+)", (WORD|NUMBER|TEXT), (\d+), (\d+), (\d+), "([^"]*)",[\s\\]+"([^"]+)"\)')
LINTS = {"mandoc": ["-T", "lint", "-W", "warning"], "man": ["--warnings=w", "--encoding=UTF-8", "--troff-device=utf8", "--ditroff", "--local-file"]}


class Option:
    def __init__(self, row):
        self.variable, self.kind, standard, self.least, self.greatest, words, self.help = row[1:]
        self.words = words.split("|") if self.kind == "WORD" else []
        self.standard = {"WORD": lambda: self.words[int(standard)], "NUMBER": lambda: standard, "TEXT": lambda: words}[self.kind]()
        self.name = "--" + self.variable.removeprefix("REPRISE_").lower().replace("_", "-")
        self.is_switch = self.words == ["0", "1"]
        self.is_mode = self.variable == "REPRISE"    # which is the command's first word instead


def items(page, macro):
    """What a manual page says of each variable (Ev) or option (Fl): the head of its item, and its text, both without macros."""
    found = {}
    for part in re.split(r"^\.It ", page, flags=re.M)[1:]:
        head, _, text = re.split(r"^\.(?:El|It|Sh)\b", part, flags=re.M)[0].partition("\n")
        words = head.split()
        if words[0] == macro:
            plain = re.sub(r"^\.[A-Z][a-z] ", "", text, flags=re.M)
            found[words[1]] = (" ".join(word for word in words[2:] if word not in ("Ns", "=", "Cm", "Ar")), " ".join(plain.split()))
    return found


def of_variables(options, page):
    """Yields what is wrong with reprise(7)."""
    said = items(page, "Ev")
    for option in options:
        head, text = said.pop(option.variable, ("", None))
        if text is None:
            yield f"{option.variable} is missing"
        elif option.kind == "NUMBER" and f"From {option.least} to {option.greatest}; {option.standard} unless set." not in text:
            yield f"{option.variable} is not said to be from {option.least} to {option.greatest}, {option.standard} unless set"
        elif option.kind == "WORD" and (head != " | ".join(option.words) or f"{option.standard} unless set." not in text):
            yield f"{option.variable} is not said to be one of {option.words}, {option.standard} unless set"
        elif option.kind == "TEXT" and option.standard and f"{option.standard} unless set." not in text:
            yield f"{option.variable} is not said to be {option.standard} unless set"
    for variable in said:
        yield f"{variable} is not in the table"


def of_options(options, help_text, page):
    """Yields what is wrong with the options in reprise(1), of which the help has some that set no variable."""
    said = {"-" + name: head for name, (head, _) in items(page, "Fl").items()}
    for name in set(re.findall(r"^ +(--[a-z-]+)", help_text, flags=re.M)) - {option.name for option in options}:
        if said.pop(name, None) is None:
            yield f"{name} is missing"
    for option in options:
        head = said.pop(option.name, None)
        if option.is_mode:
            continue
        if head is None:
            yield f"{option.name} is missing"
        elif option.kind == "WORD" and head != ("" if option.is_switch else " | ".join(option.words)):
            yield f"{option.name} is not said to be {'a switch' if option.is_switch else f'one of {option.words}'}"
    for name in said:
        yield f"{name} is neither in the table nor in the help"


def of_commands(help_text, page):
    """Yields each command that is in the help or in reprise(1) alone."""
    told = set(re.findall(r"^(?:usage:)? +reprise ([a-z]+)", help_text, flags=re.M))
    for command in told ^ set(items(page, "Cm")):
        yield f"the command {command} is {'missing' if command in told else 'not in the help'}"


def of_table(options, page):
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("| `REPRISE")]
    said = {row[0].strip("`"): row[1:3] for row in rows}
    for option in options:
        named, standard = said.pop(option.variable, (None, None))
        if named is None:
            yield f"{option.variable} is missing"
        elif named.strip("`") != ("" if option.is_mode else option.name):
            yield f"{option.variable} is not said to be {option.name}"
        elif standard.strip("`") != option.standard:
            yield f"{option.variable} is said to be {standard} unless set, not {option.standard}"
    for variable in said:
        yield f"{variable} is not in the table"


def of_lint(page):
    """Yields what mandoc and man have to say, where they are installed."""
    for command, arguments in LINTS.items():
        if shutil.which(command):
            outcome = subprocess.run([command, *arguments, page], capture_output=True, text=True)
            said = (outcome.stdout if command == "mandoc" else "") + outcome.stderr
            if said or outcome.returncode:
                yield f"{command}: {said.strip() or outcome.returncode}"


def problems(sources, help_text):
    options = [Option(row) for row in ROW.findall((sources / "src/base/options.h").read_text(encoding="utf-8"))]
    first, seventh = (sources / "share/man" / name for name in ("reprise.1", "reprise.7"))
    text = {path: path.read_text(encoding="utf-8") for path in (first, seventh, sources / "docs/options.md")}
    if len(options) < 11:
        yield "the table was not understood"
    for path, found in ((first, of_options(options, help_text, text[first])), (first, of_commands(help_text, text[first])), (first, of_lint(first)),
                        (seventh, of_variables(options, text[seventh])), (seventh, of_lint(seventh)),
                        (sources / "docs/options.md", of_table(options, text[sources / "docs/options.md"]))):
        yield from (f"{path.name}: {problem}" for problem in found)
    # What differs is found.
    if not list(of_variables(options, text[seventh].replace("From 1 to 4096;", "From 1 to 4095;"))):
        yield "another range is not found"


def main():
    found = list(problems(Path(sys.argv[1]), subprocess.run([sys.argv[2], "--help"], capture_output=True, text=True, check=True).stdout))
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
