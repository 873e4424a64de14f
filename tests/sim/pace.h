/*
 * A GPU that takes its time (SIM_PACE): queries, and calls that wait, are told when it has done
 * what it was given. Ops run as the schedule says all the same, so what they write may be there
 * sooner. One GPU does the kernels of all streams one after another; other ops take it no time.
 *
 * Under sim_lock, which waits let go of. Times are the monotonic clock's, in nanoseconds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* It is given kernels, by a launch each or as nodes of a graph, and then the call that gives them
 * ends, which waits while the GPU is as many calls behind as an H200 allows. */
void sim_pace_launch(void);
void sim_pace_graph(uint64_t nodes);

/* When it will have done all that it was given so far. */
uint64_t sim_pace_end(void);
bool sim_pace_has_reached(uint64_t end);
void sim_pace_wait(uint64_t end);
