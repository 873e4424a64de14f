/* The program's own graphs of every kind, launched among hot launches. */
#include "hazard.h"

static struct cudaKernelNodeParams kernel_params(const void *kernel, unsigned threads,
                                                 void **parameters)
{
	return (struct cudaKernelNodeParams){.func = (void *)kernel,
	                                     .gridDim = {1, 1, 1},
	                                     .blockDim = {threads, 1, 1},
	                                     .kernelParams = parameters};
}

/* Each of these adds a node behind `after`, which may be NULL, and returns it. */
static cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t after, const void *kernel,
                                  unsigned threads, void **parameters)
{
	struct cudaKernelNodeParams params = kernel_params(kernel, threads, parameters);
	cudaGraphNode_t node;

	CHECK(cudaGraphAddKernelNode(&node, graph, after ? &after : NULL, after != NULL, &params));
	return node;
}

static cudaGraphNode_t add_mix(cudaGraph_t graph, cudaGraphNode_t after, uint32_t *x,
                               uint32_t argument)
{
	return add_kernel(graph, after, kernel_mix, WORDS, (void *[]){&x, &argument});
}

static cudaGraphNode_t add_copy(cudaGraph_t graph, cudaGraphNode_t after, uint32_t *to,
                                const uint32_t *from)
{
	cudaGraphNode_t node;

	CHECK(cudaGraphAddMemcpyNode1D(&node, graph, after ? &after : NULL, after != NULL, to, from,
	                               WORDS * sizeof *to, cudaMemcpyDeviceToDevice));
	return node;
}

static cudaGraphExec_t instantiate(cudaGraph_t graph, unsigned flags)
{
	cudaGraphExec_t exec;

	CHECK(cudaGraphInstantiate(&exec, graph, flags));
	return exec;
}

/* A graph that is launched again and again, and what its launch does to the mirror. */
struct own_graph {
	cudaGraphExec_t exec;
	cudaGraphNode_t changing; /* the first mix, whose argument is set now and then; NULL: by an
	                             update of the whole graph */
	uint32_t argument;
	uint32_t then[4]; /* the arguments of the mixes that follow */
	unsigned count;
};

static void launch_own(const struct own_graph *own, struct mirror *mirror, cudaStream_t stream)
{
	CHECK(cudaGraphLaunch(own->exec, stream));
	mirror_mixed(mirror, own->argument);
	for (unsigned i = 0; i < own->count; i++)
		mirror_mixed(mirror, own->then[i]);
}

static cudaGraph_t chain_of(const struct own_graph *own, const struct mirror *mirror)
{
	cudaGraphNode_t node;
	cudaGraph_t graph;

	CHECK(cudaGraphCreate(&graph, 0));
	node = add_mix(graph, NULL, mirror->device, own->argument);
	for (unsigned i = 0; i < own->count; i++)
		node = add_mix(graph, node, mirror->device, own->then[i]);
	return graph;
}

static void set_argument(struct own_graph *own, const struct mirror *mirror, uint32_t argument)
{
	own->argument = argument;
	if (own->changing) {
		struct cudaKernelNodeParams params =
			kernel_params(kernel_mix, WORDS, (void *[]){(void *)&mirror->device, &argument});

		CHECK(cudaGraphExecKernelNodeSetParams(own->exec, own->changing, &params));
	} else {
		cudaGraph_t graph = chain_of(own, mirror);
		cudaGraphExecUpdateResultInfo info;

		CHECK(cudaGraphExecUpdate(own->exec, graph, &info));
		CHECK(cudaGraphDestroy(graph));
	}
}

static struct own_graph with_updates(const struct mirror *mirror)
{
	struct own_graph own = {.then = {5, 6, 7}, .count = 3};

	own.exec = instantiate(chain_of(&own, mirror), 0);
	return own;
}

/* By way of memory that the graph takes and gives back, then a child graph. */
static struct own_graph with_memory_and_child(const struct mirror *mirror)
{
	struct cudaMemAllocNodeParams memory = {
		.poolProps = {.allocType = cudaMemAllocationTypePinned,
	                  .location = {.type = cudaMemLocationTypeDevice}},
		.bytesize = WORDS * sizeof(uint32_t),
	};
	struct own_graph own = {.then = {1, 2, 3}, .count = 3};
	cudaGraph_t graph, child;
	cudaGraphNode_t node;

	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphCreate(&child, 0));
	own.changing = add_mix(graph, NULL, mirror->device, 0);
	CHECK(cudaGraphAddMemAllocNode(&node, graph, &own.changing, 1, &memory));
	node = add_copy(graph, node, memory.dptr, mirror->device);
	node = add_mix(graph, node, memory.dptr, own.then[0]);
	node = add_copy(graph, node, mirror->device, memory.dptr);
	CHECK(cudaGraphAddMemFreeNode(&node, graph, &node, 1, memory.dptr));
	add_mix(child, add_mix(child, NULL, mirror->device, own.then[1]), mirror->device, own.then[2]);
	CHECK(cudaGraphAddChildGraphNode(&node, graph, &node, 1, child));
	own.exec = instantiate(graph, 0);
	return own;
}

/* A loop in the graph, whose body runs four times. */
static struct own_graph with_loop(const struct mirror *mirror)
{
	struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeConditional,
	                                     .conditional = {.type = cudaGraphCondTypeWhile,
	                                                     .size = 1}};
	struct own_graph own = {.then = {9, 9, 9, 9}, .count = 4};
	uint32_t *count = device_words();
	cudaGraphNode_t node;
	cudaGraph_t graph, body;

	CHECK(cudaGraphCreate(&graph, 0));
	own.changing = add_mix(graph, NULL, mirror->device, 0);
	CHECK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 1,
	                                       cudaGraphCondAssignDefault));
	CHECK(cudaGraphAddNode(&node, graph, &own.changing, NULL, 1, &params));
	body = params.conditional.phGraph_out[0];
	add_kernel(body, add_mix(body, NULL, mirror->device, own.then[0]), kernel_count_down, 1,
	           (void *[]){&count, &own.count, &params.conditional.handle});
	own.exec = instantiate(graph, 0);
	return own;
}

/* A graph whose last kernel launches another from the device: within its own time, or behind it. */
static struct own_graph with_device_launch(const struct mirror *mirror, uint32_t as_tail)
{
	struct own_graph own = {.argument = 1, .then = {2}, .count = 1};
	cudaGraph_t graph, launched_graph = chain_of(&own, mirror);
	cudaGraphExec_t launched = instantiate(launched_graph, cudaGraphInstantiateFlagDeviceLaunch);

	CHECK(cudaGraphUpload(launched, cudaStreamPerThread));
	CHECK(cudaStreamSynchronize(cudaStreamPerThread));
	CHECK(cudaGraphCreate(&graph, 0));
	own = (struct own_graph){.then = {1, 2}, .count = 2};
	own.changing = add_mix(graph, NULL, mirror->device, 0);
	add_kernel(graph, own.changing, kernel_launch_graph, 1, (void *[]){&launched, &as_tail});
	own.exec = instantiate(graph, 0);
	return own;
}

/* Launches two graphs by turns among hot launches, and sets an argument of theirs now and then. */
static void loop_with(struct mirror *mirror, struct own_graph first, struct own_graph second)
{
	struct own_graph *turns[] = {&first, &second};
	cudaStream_t stream;

	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		struct own_graph *own = turns[i % 2];

		mirror_body(mirror, stream);
		if (trap_at(i)) {
			set_argument(own, mirror, i);
			mirror_mix(mirror, scramble(0), stream); /* what is hot is left in its middle */
		}
		launch_own(own, mirror, stream);
		mirror_body(mirror, stream);
		if (i % 3 == 0)
			CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(mirror, ITERATIONS);
}

static void own_graph_launch(void)
{
	struct mirror mirror;

	mirror_init(&mirror);
	loop_with(&mirror, with_updates(&mirror), with_memory_and_child(&mirror));
}

static void own_graph_launch_loop(void)
{
	struct mirror mirror;

	mirror_init(&mirror);
	loop_with(&mirror, with_updates(&mirror), with_loop(&mirror));
}

static void own_graph_launch_device(void)
{
	struct mirror mirror;

	mirror_init(&mirror);
	loop_with(&mirror, with_device_launch(&mirror, 0), with_device_launch(&mirror, 1));
}

const struct hazard graph_hazards[] = {
	{"own_graph_launch", own_graph_launch},
	{"own_graph_launch_loop", own_graph_launch_loop},
	{"own_graph_launch_device", own_graph_launch_device},
	{NULL, NULL},
};
