#!/usr/bin/env python3
"""Every call of the runtime API that takes a stream is made by the program, or named with a reason.

usage: check_calls.py PROGRAM INCLUDE COMPILER...

Takes a stream: an argument is one, points to one, or to a structure that holds one. Fails for a call that the program does not
list, for one that it lists and no header has, and if the headers are not read right.
"""
import pathlib
import re
import subprocess
import sys

from lib.headers import structures

PROTOTYPE = re.compile(r'\bcudaError_t\s+(?:CUDARTAPI\s+)?(cuda[A-Z]\w*)\s*\(([^;{}]*?)\)\s*;', re.S)
# They need headers of others to be compiled, so they are read as they are.
INTEROPERATION = ('cuda_egl_interop.h', 'cuda_gl_interop.h', 'cuda_vdpau_interop.h')


def with_streams(text):
    """The types whose values hold a stream: all that a stream can be reached from by name."""
    holding = {'cudaStream_t'}
    inside = {name: set(re.findall(r'\w+', body)) for name, body in structures(text)}
    inside |= {name: set(re.findall(r'\w+', body)) for name, body in
               re.findall(r'\bstruct\s+(?:__device_builtin__\s+)?(\w+)\s*\{(.*?)\n?\s*\};', text, re.S)}
    while True:
        more = {name for name, words in inside.items() if words & holding} - holding
        if not more:
            return holding
        holding |= more


def main():
    program, include, *compiler = sys.argv[1:]
    text = subprocess.run([*compiler, '-E', '-P', f'-I{include}', '-xc', '-'], input='#include <cuda_runtime_api.h>\n', capture_output=True,
                          text=True, check=True).stdout
    holding = with_streams(text)
    text += '\n'.join(path.read_text(errors='replace') for path in (pathlib.Path(include, name) for name in INTEROPERATION) if path.exists())
    declared = {name for name, parameters in PROTOTYPE.findall(text) if set(re.findall(r'\w+', parameters)) & holding}
    listed = [line.split('\t') for line in subprocess.run([program, '--list'], capture_output=True, text=True, check=True).stdout.splitlines()]
    names = {name for _, name, _, _ in listed}

    problems = [f'{name} takes a stream, and is neither made nor named' for name in sorted(declared - names)]
    problems += [f'{name} is listed, and no header has it' for name in sorted(names - declared)]
    problems += [f'{name} is not made, and no reason is given' for number, name, _, reason in listed if number == '-' and not reason]
    if len(declared) < 60 or 'cudaLaunchConfig_t' not in holding:
        problems.append(f'found only {len(declared)} calls: the headers are not read right')
    for problem in problems:
        print(problem)
    print(f'{len(declared)} calls take a stream, {len(listed)} ways of making them or reasons are listed: {len(problems)} problems')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
