/* What a kernel carries of the stream that it is launched or captured in. Priorities: any_node.c. */
#include "conformance.h"

static CUstreamAttrValue window_of(CUdeviceptr memory)
{
	return (CUstreamAttrValue){.accessPolicyWindow = {.base_ptr = (void *)(uintptr_t)memory, .num_bytes = 128, .hitRatio = 1,
		.hitProp = CU_ACCESS_PROPERTY_PERSISTING, .missProp = CU_ACCESS_PROPERTY_STREAMING}};
}

static CUgraphNode captured(void)
{
	CUgraphNode node;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	capture_end();
	nodes(graph, &node, 1);
	return node;
}

static void a_captured_kernel_has_its_streams_access_policy_window(void)
{
	CUdeviceptr memory = words();
	CUstreamAttrValue window = window_of(memory);
	CUkernelNodeAttrValue told = {0};

	OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &window));
	OK(cuGraphKernelNodeGetAttribute(captured(), CU_KERNEL_NODE_ATTRIBUTE_ACCESS_POLICY_WINDOW, &told));
	TRUE(told.accessPolicyWindow.base_ptr == window.accessPolicyWindow.base_ptr);
	EQUAL(told.accessPolicyWindow.num_bytes, 128);
}

static void a_captured_kernel_has_its_streams_memory_domain(void)
{
	CUstreamAttrValue domain = {.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE};
	CUkernelNodeAttrValue told = {0};

	OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN, &domain));
	OK(cuGraphKernelNodeGetAttribute(captured(), CU_KERNEL_NODE_ATTRIBUTE_MEM_SYNC_DOMAIN, &told));
	EQUAL(told.memSyncDomain, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
}

static void attributes_are_copied_from_stream_to_stream(void)
{
	CUstreamAttrValue window = window_of(words()), told = {0};

	OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &window));
	OK(cuStreamCopyAttributes(other, stream));
	OK(cuStreamGetAttribute(other, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &told));
	EQUAL(told.accessPolicyWindow.num_bytes, 128);
}

/* The launch's own priority is in the node, whatever the stream's is. */
static void a_captured_kernel_has_the_priority_of_its_launch(void)
{
	CUlaunchAttribute own = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = -2};
	CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1, .hStream = stream,
		.attrs = &own, .numAttrs = 1};
	CUkernelNodeAttrValue told = {0};
	CUgraphNode node;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuLaunchKernelEx(&config, function("nothing"), NULL, NULL));
	capture_end();
	nodes(graph, &node, 1);
	OK(cuGraphKernelNodeGetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &told));
	EQUAL(told.priority, -2);
}

static void a_graph_may_use_its_nodes_priorities(void)
{
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphInstantiate(&exec, graph, CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY));
}

#define STREAM "Stream Management: "

const struct check carried_checks[] = {
	CHECK(a_captured_kernel_has_its_streams_access_policy_window, STREAM "cuStreamSetAttribute, that kernels of the stream have it; of captures not yet measured"),
	CHECK(a_captured_kernel_has_its_streams_memory_domain, STREAM "cuStreamSetAttribute, that kernels of the stream have it; of captures not yet measured"),
	CHECK(attributes_are_copied_from_stream_to_stream, STREAM "cuStreamCopyAttributes"),
	CHECK(a_captured_kernel_has_the_priority_of_its_launch, "Execution Control: cuLaunchKernelEx; not yet measured"),
	CHECK(a_graph_may_use_its_nodes_priorities, "Graph Management: cuGraphInstantiate"),
	CHECKS_END,
};
