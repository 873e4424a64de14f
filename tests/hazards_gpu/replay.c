/* What may not be replayed, or not with new parameters. */
#include "hazard.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static cudaError_t launch_with(const void *kernel, unsigned blocks, unsigned threads,
                               void **parameters, cudaStream_t stream,
                               cudaLaunchAttribute *attribute, unsigned attributes)
{
	cudaLaunchConfig_t config = {
		.gridDim = {blocks, 1, 1},
		.blockDim = {threads, 1, 1},
		.stream = stream,
		.attrs = attribute,
		.numAttrs = attributes,
	};

	return cudaLaunchKernelExC(&config, kernel, parameters);
}

/* Cluster dimensions change while all parameters stay. */
static void cluster_change(void)
{
	struct mirror mirror;
	cudaStream_t stream;

	if (device_attribute(cudaDevAttrComputeCapabilityMajor) < 9)
		hazard_skip("no clusters before compute capability 9");
	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned k = 0; k < 6; k++) {
			cudaLaunchAttribute cluster = {.id = cudaLaunchAttributeClusterDimension};

			cluster.val.clusterDim.x = trap_at(i) && k == 3 ? (i % 2 ? 4 : 1) : 2;
			cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
			CHECK(
				launch_with(kernel_cluster, 8, 1, (void *[]){&mirror.device}, stream, &cluster, 1));
			for (unsigned word = 0; word < 8; word++)
				mirror.host[word] = mirror.host[word] * MIX_FACTOR + cluster.val.clusterDim.x;
		}
		mirror_mix(&mirror, 1, stream);
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* The limit on dynamic shared memory falls below what the hot loop asks for: that very launch must
 * fail. */
static void smem_attribute(void)
{
	const uint32_t words = 15 * 1024; /* 60 KB */
	struct mirror mirror;
	cudaStream_t stream;
	void *parameters[] = {&mirror.device, (void *)&words};
	dim3 grid = {1, 1, 1}, block = {WORDS, 1, 1};
	cudaError_t refused = cudaSuccess;

	if (device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) < 60 * 1024)
		hazard_skip("less than 60 KB of shared memory for a block");
	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaFuncSetAttribute(kernel_shared, cudaFuncAttributeMaxDynamicSharedMemorySize,
	                           60 * 1024));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned k = 0; k < 6; k++) {
			if (trap_at(i) && k == 3) {
				CHECK(cudaFuncSetAttribute(kernel_shared,
				                           cudaFuncAttributeMaxDynamicSharedMemorySize, 32 * 1024));
				refused =
					cudaLaunchKernel(kernel_shared, grid, block, parameters, words * 4, stream);
				EXPECT(refused != cudaSuccess, "iteration %u: a launch beyond the limit succeeded",
				       i);
				(void)cudaGetLastError();
				CHECK(cudaFuncSetAttribute(kernel_shared,
				                           cudaFuncAttributeMaxDynamicSharedMemorySize, 60 * 1024));
			}
			mirror_mix(&mirror, k, stream);
			CHECK(cudaLaunchKernel(kernel_shared, grid, block, parameters, words * 4, stream));
			for (unsigned word = 0; word < WORDS; word++)
				mirror.host[word] = (mirror.host[word] + words - WORDS + word) * MIX_FACTOR;
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	printf("refused with %s\n", cudaGetErrorName(refused));
	mirror_verify(&mirror, ITERATIONS);
}

/* A launch that can never be, in a hot loop: its error comes at that very call, and the rest goes
 * on. */
static void bad_launch(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	cudaError_t refused = cudaSuccess;
	uint32_t argument = 1;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned k = 0; k < BODY; k++) {
			if (trap_at(i) && k == 4) {
				refused = cudaLaunchKernel(kernel_mix, (dim3){1, 1, 1}, (dim3){4096, 1, 1},
				                           (void *[]){&mirror.device, &argument}, 0, stream);
				EXPECT(refused != cudaSuccess, "iteration %u: a block of 4096 threads was accepted",
				       i);
				EXPECT(cudaGetLastError() == refused, "iteration %u: the last error is another", i);
			}
			mirror_mix(&mirror, k, stream);
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	printf("refused with %s\n", cudaGetErrorName(refused));
	mirror_verify(&mirror, ITERATIONS);
}

/* A CUkernel given where a CUfunction is expected, by turns with the function itself. */
static void kernel_handle(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	cudaKernel_t kernel;
	cudaFunction_t function;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaGetKernel(&kernel, kernel_mix));
	CHECK(cudaGetFuncBySymbol(&function, kernel_mix));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (uint32_t k = 0; k < BODY; k++) {
			uint32_t argument = trap_at(i) && k == 6 ? i : k;
			CUfunction either = k % 3 == 2 ? (CUfunction)function : (CUfunction)kernel;

			CHECK_DRIVER(cuLaunchKernel(either, 1, 1, 1, WORDS, 1, 1, 0, stream,
			                            (void *[]){&mirror.device, &argument}, NULL));
			mirror_mixed(&mirror, argument);
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

static void cooperative(void)
{
	struct mirror mirror;
	cudaStream_t stream;

	if (!device_attribute(cudaDevAttrCooperativeLaunch))
		hazard_skip("no cooperative launches");
	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (uint32_t k = 0; k < 4; k++) {
			uint32_t before[WORDS], argument = trap_at(i) && k == 1 ? i : k;

			mirror_mix(&mirror, k, stream);
			CHECK(cudaLaunchCooperativeKernel(kernel_cooperative, (dim3){8, 1, 1}, (dim3){8, 1, 1},
			                                  (void *[]){&mirror.device, &argument}, 0, stream));
			mirror_mixed(&mirror, argument);
			memcpy(before, mirror.host, sizeof before);
			for (unsigned word = 0; word < WORDS; word++)
				mirror.host[word] = before[word] * ABSORB_FACTOR + 2 * before[(word + 11) % WORDS];
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* The same copy, its source of another kind of memory now and then. */
static void memcpy_kind_change(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	uint32_t *y = device_words(), *on_device = device_words(), *pinned = mapped_words(),
			 pageable[WORDS];

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned word = 0; word < WORDS; word++)
		pageable[word] = pinned[word] = scramble(word + 7);
	CHECK(cudaMemcpy(on_device, pageable, sizeof pageable, cudaMemcpyHostToDevice));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		uint32_t *source = !trap_at(i) ? on_device : i % 2 ? pinned : pageable;

		for (unsigned k = 0; k < 4; k++) {
			mirror_mix(&mirror, k, stream);
			CHECK(cudaMemsetAsync(y, 0, sizeof pageable, stream));
			CHECK(cudaMemcpyAsync(y, k == 2 ? source : on_device, sizeof pageable,
			                      cudaMemcpyDefault, stream));
			mirror_absorb(&mirror, y, pageable, stream);
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* Kernels that may start before their predecessors end, and wait for them themselves. */
static void pdl(void)
{
	struct mirror mirror;
	cudaStream_t stream;

	if (device_attribute(cudaDevAttrComputeCapabilityMajor) < 9)
		hazard_skip("no programmatic launches before compute capability 9");
	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_mix(&mirror, 1, stream);
		for (uint32_t k = 0; k < 8; k++) {
			cudaLaunchAttribute early = {.id = cudaLaunchAttributeProgrammaticStreamSerialization};

			early.val.programmaticStreamSerializationAllowed = 1;
			CHECK(launch_with(kernel_dependent, 1, WORDS, (void *[]){&mirror.device, &k}, stream,
			                  &early, trap_at(i) && k == 5 ? 0 : 1));
			mirror_mixed(&mirror, k);
		}
		mirror_mix(&mirror, trap_at(i) ? i : 2, stream);
		if (i % 3)
			CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* What kernels print comes once each, in order. Stdout goes to a file meanwhile. */
static void device_printf(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	FILE *file = tmpfile();
	int saved = dup(STDOUT_FILENO);
	char line[64];
	unsigned value, next = 0;

	EXPECT(file && saved >= 0, "no temporary file");
	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	for (uint32_t i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		launch(kernel_print, 1, 1, (void *[]){&i}, stream);
		if (trap_at(i))
			mirror_mix(&mirror, i, stream);
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	rewind(file);
	for (; fgets(line, sizeof line, file); next += 64)
		EXPECT(sscanf(line, "device %u", &value) == 1 && value == next, "wanted line %u, got: %s",
		       next, line);
	EXPECT(next == (ITERATIONS + 63) / 64 * 64, "only %u lines came", next / 64);
	fclose(file);
}

/* Whether a stream takes it, the driver says; what it took, it tells. */
static void set_attribute(unsigned number, const uint32_t *words, cudaStream_t stream)
{
	static const cudaLaunchAttributeID ids[] = {cudaLaunchAttributeSynchronizationPolicy,
	                                            cudaLaunchAttributeMemSyncDomain,
	                                            cudaLaunchAttributeAccessPolicyWindow};
	cudaLaunchAttributeID id = ids[number % 3];
	cudaLaunchAttributeValue value, told;
	bool other = number / 3 % 2 != 0;

	memset(&value, 0, sizeof(value));
	memset(&told, 0, sizeof(told));
	if (id == cudaLaunchAttributeSynchronizationPolicy)
		value.syncPolicy = other ? cudaSyncPolicyYield : cudaSyncPolicySpin;
	else if (id == cudaLaunchAttributeMemSyncDomain)
		value.memSyncDomain =
			other ? cudaLaunchMemSyncDomainDefault : cudaLaunchMemSyncDomainRemote;
	else
		value.accessPolicyWindow =
			(struct cudaAccessPolicyWindow){.base_ptr = (void *)words,
		                                    .num_bytes = other ? 64 : 128,
		                                    .hitRatio = 1,
		                                    .hitProp = cudaAccessPropertyPersisting,
		                                    .missProp = cudaAccessPropertyStreaming};
	if (cudaStreamSetAttribute(stream, id, &value) != cudaSuccess) {
		cudaGetLastError();
		return;
	}
	CHECK(cudaStreamGetAttribute(stream, id, &told));
	EXPECT(told.syncPolicy == value.syncPolicy, "attribute %d is another than was set",
	       (int)id); /* or the first bytes of the others */
}

/* The stream's attributes are set before its first work, and in mid-loop. */
static void change_attributes_of(cudaStream_t stream)
{
	struct mirror mirror;
	unsigned number = 0;

	mirror_init(&mirror);
	set_attribute(number++, mirror.device, stream);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		if (trap_at(i)) {
			set_attribute(number++, mirror.device, stream);
			mirror_mix(&mirror, i, stream);
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

static void stream_attributes(void)
{
	cudaStream_t stream;

	CHECK(cudaStreamCreate(&stream));
	change_attributes_of(stream);
}

static void stream_attributes_legacy(void)
{
	change_attributes_of(cudaStreamLegacy);
}

static void stream_attributes_per_thread(void)
{
	change_attributes_of(cudaStreamPerThread);
}

/* From each kind of stream to each other. */
static void stream_attributes_copied(void)
{
	cudaStream_t streams[4] = {NULL, NULL, cudaStreamLegacy, cudaStreamPerThread};
	struct mirror mirrors[4];
	unsigned number = 0;

	CHECK(cudaStreamCreateWithFlags(&streams[0], cudaStreamNonBlocking));
	CHECK(cudaStreamCreate(&streams[1]));
	for (unsigned k = 0; k < 4; k++)
		mirror_init(&mirrors[k]);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		unsigned from = number % 4, to = (from + 1 + number / 4 % 3) % 4;

		for (unsigned k = 0; k < 4; k++)
			mirror_body(&mirrors[k], streams[k]);
		if (trap_at(i)) {
			set_attribute(number++, mirrors[from].device, streams[from]);
			mirror_mix(&mirrors[to], i, streams[to]);
			if (cudaStreamCopyAttributes(streams[to], streams[from]) != cudaSuccess)
				cudaGetLastError();
		}
		for (unsigned k = 0; k < 4; k++)
			CHECK(cudaStreamSynchronize(streams[k]));
	}
	for (unsigned k = 0; k < 4; k++)
		mirror_verify(&mirrors[k], ITERATIONS);
}

const struct hazard replay_hazards[] = {
	{"cluster_change", cluster_change},
	{"smem_attribute", smem_attribute},
	{"bad_launch", bad_launch},
	{"kernel_handle", kernel_handle},
	{"cooperative", cooperative},
	{"memcpy_kind_change", memcpy_kind_change},
	{"pdl", pdl},
	{"device_printf", device_printf},
	{"stream_attributes", stream_attributes},
	{"stream_attributes_legacy", stream_attributes_legacy},
	{"stream_attributes_per_thread", stream_attributes_per_thread},
	{"stream_attributes_copied", stream_attributes_copied},
	{NULL, NULL},
};
