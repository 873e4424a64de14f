"""Recorded op streams (OPSTREAM2) in Python, as docs/recording.md describes them, for tests and for scripts/record-stream."""
import collections
import struct

RECORD = struct.Struct("<BBBBIII")
OPS = ("kernel", "copy", "copy 2D", "copy 3D", "memset", "host function")
NO_LANE = 255
DEVICE, PINNED, OTHER = range(3)


class Record(collections.namedtuple("Record", "kind lane thread detail gap_ns shape value")):
    @property
    def is_op(self):
        return self.kind in OPS

    @property
    def target_memory(self):
        return self.detail & 3

    @property
    def source_memory(self):
        return self.detail >> 2 & 3

    @property
    def unfit(self):
        return self.detail >> 4


def read(path):
    """The records of a file. ValueError where it is none."""
    header, end, body = path.read_bytes().partition(b"\nend\n")
    first, *lines = header.decode(errors="replace").split("\n")
    if first != "OPSTREAM2" or not end:
        raise ValueError(f"{path} is no op stream of the second form")
    kinds = dict(line.split(" ", 1) for line in lines)
    whole = len(body) - len(body) % RECORD.size
    return [Record(kinds[str(kind)], *rest) for kind, *rest in RECORD.iter_unpack(body[:whole])]
