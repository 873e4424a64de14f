/* Writing the timeline: the thread, which asks for what ran on the GPU, and the file. */
#pragma once

#include <stdint.h>

/* When Reprise starts, before the timeline does. */
void reprise_timeline_begin_writing(void);

/* At exit: no more events; what there is is written, and waited for so long at most. */
void reprise_timeline_finish(uint64_t patience_ns);

/* After fork, in the child, before the timeline is: it has a file of its own. */
void reprise_timeline_writing_reset(void);
