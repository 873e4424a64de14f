#!/usr/bin/env python3
"""Ranks of a job on one machine, each under Reprise: their reports are joined by their ranks, and what happens to one leaves the others as they were.

usage: test_ranks.py BUILD shell|mpirun|srun [TEST ...]

shell: a shell starts them, with the variables that mpirun, srun, and torchrun within Slurm set. mpirun: Open MPI's does; srun: Slurm's does, on a cluster of this machine alone that lives as long as the
test. Skipped where there is none.
"""
import contextlib
import getpass
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lib import runs
from lib.runs import until

BUILD, LAUNCHED_BY = Path(sys.argv[1]).resolve(), sys.argv[2]
REPRISE = BUILD / "src" / "cli" / "reprise"
SKIPPED = 77
RANKS = 4
BATCH, STEPS, LAUNCHES = 100, 400, 24    # steps of a batch, and of what a rank is asked for; launches of a step
ASKED_MOST = 200
PROGRAM = [BUILD / "tests" / "programs" / "launchbound-driver", "--module", BUILD / "tests" / "programs" / "driver_kernels.so", "--shape", "chain", "--turns", "--iterations", BATCH]
DEADLINE = 100
# A launcher sees a rank end well, however its program ended: mpirun would end the others.
RANK = """
variable=$1 folder=$2 cores=$3
shift 3
rank=$(printenv "$variable")
[ -z "$cores" ] || set -- taskset -c "$(echo "$cores" | cut -d, -f$((rank + 1)))" "$@"
"$@" --seed "$rank" <"$folder/in.$rank" >"$folder/out.$rank" 2>"$folder/err.$rank" &
echo $! >"$folder/pid.$rank.part"
mv "$folder/pid.$rank.part" "$folder/pid.$rank"
wait $!
echo $? >"$folder/status.$rank"
"""
ALL = 'for rank in $(seq 0 $((RANKS - 1))); do env {variables} "$@" & done; wait'
SHELLS = {
    "OMPI_COMM_WORLD_RANK": "OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=$RANKS PMIX_RANK=$rank",
    "SLURM_PROCID": "SLURM_PROCID=$rank SLURM_LOCALID=$rank SLURM_NTASKS=$RANKS",
    "RANK": "SLURM_PROCID=$((rank / 2)) SLURM_NTASKS=2 RANK=$rank LOCAL_RANK=$((rank % 2)) WORLD_SIZE=$RANKS TORCHELASTIC_RUN_ID=none",    # one torchrun for each of two tasks
}
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", RANKS]
SRUN = ["srun", "--mpi=none", "--overcommit", "--cpu-bind=none", "-n", RANKS]
# The variable of the rank, and the launcher's command.
LAUNCHERS = {"shell": {variable: ["sh", "-c", ALL.format(variables=variables), "sh"] for variable, variables in SHELLS.items()},
             "mpirun": {"OMPI_COMM_WORLD_RANK": MPIRUN}, "srun": {"SLURM_PROCID": SRUN}}[LAUNCHED_BY]
NEEDS = {"shell": [], "mpirun": ["mpirun"], "srun": ["srun", "slurmctld", "slurmd"]}[LAUNCHED_BY]
CLUSTER = """
ClusterName=one
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/none
CredType=cred/none
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
"""


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


@contextlib.contextmanager
def cluster():
    """Slurm's daemons, for this process and what it starts."""
    host = os.uname().nodename.split(".")[0]
    with tempfile.TemporaryDirectory(prefix="reprise-slurm-", ignore_cleanup_errors=True) as folder, contextlib.ExitStack() as stack:
        folder = Path(folder)
        os.environ["SLURM_CONF"] = str(folder / "slurm.conf")
        for name in ("state", "spool"):
            (folder / name).mkdir()
        (folder / "slurm.conf").write_text(CLUSTER.format(host=host, user=getpass.getuser(), folder=folder, ports=free_ports(2), processors=len(os.sched_getaffinity(0))))
        with open(folder / "log", "w", encoding="utf-8") as log:
            for daemon in ("slurmctld", "slurmd"):
                process = stack.enter_context(subprocess.Popen([shutil.which(daemon), "-D"], stdin=subprocess.DEVNULL, stdout=log, stderr=log))
                stack.callback(process.terminate)
            answers = until(lambda: subprocess.run(["srun", "--immediate=2", "-n", "1", "echo", "there"], capture_output=True, text=True, timeout=DEADLINE).stdout, "the cluster answers")
            assert answers == "there\n", answers
            yield


def plain(rank, times):
    """What a rank prints without Reprise."""
    return subprocess.run([str(word) for word in [*PROGRAM, "--seed", rank]], input="\n" + f"steps {STEPS}\n" * times, env=runs.simulated(BUILD), capture_output=True, text=True, timeout=DEADLINE, check=True).stdout


def untimed(text):
    return [line for line in text.splitlines() if not line.startswith("us=")]


class Job:
    """Ranks that a launcher has started, each of which works when it is asked to."""

    def __init__(self, folder, variable, cores=""):
        self.folder, self.reports = folder, folder / "reports"
        self.reports.mkdir()
        (folder / "rank.sh").write_text(RANK)
        for rank in range(RANKS):
            os.mkfifo(folder / f"in.{rank}")
        self.asks = [os.open(folder / f"in.{rank}", os.O_RDWR) for rank in range(RANKS)]    # not blocked until the rank is there
        command = [*LAUNCHERS[variable], "sh", folder / "rank.sh", variable, folder, cores, REPRISE, "run", "--report", self.reports / "%p.json", "--", *PROGRAM]
        self.process = subprocess.Popen([str(word) for word in command], env=runs.simulated(BUILD) | {"RANKS": str(RANKS), "REPRISE_PAYS": "assumed", "REPRISE_CONTROL": "1"},
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    def said(self, rank, what="out"):
        path = self.folder / f"{what}.{rank}"
        return path.read_text() if path.exists() else ""

    def ask(self, ranks):
        """Has these ranks do their steps, beside each other, and waits until they have."""
        self.wait(self.begin(ranks))

    def begin(self, ranks):
        """Asks them, and returns how much each of them has done before."""
        before = {rank: self.said(rank).count("us=") for rank in ranks}
        for rank in ranks:
            os.write(self.asks[rank], b"\n" * (before[rank] == 0) + f"steps {STEPS}\n".encode())
        return before

    def wait(self, before):
        for rank in before:
            until(lambda: self.said(rank).count("us=") >= max(before[rank], 1) + 1, f"rank {rank} has worked: {self.said(rank, 'err')}")

    def ask_until_all_replay(self):
        """How soon graphs are there is a matter of how busy the machine is. How often the ranks were asked."""
        for times in range(1, ASKED_MOST):
            self.ask(range(RANKS))
            told = [subprocess.run([REPRISE, "ctl", str(self.program(rank)), "report"], capture_output=True, text=True, timeout=DEADLINE).stdout for rank in range(RANKS)]
            if all(json.loads(report)["replayed"] > 0 for report in told):
                return times
        raise AssertionError(f"not every rank replays: {told}")

    def program(self, rank):
        """The process of a rank's program: the command has started it."""
        command = until(lambda: self.said(rank, "pid"), f"rank {rank}").strip()
        return int(until(lambda: Path(f"/proc/{command}/task/{command}/children").read_text().split(), f"rank {rank}'s program")[0])

    def end(self):
        """Asks for no more. What each rank's command ended with."""
        for ask in self.asks:
            os.close(ask)
        self.asks = []
        said, _ = self.process.communicate(timeout=DEADLINE)
        assert self.process.returncode == 0, said
        return [int(self.said(rank, "status")) for rank in range(RANKS)]

    def close(self):
        for ask in self.asks:
            os.close(ask)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def by_rank(self):
        """The reports that are there, by rank."""
        return {report["rank"]: report for report in map(runs.read_report, self.reports.glob("*.json")) if report}


class Ranks(unittest.TestCase):
    def job(self, variable, cores=""):
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        job = Job(Path(folder.name), variable, cores)
        self.addCleanup(job.close)
        return job

    def prints_as_ever(self, job, rank, times):
        self.assertEqual(untimed(job.said(rank)), untimed(plain(rank, times)), rank)

    def is_undisturbed(self, job, rank, times):
        report = job.by_rank()[rank]
        self.assertEqual({name: report[name] for name in ("complete", "ops", "paused_ops", "eager_stopped", "stopped")},
                         {"complete": True, "ops": times * STEPS * LAUNCHES, "paused_ops": 0, "eager_stopped": 0, "stopped": "the process ends"}, rank)
        self.assertGreater(report["replayed"], 0)

    def joined(self, job):
        shown = subprocess.run([REPRISE, "report", job.reports], capture_output=True, text=True, timeout=DEADLINE)
        self.assertEqual((shown.returncode, shown.stderr), (0, ""))
        return shown.stdout

    def test_reports_are_joined_by_the_launchers_ranks(self):
        for variable in LAUNCHERS:
            with self.subTest(variable=variable):
                job = self.job(variable)
                times = job.ask_until_all_replay()
                self.assertEqual(job.end(), [0] * RANKS)
                for rank in range(RANKS):
                    self.prints_as_ever(job, rank, times)
                    self.is_undisturbed(job, rank, times)
                self.assertEqual({report["rank_variable"] for report in job.by_rank().values()}, {variable})
                lines = self.joined(job).splitlines()
                self.assertTrue(lines[0].startswith(f"{RANKS} processes of "), lines[0])
                rows = [line.split() for line in lines[:lines.index("What happened to each call")] if line.startswith("  rank ")]
                self.assertEqual([row[1] for row in rows], [str(rank) for rank in range(RANKS)])
                self.assertEqual([int(row[3]) for row in rows], [job.by_rank()[rank]["pid"] for rank in range(RANKS)])

    def test_one_that_is_killed_and_one_that_is_paused_leave_the_others_as_they_were(self):
        for variable in LAUNCHERS:
            with self.subTest(variable=variable):
                job = self.job(variable)
                times = job.ask_until_all_replay()
                until(lambda: 2 in job.by_rank(), "a snapshot of the rank that is killed")
                paused = subprocess.run([REPRISE, "ctl", str(job.program(1)), "off"], capture_output=True, text=True, timeout=DEADLINE)
                self.assertEqual(paused.returncode, 0, paused.stderr)
                os.kill(job.program(2), signal.SIGKILL)
                until(lambda: job.said(2, "status"), "it has ended")
                job.ask((0, 1, 3))
                self.assertEqual(job.end(), [0, 0, 128 + signal.SIGKILL, 0])
                for rank in (0, 1, 3):
                    self.prints_as_ever(job, rank, times + 1)
                for rank in (0, 3):
                    self.is_undisturbed(job, rank, times + 1)
                reports = job.by_rank()
                self.assertEqual((reports[1]["ops"], reports[1]["paused_ops"]), (times * STEPS * LAUNCHES, STEPS * LAUNCHES))
                self.assertFalse(reports[2]["complete"])
                self.assertIn("Processes ended before their last report: their last snapshots are shown.", self.joined(job))

    def test_one_that_a_signal_stops_in_its_work_leaves_the_others_as_they_were(self):
        for variable in LAUNCHERS:
            with self.subTest(variable=variable):
                job = self.job(variable)
                times = job.ask_until_all_replay()
                stopped = job.program(1)
                begun = job.begin((1,))
                os.kill(stopped, signal.SIGSTOP)
                until(lambda: runs.state(stopped) == "T", "it is stopped")
                job.ask((0, 2, 3))
                self.assertEqual(runs.state(stopped), "T")
                os.kill(stopped, signal.SIGCONT)
                job.wait(begun)
                self.assertEqual(job.end(), [0] * RANKS)
                for rank in range(RANKS):
                    self.prints_as_ever(job, rank, times + 1)
                    self.is_undisturbed(job, rank, times + 1)

    @unittest.skipUnless(shutil.which("taskset"), "there is no taskset here")
    def test_each_on_one_core_ends(self):
        """The threads of Reprise have no core of their own there."""
        cores = sorted(os.sched_getaffinity(0))
        for variable in LAUNCHERS:
            for name, pinned in (("each its own", [cores[rank % len(cores)] for rank in range(RANKS)]), ("all the same", [cores[0]] * RANKS)):
                with self.subTest(variable=variable, cores=name):
                    job = self.job(variable, ",".join(map(str, pinned)))
                    times = job.ask_until_all_replay()
                    self.assertEqual(os.sched_getaffinity(job.program(3)), {pinned[3]})
                    self.assertEqual(job.end(), [0] * RANKS)
                    for rank in range(RANKS):
                        self.prints_as_ever(job, rank, times)
                        self.is_undisturbed(job, rank, times)


if __name__ == "__main__":
    runs.hear_signals()
    missing = [name for name in NEEDS if not shutil.which(name)]
    if missing:
        print(f"skipped: there is no {missing[0]} here")
        sys.exit(SKIPPED)
    with cluster() if LAUNCHED_BY == "srun" else contextlib.nullcontext():
        unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
