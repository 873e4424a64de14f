/*
 * User objects: a destructor and a count of references, of which the program, graphs and executable
 * graphs hold some. The last one gone, the destructor runs on a thread of the driver's, where CUDA
 * calls are not permitted.
 */
#pragma once

#include "object.h"

struct sim_user_object;

/* References that a graph or an executable graph holds. */
struct sim_references {
	VECTOR(struct sim_reference {
		struct sim_user_object *object;
		uint64_t count;
	})
	held;
};

/* Takes as many references as `from` holds. */
void sim_references_copy(struct sim_references *to, const struct sim_references *from);

/* Gives all of them back. */
void sim_references_release(struct sim_references *references);
