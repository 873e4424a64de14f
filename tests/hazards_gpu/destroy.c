/* Streams, events, modules and contexts are destroyed while work on them is pending. */
#include "hazard.h"

/* The kernel mix as a module of its own. */
static const char module_text[] = ".version 7.0\n"
								  ".target sm_70\n"
								  ".address_size 64\n"
								  ".visible .entry mix(.param .u64 x, .param .u32 argument)\n"
								  "{\n"
								  "	.reg .b32 %value, %argument, %index;\n"
								  "	.reg .b64 %address, %offset;\n"
								  "	ld.param.u64 %address, [x];\n"
								  "	ld.param.u32 %argument, [argument];\n"
								  "	cvta.to.global.u64 %address, %address;\n"
								  "	mov.u32 %index, %tid.x;\n"
								  "	mul.wide.u32 %offset, %index, 4;\n"
								  "	add.s64 %address, %address, %offset;\n"
								  "	ld.global.u32 %value, [%address];\n"
								  "	mad.lo.u32 %value, %value, 1664525, %argument;\n"
								  "	add.u32 %value, %value, %index;\n"
								  "	st.global.u32 [%address], %value;\n"
								  "	ret;\n"
								  "}\n";

static CUfunction load(CUmodule *module)
{
	CUfunction mix;

	CHECK_DRIVER(cuModuleLoadData(module, module_text));
	CHECK_DRIVER(cuModuleGetFunction(&mix, *module, "mix"));
	return mix;
}

static void body(CUfunction mix, struct mirror *mirror, CUstream stream)
{
	for (uint32_t k = 0; k < BODY; k++) {
		CHECK_DRIVER(cuLaunchKernel(mix, 1, 1, 1, WORDS, 1, 1, 0, stream,
		                            (void *[]){&mirror->device, &k}, NULL));
		mirror_mixed(mirror, k);
	}
}

/* A context comes, has a hot loop, and goes with work pending. */
static void context_that_goes(void)
{
	struct mirror mirror;
	CUstream stream;
	CUmodule module;
	CUfunction mix;
	CUcontext context;

	CHECK_DRIVER(cuCtxCreate(&context, NULL, 0, 0));
	mix = load(&module);
	mirror_init(&mirror);
	CHECK_DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (unsigned i = 0; i < 100; i++) {
		body(mix, &mirror, stream);
		CHECK_DRIVER(cuStreamSynchronize(stream));
	}
	mirror_verify(&mirror, 100);
	body(mix, &mirror, stream);
	body(mix, &mirror, stream);
	CHECK_DRIVER(cuCtxDestroy(context));
}

static void destroy_pending(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	CUmodule module;
	CUfunction mix;

	mirror_init(&mirror);
	mix = load(&module);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		body(mix, &mirror, stream);
		mirror_mix(&mirror, 3, stream);
		if (trap_at(i)) {
			cudaEvent_t event;

			CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
			CHECK(cudaEventRecord(event, stream));
			body(mix, &mirror, stream);
			CHECK(cudaEventDestroy(event));
			body(mix, &mirror, stream);
			if (i % 4 == 0) {
				CHECK_DRIVER(cuModuleUnload(module));
				mix = load(&module);
				body(mix, &mirror, stream);
			}
			mirror_body(&mirror, stream);
			CHECK(cudaStreamDestroy(stream));
			CHECK(cudaStreamCreate(&stream));
			/* Destroying let the work go on; nothing orders the new stream behind it. */
			CHECK(cudaDeviceSynchronize());
			if (i % 16 == 0)
				context_that_goes();
		}
		if (i % 2)
			CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

enum {
	RELEASES = 100,
	VISITS = 60,     /* between two of them */
	LONG_BODY = 100, /* launches */
};

static size_t free_memory(void)
{
	size_t unused, all;

	CHECK_DRIVER(cuMemGetInfo(&unused, &all));
	return unused;
}

/*
 * A loop in a context of its own, while the primary context is retained once more and released:
 * what graphs take in the loop's context is not lost with each release.
 */
static void context_beside_release(void)
{
	static const size_t slack_bytes = 16 << 20;
	struct mirror mirror;
	size_t before = 0;
	CUcontext context, primary;
	CUstream stream;
	CUmodule module;
	CUfunction mix;

	CHECK(cudaFree(NULL)); /* cudart retains the primary context */
	CHECK_DRIVER(cuCtxCreate(&context, NULL, 0, 0));
	mix = load(&module);
	mirror_init(&mirror);
	CHECK_DRIVER(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (unsigned release = 0; release < RELEASES; release++) {
		hazard_deadline(60);
		for (unsigned i = 0; i < VISITS; i++) {
			for (unsigned k = 0; k < LONG_BODY / BODY; k++)
				body(mix, &mirror, stream);
			CHECK_DRIVER(cuStreamSynchronize(stream));
		}
		if (release == RELEASES / 10)
			before = free_memory();
		CHECK_DRIVER(cuDevicePrimaryCtxRetain(&primary, 0));
		CHECK_DRIVER(cuDevicePrimaryCtxRelease(0));
	}
	EXPECT(free_memory() + slack_bytes >= before, "%zu bytes were lost with the releases",
	       before - free_memory());
	mirror_verify(&mirror, RELEASES * VISITS);
	CHECK_DRIVER(cuCtxDestroy(context));
}

const struct hazard destroy_hazards[] = {
	{"destroy_pending", destroy_pending},
	{"context_beside_release", context_beside_release},
	{NULL, NULL},
};
