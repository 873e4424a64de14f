#include "graph/estimate.h"

#include <stdatomic.h>

#include "base/options.h"
#include "base/tuning.h"
#include "driver/driver.h"

static _Atomic uint64_t nodes_held, nodes_most, bytes_most;
static _Atomic uint64_t node_bytes = REPRISE_TUNE_NODE_BYTES;

/* By the builder. */
static uint64_t read_bytes = (uint64_t)REPRISE_TUNE_NODE_BYTES * REPRISE_TUNE_NODE_BYTES_WEIGHT,
				read_nodes = REPRISE_TUNE_NODE_BYTES_WEIGHT;
static unsigned int builds;

struct reprise_estimate_reading reprise_estimate_read_before(void)
{
	struct reprise_estimate_reading reading = {0};
	size_t all;
	bool wanted = builds < REPRISE_TUNE_NODE_READ_ALL || builds % REPRISE_TUNE_NODE_READ_ONE == 0;

	builds++;
	/* With more nodes before, the driver may reuse their memory: this build would seem to take
	 * none. */
	if (wanted && atomic_load(&nodes_held) >= atomic_load(&nodes_most))
		reading.taken = reprise_driver.cuMemGetInfo_v2(&reading.free, &all) == CUDA_SUCCESS;
	return reading;
}

void reprise_estimate_read_after(const struct reprise_estimate_reading *before, unsigned int nodes)
{
	size_t now, all;

	if (before->taken && reprise_driver.cuMemGetInfo_v2(&now, &all) == CUDA_SUCCESS)
		reprise_estimate_note((int64_t)before->free - (int64_t)now, nodes);
}

void reprise_estimate_note(int64_t taken, unsigned int nodes)
{
	uint64_t each;

	/* The program freed memory, or took more than a graph can. */
	if (taken < 0 ||
	    taken > REPRISE_TUNE_NODE_BLOCK + (int64_t)REPRISE_TUNE_NODE_BYTES_MOST * nodes)
		return;
	read_bytes += (uint64_t)taken;
	read_nodes += nodes;
	if (read_nodes > REPRISE_TUNE_NODE_FORGET) {
		read_bytes /= 2;
		read_nodes /= 2;
	}
	each = read_bytes / read_nodes;
	atomic_store(&node_bytes, each < REPRISE_TUNE_NODE_BYTES_LEAST  ? REPRISE_TUNE_NODE_BYTES_LEAST
	                          : each > REPRISE_TUNE_NODE_BYTES_MOST ? REPRISE_TUNE_NODE_BYTES_MOST
	                                                                : each);
}

void reprise_estimate_add(unsigned int nodes)
{
	uint64_t held = atomic_fetch_add(&nodes_held, nodes) + nodes;

	if (held > atomic_load(&nodes_most))
		atomic_store(&nodes_most, held);
	if (reprise_estimate_bytes() > atomic_load(&bytes_most))
		atomic_store(&bytes_most, reprise_estimate_bytes());
}

void reprise_estimate_remove(unsigned int nodes)
{
	atomic_fetch_sub(&nodes_held, nodes);
}

bool reprise_estimate_has_room(unsigned int nodes)
{
	return (atomic_load(&nodes_held) + nodes) * reprise_estimate_node_bytes() <=
	       reprise_option(REPRISE_OPTION_MEMORY) << 20;
}

uint64_t reprise_estimate_node_bytes(void)
{
	return atomic_load(&node_bytes);
}

uint64_t reprise_estimate_bytes(void)
{
	return atomic_load(&nodes_held) * reprise_estimate_node_bytes();
}

uint64_t reprise_estimate_most(void)
{
	return atomic_load(&bytes_most);
}

void reprise_estimate_reset(void)
{
	atomic_store(&nodes_held, 0);
	atomic_store(&nodes_most, 0);
	atomic_store(&bytes_most, 0);
}
