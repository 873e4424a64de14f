/* What a stream says of its kernels: nobody may run them as they were said to before, or as those
 * of another stream are. */
#include <pthread.h>
#include <semaphore.h>

#include "hazard.h"

#define KINDS 4

static CUstreamAttrValue window_of(unsigned words)
{
	return (CUstreamAttrValue){.accessPolicyWindow = {.base_ptr = (void *)(uintptr_t)hazard_y,
	                                                  .num_bytes = 4 * words,
	                                                  .hitRatio = 1,
	                                                  .hitProp = CU_ACCESS_PROPERTY_PERSISTING,
	                                                  .missProp = CU_ACCESS_PROPERTY_STREAMING}};
}

/* One after the other, in two ways each. How a host waits concerns no kernel, and one is refused.
 */
CUresult hazard_set_attribute(CUstream stream, unsigned number)
{
	bool other = number / 6 % 2 != 0;
	CUstreamAttrValue value = {0};

	switch (number % 6) {
	case 0:
		value = window_of(other ? WORDS : WORDS / 2);
		return cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value);
	case 1:
		value.memSyncDomain =
			other ? CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT : CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
		return cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN, &value);
	case 2:
		value.memSyncDomainMap.default_ = other;
		value.memSyncDomainMap.remote = !other;
		return cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &value);
	case 3:
		value.priority = other ? 0 : -1;
		return cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_PRIORITY, &value);
	case 4:
		value.syncPolicy = other ? CU_SYNC_POLICY_YIELD : CU_SYNC_POLICY_SPIN;
		return cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value);
	default:
		value.cooperative = 1; /* launches have that, and no streams */
		return cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value);
	}
}

/* When the graphs that come of a change are built. */
static bool is_settled_by(unsigned iteration)
{
	return hazard_springs(iteration - 9) && iteration % 2 == 0;
}

static bool springs(unsigned iteration)
{
	return hazard_springs(iteration) && iteration % 2 == 1;
}

/* Some are set before the first work, the others in mid-loop, while ops are deferred. */
static void loop_and_set(CUstream stream, CUdeviceptr x)
{
	unsigned number = 0, refused = 0;

	CHECK(hazard_set_attribute(stream, 0));
	CHECK(hazard_set_attribute(stream, 1));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(x, stream);
		if (springs(iteration))
			refused += hazard_set_attribute(stream, number++) != CUDA_SUCCESS;
		hazard_chain(x, stream);
		CHECK(cuStreamSynchronize(stream));
		if (is_settled_by(iteration))
			hazard_settle(stream);
	}
	printf("refused %u\n", refused);
	hazard_print("x", x);
}

static void stream_attributes(void)
{
	loop_and_set(hazard_stream(CU_STREAM_NON_BLOCKING), hazard_x);
}

static void stream_attributes_legacy(void)
{
	loop_and_set(NULL, hazard_x);
}

static void stream_attributes_per_thread(void)
{
	loop_and_set(CU_STREAM_PER_THREAD, hazard_x);
}

/* ---- copied ---- */

/* From each kind of stream to each other one, after what that has was changed. */
static void stream_attributes_copied(void)
{
	CUstream streams[KINDS] = {hazard_stream(CU_STREAM_NON_BLOCKING),
	                           hazard_stream(CU_STREAM_DEFAULT), CU_STREAM_LEGACY,
	                           CU_STREAM_PER_THREAD};
	CUdeviceptr x[KINDS];
	unsigned number = 0;

	for (unsigned i = 0; i < KINDS; i++) {
		CHECK(cuMemAlloc(&x[i], WORDS * 4));
		CHECK(cuMemsetD32(x[i], i + 1, WORDS));
	}
	CHECK(cuCtxSynchronize());
	for (unsigned iteration = 0; iteration < 2 * ITERATIONS; iteration++) {
		unsigned from = number % KINDS, to = (from + 1 + number / KINDS % (KINDS - 1)) % KINDS;

		for (unsigned i = 0; i < KINDS; i++)
			hazard_chain(x[i], streams[i]);
		if (springs(iteration)) {
			hazard_set_attribute(streams[from], number++);
			hazard_part_of_chain(x[to], 5, streams[to]);
			CHECK(cuStreamCopyAttributes(streams[to], streams[from]));
		}
		if (iteration % 2)
			for (unsigned i = 0; i < KINDS; i++)
				CHECK(cuStreamSynchronize(streams[i]));
		if (is_settled_by(iteration))
			hazard_settle(CU_STREAM_LEGACY);
	}
	for (unsigned i = 0; i < KINDS; i++)
		hazard_print("x", x[i]);
}

/* ---- beside other threads ---- */

static CUstream set_by_other;
static sem_t asked, answered;

static void *set_when_asked(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	for (unsigned number = 0; number < 24; number++) {
		sem_wait(&asked);
		hazard_set_attribute(set_by_other,
		                     number % 2 == 0 ? number % 4 / 2 * 6 : 1 + number % 4 / 2 * 6);
		sem_post(&answered);
	}
	return unused;
}

/* A launch with attributes of its own, which go before its stream's: so it is the same whatever
 * that has by now. */
static void launch_alike(CUstream stream, unsigned argument)
{
	CUlaunchAttribute own[2] = {{.id = CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
	                             .value = window_of(WORDS / 4)},
	                            {.id = CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
	                             .value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE}};
	CUlaunchConfig config = {.gridDimX = 1,
	                         .gridDimY = 1,
	                         .gridDimZ = 1,
	                         .blockDimX = WORDS,
	                         .blockDimY = 1,
	                         .blockDimZ = 1,
	                         .hStream = stream,
	                         .attrs = own,
	                         .numAttrs = 2};

	CHECK(cuLaunchKernelEx(&config, hazard_mix, (void *[]){&hazard_x, &hazard_y, &argument}, NULL));
}

/* Another thread sets an attribute, which takes long, while this one goes on. When that has
 * returned, it holds for all that comes. */
static void set_beside(CUstream stream)
{
	pthread_t thread;

	set_by_other = stream;
	sem_init(&asked, 0, 0);
	sem_init(&answered, 0, 0);
	pthread_create(&thread, NULL, set_when_asked, NULL);
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		hazard_chain(hazard_x, stream);
		for (unsigned i = 0; i < CHAIN / 2; i++)
			launch_alike(stream, i);
		if (iteration % 50 == 10) {
			sem_post(&asked);
			for (unsigned i = 0; i < 10 * CHAIN; i++)
				launch_alike(stream, i % (CHAIN / 2));
			sem_wait(&answered);
		}
		CHECK(cuStreamSynchronize(stream));
		if (iteration % 50 == 20)
			hazard_settle(stream);
	}
	pthread_join(thread, NULL);
	hazard_print("x", hazard_x);
}

static void stream_attributes_beside(void)
{
	set_beside(hazard_stream(CU_STREAM_NON_BLOCKING));
}

static void stream_attributes_beside_legacy(void)
{
	set_beside(CU_STREAM_LEGACY);
}

const struct hazard attribute_hazards[] = {
	{"stream_attributes", stream_attributes},
	{"stream_attributes_legacy", stream_attributes_legacy},
	{"stream_attributes_per_thread", stream_attributes_per_thread},
	{"stream_attributes_copied", stream_attributes_copied},
	{"stream_attributes_beside", stream_attributes_beside},
	{"stream_attributes_beside_legacy", stream_attributes_beside_legacy},
	{NULL, NULL},
};
