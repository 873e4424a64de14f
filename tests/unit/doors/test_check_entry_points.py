#!/usr/bin/env python3
"""The check of the table finds what is wrong with it: each change below must be named.

usage: test_check_entry_points.py TABLE NAMES TOOLKIT COMPILER...
"""
import pathlib
import subprocess
import sys
import tempfile

# What stands in the table, what is put there, and what the check has to say.
CHANGES = (
    ('NO_DOOR(cuStreamGetFlags, QUERY, STREAM)\n', '', 'cuStreamGetFlags: no row'),
    ('RECORD(cuEventRecord, 2, PLAIN, STREAM EVENT)', 'RECORD(cuEventRecord, 1, PLAIN, STREAM EVENT)', 'its stream is argument 2, not 1'),
    ('RECORD(cuEventRecord, 2, PLAIN, STREAM EVENT)', 'RECORD(cuEventRecord, 2, PLAIN, STREAM)', 'takes EVENT STREAM, not STREAM'),
    ('RECORD(cuEventRecord, 2, PLAIN, STREAM EVENT)', 'NO_DOOR(cuEventRecord, QUERY, STREAM EVENT)', 'QUERY does not fit'),
    ('RECORD(cuEventRecord, 2, PLAIN, STREAM EVENT)', 'NO_DOOR(cuEventRecord, UNRELATED, STREAM EVENT)', 'is NO_DOOR as UNRELATED, and takes'),
    ('RECORD(cuEventRecord, 2, PLAIN, STREAM EVENT)', 'NO_DOOR(cuEventRecord, HARMLESS, STREAM EVENT)', 'HARMLESS is no reason'),
    ('RECORD(cuEventRecord, 2, PLAIN, STREAM EVENT)', 'NO_DOOR(cuEventRecord, UNRELATED, NOTHING)', 'takes EVENT STREAM, not nothing'),
    ('SYNC(cuEGLStreamProducerReturnFrame, UNKNOWN, 0,', 'SYNC(cuEGLStreamProducerReturnFrame, ALL, 0,', 'may give streams work'),
    ('LIFETIME(cuModuleUnload, CODE, 1, PLAIN, WAITS, MODULE)', 'SYNC(cuModuleUnload, ALL, 0, PLAIN, WAITS, MODULE)',
     'ends what traces refer to'),
    ('LIFETIME(cuModuleUnload, CODE, 1, PLAIN, WAITS, MODULE)', 'NO_DOOR(cuModuleUnload, CREATION, MODULE)', 'CREATION does not fit'),
    ('OWN(cuGraphLaunch, 2, PLAIN, STREAM GRAPH)', 'NO_DOOR(cuGraphLaunch, GRAPH, STREAM GRAPH)', 'GRAPH does not fit'),
    ('ORDER(cuMemcpy3DPeerAsync_ptsz, 2, PER_THREAD,', 'ORDER(cuMemcpy3DPeerAsync_ptsz, 2, PLAIN,', 'PLAIN does not fit the name'),
    ('ALLOC(cuIpcOpenMemHandle_v2, 0, PLAIN, MEMORY)', 'SYNC(cuIpcOpenMemHandle_v2, ALL, 0, PLAIN, WAITS, MEMORY)', 'does not travel in an integer register'),
    ('SYNC(cuStreamQuery, QUERY, 1,', 'SYNC(cuStreamQuery, EVENT, 1,', 'EVENT is not what it observes'),
    ('SYNC(cuMemcpyPeer, ALL, 0,', 'SYNC(cuMemcpyPeer, DEFAULT, 0,', 'DEFAULT is not what it observes'),
    ('NO_DOOR(cuStreamGetFlags, QUERY, STREAM)', 'NO_DOOR(cuStreamGetFlags, QUERY, STREAM)\nNO_DOOR(cuStreamGetFlags, QUERY, STREAM)',
     'a name has two rows'),
)


def main():
    table, names, toolkit, *compiler = sys.argv[1:]
    check = pathlib.Path(__file__).with_name('check_entry_points.py')
    text = pathlib.Path(table).read_text()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        changed = pathlib.Path(folder, 'entry_points.def')
        for there, instead, said in CHANGES:
            if text.count(there) != 1:
                print(f'{there!r} is in the table {text.count(there)} times')
                failures += 1
                continue
            changed.write_text(text.replace(there, instead))
            run = subprocess.run([sys.executable, check, changed, names, toolkit, '--', *compiler], capture_output=True, text=True)
            if run.returncode == 77:
                print(run.stdout, end='')
                return 77
            if run.returncode != 1 or said not in run.stdout:
                print(f'{there!r} as {instead!r}: the check does not say "{said}", but:\n{run.stdout}{run.stderr}')
                failures += 1
    print(f'{len(CHANGES)} changes, {failures} not found')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
