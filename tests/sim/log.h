/*
 * What was executed, for the checker; and how often each entry point was called.
 *
 * SIM_LOG names a file of lines, each written at once, so that it is whole however the process ends:
 *
 *   op SEQUENCE context=N stream=N after=N,N KIND REST     an op is about to run
 *   mark SEQUENCE ... record|alloc|free|empty REST         likewise, but no work of the program's
 *   call NAME RESULT                                       with SIM_LOG_CALLS
 *
 * SEQUENCE is the order of enqueueing; `after` names the ops it had to follow, which may be of no line (mere points in the
 * order). REST says everything the op was given. An address that the driver knows is written @KINDn+OFFSET, KIND being d, h, m or r for device, pinned, managed and
 * registered memory and n its number in order of allocation, so that two runs compare.
 */
#pragma once

#include "op.h"

void sim_log_op(const struct sim_op *op);

/* What an op with a work does, as the log would say it. */
void sim_log_describe(const struct sim_op *op, char *text, size_t room);

void sim_log_call(const char *name, CUresult result);
