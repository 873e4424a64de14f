/*
 * What ran on the GPU, and when, from CUPTI. Used with REPRISE_CUPTI, for observe's report
 * (stats/kernels.h) and for the timeline. CUPTI serves one client of its activities per process, so
 * a program that profiles itself cannot be run with it.
 *
 * libcupti is loaded only on request. If it is missing, or older than the one that Reprise was
 * built with, a warning says so and nothing is measured. It slows launches down, also those of
 * graphs, and does not change their effect.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The receivers: the report (kernels only), the timeline. Set before reprise_gpu_load(). */
extern bool reprise_gpu_for_report, reprise_gpu_for_timeline;

/* Once, before the first op, with its context current. Loads CUPTI if it was asked for and there is
 * a receiver. */
void reprise_gpu_load(void);

/* Activities are collected from now on. False if they cannot be. */
bool reprise_gpu_start(void);

/* In observe, after each op; `ops`: the number before it. Starts CUPTI once enough ops were seen
 * without it (stats/kernels.h). */
void reprise_gpu_look(uint64_t ops);

/* Delivers complete buffers now. The others follow later, or by reprise_gpu_end(). */
void reprise_gpu_flush(void);

/* The timeline is full. Stops CUPTI unless the report needs it: then launches are as fast as
 * without. */
void reprise_gpu_leave_timeline(void);

/* At exit: delivers what has run so far. Does not wait for running work. */
void reprise_gpu_end(void);

/* The number of activities that CUPTI had no room for. */
uint64_t reprise_gpu_dropped(void);

/* After fork, in the child, where CUPTI does not work. */
void reprise_gpu_reset(void);
