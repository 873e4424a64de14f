"""Processes of loops (lib.loops): started, set up in batches, measured, and ended. What scripts/turns and scripts/short share."""
import math
import time
from concurrent.futures import ThreadPoolExecutor

from lib import loops, runs

START_S = 120    # for libraries, compilers and the first step


def start(settings, loop, place, library=None, most=math.inf, more=None):
    """It loads its libraries, and waits. `more`: of its environment."""
    environment = loops.environment(settings.build, settings.simulated) | place.environment | (more or {})
    return runs.ByTurns([*place.prefix, *loop.command], library, min(START_S + 4 * settings.seconds * settings.batch, most), environment)


def end(process, started, what):
    """Waits for the end; what went wrong becomes the process's error. Returns what it printed last, and its report."""
    outcome = started.end()
    said = runs.values(outcome.stdout)
    if outcome.status != 0 or "checksum" not in said:
        last = (outcome.stderr.strip().splitlines() or ["it said nothing"])[-1][:300]
        process.error = process.error or f"{what}: " + ("it ran past its time" if outcome.status is None else f"status {outcome.status}: {last}")
    return said, outcome.report


def in_batches(settings, jobs):
    """Measures all jobs. So many processes on each GPU as a batch has load their libraries and set up at once; then they are measured, one after the other on each GPU; then they end, and what was measured is told.
    A process that makes or ends a context keeps others waiting for the driver, of all GPUs: so none does while another is measured. Returns the jobs that the limit left no time for."""
    places, over, first = list(loops.places(settings.gpus)), time.monotonic() + settings.limit, True
    jobs, late = list(jobs), []

    def measure(mine):
        for job in mine:
            if first or time.monotonic() <= over:
                job.measure()
            else:
                late.append(job)

    while jobs and (first or time.monotonic() <= over):
        batch, jobs = jobs[:len(places) * settings.batch], jobs[len(places) * settings.batch:]
        for number, job in enumerate(batch):
            job.start(places[number % len(places)])
        in_threads(lambda job: job.set_up(), [(job,) for job in batch], len(batch))
        in_threads(measure, [(batch[number::len(places)],) for number in range(len(places))], len(places))
        in_threads(lambda job: job.end(), [(job,) for job in batch], len(batch))
        for job in batch:
            if job not in late:
                job.tell()
        first = False
    return [*late, *jobs]


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
