"""The form of the pages that scripts/guide writes: where commands stand in them, how output is shown, and what is wrong with a page. Runs nothing."""
import re

BLOCK = re.compile(r"<!-- run(?P<terminal> on a terminal)?(?:, (?P<most>\d+) lines)?:\n(?P<commands>(?:[^\n]+\n)+?)-->\n```\n(?P<shown>.*?)```\n", re.S)
MACHINE = re.compile(r"(<!-- machine -->\n).*?(<!-- end -->\n)", re.S)
FENCE = re.compile(r"^```\w*\n(.*?)^```$", re.S | re.M)

LINES_MOST, WIDTH_MOST = 60, 160

# What differs from run to run and from program to program in the output of `reprise`: numbers with their units, functions of CUDA, names of the program's.
VARIES = re.compile(r"\S*\d\S*(?: (?:ns|us|ms|s|x|%|KiB|MiB|GiB)(?!\w))?|\bcu(?:da)?[A-Z]\S*|\S*heat\S*|\ban eager (?:kernel|copy|memset)\b")    # of which calls the price was measured
OPTION = re.compile(r"\bREPRISE\w*")

# Process numbers, in the places where they are.
NUMBER = re.compile(r'(?<=process )\d+|(?<="pid":)\d+|(?<="tid":)\d+|(?<=reprise-)\d+(?=-)')


def neutral(text, names):
    """The text without what is one machine's alone: paths and names as `names` has them, and the numbers of processes."""
    numbers = {}
    for found, name in names:
        text = re.sub(re.escape(str(found)) if "/" in str(found) else rf"(?<![\w.-]){re.escape(found)}(?![\w.-])", name, text)
    return NUMBER.sub(lambda match: str(numbers.setdefault(match[0], 4711 + len(numbers))), text)


def last_looks(line):
    """Of a line that was written over and over, how it looked before it was erased, and after."""
    looks = [look for look in re.split(r"\r|\x1b\[K", line) if look]
    return looks[-2:] or [""]


def shown(command, output, most):
    """What the page has of a command and its output: at most so many lines of it."""
    lines = [look for line in output.rstrip("\n").split("\n") for look in last_looks(line)] if output.strip() else []
    lines = [line if len(line) <= WIDTH_MOST else line[:WIDTH_MOST - 1] + "…" for line in lines]
    if len(lines) > most:
        lines[most - 1:] = [f"[{len(lines) - most + 1} more lines]"]
    return "".join(f"{line}\n" for line in [f"$ {command}", *lines])


def misformed(text, ways):
    """Yields what is wrong with a page. `ways`: how its commands may be typed, as functions."""
    blocks = list(BLOCK.finditer(text))
    if text.count("<!-- run") != len(blocks):
        yield "a block that is to be run is not well formed"
    if len(MACHINE.findall(text)) != bool(blocks):
        yield "it does not say once where its output comes from"
    for fence in FENCE.findall(BLOCK.sub("", text)):
        if fence.startswith("$ "):
            yield f"this is not written by scripts/guide: {fence.splitlines()[0]}"
    for block in blocks:
        prompts = [line[2:] for line in block["shown"].splitlines() if line.startswith("$ ")]
        if prompts not in [said(block["commands"]).splitlines() for said in ways]:
            yield f"it does not show the commands that it has: {block['commands'].splitlines()[0]}"


def phrases(page):
    """What `reprise` says on a page, apart from what varies, and the lines of it that have nothing else."""
    found, whole = set(), set()
    for block in BLOCK.finditer(page):
        by_reprise = False
        for line in block["shown"].splitlines():
            if line.startswith("$ "):
                by_reprise = "reprise " in line
            elif by_reprise and not re.match(r"\[\d+ more lines\]", line):
                found.update(part.strip() for part in re.split(r"  +|[,;:()]", VARIES.sub("  ", line)))
                if line[:1].isalpha() and not VARIES.search(line):
                    whole.add(line)
    return found, whole


def outdated(page, printed, known):
    """Yields what a page shows that is said no more, and what it does not show. `printed`: the page as it would be written now, with another program or driver,
    and so with other rows; what it lacks has to be in `known`, the text of the sources."""
    (shown, lines), (now, lines_now) = phrases(page), phrases(printed)
    yield from (f"it shows what is not said any more: {phrase}" for phrase in sorted(shown - now) if phrase not in known)
    yield from (f"it does not show what is said now: {line}" for line in sorted(lines_now - lines))
    yield from (f"it does not show {option}" for option in sorted(set(OPTION.findall(printed)) - set(OPTION.findall(page))))


def unknown_options(text, known):
    """Yields each option that a call of the command on a page has, and the command has not."""
    for call in re.findall(r"\breprise (?:run|observe|verify|bench|report) ([^`\n]*)", text):
        for option in re.findall(r"(?<!\S)--[a-z][a-z-]*", re.split(r"(?:^| )-- ", call)[0]):
            if option not in known:
                yield f"{option} is no option of reprise"
