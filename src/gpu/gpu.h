/*
 * What ran on the GPU, and when, as CUPTI tells it: asked for with REPRISE_CUPTI, for observe's
 * report (report/kernels.h) and for the timeline. CUPTI serves one client of its activities in a
 * process, so a program that profiles itself is not to be run with it.
 *
 * libcupti is loaded when it is asked for and not before; where it is missing or older than what
 * Reprise was built with, that is told, and nothing is measured. It slows launches down, single
 * ones and those of graphs, and has no part in what they do.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum reprise_gpu_kind { REPRISE_GPU_KERNEL, REPRISE_GPU_COPY, REPRISE_GPU_MEMSET };

/* In nanoseconds, of reprise_clock_steady_ns() if the timeline is told, else of CUPTI's clock. 0 is
 * what CUPTI does not know. */
struct reprise_gpu_activity {
	const char *name; /* of a kernel, or which way a copy goes; may be gone once it has been told */
	uint64_t begin, end;
	uint64_t node, bytes; /* the node of the graph that it was launched with; of a copy or memset */
	uint32_t device, context, stream, graph, correlation;
	uint32_t grid[3], block[3];
	enum reprise_gpu_kind kind;
};

/* Is told of activities in the order of their begin, on any thread, and on several at a time. Of
 * those told later some may have begun before. */
typedef void reprise_gpu_listener(const struct reprise_gpu_activity *activities, size_t count);

/* Who is told; set before it starts. The report wants kernels alone. */
extern reprise_gpu_listener *reprise_gpu_report, *reprise_gpu_timeline;

/* Once, before the first op, with its context current: loads CUPTI if it was asked for, and there
 * is anybody to tell. */
void reprise_gpu_load(void);

/* Activities are told from now on. False if they cannot be. */
bool reprise_gpu_start(void);

/* What is complete is told now; the rest with time, or by reprise_gpu_end(). */
void reprise_gpu_flush(void);

/* The timeline needs no more: if nobody else does, launches are as fast as without again. */
void reprise_gpu_leave_timeline(void);

/* At exit: what has run by then is told. Does not wait for what still runs. */
void reprise_gpu_end(void);

/* Of how many activities CUPTI had no room for the records. */
uint64_t reprise_gpu_dropped(void);

/* After fork, in the child, where CUPTI does not go on. */
void reprise_gpu_reset(void);
