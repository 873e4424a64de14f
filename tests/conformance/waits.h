/*
 * Whether a call returns while something on `stream` waits for the host: a thread of its own
 * launches meanwhile, another releases `stream` if the call does not return.
 */
#pragma once

#include "conformance.h"

enum { PATIENCE_MS = 400 };

/* Makes the call while what `holds` puts on `stream` waits for release(). It has to return before,
 * or to wait; then launches of another thread on `other`, too, or not. */
void expect_return(void (*holds)(CUstream), void (*call)(void), const char *what);
void expect_wait(void (*holds)(CUstream), void (*call)(void), const char *what, bool launches_wait);

/* The same with another thread: what it does began `after_ms` before the call. Whether the call
 * returned before. */
bool returns_beside_thread(void (*holds)(CUstream), void *(*meanwhile)(void *), unsigned after_ms,
                           void (*call)(void));

void sleep_ms(unsigned ms);

/* How often `give` gives `stream` more to do, behind what `holds` put there, before it waits.
 * TRIED_MOST if it never does. */
enum { TRIED_MOST = 5000 };
unsigned pending_at_wait(void (*holds)(CUstream), void (*give)(void));
