/*
 * The attributes last set for each function. Libraries set the same attribute to the same value
 * before every launch; this is no change for a trace.
 */
#pragma once

/* After this, the next setting of anything counts as a change. Any thread. */
void reprise_attributes_forget(void);
