#!/usr/bin/env python3
"""Words of reprise(1) are completed in a real bash and a real zsh, with the tab key, on a terminal.

usage: test_completion.py SHELL SOURCES BUILD
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SHELL, SOURCES, BUILD = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
SKIPPED = 77
PATIENCE_S = 30
REPRISE = BUILD / "src" / "cli" / "reprise"

# Each makes ^Xs leave the line that is being typed in the file `line`, and says that it is ready.
START = {
    "bash": (["bash", "--noprofile", "--norc", "-i"], r"""
        [ ! -r /usr/share/bash-completion/bash_completion ] || . /usr/share/bash-completion/bash_completion
        . "$SOURCES/share/completions/reprise.bash"
        bind 'set enable-bracketed-paste off'; bind 'set bell-style none'; bind 'set show-all-if-ambiguous off'
        show() { printf '%s\n' "$READLINE_LINE" >"$FOLDER/line"; }
        bind -x '"\C-xs": show'; PS1=
        touch "$FOLDER/ready"
    """),
    "zsh": (["zsh", "-f", "-i"], r"""
        fpath=("$SOURCES/share/completions" $fpath)
        autoload -Uz compinit; compinit -u -D
        unsetopt beep zle_bracketed_paste 2>/dev/null; unset zle_bracketed_paste; setopt no_prompt_sp
        show() { print -r -- "$BUFFER" >"$FOLDER/line" }
        zle -N show; bindkey '^Xs' show; PS1=
        zle-line-init() { [ -e "$FOLDER/ready" ] || : >"$FOLDER/ready" }
        zle -N zle-line-init
    """),
}


def wait_for(path, read):
    """Reads from the terminal until the file is there and whole, which its last line's end tells."""
    deadline = time.monotonic() + PATIENCE_S
    while not path.exists() or (path.name == "line" and not path.read_text().endswith("\n")):
        if time.monotonic() > deadline:
            raise TimeoutError(f"no {path.name} from {SHELL}")
        read()


class Terminal:
    def __init__(self, folder):
        command, start = START[SHELL]
        (folder / "start").write_text(start)
        self.folder = folder
        environment = {"PATH": f"{REPRISE.parent}:{os.environ['PATH']}", "HOME": str(folder), "TERM": "dumb", "FOLDER": str(folder),
                       "SOURCES": str(SOURCES), "LC_ALL": "C"}
        self.pid, self.descriptor = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        os.write(self.descriptor, b". ./start\n")
        wait_for(folder / "ready", self.read)

    def read(self):
        if select.select([self.descriptor], [], [], 0.05)[0]:
            os.read(self.descriptor, 4096)

    def completed(self, text):
        """What is on the line when that was typed, and the tab key after it. The line is wiped again, but not before: to a terminal whose
        shell does not read yet, that key would be one of its own."""
        line = self.folder / "line"
        line.unlink(missing_ok=True)
        os.write(self.descriptor, text.encode() + b"\t\x18s")
        wait_for(line, self.read)
        os.write(self.descriptor, b"\x15")
        return line.read_text().removesuffix("\n")

    def close(self):
        os.close(self.descriptor)
        os.waitpid(self.pid, 0)


def options():
    """--name of each option, and its words, if it has any and is no switch."""
    for variable, kind, words in re.findall(r'X\(\w+,\s+"(REPRISE_\w+)", (\w+), \d+, \d+, \d+, "([^"]*)"', (SOURCES / "src/base/options.h").read_text()):
        yield "--" + variable.removeprefix("REPRISE_").lower().replace("_", "-"), words.split("|") if kind == "WORD" and words != "0|1" else []


def shortest(word, others):
    """The shortest beginning of the word that none of the others has; all of it if that is one's beginning, too."""
    return next((word[:i] for i in range(3, len(word)) if not any(other.startswith(word[:i]) for other in others if other != word)), word)


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        folder = Path(cls.folder.name)
        (folder / "a file").touch()
        (folder / "report-of-rank-0.json").touch()
        program = folder / "some-program"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
        cls.terminal = Terminal(folder)

    @classmethod
    def tearDownClass(cls):
        cls.terminal.close()
        cls.folder.cleanup()

    def completes(self, typed, line):
        self.assertEqual(self.terminal.completed(typed).rstrip(), line)

    def test_commands(self):
        told = subprocess.run([REPRISE, "--help"], capture_output=True, text=True).stdout
        commands = set(re.findall(r"^(?:usage:)? +reprise ([a-z]+)", told, flags=re.M))
        self.assertLessEqual({"run", "observe", "doctor"}, commands)
        for command in commands:
            begin = next(command[:i] for i in range(1, len(command) + 1) if sum(other.startswith(command[:i]) for other in commands) == 1)
            self.completes(f"reprise {begin}", f"reprise {command}")

    def test_every_option(self):
        for command, least in (("run", 15), ("observe", 15), ("verify", 15), ("bench", 15), ("report", 4), ("ctl", 2), ("top", 3)):
            told = subprocess.run([REPRISE, command, "--help"], capture_output=True, text=True).stdout
            names = re.findall(r"^ +(--[a-z-]+)", told, flags=re.M)
            self.assertGreaterEqual(len(names), least)
            for name in names if command in ("run", "report") else names[:2]:
                begin = shortest(name, names)
                if begin != name:
                    self.completes(f"reprise {command} {begin}", f"reprise {command} {name}")

    def test_no_option_of_another_command(self):
        self.completes("reprise report --hol", "reprise report --hol")
        self.completes("reprise run --jso", "reprise run --jso")

    def test_reports_to_show(self):
        self.completes("reprise report report-", "reprise report report-of-rank-0.json")
        self.completes("reprise report --html page.html report-", "reprise report --html page.html report-of-rank-0.json")

    def test_what_is_said_to_a_process(self):
        self.completes("reprise ctl 17 of", "reprise ctl 17 off")
        self.completes("reprise ctl 17 rep", "reprise ctl 17 report")
        self.completes("reprise ctl al", "reprise ctl all")

    def test_help_of_a_command(self):
        self.completes("reprise help obs", "reprise help observe")

    def test_every_word_of_an_option(self):
        for name, words in options():
            for word in words:
                begin = next(word[:length] for length in range(1, len(word) + 1) if sum(other.startswith(word[:length]) for other in words) == 1)
                self.completes(f"reprise run {name} {begin}", f"reprise run {name} {word}")

    def test_several_options(self):
        self.completes("reprise run --hold 5 --pays a", "reprise run --hold 5 --pays assumed")

    def test_a_file_for_an_option(self):
        self.completes("reprise run --report report-of", "reprise run --report report-of-rank-0.json")

    def test_what_follows_is_a_command_line(self):
        self.completes("reprise run -- ./some-pro", "reprise run -- ./some-program")
        self.completes("reprise run --hold 5 -- cat report-", "reprise run --hold 5 -- cat report-of-rank-0.json")
        self.completes("reprise run -- some-other --pays a", "reprise run -- some-other --pays a\\ file")

    def test_a_program_for_doctor(self):
        self.completes("reprise doctor ./some-pro", "reprise doctor ./some-program")

    def test_nothing_fits(self):
        self.completes("reprise run --no-such", "reprise run --no-such")


if __name__ == "__main__":
    if shutil.which(SHELL) is None:
        print(f"there is no {SHELL} here")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], failfast=True)    # each failure may take all the patience there is
