/* The program's own graphs, launched between what Reprise replays. */
#include "hazard.h"

static CUDA_KERNEL_NODE_PARAMS kernel_params(CUfunction function, void **params)
{
	return (CUDA_KERNEL_NODE_PARAMS){.func = function,
	                                 .gridDimX = 1,
	                                 .gridDimY = 1,
	                                 .gridDimZ = 1,
	                                 .blockDimX = WORDS,
	                                 .blockDimY = 1,
	                                 .blockDimZ = 1,
	                                 .kernelParams = params};
}

static CUgraphNode add_kernel(CUgraph graph, CUgraphNode after, CUfunction function, CUdeviceptr x,
                              unsigned argument)
{
	CUDA_KERNEL_NODE_PARAMS params = kernel_params(function, (void *[]){&x, &hazard_y, &argument});
	CUgraphNode node;

	CHECK(
		cuGraphAddKernelNode(&node, graph, after != NULL ? &after : NULL, after != NULL, &params));
	return node;
}

static CUgraphNode add_copy(CUgraph graph, CUgraphNode after, CUdeviceptr to, CUdeviceptr from)
{
	CUDA_MEMCPY3D params = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                        .srcDevice = from,
	                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                        .dstDevice = to,
	                        .WidthInBytes = WORDS * 4,
	                        .Height = 1,
	                        .Depth = 1};
	CUgraphNode node;

	CHECK(cuGraphAddMemcpyNode(&node, graph, &after, 1, &params, hazard_context));
	return node;
}

/* mix, then by way of memory that the graph itself takes and gives back, then a child graph of two.
 * *first is the first node. */
static CUgraph make_graph(unsigned argument, CUgraphNode *first)
{
	CUDA_MEM_ALLOC_NODE_PARAMS memory = {
		.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	                  .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = hazard_device}},
		.bytesize = WORDS * 4};
	CUgraph graph, child;
	CUgraphNode node;

	CHECK(cuGraphCreate(&graph, 0));
	CHECK(cuGraphCreate(&child, 0));
	*first = add_kernel(graph, NULL, hazard_mix, hazard_x, argument);
	CHECK(cuGraphAddMemAllocNode(&node, graph, first, 1, &memory));
	node = add_copy(graph, node, memory.dptr, hazard_x);
	node = add_kernel(graph, node, hazard_turn, memory.dptr, 2);
	node = add_copy(graph, node, hazard_x, memory.dptr);
	CHECK(cuGraphAddMemFreeNode(&node, graph, &node, 1, memory.dptr));
	add_kernel(child, add_kernel(child, NULL, hazard_turn, hazard_x, 3), hazard_mix, hazard_x, 4);
	CHECK(cuGraphAddChildGraphNode(&node, graph, &node, 1, child));
	CHECK(cuGraphDestroy(child));
	return graph;
}

/* A plain chain, as the program would capture it, for whole updates. */
static CUgraph make_chain(unsigned argument)
{
	CUgraphNode node = NULL;
	CUgraph graph;

	CHECK(cuGraphCreate(&graph, 0));
	for (unsigned i = 0; i < 5; i++)
		node = add_kernel(graph, node, i % 2 ? hazard_turn : hazard_mix, hazard_x, argument + i);
	return graph;
}

/* Two graphs among hot launches: one with memory and a child, whose first node is set now and then,
 * and one that is updated as a whole. */
static void own_graph_launch(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CUgraphNode first;
	CUgraph graph = make_graph(1, &first), chain = make_chain(1);
	CUgraphExec executable, executable_chain;

	CHECK(cuGraphInstantiate(&executable, graph, 0));
	CHECK(cuGraphInstantiate(&executable_chain, chain, 0));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		if (hazard_springs(iteration)) {
			CUDA_KERNEL_NODE_PARAMS params =
				kernel_params(hazard_mix, (void *[]){&hazard_x, &hazard_y, &iteration});
			CUgraphExecUpdateResultInfo info;
			CUgraph other = make_chain(iteration);

			CHECK(cuGraphExecKernelNodeSetParams(executable, first, &params));
			CHECK(cuGraphExecUpdate(executable_chain, other, &info));
			CHECK(cuGraphDestroy(other));
		}
		CHECK(cuGraphLaunch(executable, stream));
		hazard_chain(hazard_x, stream);
		CHECK(cuGraphLaunch(executable_chain, stream));
		if (iteration % 3 == 0)
			CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
	CHECK(cuGraphExecDestroy(executable));
	CHECK(cuGraphExecDestroy(executable_chain));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuGraphDestroy(chain));
}

const struct hazard graph_hazards[] = {
	{"own_graph_launch", own_graph_launch},
	{NULL, NULL},
};
