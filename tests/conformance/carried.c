/* What a kernel carries of the stream that it is launched or captured in. Priorities: any_node.c.
 */
#include "conformance.h"

static CUstreamAttrValue window_of(CUdeviceptr memory)
{
	return (CUstreamAttrValue){.accessPolicyWindow = {.base_ptr = (void *)(uintptr_t)memory,
	                                                  .num_bytes = 128,
	                                                  .hitRatio = 1,
	                                                  .hitProp = CU_ACCESS_PROPERTY_PERSISTING,
	                                                  .missProp = CU_ACCESS_PROPERTY_STREAMING}};
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
	OK(cuGraphKernelNodeGetAttribute(captured(), CU_KERNEL_NODE_ATTRIBUTE_ACCESS_POLICY_WINDOW,
	                                 &told));
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
	CUlaunchConfig config = {.gridDimX = 1,
	                         .gridDimY = 1,
	                         .gridDimZ = 1,
	                         .blockDimX = 1,
	                         .blockDimY = 1,
	                         .blockDimZ = 1,
	                         .hStream = stream,
	                         .attrs = &own,
	                         .numAttrs = 1};
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

/* ---- default streams: an attribute that is set there would stay for the checks that follow, so
 * each has a process of its own ---- */

static void set_domain(CUstream of)
{
	CUstreamAttrValue domain = {.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE};

	OK(cuStreamSetAttribute(of, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN, &domain));
}

static void has_domain(CUstream of, CUlaunchMemSyncDomain wanted)
{
	CUstreamAttrValue told = {0};

	OK(cuStreamGetAttribute(of, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN, &told));
	EQUAL(told.memSyncDomain, wanted);
}

static void node_has_domain(CUgraphNode node, CUlaunchMemSyncDomain wanted)
{
	CUkernelNodeAttrValue told = {0};

	OK(cuGraphKernelNodeGetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_MEM_SYNC_DOMAIN, &told));
	EQUAL(told.memSyncDomain, wanted);
}

static void the_legacy_stream_keeps_attributes(void)
{
	set_domain(CU_STREAM_LEGACY);
	has_domain(CU_STREAM_LEGACY, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
	has_domain(NULL, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
	has_domain(CU_STREAM_PER_THREAD, CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT);
	has_domain(stream, CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT);
}

static void other_legacy_stream_has_none(void)
{
	CUcontext second;
	CUdevice device;

	OK(cuCtxGetDevice(&device));
	OK(cuCtxCreate(&second, NULL, 0, device));
	has_domain(CU_STREAM_LEGACY, CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT);
	OK(cuCtxDestroy(second));
}

static void each_context_has_a_legacy_stream_with_its_own_attributes(void)
{
	set_domain(CU_STREAM_LEGACY);
	in_thread(other_legacy_stream_has_none);
	has_domain(CU_STREAM_LEGACY, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
}

static void own_stream_has_none(void)
{
	has_domain(CU_STREAM_PER_THREAD, CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT);
	has_domain(CU_STREAM_LEGACY, CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT);
}

static void a_threads_own_stream_keeps_attributes(void)
{
	set_domain(CU_STREAM_PER_THREAD);
	has_domain(CU_STREAM_PER_THREAD, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
	in_thread(own_stream_has_none);
}

/* What kernels of a stream have that took over those of another. */
static void copied_from(CUstream source)
{
	set_domain(source);
	OK(cuStreamCopyAttributes(stream, source));
	has_domain(stream, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
	node_has_domain(captured(), CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
}

static void a_captured_kernel_has_what_its_stream_copied(void)
{
	copied_from(other);
}
static void a_captured_kernel_has_what_its_stream_copied_of_the_legacy_one(void)
{
	copied_from(CU_STREAM_LEGACY);
}
static void a_captured_kernel_has_what_its_stream_copied_of_a_threads_own(void)
{
	copied_from(CU_STREAM_PER_THREAD);
}

static void attributes_are_copied_to_default_streams(void)
{
	set_domain(stream);
	OK(cuStreamCopyAttributes(CU_STREAM_LEGACY, stream));
	has_domain(CU_STREAM_LEGACY, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
	OK(cuStreamCopyAttributes(CU_STREAM_PER_THREAD, CU_STREAM_LEGACY));
	has_domain(CU_STREAM_PER_THREAD, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
}

/* ---- what a capture takes over, and when ---- */

static void a_launchs_own_attribute_goes_before_its_streams(void)
{
	CUlaunchAttribute own = {.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
	                         .value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT};
	CUlaunchConfig config = {.gridDimX = 1,
	                         .gridDimY = 1,
	                         .gridDimZ = 1,
	                         .blockDimX = 1,
	                         .blockDimY = 1,
	                         .blockDimZ = 1,
	                         .hStream = stream,
	                         .attrs = &own,
	                         .numAttrs = 1};
	CUgraphNode node;

	set_domain(stream);
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuLaunchKernelEx(&config, function("nothing"), NULL, NULL));
	capture_end();
	nodes(graph, &node, 1);
	node_has_domain(node, CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT);
}

static void attributes_that_are_set_in_a_capture_hold_from_then_on(void)
{
	CUgraphNode both[2], root;
	size_t roots = 1;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	set_domain(stream);
	OK(launch("nothing", stream, NULL));
	capture_end();
	EQUAL(nodes(graph, both, 2), 2);
	OK(cuGraphGetRootNodes(graph, &root, &roots));
	node_has_domain(root, CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT);
	node_has_domain(root == both[0] ? both[1] : both[0], CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
}

static void a_captured_kernel_keeps_what_its_stream_had(void)
{
	CUstreamAttrValue domain = {.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT};
	CUgraphNode node;

	set_domain(stream);
	node = captured();
	OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN, &domain));
	node_has_domain(node, CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
}

/* Also of such as no version of CUDA knows. */
static void of_what_is_no_attribute_of_streams_none_is_told(void)
{
	static const int ids[] = {CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
	                          CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
	                          CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
	                          CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
	                          CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
	                          CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
	                          CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
	                          28,
	                          29,
	                          30,
	                          31};
	CUstreamAttrValue value;

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		EXPECT(cuStreamGetAttribute(CU_STREAM_PER_THREAD, (CUstreamAttrID)ids[i], &value),
		       CUDA_ERROR_INVALID_VALUE);
}

#define STREAM "Stream Management: "
#define OF_DEFAULT_STREAMS(call) MEASURED(STREAM call, "of default streams it is not said")
#define OF_CAPTURES(call) MEASURED(STREAM call, "of captures it is not said")

const struct check carried_checks[] = {
	CHECK(a_captured_kernel_has_its_streams_access_policy_window,
          OF_CAPTURES("cuStreamSetAttribute")),
	CHECK(a_captured_kernel_has_its_streams_memory_domain, OF_CAPTURES("cuStreamSetAttribute")),
	CHECK(attributes_are_copied_from_stream_to_stream, STREAM "cuStreamCopyAttributes"),
	CHECK_ALONE(the_legacy_stream_keeps_attributes, OF_DEFAULT_STREAMS("cuStreamSetAttribute"), 0),
	CHECK_ALONE(each_context_has_a_legacy_stream_with_its_own_attributes,
                OF_DEFAULT_STREAMS("cuStreamSetAttribute"), 0),
	CHECK_ALONE(a_threads_own_stream_keeps_attributes, OF_DEFAULT_STREAMS("cuStreamSetAttribute"),
                0),
	CHECK(a_captured_kernel_has_what_its_stream_copied, OF_CAPTURES("cuStreamCopyAttributes")),
	CHECK_ALONE(a_captured_kernel_has_what_its_stream_copied_of_the_legacy_one,
                OF_DEFAULT_STREAMS("cuStreamCopyAttributes"), 0),
	CHECK_ALONE(a_captured_kernel_has_what_its_stream_copied_of_a_threads_own,
                OF_DEFAULT_STREAMS("cuStreamCopyAttributes"), 0),
	CHECK_ALONE(attributes_are_copied_to_default_streams,
                OF_DEFAULT_STREAMS("cuStreamCopyAttributes"), 0),
	CHECK(a_launchs_own_attribute_goes_before_its_streams,
          MEASURED(STREAM "cuStreamSetAttribute", "which goes before is not said")),
	CHECK(attributes_that_are_set_in_a_capture_hold_from_then_on,
          OF_CAPTURES("cuStreamSetAttribute")),
	CHECK(a_captured_kernel_keeps_what_its_stream_had, OF_CAPTURES("cuStreamSetAttribute")),
	CHECK(of_what_is_no_attribute_of_streams_none_is_told,
          MEASURED(STREAM "cuStreamGetAttribute", "no error is named")),
	CHECK(a_captured_kernel_has_the_priority_of_its_launch,
          MEASURED("Execution Control: cuLaunchKernelEx", "of captures it is not said")),
	CHECK(a_graph_may_use_its_nodes_priorities, "Graph Management: cuGraphInstantiate"),
	CHECKS_END,
};
