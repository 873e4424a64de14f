/* The timeline's writer: its thread, which also asks for the GPU's activities, and the file. */
#pragma once

#include <stdint.h>

/* When Reprise starts, before the timeline does. */
void reprise_timeline_begin_writing(void);

/* At exit: ends the timeline. Waits `patience_ns` at most until all events are written. */
void reprise_timeline_finish(uint64_t patience_ns);

/* After fork, in the child, before the timeline's reset: the child has a file of its own. */
void reprise_timeline_writing_reset(void);
