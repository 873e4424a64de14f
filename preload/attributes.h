/*
 * What was last set for a function: libraries set the same attribute to the same value before every
 * launch, and that is no change that a trace would have to know of.
 */
#pragma once

/* After this, the next setting of anything counts as a change. Any thread. */
void reprise_attributes_forget(void);
