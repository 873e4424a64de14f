/* The doors of calls that end or change something (LIFETIME): deferred ops are issued, and the
 * traces that name it are forgotten. */
#pragma once

/* Issues what the lanes hold and forgets all their traces. Their graphs go to the reclaim list. */
void reprise_lanes_forget_all(void);
