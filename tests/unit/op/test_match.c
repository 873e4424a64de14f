/*
 * The guard, for every kind of op: each argument of a call is changed by itself, and the op says
 * what that is. What matches is issued with the call's own arguments. What does not is another
 * shape, or is not known to be legal.
 */
#include <stdio.h>
#include <string.h>

#include "../../suite.h"
#include "base/changes.h"
#include "driver.h"
#include "op/kernel.h"
#include "op/op.h"

#define STREAM ((CUstream)0x77000)
#define CONTEXT_0 ((CUcontext)0x100)
#define CONTEXT_1 ((CUcontext)0x200)

#define NOT REPRISE_MATCH_NOT
#define VALUES REPRISE_MATCH_VALUES
#define SAME REPRISE_MATCH_SAME

/* ---- the call, and what it points at ---- */

static struct reprise_call call;
static unsigned char number[8], bytes[8], three[4], packed[PARAMS_BYTES + 5];
static void *params[3];
static size_t packed_bytes;
static void *extra[9];
static CUlaunchAttribute attributes[REPRISE_ATTRIBUTES_MOST + 1];
static CUlaunchConfig config;
static CUDA_MEMCPY2D flat;
static CUDA_MEMCPY3D deep;

static void fill(unsigned char *at, size_t count, unsigned char first)
{
	for (size_t i = 0; i < count; i++)
		at[i] = (unsigned char)(first + i);
}

static void kernel(void)
{
	fill(number, sizeof(number), 1);
	fill(bytes, sizeof(bytes), 21);
	fill(three, sizeof(three), 41);
	params[0] = number;
	params[1] = bytes;
	params[2] = three;
	call = (struct reprise_call){.kind = REPRISE_OP_KERNEL,
	                             .stream = STREAM,
	                             .kernel = {.function = FUNCTION,
	                                        .grid = {2, 3, 4},
	                                        .block = {5, 6, 7},
	                                        .shared_bytes = 64,
	                                        .params = params}};
}

/* The same parameters, packed. */
static void packed_kernel(void)
{
	kernel();
	memset(packed, 0xee, sizeof(packed));
	memcpy(packed, number, 4);
	memcpy(packed + 8, bytes, 8);
	memcpy(packed + 16, three, 3);
	packed_bytes = PARAMS_BYTES;
	extra[0] = CU_LAUNCH_PARAM_BUFFER_POINTER;
	extra[1] = packed;
	extra[2] = CU_LAUNCH_PARAM_BUFFER_SIZE;
	extra[3] = &packed_bytes;
	extra[4] = CU_LAUNCH_PARAM_END;
	call.kernel.params = NULL;
	call.kernel.extra = extra;
}

static void kernel_without(void)
{
	kernel();
	call.kernel.function = FUNCTION_WITHOUT;
}

static void kernel_of_clusters(void)
{
	kernel();
	call.kernel.function = FUNCTION_OF_CLUSTERS;
}

static void extended(void)
{
	kernel();
	memset(attributes, 0, sizeof(attributes));
	config = (CUlaunchConfig){.attrs = attributes};
	call.kernel.config = &config;
}

static void with_priority(void)
{
	extended();
	attributes[0].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
	attributes[0].value.priority = 3;
	config.numAttrs = 1;
}

static void with_two_attributes(void)
{
	with_priority();
	attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
	attributes[1].value.programmaticStreamSerializationAllowed = 1;
	config.numAttrs = 2;
}

static void cooperative(void)
{
	extended();
	attributes[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
	attributes[0].value.cooperative = 1;
	config.numAttrs = 1;
}

static void in_clusters(void)
{
	extended();
	attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
	attributes[0].value.clusterDim.x = 2;
	attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
	config.numAttrs = 1;
}

static void copy(enum reprise_copy_form form, CUdeviceptr target, CUdeviceptr source)
{
	call = (struct reprise_call){
		.kind = REPRISE_OP_COPY,
		.stream = STREAM,
		.copy = {.form = form, .target = target, .source = source, .bytes = 0x100}};
}

static void to_device(void)
{
	copy(REPRISE_COPY_HOST_TO_DEVICE, DEVICE_0, PINNED);
}

static void to_host(void)
{
	copy(REPRISE_COPY_DEVICE_TO_HOST, PINNED, DEVICE_0);
}

static void on_device(void)
{
	copy(REPRISE_COPY_DEVICE_TO_DEVICE, DEVICE_0, DEVICE_0_TOO);
}

static void unified(void)
{
	copy(REPRISE_COPY_UNIFIED, DEVICE_0, DEVICE_0_TOO);
}

static void between_devices(void)
{
	copy(REPRISE_COPY_DEVICE_TO_DEVICE, DEVICE_0, DEVICE_1);
}

static void peer(void)
{
	copy(REPRISE_COPY_PEER, DEVICE_0, DEVICE_1);
	call.copy.target_context = CONTEXT_0;
	call.copy.source_context = CONTEXT_1;
}

static void set(unsigned int element_bytes, bool plane)
{
	call = (struct reprise_call){.kind = REPRISE_OP_SET,
	                             .stream = STREAM,
	                             .set = {.target = DEVICE_0,
	                                     .pitch = plane ? 256 : 0,
	                                     .plane = plane,
	                                     .value = 9,
	                                     .element_bytes = element_bytes,
	                                     .width = 16,
	                                     .height = plane ? 8 : 1}};
}

static void set_8(void)
{
	set(1, false);
}

static void set_16(void)
{
	set(2, false);
}

static void set_32(void)
{
	set(4, false);
}

static void set_2d_8(void)
{
	set(1, true);
}

static void set_2d_16(void)
{
	set(2, true);
}

static void set_2d_32(void)
{
	set(4, true);
}

static void copy_2d(void)
{
	memset(&flat, 0, sizeof(flat));
	flat.dstMemoryType = flat.srcMemoryType = CU_MEMORYTYPE_DEVICE;
	flat.dstDevice = DEVICE_0;
	flat.srcDevice = DEVICE_0_TOO;
	flat.dstPitch = flat.srcPitch = 256;
	flat.WidthInBytes = 64;
	flat.Height = 8;
	call = (struct reprise_call){.kind = REPRISE_OP_COPY_2D, .stream = STREAM, .copy_2d = &flat};
}

static void copy_3d(void)
{
	memset(&deep, 0, sizeof(deep));
	deep.dstMemoryType = deep.srcMemoryType = CU_MEMORYTYPE_DEVICE;
	deep.dstDevice = DEVICE_0;
	deep.srcDevice = DEVICE_0_TOO;
	deep.dstPitch = deep.srcPitch = 256;
	deep.dstHeight = deep.srcHeight = 8;
	deep.WidthInBytes = 64;
	deep.Height = 8;
	deep.Depth = 4;
	call = (struct reprise_call){.kind = REPRISE_OP_COPY_3D, .stream = STREAM, .copy_3d = &deep};
}

static void host(void)
{
	call = (struct reprise_call){.kind = REPRISE_OP_HOST,
	                             .stream = STREAM,
	                             .host = {.function = (CUhostFn)0x10, .data = (void *)0x20}};
}

static void record(void)
{
	call =
		(struct reprise_call){.kind = REPRISE_OP_RECORD, .stream = STREAM, .event = (CUevent)0x10};
}

static void wait(void)
{
	record();
	call.kind = REPRISE_OP_WAIT;
}

/* ---- what is changed ---- */

#define CHANGE(name, statement) \
	static void name(void) \
	{ \
		statement; \
	}

CHANGE(nothing, )
CHANGE(other_member, call.member = 1)
CHANGE(other_function, call.kernel.function = FUNCTION_TOO)
CHANGE(untold_function, call.kernel.function = FUNCTION_UNTOLD)
CHANGE(block_x, call.kernel.block[0]++)
CHANGE(block_y, call.kernel.block[1]++)
CHANGE(block_z, call.kernel.block[2]++)
CHANGE(grid_x, call.kernel.grid[0]++)
CHANGE(grid_y, call.kernel.grid[1]++)
CHANGE(grid_z, call.kernel.grid[2]++)
CHANGE(grid_x_none, call.kernel.grid[0] = 0)
CHANGE(grid_y_none, call.kernel.grid[1] = 0)
CHANGE(grid_z_none, call.kernel.grid[2] = 0)
CHANGE(grid_x_most, call.kernel.grid[0] = 0x7fffffff)
CHANGE(grid_y_most, call.kernel.grid[1] = 65535)
CHANGE(grid_z_most, call.kernel.grid[2] = 65535)
CHANGE(grid_x_beyond, call.kernel.grid[0] = 0x80000000)
CHANGE(grid_y_beyond, call.kernel.grid[1] = 65536)
CHANGE(grid_z_beyond, call.kernel.grid[2] = 65536)
CHANGE(less_shared, call.kernel.shared_bytes--)
CHANGE(more_shared, call.kernel.shared_bytes++)
CHANGE(number_low, number[0]++)
CHANGE(number_high, number[3]++)
CHANGE(behind_number, number[4]++)
CHANGE(bytes_low, bytes[0]++)
CHANGE(bytes_high, bytes[7]++)
CHANGE(three_first, three[0]++)
CHANGE(three_last, three[2]++)
CHANGE(behind_three, three[3]++)
CHANGE(no_params, call.kernel.params = NULL)
CHANGE(packed_number, packed[3]++)
CHANGE(packed_bytes_high, packed[15]++)
CHANGE(packed_last, packed[18]++)
CHANGE(packed_gap, packed[4]++)
CHANGE(packed_too_few, packed_bytes--)
CHANGE(packed_too_many, packed_bytes++)
CHANGE(packed_without_buffer, extra[1] = NULL)
CHANGE(packed_without_size, extra[3] = NULL)
CHANGE(packed_without_end, extra[4] = CU_LAUNCH_PARAM_BUFFER_SIZE)
CHANGE(packed_unknown_word, extra[2] = (void *)0x55)
CHANGE(packed_and_params, call.kernel.params = params)
CHANGE(other_form_of_launch, memset(&config, 0, sizeof(config)); call.kernel.config = &config)
CHANGE(no_attributes, config.numAttrs = 0)
CHANGE(attributes_missing, config.attrs = NULL)
CHANGE(priority, attributes[0].value.priority++)
CHANGE(garbage_in_attribute, attributes[0].value.pad[5] = 0x55)
CHANGE(other_attribute, attributes[0].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
CHANGE(unknown_attribute, attributes[0].id = (CUlaunchAttributeID)0x55)
CHANGE(one_more_attribute, attributes[1].id = CU_LAUNCH_ATTRIBUTE_PRIORITY; config.numAttrs++)
CHANGE(second_attribute, attributes[1].value.programmaticStreamSerializationAllowed = 0)
CHANGE(cluster_z, attributes[0].value.clusterDim.z++)
CHANGE(plain_launch, call.kernel.config = NULL)

CHANGE(copy_target, call.copy.target += 4)
CHANGE(copy_target_too, call.copy.target = DEVICE_0_TOO)
CHANGE(copy_source, call.copy.source += 4)
CHANGE(copy_pinned_too, call.copy.source = PINNED_TOO)
CHANGE(copy_less, call.copy.bytes--)
CHANGE(copy_form, call.copy.form = REPRISE_COPY_UNIFIED)
CHANGE(copy_form_of_devices, call.copy.form = REPRISE_COPY_DEVICE_TO_DEVICE)
CHANGE(copy_to_other_device, call.copy.target = DEVICE_1)
CHANGE(copy_from_other_device, call.copy.source = DEVICE_1)
CHANGE(copy_to_pageable, call.copy.target = PAGEABLE)
CHANGE(copy_from_pageable, call.copy.source = PAGEABLE)
CHANGE(copy_from_managed, call.copy.source = MANAGED)
CHANGE(copy_from_pinned, call.copy.source = PINNED)
CHANGE(copy_to_pinned, call.copy.target = PINNED_TOO)
CHANGE(copy_to_the_end, call.copy.target = DEVICE_0 + PIECE - 0x100)
CHANGE(copy_to_beyond, call.copy.target = DEVICE_0 + PIECE - 0xff)
CHANGE(copy_from_beyond, call.copy.source += PIECE - 0xff)
CHANGE(copy_all, call.copy.bytes = PIECE)
CHANGE(copy_more_than_all, call.copy.bytes = PIECE + 1)
CHANGE(copy_none, call.copy.bytes = 0)
CHANGE(copy_target_context, call.copy.target_context = CONTEXT_1)
CHANGE(copy_source_context, call.copy.source_context = CONTEXT_0)
CHANGE(on_legacy, call.stream = CU_STREAM_LEGACY)

CHANGE(set_value, call.set.value++)
CHANGE(set_high_value, call.set.value |= 0x55000000)
CHANGE(set_target, call.set.target += 4)
CHANGE(set_target_too, call.set.target = DEVICE_0_TOO)
CHANGE(set_misaligned, call.set.target++)
CHANGE(set_half_aligned, call.set.target += 2)
CHANGE(set_width, call.set.width++)
CHANGE(set_height, call.set.height++)
CHANGE(set_less_height, call.set.height--)
CHANGE(set_less_width, call.set.width--)
CHANGE(set_pitch, call.set.pitch += 256)
CHANGE(set_plane, call.set.plane = !call.set.plane)
CHANGE(set_elements, call.set.element_bytes = call.set.element_bytes == 4 ? 2 : 4)
CHANGE(set_to_the_end, call.set.target = DEVICE_0 + PIECE - call.set.pitch * (call.set.height - 1) -
                                         call.set.width * call.set.element_bytes)
CHANGE(set_beyond, set_to_the_end(); call.set.target += call.set.element_bytes)
CHANGE(set_no_width, call.set.width = 0)
CHANGE(set_no_height, call.set.height = 0)
CHANGE(set_other_device, call.set.target = DEVICE_1)
CHANGE(set_pinned, call.set.target = PINNED)
CHANGE(set_pageable, call.set.target = PAGEABLE)

CHANGE(no_descriptor_2d, call.copy_2d = NULL)
CHANGE(no_descriptor_3d, call.copy_3d = NULL)

CHANGE(host_function, call.host.function = (CUhostFn)0x11)
CHANGE(host_data, call.host.data = NULL)
CHANGE(host_no_function, call.host.function = NULL)
CHANGE(event, call.event = (CUevent)0x11)
CHANGE(to_wait, call.kind = REPRISE_OP_WAIT)

#define MATCHES(make, change, match) \
	{ \
		make, change, match, REPRISE_UNFIT_NONE, false \
	}
#define ILLEGAL(make, change) \
	{ \
		make, change, NOT, REPRISE_UNFIT_NONE, true \
	}
#define UNFIT(make, change, why) \
	{ \
		make, change, NOT, REPRISE_UNFIT_##why, false \
	}

/* `unfit`: why the changed call can be no op, if so. `illegal`: its shape is the op's, and it is
 * not known whether the driver accepts it. */
static const struct row {
	void (*make)(void);
	void (*change)(void);
	enum reprise_match match;
	enum reprise_unfit unfit;
	bool illegal;
} rows[] = {
	MATCHES(kernel, nothing, SAME),
	MATCHES(kernel, other_member, NOT),
	MATCHES(kernel, other_function, NOT),
	UNFIT(kernel, untold_function, UNKNOWN_PARAMETERS),
	MATCHES(kernel, block_x, NOT),
	MATCHES(kernel, block_y, NOT),
	MATCHES(kernel, block_z, NOT),
	MATCHES(kernel, grid_x, VALUES),
	MATCHES(kernel, grid_y, VALUES),
	MATCHES(kernel, grid_z, VALUES),
	ILLEGAL(kernel, grid_x_none),
	ILLEGAL(kernel, grid_y_none),
	ILLEGAL(kernel, grid_z_none),
	MATCHES(kernel, grid_x_most, VALUES),
	MATCHES(kernel, grid_y_most, VALUES),
	MATCHES(kernel, grid_z_most, VALUES),
	ILLEGAL(kernel, grid_x_beyond),
	ILLEGAL(kernel, grid_y_beyond),
	ILLEGAL(kernel, grid_z_beyond),
	MATCHES(kernel, less_shared, VALUES),
	ILLEGAL(kernel, more_shared),
	MATCHES(kernel, number_low, VALUES),
	MATCHES(kernel, number_high, VALUES),
	MATCHES(kernel, behind_number, SAME),
	MATCHES(kernel, bytes_low, VALUES),
	MATCHES(kernel, bytes_high, VALUES),
	MATCHES(kernel, three_first, VALUES),
	MATCHES(kernel, three_last, VALUES),
	MATCHES(kernel, behind_three, SAME),
	UNFIT(kernel, no_params, BAD_PARAMETERS),
	MATCHES(kernel, packed_kernel, SAME),
	MATCHES(kernel, other_form_of_launch, NOT),
	MATCHES(packed_kernel, nothing, SAME),
	MATCHES(packed_kernel, packed_number, VALUES),
	MATCHES(packed_kernel, packed_bytes_high, VALUES),
	MATCHES(packed_kernel, packed_last, VALUES),
	MATCHES(packed_kernel, packed_gap, SAME),
	UNFIT(packed_kernel, packed_too_few, BAD_PARAMETERS),
	UNFIT(packed_kernel, packed_too_many, BAD_PARAMETERS),
	UNFIT(packed_kernel, packed_without_buffer, BAD_PARAMETERS),
	UNFIT(packed_kernel, packed_without_size, BAD_PARAMETERS),
	UNFIT(packed_kernel, packed_without_end, BAD_PARAMETERS),
	UNFIT(packed_kernel, packed_unknown_word, BAD_PARAMETERS),
	UNFIT(packed_kernel, packed_and_params, BAD_PARAMETERS),
	MATCHES(kernel_without, nothing, SAME),
	MATCHES(kernel_without, grid_x, VALUES),
	ILLEGAL(kernel_without, no_params),
	MATCHES(kernel_of_clusters, nothing, SAME),
	MATCHES(kernel_of_clusters, grid_x, NOT),
	MATCHES(kernel_of_clusters, grid_z, NOT),
	MATCHES(kernel_of_clusters, number_low, VALUES),
	MATCHES(extended, nothing, SAME),
	MATCHES(extended, grid_y, VALUES),
	MATCHES(extended, plain_launch, NOT),
	MATCHES(with_priority, nothing, SAME),
	MATCHES(with_priority, grid_x, VALUES),
	MATCHES(with_priority, number_high, VALUES),
	MATCHES(with_priority, three_last, VALUES),
	MATCHES(with_priority, priority, NOT),
	MATCHES(with_priority, garbage_in_attribute, SAME),
	MATCHES(with_priority, other_attribute, NOT),
	UNFIT(with_priority, unknown_attribute, ATTRIBUTE),
	UNFIT(with_priority, attributes_missing, ATTRIBUTE),
	MATCHES(with_priority, one_more_attribute, NOT),
	MATCHES(with_priority, no_attributes, NOT),
	MATCHES(with_priority, plain_launch, NOT),
	MATCHES(with_two_attributes, nothing, SAME),
	MATCHES(with_two_attributes, priority, NOT),
	MATCHES(with_two_attributes, second_attribute, NOT),
	MATCHES(with_two_attributes, bytes_high, VALUES),
	MATCHES(cooperative, nothing, SAME),
	MATCHES(cooperative, grid_x, NOT),
	MATCHES(cooperative, grid_y, NOT),
	MATCHES(cooperative, grid_z, NOT),
	MATCHES(cooperative, number_low, VALUES),
	MATCHES(cooperative, less_shared, VALUES),
	MATCHES(in_clusters, nothing, SAME),
	MATCHES(in_clusters, grid_x, NOT),
	MATCHES(in_clusters, cluster_z, NOT),

	MATCHES(to_device, nothing, SAME),
	MATCHES(to_device, other_member, NOT),
	MATCHES(to_device, copy_target, VALUES),
	MATCHES(to_device, copy_target_too, VALUES),
	MATCHES(to_device, copy_source, VALUES),
	MATCHES(to_device, copy_pinned_too, VALUES),
	MATCHES(to_device, copy_less, NOT),
	MATCHES(to_device, copy_form, NOT),
	MATCHES(to_device, copy_to_other_device, NOT),
	UNFIT(to_device, copy_from_pageable, PAGEABLE),
	UNFIT(to_device, copy_from_managed, PAGEABLE),
	UNFIT(to_device, copy_to_pinned, HOST_TO_HOST),
	MATCHES(to_device, copy_to_the_end, VALUES),
	UNFIT(to_device, copy_to_beyond, REFUSED),
	UNFIT(to_device, copy_from_beyond, REFUSED),
	UNFIT(to_device, copy_none, EMPTY),
	MATCHES(to_host, nothing, SAME),
	MATCHES(to_host, copy_target, VALUES),
	MATCHES(to_host, copy_source, VALUES),
	UNFIT(to_host, copy_to_pageable, PAGEABLE),
	UNFIT(to_host, copy_from_pinned, HOST_TO_HOST),
	MATCHES(to_host, copy_form, NOT),
	MATCHES(on_device, nothing, SAME),
	MATCHES(on_device, copy_target, VALUES),
	MATCHES(on_device, copy_source, VALUES),
	MATCHES(on_device, copy_less, NOT),
	MATCHES(on_device, copy_all, NOT),
	UNFIT(on_device, copy_more_than_all, REFUSED),
	MATCHES(on_device, copy_from_other_device, NOT),
	MATCHES(on_device, copy_form, NOT),
	MATCHES(unified, nothing, SAME),
	MATCHES(unified, copy_target, VALUES),
	MATCHES(unified, copy_from_pinned, NOT),
	MATCHES(unified, copy_form_of_devices, NOT),
	MATCHES(between_devices, nothing, SAME),
	MATCHES(between_devices, copy_target, VALUES),
	{between_devices, on_legacy, SAME, REPRISE_UNFIT_BETWEEN_DEVICES, false},
	MATCHES(on_device, on_legacy, SAME),
	MATCHES(peer, nothing, SAME),
	MATCHES(peer, copy_target, VALUES),
	MATCHES(peer, copy_source, VALUES),
	MATCHES(peer, copy_target_context, NOT),
	MATCHES(peer, copy_source_context, NOT),
	MATCHES(peer, copy_form_of_devices, NOT),
	{peer, on_legacy, SAME, REPRISE_UNFIT_BETWEEN_DEVICES, false},

	MATCHES(set_8, nothing, SAME),
	MATCHES(set_8, set_value, VALUES),
	MATCHES(set_8, set_misaligned, VALUES),
	MATCHES(set_8, set_width, NOT),
	MATCHES(set_8, set_plane, NOT),
	MATCHES(set_16, nothing, SAME),
	MATCHES(set_16, set_value, VALUES),
	MATCHES(set_16, set_half_aligned, VALUES),
	UNFIT(set_16, set_misaligned, REFUSED),
	MATCHES(set_16, set_elements, NOT),
	MATCHES(set_32, nothing, SAME),
	MATCHES(set_32, other_member, NOT),
	MATCHES(set_32, set_value, VALUES),
	MATCHES(set_32, set_high_value, VALUES),
	MATCHES(set_32, set_target, VALUES),
	MATCHES(set_32, set_target_too, VALUES),
	UNFIT(set_32, set_half_aligned, REFUSED),
	MATCHES(set_32, set_width, NOT),
	MATCHES(set_32, set_elements, NOT),
	MATCHES(set_32, set_to_the_end, VALUES),
	UNFIT(set_32, set_beyond, REFUSED),
	UNFIT(set_32, set_no_width, EMPTY),
	MATCHES(set_32, set_other_device, NOT),
	UNFIT(set_32, set_pinned, PAGEABLE),
	UNFIT(set_32, set_pageable, PAGEABLE),
	MATCHES(set_2d_8, nothing, SAME),
	MATCHES(set_2d_8, set_value, VALUES),
	MATCHES(set_2d_8, set_plane, NOT),
	MATCHES(set_2d_16, nothing, SAME),
	MATCHES(set_2d_16, set_target, VALUES),
	UNFIT(set_2d_16, set_misaligned, REFUSED),
	MATCHES(set_2d_32, nothing, SAME),
	MATCHES(set_2d_32, set_value, VALUES),
	MATCHES(set_2d_32, set_width, NOT),
	MATCHES(set_2d_32, set_less_width, NOT),
	MATCHES(set_2d_32, set_height, NOT),
	MATCHES(set_2d_32, set_less_height, NOT),
	MATCHES(set_2d_32, set_pitch, NOT),
	MATCHES(set_2d_32, set_to_the_end, VALUES),
	UNFIT(set_2d_32, set_beyond, REFUSED),
	UNFIT(set_2d_32, set_no_height, EMPTY),

	MATCHES(copy_2d, nothing, SAME),
	UNFIT(copy_2d, no_descriptor_2d, BAD_PARAMETERS),
	MATCHES(copy_3d, nothing, SAME),
	UNFIT(copy_3d, no_descriptor_3d, BAD_PARAMETERS),

	MATCHES(host, nothing, SAME),
	MATCHES(host, other_member, NOT),
	MATCHES(host, host_function, VALUES),
	MATCHES(host, host_data, VALUES),
	UNFIT(host, host_no_function, BAD_PARAMETERS),
	MATCHES(record, nothing, SAME),
	MATCHES(record, event, NOT),
	MATCHES(record, other_member, NOT),
	MATCHES(record, to_wait, NOT),
	MATCHES(wait, nothing, SAME),
	MATCHES(wait, event, NOT),
};

#define ROWS (int)(sizeof(rows) / sizeof(rows[0]))

/* ---- the tests ---- */

#define PAYLOAD 1024

struct kept {
	struct reprise_op op;
	unsigned char payload[PAYLOAD];
};

static struct kept first, second;

static enum reprise_unfit keep(struct kept *kept)
{
	enum reprise_unfit unfit;

	memset(kept, kept == &first ? 0x5a : 0xa5, sizeof(*kept)); /* memory that other ops were in */
	unfit = reprise_op_examine(&kept->op, &call, NULL);
	if (unfit != REPRISE_UNFIT_NONE)
		return unfit;
	ck_assert_uint_le(kept->op.payload_bytes, PAYLOAD);
	kept->op.payload = kept->payload;
	reprise_op_complete(&kept->op, &call);
	return unfit;
}

static void change_all(void)
{
	reprise_changes_begin(REPRISE_CHANGES_MEMORY);
	reprise_changes_end(REPRISE_CHANGES_MEMORY);
}

static void setup(void)
{
	driver_begins();
	change_all();
}

/* The driver gets the same of the op as of the call. */
static void is_issued_as_called(const struct reprise_op *op)
{
	const char *issued;
	char called[1024];

	driver_is_called(&call);
	snprintf(called, sizeof(called), "%s", driver_saw());
	reprise_op_issue(op, call.stream);
	issued = driver_saw();
	ck_assert_str_eq(issued, called);
}

/* The limit is set to 100, then to 40, and then to 200: what of a call's 64 and 150 bytes agrees
 * then with an op that has 64. */
static const struct {
	void (*make)(void);
	enum reprise_match more_at_200;
} limited[] = {
	{kernel, VALUES},
	{cooperative, NOT},
	{in_clusters, NOT},
	{kernel_of_clusters, NOT},
};

static void limit_to(unsigned int most, enum reprise_match agrees)
{
	reprise_op_limit_shared(&first.op, most);
	ck_assert_int_eq(reprise_op_match(&first.op, &call), agrees);
	ck_assert_uint_eq(first.op.kernel.shared_bytes, 64);
	ck_assert_int_eq(reprise_op_exceeds_limit(&first.op), most < 64);
}

START_TEST(an_op_agrees_up_to_the_limit_that_is_set)
{
	limited[_i].make();
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_NONE);
	limit_to(100, SAME);
	limit_to(40, NOT);
	limit_to(200, SAME);
	call.kernel.shared_bytes = 150;
	config.sharedMemBytes = 150;
	ck_assert_int_eq(reprise_op_match(&first.op, &call), limited[_i].more_at_200);
	call.kernel.shared_bytes = 201;
	ck_assert_int_eq(reprise_op_match(&first.op, &call), NOT);
}
END_TEST

START_TEST(an_op_is_issued_with_the_arguments_of_its_call)
{
	rows[_i].make();
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_NONE);
	is_issued_as_called(&first.op);
	ck_assert_int_eq(reprise_op_match(&first.op, &call), SAME);
}
END_TEST

START_TEST(one_changed_argument_matches_as_it_should)
{
	rows[_i].make();
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_NONE);
	rows[_i].change();
	ck_assert_int_eq(reprise_op_match(&first.op, &call), rows[_i].match);
	if (rows[_i].match == NOT)
		return;
	second.op.payload = second.payload;
	reprise_op_take_values(&second.op, &first.op, &call);
	is_issued_as_called(&second.op);
	ck_assert_int_eq(reprise_op_match(&second.op, &call), SAME);
	ck_assert_int_eq(reprise_op_same_values(&first.op, &second.op), rows[_i].match == SAME);
	ck_assert(reprise_op_same_memory(&first.op, &second.op));
}
END_TEST

START_TEST(hashes_say_the_same_as_the_match)
{
	const struct row *row = &rows[_i];

	row->make();
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_NONE);
	row->change();
	ck_assert_int_eq(keep(&second), row->unfit);
	if (row->unfit != REPRISE_UNFIT_NONE || row->illegal)
		return;
	ck_assert_int_eq(first.op.shape == second.op.shape, row->match != NOT);
	ck_assert_int_eq(first.op.value == second.op.value, row->match == SAME);
}
END_TEST

/* ---- descriptors: every byte is shape ---- */

static void each_byte_differs(unsigned char *descriptor, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		descriptor[i] ^= 1;
		ck_assert_msg(reprise_op_match(&first.op, &call) == NOT, "byte %zu", i);
		descriptor[i] ^= 1;
	}
	ck_assert_int_eq(reprise_op_match(&first.op, &call), SAME);
}

START_TEST(every_byte_of_a_descriptor_is_compared)
{
	copy_2d();
	keep(&first);
	each_byte_differs((unsigned char *)&flat, sizeof(flat));
	copy_3d();
	keep(&first);
	each_byte_differs((unsigned char *)&deep, sizeof(deep));
}
END_TEST

/* ---- payloads: every byte counts, however few there are ---- */

#define SHORT_MOST 20

START_TEST(every_byte_of_a_payload_is_a_value)
{
	unsigned char one[SHORT_MOST], other[SHORT_MOST];
	struct reprise_op a = {.kind = REPRISE_OP_KERNEL, .payload = one}, b = a;

	b.payload = other;
	for (unsigned int count = 0; count <= SHORT_MOST; count++) {
		a.payload_bytes = b.payload_bytes = count;
		fill(one, SHORT_MOST, 1);
		fill(other, SHORT_MOST, 1);
		ck_assert(reprise_op_same_values(&a, &b));
		for (unsigned int i = 0; i < SHORT_MOST; i++) {
			other[i] ^= 1;
			ck_assert_int_eq(reprise_op_same_values(&a, &b), i >= count);
			other[i] ^= 1;
		}
		b.payload_bytes++;
		ck_assert(!reprise_op_same_values(&a, &b));
	}
}
END_TEST

START_TEST(every_byte_of_a_payload_is_copied)
{
	unsigned char one[SHORT_MOST], other[SHORT_MOST + 1];
	struct reprise_op a = {.kind = REPRISE_OP_KERNEL, .payload = one}, b = a;

	fill(one, SHORT_MOST, 1);
	for (unsigned int count = 0; count <= SHORT_MOST; count++) {
		memset(other, 0, sizeof(other));
		a.payload_bytes = count;
		b = (struct reprise_op){.payload = other};
		reprise_op_copy(&b, &a);
		ck_assert_ptr_eq(b.payload, other);
		ck_assert_uint_eq(b.payload_bytes, count);
		ck_assert_int_eq(memcmp(one, other, count), 0);
		ck_assert_uint_eq(other[count], 0);
	}
}
END_TEST

/* ---- members: the same call on each stream of a group is another op ---- */

#define MEMBERS 8

static void (*const kinds_of_op[])(void) = {kernel, to_device, set_32,        host,
                                            record, copy_2d,   kernel_without};

START_TEST(ops_of_different_members_have_different_hashes)
{
	uint64_t shapes[MEMBERS], values[MEMBERS];

	for (uint8_t member = 0; member < MEMBERS; member++) {
		kinds_of_op[_i]();
		call.member = member;
		ck_assert_int_eq(keep(&first), REPRISE_UNFIT_NONE);
		ck_assert_uint_eq(first.op.member, member);
		shapes[member] = first.op.shape;
		values[member] = first.op.value;
		for (uint8_t other = 0; other < member; other++) {
			ck_assert_uint_ne(shapes[other], shapes[member]);
			ck_assert_uint_ne(values[other], values[member]);
		}
		for (uint8_t other = 0; other < MEMBERS; other++) {
			call.member = other;
			ck_assert_int_eq(reprise_op_match(&first.op, &call), other == member ? SAME : NOT);
		}
	}
}
END_TEST

/* The last byte that is copied: at the end of its memory, and one behind it. */
static const struct {
	void (*make)(void);
	size_t *offset; /* of the target, or the source */
	size_t most;    /* at which the copy ends with its memory */
	size_t *pitch;  /* set to 0, if not NULL: that of the copy counts */
} edges[] = {
	{copy_2d, &flat.dstXInBytes, PIECE - 7 * 256 - 64, NULL},
	{copy_2d, &flat.srcXInBytes, PIECE - 7 * 256 - 64, NULL},
	{copy_2d, &flat.dstXInBytes, PIECE - 8 * 64, &flat.dstPitch},
	{copy_2d, &flat.srcY, PIECE / 256 - 8, NULL},
	{copy_3d, &deep.dstXInBytes, PIECE - 3 * 8 * 256 - 7 * 256 - 64, NULL},
	{copy_3d, &deep.srcXInBytes, PIECE - 3 * 8 * 256 - 7 * 256 - 64, NULL},
	{copy_3d, &deep.dstY, PIECE / 256 - 32, NULL},
	{copy_3d, &deep.srcZ, PIECE / 256 / 8 - 4, NULL},
};

START_TEST(a_copy_of_rows_ends_with_its_memory)
{
	edges[_i].make();
	if (edges[_i].pitch != NULL)
		*edges[_i].pitch = 0;
	*edges[_i].offset = edges[_i].most;
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_NONE);
	++*edges[_i].offset;
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_REFUSED);
}
END_TEST

/* Each extent of each copy and memset: where it is 0 the call is empty, wherever it begins. */
static const struct {
	void (*make)(void);
	size_t *extent;
} extents[] = {
	{to_device, &call.copy.bytes}, {on_device, &call.copy.bytes}, {unified, &call.copy.bytes},
	{peer, &call.copy.bytes},      {set_8, &call.set.width},      {set_16, &call.set.width},
	{set_32, &call.set.width},     {set_2d_8, &call.set.width},   {set_2d_8, &call.set.height},
	{set_2d_32, &call.set.width},  {set_2d_32, &call.set.height}, {copy_2d, &flat.WidthInBytes},
	{copy_2d, &flat.Height},       {copy_3d, &deep.WidthInBytes}, {copy_3d, &deep.Height},
	{copy_3d, &deep.Depth},
};

/* From there on no more than four bytes fit. */
static void begin_at_the_end(void)
{
	flat.dstXInBytes = deep.dstXInBytes = PIECE - 4;
	if (call.kind == REPRISE_OP_SET)
		call.set.target = DEVICE_0 + PIECE - 4;
	if (call.kind == REPRISE_OP_COPY)
		call.copy.target = DEVICE_0 + PIECE - 4;
}

START_TEST(a_call_with_an_extent_of_zero_is_empty)
{
	extents[_i].make();
	ck_assert(!reprise_call_is_empty(&call));
	ck_assert(!reprise_op_is_nothing(&call));
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_NONE);
	*extents[_i].extent = 0;
	ck_assert(reprise_call_is_empty(&call));
	ck_assert(reprise_op_is_nothing(&call));
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_EMPTY);
	begin_at_the_end();
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_EMPTY);
	*extents[_i].extent = 5;
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_REFUSED);
}
END_TEST

START_TEST(other_calls_have_no_extent)
{
	static void (*const others[])(void) = {kernel, host, record, wait};

	for (unsigned int i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		others[i]();
		memset((char *)&call + offsetof(struct reprise_call, kernel), 0, sizeof(call.kernel));
		ck_assert(!reprise_call_is_empty(&call));
	}
}
END_TEST

START_TEST(arrays_are_memory_of_some_device)
{
	copy_2d();
	flat.srcMemoryType = CU_MEMORYTYPE_ARRAY;
	flat.srcDevice = 0;
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_NONE);
	ck_assert(reprise_op_names_elsewhere(&first.op));
	ck_assert(reprise_op_is_between_devices(&first.op));
	call.stream = CU_STREAM_LEGACY;
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_BETWEEN_DEVICES);
	copy_2d();
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_NONE);
	ck_assert(!reprise_op_names_elsewhere(&first.op));
	copy_3d();
	deep.dstMemoryType = CU_MEMORYTYPE_ARRAY;
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_NONE);
	ck_assert(reprise_op_names_elsewhere(&first.op));
}
END_TEST

/* ---- memory that changed ---- */

static void (*const copies[])(void) = {to_device, to_host,  on_device, unified, peer,
                                       set_32,    set_2d_8, copy_2d,   copy_3d};

#define COPIES (int)(sizeof(copies) / sizeof(copies[0]))

START_TEST(after_a_change_of_memory_the_addresses_are_asked_about_again)
{
	copies[_i]();
	keep(&first);
	change_all();
	ck_assert_int_eq(reprise_op_match(&first.op, &call), REPRISE_MATCH_AGAIN);
	second.op.payload = second.payload;
	reprise_op_take_values(&second.op, &first.op, &call);
	ck_assert_int_eq(reprise_op_match(&second.op, &call), SAME);
	ck_assert(!reprise_op_same_memory(&first.op, &second.op));
	ck_assert(reprise_op_same_values(&first.op, &second.op));
}
END_TEST

START_TEST(memory_that_is_another_devices_now_does_not_match)
{
	copies[_i]();
	keep(&first);
	driver_moves(DEVICE_0);
	change_all();
	ck_assert_int_eq(reprise_op_match(&first.op, &call), NOT);
}
END_TEST

/* Either side's memory is shape: where it is another's, the op is another. */
START_TEST(an_op_of_memory_that_moved_has_another_shape)
{
	static const CUdeviceptr moved[] = {DEVICE_0, DEVICE_0_TOO, DEVICE_1};

	for (unsigned int i = 0; i < 3; i++) {
		bool other;

		driver_begins();
		change_all();
		copies[_i]();
		ck_assert_int_eq(keep(&first), REPRISE_UNFIT_NONE);
		driver_moves(moved[i]);
		change_all();
		ck_assert_int_eq(keep(&second), REPRISE_UNFIT_NONE);
		other = first.op.target_memory != second.op.target_memory ||
		        first.op.source_memory != second.op.source_memory;
		ck_assert_int_eq(first.op.shape != second.op.shape, other);
		ck_assert_int_eq(first.op.value != second.op.value, other);
		ck_assert(other || moved[i] != DEVICE_0); /* where all copies begin or end */
	}
}
END_TEST

/* Values that are taken when one side is another device's already: that has to be asked again. */
START_TEST(values_taken_of_moved_memory_do_not_count_as_known)
{
	static const CUdeviceptr moved[] = {DEVICE_0, DEVICE_0_TOO, DEVICE_1};

	for (unsigned int i = 0; i < 3; i++) {
		uint8_t target, source;

		driver_begins();
		change_all();
		copies[_i]();
		keep(&first);
		target = first.op.target_memory;
		source = first.op.source_memory;
		driver_moves(moved[i]);
		change_all();
		keep(&second);
		if (second.op.target_memory == target && second.op.source_memory == source)
			continue; /* not its memory */
		second.op.payload = second.payload;
		reprise_op_take_values(&second.op, &first.op, &call);
		ck_assert_uint_eq(second.op.memory_generation, 0);
	}
}
END_TEST

START_TEST(while_memory_changes_nothing_is_learnt)
{
	copies[_i]();
	reprise_changes_begin(REPRISE_CHANGES_MEMORY);
	keep(&first);
	reprise_changes_end(REPRISE_CHANGES_MEMORY);
	ck_assert_int_ne(reprise_op_match(&first.op, &call), SAME);
}
END_TEST

START_TEST(a_change_of_other_memory_leaves_a_match_as_it_was)
{
	copies[_i]();
	keep(&first);
	reprise_changes_begin_range(REPRISE_CHANGES_MEMORY, MANAGED, MANAGED + PIECE);
	reprise_changes_end(REPRISE_CHANGES_MEMORY);
	ck_assert_int_eq(reprise_op_match(&first.op, &call),
	                 reprise_call_is_copy(&call) && call.kind != REPRISE_OP_COPY
	                     ? REPRISE_MATCH_AGAIN
	                     : SAME);
	reprise_changes_begin_range(REPRISE_CHANGES_MEMORY, DEVICE_0 + 8, DEVICE_0 + 9);
	reprise_changes_end(REPRISE_CHANGES_MEMORY);
	ck_assert_int_eq(reprise_op_match(&first.op, &call), REPRISE_MATCH_AGAIN);
}
END_TEST

/* ---- the rest ---- */

START_TEST(more_attributes_than_there_is_room_for_are_no_op)
{
	extended();
	for (unsigned int i = 0; i <= REPRISE_ATTRIBUTES_MOST; i++)
		attributes[i].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
	config.numAttrs = REPRISE_ATTRIBUTES_MOST;
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_NONE);
	config.numAttrs++;
	ck_assert_int_eq(keep(&first), REPRISE_UNFIT_ATTRIBUTE);
}
END_TEST

START_TEST(attributes_are_known_one_by_one)
{
	with_two_attributes();
	ck_assert(reprise_kernel_knows_attributes(&config));
	attributes[1].id = (CUlaunchAttributeID)0x55;
	ck_assert(!reprise_kernel_knows_attributes(&config));
	with_two_attributes();
	attributes[0].id = (CUlaunchAttributeID)0x55;
	ck_assert(!reprise_kernel_knows_attributes(&config));
	config.numAttrs = 0;
	ck_assert(reprise_kernel_knows_attributes(&config));
	config.attrs = NULL;
	ck_assert(reprise_kernel_knows_attributes(&config));
	config.numAttrs = 1;
	ck_assert(!reprise_kernel_knows_attributes(&config));
}
END_TEST

START_TEST(a_launch_with_a_priority_is_known)
{
	static void (*const others[])(void) = {kernel, extended, cooperative, on_device, host, record};

	with_priority();
	keep(&first);
	ck_assert(reprise_op_has_priority(&first.op));
	with_two_attributes();
	attributes[0].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
	attributes[1].id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
	keep(&first);
	ck_assert(reprise_op_has_priority(&first.op));
	for (unsigned int i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		others[i]();
		keep(&first);
		ck_assert(!reprise_op_has_priority(&first.op));
	}
}
END_TEST

/* What the kinds of calls have in common, each kind once. */
static const struct {
	enum reprise_op_kind kind;
	bool is_copy, is_event;
} kinds[] = {
	{REPRISE_OP_KERNEL, false, false}, {REPRISE_OP_COPY, true, false},
	{REPRISE_OP_COPY_2D, true, false}, {REPRISE_OP_COPY_3D, true, false},
	{REPRISE_OP_SET, false, false},    {REPRISE_OP_HOST, false, false},
	{REPRISE_OP_RECORD, false, true},  {REPRISE_OP_WAIT, false, true},
};

_Static_assert(sizeof(kinds) / sizeof(kinds[0]) == REPRISE_OP_KIND_COUNT, "a kind is missing");

START_TEST(kinds_of_calls_are_known)
{
	call = (struct reprise_call){.kind = kinds[_i].kind};
	ck_assert_int_eq(reprise_call_is_copy(&call), kinds[_i].is_copy);
	ck_assert_int_eq(reprise_op_is_event(call.kind), kinds[_i].is_event);
}
END_TEST

START_TEST(a_peer_copy_is_captured_by_address)
{
	peer();
	keep(&first);
	reprise_op_capture(&first.op, STREAM);
	ck_assert_str_eq(driver_saw(), "DtoD 10000000 20000000 256 0x77000");
	on_device();
	keep(&first);
	reprise_op_capture(&first.op, STREAM);
	ck_assert_str_eq(driver_saw(), "DtoD 10000000 11000000 256 0x77000");
}
END_TEST

START_TEST(a_call_of_no_bytes_is_nothing_but_on_the_legacy_stream)
{
	on_device();
	ck_assert(!reprise_op_is_nothing(&call));
	call.copy.bytes = 0;
	ck_assert(reprise_op_is_nothing(&call));
	call.stream = NULL;
	ck_assert(!reprise_op_is_nothing(&call));
	call.per_thread = true;
	ck_assert(reprise_op_is_nothing(&call));
	copy_from_pageable();
	ck_assert(!reprise_op_is_nothing(&call));
	kernel();
	ck_assert(!reprise_op_is_nothing(&call));
}
END_TEST

START_TEST(copies_between_devices_and_contexts_are_known)
{
	peer();
	keep(&first);
	ck_assert(reprise_op_is_between_devices(&first.op));
	ck_assert(reprise_op_names_elsewhere(&first.op));
	between_devices();
	keep(&first);
	ck_assert(reprise_op_is_between_devices(&first.op));
	ck_assert(!reprise_op_names_elsewhere(&first.op));
	to_device();
	keep(&first);
	ck_assert(!reprise_op_is_between_devices(&first.op));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("match");
	TCase *tests = tcase_create("match");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_loop_test(tests, an_op_agrees_up_to_the_limit_that_is_set, 0,
	                    sizeof(limited) / sizeof(*limited));
	tcase_add_loop_test(tests, an_op_is_issued_with_the_arguments_of_its_call, 0, ROWS);
	tcase_add_loop_test(tests, one_changed_argument_matches_as_it_should, 0, ROWS);
	tcase_add_loop_test(tests, hashes_say_the_same_as_the_match, 0, ROWS);
	tcase_add_test(tests, every_byte_of_a_descriptor_is_compared);
	tcase_add_test(tests, every_byte_of_a_payload_is_a_value);
	tcase_add_test(tests, every_byte_of_a_payload_is_copied);
	tcase_add_loop_test(tests, ops_of_different_members_have_different_hashes, 0,
	                    sizeof(kinds_of_op) / sizeof(kinds_of_op[0]));
	tcase_add_loop_test(tests, a_copy_of_rows_ends_with_its_memory, 0,
	                    sizeof(edges) / sizeof(edges[0]));
	tcase_add_loop_test(tests, a_call_with_an_extent_of_zero_is_empty, 0,
	                    sizeof(extents) / sizeof(extents[0]));
	tcase_add_test(tests, other_calls_have_no_extent);
	tcase_add_test(tests, arrays_are_memory_of_some_device);
	tcase_add_loop_test(tests, after_a_change_of_memory_the_addresses_are_asked_about_again, 0,
	                    COPIES);
	tcase_add_loop_test(tests, memory_that_is_another_devices_now_does_not_match, 0, COPIES);
	tcase_add_loop_test(tests, an_op_of_memory_that_moved_has_another_shape, 0, COPIES);
	tcase_add_loop_test(tests, values_taken_of_moved_memory_do_not_count_as_known, 0, COPIES);
	tcase_add_loop_test(tests, while_memory_changes_nothing_is_learnt, 0, COPIES);
	tcase_add_loop_test(tests, a_change_of_other_memory_leaves_a_match_as_it_was, 0, COPIES);
	tcase_add_test(tests, more_attributes_than_there_is_room_for_are_no_op);
	tcase_add_test(tests, attributes_are_known_one_by_one);
	tcase_add_test(tests, a_launch_with_a_priority_is_known);
	tcase_add_loop_test(tests, kinds_of_calls_are_known, 0, REPRISE_OP_KIND_COUNT);
	tcase_add_test(tests, a_peer_copy_is_captured_by_address);
	tcase_add_test(tests, a_call_of_no_bytes_is_nothing_but_on_the_legacy_stream);
	tcase_add_test(tests, copies_between_devices_and_contexts_are_known);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
