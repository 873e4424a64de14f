"""What the simulated driver says in its log (SIM_LOG) that a run executed."""
from pathlib import Path


def lanes(log):
    """What was executed, by stream, in order: streams as they were made in each context, since Reprise's own have numbers between the program's. A run that enqueued nothing has no log."""
    ops = {}
    for line in Path(log).read_text(errors="replace").split("\n") if Path(log).exists() else ():
        if not line.startswith("op "):
            continue
        _, sequence, context, stream, _, _, _, what = line.split(" ", 7)
        number = stream.removeprefix("stream=")
        made = (int(context.removeprefix("context=")), number.startswith("thread"), int(number.removeprefix("thread")))
        ops.setdefault(made, []).append((int(sequence), what))
    return [[what for _, what in sorted(ops[made])] for made in sorted(ops)]
