"""Alters reports, and says whether what is shown of them is harmless: for what is to bear with any."""
import copy

EVIL = "\x1b[2J\x07\u202eevil\u2066\u200b\x9b31m\n\ud800\u2028"
VALUES = [None, True, False, 0, 1, -1, 2**31, 2**63, 2**64 - 1, 2**64, -2**63, 10**400, 0.5, -0.0, 1e308, 1e18, "", EVIL, "0", [], [0], [[0, 0, 0]], [[1, 1, 1]], {}, {"": 0}, [None] * 3000]
TEXTS = ["NaN", "Infinity", "-Infinity", "1e400", "1" * 5000, "[" * 100000, '"\\ud800"', "\x00", "\ufeff", "}"]


def places(value, path=()):
    """Every place in a value of JSON."""
    yield path
    for key, member in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(member, (*path, key))


def alter_value(chance, whole):
    path = chance.choice(list(places(whole)))
    if not path:
        return copy.deepcopy(chance.choice(VALUES))
    holder = whole
    for key in path[:-1]:
        holder = holder[key]
    what = chance.randrange(6)
    if what == 0:
        del holder[path[-1]]
    elif what == 1 and isinstance(holder, list):
        holder *= chance.choice((2, 40))
    elif what == 2 and isinstance(holder, dict):
        holder[EVIL] = holder[path[-1]]
    elif what == 3 and isinstance(holder[path[-1]], str):
        holder[path[-1]] += EVIL * chance.choice((1, 50))
    elif what == 4 and isinstance(holder[path[-1]], int):
        holder[path[-1]] = chance.choice((0, 1, holder[path[-1]] * 10**9, -holder[path[-1]]))
    else:
        holder[path[-1]] = copy.deepcopy(chance.choice(VALUES))
    return whole


def alter_text(chance, text):
    at = chance.randrange(len(text))
    return chance.choice((text[:at], text[:at] + chance.choice(TEXTS) + text[at:], text[:at] + text[at + chance.randrange(1, 200):],
                          text.replace(": 0", ": " + chance.choice(TEXTS), 1)))


def is_harmless(text):
    return all(letter == "\n" or letter.isprintable() or letter == "\u00a0" for letter in text)
