/*
 * Faults on demand: SIM_FAULT=NAME:N=ERROR,... makes the N-th call of an entry point return an
 * error without effect. NAME may be a glob; NAME:every=ERROR strikes at each call,
 * NAME:from-N=ERROR at the N-th and each later one. The count is of calls of each exported name
 * alone. CUDA_ERROR_STREAM_CAPTURE_INVALIDATED (901) invalidates what the calling thread captures;
 * the call then finds it so.
 */
#pragma once

#include "sim.h"

struct sim_fault;

/* The faults that name an entry point, or NULL. */
struct sim_fault *sim_fault_find(const char *name);

/* Whether one strikes at this call, counted from 1, and with what. */
bool sim_fault_strikes(const struct sim_fault *faults, unsigned long call, CUresult *error);

/* Around a call of Reprise's own, where such are known (tests/faults): what it makes is counted
 * apart where a context ends (left.h). */
__attribute__((visibility("default"))) void sim_fault_reprises(bool begins);

/* Such a call that copies a stream's attributes was refused. What is captured there is still taken
 * for that stream's op, by which the checker compares. */
__attribute__((visibility("default"))) void sim_fault_carries(CUstream to, CUstream from);

/* For who makes calls fail before they come here (tests/faults): does what such an error does
 * besides. With `breaks` the current context is broken, as by a kernel that fails. True if the call
 * has to be made all the same, and answers the error by itself. */
__attribute__((visibility("default"))) bool sim_fault_cause(CUresult error, bool breaks);
