/* The threads that keep the hold limit (lane/hold.h). */
#pragma once

/* When Reprise starts, before any thread may need it. */
void reprise_hold_define(void);

/* At exit: the threads do nothing more. */
void reprise_hold_stop(void);

/* After fork, in the child: there are no threads. */
void reprise_hold_reset(void);
