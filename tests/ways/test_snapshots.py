#!/usr/bin/env python3
"""The report while the program runs: who is ended by a signal, by _exit or by execve has one, whole, and a second old at most.

usage: test_snapshots.py BUILD LIBRARY
"""
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from functools import partial
from pathlib import Path

import filters
from lib import beside, runs
from lib.runs import until

BUILD = Path(sys.argv[1]).resolve()
TOP = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((TOP / "docs" / "report.schema.json").read_text())
UNDER_REPRISE = runs.simulated(BUILD) | {"LD_PRELOAD": str(Path(sys.argv[2]).resolve()), "REPRISE_PAYS": "assumed"}
LOOP = [str(BUILD / "tests" / "programs" / "launchbound-driver"), "--module", str(BUILD / "tests" / "programs" / "driver_kernels.so"), "--shape", "chain", "--iterations"]
FOR_LONG, SHORT = "100000000", "400"
DEADLINE = 60

# work(n): so many memsets and a wait. What a program does with them is the rest of the script.
WORKER = """
import ctypes, os, sys, time
cuda = ctypes.CDLL("libcuda.so.1")
context, stream, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuStreamCreate(ctypes.byref(stream), 1)
cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(64))
def work(count=8):
    for _ in range(count):
        if cuda.cuMemsetD8Async(memory, ctypes.c_ubyte(1), ctypes.c_size_t(64), stream):
            sys.exit("refused")
    cuda.cuStreamSynchronize(stream)
"""

try:
    import jsonschema
except ImportError:
    jsonschema = None


def read(path):
    """Whole, whenever that is; None if nothing is there."""
    try:
        return json.loads(Path(path).read_text())
    except FileNotFoundError:
        return None


def end_all_of(process):
    """And its children: who is left would keep its stderr open."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Snapshots(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "reports"
        self.folder.mkdir()
        self.path = self.folder / "r.json"

    def start(self, words, path=None, **options):
        environment = UNDER_REPRISE | {"REPRISE_REPORT": str(path or self.path)} | options.pop("environment", {})
        options.setdefault("stdout", subprocess.DEVNULL)
        process = subprocess.Popen(words, env=environment, stderr=subprocess.PIPE, text=True, start_new_session=True, **options)
        self.addCleanup(process.communicate)
        self.addCleanup(end_all_of, process)
        return process

    def loop(self, *arguments, **options):
        return self.start([*LOOP, FOR_LONG], *arguments, **options)

    def script(self, text, *arguments, **options):
        # Python 3.12 warns of forks beside threads, on the stream that tests read numbers from.
        return self.start([sys.executable, "-W", "ignore::DeprecationWarning", "-c", WORKER + text], *arguments, **options)

    def names(self):
        return sorted(path.name for path in self.folder.iterdir())

    def snapshot(self, least=1000, path=None):
        return until(lambda: (report := read(path or self.path)) and report["ops"] > least and report, "there is a snapshot")

    def test_who_is_ended_by_a_signal_has_a_report(self):
        for mode in ("on", "observe"):
            for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
                with self.subTest(mode=mode, signal=number):
                    self.path.unlink(missing_ok=True)
                    process = self.loop(environment={"REPRISE": mode})
                    before = self.snapshot()
                    process.send_signal(number)
                    self.assertEqual(process.wait(DEADLINE), -number)
                    report = read(self.path)
                    self.assertEqual((report["complete"], report["mode"], report["pid"]), (False, mode, process.pid))
                    self.assertGreaterEqual(report["ops"], before["ops"])
                    self.assertEqual(self.names(), ["r.json"])
                    if jsonschema is not None:
                        jsonschema.Draft202012Validator(SCHEMA).validate(report)

    def test_who_ends_by_itself_has_a_complete_one(self):
        seen = self.folder.parent / "seen"
        process = self.script(f"while not os.path.exists({str(seen)!r}): work()\nwork(5)\n")
        self.assertFalse(self.snapshot()["complete"])
        seen.touch()
        self.assertEqual(process.wait(DEADLINE), 0)
        report = read(self.path)
        self.assertEqual((report["complete"], report["ops"] % 8), (True, 5))
        self.assertEqual(self.names(), ["r.json"])
        self.assertLess(abs(report["written"] - report["started"] - report["wall_ns"] / 1e9), 0.5)

    def test_who_is_gone_without_a_word_has_a_report(self):
        for last in ("os._exit(3)", "os.execv('/bin/sh', ['sh', '-c', 'exit 3'])"):
            with self.subTest(last=last):
                self.path.unlink(missing_ok=True)
                process = self.script(f"while not os.path.exists({str(self.path)!r}): work()\n{last}\n")
                self.assertEqual(process.wait(DEADLINE), 3)
                report = read(self.path)
                self.assertEqual((report["complete"], report["ops"] > 0), (False, True))

    def test_a_snapshot_is_taken_once_a_second_and_always_whole(self):
        self.loop()
        seen = [self.snapshot()]

        def more():
            report = read(self.path)
            if report["written"] != seen[-1]["written"]:
                self.assertGreater(report["ops"], seen[-1]["ops"])
                seen.append(report)
            return len(seen) > 4
        until(more, "there are four more")
        self.assertGreater(min(later["written"] - earlier["written"] for earlier, later in zip(seen, seen[1:])), 0.9)

    @unittest.skipUnless(shutil.which("valgrind") and "SLOW_BUILD" not in os.environ, "there is no valgrind, or a sanitizer in its place")
    def test_a_snapshot_costs_its_thread_a_few_system_calls_and_the_program_none(self):
        log = self.folder / "calls"
        process = self.start(["valgrind", "--tool=none", "--fair-sched=try", "--trace-syscalls=yes", f"--log-file={log}", *LOOP, FOR_LONG])
        until(lambda: len(self.snapshots(log)) > 4, "there are five snapshots")
        process.kill()
        process.wait(DEADLINE)
        calls, ends = self.calls(log), self.snapshots(log)
        writer = calls[ends[0]][0]
        of_each = [[call for thread, call in calls[begin + 1:end + 1] if thread == writer] for begin, end in zip(ends, ends[1:])]
        for of_one in of_each:
            self.assertEqual((of_one.count("openat"), of_one.count("fsync")), (1, 0))
            self.assertLessEqual(len(of_one), 40, of_one)
        # Of the program's own thread. It may wait for locks, and have memory: that is no matter of reports.
        self.assertNotEqual(writer, 1)
        self.assertEqual([call for thread, call in calls[ends[0]:ends[-1]] if thread == 1 and call not in ("futex", "brk", "mmap", "munmap", "mprotect", "madvise")], [])

    @staticmethod
    def calls(log):
        """Thread and name of all system calls, in order. The clock is none, but for valgrind."""
        named = (re.match(r"SYSCALL\[\d+, *(\d+)\]\(\d+\) (?:sys_)?(\w+)", line) for line in log.read_text(errors="replace").splitlines())
        return [(int(call[1]), call[2]) for call in named if call and call[2] != "clock_gettime"]

    def snapshots(self, log):
        """Where among these each ends."""
        return [number for number, (_, call) in enumerate(self.calls(log)) if call.startswith("rename")] if log.exists() else []

    def test_nothing_is_written_while_nothing_happens(self):
        process = self.script("work()\nprint('done', file=sys.stderr, flush=True)\ntime.sleep(1000)\n")
        process.stderr.readline()
        self.snapshot(least=1)
        time.sleep(2.5)
        before = os.stat(self.path)
        time.sleep(2.5)
        self.assertEqual(os.stat(self.path).st_ino, before.st_ino)
        self.assertEqual(read(self.path)["ops"], 8)

    def test_nothing_is_written_before_there_is_any_work(self):
        process = self.script("time.sleep(1.5)\nprint('here', file=sys.stderr, flush=True)\ntime.sleep(1000)\n")
        process.stderr.readline()
        self.assertEqual(self.names(), [])

    def test_the_programs_files_are_its_own(self):
        process = self.loop()
        self.snapshot()
        time.sleep(1.2)
        open_files = {os.readlink(link) for link in Path(f"/proc/{process.pid}/fd").iterdir()}
        self.assertFalse([name for name in open_files if str(self.folder) in name])
        thread = next(task for task in Path(f"/proc/{process.pid}/task").iterdir() if (task / "comm").read_text().strip() == "reprise-report")
        self.assertEqual({os.readlink(link) for link in (thread / "fd").iterdir()} - {str(self.path)}, set())

    def test_a_folder_that_vanishes_is_told_of_once(self):
        process = self.script(f"while not os.path.exists({str(self.folder / 'go')!r}): work()\n")
        self.snapshot()
        moved = self.folder.with_name("moved")
        self.folder.rename(moved)
        line = process.stderr.readline()
        self.assertEqual(line, f"reprise: cannot write report to {self.path}: No such file or directory\n")
        time.sleep(1.5)
        self.folder.mkdir()
        (self.folder / "go").touch()
        self.assertEqual(process.wait(DEADLINE), 0)
        self.assertEqual(process.stderr.read(), "")
        self.assertEqual((read(self.path)["complete"], read(moved / "r.json")["complete"]), (True, False))

    def test_a_full_disk_keeps_the_last_report_that_was_whole(self):
        place = f"mount -t tmpfs -o size=64k none {self.folder} && "
        if subprocess.run(["unshare", "-rm", "sh", "-c", place + "true"], stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("no file system can be mounted here")
        fill = f"while not os.path.exists({str(self.path)!r}): work()\n" \
               f"try:\n  with open({str(self.folder / 'full')!r}, 'wb', 0) as full:\n    while True: full.write(b'x' * 512)\nexcept OSError: pass\n" \
               "end = time.monotonic() + 2.5\nwhile time.monotonic() < end: work()\n"
        last = f"; status=$?; cat {self.path}; ls {self.folder} >&2; exit $status"
        with tempfile.TemporaryFile() as kept:
            # By standard output: not every shell can redirect to a descriptor of two digits.
            process = self.start(["unshare", "-rm", "sh", "-c", f"{place} {sys.executable} -c \"$0\"{last}", WORKER + fill], stdout=kept)
            _, said = process.communicate(timeout=DEADLINE)
            kept.seek(0)
            text = kept.read()
        self.assertEqual(process.returncode, 0, said)
        report = json.loads(text)
        self.assertEqual(said, f"reprise: cannot write report to {self.path}: No space left on device\nfull\nr.json\n")
        self.assertEqual((report["complete"], report["ops"] > 0), (False, True))

    def test_a_limit_on_the_size_of_files(self):
        process = self.script("import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nresource.setrlimit(resource.RLIMIT_FSIZE, (16, 16))\n"
                              "end = time.monotonic() + 3\nwhile time.monotonic() < end: work()\n")
        _, said = process.communicate(timeout=DEADLINE)
        self.assertEqual((process.returncode, said), (0, f"reprise: cannot write report to {self.path}: File too large\n"))
        self.assertEqual(self.names(), [])

    def test_who_is_off_though_a_command_started_it_says_so(self):
        off, mark = {"REPRISE": "off"}, {"_REPRISE_RUN": "1-2"}
        self.assertEqual(self.start([*LOOP, SHORT], environment=off).wait(DEADLINE), 0)
        self.assertEqual(self.names(), [])
        self.assertEqual(self.start([*LOOP, SHORT], environment=off | mark).wait(DEADLINE), 0)
        report = read(self.path)
        self.assertEqual((report["mode"], report["ops"], report["run"], report["complete"]), ("off", 0, "1-2", True))
        if jsonschema is not None:
            jsonschema.Draft202012Validator(SCHEMA).validate(report)

    def test_of_one_run_no_report_takes_the_place_of_another(self):
        for mark, count in (("1-2", 1), ("1-2", 2), ("1-2/7-8", 3), ("1-23", 3), ("1-2", 3), ("", 3)):
            self.assertEqual(self.start([*LOOP, SHORT], environment={"_REPRISE_RUN": mark}).wait(DEADLINE), 0)
            self.assertEqual(len(self.names()), count, mark)

    def test_a_name_that_several_processes_share(self):
        first = self.loop()
        self.snapshot()
        time.sleep(0.1)
        second = self.loop()  # after the first one's snapshot, which is from before this one began
        beside = self.path.with_name(f"r.json.{second.pid}")
        self.snapshot(path=beside)
        for process in (first, second):
            process.kill()
            process.wait(DEADLINE)
        self.assertEqual((read(self.path)["pid"], read(beside)["pid"]), (first.pid, second.pid))
        self.assertEqual(self.names(), ["r.json", beside.name])
        third = self.start([*LOOP, SHORT])
        self.assertEqual(third.wait(DEADLINE), 0)
        self.assertEqual((read(self.path)["pid"], read(self.path)["complete"]), (third.pid, True))

    def test_a_child_has_its_own(self):
        for text, names in (("%p.json", lambda parent, child: (f"{parent}.json", f"{child}.json")), ("r.json", lambda parent, child: ("r.json", f"r.json.{child}"))):
            with self.subTest(name=text):
                # A draft's name ends otherwise: the parent's report has its name before the fork.
                # With pauses: on a busy machine two processes that never sleep keep their reports' threads waiting for tens of seconds.
                process = self.script("for _ in range(50): work()\nwhile not any(name.endswith('.json') for name in os.listdir(sys.argv[1])): work(), time.sleep(0.001)\nchild = os.fork()\n"
                                      "os.write(2, b'%d\\n' % os.getpid())\nwhile True: work(), time.sleep(0.001)\n".replace("sys.argv[1]", repr(str(self.folder))),
                                      path=self.folder / text)
                numbers = {int(process.stderr.readline()) for _ in range(2)}
                child, = numbers - {process.pid}
                parents, childs = names(process.pid, child)
                self.snapshot(path=self.folder / childs)
                os.kill(child, signal.SIGKILL)
                process.kill()
                process.wait(DEADLINE)
                self.assertEqual((read(self.folder / parents)["pid"], read(self.folder / childs)["pid"]), (process.pid, child))
                self.assertEqual(self.names(), sorted((parents, childs)))
                for path in self.folder.iterdir():
                    path.unlink()

    def test_a_child_counts_nothing_of_its_parents(self):
        """What is 0 in the report of a process that does the same without a parent is 0 in the child's."""
        alone = self.script("work(3)\n")
        self.assertEqual(alone.wait(DEADLINE), 0)
        fresh = read(self.path)
        self.path.unlink()
        parent = self.script(f"import json\ndef replayed():\n    return os.path.exists({str(self.path)!r}) and json.load(open({str(self.path)!r}))['replayed']\n"
                             "while not replayed(): work()\nchild = os.fork()\nif child == 0:\n    work(3)\n    sys.exit()\nos.write(2, b'%d\\n' % child)\nos.wait()\n")
        child = int(parent.stderr.readline())
        self.assertEqual(parent.wait(DEADLINE), 0)
        parents, childs = read(self.path), read(f"{self.path}.{child}")
        self.assertEqual((childs["pid"], childs["ops"]), (child, fresh["ops"]))
        numbers = {key for key, value in fresh.items() if value == 0 and type(value) is int}
        self.assertGreater(len([key for key in numbers if parents[key] > 0]), 10)
        self.assertEqual({key: childs[key] for key in numbers if childs[key] != 0}, {})
        self.assertEqual(childs["host_bytes_most"], fresh["host_bytes_most"])

    def test_a_relative_name_is_looked_for_where_the_program_began(self):
        process = self.script("work()\nos.chdir('/')\nwork()\n", path="r.json", cwd=self.folder)
        self.assertEqual(process.wait(DEADLINE), 0)
        self.assertTrue(read(self.path)["complete"])

    def test_a_snapshot_names_the_calls_that_stand_in_the_way_but_not_where(self):
        for mode in ("on", "observe"):
            with self.subTest(mode=mode):
                self.path.unlink(missing_ok=True)
                self.loop(environment={"REPRISE": mode})
                report = self.snapshot()
                waits = [row for row in report["call_sites"] if row["call"] == "cuStreamSynchronize"]
                self.assertEqual([(row["kind"], "library" in row) for row in waits], [("waits", False)])
                self.assertGreater(waits[0]["count"], 10)
                self.assertEqual(report["call_sites_left_out"], 0)
                if jsonschema is not None:
                    jsonschema.Draft202012Validator(SCHEMA).validate(report)

    @unittest.skipUnless(filters.NUMBERS, "no system calls' numbers are known here")
    def test_without_close_range_there_is_the_report_at_the_end_alone(self):
        process = self.script("end = time.monotonic() + 1.5\nwhile time.monotonic() < end: work()\nprint('over', os.listdir(sys.argv[1]), file=sys.stderr)\n"
                              .replace("sys.argv[1]", repr(str(self.folder))), environment={"REPRISE_LOG": "info"}, preexec_fn=partial(filters.forbid, "close_range"))
        _, said = process.communicate(timeout=DEADLINE)
        self.assertEqual(process.returncode, 0, said)
        self.assertIn("reprise: no report before the end: the kernel is older than Linux 5.9, or forbids close_range\n", said)
        self.assertIn("over []\n", said)
        self.assertTrue(read(self.path)["complete"])

    @unittest.skipUnless(filters.NUMBERS, "no system calls' numbers are known here")
    def test_what_is_refused_is_told_of_once_and_leaves_nothing(self):
        for calls, why in ((("rename", "renameat", "renameat2", "link", "linkat"), True), (("flock", "pidfd_open", "pidfd_getfd", "memfd_create"), False)):
            with self.subTest(calls=calls):
                process = self.script("end = time.monotonic() + 2.5\nwhile time.monotonic() < end: work()\n",
                                      preexec_fn=partial(filters.forbid, *calls, number=errno.EPERM))
                _, said = process.communicate(timeout=DEADLINE)
                self.assertEqual((process.returncode, said), (0, f"reprise: cannot write report to {self.path}: Operation not permitted\n" if why else ""))
                self.assertEqual(self.names(), [] if why else ["r.json"])

    @unittest.skipUnless(filters.NUMBERS, "no system calls' numbers are known here")
    def test_who_forbids_to_open_files_later_is_not_ended_for_it(self):
        """In all threads; the filter ends the process. It has the snapshot of before."""
        last = f"import filters\nwhile not os.path.exists({str(self.path)!r}): work()\n" \
               "filters.forbid('open', 'openat', answer=filters.KILL, all_threads=True)\nend = time.monotonic() + 2.5\nwhile time.monotonic() < end: work()\nos._exit(3)\n"
        process = self.script(last, environment={"PYTHONPATH": str(Path(__file__).resolve().parent)})
        _, said = process.communicate(timeout=DEADLINE)
        self.assertEqual((process.returncode, said), (3, ""))
        self.assertFalse(read(self.path)["complete"])

    def test_what_it_runs_on_and_how(self):
        self.assertEqual(self.start([*LOOP, SHORT], environment={"REPRISE_HOLD": "200"}).wait(DEADLINE), 0)
        report = read(self.path)
        self.assertRegex(report["version"], r"^\d+\.\d+\.\d+$")
        self.assertRegex(report["commit"], r"^([0-9a-f]{12}(-dirty)?|unknown)$")
        self.assertEqual((report["gpu_name"], report["driver_cuda"], report["command"][0]), ("Simulated device", "13.0", LOOP[0]))
        self.assertEqual(report["options"]["REPRISE_HOLD"], {"value": 200, "from": "environment"})
        self.assertEqual(report["options"]["REPRISE"], {"value": "on", "from": "default"})
        named = re.findall(r'X\(\w+, "(REPRISE\w*)", [A-Z]+,', (TOP / "src" / "base" / "options.h").read_text())
        self.assertEqual(list(report["options"]), named)


if __name__ == "__main__":
    runs.hear_signals()
    beside.main(sys.argv[3:])
