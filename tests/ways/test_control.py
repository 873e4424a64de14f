#!/usr/bin/env python3
"""reprise ctl, reprise top, and reprise run --progress: what they say and do, and that a program under reprise run is on the terminal as it is alone.

usage: test_control.py BUILD
"""
import json
import os
import pty
import re
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from functools import partial
from pathlib import Path

import filters
from lib import runs
from lib.runs import state, until

BUILD = Path(sys.argv[1])
REPRISE = BUILD / "src" / "cli" / "reprise"
ENVIRONMENT = runs.simulated(BUILD) | {"REPRISE_PAYS": "assumed"}
LOOP = [str(BUILD / "tests" / "programs" / "launchbound-driver"), "--module", str(BUILD / "tests" / "programs" / "driver_kernels.so"), "--shape", "chain",
        "--iterations"]
FOR_LONG, SHORT = "100000000", "2000"
DEADLINE = 60
NOBODY = 65534
# One op, so that it is listened for control; another user's after a line, and over after one more.
GIVES_UP_ROOT = f"""
import ctypes, os, sys
cuda = ctypes.CDLL('libcuda.so.1')
context, stream, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
cuda.cuInit(0)
cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
cuda.cuCtxSetCurrent(context)
cuda.cuStreamCreate(ctypes.byref(stream), 1)
cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(64))

def work():
    for _ in range(100):
        cuda.cuMemsetD8Async(memory, ctypes.c_ubyte(1), ctypes.c_size_t(64), stream)
    cuda.cuStreamSynchronize(stream)

work()
print('here', flush=True)
sys.stdin.readline()
os.setuid({NOBODY})
work()
print(os.geteuid(), flush=True)
sys.stdin.readline()
work()
print('over', flush=True)
"""


def ctl(process, word, **options):
    return subprocess.run([REPRISE, "ctl", str(process), word], env=ENVIRONMENT, capture_output=True, text=True, timeout=DEADLINE, **options)


def listening(process):
    return any(f"@reprise-{process}" == line.split()[-1] and " 00010000 " in line for line in Path("/proc/net/unix").read_text().splitlines())


def child_of(process):
    return until(lambda: Path(f"/proc/{process}/task/{process}/children").read_text().split(), "the command starts the program")[0]


class Controlled(unittest.TestCase):
    def begin(self, environment, **options):
        process = subprocess.Popen([*LOOP, FOR_LONG], env={**ENVIRONMENT, "LD_PRELOAD": str(BUILD / "preload" / "libreprise.so"), **environment},
                                   stdout=subprocess.DEVNULL, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def start(self, **environment):
        return self.begin(environment).pid

    def controlled(self):
        process = self.start(REPRISE_CONTROL="1")
        until(lambda: listening(process), "it listens")
        until(lambda: self.report(process)["replayed"] > 1000, "it replays")
        return process

    def report(self, process):
        return json.loads(ctl(process, "report").stdout)

    def says_and_goes_on(self, words, **options):
        """The thread that listens for control may come late."""
        process = self.begin({"REPRISE_CONTROL": "1"}, stderr=subprocess.PIPE, text=True, **options)
        self.addCleanup(process.stderr.close)
        self.assertTrue(select.select([process.stderr], [], [], DEADLINE)[0], "it says nothing")
        self.assertEqual(process.stderr.readline(), f"reprise: the process cannot be controlled: {words}\n")
        time.sleep(0.2)
        self.assertIsNone(process.poll(), "it goes on")

    def test_a_name_that_is_taken_is_told_of(self):
        def take():
            taken = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            taken.bind(f"\0reprise-{os.getpid()}")
            os.set_inheritable(taken.detach(), True)
        self.says_and_goes_on("its socket's name is taken", preexec_fn=take, close_fds=False)

    @unittest.skipUnless(filters.NUMBERS, "no system calls' numbers are known here")
    def test_without_close_range_there_is_no_control_and_it_is_told(self):
        self.says_and_goes_on("the kernel is older than Linux 5.9, or forbids close_range", preexec_fn=partial(filters.forbid, "close_range"))

    def test_files_that_run_out_are_waited_for(self):
        process = self.controlled()
        thread = next(task for task in Path(f"/proc/{process}/task").iterdir() if (task / "comm").read_text().strip() == "reprise-control")

        def times_asleep():
            return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", (thread / "status").read_text(), re.M).group(1))
        _, most = resource.prlimit(process, resource.RLIMIT_NOFILE)
        resource.prlimit(process, resource.RLIMIT_NOFILE, (1, most))
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
            before = times_asleep()
            other.connect(f"\0reprise-{process}")
            until(lambda: times_asleep() > before + 2, "it waits for files")
        resource.prlimit(process, resource.RLIMIT_NOFILE, (most, most))
        self.assertIn("replayed", self.report(process))

    def test_nobody_listens_unless_asked_to(self):
        process = self.start()
        until(lambda: "reprise-hold" in " ".join(path.read_text() for path in Path(f"/proc/{process}/task").glob("*/comm")), "it replays")
        self.assertFalse(listening(process))
        self.assertEqual(ctl(process, "report").returncode, 1)

    def test_off_and_on(self):
        process = self.controlled()
        self.assertEqual(ctl(process, "off").stdout, "off\n")
        ctl(process, "off")  # is not counted
        before = self.report(process)
        after = until(lambda: (report := self.report(process))["paused_ops"] > before["paused_ops"] + 1000 and report, "it goes on eagerly")
        self.assertEqual(after["replayed"], before["replayed"])
        self.assertEqual(ctl(process, "on").stdout, "on\n")
        until(lambda: self.report(process)["replayed"] > after["replayed"] + 1000, "it replays again")

    def test_what_came_while_off_is_told_at_the_end(self):
        """By the line on stderr, and by the command's own."""
        script = "import ctypes, sys, time\n" \
                 "cuda = ctypes.CDLL('libcuda.so.1')\n" \
                 "context, stream, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()\n" \
                 "cuda.cuInit(0)\ncuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)\ncuda.cuCtxSetCurrent(context)\n" \
                 "cuda.cuStreamCreate(ctypes.byref(stream), 1)\ncuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(64))\n" \
                 "for count in 5, 1234:\n" \
                 "    for _ in range(count): cuda.cuMemsetD8Async(memory, ctypes.c_ubyte(1), ctypes.c_size_t(64), stream)\n" \
                 "    cuda.cuStreamSynchronize(stream)\n" \
                 "    print('here', flush=True)\n" \
                 "    sys.stdin.readline()\n"
        for words, environment in (([], {"LD_PRELOAD": str(BUILD / "preload" / "libreprise.so"), "REPRISE_CONTROL": "1", "REPRISE_REPORT": "stderr"}),
                                   ([REPRISE, "run", "--control", "--"], {})):
            with self.subTest(words=words):
                process = subprocess.Popen([*words, sys.executable, "-c", script], env=ENVIRONMENT | environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, text=True)
                self.addCleanup(process.communicate)
                self.addCleanup(process.kill)
                process.stdout.readline()
                program = process.pid if not words else int(child_of(process.pid))
                until(lambda: listening(program), "it listens")
                self.assertEqual(ctl(program, "off").stdout, "off\n")
                process.stdin.write("\n")
                process.stdin.flush()
                process.stdout.readline()
                _, said = process.communicate("\n", timeout=DEADLINE)
                self.assertEqual(process.returncode, 0)
                self.assertRegex(said, r"^reprise: .*5 launches.*; 1,234 more came while Reprise was off\n$")

    def test_the_program_does_not_see_the_socket(self):
        process = self.controlled()
        self.assertFalse([link for link in Path(f"/proc/{process}/fd").iterdir() if "socket" in os.readlink(link)])

    def test_who_says_nothing_keeps_nobody_waiting_for_long(self):
        process = self.controlled()
        with socket.socket(socket.AF_UNIX) as silent:
            silent.connect(f"\0reprise-{process}")
            self.assertGreater(self.report(process)["ops"], 0)

    def test_a_thousand_who_say_nothing_keep_nobody_waiting(self):
        process = self.controlled()
        files = next(task for task in Path(f"/proc/{process}/task").iterdir() if (task / "comm").read_text().strip() == "reprise-control") / "fd"
        idle, most = [], resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most[1], most[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, most)
        for _ in range(1000):
            idle.append(socket.socket(socket.AF_UNIX))
            self.addCleanup(idle[-1].close)
            idle[-1].setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 5, 0))
            idle[-1].connect(f"\0reprise-{process}")
        begin = time.monotonic()
        self.assertEqual(ctl(process, "on").stdout, "on\n")
        self.assertLess(time.monotonic() - begin, 3)
        self.assertLess(len(list(files.iterdir())), 100)
        until(lambda: len(list(files.iterdir())) == 1, "only the socket is left")

    def test_words_that_make_no_sense(self):
        self.assertEqual(ctl(1, "explode").returncode, 2)
        self.assertEqual([ctl(who, "on").returncode for who in ("", "0", "4294967297")], [2, 2, 2])
        process = self.controlled()
        for nonsense in (b"\n", b"explode\n", b"x" * 100000, b"\0\xff\n"):
            with socket.socket(socket.AF_UNIX) as peer:
                peer.connect(f"\0reprise-{process}")
                try:
                    peer.sendall(nonsense)
                except BrokenPipeError:
                    pass
        self.assertGreater(self.report(process)["replayed"], 0)

    def test_another_process_under_that_name_is_not_believed(self):
        with socket.socket(socket.AF_UNIX) as liar:
            liar.bind("\0reprise-1")
            liar.listen()
            outcome = ctl(1, "report")
        self.assertEqual(outcome.returncode, 1)
        self.assertIn("another process", outcome.stderr)

    def test_an_answer_of_any_length_is_told_whole_and_one_that_is_cut_is_not_told(self):
        line = b"x" * 99 + b"\n"
        for sent, status, told in ((50000 * line, 0, 50000 * line), (50000 * line + b"{", 1, b""), (b"o", 1, b"")):
            with self.subTest(length=len(sent)), socket.socket(socket.AF_UNIX) as this:
                this.bind(f"\0reprise-{os.getpid()}")
                this.listen()
                asked = subprocess.Popen([REPRISE, "ctl", str(os.getpid()), "report"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.addCleanup(asked.kill)
                reader = threading.Thread(target=lambda: setattr(self, "heard", asked.communicate(timeout=DEADLINE)))
                reader.start()
                peer, _ = this.accept()
                with peer:
                    self.assertEqual(peer.recv(100), b"report\n")
                    peer.sendall(sent)
                reader.join()
                self.assertEqual((asked.returncode, self.heard[0]), (status, told))
                self.assertEqual(self.heard[1], b"" if status == 0 else f"reprise: process {os.getpid()} did not answer to the end\n".encode())

    @unittest.skipUnless(os.geteuid() == 0, "only root can be another user")
    def test_another_user_hears_nothing(self):
        process = self.controlled()

        def as_nobody():
            """Connects as another user and says `off`; 0 if nothing comes back."""
            os.setuid(NOBODY)
            with socket.socket(socket.AF_UNIX) as peer:
                peer.connect(f"\0reprise-{process}")
                try:
                    peer.sendall(b"off\n")
                    answer = peer.recv(100)
                except (BrokenPipeError, ConnectionResetError):
                    answer = b""
            os._exit(len(answer))

        child = os.fork()
        if child == 0:
            as_nobody()
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        before = self.report(process)["replayed"]
        until(lambda: self.report(process)["replayed"] > before, "it still replays")

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_a_process_that_becomes_another_users_hears_that_user(self):
        program = subprocess.Popen([sys.executable, "-c", GIVES_UP_ROOT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env=ENVIRONMENT | {"LD_PRELOAD": str(BUILD / "preload" / "libreprise.so"), "REPRISE_CONTROL": "1"})
        self.addCleanup(program.communicate)
        self.addCleanup(program.kill)
        program.stdout.readline()
        until(lambda: ctl(program.pid, "off").stdout == "off\n", "it listens")
        program.stdin.write("\n")
        program.stdin.flush()
        self.assertEqual(program.stdout.readline(), f"{NOBODY}\n")
        threads = [re.search(r"^Uid:\s+(\d+)", (task / "status").read_text(), re.M).group(1) for task in Path(f"/proc/{program.pid}/task").iterdir()]
        self.assertEqual(set(threads), {str(NOBODY)})
        asked = ctl(program.pid, "on")
        self.assertEqual((asked.returncode, asked.stdout), (1, ""))
        self.assertIn("does not answer: it is stopped, or another user's", asked.stderr)
        if subprocess.run([REPRISE, "--version"], user=NOBODY, group=NOBODY, extra_groups=[], capture_output=True).returncode == 0:
            report = json.loads(ctl(program.pid, "report", user=NOBODY, group=NOBODY, extra_groups=[]).stdout)
            self.assertTrue(report["paused_ops"] > 0 or report["ops"] > 0, report)
            self.assertEqual(ctl(program.pid, "on", user=NOBODY, group=NOBODY, extra_groups=[]).stdout, "on\n")
        self.assertEqual(program.communicate("\n", timeout=DEADLINE)[0], "over\n")
        self.assertEqual(program.returncode, 0)


class ByName(unittest.TestCase):
    """Several processes of one program, whose name no other test's has."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.name = f"loop-{os.getpid()}"
        self.path = Path(folder.name) / self.name
        self.path.symlink_to(LOOP[0])

    def start(self, count, **environment):
        processes = [subprocess.Popen([self.path, *LOOP[1:], FOR_LONG], stdout=subprocess.DEVNULL,
                                      env=ENVIRONMENT | {"LD_PRELOAD": str(BUILD / "preload" / "libreprise.so"), "REPRISE_CONTROL": "1"} | environment) for _ in range(count)]
        for process in processes:
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
        until(lambda: all(listening(process.pid) for process in processes), "they listen")
        return sorted(process.pid for process in processes)

    def top(self, *words):
        return subprocess.run([REPRISE, "top", *words], env=ENVIRONMENT, capture_output=True, text=True, timeout=DEADLINE)

    def row(self, process):
        """What one picture has of that process; another test's may be in it, too."""
        return next(line.split() for line in self.top("--once").stdout.splitlines() if line.split()[0] == str(process))

    def test_all_of_a_name_are_told(self):
        one, other = self.start(2)
        for word in "off", "on":
            self.assertEqual(ctl(self.name, word).stdout, "".join(f"{process} {self.name}: {word}\n" for process in (one, other)))
        outcome = ctl(self.name, "report")
        self.assertEqual((outcome.returncode, outcome.stdout), (2, ""))
        self.assertIn("ctl: 2 processes are meant, and a report is of one", outcome.stderr)

    def test_one_of_a_name_answers_as_by_its_number(self):
        process, = self.start(1)
        self.assertEqual(ctl(self.name, "off").stdout, "off\n")
        self.assertEqual(json.loads(ctl(self.name, "report").stdout)["pid"], process)

    def test_all_are_all_that_listen(self):
        process, = self.start(1)
        outcome = ctl("all", "on")    # that of another test may end meanwhile
        self.assertTrue(outcome.stdout == "on\n" or f"{process} {self.name}: on\n" in outcome.stdout, outcome)

    def test_a_name_that_nobody_has(self):
        outcome = ctl(self.name, "on")
        self.assertEqual((outcome.returncode, outcome.stdout), (1, ""))
        self.assertEqual(outcome.stderr, f"reprise: no process named {self.name} accepts control: start it with --control; reprise top shows those that do\n")

    def test_top_shows_share_and_gain_and_memory(self):
        process, = self.start(1)
        until(lambda: json.loads(ctl(process, "report").stdout)["replayed"] > 1000, "it replays")
        row = self.row(process)
        self.assertEqual(row[1:3], [self.name, "on"])
        self.assertGreater(int(row[3].replace(",", "")), 1000)
        self.assertGreater(float(row[4]), 10)
        self.assertEqual((row[5], row[6], row[8]), ("%", "-", "MiB"))
        self.assertGreater(float(row[7]), 0)
        self.assertEqual(" ".join(row[9:]), "not measured")    # REPRISE_PAYS=assumed: no turns

    def test_top_tells_who_observes_and_who_does_not_answer(self):
        observes, stopped = self.start(1, REPRISE="observe") + self.start(1)
        self.assertEqual(self.row(observes)[2], "observe")
        os.kill(stopped, signal.SIGSTOP)
        os.waitid(os.P_PID, stopped, os.WSTOPPED | os.WNOWAIT)    # until all its threads have stopped, one may answer
        self.assertIn("does not answer: it is stopped", " ".join(self.row(stopped)))

    def test_top_goes_on_and_knows_what_came_lately(self):
        """Where output is no terminal, too: pictures come one after the other, with nothing that only a terminal shows."""
        process, = self.start(1)
        shown = subprocess.Popen([REPRISE, "top"], env=ENVIRONMENT, stdout=subprocess.PIPE, text=True)
        self.addCleanup(shown.stdout.close)
        self.addCleanup(shown.wait)
        self.addCleanup(shown.kill)
        rows = (line.split() for line in shown.stdout if line.split()[:1] == [str(process)])
        self.assertEqual(next(rows)[6], "-")
        self.assertRegex(next(row for row in rows if row[6] != "idle")[6], r"^[\d.]+$")
        ctl(process, "off")
        self.assertTrue(any((row[2], row[6]) == ("paused", "paused") for _, row in zip(range(DEADLINE), rows)))
        self.assertEqual(self.row(process)[2], "paused")
        ctl(process, "on")
        self.assertEqual(self.row(process)[2], "on")
        shown.terminate()
        self.assertNotIn("\x1b", shown.stdout.read())

    def test_top_erases_the_picture_before_on_a_terminal(self):
        process, terminal = pty.fork()
        if process == 0:
            os.execve(REPRISE, [str(REPRISE), "top"], ENVIRONMENT | {"TERM": "xterm"})
        seen = b""
        while seen.count(b"\x1b[H\x1b[J") < 2:
            seen += os.read(terminal, 4096)
        os.write(terminal, b"\x03")
        self.assertEqual(os.WTERMSIG(os.waitpid(process, 0)[1]), signal.SIGINT)
        os.close(terminal)

    def test_words_that_top_does_not_take(self):
        self.assertEqual([self.top(word).returncode for word in ("x", "--often")], [2, 2])


class OnATerminal(unittest.TestCase):
    """The command is the leader of a session of its own, as under a shell, with a terminal."""

    def start(self, *words):
        self.seen = b""
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execve(REPRISE, [str(REPRISE), "run", "--progress", "--", *words], ENVIRONMENT | {"TERM": "xterm"})
        self.addCleanup(os.close, self.terminal)

    def look(self):
        while select.select([self.terminal], [], [], 0)[0]:
            try:
                some = os.read(self.terminal, 65536)
            except OSError:
                return self.seen
            self.seen += some
            if not some:
                break
        return self.seen

    def shows(self, pattern):
        until(lambda: re.search(pattern, self.look()), pattern)

    def status(self):
        """What the command ends with."""
        def ended():
            self.look()
            process, status = os.waitpid(self.process, os.WNOHANG)
            return process and [status]
        return until(ended, "the command ends")[0]

    def test_a_line_while_it_runs_and_none_after(self):
        self.start("sh", "-c", " ".join([*LOOP, FOR_LONG]) + " & loop=$!; read line; kill $loop; wait $loop; exit 7")
        self.shows(rb"reprise: [\d.]+ % of [\d,]+ launches replayed, \d+ sequences?, [\d.]+ MiB\x1b\[K\r")
        os.write(self.terminal, b"\n")
        self.assertEqual(os.waitstatus_to_exitcode(self.status()), 7)
        self.assertEqual(self.look().replace(b"\r\n", b"\n").rpartition(b"\r\x1b[K")[2].count(b" MiB"), 0)

    def test_the_key_that_interrupts_ends_both(self):
        self.start(*LOOP, FOR_LONG)
        program = child_of(self.process)
        self.shows(rb" MiB")
        os.write(self.terminal, b"\x03")
        self.assertEqual(os.WTERMSIG(self.status()), signal.SIGINT)
        until(lambda: state(program) == "", "the program ends")

    def test_what_the_command_is_killed_by_the_program_is_too(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number.name):
                self.start(*LOOP, FOR_LONG)
                program = child_of(self.process)
                self.shows(rb" MiB")
                os.kill(self.process, number)
                self.assertEqual(os.WTERMSIG(self.status()), number)
                until(lambda: state(program) == "", "the program ends")

    def test_the_key_that_stops_stops_both_and_they_go_on(self):
        # The shell, not the command, leads the session: a group that nobody waits for is not stopped by the terminal.
        shell = f"set -m; {REPRISE} run --progress -- {' '.join([*LOOP, FOR_LONG])}; echo stopped; fg; echo over"
        self.seen = b""
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.execve("/bin/bash", ["bash", "-c", shell], ENVIRONMENT | {"TERM": "xterm"})
        self.addCleanup(os.close, self.terminal)
        self.shows(rb" MiB")
        command = child_of(self.process)
        program = child_of(command)
        os.write(self.terminal, b"\x1a")
        self.shows(rb"stopped")
        self.seen = b""
        self.shows(rb" MiB")  # fg: it goes on
        self.assertIn(state(program), "RSD")
        os.write(self.terminal, b"\x03")
        self.status()
        until(lambda: state(program) == "", "the program ends")


class WithoutATerminal(unittest.TestCase):
    def test_nothing_is_shown(self):
        outcome = subprocess.run([REPRISE, "run", "--progress", "--", *LOOP, SHORT], env=ENVIRONMENT, capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual(outcome.returncode, 0)
        self.assertEqual(outcome.stderr.count("reprise:"), 1, outcome.stderr)
        self.assertNotIn("\x1b", outcome.stderr)


if __name__ == "__main__":
    runs.hear_signals()
    unittest.main(argv=sys.argv[:1])
