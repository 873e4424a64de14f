/* Ops of a trace that are absent at a visit: passed over, if that is cheaper than to leave the
 * trace. Under the lane's lock. */
#pragma once

#include "lane/lane.h"

/*
 * Whether the call is one of the next ops of the followed trace, those before it being absent this
 * time: they were neither called nor answered, and will not be issued. What comes next is then
 * looked for behind it.
 */
bool reprise_lane_skip(struct reprise_lane *lane, const struct reprise_call *call);
