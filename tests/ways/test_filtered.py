#!/usr/bin/env python3
"""Programs that lock themselves in after their first launch, by a filter of system calls: none is ended for what Reprise does of its own accord.

usage: test_filtered.py BUILD LIBRARY
"""
import errno
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import filters
from lib import beside, runs

BUILD, LIBRARY = (Path(word).resolve() for word in sys.argv[1:3])
REPRISE = BUILD / "src" / "cli" / "reprise"
HERE = Path(__file__).resolve().parent    # filters.py
SIMULATED = runs.simulated(BUILD) | {"PYTHONPATH": str(HERE)}
UNDER_REPRISE = SIMULATED | {"LD_PRELOAD": str(LIBRARY), "REPRISE_PAYS": "assumed"}
DEADLINE = 60

# It works, locks itself in, works for two seconds more, and ends as it is told: without Python's own end, which opens files.
PROGRAM = """
import ctypes, os, sys, time
cuda, libc = ctypes.CDLL("libcuda.so.1"), ctypes.CDLL(None)
context, stream, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuStreamCreate(ctypes.byref(stream), 1)
cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(64))
def work():
    for _ in range(8):
        if cuda.cuMemsetD8Async(memory, ctypes.c_ubyte(1), ctypes.c_size_t(64), stream):
            os._exit(1)
    cuda.cuStreamSynchronize(stream)
import filters
work()
%s
os.write(2, b"locked in\\n")
end = time.monotonic() + 2
while time.monotonic() < end:
    work()
    time.sleep(0.001)
libc.exit(5)
"""
KILLS, REFUSES = "answer=filters.KILL", f"number={errno.EPERM}"


@unittest.skipUnless(filters.NUMBERS, "no system calls' numbers are known here")
@unittest.skipIf(filters.are_there(), "this runs under filters, and one that comes to others is not seen (docs/limits.md)")
class LockedIn(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "r.json"

    def start(self, answer, all_threads, before="", **environment):
        lock = f"{before}\nfilters.forbid(*filters.OWN, {answer}, all_threads={all_threads})"
        process = subprocess.Popen([sys.executable, "-c", PROGRAM % lock], env=UNDER_REPRISE | environment, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def end(self, process):
        _, said = process.communicate(timeout=DEADLINE)
        self.assertEqual((process.returncode, said), (5, "locked in\n"))

    def report(self):
        return json.loads(self.path.read_text())

    def test_the_report_at_the_end_is_written_by_a_thread_that_is_not_locked_in(self):
        for mode in ("on", "observe"):
            for answer in (KILLS, REFUSES):
                with self.subTest(mode=mode, answer=answer):
                    self.path.unlink(missing_ok=True)
                    self.end(self.start(answer, False, REPRISE=mode, REPRISE_REPORT=str(self.path)))
                    report = self.report()
                    self.assertEqual((report["complete"], report["mode"], report["ops"] % 8), (True, mode, 0))
                    self.assertIn("cuStreamSynchronize", [row["call"] for row in report["call_sites"] if "library" in row])
                    self.assertEqual([path.name for path in self.folder.iterdir()], ["r.json"])

    def test_where_all_threads_are_locked_in_the_last_snapshot_stands(self):
        wait = f"while not os.path.exists({str(self.path)!r}): work()"
        for answer in (KILLS, REFUSES):
            with self.subTest(answer=answer):
                self.path.unlink(missing_ok=True)
                self.end(self.start(answer, True, wait, REPRISE_REPORT=str(self.path)))
                self.assertFalse(self.report()["complete"])
                self.assertEqual([path.name for path in self.folder.iterdir()], ["r.json"])

    def test_the_command_names_that_as_a_reason_why_no_report_came(self):
        script = PROGRAM % f"filters.forbid(*filters.OWN, {KILLS}, all_threads=True)"
        outcome = subprocess.run([REPRISE, "run", "--", sys.executable, "-c", script], env=SIMULATED, capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual(outcome.returncode, 5)
        self.assertRegex(outcome.stderr, r"^locked in\nreprise: .*no report came: .* forbade itself to open files, or changed the environment; try reprise doctor ")

    def test_a_recording_ends_there(self):
        for answer in (KILLS, REFUSES):
            with self.subTest(answer=answer):
                file = self.folder / answer
                self.end(self.start(answer, False, REPRISE_RECORD=str(file), REPRISE_REPORT=str(self.path)))
                self.assertEqual(self.report()["recording_ended"], "the program has forbidden itself system calls (seccomp)")
                self.assertTrue(file.read_bytes().startswith(b"OPSTREAM2\n"))

    def test_drawings_and_the_timeline_end_there(self):
        for answer in (KILLS, REFUSES):
            for variable in ("REPRISE_DOT", "REPRISE_TIMELINE"):
                with self.subTest(answer=answer, variable=variable):
                    place = self.folder / (variable + answer)
                    if variable == "REPRISE_DOT":
                        place.mkdir()
                    self.end(self.start(answer, True, **{variable: str(place)}))
                    self.assertEqual(list(place.glob("*")), [])

    def test_nobody_is_answered_any_more(self):
        for answer in (KILLS, REFUSES):
            with self.subTest(answer=answer):
                process = self.start(answer, True, f"while f'@reprise-{{os.getpid()}}' not in open('/proc/net/unix').read(): work()", REPRISE_CONTROL="1")
                self.assertEqual(process.stderr.readline(), "locked in\n")
                asked = subprocess.run([REPRISE, "ctl", str(process.pid), "report"], capture_output=True, text=True, timeout=DEADLINE)
                self.assertEqual((asked.returncode, asked.stdout), (1, ""))
                _, said = process.communicate(timeout=DEADLINE)
                self.assertEqual((process.returncode, said), (5, ""))


if __name__ == "__main__":
    beside.main(sys.argv[3:])
