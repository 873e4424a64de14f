/* Launches of every shape: grids and blocks of three dimensions, shared memory, attributes,
 * parameters that differ in any byte. */
#include <stdlib.h>

#include "ops.h"

/* `which`: a bit for each dimension that changes. */
void fuzz_launch_spread(int s, int which, int change)
{
	void *params[] = {&fuzz_given.x, &fuzz_given.argument};
	unsigned more = fuzz_changing(change) % 4, dimension[6];
	int stream = fuzz_stream_of(s);

	for (unsigned i = 0; i < 6; i++)
		dimension[i] = 1 + ((unsigned)which >> i & 1) * more;
	fuzz_take(fuzz_buffer_of(stream, which / 64), 0, which % 5 == 0 ? (unsigned)iteration : 7);
	CALL(cuLaunchKernel(world.spread, dimension[0], dimension[1], dimension[2], dimension[3],
	                    dimension[4], dimension[5], 0, world.stream[stream], params, NULL));
	fuzz_spoil();
}

/* One byte of 35 that the kernel is given changes. */
void fuzz_launch_wide(int s, int byte, int change)
{
	void *params[] = {&fuzz_given.x, &fuzz_given.word, &fuzz_given.real, &fuzz_given.wide};
	unsigned char flip = (unsigned char)(fuzz_changing(change) % 251);
	int stream = fuzz_stream_of(s), at = fuzz_in(byte, 35);
	unsigned char *into;

	fuzz_take(fuzz_buffer_of(stream, byte), 0, 0);
	fuzz_given.word = 0x1122334455667788u;
	fuzz_given.real = 12345.678;
	memset(fuzz_given.wide.bytes, 0x31, sizeof(fuzz_given.wide.bytes));
	fuzz_given.wide.half = 0x4142;
	fuzz_given.wide.word = 0x2122232425262728u;
	fuzz_given.wide.real = 1.5f;
	into = at < 8    ? (unsigned char *)&fuzz_given.word + at
	       : at < 16 ? (unsigned char *)&fuzz_given.real + (at - 8)
	       : at < 21 ? &fuzz_given.wide.bytes[at - 16]
	       : at < 23 ? (unsigned char *)&fuzz_given.wide.half + (at - 21)
	       : at < 31 ? (unsigned char *)&fuzz_given.wide.word + (at - 23)
	                 : (unsigned char *)&fuzz_given.wide.real + (at - 31);
	*into = (unsigned char)(*into ^ flip);
	CALL(cuLaunchKernel(world.wide, 1, 1, 1, 32, 1, 1, 0, world.stream[stream], params, NULL));
	fuzz_spoil();
}

/* On one stream: two places 4 GiB apart. */
void fuzz_launch_far(int change)
{
	CUdeviceptr at = world.far + (fuzz_changing(change) % 2 ? 4ull << 30 : 0);

	CALL(fuzz_launch_mix(world.mix, world.stream[FREE], at, world.buffer[FREE][0], 5));
}

/* So much shared memory, by turns: beyond the limit it is refused. */
void fuzz_launch_shared_by(int s, int change, int step)
{
	void *params[] = {&fuzz_given.x, &fuzz_given.argument};
	unsigned bytes = 64 + 16 * (fuzz_changing(change) % 101) * (unsigned)(step % 40 == 0 ? 64 : 1);
	int stream = fuzz_stream_of(s);

	fuzz_take(fuzz_buffer_of(stream, 0), 0, step % 3 == 0 ? (unsigned)iteration : 13);
	CALL(cuLaunchKernel(world.shared_mix, 1, 1, 1, 32, 1, 1, bytes, world.stream[stream], params,
	                    NULL));
	fuzz_spoil();
}

static CUlaunchAttribute cluster_of(unsigned x)
{
	return (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
	                           .value.clusterDim = {x, 1, 1}};
}

/* Fills two attributes at most; returns how many. What changes with the iteration is `value`. */
static unsigned take_attributes(CUlaunchAttribute *attribute, int which, unsigned value)
{
	switch (fuzz_in(which, 10)) {
	case 1:
		attribute[0] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PRIORITY,
		                                   .value.priority = -(int)(value % 3)};
		return 1;
	case 2:
		attribute[0] =
			(CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
		return 1;
	case 3:
		attribute[0] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_IGNORE};
		return 1;
	case 4:
		attribute[0] = cluster_of(1 + value % 2);
		return 1;
	case 5:
		attribute[0] = cluster_of(2);
		attribute[1] =
			(CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
		                        .value.clusterSchedulingPolicyPreference =
		                            value % 2 ? CU_CLUSTER_SCHEDULING_POLICY_SPREAD
		                                      : CU_CLUSTER_SCHEDULING_POLICY_DEFAULT};
		return 2;
	case 6:
		attribute[0] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
		                                   .value.memSyncDomain =
		                                       value % 2 ? CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE
		                                                 : CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT};
		return 1;
	case 7:
		attribute[0] =
			(CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
		                        .value.programmaticStreamSerializationAllowed = value % 2 == 0};
		return 1;
	case 8:
		attribute[0] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
		                                   .value.cooperative = (int)(value % 2)};
		attribute[1] =
			(CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = -1};
		return 2;
	case 9:
		attribute[0] = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = 0};
		return 1;
	default:
		return 0;
	}
}

static CUresult launch_with(int stream, CUlaunchAttribute *attribute, unsigned count,
                            unsigned blocks, unsigned argument)
{
	void *params[] = {&fuzz_given.x, &fuzz_given.y, &fuzz_given.argument};
	CUlaunchConfig config = {.gridDimX = blocks,
	                         .gridDimY = 1,
	                         .gridDimZ = 1,
	                         .blockDimX = WORDS / 4,
	                         .blockDimY = 1,
	                         .blockDimZ = 1,
	                         .hStream = world.stream[stream],
	                         .attrs = attribute,
	                         .numAttrs = count};
	CUresult result;

	fuzz_take(fuzz_buffer_of(stream, (int)argument), fuzz_buffer_of(stream, (int)argument + 1),
	          argument);
	result = cuLaunchKernelEx(&config, world.chain, params, NULL);
	memset(attribute, 0xa5, 2 * sizeof(*attribute));
	fuzz_spoil();
	return result;
}

void fuzz_launch_ex(int s, int attributes, int change)
{
	CUlaunchAttribute attribute[2];
	unsigned count = take_attributes(attribute, attributes, fuzz_changing(change));

	CALL(launch_with(fuzz_stream_of(s), attribute, count, 2, fuzz_changing(change)));
}

/* Clusters and cooperative launches restrict what the grid may be. */
void fuzz_launch_ex_grid(int s, int attributes, int change)
{
	CUlaunchAttribute attribute[2];
	unsigned count = take_attributes(attribute, attributes, 1);

	CALL(launch_with(fuzz_stream_of(s), attribute, count, fuzz_changing(change) % 4 + 1, 3));
}

void fuzz_launch_cooperative(int s, int change)
{
	void *params[] = {&fuzz_given.x, &fuzz_given.y, &fuzz_given.argument};
	int stream = fuzz_stream_of(s);
	unsigned blocks = fuzz_late(change) && change % 2 ? 1u << 20 : fuzz_changing(change) % 4 + 1;

	fuzz_take(fuzz_buffer_of(stream, 0), fuzz_buffer_of(stream, 1), 17);
	CALL(cuLaunchCooperativeKernel(world.mix, blocks, 1, 1, 16, 1, 1, 0, world.stream[stream],
	                               params));
	fuzz_spoil();
}

extern CUresult CUDAAPI cuLaunchKernel_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y,
                                            unsigned grid_z, unsigned block_x, unsigned block_y,
                                            unsigned block_z, unsigned shared_bytes,
                                            CUstream stream, void **params, void **extra);

/* As a program that is compiled for per-thread default streams calls it. */
void fuzz_launch_ptsz(int change)
{
	void *params[] = {&fuzz_given.x, &fuzz_given.y, &fuzz_given.argument};

	fuzz_take(world.buffer[PER_THREAD][0], world.buffer[PER_THREAD][1], fuzz_changing(change));
	CALL(cuLaunchKernel_ptsz(world.mix, 1, 1, 1, WORDS, 1, 1, 0, NULL, params, NULL));
	fuzz_spoil();
}

/* Never the same twice running, so that nothing of the stream's is found to repeat. */
void fuzz_launch_random(int s, int salt)
{
	int stream = fuzz_stream_of(s);
	unsigned draw = chance((unsigned)salt);
	void *params[] = {&fuzz_given.x, &fuzz_given.y, &fuzz_given.argument};

	fuzz_take(fuzz_buffer_of(stream, (int)(draw % 3)), fuzz_buffer_of(stream, (int)(draw / 4 % 3)),
	          draw);
	CALL(cuLaunchKernel(draw & 1 ? world.mix : world.turn, 1, 1, 1, 1 + draw / 16 % 60, 1, 1, 0,
	                    world.stream[stream], params, NULL));
	fuzz_spoil();
}
