/* Nodes by the calls that are for every type, batches of memory operations, attributes of kernel
 * nodes. */
#include "conformance.h"

static CUgraphNodeParams params;

static CUgraphNodeParams *of_type(CUgraphNodeType type)
{
	memset(&params, 0, sizeof(params));
	params.type = type;
	return &params;
}

static CUresult add(CUgraphNode *node)
{
	if (!graph)
		OK(cuGraphCreate(&graph, 0));
	return cuGraphAddNode(node, graph, NULL, NULL, 0, &params);
}

static void fill_kernel(CUfunction of, void **values)
{
	of_type(CU_GRAPH_NODE_TYPE_KERNEL);
	params.kernel.func = of;
	params.kernel.gridDimX = params.kernel.gridDimY = params.kernel.gridDimZ = 1;
	params.kernel.blockDimX = params.kernel.blockDimY = params.kernel.blockDimZ = 1;
	params.kernel.kernelParams = values;
}

static void CUDA_CB add_one(void *number)
{
	++*(unsigned *)number;
}

static void kernels_are_added_and_set(void)
{
	CUdeviceptr list = words();
	unsigned value = 9;
	void *values[] = {&list, &value};
	CUgraphNode node;

	fill_kernel(function("append"), values);
	OK(add(&node));
	EQUAL(type_of(node), CU_GRAPH_NODE_TYPE_KERNEL);
	value = 8;
	OK(cuGraphNodeSetParams(node, &params));
	OK(cuGraphInstantiate(&exec, graph, 0));
	value = 1;
	OK(cuGraphExecNodeSetParams(exec, node, &params));
	run_graph();
	is_list(list, 1);
}

static void memsets_are_added_and_set(void)
{
	CUdeviceptr target = words();
	CUgraphNode node;

	of_type(CU_GRAPH_NODE_TYPE_MEMSET);
	params.memset = (CUDA_MEMSET_NODE_PARAMS_v2){
		.dst = target, .value = 5, .elementSize = 4, .width = 4, .height = 1, .ctx = context};
	OK(add(&node));
	EQUAL(type_of(node), CU_GRAPH_NODE_TYPE_MEMSET);
	OK(cuGraphInstantiate(&exec, graph, 0));
	params.memset.value = 6;
	OK(cuGraphExecNodeSetParams(exec, node, &params));
	run_graph();
	EQUAL(word(target, 3), 6);
	params.memset.width = 0;
	EXPECT(cuGraphExecNodeSetParams(exec, node, &params), CUDA_ERROR_INVALID_VALUE);
}

static void copies_are_added_and_set(void)
{
	CUdeviceptr first = words(), second = words(), third = words();
	CUgraphNode node;

	OK(cuMemsetD32(third, 8, 4));
	OK(cuCtxSynchronize());
	of_type(CU_GRAPH_NODE_TYPE_MEMCPY);
	params.memcpy.copyCtx = context;
	params.memcpy.copyParams = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                                           .srcDevice = second,
	                                           .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                                           .dstDevice = first,
	                                           .WidthInBytes = 16,
	                                           .Height = 1,
	                                           .Depth = 1};
	OK(add(&node));
	EQUAL(type_of(node), CU_GRAPH_NODE_TYPE_MEMCPY);
	OK(cuGraphInstantiate(&exec, graph, 0));
	params.memcpy.copyParams.srcDevice = third;
	OK(cuGraphExecNodeSetParams(exec, node, &params));
	run_graph();
	EQUAL(word(first, 3), 8);
}

static void host_functions_are_added_and_set(void)
{
	static unsigned first, second;
	CUgraphNode node;

	first = second = 0;
	of_type(CU_GRAPH_NODE_TYPE_HOST);
	params.host.fn = add_one;
	params.host.userData = &first;
	OK(add(&node));
	EQUAL(type_of(node), CU_GRAPH_NODE_TYPE_HOST);
	OK(cuGraphInstantiate(&exec, graph, 0));
	params.host.userData = &second;
	OK(cuGraphExecNodeSetParams(exec, node, &params));
	run_graph();
	EQUAL(first, 0);
	EQUAL(second, 1);
}

static void events_are_recorded_by_nodes(void)
{
	CUevent first = event_new(0), second = event_new(0), found = NULL;
	CUgraphNode node;

	of_type(CU_GRAPH_NODE_TYPE_EVENT_RECORD);
	params.eventRecord.event = first;
	OK(add(&node));
	OK(cuGraphEventRecordNodeGetEvent(node, &found));
	TRUE(found == first);
	OK(cuGraphEventRecordNodeSetEvent(node, second));
	OK(cuGraphEventRecordNodeGetEvent(node, &found));
	TRUE(found == second);
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuGraphExecEventRecordNodeSetEvent(exec, node, first));
	hold(stream);
	OK(cuGraphLaunch(exec, stream));
	EXPECT(cuEventQuery(first), CUDA_ERROR_NOT_READY);
	OK(cuEventQuery(second));
	release();
	finish(stream);
	OK(cuEventQuery(first));
}

static void events_are_waited_for_by_nodes(void)
{
	CUevent first = event_new(0), second = event_new(0), found = NULL;
	CUgraphNode node;

	of_type(CU_GRAPH_NODE_TYPE_WAIT_EVENT);
	params.eventWait.event = first;
	OK(add(&node));
	OK(cuGraphEventWaitNodeGetEvent(node, &found));
	TRUE(found == first);
	EXPECT(cuGraphEventRecordNodeGetEvent(node, &found), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuGraphExecEventWaitNodeSetEvent(exec, node, second));
	hold(other);
	OK(cuEventRecord(second, other));
	OK(cuGraphLaunch(exec, stream));
	EXPECT(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	release();
	finish(stream);
	finish(other);
}

static void graphs_are_added_as_children(void)
{
	CUgraph child;
	CUgraphNode node;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	capture_end();
	child = graph;
	graph = NULL;
	of_type(CU_GRAPH_NODE_TYPE_GRAPH);
	params.graph.graph = child;
	OK(add(&node));
	EQUAL(type_of(node), CU_GRAPH_NODE_TYPE_GRAPH);
	OK(cuGraphDestroy(child));
	run_graph();
}

static void a_child_graph_takes_other_values(void)
{
	CUdeviceptr list = words();
	CUgraph child, second;
	CUgraphNode node;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(append(list, 9, stream));
	capture_end();
	child = graph;
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(append(list, 1, stream));
	OK(cuStreamEndCapture(stream, &second));
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuGraphExecChildGraphNodeSetParams(exec, node, second));
	EXPECT(cuGraphExecChildGraphNodeSetParams(exec, node, NULL), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphDestroy(second));
	OK(cuGraphDestroy(child));
	run_graph();
	is_list(list, 1);
}

static void a_child_graph_keeps_its_topology(void)
{
	CUgraph child, second;
	CUgraphNode node;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	capture_end();
	child = graph;
	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	OK(launch("nothing", stream, NULL));
	OK(cuStreamEndCapture(stream, &second));
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
	OK(cuGraphInstantiate(&exec, graph, 0));
	EXPECT(cuGraphExecChildGraphNodeSetParams(exec, node, second),
	       CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	OK(cuGraphDestroy(second));
	OK(cuGraphDestroy(child));
	run_graph();
}

static void a_node_added_later_is_not_in_the_executable_graph(void)
{
	CUgraphNode first, later;

	fill_kernel(function("nothing"), NULL);
	OK(add(&first));
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(add(&later));
	EXPECT(cuGraphExecNodeSetParams(exec, later, &params), CUDA_ERROR_INVALID_VALUE);
}

static void the_type_is_known_and_the_nodes(void)
{
	CUgraphNode node;

	of_type((CUgraphNodeType)99);
	EXPECT(add(&node), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddNode(&node, graph, NULL, NULL, 0, NULL), CUDA_ERROR_INVALID_VALUE);
	of_type(CU_GRAPH_NODE_TYPE_EMPTY);
	OK(add(&node));
	EQUAL(type_of(node), CU_GRAPH_NODE_TYPE_EMPTY);
	of_type(CU_GRAPH_NODE_TYPE_HOST);
	params.host.fn = add_one;
	EXPECT(cuGraphNodeSetParams(node, &params), CUDA_ERROR_INVALID_VALUE);
}

/* ---- batches ---- */

static CUstreamBatchMemOpParams write_of(CUdeviceptr address, cuuint32_t value)
{
	return (CUstreamBatchMemOpParams){.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32,
	                                                 .address = address,
	                                                 .value = value}};
}

static void a_batch_is_done_in_order(void)
{
	CUdeviceptr target = words();
	CUstreamBatchMemOpParams operations[] = {write_of(target, 7), write_of(target + 4, 8),
	                                         write_of(target, 9)};

	OK(cuStreamBatchMemOp(stream, 3, operations, 0));
	finish(stream);
	EQUAL(word(target, 0), 9);
	EQUAL(word(target, 1), 8);
}

static void a_batch_has_known_operations(void)
{
	CUdeviceptr target = words();
	CUstreamBatchMemOpParams operation = write_of(target, 7);

	EXPECT(cuStreamBatchMemOp(stream, 1, &operation, 1), CUDA_ERROR_INVALID_VALUE);
	operation.operation = (CUstreamBatchMemOpType)77;
	EXPECT(cuStreamBatchMemOp(stream, 1, &operation, 0), CUDA_ERROR_INVALID_VALUE);
	operation = write_of(target + 1, 7);
	EXPECT(cuStreamBatchMemOp(stream, 1, &operation, 0), CUDA_ERROR_INVALID_VALUE);
}

static void a_write_becomes_a_batch_node(void)
{
	CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {.count = 0};
	CUdeviceptr target = words();
	CUgraphNode node;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuStreamWriteValue32(stream, target, 7, 0));
	capture_end();
	EQUAL(nodes(graph, &node, 1), 1);
	EQUAL(type_of(node), CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
	OK(cuGraphBatchMemOpNodeGetParams(node, &batch));
	EQUAL(batch.count, 1);
	EQUAL(batch.paramArray[0].writeValue.value, 7);
	run_graph();
	EQUAL(word(target, 0), 7);
}

static void a_batch_node_takes_other_values(void)
{
	CUdeviceptr target = words();
	CUstreamBatchMemOpParams operations[] = {write_of(target, 7), write_of(target + 4, 8)};
	CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {context, 2, operations, 0};
	CUgraphNode node;

	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &batch));
	OK(cuGraphInstantiate(&exec, graph, 0));
	operations[1].writeValue.value = 9;
	operations[1].writeValue.address = target + 8;
	OK(cuGraphExecBatchMemOpNodeSetParams(exec, node, &batch));
	run_graph();
	EQUAL(word(target, 0), 7);
	EQUAL(word(target, 1), 0);
	EQUAL(word(target, 2), 9);
	batch.count = 1;
	EXPECT(cuGraphExecBatchMemOpNodeSetParams(exec, node, &batch), CUDA_ERROR_INVALID_VALUE);
	batch.count = 2;
	operations[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
	EXPECT(cuGraphExecBatchMemOpNodeSetParams(exec, node, &batch), CUDA_ERROR_INVALID_VALUE);
}

/* ---- attributes of kernel nodes ---- */

static CUgraphNode captured_on(CUstream on)
{
	CUgraphNode node;

	OK(cuStreamBeginCapture(on, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(launch("nothing", on, NULL));
	OK(cuStreamEndCapture(on, &graph));
	nodes(graph, &node, 1);
	return node;
}

static int priority_of(CUgraphNode node)
{
	CUkernelNodeAttrValue value = {.priority = 99};

	OK(cuGraphKernelNodeGetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
	return value.priority;
}

static void the_priority_of_the_stream_is_captured(void)
{
	CUstream high;

	OK(cuStreamCreateWithPriority(&high, CU_STREAM_NON_BLOCKING, -2));
	EQUAL(priority_of(captured_on(high)), -2);
	OK(cuStreamDestroy(high));
}

static void attributes_of_a_node_are_kept(void)
{
	CUkernelNodeAttrValue value = {.priority = -1};
	CUgraphNode node = captured_on(stream);

	EQUAL(priority_of(node), 0);
	OK(cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
	EQUAL(priority_of(node), -1);
	value.priority = -99;
	OK(cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
	TRUE(priority_of(node) > -99);
}

static void attributes_of_nodes_are_copied(void)
{
	CUkernelNodeAttrValue value = {.priority = -1};
	CUgraphNode all[2];

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(launch("nothing", stream, NULL));
	OK(launch("nothing", stream, NULL));
	capture_end();
	nodes(graph, all, 2);
	OK(cuGraphKernelNodeSetAttribute(all[0], CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value));
	OK(cuGraphKernelNodeCopyAttributes(all[1], all[0]));
	EQUAL(priority_of(all[1]), -1);
	EXPECT(cuGraphKernelNodeCopyAttributes(all[1], NULL), CUDA_ERROR_INVALID_VALUE);
}

static void attributes_of_launches_alone_are_not_of_nodes(void)
{
	static const CUkernelNodeAttrID invalid[] = {
		CU_LAUNCH_ATTRIBUTE_IGNORE, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
		CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
		CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT};
	CUkernelNodeAttrValue value = {.priority = 0};
	CUgraphNode node = captured_on(stream);
	size_t i;

	for (i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++) {
		EXPECT(cuGraphKernelNodeGetAttribute(node, invalid[i], &value), CUDA_ERROR_INVALID_VALUE);
		EXPECT(cuGraphKernelNodeSetAttribute(node, invalid[i], &value), CUDA_ERROR_INVALID_VALUE);
	}
}

static void preferred_attributes_of_nodes_are_not_those_documented(void)
{
	CUkernelNodeAttrValue value = {.priority = 0};
	CUgraphNode node = captured_on(stream);

	EXPECT(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
	                                     &value),
	       CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphKernelNodeGetAttribute(node, CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
	                                 &value));
}

static void a_batch_node_may_be_empty_but_names_its_context(void)
{
	CUstreamBatchMemOpParams operation = {.memoryBarrier = {.operation = CU_STREAM_MEM_OP_BARRIER}};
	CUDA_BATCH_MEM_OP_NODE_PARAMS batch = {.ctx = context, .paramArray = &operation};
	CUgraphNode node;

	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &batch));
	batch.ctx = NULL;
	batch.count = 1;
	EXPECT(cuGraphAddBatchMemOpNode(&node, graph, NULL, 0, &batch), CUDA_ERROR_INVALID_VALUE);
}

static void attributes_of_a_node_that_nobody_set(void)
{
	CUkernelNodeAttrValue value;
	CUgraphNode node = captured_on(stream);

	OK(cuGraphKernelNodeGetAttribute(node,
	                                 CU_KERNEL_NODE_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
	                                 &value));
	EQUAL(value.clusterSchedulingPolicyPreference, CU_CLUSTER_SCHEDULING_POLICY_SPREAD);
	OK(cuGraphKernelNodeGetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));
	EQUAL(value.memSyncDomainMap.default_, 0);
	EQUAL(value.memSyncDomainMap.remote, 1);
	OK(cuGraphKernelNodeGetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_MEM_SYNC_DOMAIN, &value));
	EQUAL(value.memSyncDomain, CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT);
}

static void an_attributes_value_is_no_larger_than_it_is(void)
{
	CUkernelNodeAttrValue value;
	CUgraphNode node = captured_on(stream);

	memset(&value, 0xee, sizeof(value));
	OK(cuGraphKernelNodeGetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_COOPERATIVE, &value));
	EQUAL(value.cooperative, 0);
	EQUAL((unsigned char)value.pad[sizeof(value.cooperative)], 0xee);
	memset(&value, 0xee, sizeof(value));
	OK(cuGraphKernelNodeGetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value));
	EQUAL((unsigned char)value.pad[sizeof(value.memSyncDomainMap)], 0xee);
}

#define GRAPH "Graph Management: "
#define ANY GRAPH "cuGraphAddNode, cuGraphNodeSetParams, cuGraphExecNodeSetParams"

const struct check any_node_checks[] = {
	CHECK(kernels_are_added_and_set, ANY),
	CHECK(memsets_are_added_and_set, ANY),
	CHECK(copies_are_added_and_set, ANY),
	CHECK(host_functions_are_added_and_set, ANY),
	CHECK(events_are_recorded_by_nodes, GRAPH "cuGraphExecEventRecordNodeSetEvent"),
	CHECK(events_are_waited_for_by_nodes, GRAPH "cuGraphExecEventWaitNodeSetEvent"),
	CHECK(graphs_are_added_as_children, ANY),
	CHECK(a_child_graph_takes_other_values, GRAPH "cuGraphExecChildGraphNodeSetParams"),
	CHECK(a_child_graph_keeps_its_topology, MEASURED(GRAPH "cuGraphExecChildGraphNodeSetParams",
                                                     "lists only CUDA_ERROR_INVALID_VALUE")),
	CHECK(a_node_added_later_is_not_in_the_executable_graph, GRAPH "cuGraphExecNodeSetParams"),
	CHECK(the_type_is_known_and_the_nodes, ANY),
	CHECK(a_batch_is_done_in_order, "Stream Memory Operations: cuStreamBatchMemOp"),
	CHECK(a_batch_has_known_operations, "Stream Memory Operations: cuStreamBatchMemOp"),
	CHECK(a_write_becomes_a_batch_node, GRAPH "cuGraphBatchMemOpNodeGetParams"),
	CHECK(a_batch_node_takes_other_values, GRAPH "cuGraphExecBatchMemOpNodeSetParams"),
	CHECK(the_priority_of_the_stream_is_captured, GRAPH "cuGraphInstantiateWithParams"),
	CHECK(attributes_of_a_node_are_kept, GRAPH "cuGraphKernelNodeSetAttribute"),
	CHECK(attributes_of_nodes_are_copied, GRAPH "cuGraphKernelNodeCopyAttributes"),
	CHECK(attributes_of_launches_alone_are_not_of_nodes, "Data types: CUlaunchAttributeID"),
	CHECK(
		preferred_attributes_of_nodes_are_not_those_documented,
		MEASURED(
			"Data types: CUlaunchAttributeID",
			"a preferred cluster dimension is valid for nodes, a preferred carveout for launches only")),
	CHECK(a_batch_node_may_be_empty_but_names_its_context,
          MEASURED("Graph Management: cuGraphAddBatchMemOpNode", "says neither")),
	CHECK(attributes_of_a_node_that_nobody_set,
          MEASURED("Data types: CUlaunchAttributeValue", "no default of the scheduling policy")),
	CHECK(an_attributes_value_is_no_larger_than_it_is,
          MEASURED("Graph Management: cuGraphKernelNodeGetAttribute", "does not say so")),
	CHECKS_END,
};
