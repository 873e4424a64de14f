/* Names of kernels, for the report: a bounded number of rows. The last row stands for all names
 * without a row. The driver is asked for a name when a handle is seen for the first time. */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/options.h"

#define REPRISE_NAMES_MOST 256
#define REPRISE_NAME_MOST 512 /* characters that are kept */

/* The driver's name for the function; NULL if it does not tell. Belongs to the driver, and lives as
 * long as the function. */
const char *reprise_name_of(CUfunction function, bool is_kernel);

/* True if names will be reported. Set when Reprise starts. */
extern bool reprise_names_wanted;

/* The row of the name, from 1 on; 0 for NULL, or without memory. Under the lock of the function
 * table. */
uint16_t reprise_name_row(const char *name);

/* Counts a watched launch of it. */
void reprise_name_seen(uint16_t row);

/* For the report, row by row: the name, NULL from the first unused row on, and the number of
 * watched launches. */
const char *reprise_name_at(uint16_t row, uint64_t *seen);

/* After fork, in the child: clears the counts. */
void reprise_names_reset(void);

/* ---- the deny list ---- */

/*
 * The deny list (REPRISE_DENY): globs of names of kernels that are always eager and part of no
 * trace. Names are as the driver reports them, mangled for C++, or in C++'s words (qualified.h). The
 * default is the kernels of NCCL and NVSHMEM. They wait for other processes and devices, and it is
 * not shown that a graph may launch them wherever the program launches them alone.
 */

/* What comparing needs: the caller's, as the program's stack may be small. */
struct reprise_deny_texts {
	char glob[REPRISE_OPTION_TEXT_MOST], qualified[REPRISE_NAME_MOST];
};

/* True if the list has the kernel's name. Before CUDA 12.3 the driver does not tell names:
 * `name` is NULL and nothing is denied. One warning says so if the user gave the list. */
bool reprise_denied(const char *name, struct reprise_deny_texts *texts);
