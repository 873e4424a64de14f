/* The doors of what ends or changes (LIFETIME): everything deferred is issued, and the traces that
 * refer to it are forgotten. */
#pragma once

/* Issues what the lanes hold, and forgets all their traces. Their graphs are put away. */
void reprise_lanes_forget_all(void);
