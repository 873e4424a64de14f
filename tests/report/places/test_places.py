#!/usr/bin/env python3
"""Places are the program's own calls, also where it calls the runtime API.

usage: test_places.py BUILD LIBRARY
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
import simulation  # noqa: E402

BUILD, LIBRARY = Path(sys.argv[1]), sys.argv[2]
FOLDER = BUILD / "tests" / "report" / "places"
SIMULATION = simulation.environment(BUILD)
SKIPPED = 77

ROUNDS = 40
TEMPLATE = "_ZL10cudaMallocIfE9cudaErrorPPT_m"

# Kind, driver's call, function of the program, what it called: how often.
CALLS = {
    ("waits", "cuStreamSynchronize", "step_one", "cudaStreamSynchronize"): 2 * ROUNDS,
    ("waits", "cuStreamSynchronize", "step_two", "cudaStreamSynchronize"): 2 * ROUNDS,
    ("waits", "cuStreamSynchronize", "cudaStepThree", "cudaStreamSynchronize"): ROUNDS,
    ("unfit", "pageable", "copy", "cudaMemcpyAsync"): ROUNDS,
    ("allocates", "cuMemAlloc_v2", "take", "cudaMalloc"): ROUNDS,
    ("allocates", "cuMemAlloc_v2", "take_floats", "cudaMalloc"): ROUNDS,
    ("ends", "cuMemFree_v2", "give", "cudaFree"): 2 * ROUNDS,
}


class Places(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "report.json"

    def places(self, variant, mode="observe", folders=()):
        program = FOLDER / f"places-{variant}"
        path = ":".join(map(str, [*folders, SIMULATION["LD_LIBRARY_PATH"]]))
        ran = subprocess.run([program], env=SIMULATION | {"LD_LIBRARY_PATH": path, "LD_PRELOAD": LIBRARY, "REPRISE": mode, "REPRISE_REPORT": str(self.path)},
                             capture_output=True, text=True, timeout=100)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        told = json.loads(self.path.read_text())
        self.assertEqual(told["places_left_out"], 0)
        return told["places"]

    def called(self, variant):
        rows = [row for row in self.places(variant) if row["count"] >= ROUNDS]
        self.assertEqual({row["library"] for row in rows}, {str(FOLDER / f"places-{variant}")})
        return {(row["kind"], row["call"], row.get("symbol"), row.get("runtime")): row["count"] for row in rows}

    def test_a_program_with_shared_cudart(self):
        self.assertEqual(self.called("shared"), CALLS)

    def test_a_program_with_static_cudart(self):
        self.assertEqual(self.called("static"), CALLS)

    def test_a_program_of_the_driver_api(self):
        """To which the template is a function like any other."""
        expected = {(kind, call, TEMPLATE if function == "take_floats" else function, None): times for (kind, call, function, _), times in CALLS.items()}
        self.assertEqual(self.called("driver"), expected)

    def test_stripped_with_static_cudart(self):
        """Nothing tells cudart's part of the program, so the place is what called the driver."""
        self.assertEqual(self.called("stripped"), {
            ("waits", "cuStreamSynchronize", None, None): 5 * ROUNDS, ("unfit", "pageable", None, None): ROUNDS,
            ("allocates", "cuMemAlloc_v2", None, None): 2 * ROUNDS, ("ends", "cuMemFree_v2", None, None): 2 * ROUNDS})

    def in_cudart(self, rows):
        often = [row for row in rows if row["count"] >= ROUNDS]
        self.assertEqual({Path(row["library"]).name for row in often}, {"libcudart.so.0"})
        self.assertEqual(next(row["count"] for row in often if row["call"] == "cuStreamSynchronize"), 5 * ROUNDS)

    def test_without_an_unwinder(self):
        self.in_cudart(self.places("shared", folders=[FOLDER]))

    def test_where_launches_are_replayed(self):
        """No stack is walked."""
        self.in_cudart(self.places("shared", mode="on"))

    def test_the_place_is_behind_the_call(self):
        """One of five bytes."""
        image = (FOLDER / "places-static").read_bytes()
        offsets = [row["offset"] for row in self.places("static")]
        if os.uname().machine == "x86_64":
            self.assertTrue(all(image[offset - 5] == 0xE8 or image[offset - 6] == 0xFF for offset in offsets), offsets)


if __name__ == "__main__":
    if not (FOLDER / "places-static").exists():
        print("skipped: no driver to link with")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])
