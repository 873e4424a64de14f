"""Processes of loops (lib.loops): started, so that they load their libraries and wait; and ended. What scripts/turns and scripts/short share."""
import math
from concurrent.futures import ThreadPoolExecutor

from lib import loops, runs

START_S = 120    # for libraries, compilers and the first step


def start(settings, loop, place, library=None, most=math.inf, more=None):
    """It loads its libraries, and waits. `more`: of its environment."""
    environment = loops.environment(settings.build, settings.simulated) | place.environment | (more or {})
    return runs.ByTurns([*place.prefix, *loop.command], library, min(START_S + 4 * settings.seconds, most), environment)


def end(process, started, what):
    """Waits for the end; what went wrong becomes the process's error. Returns what it printed last, and its report."""
    outcome = started.end()
    said = runs.values(outcome.stdout)
    if outcome.status != 0 or "checksum" not in said:
        last = (outcome.stderr.strip().splitlines() or ["it said nothing"])[-1][:300]
        process.error = process.error or f"{what}: " + ("it ran past its time" if outcome.status is None else f"status {outcome.status}: {last}")
    return said, outcome.report


def take(jobs):
    """The next one, or None."""
    try:
        return jobs.popleft()
    except IndexError:
        return None


def in_threads(job, arguments, together):
    with ThreadPoolExecutor(together) as pool:
        for done in [pool.submit(job, *each) for each in arguments]:
            done.result()


def known(parser, settings):
    """Completes the settings: the build folder's whole path, and the loops."""
    settings.build = settings.build.resolve()
    settings.loops = list(loops.simulated(settings.build)) if settings.simulated else [*loops.of_frameworks(), *loops.in_c(settings.build, settings.only or ())]
    unknown = set(settings.only or ()) - {loop.name for loop in settings.loops}
    if unknown:
        parser.error(f"no loop {', '.join(sorted(unknown))}; --list names them")
    if settings.only:
        settings.loops = [loop for loop in settings.loops if loop.name in settings.only]
    return settings
