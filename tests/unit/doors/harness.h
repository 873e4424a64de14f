/*
 * What the tests of the doors share: the fake rooms inside the preloaded object, the fake driver's log, and calling a
 * function with every argument register and some stack filled.
 */
#pragma once

#include <check.h>
#include <dlfcn.h>
#include <stdbool.h>

#include "fake_driver.h"
#include "rooms.h"

/* The rooms in the preloaded object; the test fails if there is none. */
struct rooms *preloaded_rooms(void);

/* The log in the driver that is loaded. */
struct fake_log *driver_log(void);

/* Calls with integers 1000, 1001, ... and floats 0.5, 1.5, ...; an integer in `first` replaces the one at its place. */
unsigned int call_with_everything(void *function);

/* Fails unless the driver's function of that name was called last, with everything as call_with_everything() passed it. */
void assert_everything_arrived(const char *name);

/* Runs the one test case, in a process of its own for each test. */
int run_case(const char *name, void (*const tests[])(TCase *), size_t count);
