"""Text from a file, made safe for a terminal or a page. Names may contain anything."""
import unicodedata

# Control characters, direction and invisible characters, surrogates, line and paragraph separators.
STRIPPED = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def word(text):
    """The text without characters that affect a terminal."""
    return text if text.isascii() and text.isprintable() else "".join(letter for letter in as_written(text) if unicodedata.category(letter) not in STRIPPED)


def as_written(text):
    """Decodes bytes that reports hold as characters; most names are UTF-8."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def whole(value):
    """The same for all strings of a JSON value except keys."""
    if isinstance(value, str):
        return word(value)
    if isinstance(value, list):
        return [whole(member) for member in value]
    if isinstance(value, dict):
        return {name: whole(member) for name, member in value.items()}
    return value
