"""The terms of the page, each with its meaning: shown where the mouse rests on it, and listed at the page's end. Heads of tables, labels of rows and legends are marked by marked(): a term that
stands there is found by itself."""
import re
from html import escape

TERMS = {
    "call": "A launch of a kernel, a copy or a memset that the program makes. The command's tables name it a launch.",
    "replayed": "Issued as a node of a CUDA graph, in place of a call of its own.",
    "eager": "The call goes to the driver when the program makes it, as without Reprise.",
    "what Reprise itself costs": "Patching, early exits, per-call overhead and building: what a program without Reprise does not have.",
    "sequence": "Calls that were seen to repeat in the same order; a CUDA graph stands for them.",
    "node": "What stands for one call in a CUDA graph.",
    "held back": "Kept until the sequence is complete, and then replayed as a graph; or issued eagerly, after an early exit.",
    "deferral": "Holding calls back until their sequence is complete.",
    "early exit": "Another call came than the sequence has, before its end: the calls that were held back are issued eagerly.",
    "sequence changed": "An early exit: another call came than the sequence has there.",
    "arguments changed": "An early exit: other arguments came than the graph was built for.",
    "needed at once": "An early exit: a wait, a query or an order of streams needed the calls before the sequence was complete.",
    "waited too long": "An early exit: calls had been held back for as long as the hold limit allows (--hold).",
    "graph not launched": "The graph could not be patched or launched: its calls were issued eagerly.",
    "cannot be graphed": "Calls that no graph can hold, each for the reason that is named. The driver gets them when the program makes them.",
    "backed off": "Nothing had repeated for long, so Reprise did not look at these calls.",
    "short sequences": "Sequences of one to three calls, or of copies alone, that were not measured to gain: they are eager.",
    "measured eagerly": "Eager, to look for a loop, to measure what replaying gains, or because it gained nothing.",
    "still learning": "No repeating sequence was known yet that begins with these calls, or its graph was not ready.",
    "turns": "Some periods of the program's loop are replayed and some are not, in turn, within one run. The two are compared.",
    "interval": "The range in which the measured gain lies, as far as the spread among the turns tells.",
    "GPU-bound": "The GPU always has work that waits for it, so issuing calls faster changes nothing.",
    "processor time": "The time that all threads of the process have kept processors busy.",
    "patch": "To bring a graph to the arguments that the program passed this time, before it is launched.",
    "nodes patched": "How often a node was brought to other arguments before a launch: set alone, or updated with the whole graph.",
    "per-call overhead": "What answering one call of a sequence costs. It is assumed: 60 ns.",
    "launch time": "The time that the program's threads spend in calls which launch work.",
    "graph launch": "One call that launches a whole graph.",
    "building": "Capturing and instantiating a graph, on a thread of Reprise's.",
    "built": "How often the sequence's graph was made.",
    "stream": "The number that Reprise gave to the stream, or to a group of streams that fork and join.",
    "of all calls": "The part of all of the program's calls that this row stands for.",
    "in graphs": "What graphs took of the program's threads: launching and patching them, early exits, and answering calls.",
    "break-even": "The number of graph launches after which a graph has saved the time that building it took.",
    "grid, or bytes": "How many blocks the kernel has, in x, y and z, or how many bytes a copy or memset has, when the sequence was reported first.",
    "block": "How many threads a block has, in x, y and z.",
    "what changes": "Arguments: they may differ each time, and the graph is patched. Nothing: they were the same.",
    "graph memory": "The device memory that graphs take, by estimate; or the host memory, where that is named.",
    "saved": "What eager calls would have taken, less what graphs took instead.",
    "lost": "What graphs took, less what eager calls would have taken.",
    "worth": "The launch time that this costs, as a part of the run: about the most that can be won. Less if the GPU is behind.",
    "share of calls": "The part of all calls that is kept from being replayed by this.",
    "call site": "The place in the program that the call returns to: library, function and offset.",
    "outlier": "Further from the middle of all processes than five times the usual distance, and by more than a twentieth.",
    "gain": "The time of the loop with all calls eager, over its time when it is replayed.",
    "longest deferral": "The longest that a call was held back until it was issued.",
    "kernels take": "How long a kernel is assumed to run on the GPU.",
    "idle": "The time that the GPU would have nothing to do.",
    "GPU busy": "At least one kernel ran.",
    "GPU idle": "No kernel ran, between the first one and the last.",
    "for want of launches": "The part of that time that eager launches are to blame for; the rest is the program's.",
    "process": "The rank in the job, where a launcher gave one; otherwise the process's number.",
}

# Other forms of a term.
FORMS = {"calls": "call", "sequences": "sequence", "nodes": "node", "early exits": "early exit", "graph launches": "graph launch", "patching": "patch", "processes": "process", "GPU is behind": "GPU-bound",
         "would be replayed": "replayed", "would be saved": "saved", "would be lost": "lost"}

OF_A_VERDICT = ("turns", "interval", "GPU-bound", "GPU is behind", "processor time", "replayed", "would be replayed", "graph launch", "graph launches", "sequence", "sequences")    # that are marked in its sentences


KEYS = {word.lower(): word for word in TERMS} | {form.lower(): word for form, word in FORMS.items()}


def meaning(word):
    return TERMS[KEYS[word.lower()]]


def term(word, shown=None):
    """The word, with its meaning where the mouse rests on it."""
    return f'<abbr title="{escape(meaning(word))}">{escape(shown or word)}</abbr>'


def pattern(among):
    """The longest term first, and no part of another word. Capital letters, as at the beginning of a heading, make no difference."""
    return re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, sorted(among, key=len, reverse=True))) + r")(?![\w-])", re.I)


ALL = pattern([*TERMS, *FORMS])
VERDICTS = pattern(OF_A_VERDICT)
REASONS = pattern(("node", "nodes"))


def marked(text, which=ALL):
    """A text as HTML, in which each of these terms is marked once."""
    seen, parts = set(), []
    for i, part in enumerate(which.split(text)):
        key = KEYS.get(part.lower())
        parts.append(term(part) if i % 2 and key not in seen else escape(part))
        seen |= {key} if i % 2 else set()
    return "".join(parts)


def listed():
    rows = "".join(f"<dt>{escape(word)}</dt><dd>{escape(TERMS[word])}</dd>" for word in sorted(TERMS, key=str.lower))
    return f'<details class="fold"><summary>Words on this page</summary><dl class="words">{rows}</dl></details>'
