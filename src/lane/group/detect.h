/* Fork detection: which streams fork and join again and again. One stream records an event, another
 * waits for it, and the first waits for an event of the other. This decides what may pay, never
 * what is right. The tables have a bounded size; a new entry replaces an old one. */
#pragma once

#include "lane/lane.h"

/* The call, an event record or wait, was made eagerly on the lane's stream. Merges lanes that have
 * forked and joined often enough. No lock is held. */
void reprise_fork_detect_note(struct reprise_lane *lane, const struct reprise_call *call);

/* After fork, in the child. */
void reprise_fork_detect_reset(void);
