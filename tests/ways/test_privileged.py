#!/usr/bin/env python3
"""A set-user-id program: the loader ignores what is preloaded; and where Reprise is in it all the same, it is off and heeds no option, nor a profile.

usage: test_privileged.py BUILD PROGRAM

PROGRAM has the stand-in by its own run path. Needs somebody else to become: another user if this is root, or another of this user's
groups. Skipped otherwise.
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SKIPPED = 77
BUILD, PROGRAM = sys.argv[1:3]
MODULE = f"{BUILD}/tests/programs/driver_kernels.so"
NOBODY = 65534


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def change_rights(path):
    """Makes the copy run with other rights than ours."""
    groups = [group for group in os.getgroups() if group != os.getgid()]
    if os.getuid() == 0:
        os.chown(path, NOBODY, -1)
        os.chmod(path, 0o4755)
    elif groups:
        os.chown(path, -1, groups[0])
        os.chmod(path, 0o2755)
    else:
        skip("this is neither root nor a user with a second group")


def readable_by_nobody(*paths):
    """Whether the other user gets at these."""
    child = os.fork()
    if child == 0:
        if os.getuid() == 0:
            os.setgroups([])
            os.setresuid(NOBODY, NOBODY, NOBODY)
        os._exit(0 if all(os.access(path, os.R_OK) for path in paths) else 1)
    return os.waitpid(child, 0)[1] == 0


def run(program, folder, **environment):
    environment |= {"REPRISE_REPORT": f"{folder}/report.json", "REPRISE_LOG": "debug", "REPRISE_HOLD": "nonsense", "XDG_CONFIG_HOME": folder}
    with tempfile.TemporaryFile("w+") as said:
        status = os.fstat(said.fileno())
        environment["_REPRISE_STDERR"] = f"{status.st_dev:x}:{status.st_ino:x}"    # as the command says it, since the stand-in comes late
        outcome = subprocess.run([program, MODULE], env=environment, stdout=subprocess.PIPE, stderr=said, text=True)
        said.seek(0)
        outcome.stderr = said.read()
    report = Path(folder, "report.json")
    written = report.exists()
    report.unlink(missing_ok=True)
    return outcome, written


def main():
    if not readable_by_nobody(MODULE, PROGRAM):
        skip("the build folder is closed to other users")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        copy = Path(folder, "privileged")
        shutil.copy(PROGRAM, copy)
        Path(folder, "reprise").mkdir()
        Path(folder, "reprise", "privileged.conf").write_text("REPRISE_MEMORY = rubbish\n")
        plain, reported = run(copy, folder)
        if plain.returncode != 0 or not reported or "nonsense" not in plain.stderr or "rubbish" not in plain.stderr:
            print(f"without special rights it is not under Reprise: {plain.returncode}, {plain.stderr}")
            return 1
        change_rights(copy)
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            skip("the folder for temporary files allows no other rights")
        # Reported by the program itself, if the preloaded object were there: its report is for whoever asks by the environment.
        under, reported = run(copy, folder, LD_PRELOAD=f"{BUILD}/preload/libreprise.so")
        said = (under.returncode, under.stdout, under.stderr, reported)
        if said != (0, plain.stdout, "", False):
            print(f"with special rights: status, output, complaints, report are {said}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
