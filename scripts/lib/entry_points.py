"""Reads entry_points.def for what is not C: the checks, the documentation, the judge of arrivals."""
import pathlib
import re

CLASSES = ('RECORD', 'ORDER', 'SYNC', 'LIFETIME', 'OWN', 'ALLOC', 'NO_DOOR')
OBJECTS = ('STREAM', 'EVENT', 'GRAPH', 'FUNCTION', 'MODULE', 'CONTEXT', 'HOST', 'MEMORY', 'ARRAY')

ROW = re.compile(rf'^({"|".join(CLASSES)})\((.*)\)$', re.M)
REASON = re.compile(r'^REASON\((\w+), "(.*)"\)$', re.M)
NAME = re.compile(r'(cu[A-Z]\w*?)(?:_v(\d+))?(?:_(ptsz|ptds))?')

FIELDS = {
    'RECORD': ('name', 'argument', 'form', 'takes'),
    'ORDER': ('name', 'argument', 'form', 'takes'),
    'SYNC': ('name', 'what', 'argument', 'form', 'result', 'takes'),
    'LIFETIME': ('name', 'what', 'argument', 'form', 'result', 'takes'),
    'OWN': ('name', 'argument', 'form', 'takes'),
    'ALLOC': ('name', 'argument', 'form', 'takes'),
    'NO_DOOR': ('name', 'reason', 'takes'),
}


class Row:
    """One entry point: `kind` is its class, the other members are the row's fields, None where its class has no such field."""
    argument = form = what = result = reason = None

    def __init__(self, kind, fields):
        self.kind = kind
        fields = [field.strip() for field in fields.split(',')]
        if len(fields) != len(FIELDS[kind]):
            raise ValueError(f'{kind}({", ".join(fields)}) has not the fields {", ".join(FIELDS[kind])}')
        for member, value in zip(FIELDS[kind], fields):
            setattr(self, member, value)
        if self.argument is not None:
            self.argument = int(self.argument)
        self.takes = frozenset() if self.takes == 'NOTHING' else frozenset(self.takes.split())
        self.function, version, self.suffix = NAME.fullmatch(self.name).groups()
        self.version = int(version or 1)


def read(path):
    """The rows in their order, and keyword -> text of the reasons for NO_DOOR."""
    text = pathlib.Path(path).read_text(encoding='utf-8')
    return [Row(*row) for row in ROW.findall(text)], dict(REASON.findall(text))
