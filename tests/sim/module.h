/*
 * Modules and libraries (module.c), and the functions and kernels in them (function.c).
 *
 * Each load maps the file anew, so each has variables of its own. A module belongs to a context; a
 * library to none: its kernels have a function in each context that asks for one.
 */
#pragma once

#define SIM_DRIVER
#include "device.h"
#include "kernel.h"
#include "object.h"
#include "sim.h"

struct sim_loaded {
	struct sim_object object;    /* SIM_A_MODULE or SIM_A_LIBRARY */
	struct sim_context *context; /* NULL for a library */
	void *handle;                /* dlopen's */
	int file;                    /* its name, kept open so that no other load gets the same */
	const struct sim_module *table;
	VECTOR(struct sim_function *)
	functions; /* of a module: in the order of the table, NULL until asked for */
	VECTOR(struct sim_library_kernel *) kernels; /* of a library: likewise */
	struct sim_loaded
		*library; /* of a module that cuLibraryGetModule gave: its functions are the library's */
	VECTOR(struct sim_loaded *) modules; /* of a library: those, one a context */
};

struct sim_function {
	struct sim_object object;
	struct sim_context *context;
	struct sim_loaded *owner;
	struct sim_library_kernel *kernel; /* of a library's; NULL for a module's */
	const struct sim_kernel *code;
	int attributes[CU_FUNC_ATTRIBUTE_MAX];
	bool own[CU_FUNC_ATTRIBUTE_MAX]; /* set of the function: what its kernel is given does not count
	                                  */
};

struct sim_library_kernel {
	struct sim_object object; /* SIM_A_KERNEL */
	struct sim_loaded *library;
	const struct sim_kernel *code;
	int attributes[SIM_MOST_DEVICES][CU_FUNC_ATTRIBUTE_MAX];
	VECTOR(struct sim_function *) functions; /* one a context */
};

/* Unloads; functions and kernels go with it. */
void sim_loaded_free(struct sim_loaded *loaded);

/* The module that stands for a library in a context. */
struct sim_loaded *sim_library_module(struct sim_loaded *library, struct sim_context *context);

/* What libraries hold for a context that goes away. */
void sim_library_forget_context(const struct sim_context *context);

/* The function or kernel of a name; NULL if there is none. */
struct sim_function *sim_module_function(struct sim_loaded *module, const char *name);
struct sim_library_kernel *sim_library_kernel(struct sim_loaded *library, const char *name);
struct sim_function *sim_module_function_at(struct sim_loaded *module, size_t position);
struct sim_library_kernel *sim_library_kernel_at(struct sim_loaded *library, size_t position);
size_t sim_loaded_count(const struct sim_loaded *loaded);

void sim_function_free(struct sim_function *function);
void sim_library_kernel_free(struct sim_library_kernel *kernel);

/* The function that a kernel is in a context. */
struct sim_function *sim_library_kernel_in(struct sim_library_kernel *kernel,
                                           struct sim_context *context);

/* The function a launch means: the handle may be a CUkernel, which stands for its function in the
 * context. NULL if it is neither. */
struct sim_function *sim_function_of(CUfunction handle, struct sim_context *context);
struct sim_function *sim_function_to_launch(
	CUfunction handle); /* in the current context; loaded, if it was not */

/* The same in the current context, by a call that is no launch: it may have to be loaded. */
struct sim_function *sim_function_asked_about(CUfunction handle);

/* The bytes of its parameters, without padding at the end. */
size_t sim_function_bytes(const struct sim_kernel *code);
