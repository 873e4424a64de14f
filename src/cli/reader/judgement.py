"""The verdict at the head of the page: a tone, a sentence, and two bars: without Reprise and with it."""
import reports
from amounts import count, duration, of_calls, share

NOTABLE = 1.02    # an estimate of less is no gain
MEASURED = "time of the program's loop, measured"


class Judgement:
    """`tone`: good, fair or bad. `bars`: (label, part of the longer one, value), first without Reprise; empty where nothing can be compared.
    `spread`: the ends of the second bar's interval, or None."""

    def __init__(self, tone, headline, words, bars=(), spread=None, basis=""):
        self.tone, self.headline, self.words, self.bars, self.spread, self.basis = tone, headline, words, bars, spread, basis


def two_bars(without, with_, low=None, high=None, labels=("without Reprise", "with Reprise"), show=None):
    """Both as parts of the longer one, and the interval likewise."""
    longest = max(without, with_, *(end for end in (low, high) if end)) or 1
    show = show or (lambda value: f"{100 * value / (without or 1):.3g} %")
    spread = (low / longest, high / longest) if low and high else None
    return [(label, value / longest, show(value)) for label, value in zip(labels, (without, with_))], spread


def bars_of_turns(turns, label="with Reprise"):
    """Times are one over the gain, in thousandths."""
    if turns["gain"] <= 0:
        return [], None
    low, high = (1000 / turns[end] if turns[end] > 0 else None for end in ("high", "low"))
    return two_bars(1, 1000 / turns["gain"], low, high, ("without Reprise", label))


def times(gain):
    return f"{gain / 1000:.2f} x"


def factor(gain):
    """A gain or a loss in words, as the command says it."""
    return f"{times(gain)} faster" if gain > 1000 else f"{1000 / gain:.2f} x slower" if 0 < gain < 1000 else "Neither faster nor slower"


def interval(turns):
    """Its ends, in the words of a gain or of a loss."""
    low, high = (turns["low"] / 1000, turns["high"] / 1000) if turns["gain"] >= 1000 or not turns["low"] or not turns["high"] else (1000 / turns["high"], 1000 / turns["low"])
    return f"interval {low:.2f} to {high:.2f}"


def of_turns(number):
    return f"{count(number)} turn{'s' * (number != 1)}"


def have(number):
    return "has" if number == 1 else "have"


def left_eager(turns, headline, words):
    """The headline says what was lost, too: a loss is told as plainly as a gain."""
    bars, ends = bars_of_turns(turns, "replaying")
    return Judgement("fair", f"{headline}; measuring cost {duration(turns['lost_ns'])}", words, bars, ends, MEASURED)


def tone_of(gain):
    return "good" if gain > 1000 else "bad" if 0 < gain < 1000 else "fair"


def no_gain(turns):
    """Why a loop was left eager: the figures of turns, where they were taken."""
    return f"Replaying gained nothing ({factor(turns['gain'])}, {interval(turns)})" if turns["gain"] else "In the long run replaying was slower than eager calls"


def of_earlier(turns):
    """Of a loop before the last one, which had no verdict."""
    earlier, cost = turns["earlier"], duration(turns["lost_ns"])
    last = f"The last loop was too short to measure. Measuring cost {cost}."
    if earlier["verdict"] == "replay":
        bars, ends = bars_of_turns(earlier)
        return Judgement(tone_of(earlier["gain"]), f"{factor(earlier['gain'])} in an earlier loop", f"Measured by turns, {interval(earlier)}. {last}", bars, ends, "time of the earlier loop, measured")
    why = {"eager": no_gain(earlier), "costly": f"Replaying was {times(earlier['gain'])} faster, {interval(earlier)}, for more than 1.02 x the processor time",
           "unclear": f"Replaying gained at most {times(earlier['high'])}, {interval(earlier)}", "bound": "The program was GPU-bound there"}[earlier["verdict"]]
    return left_eager(turns | earlier, "An earlier loop was left as it was", f"{why}, so that loop was left eager. {last}")


def of_undecided(report):
    turns, run, measured = report["turns"], duration(report["wall_ns"]), report.get("measured", "")
    if "earlier" in turns:
        return of_earlier(turns)
    if measured.startswith("the GPU was busy"):
        return Judgement("fair", "The GPU was busy: nothing was replayed", f"T{measured[1:]}. Graphs are built while the GPU has nothing to do. Where it takes the time, launches cost none.")
    if turns["turns"]:
        return Judgement("fair", f"Too short to measure; measuring cost {duration(turns['lost_ns'])}", f"{of_turns(turns['turns'])} {have(turns['turns'])} not shown yet whether replaying gains, in a run of {run}.")
    if measured.startswith("too short"):
        return Judgement("fair", "Too short to measure", f"The run of {run} ended before a loop was measured.")
    searched = f" in {duration(turns['searched_ns'])} of search" if turns.get("searched_ns") else ""
    between = f"; {of_calls(report['turn_ops'])} in between were eager" if report["turn_ops"] else ""
    return Judgement("fair", "No loop was found to measure", f"Turns compare periods of a loop. None was found{searched}{between}. Whether replaying gains is not known.")


def of_one(report):
    turns = report["turns"]
    verdict, cost, spread = turns["verdict"], duration(turns["lost_ns"]), interval(turns)
    if verdict == "replay":
        bars, ends = bars_of_turns(turns)
        return Judgement(tone_of(turns["gain"]), factor(turns["gain"]), f"Measured in {of_turns(turns['turns'])}, {spread}. Measuring cost {cost}.", bars, ends, MEASURED)
    after = f"after {duration(turns['decided_ns'])} all calls were left eager."
    if verdict == "eager":
        return left_eager(turns, "No gain: left as it was", f"{no_gain(turns)}, so {after}")
    if verdict == "costly":
        return left_eager(turns, "Left as it was: its processor time", f"Replaying was {times(turns['gain'])} faster, {spread}, for {times(turns['processor'])} the processor time of the process. That is more "
                          f"than 1.02 x, so {after}")
    if verdict == "unclear":
        return left_eager(turns, "No clear gain: left as it was", f"{of_turns(turns['turns'])} {have(turns['turns'])} not shown whether replaying gains: at most {times(turns['high'])}, {spread}. So {after}")
    if verdict == "bound":
        return left_eager(turns, "Nothing to gain: the GPU is behind", f"The program is GPU-bound: issuing calls faster changes nothing. So {after}")
    return of_undecided(report)


def of_several(each):
    turns = [(one["turns"], reports.who(one)) for one in each]
    gained = [(one, who) for one, who in turns if one["verdict"] == "replay" and one["gain"] > 0]
    if not gained:
        return None
    least, who = min(gained, key=lambda pair: pair[0]["gain"])
    most = max(one["gain"] for one, _ in gained)
    bars, ends = bars_of_turns(least, f"with, {who}")
    headline = f"{least['gain'] / 1000:.2f} to {times(most)} faster" if most > least["gain"] > 1000 else f"{factor(least['gain'])} to {factor(most)}" if most > least["gain"] else factor(most)
    return Judgement("good" if len(gained) == len(each) and least["gain"] > 1000 else "fair" if most > 1000 else "bad", headline, f"Measured by turns: {len(gained)} of {len(each)} processes gained. The bars are of the one that gained least, {who}.",
                     bars, ends, "time of its loop, measured")


def expected(report):
    """Of what was only observed, by a model: the whole run, or else the launch time."""
    wall, gained = report["wall_ns"], reports.shorter(report)
    if gained is not None and wall:
        left = max(wall - gained, 1)
        bars, _ = two_bars(wall, left, show=duration)
        how = "with kernels as measured by CUPTI, which has slowed this run down" if reports.kernels_were_measured(report) else f"if a kernel takes {duration(reports.kernel_ns(report))}; run with --cupti to measure"
        tone = "good" if wall / left >= NOTABLE else "bad" if gained < 0 else "fair"
        headline = f"Would be about {wall / left:.2f} x faster" if tone == "good" else f"Would be about {left / wall:.2f} x slower" if tone == "bad" else "Little to gain"
        return Judgement(tone, headline, f"An estimate of the run under Reprise, {how}.", bars, basis="duration of the run, estimated")
    launching, saved = report["launch_time_ns"], report["saved_ns"]
    bars, _ = two_bars(launching, max(launching - saved, 0), show=duration) if launching else ([], None)
    tone = "good" if saved > 0 else "bad" if saved < 0 else "fair"
    headline = {"good": f"{share(saved, launching)} of launch time would be saved", "bad": f"{duration(-saved)} would be lost", "fair": "Nothing would be saved"}[tone]
    return Judgement(tone, headline, "By estimate from what calls cost.", bars, basis="launch time of the program's threads, estimated")


def of(report, each):
    if report.get("difference"):
        return Judgement("bad", "verify found a difference", report["difference"])
    if report["mode"] == "on" and all("turns" in one for one in each):
        found = of_one(each[0]) if len(each) == 1 else of_several(each)
        if found:
            return found
    if report["mode"] == "observe":
        return expected(report)
    if "measured" in report:
        return Judgement("fair", "No gain was measured", f"By turns: {report['measured']}.")
    if not report["replayed"]:
        built = report["graphs_built"]
        return Judgement("fair", "Nothing was replayed", f"{f'{count(built)} graphs were' if built > 1 else 'One graph was' if built else 'No graph was'} built in the run of {duration(report['wall_ns'])}.")
    return Judgement("fair", "Gain not measured", f"Turns, which measure it, were off{off_by(report)}.")


def off_by(report):
    """The options that turned turns off, as far as the report has them."""
    options = {name: str(option["value"]) for name, option in report.get("options", {}).items()}
    by = [f"{name}={value}" for name, value in (("REPRISE_TURNS", "0"), ("REPRISE_PAYS", "assumed")) if options.get(name) == value]
    by += ["REPRISE_RECORD is set"] if options.get("REPRISE_RECORD") else []
    return f": {', '.join(by)}" if by else ""


def seen(report):
    """What was replayed, in a sentence."""
    word = reports.done(report, "replayed")
    text = f"{share(report['replayed'], report['ops'])} of {of_calls(report['ops'])} {word if report['mode'] == 'observe' else 'were replayed'}"
    if report["launches"]:
        text += f", by {count(report['launches'])} graph launch{'es' * (report['launches'] != 1)} of {count(report['traces'])} sequence{'s' * (report['traces'] != 1)}"
    return text + "."


def nothing(report):
    """Why there is nothing to judge, in a sentence."""
    if report.get("aside"):
        return f"Reprise stood aside for {report['tool']}: {report['aside']}."
    if report["mode"] == "off":
        return "Reprise was off, by REPRISE=off in the environment: nothing is known of the calls."
    return "No calls were seen: the program made none, or Reprise was not in the process that made them. `reprise doctor PROGRAM` tells whether Reprise can work in it."
