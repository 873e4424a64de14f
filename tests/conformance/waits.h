/*
 * Whether a call returns while something on `stream` waits for the host: a thread of its own launches meanwhile, another releases `stream` if the call does
 * not return.
 */
#pragma once

#include <stdatomic.h>

#include "conformance.h"

enum { PATIENCE_MS = 400 };

/* Makes the call while what `holds` puts on `stream` waits for release(). Whether it returned before. */
bool returns_beside(void (*holds)(CUstream), void (*call)(void));

/* Whether, in the last one that did not return, launches of another thread on `other` waited, too. */
bool launches_waited(void);

/* For harnesses of their own: the releasing thread, and what it shares with the calling one. */
extern atomic_bool returned, released;
void *release_late(void *unused);
void sleep_ms(unsigned ms);
