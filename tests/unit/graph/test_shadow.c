/* What REPRISE=verify compares: whatever differs between the program's op and the node, or the op
 * that Reprise kept, is found and named. */
#include <stdlib.h>
#include <string.h>

#include "../../suite.h"
#include "driver/driver.h"
#include "graph/capture.h"
#include "graph/shadow.h"

#define BYTES 24

/* Three parameters: 4 bytes, padding, 8 bytes, a struct of 8. */
static struct reprise_layout *layout;

static unsigned char kept[BYTES], asked_for[BYTES];
static char text[200];

static void fill(unsigned char bytes[BYTES])
{
	for (unsigned int i = 0; i < BYTES; i++)
		bytes[i] = (unsigned char)(i + 1);
}

static struct reprise_op kernel(unsigned char *payload)
{
	return (struct reprise_op){
		.kind = REPRISE_OP_KERNEL,
		.payload = payload,
		.payload_bytes = BYTES,
		.shape = 1,
		.kernel = {.function = (CUfunction)0x10,
	               .layout = layout,
	               .grid = {2, 3, 4},
	               .block = {1, 1, 1},
	               .shared_bytes = 5},
	};
}

static struct reprise_op copy(void)
{
	return (struct reprise_op){.kind = REPRISE_OP_COPY,
	                           .shape = 1,
	                           .copy = {.target = 0x100, .source = 0x200, .bytes = 8}};
}

static struct reprise_op set(void)
{
	return (struct reprise_op){
		.kind = REPRISE_OP_SET,
		.shape = 1,
		.set = {.target = 0x100, .value = 7, .element_bytes = 4, .width = 1, .height = 1}};
}

static struct reprise_op host(void)
{
	return (struct reprise_op){.kind = REPRISE_OP_HOST,
	                           .shape = 1,
	                           .host = {.function = (CUhostFn)0x10, .data = (void *)0x20}};
}

static struct reprise_op event(void)
{
	return (struct reprise_op){.kind = REPRISE_OP_RECORD, .shape = 1, .event = (CUevent)0x10};
}

/* The ops that the table changes: the program's, and what is compared with it. */
static struct reprise_op asked, found;

static void kernels(void)
{
	fill(asked_for);
	fill(kept);
	asked = kernel(asked_for);
	found = kernel(kept);
}

static void copies(void)
{
	asked = found = copy();
}

static void sets(void)
{
	asked = found = set();
}

static void hosts(void)
{
	asked = found = host();
}

static void events(void)
{
	asked = found = event();
}

static void other_grid_x(void)
{
	found.kernel.grid[0]++;
}

static void other_grid_y(void)
{
	found.kernel.grid[1]++;
}

static void other_grid_z(void)
{
	found.kernel.grid[2]++;
}

static void more_shared_memory(void)
{
	found.kernel.shared_bytes++;
}

static void other_first_parameter(void)
{
	kept[3]++;
}

static void other_high_half(void)
{
	kept[15]++;
}

static void other_last_byte(void)
{
	kept[BYTES - 1]++;
}

static void other_padding(void)
{
	kept[5]++;
}

static void other_function(void)
{
	found.kernel.function = (CUfunction)0x11;
}

static void other_target(void)
{
	found.copy.target++;
}

static void other_source(void)
{
	found.copy.source++;
}

static void other_set_target(void)
{
	found.set.target++;
}

static void other_value(void)
{
	found.set.value++;
}

static void other_host_function(void)
{
	found.host.function = (CUhostFn)0x11;
}

static void other_data(void)
{
	found.host.data = (void *)0x21;
}

static void other_kind(void)
{
	found.kind = REPRISE_OP_WAIT;
}

static void other_shape(void)
{
	found.shape++;
}

static void nothing(void)
{
}

/* `of_node`: a node can differ in it. `words`: NULL if nothing differs. */
static const struct {
	void (*make)(void);
	void (*change)(void);
	bool of_node;
	const char *words;
} differences[] = {
	{kernels, nothing, true, NULL},
	{kernels, other_grid_x, true, "grid x: the program passed 0x2, not 0x3"},
	{kernels, other_grid_y, true, "grid y: the program passed 0x3, not 0x4"},
	{kernels, other_grid_z, true, "grid z: the program passed 0x4, not 0x5"},
	{kernels, more_shared_memory, true, "shared memory: the program passed 0x5, not 0x6"},
	{kernels, other_first_parameter, true,
     "parameter 0, at byte 0 of all: the program passed 0x4030201, not 0x5030201"},
	{kernels, other_high_half, true,
     "parameter 1, at byte 8 of all: the program passed 0x100f0e0d0c0b0a09, not "
     "0x110f0e0d0c0b0a09"},
	{kernels, other_last_byte, true,
     "parameter 2, at byte 16 of all: the program passed 0x1817161514131211, not "
     "0x1917161514131211"},
	{kernels, other_padding, true, NULL},
	{kernels, other_function, false, "kernel: the program passed 0x10, not 0x11"},
	{copies, nothing, true, NULL},
	{copies, other_target, true, "target: the program passed 0x100, not 0x101"},
	{copies, other_source, true, "source: the program passed 0x200, not 0x201"},
	{sets, nothing, true, NULL},
	{sets, other_set_target, true, "target: the program passed 0x100, not 0x101"},
	{sets, other_value, true, "value: the program passed 0x7, not 0x8"},
	{hosts, nothing, true, NULL},
	{hosts, other_host_function, true, "host function: the program passed 0x10, not 0x11"},
	{hosts, other_data, true, "its data: the program passed 0x20, not 0x21"},
	{events, nothing, false, NULL},
	{events, other_shape, false, "shape, as a hash: the program passed 0x1, not 0x2"},
	{kernels, other_shape, false, "shape, as a hash: the program passed 0x1, not 0x2"},
};

static void is_told(enum reprise_shadow_verdict verdict, const char *words)
{
	ck_assert_int_eq(verdict, words != NULL ? REPRISE_SHADOW_OTHER : REPRISE_SHADOW_SAME);
	ck_assert_str_eq(text, words != NULL ? words : "");
}

START_TEST(two_ops_that_differ_are_told)
{
	differences[_i].make();
	differences[_i].change();
	is_told(reprise_shadow_compare_ops(&asked, &found, text, sizeof(text)), differences[_i].words);
}
END_TEST

START_TEST(another_kind_of_op_is_told)
{
	events();
	other_kind();
	ck_assert_int_eq(reprise_shadow_compare_ops(&asked, &found, text, sizeof(text)),
	                 REPRISE_SHADOW_OTHER);
	ck_assert_ptr_nonnull(strstr(text, "kind of call"));
}
END_TEST

/* ---- nodes ---- */

/* What the driver says of a captured node: what `found` is. */

static CUresult CUDAAPI kernel_of(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
	static void *pointers[3];

	for (unsigned int i = 0; i < 3; i++)
		pointers[i] = kept + layout->params[i].offset;
	*params = (CUDA_KERNEL_NODE_PARAMS){.gridDimX = found.kernel.grid[0],
	                                    .gridDimY = found.kernel.grid[1],
	                                    .gridDimZ = found.kernel.grid[2],
	                                    .sharedMemBytes = found.kernel.shared_bytes,
	                                    .kernelParams = pointers};
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI copy_of(CUgraphNode node, CUDA_MEMCPY3D *params)
{
	*params = (CUDA_MEMCPY3D){.dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                          .dstDevice = found.copy.target,
	                          .srcMemoryType = CU_MEMORYTYPE_HOST,
	                          .srcHost = (const void *)(uintptr_t)found.copy.source};
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI copy_to_host(CUgraphNode node, CUDA_MEMCPY3D *params)
{
	*params = (CUDA_MEMCPY3D){.dstMemoryType = CU_MEMORYTYPE_HOST,
	                          .dstHost = (void *)(uintptr_t)found.copy.target,
	                          .srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                          .srcDevice = found.copy.source};
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI set_of(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params)
{
	*params =
		(CUDA_MEMSET_NODE_PARAMS){.dst = found.set.target, .value = reprise_set_value(&found.set)};
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI host_of(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params)
{
	*params = (CUDA_HOST_NODE_PARAMS){.fn = found.host.function, .userData = found.host.data};
	return CUDA_SUCCESS;
}

static struct reprise_graph graph;
static struct reprise_graph_node nodes[1];

static void make_layout(void)
{
	static const struct reprise_param params[3] = {{0, 4}, {8, 8}, {16, 8}};

	layout = malloc(sizeof(*layout) + sizeof(params));
	ck_assert_ptr_nonnull(layout);
	layout->count = 3;
	layout->bytes = BYTES;
	memcpy(layout->params, params, sizeof(params));
}

static void setup(void)
{
	make_layout();
	reprise_verifying = true;
	reprise_driver.cuGraphKernelNodeGetParams_v2 = kernel_of;
	reprise_driver.cuGraphMemcpyNodeGetParams = copy_of;
	reprise_driver.cuGraphMemsetNodeGetParams = set_of;
	reprise_driver.cuGraphHostNodeGetParams = host_of;
	graph = (struct reprise_graph){.count = 1, .ops = &asked, .nodes = nodes};
	nodes[0] = (struct reprise_graph_node){.settable = true};
	text[0] = '\0';
}

static void teardown(void)
{
	reprise_shadow_free(&graph);
	free(layout);
}

/* Whether captured nodes are read, or nodes are set: the same is kept. */

static void node_is_read(void)
{
	reprise_shadow_read(&graph, nodes);
}

static void set_node(void)
{
	union {
		CUDA_KERNEL_NODE_PARAMS kernel;
		CUDA_MEMCPY3D copy;
		CUDA_MEMSET_NODE_PARAMS set;
		CUDA_HOST_NODE_PARAMS host;
	} params;

	switch (found.kind) {
	case REPRISE_OP_KERNEL:
		kernel_of(NULL, &params.kernel);
		reprise_shadow_kernel(&graph, 0, &params.kernel);
		break;
	case REPRISE_OP_COPY:
		copy_of(NULL, &params.copy);
		reprise_shadow_copy(&graph, 0, &params.copy);
		break;
	case REPRISE_OP_SET:
		set_of(NULL, &params.set);
		reprise_shadow_set(&graph, 0, &params.set);
		break;
	default:
		host_of(NULL, &params.host);
		reprise_shadow_host(&graph, 0, &params.host);
		break;
	}
}

static void node_is_set(void)
{
	ck_assert_ptr_nonnull(reprise_shadow_nodes(&graph));
	set_node();
}

static void node_differs_as(unsigned int i, void (*keep)(void))
{
	differences[i].make();
	differences[i].change();
	if (!differences[i].of_node)
		return;
	keep();
	is_told(reprise_shadow_compare(&graph, 0, &asked, text, sizeof(text)), differences[i].words);
}

START_TEST(a_captured_node_that_differs_is_told)
{
	node_differs_as((unsigned int)_i, node_is_read);
}
END_TEST

START_TEST(a_node_that_was_set_and_differs_is_told)
{
	node_differs_as((unsigned int)_i, node_is_set);
}
END_TEST

START_TEST(a_copy_to_the_host_is_read_by_its_host_address)
{
	copies();
	reprise_driver.cuGraphMemcpyNodeGetParams = copy_to_host;
	node_is_read();
	is_told(reprise_shadow_compare(&graph, 0, &asked, text, sizeof(text)), NULL);
	found.copy.target++;
	node_is_read();
	is_told(reprise_shadow_compare(&graph, 0, &asked, text, sizeof(text)),
	        "target: the program passed 0x100, not 0x101");
}
END_TEST

START_TEST(what_is_not_known_is_not_called_the_same)
{
	kernels();
	ck_assert_int_eq(reprise_shadow_compare(&graph, 0, &asked, text, sizeof(text)),
	                 REPRISE_SHADOW_UNKNOWN);
	nodes[0].settable = false;
	node_is_read();
	ck_assert_int_eq(reprise_shadow_compare(&graph, 0, &asked, text, sizeof(text)),
	                 REPRISE_SHADOW_UNKNOWN);
}
END_TEST

START_TEST(a_capture_that_the_driver_does_not_describe_forgets_what_was_known)
{
	hosts();
	node_is_read();
	is_told(reprise_shadow_compare(&graph, 0, &asked, text, sizeof(text)), NULL);
	reprise_driver.cuGraphHostNodeGetParams = NULL;
	node_is_read();
	ck_assert_int_eq(reprise_shadow_compare(&graph, 0, &asked, text, sizeof(text)),
	                 REPRISE_SHADOW_UNKNOWN);
}
END_TEST

static CUresult CUDAAPI refuse_kernel(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
	return CUDA_ERROR_INVALID_VALUE;
}

static CUresult CUDAAPI refuse_copy(CUgraphNode node, CUDA_MEMCPY3D *params)
{
	return CUDA_ERROR_INVALID_VALUE;
}

static CUresult CUDAAPI refuse_set(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *params)
{
	return CUDA_ERROR_INVALID_VALUE;
}

static CUresult CUDAAPI refuse_host(CUgraphNode node, CUDA_HOST_NODE_PARAMS *params)
{
	return CUDA_ERROR_INVALID_VALUE;
}

static void (*const kinds[])(void) = {kernels, copies, sets, hosts};

/* Not even if the driver describes nodes of every other kind. */
START_TEST(a_node_that_the_driver_does_not_describe_is_not_known)
{
	kinds[_i]();
	if (asked.kind == REPRISE_OP_KERNEL)
		reprise_driver.cuGraphKernelNodeGetParams_v2 = refuse_kernel;
	else if (asked.kind == REPRISE_OP_COPY)
		reprise_driver.cuGraphMemcpyNodeGetParams = refuse_copy;
	else if (asked.kind == REPRISE_OP_SET)
		reprise_driver.cuGraphMemsetNodeGetParams = refuse_set;
	else
		reprise_driver.cuGraphHostNodeGetParams = refuse_host;
	node_is_read();
	ck_assert_int_eq(reprise_shadow_compare(&graph, 0, &asked, text, sizeof(text)),
	                 REPRISE_SHADOW_UNKNOWN);
}
END_TEST

/* Of any kind of op. Setting a node must do nothing then, too. */
START_TEST(nothing_is_kept_unless_verifying)
{
	reprise_verifying = false;
	differences[_i].make();
	differences[_i].change();
	if (!differences[_i].of_node)
		return;
	node_is_read();
	set_node();
	ck_assert_ptr_null(reprise_shadow_nodes(&graph));
	ck_assert_ptr_null(graph.shadow);
	ck_assert_int_eq(reprise_shadow_compare(&graph, 0, &asked, text, sizeof(text)),
	                 REPRISE_SHADOW_UNKNOWN);
}
END_TEST

int main(void)
{
	const int all = sizeof(differences) / sizeof(differences[0]);
	Suite *suite = suite_create("shadow");
	TCase *tests = tcase_create("shadow");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, two_ops_that_differ_are_told, 0, all);
	tcase_add_test(tests, another_kind_of_op_is_told);
	tcase_add_loop_test(tests, a_captured_node_that_differs_is_told, 0, all);
	tcase_add_loop_test(tests, a_node_that_was_set_and_differs_is_told, 0, all);
	tcase_add_test(tests, a_copy_to_the_host_is_read_by_its_host_address);
	tcase_add_test(tests, what_is_not_known_is_not_called_the_same);
	tcase_add_test(tests, a_capture_that_the_driver_does_not_describe_forgets_what_was_known);
	tcase_add_loop_test(tests, a_node_that_the_driver_does_not_describe_is_not_known, 0,
	                    sizeof(kinds) / sizeof(kinds[0]));
	tcase_add_loop_test(tests, nothing_is_kept_unless_verifying, 0, all);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
