/* What the host pays for, in nanoseconds, as measured on an H200 (median, with static cudart), and
 * the GPU. The model adds these up; it is no clock. */
#pragma once

#define COST_EAGER 3900u  /* a launch, copy or memset of its own */
#define COST_GRAPH 2250u  /* the launch of an executable graph of up to a hundred nodes */
#define COST_NODE 600u    /* one node set in it */
#define COST_DEFERRED 60u /* an op that is only compared and answered */
#define COST_BORDER \
	1300u /* the GPU's: the border between two graphs, beyond that between two nodes */
#define COST_ALONE \
	800u /* the GPU's: that between two launches, beyond that between two nodes; 100 kernels of 5 \
	        us take 694 us, in a graph 615 */
