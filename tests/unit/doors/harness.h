/*
 * What the tests of the doors share: the fake rooms inside the preloaded object, the fake driver's
 * log, and calling a function with every argument register and some of the stack filled.
 */
#pragma once

#include <check.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#include "fake_driver.h"
#include "rooms.h"

/* The rooms in the preloaded object. */
struct rooms *preloaded_rooms(void);

/* The driver, loaded by this call if it was not before and in the global scope, and its log. */
void *driver(void);
struct fake_log *driver_log(void);

/* Something is deferred, as far as the doors can see. */
void defer_something(void);

/* The n-th argument of a call with everything, from 1. */
#define INTEGER(n) (UINT64_C(0x1234567800000000) + (n))

/* Calls with INTEGER(1) to INTEGER(12) and floats 0.5, 1.5, ... */
unsigned int call_with_everything(void *function);

/* Fails unless the driver's function of that name was called last, by call_with_everything(). */
void assert_everything_arrived(const char *name);

/* Runs the tests that `add` adds, each in a process of its own; returns what main is to return. */
int run_tests(const char *name, void (*add)(TCase *tcase));
