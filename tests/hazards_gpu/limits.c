/* What a graph is not asked to be, or what the driver refuses to make of it. */
#include "hazard.h"

/* cuCtxSynchronize without and with a context, by versions of one name: the other context has been
 * waited for when the second returns. */
static void version_signature(void)
{
	CUresult (*synchronize)(void) = NULL;
	CUresult (*synchronize_of)(CUcontext context) = NULL;
	uint32_t *mapped, delay = 300;
	struct mirror mirror;
	cudaStream_t stream, stream_there;
	CUcontext here, there, popped;
	cudaKernel_t publish, wait;
	int version = 0;

	CHECK_DRIVER(cuDriverGetVersion(&version));
	if (version < 13000)
		hazard_skip("cuCtxSynchronize has one version before CUDA 13");
	CHECK_DRIVER(cuGetProcAddress("cuCtxSynchronize", (void **)&synchronize, 12000,
	                              CU_GET_PROC_ADDRESS_DEFAULT, NULL));
	CHECK_DRIVER(cuGetProcAddress("cuCtxSynchronize", (void **)&synchronize_of, 13000,
	                              CU_GET_PROC_ADDRESS_DEFAULT, NULL));
	EXPECT(synchronize && synchronize_of && (void *)synchronize != (void *)synchronize_of,
	       "the two versions are one function");
	mirror_init(&mirror);
	CHECK(cudaHostAlloc((void **)&mapped, WORDS * sizeof *mapped,
	                    cudaHostAllocMapped | cudaHostAllocPortable));
	*mapped = 0;
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaGetKernel(&publish, kernel_publish));
	CHECK(cudaGetKernel(&wait, kernel_delay));
	CHECK_DRIVER(cuCtxGetCurrent(&here));
	CHECK_DRIVER(cuCtxCreate(&there, NULL, 0, 0));
	CHECK_DRIVER(cuStreamCreate(&stream_there, CU_STREAM_NON_BLOCKING));
	CHECK_DRIVER(cuCtxPopCurrent(&popped));
	for (uint32_t i = 1; i <= ITERATIONS; i++) {
		CHECK_DRIVER(cuCtxPushCurrent(there));
		for (unsigned k = 0; k < 3; k++)
			CHECK_DRIVER(cuLaunchKernel((CUfunction)wait, 1, 1, 1, 1, 1, 1, 0, stream_there,
			                            (void *[]){&delay}, NULL));
		CHECK_DRIVER(cuLaunchKernel((CUfunction)publish, 1, 1, 1, 1, 1, 1, 0, stream_there,
		                            (void *[]){&mapped, &i}, NULL));
		CHECK_DRIVER(cuCtxPopCurrent(&popped));
		mirror_body(&mirror, stream);
		if (trap_at(i)) {
			CHECK_DRIVER(synchronize_of(there));
			EXPECT(*(volatile uint32_t *)mapped == i, "iteration %u: the other context is at %u", i,
			       *(volatile uint32_t *)mapped);
		}
		CHECK_DRIVER(synchronize());
	}
	CHECK_DRIVER(synchronize_of(there));
	mirror_verify(&mirror, ITERATIONS);
	CHECK_DRIVER(cuCtxSetCurrent(here));
}

/* The source of a copy is now and then memory of another context, which no update makes of a node
 * (cuGraphExecUpdate, "Limitations"). */
static void update_refused(void)
{
	enum { SOURCES = 31 };
	struct mirror mirror;
	cudaStream_t stream;
	CUcontext there, popped;
	CUdeviceptr y = (CUdeviceptr)(uintptr_t)device_words(), elsewhere, sources;
	static uint32_t host[SOURCES + 1][WORDS];

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i <= SOURCES; i++)
		for (unsigned word = 0; word < WORDS; word++)
			host[i][word] = scramble(i * WORDS + word);
	CHECK_DRIVER(cuMemAlloc(&sources, SOURCES * sizeof host[0]));
	CHECK_DRIVER(cuMemcpyHtoD(sources, host, SOURCES * sizeof host[0]));
	CHECK_DRIVER(cuCtxCreate(&there, NULL, 0, 0));
	CHECK_DRIVER(cuMemAlloc(&elsewhere, sizeof host[0]));
	CHECK_DRIVER(cuMemcpyHtoD(elsewhere, host[SOURCES], sizeof host[0]));
	CHECK_DRIVER(cuCtxSynchronize());
	CHECK_DRIVER(cuCtxPopCurrent(&popped));
	if (cuMemcpyDtoDAsync(y, elsewhere, sizeof host[0], stream) != CUDA_SUCCESS)
		hazard_skip("memory of another context cannot be copied");
	for (unsigned i = 0; i < ITERATIONS; i++) {
		unsigned source = trap_at(i) ? SOURCES : i * 7 % SOURCES;

		mirror_body(&mirror, stream);
		CHECK_DRIVER(
			cuMemcpyDtoDAsync(y, source == SOURCES ? elsewhere : sources + source * sizeof host[0],
		                      sizeof host[0], stream));
		mirror_absorb(&mirror, (const uint32_t *)(uintptr_t)y, host[source], stream);
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

const struct hazard limit_hazards[] = {
	{"version_signature", version_signature},
	{"update_refused", update_refused},
	{NULL, NULL},
};
