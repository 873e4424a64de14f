/*
 * What was executed, for the checker; and how often each entry point was called.
 *
 * SIM_LOG names a file of lines. It is mapped memory, so that it is whole however the process ends;
 * zeros may follow the last line. A process
 * that finds it taken by another, living one writes SIM_LOG.PID:
 *
 *   op SEQUENCE context=N stream=N after=N,N host=N own=N KIND REST   an op is about to run
 *   mark SEQUENCE ... record|wait|empty|point REST         likewise, but no work of the program's: a mere point in the order
 *   mark SEQUENCE context=0 stream=0 after=N,N host=0 own=N host-wait thread=N   a thread of the host waited for an op; the
 *                                                                       other one is the wait before
 *   call NAME RESULT                                       with SIM_LOG_CALLS
 *
 * SEQUENCE is the order of enqueueing; `after` names the ops and marks it had to follow, all of
 * which have lines above. `host` names the last wait of any of the host's threads before the op was
 * enqueued, `own` that of the thread that enqueues it. `host` counts where races are looked for in
 * a plain run. Two runs are not compared by it, since Reprise may issue an op later than the
 * program asked for it; but what a thread has waited for may be an edge of what it enqueues then.
 * REST says everything the op
 * was given. An address that the driver knows is written @KINDn+OFFSET, KIND being d, h, m or r for
 * device, pinned, managed and registered memory and n its number in order of allocation, so that
 * two runs compare. In parameters a letter follows: what the kernel does
 * there by the parameter's type, r(eads), w(rites), v(olatile: waits or signals), or u(nknown: part of a structure or a number).
 */
#pragma once

#include "op.h"

void sim_log_op(const struct sim_op *op);
void sim_log_wait(uint64_t sequence, uint64_t before, uint64_t op);

/* What an op with a work does, as the log would say it. */
void sim_log_describe(const struct sim_op *op, char *text, size_t room);

void sim_log_call(const char *name, CUresult result);
