#!/usr/bin/env python3
"""Call sites are the program's own calls, also where it calls the runtime API.

usage: test_call_sites.py BUILD LIBRARY
"""
import os
import sys
import unittest
from pathlib import Path

from lib import call_sites, runs
from lib.call_sites import CALLS, ROUNDS

BUILD, LIBRARY = Path(sys.argv[1]), sys.argv[2]
NO_UNWINDER = call_sites.program(BUILD, "shared").parent / "no_unwinder"
DRIVER = runs.simulated(BUILD)["LD_LIBRARY_PATH"]
SKIPPED = 77

TEMPLATE = "_ZL10cudaMallocIfE9cudaErrorPPT_m"


class CallSites(unittest.TestCase):
    def call_sites(self, variant, mode="observe", folders=()):
        ran = runs.run([call_sites.program(BUILD, variant)], LIBRARY, environment={"LD_LIBRARY_PATH": ":".join(map(str, [*folders, DRIVER])), "REPRISE": mode})
        self.assertEqual((ran.status, ran.stderr), (0, ""))
        self.assertEqual(ran.report["call_sites_left_out"], 0)
        return ran.report["call_sites"]

    def called(self, variant):
        rows = [row for row in self.call_sites(variant) if row["count"] >= ROUNDS]
        self.assertEqual({row["library"] for row in rows}, {str(call_sites.program(BUILD, variant))})
        return call_sites.called(rows)

    def test_a_program_with_shared_cudart(self):
        self.assertEqual(self.called("shared"), CALLS)

    def test_a_program_with_static_cudart(self):
        self.assertEqual(self.called("static"), CALLS)

    def test_a_program_of_the_driver_api(self):
        """To which the template is a function like any other."""
        expected = {(kind, call, TEMPLATE if function == "take_floats" else function, None): times for (kind, call, function, _), times in CALLS.items()}
        self.assertEqual(self.called("driver"), expected)

    def test_stripped_with_static_cudart(self):
        """Nothing tells cudart's part of the program, so the call site is what called the driver."""
        self.assertEqual(self.called("stripped"), {
            ("waits", "cuStreamSynchronize", None, None): 5 * ROUNDS, ("unfit", "pageable", None, None): ROUNDS,
            ("allocates", "cuMemAlloc_v2", None, None): 2 * ROUNDS, ("ends", "cuMemFree_v2", None, None): 2 * ROUNDS})

    def in_cudart(self, rows, scanned=0):
        often = [row for row in rows if row["count"] >= ROUNDS]
        self.assertEqual({Path(row["library"]).name for row in often}, {"libcudart.so.0"})
        waits = next(row["count"] for row in often if row["call"] == "cuStreamSynchronize")
        self.assertLessEqual(waits, 5 * ROUNDS)
        self.assertGreaterEqual(waits, 5 * ROUNDS - scanned)

    @unittest.skipUnless(NO_UNWINDER.exists(), "built with a sanitizer, which needs the unwinder itself")
    def test_without_an_unwinder(self):
        self.in_cudart(self.call_sites("shared", folders=[NO_UNWINDER]))

    def test_where_launches_are_replayed(self):
        """No stack is walked. Nothing is noted before calls have come again."""
        self.in_cudart(self.call_sites("shared", mode="on"), scanned=16)

    def test_the_call_site_is_behind_the_call(self):
        """One of five bytes."""
        image = call_sites.program(BUILD, "static").read_bytes()
        offsets = [row["offset"] for row in self.call_sites("static")]
        if os.uname().machine == "x86_64" and not runs.EMULATOR:
            self.assertTrue(all(image[offset - 5] == 0xE8 or image[offset - 6] == 0xFF for offset in offsets), offsets)


if __name__ == "__main__":
    if not call_sites.program(BUILD, "static").exists():
        print("skipped: no driver to link with")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
