#!/usr/bin/env python3
"""Holds what libreprise.so, or its stand-in for libcuda.so.1, shows and needs against what it may.

usage: check_exports.py LIBRARY TABLE [PUBLIC_HEADER...]
       check_exports.py --stand-in LIBRARY TABLE [PUBLIC_HEADER...]

It exports dlsym and dlopen, the entry points that have a door, what NVTX looks up, and the functions of the public headers, and all of them; it needs the C
library's objects only, and nothing that waits for another thread by a way of the C library's own, which a signal's handler could not interrupt; nothing of its own runs when it is loaded, and the report alone at the end; its stack is not
executable. The stand-in exports every entry point and its mark, has the driver's name, and takes no static memory of threads, which a
library that comes late may not find; of the public headers it exports the same.
"""
import pathlib
import re
import subprocess
import sys

NEEDED = re.compile(r'^(libc|libdl|libpthread)\.so\.\d+$|^ld-linux[\w-]*\.so\.\d+$')
DOOR = re.compile(r'^(?:RECORD|ORDER|SYNC|LIFETIME|OWN|ALLOC)\((\w+)', re.M)
FIRST_VERSIONS = {'AArch64': '@GLIBC_2.17', 'Advanced Micro Devices X86-64': '@GLIBC_2.2.5'}  # of the C library, by the library's machine
# The compiler's; the second asks the kernel, on aarch64, which atomic instructions there are, and keeps the answer.
AT_THE_START = {'frame_dummy', 'init_have_lse_atomics', 'reprise_log_open'}  # the compiler's, and one that notes which file stderr is
AT_THE_END = {'__do_global_dtors_aux', 'at_end'}  # the compiler's, and the report's, which makes no CUDA call
WAITING = {'call_once', 'pthread_once', 'pthread_mutex_lock', 'pthread_rwlock_rdlock', 'pthread_rwlock_wrlock', 'pthread_cond_wait', 'sem_wait', 'mtx_lock', 'cnd_wait'}
LISTENER = {'InitializeInjectionNvtx', 'InitializeInjectionNvtx2', 'InitializeInjectionNvtxExtension'}  # what NVTX looks up (src/api/nvtx.c)
ENTRY = re.compile(r'^(?:RECORD|ORDER|SYNC|LIFETIME|OWN|ALLOC|NO_DOOR)\((\w+)', re.M)
PUBLIC = re.compile(r'^(?!static)[A-Za-z][\w \t*]*\b(reprise_\w+)\s*\(', re.M)


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exports(library):
    """The names, with their versions, without the versions' own names."""
    return {line.split()[-1] for line in output('nm', '-D', '--defined-only', library).splitlines() if line.split()[-2] != 'A'}


def imports(library):
    return {line.split()[-1].split('@')[0] for line in output('nm', '-D', '--undefined-only', library).splitlines()}


def dynamic(library):
    """tag -> values of the dynamic section."""
    found = {}
    for tag, value in re.findall(r'\((\w+)\)\s+(.*)', output('readelf', '-dW', library)):
        found.setdefault(tag, []).append(value)
    return found


def functions_in(library, section):
    """The functions that a section of pointers names, by the relocations that fill it in; addresses where symbols are stripped."""
    symbols = {int(fields[0], 16): fields[2] for fields in
               (line.split() for line in output('nm', library).splitlines()) if len(fields) == 3}
    place = re.search(re.escape(section) + r'\s+\w+\s+([0-9a-f]+)\s+[0-9a-f]+\s+([0-9a-f]+)', output('readelf', '-SW', library))
    if not place:
        return set()
    start, size = (int(number, 16) for number in place.groups())
    relocations = re.findall(r'^([0-9a-f]+)\s+[0-9a-f]+\s+\w+_RELATIVE\s+([0-9a-f]+)', output('readelf', '-rW', library), re.M)
    return {symbols.get(int(target, 16), target) for at, target in relocations if start <= int(at, 16) < start + size}


def of_the_loader(library):
    """dlopen and dlsym, as programs refer to them."""
    machine = re.search(r'Machine:\s+(.*)', output('readelf', '-hW', library)).group(1)
    return {name + version for name in ('dlopen', 'dlsym') for version in (FIRST_VERSIONS[machine], '@@GLIBC_2.34')}


def main():
    stand_in = sys.argv[1] == '--stand-in'
    library, table, *headers = map(pathlib.Path, sys.argv[2 if stand_in else 1:])
    if stand_in:
        expected = {'reprise_stand_in'} | set(ENTRY.findall(table.read_text()))
    else:
        expected = of_the_loader(library) | set(DOOR.findall(table.read_text()))
    for header in headers:
        expected |= {name if stand_in else name + '@@REPRISE_1' for name in PUBLIC.findall(header.read_text())}
    expected |= {name if stand_in else name + '@@REPRISE_1' for name in LISTENER}
    shown = exports(library)
    problems = [f'{name} is exported and should not be' for name in sorted(shown - expected)]
    problems += [f'{name} is not exported' for name in sorted(expected - shown)]

    tags = dynamic(library)
    for value in tags.get('NEEDED', []):
        name = re.search(r'\[(.*)\]', value).group(1)
        if not NEEDED.match(name):
            problems.append(f'needs {name}')
    for name in sorted(imports(library) & WAITING):
        problems.append(f'calls {name}')
    if stand_in and tags.get('SONAME') != ['Library soname: [libcuda.so.1]']:
        problems.append(f'has the name {tags.get("SONAME")}')
    if stand_in and any('STATIC_TLS' in flags for flags in tags.get('FLAGS', [])):
        problems.append('has static memory of threads')
    if 'TEXTREL' in tags:
        problems.append('has relocations in its code')
    for name in sorted(functions_in(library, '.init_array') - AT_THE_START):
        problems.append(f'{name} runs when the library is loaded')
    for name in sorted(functions_in(library, '.fini_array') - AT_THE_END):
        problems.append(f'{name} runs when the library is unloaded')
    if re.search(r'GNU_STACK.*RWE', output('readelf', '-lW', library)):
        problems.append('asks for an executable stack')

    for problem in problems:
        print(problem)
    print(f'{len(shown)} exports: {len(problems)} problems')
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main())
