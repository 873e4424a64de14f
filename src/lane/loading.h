/*
 * Calls that load a kernel that is not loaded in the current context: its first launch, queries and
 * settings of attributes. "Loading kernels might require context synchronization" (CUDA C++
 * Programming Guide, "Lazy Loading"). On an H200 the first kernel of a context waits for running
 * host functions, and other threads' launches wait meanwhile, also without Reprise
 * (docs/results/2026-11-24-loading-h200.md).
 */
#pragma once

#include <stdbool.h>

#include "lane/traces.h"
#include "op/call.h"
#include "op/function.h"

/* Before such a call, with no lock held. True if it may load: it then counts as waiting
 * (base/gate.h), what lanes hold has been issued as far as the driver takes it, and the caller
 * calls reprise_loading_ends() after the call. */
bool reprise_loading_begins(CUfunction function, enum reprise_function_call call);

/* The same of an eager op. `is_first`: it is the kernel's first launch. Otherwise that is not
 * known, and it matters only if something is deferred. */
bool reprise_loading_begins_launch(const struct reprise_call *call, bool is_first);

/* Makes the program's call of an op that does not go to its lane, between these two if it may load.
 */
CUresult reprise_loading_call(const struct reprise_call *call);
void reprise_loading_ends(CUfunction function, enum reprise_function_call call, bool succeeded);

/* The program asked for a library's module: it may get functions of any kernels by it. For good. */
void reprise_loading_note_module(void);

struct reprise_function_set reprise_loading_set(CUfunction handle, bool is_kernel);
