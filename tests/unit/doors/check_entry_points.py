#!/usr/bin/env python3
"""Holds preload/entry_points.def against a toolkit's headers and against the names that drivers export.

usage: check_entry_points.py TABLE NAMES TOOLKIT [--reference TOOLKIT] -- COMPILER...

NAMES is a file with the names that a driver exports, one a line. The reference is the toolkit that Reprise is built with, where
TOOLKIT is an older one. Fails for
  - an entry point without a row, also one that only the toolkit's cudart asks for by name;
  - a NO_DOOR row whose reason is none, or does not fit what the call is named or takes;
  - a SYNC row that says of a call that it observes less than everything, which its name does not;
  - a call that ends something which traces may refer to and is not LIFETIME;
  - a row that does not say what the call takes, or names the stream at another place than it is;
  - a form that does not fit the name, and a checked door that cannot pass the arguments on;
  - an entry point that has another signature than in the reference.
Exits with 77 (skipped) where there is no header to compare with.
"""
import argparse
import pathlib
import re
import subprocess
import sys

from lib import entry_points
from lib.headers import Headers

TABLE_OF_VERSION = 13000  # what the table says of structures is what they are in this CUDA_VERSION
LARGE = {'CUipcMemHandle', 'CUipcEventHandle', 'CUeglFrame'}  # structures that travel in memory

# What a call may be named if its row gives this reason, so that a reason cannot be given without a look at the call.
FITS = {
    'UNRELATED': r'',
    'QUERY': r'Get(?!Proc)|Is[A-Z]|Occupancy|Enumerate|Export(?!Table)',
    'CREATION': r'Create|Alloc|Load|Retain|Import|Reserve|Register|CtxAttach|FromGreenCtx|ExternalMemoryGetMapped',
    'SELECTION': r'^cuCtx(Push|Pop|Set)Current',
    'CAPTURE': r'^cuStream(GetCaptureInfo|IsCapturing|UpdateCaptureDependencies)|^cuThreadExchangeStreamCaptureMode',
    'GRAPH': r'^cuGraph(?!ics|Launch|Upload|InstantiateWithParams)|^cuUserObject',
    'LINKING': r'^cuLink',
    'DIAGNOSTIC': r'^cuCoredump',
    'PRIVATE': r'^cuGetExportTable$',
}
# What a SYNC call may be named that observes less than everything.
OBSERVES = {
    'STREAM': r'^cuStreamSynchronize',
    'QUERY': r'^cuStreamQuery',
    'EVENT': r'^cuEvent(Synchronize|Destroy)',
    'EVENT_QUERY': r'^cuEvent(Query|ElapsedTime)',
    'DEFAULT': r'^cuMem(cpy|set)(?!.*Peer)(?!.*Async)',
    'ALL': r'',
    'UNKNOWN': r'',
}
MAKES_STREAM = re.compile(r'StreamCreate')  # where to put one, that is
NO_OBJECT = {'UNRELATED', 'PRIVATE'}  # reasons for calls that take nothing
CREATES_NOTHING = re.compile(r'Unload|Unregister')

ENDS = re.compile(r'Destroy|Free|Un(load|map|register|bind)|Close|Detach|Release|Trim|PrimaryCtxReset|Disable')
REFERRED_TO = {'STREAM', 'FUNCTION', 'MODULE', 'CONTEXT', 'HOST', 'MEMORY', 'ARRAY'}
ENDS_NO_TRACE = {
    'cuMemFreeAsync': 'in stream order; its wrapper has what is known of the memory forgotten',
    'cuMemRelease': 'what is mapped stays until it is unmapped',
    'cuLinkDestroy': 'linked code is loaded anew',
    'cuEGLStreamConsumerReleaseFrame': 'the resource stays registered',
}


def exported(stub):
    if not stub.exists():
        return set()
    text = subprocess.run(['nm', '-D', '--defined-only', stub], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in text.splitlines() if re.search(r' cu[A-Z]\w*$', line)}


def asked_for(toolkit):
    """The names that the toolkit's cudart looks up, which are without a version."""
    library = next((path for folder in ('lib64', 'lib') for path in sorted((toolkit / folder).glob('libcudart.so*'))), None)
    return {name.decode() for name in re.findall(rb'\0(cu[A-Z]\w+)(?=\0)', library.read_bytes())} if library else set()


def problems_of_reason(row, reasons):
    if row.reason not in reasons or row.reason not in FITS:
        yield f'is NO_DOOR, and {row.reason} is no reason'
    elif row.reason in NO_OBJECT and row.takes:
        yield f'is NO_DOOR as {row.reason}, and takes {" ".join(sorted(row.takes))}'
    elif row.reason not in NO_OBJECT and not row.takes:
        yield f'is NO_DOOR as {row.reason}, and takes nothing'
    elif not re.search(FITS[row.reason], row.name) or row.reason == 'CREATION' and CREATES_NOTHING.search(row.name):
        yield f'is NO_DOOR, and {row.reason} does not fit its name'


def problems_of_class(row, reasons):
    if row.kind == 'NO_DOOR':
        yield from problems_of_reason(row, reasons)
    elif (row.form == 'PER_THREAD') != (row.suffix is not None):
        yield f'{row.form} does not fit the name'
    if row.kind == 'SYNC' and not re.search(OBSERVES[row.what], row.name):
        yield f'is SYNC, and {row.what} is not what it observes'
    if row.kind == 'SYNC' and not MAKES_STREAM.search(row.name) and (row.what == 'UNKNOWN') != ('STREAM' in row.takes and row.argument == 0):
        yield f'is SYNC and {row.what}, and may give streams work that nobody is told of, or not'
    if row.kind in ('RECORD', 'ORDER') and 'STREAM' not in row.takes:
        yield f'is {row.kind}, and takes no stream'
    if ENDS.search(row.name) and row.takes & REFERRED_TO and not row.takes & {'GRAPH'} and row.kind != 'LIFETIME' and \
            row.function not in ENDS_NO_TRACE:
        yield f'ends what traces refer to, and is {row.kind}'


def problems_of_types(row, types):
    """Where the arguments are, and how they travel."""
    if row.kind == 'NO_DOOR':
        return
    wanted = 'CUevent' if row.kind == 'SYNC' and row.what.startswith('EVENT') and types.count('CUevent') == 1 else 'CUstream'
    place = types.index(wanted) + 1 if wanted in types else 0
    if row.kind != 'LIFETIME' and row.argument != place:
        yield f'its {wanted[2:]} is argument {place}, not {row.argument}'
    if row.argument > len(types):
        yield f'has no argument {row.argument}'
    checked = row.result in ('CHECKED', 'WAITS')
    before = types if checked else types[:row.argument]
    if LARGE & set(before) or {'float', 'double'} & set(before):
        yield 'takes an argument that does not travel in an integer register'
    if checked and len(types) > 6:
        yield 'is checked, but takes more than six arguments'


def problems_of_takes(row, headers):
    reached = headers.objects_of(row.name)
    exact = headers.version == TABLE_OF_VERSION and headers.declared.get(row.name) is not None
    if headers.version <= TABLE_OF_VERSION and reached - row.takes or exact and reached != row.takes:
        yield f'takes {" ".join(sorted(reached)) or "nothing"}, not {" ".join(sorted(row.takes)) or "nothing"}'


def problems_of(row, reasons, headers, reference):
    types = headers.types_of(row.name)
    yield from problems_of_class(row, reasons)
    yield from problems_of_takes(row, headers)
    if types is not None:
        yield from problems_of_types(row, types)
        if reference and reference.types_of(row.name) not in (None, types):
            yield f'is ({", ".join(types)}) there, and ({", ".join(reference.types_of(row.name))}) in the reference'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('table', type=pathlib.Path)
    parser.add_argument('names', type=pathlib.Path)
    parser.add_argument('toolkit', type=pathlib.Path)
    parser.add_argument('--reference', type=pathlib.Path)
    parser.add_argument('compiler', nargs='+')
    settings = parser.parse_args()
    if not (settings.toolkit / 'include' / 'cuda.h').exists():
        print(f'skipped: no cuda.h under {settings.toolkit}: scripts/test fetches it where there is a network')
        return 77
    rows, reasons = entry_points.read(settings.table)
    names = {row.name for row in rows}
    headers = Headers(settings.toolkit / 'include', settings.compiler)
    reference = Headers(settings.reference / 'include', settings.compiler) if settings.reference else None
    problems = [f'{row.name}: {problem}' for row in rows for problem in problems_of(row, reasons, headers, reference)]
    problems += [f'{row.name}: takes {word}, which is no object' for row in rows for word in row.takes - set(entry_points.OBJECTS)]
    expected = set(headers.declared) | exported(settings.toolkit / 'lib64' / 'stubs' / 'libcuda.so') | set(settings.names.read_text().split())
    problems += [f'{name}: no row' for name in sorted(expected - names)]
    asked = asked_for(settings.toolkit)
    problems += [f'{name}: no row, and cudart asks for it' for name in sorted(asked - names - {row.function for row in rows})]
    problems += [f'{reason}: no row gives this reason' for reason in sorted(set(reasons) - {row.reason for row in rows})]
    if len(rows) != len(names):
        problems.append('a name has two rows')
    if len(headers.declared) < 500:
        problems.append(f'found only {len(headers.declared)} prototypes: the headers are not read right')
    for problem in problems:
        print(problem)
    print(f'CUDA {headers.version}: {len(rows)} rows, {len(headers.declared)} names in the headers, {len(asked)} asked for by cudart: '
          f'{len(problems)} problems')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
