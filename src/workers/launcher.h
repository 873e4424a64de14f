/* The thread that launches pending visits (lane/async_launch.h). */
#pragma once

/* When Reprise starts, before any thread may need it. */
void reprise_async_launch_define(void);

/* At exit: the thread does nothing more. */
void reprise_async_launch_stop(void);

/* After fork, in the child: there is no thread. */
void reprise_async_launch_reset(void);
