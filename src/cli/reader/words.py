"""The terms of the page, each with its meaning: shown where the mouse rests on it, and listed at the page's end."""
from html import escape

TERMS = {
    "replayed": "Issued as a node of a CUDA graph, in place of a call of its own.",
    "one by one": "Each call goes to the driver when the program makes it, as without Reprise (also: eager).",
    "sequence": "Calls that were seen to repeat in the same order; a CUDA graph stands for them.",
    "early exit": "Another call came than the sequence has, before its end: the calls that were held back are issued one by one.",
    "turns": "Some periods of the program's loop are replayed and some are not, in turn, within one run. The two are compared.",
    "interval": "The range in which the measured gain lies, as far as the spread among the turns tells.",
    "patch": "To bring a graph to the arguments that the program passed this time, before it is launched.",
    "per-call overhead": "What answering one call of a sequence costs. It is assumed: 60 ns.",
    "launch time": "The time that the program's threads spend in calls which launch work.",
    "graph launch": "One call that launches a whole graph.",
    "stream": "The number that Reprise gave to the stream, or to a group of streams that fork and join.",
    "length": "How many calls the sequence has.",
    "replays": "How often its graph was launched.",
    "of all calls": "The part of all of the program's calls that this row stands for.",
    "hold limit": "The longest that calls are held back before they are issued (--hold).",
    "break-even": "The number of launches after which a graph has saved the time that building it took.",
    "grid, or bytes": "How many blocks the kernel has, in x, y and z, or how many bytes a copy or memset has, when the sequence was reported first.",
    "block": "How many threads a block has, in x, y and z.",
    "what changes": "Any values: the arguments may differ each time, and the graph is patched. Nothing: they were the same.",
    "memory": "The device memory of its graph, by estimate.",
    "saved": "What launching the calls one by one would have taken, less what the graphs' launches took.",
    "worth": "The launch time that this costs, as a part of the run: about the most that can be won. Less if the GPU is behind.",
    "share of calls": "The part of all calls that is kept from being replayed by this.",
    "call site": "The place in the program that the call returns to: library, function and offset.",
    "outlier": "Further from the middle of all processes than five times the usual distance, and by more than a twentieth.",
    "gain": "The time of the loop with all calls one by one, over its time when it is replayed.",
    "longest deferral": "The longest that a call was held back until it was issued.",
    "idle": "The time that the GPU would have nothing to do.",
    "for want of launches": "The part of that time that launching one by one is to blame for; the rest is the program's.",
    "process": "The rank in the job, where a launcher gave one; otherwise the process's number.",
}


def term(word, shown=None):
    """The word, with its meaning where the mouse rests on it."""
    shown = escape(shown or word)
    return f'<abbr title="{escape(TERMS[word])}">{shown}</abbr>' if word in TERMS else shown


def listed():
    rows = "".join(f"<dt>{escape(word)}</dt><dd>{escape(meaning)}</dd>" for word, meaning in sorted(TERMS.items()))
    return f'<details class="fold"><summary>Words on this page</summary><dl class="words">{rows}</dl></details>'
