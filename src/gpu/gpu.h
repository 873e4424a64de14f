/*
 * What ran on the GPU, and when, as CUPTI tells it: asked for with REPRISE_CUPTI, for observe's
 * report (stats/kernels.h) and for the timeline. CUPTI serves one client of its activities in a
 * process, so a program that profiles itself is not to be run with it.
 *
 * libcupti is loaded when it is asked for and not before; where it is missing or older than what
 * Reprise was built with, that is told, and nothing is measured. It slows launches down, single
 * ones and those of graphs, and has no part in what they do.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Whom to tell: the report, of kernels alone; the timeline. Set before it is loaded. */
extern bool reprise_gpu_for_report, reprise_gpu_for_timeline;

/* Once, before the first op, with its context current: loads CUPTI if it was asked for, and there
 * is anybody to tell. */
void reprise_gpu_load(void);

/* Activities are told from now on. False if they cannot be. */
bool reprise_gpu_start(void);

/* An op came in observe, before which there were so many. Starts once enough have been seen without
 * (stats/kernels.h). */
void reprise_gpu_look(uint64_t ops);

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
