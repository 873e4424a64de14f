"""The bugs of tests/mutations.py, and where they are planted: found by the definition that has the place, and by its tokens. So a file may be renamed, moved or formatted anew,
and a name may be changed everywhere at once (scripts/mutate --check says what has lost its place). Python's own library only."""
import re

from lib import load

mutations = load("tests/mutations.py")
BUGS, WITHOUT = mutations.BUGS, mutations.WITHOUT

ROOMS = ("src", "preload", "include")

TOKEN = re.compile(r"""
    (?P<skipped>  \s+ | \\\n | //[^\n]* | /\*.*?\*/ )
  | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*'
  | \w+ | .
""", re.VERBOSE | re.DOTALL)
MACRO = re.compile(r"#\s*define\s+(\w+)")
BEGINS = re.compile(r"[A-Za-z_]")
DATA_ENDS = re.compile(r"^\t[^\t].*\};\s*(/\*.*)?$")
AGGREGATE = re.compile(r"(?:typedef )?(?:struct|enum|union) (\w+)[^()=]*\{")


class NoPlace(Exception):
    """A bug cannot be planted where it says."""


def tokens(text):
    """The code's tokens, without comments: (text, begin, end) of each."""
    return [(match.group(), match.start(), match.end()) for match in TOKEN.finditer(text) if not match.group("skipped")]


def named(head):
    """The name that the definition with this head has."""
    aggregate = AGGREGATE.match(head)
    if aggregate:
        return aggregate.group(1)
    head = re.sub(r"__attribute__\s*\(\(.*?\)\)|_Alignas\s*\([^()]*\)|__typeof__\s*\([^()]*\)", "", head)
    before = re.split(r"\(|=|\[|;", head, maxsplit=1)[0]
    words = re.findall(r"\w+", before)
    return words[-1] if words else ""


def definitions(text):
    """Functions, macros and data at file scope: (name, begin, end) of each."""
    lines, at, found = text.splitlines(keepends=True), 0, []
    begins = []
    for line in lines:
        begins.append(at)
        at += len(line)
    begins.append(at)
    number = 0
    while number < len(lines):
        first, line = number, lines[number]
        number += 1
        macro = MACRO.match(line)
        if macro:
            while lines[number - 1].rstrip("\n").endswith("\\") and number < len(lines):
                number += 1
            found.append((macro.group(1), begins[first], begins[number]))
        elif BEGINS.match(line):
            while not lines[number - 1].rstrip().endswith((";", "{")) and number < len(lines) and lines[number].strip() and not lines[number].startswith("#"):
                if BEGINS.match(lines[number]) and lines[number - 1].rstrip().endswith(")"):
                    break    # rows of a table, one line each
                number += 1
            head = "".join(lines[first:number])
            name = named(head)
            while lines[number - 1].rstrip().endswith("{") and number < len(lines):
                data = lines[number - 1].rstrip().endswith("= {")
                while number < len(lines) and not lines[number].startswith("}") and not (data and DATA_ENDS.search(lines[number])):
                    number += 1
                number = min(number + 1, len(lines))
                if lines[number - 1].rstrip().endswith("= {"):
                    name = named(lines[number - 1][1:])    # struct {...} name[] = {...
            found.append((name, begins[first], begins[number]))
    return found


def python_definitions(text):
    """The functions: (name, begin, end) of each, to the next line that is not further in."""
    for match in re.finditer(r"^( *)def (\w+).*\n(?:(?:\1 .*)?\n)*", text, re.MULTILINE):
        yield match.group(2), match.start(), match.end()


def spans(text, pattern):
    """Where the pattern's tokens are: (begin, end) of each."""
    there, wanted = tokens(text), [token for token, _, _ in tokens(pattern)]
    for at in range(len(there) - len(wanted) + 1):
        if all(there[at + i][0] == token for i, token in enumerate(wanted)):
            yield there[at][1], there[at + len(wanted) - 1][2]


DEFINED = {".c": definitions, ".h": definitions, ".def": definitions, ".py": python_definitions}


class Tree:
    """A source tree, as it is now."""

    def __init__(self, folder):
        self.texts = {path.relative_to(folder): path.read_text() for room in ROOMS for path in sorted((folder / room).rglob("*")) if path.suffix in DEFINED}
        self.defined = {}    # by name: (path, begin, end) of each
        for path, text in self.texts.items():
            for name, begin, end in DEFINED[path.suffix](text):
                self.defined.setdefault(name, []).append((path, begin, end))

    def place_of(self, bug):
        """The file of the bug's place, its text, and the text with the bug."""
        _, definition, old, new = bug[:4]
        found = [(path, begin + first, begin + last) for path, begin, end in self.defined.get(definition, ()) for first, last in spans(self.texts[path][begin:end], old)]
        if len(found) != 1:
            raise NoPlace(f"in {definition}, its place is there {len(found)} times")
        path, begin, end = found[0]
        text = self.texts[path]
        return path, text, text[:begin] + new.strip().removesuffix("\\").rstrip() + text[end:]    # of a macro's last line the one that follows is kept
