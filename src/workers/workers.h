/* The threads of Reprise, for those who start and end them. */
#pragma once

#include <stdint.h>

/* When Reprise starts, before any thread may need one: the thread that builds graphs
 * (graph/building.h), those that keep the hold limit (lane/hold.h), and the one that launches
 * pending visits (lane/async_launch.h). */
void reprise_builder_define(void);
void reprise_hold_define(void);
void reprise_async_launch_define(void);

/* At exit: the threads do nothing more. */
void reprise_hold_stop(void);
void reprise_async_launch_stop(void);

/* After fork, in the child: there are no threads. */
void reprise_hold_reset(void);
void reprise_async_launch_reset(void);

/* ---- the timeline's writer, which also asks for the GPU's activities ---- */

/* When Reprise starts, before the timeline does. */
void reprise_timeline_begin_writing(void);

/* At exit: ends the timeline. Waits `patience_ns` at most until all events are written. */
void reprise_timeline_finish(uint64_t patience_ns);

/* After fork, in the child, before the timeline's reset: the child has a file of its own. */
void reprise_timeline_writing_reset(void);
