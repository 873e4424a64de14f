"""What comes from a file and goes to a terminal or a page: names may hold anything."""
import unicodedata

# Control characters, characters that turn the direction of writing or cannot be seen, halves of characters, ends of lines and of paragraphs.
STRIPPED = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def word(text):
    """The text without what would do something to a terminal."""
    return text if text.isascii() and text.isprintable() else "".join(letter for letter in as_written(text) if unicodedata.category(letter) not in STRIPPED)


def as_written(text):
    """Reports have bytes for characters: most names are UTF-8."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def whole(value):
    """The same for all that is in a value of JSON, but for the names of what it has."""
    if isinstance(value, str):
        return word(value)
    if isinstance(value, list):
        return [whole(member) for member in value]
    if isinstance(value, dict):
        return {name: whole(member) for name, member in value.items()}
    return value
