/*
 * Calls about a kernel that load it where it was not loaded in the current context: questions, settings. "Loading kernels might require context synchronization"
 * (CUDA C++ Programming Guide, "Lazy Loading"): an H200's driver waits for host functions that run, with a lock that every launch needs. Its first launch, which
 * loads it, too, was not seen to wait.
 */
#pragma once

#include <stdbool.h>

#include "../op/function.h"

/*
 * Before such a call, with no lock held. True if it may load: then it counts as one that waits (base/gate.h), what lanes hold has been issued as far as the
 * driver takes it, and reprise_loading_ends() is to come.
 */
bool reprise_loading_begins(CUfunction function, enum reprise_function_call call);
void reprise_loading_ends(CUfunction function, enum reprise_function_call call, bool succeeded);

/* The module of a library was asked for: it has functions that kernels have, too, and nobody is told which. For good. */
void reprise_loading_note_module(void);

/* A function or kernel of which something is about to be set. */
struct reprise_function_set {
	CUfunction handle;
	bool is_kernel;
	CUcontext context;   /* of a kernel: the calling thread's, */
	CUfunction function; /* and its function there; NULL: it is not known to be loaded there, */
	bool nowhere;        /* and nobody has its function */
};
struct reprise_function_set reprise_loading_set(CUfunction handle, bool is_kernel);
