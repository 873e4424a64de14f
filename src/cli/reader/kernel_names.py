"""Short names of kernels, as Nsight Systems has them: without return type, template arguments and parameters."""

from amounts import shortened

SHORT_MOST = 120    # characters
ANONYMOUS = ("(anonymous namespace)::", "<unnamed>::", "{unnamed}::")
OPERATORS = tuple(f"operator{sign}" for sign in ("<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=", "->", "<", ">", "()"))


def without_arguments(name):
    """The name without what stands in angle brackets, up to the parameters."""
    kept, depth, at = [], 0, 0
    while at < len(name):
        operator = next((sign for sign in OPERATORS if name.startswith(sign, at)), None) if name[at] == "o" else None
        if operator:
            kept.append(operator if depth == 0 else "")
            at += len(operator)
            continue
        letter = name[at]
        if letter == "(" and depth == 0:
            break
        if letter in "<([{":
            depth += 1
        elif letter in ">)]}" and depth > 0:
            depth -= 1
        elif depth == 0:
            kept.append(letter)
        at += 1
    return "".join(kept)


def short(name):
    """The short name; the name itself where it is not of that form."""
    for words in ANONYMOUS:
        name = name.replace(words, "")
    found = without_arguments(name).strip()
    begin = found.rfind("operator")
    found = found[found.rfind(" ", 0, begin if begin >= 0 else len(found)) + 1:].strip(":") or name
    return found if len(found) <= SHORT_MOST else found[: SHORT_MOST - 1] + "…"


def bare(name):
    """The short name without namespaces and classes, where a line has two of them."""
    return short(name).rpartition("::")[2]


def told(name, most):
    """The short name, in so many characters."""
    return shortened(short(name), most)
