/*
 * Repeated stream work, for programs and plugins that differ in how they come by the driver: each
 * compiles work.c with a WAY of its own. It is the same work everywhere and ends in one number.
 */
#pragma once

/* Runs the kernels of that module (driver_kernels), and returns what they made, or 0 with a line on
 * stderr. */
typedef unsigned int work_function(const char *module);

work_function work;
