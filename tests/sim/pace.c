#include "pace.h"

#include "options.h"
#include "sim.h"

#define AHEAD 1000 /* calls: between 1000 and 1100 on an H200 */

static uint64_t end;         /* when the GPU will be idle */
static uint64_t ends[AHEAD]; /* of the last calls */
static unsigned int calls;

static void give(uint64_t nanoseconds)
{
	uint64_t begin = sim_monotonic_ns();

	if (nanoseconds == 0)
		return;
	end = (end > begin ? end : begin + sim_options()->pace.start) + nanoseconds;
	ends[calls++ % AHEAD] = end;
	sim_pace_wait(ends[calls % AHEAD]);
}

void sim_pace_launch(void)
{
	give(sim_options()->pace.launch);
}

void sim_pace_graph(uint64_t nodes)
{
	give(nodes * sim_options()->pace.node);
}

uint64_t sim_pace_end(void)
{
	return end;
}

bool sim_pace_has_reached(uint64_t wanted)
{
	return wanted == 0 || sim_monotonic_ns() >= wanted;
}

void sim_pace_wait(uint64_t wanted)
{
	while (!sim_pace_has_reached(wanted)) {
		pthread_mutex_unlock(&sim_lock);
		pthread_mutex_lock(&sim_lock);
	}
}
