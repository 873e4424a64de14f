/*
 * What the driver keeps for the calling thread: written down after a call that left it otherwise
 * than it was after the last one, whether that call failed or not, as a line of this form:
 *
 *   THREAD @depth=2,contexts=2.1,mode=0 0      its stack of contexts, the current one first, numbered in the order in which the thread had them
 *
 * and when the process ends by exit, of the thread that ends it, if its current context is broken:
 *
 *   THREAD @error=719 0
 *
 * Only on the simulated driver, which says so (state.h).
 */
#pragma once

/* After each call. */
void record_state(void);
