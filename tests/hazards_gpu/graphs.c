/* The program's own graphs of every kind, launched among hot launches. */
#include <stdio.h>
#include <string.h>

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
	bool fixed; /* no argument is set */
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
	if (own->fixed)
		return;
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

/* A device graph, which the device may launch. */
static cudaGraphExec_t for_device(cudaGraph_t graph)
{
	cudaGraphExec_t exec = instantiate(graph, cudaGraphInstantiateFlagDeviceLaunch);

	CHECK(cudaGraphUpload(exec, cudaStreamPerThread));
	CHECK(cudaStreamSynchronize(cudaStreamPerThread));
	return exec;
}

static cudaGraphExec_t chain_for_device(const struct mirror *mirror, uint32_t argument)
{
	struct own_graph chain = {.argument = argument};

	return for_device(chain_of(&chain, mirror));
}

/* A mix, then a kernel that launches `launched` from the device. */
static cudaGraph_t launching(const struct mirror *mirror, uint32_t argument,
                             cudaGraphExec_t launched, uint32_t how, cudaGraphNode_t *mix)
{
	uint32_t *refused = device_words();
	cudaGraph_t graph;

	CHECK(cudaGraphCreate(&graph, 0));
	*mix = add_mix(graph, NULL, mirror->device, argument);
	add_kernel(graph, *mix, kernel_launch_graph, 1, (void *[]){&launched, &how, &refused});
	return graph;
}

/* A graph whose last kernel launches another from the device: within its own time, or behind it. */
static struct own_graph with_device_launch(const struct mirror *mirror, uint32_t how)
{
	struct own_graph own = {.then = {1}, .count = 1};

	own.exec =
		instantiate(launching(mirror, 0, chain_for_device(mirror, 1), how, &own.changing), 0);
	return own;
}

/* The same, where the other launches a third as its sibling. */
static struct own_graph with_sibling(const struct mirror *mirror)
{
	struct own_graph own = {.then = {1, 2}, .count = 2};
	cudaGraphNode_t mix;
	cudaGraphExec_t launched =
		for_device(launching(mirror, 1, chain_for_device(mirror, 2), GRAPH_BESIDE, &mix));

	own.exec = instantiate(launching(mirror, 0, launched, GRAPH_WITHIN, &own.changing), 0);
	return own;
}

/* A device graph that launches itself by a tail launch, and so runs four times. */
static struct own_graph with_itself(const struct mirror *mirror)
{
	struct own_graph own = {.argument = 3, .then = {3, 3, 3}, .count = 3, .fixed = true};
	uint32_t *count = device_words(), times = 4;
	cudaGraph_t graph;

	CHECK(cudaGraphCreate(&graph, 0));
	add_kernel(graph, add_mix(graph, NULL, mirror->device, 3), kernel_relaunch, 1,
	           (void *[]){&count, &times});
	own.exec = for_device(graph);
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
	loop_with(&mirror, with_device_launch(&mirror, GRAPH_WITHIN),
	          with_device_launch(&mirror, GRAPH_BEHIND));
}

static void own_graph_launch_itself(void)
{
	struct mirror mirror;

	mirror_init(&mirror);
	loop_with(&mirror, with_sibling(&mirror), with_itself(&mirror));
}

static uint32_t word_of(const uint32_t *device)
{
	uint32_t word;

	CHECK(cudaMemcpy(&word, device, sizeof word, cudaMemcpyDeviceToHost));
	return word;
}

static cudaGraphExec_t launched_now_and_then;

static void launch_now_and_then(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	(void)mirror;
	(void)trap;
	if (i % 8 == 0)
		CHECK(cudaGraphLaunch(launched_now_and_then, stream));
}

/* A graph that launches all of these from the device. *refused counts what that is refused for. */
static cudaGraphExec_t launching_all(const cudaGraphExec_t *graphs, uint32_t count, uint32_t how,
                                     uint32_t *refused)
{
	cudaGraphExec_t *on_device;
	cudaGraph_t graph;

	CHECK(cudaMalloc((void **)&on_device, count * sizeof *graphs));
	CHECK(cudaMemcpy(on_device, graphs, count * sizeof *graphs, cudaMemcpyHostToDevice));
	CHECK(cudaGraphCreate(&graph, 0));
	add_kernel(graph, NULL, kernel_launch_graphs, 1,
	           (void *[]){&on_device, &count, &how, &refused});
	return instantiate(graph, 0);
}

/* Each of the graphs that are launched has an array of its own. */
static void launch_more_than_may_be(uint32_t more, uint32_t how)
{
	enum { MOST = 260 };
	uint32_t *refused = device_words(), total = 0;
	cudaGraphExec_t graphs[MOST];
	struct mirror others[MOST];

	for (uint32_t i = 0; i < more; i++) {
		others[i].device = device_words();
		graphs[i] = chain_for_device(&others[i], i);
	}
	launched_now_and_then = launching_all(graphs, more, how, refused);
	among_hot(launch_now_and_then);
	for (uint32_t i = 0; i < more; i++)
		total = total * MIX_FACTOR + word_of(others[i].device);
	printf("refused %u of %u, launched %08x\n", word_of(refused), more * ((ITERATIONS + 7) / 8),
	       total);
}

/* A graph may launch 120 others from the device within itself, for each of its own launches. */
static void own_graph_launch_many(void)
{
	launch_more_than_may_be(130, GRAPH_WITHIN);
}

/* It may have 255 others pending behind itself. */
static void own_graph_launch_tails(void)
{
	launch_more_than_may_be(260, GRAPH_BEHIND);
}

/* A graph launches two others behind itself, and the first of these a third: that comes before the
 * second. */
static void own_graph_launch_order(void)
{
	uint32_t *refused = device_words();
	cudaGraphExec_t behind[2], exec;
	struct mirror mirror;
	cudaStream_t stream;
	cudaGraphNode_t mix;

	mirror_init(&mirror);
	behind[0] = for_device(launching(&mirror, 1, chain_for_device(&mirror, 2), GRAPH_BEHIND, &mix));
	behind[1] = chain_for_device(&mirror, 3);
	exec = launching_all(behind, 2, GRAPH_BEHIND, refused);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		CHECK(cudaGraphLaunch(exec, stream));
		for (uint32_t argument = 1; argument <= 3; argument++)
			mirror_mixed(&mirror, argument);
		mirror_body(&mirror, stream);
		if (i % 3 == 0)
			CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
	EXPECT(word_of(refused) == 0, "%u launches were refused", word_of(refused));
}

/*
 * A device graph that is uploaded as it is instantiated, and that the host changes now and then: by
 * its node, and as a whole. After that it has to be uploaded again, which a launch from the host
 * does, too.
 */
static void own_graph_launch_uploads(void)
{
	cudaGraphInstantiateParams params = {.flags = cudaGraphInstantiateFlagDeviceLaunch |
	                                              cudaGraphInstantiateFlagUpload};
	struct own_graph launched = {.argument = 1};
	cudaGraphExec_t exec;
	struct mirror mirror;
	cudaStream_t stream;
	cudaGraphNode_t mix, first;
	cudaGraph_t graph;
	unsigned changes = 0;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaGraphCreate(&graph, 0));
	mix = add_mix(graph, NULL, mirror.device, launched.argument);
	params.uploadStream = stream;
	CHECK(cudaGraphInstantiateWithParams(&launched.exec, graph, &params));
	CHECK(cudaStreamSynchronize(stream));
	exec = instantiate(launching(&mirror, 0, launched.exec, GRAPH_WITHIN, &first), 0);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		if (trap_at(i)) {
			CHECK(cudaStreamSynchronize(stream)); /* it must not be launched meanwhile */
			launched.changing = ++changes % 2 ? mix : NULL;
			set_argument(&launched, &mirror, i);
			if (changes / 2 % 2)
				launch_own(&launched, &mirror, stream);
			else
				CHECK(cudaGraphUpload(launched.exec, stream));
		}
		CHECK(cudaGraphLaunch(exec, stream));
		mirror_mixed(&mirror, 0);
		mirror_mixed(&mirror, launched.argument);
		mirror_body(&mirror, stream);
		if (i % 3 == 0)
			CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* A device graph with a node of each kind that it may have, and a cooperative kernel. */
static cudaGraphExec_t of_all_kinds(const struct mirror *mirror)
{
	cudaKernelNodeAttrValue cooperative = {.cooperative = 1};
	uint32_t *y = device_words(), *count = device_words(), argument = 5;
	struct cudaMemsetParams words = {
		.dst = y + 8, .value = 0x01020304, .elementSize = sizeof *y, .width = 16, .height = 1};
	struct cudaKernelNodeParams crowd =
		kernel_params(kernel_crowd, 8, (void *[]){(void *)&mirror->device, &count, &argument});
	cudaGraph_t graph, child;
	cudaGraphNode_t node;

	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphCreate(&child, 0));
	add_mix(child, add_mix(child, NULL, y, 2), y, 3);
	node = add_mix(graph, NULL, mirror->device, 1);
	node = add_copy(graph, node, y, mirror->device);
	CHECK(cudaGraphAddMemsetNode(&node, graph, &node, 1, &words));
	CHECK(cudaGraphAddChildGraphNode(&node, graph, &node, 1, child));
	node = add_copy(graph, node, mirror->device, y);
	crowd.gridDim.x = 8;
	CHECK(cudaGraphAddKernelNode(&node, graph, &node, 1, &crowd));
	CHECK(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeCooperative, &cooperative));
	return for_device(graph);
}

static void own_graph_launch_kinds(void)
{
	struct mirror mirror;
	cudaGraphExec_t exec;
	cudaStream_t stream;
	cudaGraphNode_t mix;

	mirror_init(&mirror);
	exec = instantiate(launching(&mirror, 0, of_all_kinds(&mirror), GRAPH_WITHIN, &mix), 0);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		CHECK(cudaGraphLaunch(exec, stream));
		mirror_mixed(&mirror, 0);
		mirror_mixed(&mirror, 1);
		for (unsigned word = 8; word < 24; word++)
			mirror.host[word] = 0x01020304;
		mirror_mixed(&mirror, 2);
		mirror_mixed(&mirror, 3);
		mirror.host[0] = mirror.host[0] * MIX_FACTOR + 8 + 5;
		mirror_body(&mirror, stream);
		if (i % 3 == 0)
			CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

static cudaGraphExec_t launched_from_stream;
static uint32_t *refused_to_stream;
static unsigned launches_refused;
static cudaError_t refused_last = cudaSuccess;

static void launch_from_stream(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	uint32_t how = GRAPH_WITHIN;

	(void)mirror;
	(void)i;
	(void)trap;
	if (cudaLaunchKernel(kernel_launch_graph, (dim3){1, 1, 1}, (dim3){1, 1, 1},
	                     (void *[]){&launched_from_stream, &how, &refused_to_stream}, 0,
	                     stream) != cudaSuccess) {
		launches_refused++;
		refused_last = cudaGetLastError();
	}
}

/*
 * A kernel that is in no graph of the program's launches a device graph. CUDA allows that only from
 * within a graph: an H200 refuses the kernel itself (cudaErrorNotSupported). If Reprise replayed it
 * from a graph, it might run. What the calls return without Reprise is printed, and compared.
 */
static void device_graph_from_stream(void)
{
	struct mirror other;

	mirror_init(&other);
	launched_from_stream = chain_for_device(&other, 5);
	refused_to_stream = device_words();
	among_hot(launch_from_stream);
	printf("refused %u kernels (%s) and %u graphs of %u, launched %08x\n", launches_refused,
	       cudaGetErrorName(refused_last), word_of(refused_to_stream), ITERATIONS,
	       word_of(other.device));
}

static uint32_t *in_device_graph;

static void ask(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream)
{
	(void)mirror;
	(void)i;
	(void)trap;
	launch(kernel_in_device_graph, 1, WORDS, (void *[]){&in_device_graph}, stream);
}

/* A kernel asks whether it is in a device graph. Reprise's graphs are host graphs, so it is in
 * none.
 */
static void device_graph_asked_for(void)
{
	in_device_graph = device_words();
	among_hot(ask);
	EXPECT(word_of(in_device_graph) == 0, "%u of %u kernels were in a device graph",
	       word_of(in_device_graph), ITERATIONS);
}

/* A graph with a conditional node, which runs its bodies by turns. */
static struct own_graph with_choice(const struct mirror *mirror, uint32_t choices,
                                    enum cudaGraphConditionalNodeType type)
{
	struct cudaGraphNodeParams params = {.type = cudaGraphNodeTypeConditional,
	                                     .conditional = {.type = type, .size = choices}};
	struct own_graph own = {.argument = 4};
	uint32_t *count = device_words();
	cudaGraphNode_t node;
	cudaGraph_t graph;

	CHECK(cudaGraphCreate(&graph, 0));
	node = add_mix(graph, NULL, mirror->device, own.argument);
	CHECK(cudaGraphConditionalHandleCreate(&params.conditional.handle, graph, 0,
	                                       cudaGraphCondAssignDefault));
	node = add_kernel(graph, node, kernel_choose, 1,
	                  (void *[]){&count, &choices, &params.conditional.handle});
	CHECK(cudaGraphAddNode(&node, graph, &node, NULL, 1, &params));
	for (uint32_t i = 0; i < choices; i++)
		add_mix(params.conditional.phGraph_out[i], NULL, mirror->device, 20 + i);
	own.exec = instantiate(graph, 0);
	return own;
}

static void own_graph_launch_choices(void)
{
	enum { CHOICES = 3 };
	struct mirror mirror;
	cudaStream_t stream;

	mirror_init(&mirror);

	struct own_graph of_three = with_choice(&mirror, CHOICES, cudaGraphCondTypeSwitch),
					 of_two = with_choice(&mirror, 2, cudaGraphCondTypeIf);

	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		launch_own(&of_three, &mirror, stream);
		mirror_mixed(&mirror, 20 + i % CHOICES);
		mirror_body(&mirror, stream);
		launch_own(&of_two, &mirror, stream);
		mirror_mixed(&mirror, 20 + (i % 2 == 0)); /* the second body is for a condition of 0 */
		if (i % 3 == 0)
			CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* A node that the device sets and disables, and one that the host does. */
static void own_graph_launch_nodes_set(void)
{
	cudaKernelNodeAttrValue value = {.deviceUpdatableKernelNode = {.deviceUpdatable = 1}};
	uint32_t *count = device_words();
	uint64_t offset = sizeof count; /* of the mix's argument */
	cudaGraphNode_t by_device, by_host, setter;
	cudaGraphExec_t exec;
	struct mirror mirror;
	cudaStream_t stream;
	cudaGraph_t graph;

	mirror_init(&mirror);
	CHECK(cudaGraphCreate(&graph, 0));
	by_device = add_mix(graph, NULL, mirror.device, 0);
	CHECK(cudaGraphKernelNodeSetAttribute(by_device, cudaLaunchAttributeDeviceUpdatableKernelNode,
	                                      &value));
	CHECK(cudaGraphKernelNodeGetAttribute(by_device, cudaLaunchAttributeDeviceUpdatableKernelNode,
	                                      &value));
	setter = add_kernel(graph, NULL, kernel_set_node, 1,
	                    (void *[]){&value.deviceUpdatableKernelNode.devNode, &offset, &count});
	CHECK(cudaGraphAddDependencies(graph, &setter, &by_device, NULL, 1));
	by_host = add_mix(graph, by_device, mirror.device, 9);
	exec = instantiate(graph, 0);
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaGraphUpload(exec, stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		CHECK(cudaGraphNodeSetEnabled(exec, by_host, i % 2));
		CHECK(cudaGraphLaunch(exec, stream));
		if (i % 3 != 0)
			mirror_mixed(&mirror, i);
		if (i % 2)
			mirror_mixed(&mirror, 9);
		mirror_body(&mirror, stream);
		if (i % 3 == 0)
			CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* Memory that one graph takes, that hot launches use, and that another graph gives back or the
 * first one takes again. */
static void own_graph_launch_memory(void)
{
	struct cudaMemAllocNodeParams memory = {
		.poolProps = {.allocType = cudaMemAllocationTypePinned,
	                  .location = {.type = cudaMemLocationTypeDevice}},
		.bytesize = WORDS * sizeof(uint32_t),
	};
	cudaGraph_t taking, giving;
	cudaGraphExec_t take, give;
	struct mirror mirror;
	cudaGraphNode_t node;
	cudaStream_t stream;
	uint32_t *y;

	mirror_init(&mirror);
	CHECK(cudaGraphCreate(&taking, 0));
	CHECK(cudaGraphAddMemAllocNode(&node, taking, NULL, 0, &memory));
	y = memory.dptr;
	add_copy(taking, node, y, mirror.device);
	take = instantiate(taking, cudaGraphInstantiateFlagAutoFreeOnLaunch);
	CHECK(cudaGraphCreate(&giving, 0));
	node = add_copy(giving, NULL, mirror.device, y);
	CHECK(cudaGraphAddMemFreeNode(&node, giving, &node, 1, y));
	give = instantiate(giving, 0);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		struct mirror taken = mirror;

		taken.device = y;
		mirror_body(&mirror, stream);
		memcpy(taken.host, mirror.host, sizeof mirror.host);
		CHECK(cudaGraphLaunch(take, stream));
		mirror_body(&taken, stream);
		if (i % 4 == 1)
			continue; /* the next launch gives it back first */
		memcpy(mirror.host, taken.host, sizeof mirror.host);
		if (i % 4 == 2) {
			CHECK(cudaMemcpyAsync(mirror.device, y, sizeof mirror.host, cudaMemcpyDeviceToDevice,
			                      stream));
			CHECK(cudaFreeAsync(y, stream));
		} else {
			CHECK(cudaGraphLaunch(give, stream));
		}
		if (i % 3 == 0)
			CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/*
 * Kernels that launch kernels, in a graph of the program's own, with no launch of Reprise's in
 * between: it says whether the driver keeps their order there, also when other programs use the
 * GPU. Reprise leaves such kernels eager since replayed ones had wrong results once.
 */
static void dynamic_parallelism_graph(void)
{
	struct mirror mirror;
	cudaGraphNode_t node = NULL;
	cudaGraphExec_t exec;
	cudaStream_t stream;
	cudaGraph_t graph;
	uint32_t k;

	mirror_init(&mirror);
	CHECK(cudaGraphCreate(&graph, 0));
	for (k = 0; k < 4; k++) {
		uint32_t argument = 10 * k;

		node = add_kernel(graph, node, kernel_parent, WORDS, (void *[]){&mirror.device, &argument});
		node = add_mix(graph, node, mirror.device, k);
		node = add_kernel(graph, node, kernel_spawn, 1, (void *[]){&mirror.device, &argument});
		node = add_mix(graph, node, mirror.device, k + 1);
	}
	exec = instantiate(graph, 0);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		CHECK(cudaGraphLaunch(exec, stream));
		for (k = 0; k < 4; k++) {
			for (uint32_t mixed = 0; mixed < 3; mixed++)
				mirror_mixed(&mirror, 10 * k + mixed);
			mirror_mixed(&mirror, k);
			mirror_mixed(&mirror, 10 * k);
			mirror_mixed(&mirror, k + 1);
		}
		mirror_mix(&mirror, 1, stream); /* what is launched behind the graph */
		if (i % 3)
			CHECK(cudaStreamSynchronize(stream));
		if (i % 100 == 99)
			mirror_verify(&mirror, i);
	}
	mirror_verify(&mirror, ITERATIONS);
}

const struct hazard graph_hazards[] = {
	{"own_graph_launch", own_graph_launch},
	{"own_graph_launch_loop", own_graph_launch_loop},
	{"own_graph_launch_device", own_graph_launch_device},
	{"own_graph_launch_itself", own_graph_launch_itself},
	{"own_graph_launch_many", own_graph_launch_many},
	{"own_graph_launch_tails", own_graph_launch_tails},
	{"own_graph_launch_order", own_graph_launch_order},
	{"own_graph_launch_uploads", own_graph_launch_uploads},
	{"own_graph_launch_kinds", own_graph_launch_kinds},
	{"device_graph_from_stream", device_graph_from_stream},
	{"device_graph_asked_for", device_graph_asked_for},
	{"own_graph_launch_choices", own_graph_launch_choices},
	{"own_graph_launch_nodes_set", own_graph_launch_nodes_set},
	{"own_graph_launch_memory", own_graph_launch_memory},
	{"dynamic_parallelism_graph", dynamic_parallelism_graph},
	{NULL, NULL},
};
