#!/usr/bin/env python3
"""Metrics of programs with hostile names, in jobs with hostile ranks, on a host with a hostile name: read by the parser of Prometheus' own client, which the project has not written.

usage: test_metrics_parsed.py BUILD LIBRARY

Skipped where there is no such parser: scripts/lib/lib.sh has it from PyPI, in a folder beside the build's.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lib import runs
from lib.runs import until

BUILD, LIBRARY = (Path(word).resolve() for word in sys.argv[1:3])
TOP = Path(__file__).resolve().parents[2]
sys.path += [f"{BUILD}-python", str(TOP / "build-python")]
try:
    from prometheus_client.parser import text_string_to_metric_families as families_of
except ImportError:
    families_of = None
SKIPPED = 77
PROGRAM = BUILD / "tests" / "programs" / "launchbound-driver"
LOOP = ["--module", str(BUILD / "tests" / "programs" / "driver_kernels.so"), "--shape", "chain", "--iterations", "100000000"]
AT_ONCE, BY_CHANCE = 4, 12
NAME_MOST = 255    # bytes of a file's name
SHOWN_MOST = 127   # bytes of a label's value, escaped
RANK_MOST = 2**31 - 1
PIECES = (b'"', b"\\", b"\n", b"\r\n", b'\\"', b"\\n", b'"} 1\nreprise_ops_total{x="', b"# HELP reprise_ops_total x\n", b"\xff", b"\xc3", "ü".encode(), "\u2028\u202e".encode(), b"\x01\x7f", b"{,}=", b" ", b"a", b"solver")
NAMES = (b'"', b"\\", b"\n", b'a"b\\c\nd', b'"} 1\nreprise_ops_total{x="', b"\xff\xfe\x80", b"\\" * NAME_MOST, b'"' * NAME_MOST, b"a" * (SHOWN_MOST - 1) + b"\\", b"a" * (SHOWN_MOST - 2) + b'"', b"a" * NAME_MOST)
RANKS = ("0", "007", str(RANK_MOST), str(RANK_MOST + 1), '3"', "3\n4", "3\\", '1"} 5', "-1", " 3", "9" * 5000, "")
# Becomes the program under another host's name, in a namespace of its own.
ELSEWHERE = "import os, socket, sys; socket.sethostname(os.fsencode(sys.argv[1])); os.execv(sys.argv[2], sys.argv[2:])"


def cases():
    """(program's name, rank or None): each name and each rank that is listed, and names by chance, the same in every run."""
    chance = random.Random(20261128)
    yield from ((name, None) for name in NAMES)
    yield from ((b"solver", rank) for rank in RANKS)
    for _ in range(BY_CHANCE):
        yield b"".join(chance.choice(PIECES) for _ in range(chance.choice((1, 3, 10, 60)))).strip(b"/")[:NAME_MOST], chance.choice(RANKS)


def shown(name):
    """The label's value of a program of that name: what is not printable is a question mark."""
    return "".join(chr(byte) if 0x20 <= byte < 0x7f else "?" for byte in name)


def rank_of(text):
    """The label of a rank; None if that is no number that a rank may be."""
    return str(int(text)) if text and text.isascii() and text.isdigit() and len(text) < 20 and int(text) <= RANK_MOST else None


class Parsed(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def families(self, command, folder, **environment):
        """What the parser makes of the file of a process, which is ended then."""
        environment = runs.simulated(BUILD) | {"LD_PRELOAD": str(LIBRARY), "REPRISE_METRICS": str(folder)} | environment
        with subprocess.Popen([*command, *LOOP], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            try:
                path = folder / f"reprise-{process.pid}.prom"
                until(path.exists, f"metrics of {command}")
                return process.pid, list(families_of(path.read_bytes().decode("utf-8")))
            finally:
                process.kill()

    def holds(self, families, pid, name, rank):
        self.assertGreaterEqual(len(families), 8)
        self.assertEqual(len({family.name for family in families}), len(families))
        for family in families:
            self.assertTrue(family.name.startswith("reprise_") and family.documentation.endswith(".") and family.type in ("counter", "gauge") and family.samples, family)
            for sample in family.samples:
                labels = dict(sample.labels)
                program, told = labels.pop("program"), {"pid": str(pid)} | ({"rank": rank} if rank is not None else {})
                labels.pop("reason" if family.name == "reprise_side_exits" else "", None)
                self.assertEqual(labels, told)
                self.assertGreaterEqual(sample.value, 0)
                # A long one is cut, between two characters: the label is whole, or as long as it may be.
                escaped = len(program) + program.count("\\") + program.count('"')
                self.assertTrue(shown(name).startswith(program), (name, program))
                self.assertTrue(program == shown(name) or SHOWN_MOST - 3 < escaped <= SHOWN_MOST, (name, program))

    def test_names_and_ranks(self):
        def try_one(number, name, rank):
            folder = self.folder / str(number)
            folder.mkdir()
            program = os.fsencode(folder) + b"/" + name
            os.symlink(PROGRAM, program)
            return self.families([program], folder, **({} if rank is None else {"PMI_RANK": rank}))

        listed = list(cases())
        with ThreadPoolExecutor(AT_ONCE) as pool:
            found = list(pool.map(lambda one: try_one(one[0], *one[1]), enumerate(listed)))
        for (name, rank), (pid, families) in zip(listed, found):
            with self.subTest(name=name, rank=rank and rank[:20]):
                self.holds(families, pid, name, rank_of(rank))

    def test_hosts(self):
        """A host's name is in no label, and a report of it is JSON."""
        there = ["unshare", "-ru", sys.executable, "-c", ELSEWHERE]
        if subprocess.run([*there, "x", "/bin/true"], capture_output=True).returncode != 0:
            self.skipTest("no host can have another name here")
        for host in (b'a"b\\c\nd', b"\xff\xfe\xc3", b'"' * 64, b'","ops":1,"'):
            with self.subTest(host=host):
                report = self.folder / "report.json"
                report.unlink(missing_ok=True)
                pid, families = self.families([*there, host, PROGRAM], self.folder, REPRISE_REPORT=str(report))
                self.holds(families, pid, PROGRAM.name.encode(), None)
                self.assertEqual(json.loads(until(lambda: report.exists() and report.read_text(), "a report"))["host"].encode("latin-1"), host)


if __name__ == "__main__":
    runs.hear_signals()
    if families_of is None:
        print("skipped: there is no prometheus_client.parser for this Python: scripts/test has it from PyPI, where that can be reached")
        sys.exit(SKIPPED)
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
