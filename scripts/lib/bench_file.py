"""What scripts/bench measured as JSON, every turn of every round of it, and what got worse from one such file to another."""
import json
import statistics

from lib import bench_judge, bench_rows
from lib.bench_judge import Measured, Sample

VERSION = 1
LEAST_WORSE = 0.01    # a guess at what two calls differ by, however alike the rounds of each are

RULE = f"""A figure of a row is a median over its rounds, and its spread goes from the least of the rounds to the greatest. It got worse if B's median is beyond
the worst round of A, A's median is beyond the best round of B, and they differ by more than {LEAST_WORSE:.0%}. Figures are: the time under Reprise, eager / Reprise,
Reprise / by hand, and the share that is replayed; and the geometric mean. A row whose runs fail, or whose answers differ, and did not in A, got
worse, too. Where the time of the eager run, or by hand, got worse as well, that is said: then it may be the machine's. What only one file has is named, and counts for
nothing."""


def sample_out(sample):
    return sample and {"us": sample.turns, "cpu_us": sample.cpu_us, "device_mib": sample.device_mib, "answer": sample.answer,
                       "report": {key: value for key, value in sample.report.items() if isinstance(value, (int, float, str))}}


def row_out(measured):
    row = measured.row
    return {"name": row.name, "groups": row.groups, "program": row.program, "arguments": row.arguments, "targets": row.targets, "form": row.form,
            "repeats": row.repeats, "sweep": row.sweep, "ways": list(measured.commands), "slower_forms": measured.slower_forms, "errors": measured.errors,
            "figures": {name: {"median": statistics.median(found), "least": min(found), "greatest": max(found)} for name, found in figures(measured).items()},
            "rounds": [{way: sample_out(samples[number]) for way, samples in measured.samples.items() if number < len(samples)} for number in range(measured.rounds())]}


def text(facts, rows, left_out):
    """`facts`: date, GPU, driver, commit and the like, as the page has them."""
    return json.dumps({"version": VERSION, **facts, "left_out": left_out, "rows": [row_out(measured) for measured in rows]}, indent=1) + "\n"


def row_in(given):
    row = bench_rows.Row(given["name"], tuple(given["groups"]), given["program"], tuple(given["arguments"]), targets=given["targets"], form=given["form"],
                         repeats=given["repeats"], sweep=given["sweep"])
    measured = Measured(row, dict.fromkeys(given["ways"], ()))
    measured.errors, measured.slower_forms = given["errors"], given["slower_forms"]
    for way in measured.commands:
        found = [one.get(way) for one in given["rounds"]]
        measured.samples[way] = [one and Sample(one["us"], one["cpu_us"], one["device_mib"], one["answer"], one["report"]) for one in found]
    return measured


def read(path):
    """Facts, and rows by name. ValueError says what is wrong with the file."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        if given["version"] != VERSION:
            raise ValueError(f"version {given['version']}, not {VERSION}")
        rows = {one["name"]: row_in(one) for one in given.pop("rows")}
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} was not written by scripts/bench --json") from error
    except ValueError as error:
        raise ValueError(f"{path} was not written by scripts/bench --json: {error}") from error
    return given, rows


def figures(measured):
    """What each round came to, by name."""
    shares = [bench_judge.runs.share_replayed(sample.report) for sample in measured.good("reprise")]
    found = {"Reprise, us": [sample.us for sample in measured.good("reprise")], "eager / Reprise": bench_judge.gains(measured),
             "Reprise / by hand": bench_judge.over_form(measured, measured.by_hand()), "replayed": [share for share in shares if share is not None]}
    return {name: each for name, each in found.items() if each}


MORE_IS_BETTER = ("eager / Reprise", "replayed")


def worse(before, after, more_is_better=False):
    """Whether a figure got worse by more than its spread: RULE."""
    if more_is_better:
        before, after = ([-one for one in each] for each in (before, after))
    a, b = statistics.median(before), statistics.median(after)
    return b > max(before) and a < min(after) and b - a > LEAST_WORSE * abs(a)


def said(name, before, after):
    number = bench_judge.number if name.endswith("us") else (lambda value: f"{value:.1%}") if name == "replayed" else bench_judge.cell
    return f"{name} {bench_judge.with_ends(after, number)}, was {bench_judge.with_ends(before, number)}"


def slower_elsewhere(before, after):
    """The ways without Reprise whose time got worse, too."""
    for way in ("eager", before.by_hand()):
        a, b = ([sample.us for sample in measured.good(way)] for measured in (before, after))
        if way and a and b and worse(a, b):
            yield way


def compared_row(before, after):
    """What got worse of a row, and what got better, each a line."""
    a, b = figures(before), figures(after)
    bad, good = [], []
    for name in a:
        if name in b:
            more = name in MORE_IS_BETTER
            bad += [said(name, a[name], b[name])] if worse(a[name], b[name], more) else []
            good += [said(name, a[name], b[name])] if worse(b[name], a[name], more) else []
    if bad:
        bad += [f"{way} is slower, too" for way in slower_elsewhere(before, after)]
    was, now = bench_judge.agreement(before), bench_judge.agreement(after)
    if was[1] and not now[1]:
        bad.append(now[0].strip("*"))
    return bad, good


def compare(before, after):
    """Lines, and how many rows got worse. Both: facts, and rows by name."""
    (facts, rows), (new_facts, new_rows) = before, after
    lines = [f"{key}: {new_facts.get(key)}, was {facts.get(key)}" for key in ("GPU", "driver", "CPU", "REPRISE_TURNS") if facts.get(key) != new_facts.get(key)]
    count = 0
    for name in rows:
        if name not in new_rows:
            lines.append(f"not in B: {name}")
            continue
        bad, good = compared_row(rows[name], new_rows[name])
        count += bool(bad)
        lines += [f"worse: {name}: {'; '.join(bad)}"] if bad else []
        lines += [f"better: {name}: {'; '.join(good)}"] if good else []
    lines += [f"not in A: {name}" for name in new_rows if name not in rows]
    both = [name for name in rows if name in new_rows]
    means = [bench_judge.overall([side[name] for name in both])[0] for side in (rows, new_rows)]
    if all(means) and worse(*means):
        count += 1
        lines.append(f"worse: {said('geometric mean of Reprise / by hand', *means)}")
    return lines, count
