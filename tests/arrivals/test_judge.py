#!/usr/bin/env python3
"""The judge of arrivals (scripts/lib/arrivals.py): a call that ends its process costs that call alone, and what the table says wrongly or not at all is named.

The program is a stand-in that writes the record itself: call 1 dies, call 3 arrives where no stream is taken.
"""
import sys
import tempfile
from pathlib import Path

from lib import arrivals

STAND_IN = '''#!{python}
import os, signal, sys
CALLS = ["cudaFine", "cudaDies", "cudaAlsoFine", "cudaNowhere"]
ARRIVES = ["cuStreamGetFlags", None, "cuEventRecord", "cuDeviceGet"]
if sys.argv[1:] == ["--list"]:
    for number, name in enumerate(CALLS):
        print(number, name, "", "", sep="\\t")
    print("-", "cudaOther", "", "it needs something", sep="\\t")
    sys.exit(0)
path = os.environ["SIM_RECORD"]
with open(path, "w") as record:
    for number in map(int, sys.argv[1:]):
        print("start", number, flush=True)
        if ARRIVES[number] is None:
            record.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        for turn in (1, 2):
            lines = ["#%d:created:%d" % (number, turn), "cuCtxGetCurrent", ARRIVES[number], "#end", "cuCtxPopCurrent_v2"]
            record.write("".join("1 %s 0\\n" % line for line in lines) + "2 cuStreamQuery 0\\n")
            print(number, "created", turn, "cudaSuccess", flush=True)
    record.write("\\0" * 100)
'''


class Row:
    def __init__(self, kind, takes, reason=None):
        self.kind, self.takes, self.reason = kind, set(takes.split()), reason


TABLE = {'cuStreamGetFlags': Row('NO_DOOR', 'STREAM', 'QUERY'), 'cuEventRecord': Row('ORDER', 'STREAM EVENT'),
         'cuDeviceGet': Row('NO_DOOR', '', 'UNRELATED'), 'cuCtxGetCurrent': Row('NO_DOOR', 'CONTEXT', 'QUERY')}
failures = []


def expect(what, found, expected):
    if found != expected:
        failures.append(f'{what}: {found}, not {expected}')


def problems(table, call, plain, under=None):
    return list(arrivals.problems_of(call, plain, under or plain, table))


def main():
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, 'arrivals')
        program.write_text(STAND_IN.format(python=sys.executable))
        program.chmod(0o755)
        calls = arrivals.listed(program)
        visits, unknown, error = arrivals.visit(program, calls, '')
        other, _, _ = arrivals.visit(program, calls, '')
    expect('calls', [call.title for call in calls], ['cudaFine', 'cudaDies', 'cudaAlsoFine', 'cudaNowhere', 'cudaOther'])
    expect('error, unknown names', (error, unknown), (None, set()))
    expect('arrivals', [arrivals.steady(visits[i], 'created') for i in range(4)],
           [['cuCtxGetCurrent', 'cuStreamGetFlags'], [], ['cuCtxGetCurrent', 'cuEventRecord'], ['cuCtxGetCurrent', 'cuDeviceGet']])
    expect('ends', [visits[i].ended for i in range(4)], [None, 'ended by signal 9', None, None])
    expect('results', visits[2].results, {('created', 1): 'cudaSuccess', ('created', 2): 'cudaSuccess'})

    expect('a harmless query', problems(TABLE, calls[0], visits[0]), [])
    expect('an ordering call', problems(TABLE, calls[2], visits[2]), [])
    expect('nowhere', problems(TABLE, calls[3], visits[3]), ['arrives at no entry point that takes a stream'])
    calls[3].unless = 'it needs something'
    expect('nowhere, with a reason', problems(TABLE, calls[3], visits[3]), [])
    expect('passed over', problems({**TABLE, 'cuEventRecord': Row('NO_DOOR', 'STREAM EVENT', 'GRAPH')}, calls[2], visits[2]),
           ['arrives at cuEventRecord, which takes a stream and is NO_DOOR as GRAPH'])
    missing = {name: row for name, row in TABLE.items() if name != 'cuEventRecord'}
    expect('not in the table', problems(missing, calls[2], visits[2]), ['arrives at cuEventRecord, which the table has not'])
    expect('dead', 'plain, the process ended by signal 9' in problems(TABLE, calls[1], visits[1]), True)
    other[2].results['created', 2] = 'cudaErrorInvalidValue'
    expect('another result', len(problems(TABLE, calls[2], visits[2], other[2])), 1)
    other[2] = other[0]
    expect('another arrival', len(problems(TABLE, calls[2], visits[2], other[2])), 1)

    print('\n'.join(failures) or 'the judge finds what it has to find')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
