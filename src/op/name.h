/*
 * Kernels by name, for the report: a bounded number of rows, of which the last stands for all names
 * that found no room. The driver is asked for a name when a handle is seen for the first time.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#define REPRISE_NAMES_MOST 256

/* What the driver calls it; NULL if it does not tell. Belongs to the driver, and stays as long as
 * the function. */
const char *reprise_name_of(CUfunction function, bool is_kernel);

/* Whether somebody will read them. Set when Reprise starts. */
extern bool reprise_names_wanted;

/* The row of that name, from 1 on; 0 for NULL, and for whatever nobody asked about. Under the lock
 * of the function table. */
uint16_t reprise_name_row(const char *name);

/* A launch of it was watched. */
void reprise_name_seen(uint16_t row);

/* For the report, row by row: the name, NULL at the first row that is not there; and how many
 * launches were watched. */
const char *reprise_name_at(uint16_t row, uint64_t *seen);

/* After fork, in the child: nothing was seen there. */
void reprise_names_reset(void);
