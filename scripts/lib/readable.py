"""The strings of the sources that a user can read, by rules, so that a new one is found by itself: in C of all of src/, in Python of the reader and of the module.

What is left out, in both:
- a string without a word: formats, signs, paths, patterns;
- a word alone, which is mostly a name (a key of a report, a file, an option): but not what is given to a function that shows it (SHOWN_BY, SHOWN_BY_PYTHON), and not the head of a table.

In C: what the compiler reads (directives, attributes, assertions, assembly). Of JSON, the values of several words are taken.
In Python: docstrings; what is looked up, compared, or a pattern; the tags of HTML, and names of classes of page.css.

By hand: files whose strings are for engineers, and nothing prints them (NOT_SHOWN).

A value that is filled in is shown as …; adjacent strings are one, and blanks and ends of lines are one blank."""
import ast
import re

NOT_SHOWN = (
    "src/base/tuning.h",          # numbers, what they are for and where they were measured: read in the sources, and by scripts/sensitivity
    "src/record/format.h",        # the format of recordings, for programs that read them
    "src/cli/reader/names.py",    # reads the headers when Reprise is built
    "src/python/cuda_headers.py",    # finds headers when the wheel is built
)

# ---- C ----

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|\\\n|(?P<string>(?:u8|[LuU])?"(?:[^"\\\n]|\\.)*")|\'(?:[^\'\\\n]|\\.)*\'|(?P<directive>^[ \t]*#[ \t]*(?!define)\w+[^\n]*)|(?P<word>[A-Za-z_]\w*)|(?P<sign>\S)', re.S | re.M)
CONVERSION = re.compile(r"%(%|[-+0#]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|j|z|t)?[diouxXeEfgGcs])")
ESCAPES = {"n": " ", "t": " ", "r": " ", '"': '"', "\\": "\\", "0": " "}
JSON_VALUE = re.compile(r'":\s*"([^"]*)"')
FOR_THE_COMPILER = {"_Static_assert", "static_assert", "volatile", "asm", "__asm__", "visibility", "section", "deprecated"}
SHOWN_BY = {"printf", "fprintf", "snprintf", "fputs", "puts", "reprise_cli_tell", "reprise_say", "reprise_log", "add_counter", "strcpy"}


def of_c(text):
    """The literals of a C source, each with the innermost function or macro that it is given to. A macro between two literals counts as a value."""
    calls, before, parts = [], "", []
    for token in TOKEN.finditer(text):
        kind, word = token.lastgroup, token[0]
        if kind in (None, "directive"):
            continue
        if kind == "string":
            parts.append(word[word.index('"') + 1:-1])
            continue
        if parts and kind == "word" and (word.isupper() or word.startswith("PRI")):
            parts.append("u" if word.startswith("PRI") else "%s")
            continue
        if parts:
            yield "".join(parts), next((call for call in reversed(calls) if call), "")
            parts = []
        if word == "(":
            calls.append(before if re.fullmatch(r"[A-Za-z_]\w*", before) and before not in ("return", "sizeof") else "")
        elif word == ")" and calls:
            calls.pop()
        before = word


def as_printed(text):
    text = re.sub(r"\\(?:033|x1b)\[\w+|\\(.)", lambda match: ESCAPES.get(match[1], match[0]) if match[1] else " ", text)
    return CONVERSION.sub(lambda match: "%" if match[1] == "%" else "…", text)


def c_strings(text):
    for literal, call in of_c(text):
        printed = as_printed(literal)
        if call in FOR_THE_COMPILER:
            continue
        if '":' in printed:
            yield from (value for value in map(plain, JSON_VALUE.findall(printed)) if is_phrase(value))
        elif is_phrase(printed) or call in SHOWN_BY and is_word(printed):
            yield plain(printed)


# ---- Python ----

TAG = re.compile(r"<(?=[/a-zA-Z!])[^<>]*>")
LOOKED_UP_BY = {"get", "pop", "compile", "sub", "fullmatch", "findall", "search", "startswith", "endswith", "fromkeys"}
SHOWN_BY_PYTHON = {"term", "marked", "section", "keyed", "fold", "table"}


def looked_up(tree):
    """Nodes of which no string is shown: docstrings, subscripts, comparisons, arguments of look-ups and patterns, and how values are formatted."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value
        elif isinstance(node, ast.Subscript):
            yield node.slice
        elif isinstance(node, ast.Compare):
            yield from (node.left, *node.comparators)
        elif isinstance(node, ast.FormattedValue) and node.format_spec:
            yield node.format_spec
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOOKED_UP_BY:
            yield from node.args


def called(node):
    return node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""


def words_alone(tree):
    """Nodes in which a word alone is shown: what is given to functions that show it, the heads of tables, and the name of a row."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) in SHOWN_BY_PYTHON:
            for argument in node.args[:2]:
                yield argument
                if isinstance(argument, (ast.Tuple, ast.List)):
                    yield from argument.elts
        elif isinstance(node, ast.Yield) and isinstance(node.value, ast.Tuple):
            yield node.value.elts[0]


def python_strings(text, classes=frozenset()):
    tree = ast.parse(text)
    hidden = {id(node) for node in looked_up(tree)}
    alone = {id(node) for node in words_alone(tree)}

    def walk(node):
        if id(node) in hidden:
            return
        found = literal(node)
        if found is not None:
            shown = plain(TAG.sub(" ", found))
            if not set(shown.split()) <= classes and "::" not in shown and (is_phrase(shown) or id(node) in alone and is_word(shown.lstrip("<"))):
                yield shown.lstrip("<")
        for child in ast.iter_child_nodes(node):
            if not (isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)):
                yield from walk(child)

    yield from walk(tree)


def literal(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
    return None


# ---- both ----

# Words of docs/design.md that no user has to know; as code they may stand, as keys of the report do.
OF_THE_DESIGN = re.compile(r"\b(ops?|traces?|lanes?|doors?|visits?|side[- ]exits?|any-values?|barriers?|cooldowns?|quiescence)\b", re.I)


def of_the_design(text):
    """The first word of the design in it, or None."""
    found = OF_THE_DESIGN.search(re.sub(r"`[^`]*`", "", text))
    return found and found[0]


def plain(text):
    return " ".join(text.split())


def is_word(text):
    return re.fullmatch(r"[A-Za-z][a-zA-Z-]+:?", text.strip()) is not None


def is_phrase(text):
    """Several words, or a word and a value."""
    pieces = [piece for piece in text.split() if re.search(r"\w|…", piece)]
    return len(pieces) > 1 and any(re.fullmatch(r"[(\"'“<]*[A-Za-z][a-z'’-]+[…)\"'”.,:;?!]*", piece) for piece in pieces)


def files(top):
    found = [*top.glob("src/**/*.[ch]"), *top.glob("src/**/*.py")]
    return sorted(path for path in found if str(path.relative_to(top)) not in NOT_SHOWN)


def read(top):
    """(file, string): each string once for each file, in the order of the source."""
    styles = [path.read_text(encoding="utf-8") for path in top.glob("src/cli/reader/*.css")]
    classes = frozenset(re.findall(r"\.([a-z][\w-]*)", " ".join(styles)))
    for path in files(top):
        text = path.read_text(encoding="utf-8")
        strings = python_strings(text, classes) if path.suffix == ".py" else c_strings(text)
        yield from ((str(path.relative_to(top)), string) for string in dict.fromkeys(strings))
