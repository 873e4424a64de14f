"""A copy of the tree to change and build, and the tests of another build folder with its library: what scripts/mutate and scripts/mutants share."""
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

from lib import runs

TOP = Path(__file__).resolve().parents[2]
COPIED = ("meson.build", "meson_options.txt", "pyproject.toml", "README.md", "CONTRIBUTING.md", "LICENSE", "docs", "include", "src", "preload", "share", "scripts", "tests")


def introspection(build, what):
    return json.loads((build / "meson-info" / f"intro-{what}.json").read_text())


def cuda_of(build):
    return next(option["value"] for option in introspection(build, "buildoptions") if option["name"] == "cuda")


class Copy:
    """A copy of the tree, set up as `build` is, but for its programs: those of `build` are used, and its tests, unless it has `tests` of its own."""

    def __init__(self, folder, build, *options, tests=False):
        self.folder = folder
        self.build = folder / "build"
        self.library = self.build / "preload/libreprise.so"
        self.env = dict(os.environ, CCACHE_NOHASHDIR="1", CCACHE_BASEDIR=str(folder))
        if shutil.which("ccache"):
            self.env.setdefault("CC", "ccache cc")
        for part in COPIED:
            (shutil.copytree if (TOP / part).is_dir() else shutil.copy)(TOP / part, folder / part)
        self.set_up(self.build, build, tests, *options)
        if not tests:
            (self.build / "tests").symlink_to(build / "tests")

    def set_up(self, where, build, tests, *options):
        subprocess.run(["meson", "setup", where, self.folder, f"-Dcuda={cuda_of(build)}", "-Dprograms=disabled", f"-Dtests={'auto' if tests else 'disabled'}", *options], check=True,
                       stdout=subprocess.DEVNULL, env=self.env)

    def make(self, jobs, *targets, where=None):
        """None, or why it cannot be built."""
        made = subprocess.run(["ninja", "-C", where or self.build, "-j", str(jobs), *targets], capture_output=True, text=True, env=self.env)
        return made.stdout if made.returncode != 0 else None


def with_library(test, library):
    """The test's command and variables with another libreprise.so; unchanged if it does not say where that is."""
    def other(text):
        return re.sub(r"[^:=]*preload/libreprise\.so", str(library), text)

    return [other(word) for word in test["cmd"]], {key: other(value) for key, value in test["env"].items()}


def needed(build):
    """What returns the files that a test of this build folder needs, relative to it."""
    files = {target["id"]: [Path(name).relative_to(build) for name in target["filename"]] for target in introspection(build, "targets")}
    return lambda test: [file for target in test["depends"] for file in files[target]]


def in_folder(test, build, other):
    """The test's command and variables with `other` in place of its build folder."""
    def moved(text):
        return text.replace(str(build), str(other))

    return [moved(word) for word in test["cmd"]], {key: moved(value) for key, value in test["env"].items()}


def run_test(test, build, command=None, variables=None, limit=None, prepare=None):
    """Runs a test of `build`, or `command` with `variables` in its place. Its exit status, None if it ran past its time (`limit` seconds instead of its own);
    and what it said. `prepare` is called in the new process."""
    process = subprocess.Popen(command or test["cmd"], env=os.environ | (test["env"] if variables is None else variables), cwd=test["workdir"] or build,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
                               preexec_fn=prepare)
    try:
        said, _ = process.communicate(timeout=limit or test["timeout"])
        return process.returncode, said
    except subprocess.TimeoutExpired:
        runs.kill_session(process.pid)
        return None, process.communicate()[0]
