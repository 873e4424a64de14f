/* Several devices in one process. */
#include "hazard.h"

#include <string.h>

/* Each device's own: its mirror, a place for what comes from the other, a stream. */
struct there {
	struct mirror mirror;
	uint32_t *y;
	cudaStream_t stream;
	cudaEvent_t done;
};

static void set_up(struct there devices[2], unsigned flags)
{
	int count, can;

	CHECK(cudaGetDeviceCount(&count));
	if (count < 2)
		hazard_skip("it takes two GPUs");
	CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
	for (int i = 0; i < 2; i++) {
		CHECK(cudaSetDevice(i));
		if (can)
			CHECK(cudaDeviceEnablePeerAccess(1 - i, 0));
		mirror_init(&devices[i].mirror);
		devices[i].y = device_words();
		CHECK(cudaStreamCreateWithFlags(&devices[i].stream, flags));
		CHECK(cudaEventCreateWithFlags(&devices[i].done, cudaEventDisableTiming));
	}
}

static void hand_over(struct there devices[2], int from)
{
	CHECK(cudaSetDevice(from));
	CHECK(cudaEventRecord(devices[from].done, devices[from].stream));
	CHECK(cudaSetDevice(1 - from));
	CHECK(cudaStreamWaitEvent(devices[1 - from].stream, devices[from].done, 0));
}

static void verify_both(struct there devices[2])
{
	for (int i = 0; i < 2; i++) {
		CHECK(cudaSetDevice(i));
		mirror_verify(&devices[i].mirror, ITERATIONS);
	}
	CHECK(cudaSetDevice(0));
}

/* Two devices work on each other's results by turns: there by name of both devices, back by
 * addresses alone; now and then within one device instead. */
static void peer_copies(void)
{
	struct there devices[2], *here = &devices[0], *there = &devices[1];
	uint32_t before[WORDS];

	set_up(devices, cudaStreamNonBlocking);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		int from = trap_at(i) ? 1 : 0;

		CHECK(cudaSetDevice(0));
		mirror_body(&here->mirror, here->stream);
		if (from == 0)
			CHECK(cudaMemcpyPeerAsync(there->y, 1, here->mirror.device, 0, sizeof(before),
			                          here->stream));
		hand_over(devices, 0);
		if (from == 1)
			CHECK(cudaMemcpyPeerAsync(there->y, 1, there->mirror.device, 1, sizeof(before),
			                          there->stream));
		memcpy(before, devices[from].mirror.host, sizeof(before));
		mirror_absorb(&there->mirror, there->y, before, there->stream);
		mirror_body(&there->mirror, there->stream);
		CHECK(cudaMemcpyAsync(here->y, there->mirror.device, sizeof(before), cudaMemcpyDefault,
		                      there->stream));
		hand_over(devices, 1);
		mirror_absorb(&here->mirror, here->y, there->mirror.host, here->stream);
	}
	verify_both(devices);
}

/* A copy from the other device on the legacy stream comes after what was issued there before, and
 * before what is issued there after. */
static void legacy_peer_copy(void)
{
	struct there devices[2], *here = &devices[0], *there = &devices[1];

	set_up(devices, cudaStreamDefault);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		unsigned middle = trap_at(i) ? i % BODY : BODY;

		CHECK(cudaSetDevice(1));
		for (unsigned k = 0; k < middle; k++)
			mirror_mix(&there->mirror, k, there->stream);
		CHECK(cudaSetDevice(0));
		CHECK(cudaMemcpyAsync(here->y, there->mirror.device, sizeof(there->mirror.host),
		                      cudaMemcpyDefault, cudaStreamLegacy));
		mirror_absorb(&here->mirror, here->y, there->mirror.host, cudaStreamLegacy);
		mirror_mix(&here->mirror, 3, cudaStreamLegacy);
		CHECK(cudaSetDevice(1));
		for (unsigned k = middle; k < BODY; k++)
			mirror_mix(&there->mirror, k, there->stream);
		CHECK(cudaStreamSynchronize(there->stream));
		CHECK(cudaSetDevice(0));
		CHECK(cudaStreamSynchronize(cudaStreamLegacy));
	}
	verify_both(devices);
}

/* Memory that a graph of one device takes for both, that the other device reads and writes by peer
 * access, and that another graph gives back. */
static void own_graph_launch_peers(void)
{
	struct cudaMemAccessDesc both = {.location = {.type = cudaMemLocationTypeDevice, .id = 1},
	                                 .flags = cudaMemAccessFlagsProtReadWrite};
	struct cudaMemAllocNodeParams memory = {
		.poolProps = {.allocType = cudaMemAllocationTypePinned,
	                  .location = {.type = cudaMemLocationTypeDevice, .id = 0}},
		.accessDescs = &both,
		.accessDescCount = 1,
		.bytesize = WORDS * sizeof(uint32_t),
	};
	struct there devices[2], *here = &devices[0], *there = &devices[1];
	cudaGraphExec_t take, give;
	cudaGraph_t taking, giving;
	struct mirror taken;
	cudaGraphNode_t node;
	int can;

	set_up(devices, cudaStreamNonBlocking);
	CHECK(cudaDeviceCanAccessPeer(&can, 1, 0));
	if (!can)
		hazard_skip("the second GPU has no access to the first one's memory");
	CHECK(cudaSetDevice(0));
	CHECK(cudaGraphCreate(&taking, 0));
	CHECK(cudaGraphAddMemAllocNode(&node, taking, NULL, 0, &memory));
	taken.device = memory.dptr;
	CHECK(cudaGraphAddMemcpyNode1D(&node, taking, &node, 1, taken.device, here->mirror.device,
	                               sizeof taken.host, cudaMemcpyDeviceToDevice));
	CHECK(cudaGraphInstantiate(&take, taking, 0));
	CHECK(cudaGraphCreate(&giving, 0));
	CHECK(cudaGraphAddMemcpyNode1D(&node, giving, NULL, 0, here->mirror.device, taken.device,
	                               sizeof taken.host, cudaMemcpyDeviceToDevice));
	CHECK(cudaGraphAddMemFreeNode(&node, giving, &node, 1, taken.device));
	CHECK(cudaGraphInstantiate(&give, giving, 0));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		CHECK(cudaSetDevice(0));
		mirror_body(&here->mirror, here->stream);
		memcpy(taken.host, here->mirror.host, sizeof taken.host);
		CHECK(cudaGraphLaunch(take, here->stream));
		hand_over(devices, 0);
		mirror_mix(&taken, trap_at(i) ? i : 4, there->stream);
		mirror_absorb(&there->mirror, taken.device, taken.host, there->stream);
		mirror_body(&there->mirror, there->stream);
		hand_over(devices, 1);
		CHECK(cudaGraphLaunch(give, here->stream));
		memcpy(here->mirror.host, taken.host, sizeof taken.host);
		mirror_body(&here->mirror, here->stream);
	}
	verify_both(devices);
}

const struct hazard device_hazards[] = {
	{"peer_copies", peer_copies},
	{"legacy_peer_copy", legacy_peer_copy},
	{"own_graph_launch_peers", own_graph_launch_peers},
	{NULL, NULL},
};
