#!/usr/bin/env python3
"""Holds preload/entry_points.def against the toolkit's headers and against the names that drivers export.

usage: check_entry_points.py TABLE NAMES TOOLKIT COMPILER...

NAMES is a file with the names that a driver exports, one a line. Fails for an entry point without a row, for a stream at another place than the row says, for a form that does not fit the
name, for a checked door that cannot pass the arguments on, and for a function that takes a stream and is called unrelated
to stream order. Exits with 77 (skipped) where there is no header to compare with.
"""
import pathlib
import re
import subprocess
import sys

ROW = re.compile(r'^(RECORD|ORDER|SYNC|LIFETIME|OWN|ALLOC|PASS)\((\w+)(?:, ([^)]*))?\)$', re.M)
PROTOTYPE = re.compile(r'\bCUresult\s+(?:CUDAAPI\s+)?(cu[A-Z]\w*)\s*\(([^;{}]*?)\)\s*;', re.S)
RENAMED = re.compile(r'^\s*#define\s+cu[A-Z]\w*\s+(?:__CUDA_API_(PTDS|PTSZ)\()?(cu[A-Z]\w*)', re.M)
LARGE = {'CUipcMemHandle', 'CUipcEventHandle', 'CUeglFrame'}  # structures that travel in memory
QUERY = re.compile(r'Get|IsCapturing|UpdateCaptureDependencies')


class Row:
    def __init__(self, kind, name, fields):
        fields = [f.strip() for f in fields.split(',')] if fields else []
        self.kind, self.name = kind, name
        self.argument = self.form = None
        self.checked = 'CHECKED' in fields
        if kind == 'LIFETIME':
            self.argument, self.form = int(fields[1]), fields[2]
        elif kind != 'PASS':
            self.argument, self.form = int(fields[0]), fields[1]


def types_of(parameters):
    """The types of a prototype's parameters, without spaces, const and names."""
    parameters = re.sub(r'\s+', ' ', parameters).strip()
    if parameters in ('', 'void'):
        return []
    types = []
    for parameter in parameters.split(','):
        words = re.sub(r'\bconst\b|\bCUDAAPI\b', ' ', parameter).replace('*', ' * ').split()
        if len(words) > 1 and words[-1] not in ('*', 'int', 'float'):
            words.pop()
        types.append(' '.join(words))
    return types


def prototypes(include, compiler):
    """name -> types for everything that the headers declare, in all its versions and forms."""
    source = '#include <cuda.h>\n#include <cudaProfiler.h>\n'
    text = subprocess.run([*compiler, '-E', '-P', '-D__CUDA_API_VERSION_INTERNAL', f'-I{include}', '-xc', '-'], input=source,
                          capture_output=True, text=True, check=True).stdout
    found = {name: types_of(parameters) for name, parameters in PROTOTYPE.findall(text)}
    # The graphics headers need headers of others to be compiled, so they are read as they are.
    for header in ('cudaGL.h', 'cudaEGL.h', 'cudaVDPAU.h'):
        path = include / header
        text = path.read_text(errors='replace') if path.exists() else ''
        for name, parameters in PROTOTYPE.findall(text):
            if 'WGL' not in name:
                found.setdefault(name, types_of(parameters))
        for form, name in RENAMED.findall(text):
            found.setdefault(name, None)
            if form:
                found.setdefault(f'{name}_{form.lower()}', None)
    return found


def exported(stub):
    if not stub.exists():
        return set()
    text = subprocess.run(['nm', '-D', '--defined-only', stub], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in text.splitlines() if re.search(r' cu[A-Z]\w*$', line)}


def problems_of(row, types):
    if row.form is not None and (row.form == 'PER_THREAD') != row.name.endswith(('_ptsz', '_ptds')):
        yield f'{row.form} does not fit the name'
    if types is None:
        return
    stream = types.index('CUstream') + 1 if 'CUstream' in types else 0
    if row.kind == 'PASS':
        if stream and not QUERY.search(row.name):
            yield 'takes a stream, and is PASS'
        return
    if row.kind != 'LIFETIME' and row.argument != stream:
        yield f'its stream is argument {stream}, not {row.argument}'
    if row.argument > len(types):
        yield f'has no argument {row.argument}'
    before = types if row.checked else types[:row.argument]
    if LARGE & set(before) or {'float', 'double'} & set(before):
        yield 'takes an argument that does not travel in an integer register'
    if row.checked and len(types) > 6:
        yield 'is checked, but takes more than six arguments'


def main():
    table, names_of_driver, toolkit = map(pathlib.Path, sys.argv[1:4])
    compiler = sys.argv[4:]
    if not (toolkit / 'include' / 'cuda.h').exists():
        print(f'skipped: no cuda.h under {toolkit}')
        return 77
    rows = [Row(*fields) for fields in ROW.findall(table.read_text())]
    names = {row.name for row in rows}
    declared = prototypes(toolkit / 'include', compiler)
    problems = [f'{row.name}: {problem}' for row in rows for problem in problems_of(row, declared.get(row.name))]
    expected = set(declared) | exported(toolkit / 'lib64' / 'stubs' / 'libcuda.so') | set(names_of_driver.read_text().split())
    problems += [f'{name}: no row' for name in sorted(expected - names)]
    if len(rows) != len(names):
        problems.append('a name has two rows')
    if len(declared) < 500:
        problems.append(f'found only {len(declared)} prototypes: the headers are not read right')
    for problem in problems:
        print(problem)
    print(f'{len(rows)} rows, {len(declared)} names in the headers: {len(problems)} problems')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
