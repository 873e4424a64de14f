/* The order among streams, events and host functions. */
#include "hazard.h"

#include <stdlib.h>
#include <string.h>

/* Work on the legacy stream between work on a blocking stream, on the same data: the order is
 * implied, both ways. */
static void legacy_blocking(void)
{
	struct mirror mirror;
	cudaStream_t stream;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned k = 0; k < 4; k++) {
			mirror_mix(&mirror, k, stream);
			mirror_mix(&mirror, k + 10, stream);
			mirror_mix(&mirror, k + 100, cudaStreamLegacy);
			if (trap_at(i) && k == 2)
				mirror_mix(&mirror, i, cudaStreamLegacy);
		}
		CHECK(cudaStreamSynchronize(i % 2 ? stream : cudaStreamLegacy));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* Two streams take turns by two events, each recorded again and again; the last record before a
 * wait counts. */
static void event_ping_pong(void)
{
	struct mirror mirror;
	cudaStream_t a, b;
	cudaEvent_t from_a, from_b;

	mirror_init(&mirror);
	CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&from_a, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&from_b, cudaEventDisableTiming));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned k = 0; k < 3; k++) {
			mirror_mix(&mirror, k, a);
			if (trap_at(i))
				CHECK(cudaEventRecord(from_a, a));
			mirror_mix(&mirror, k + 10, a);
			CHECK(cudaEventRecord(from_a, a));
			CHECK(cudaStreamWaitEvent(b, from_a, 0));
			mirror_mix(&mirror, k + 20, b);
			mirror_mix(&mirror, trap_at(i) ? i : k + 30, b);
			CHECK(cudaEventRecord(from_b, b));
			CHECK(cudaStreamWaitEvent(a, from_b, 0));
		}
		CHECK(cudaStreamSynchronize(i % 5 ? a : b));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* The host looks until the work is done, by the event or by the stream. */
static void event_query_poll(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	cudaEvent_t event;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		double end = seconds_now() + 2;
		cudaError_t error = cudaErrorNotReady;
		bool by_event = trap_at(i) ? i % 2 : 1;

		mirror_body(&mirror, stream);
		if (by_event)
			CHECK(cudaEventRecord(event, stream));
		while (error == cudaErrorNotReady) {
			error = by_event ? cudaEventQuery(event) : cudaStreamQuery(stream);
			EXPECT(seconds_now() < end, "iteration %u: never ready", i);
		}
		CHECK(error);
		(void)cudaGetLastError();
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* The time between two events covers the work between them. */
static void event_timing(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	cudaEvent_t begin, end;
	uint32_t us = 200;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaEventCreate(&begin));
	CHECK(cudaEventCreate(&end));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		float ms = -1;

		CHECK(cudaEventRecord(begin, stream));
		mirror_body(&mirror, stream);
		if (trap_at(i))
			launch(kernel_delay, 1, 1, (void *[]){&us}, stream);
		CHECK(cudaEventRecord(end, stream));
		CHECK(cudaEventSynchronize(end));
		CHECK(cudaEventElapsedTime(&ms, begin, end));
		EXPECT(ms > (trap_at(i) ? 0.19f : 0.0f) && ms < 2000,
		       "iteration %u: %g ms between the events", i, (double)ms);
	}
	mirror_verify(&mirror, ITERATIONS);
}

static struct {
	uint32_t value[8];
	unsigned length;
} host_log;

static void append(void *value)
{
	if (host_log.length < 8)
		host_log.value[host_log.length] = (uint32_t)(uintptr_t)value;
	host_log.length++;
}

static void append_as_callback(cudaStream_t stream, cudaError_t status, void *value)
{
	(void)stream;
	append(status == cudaSuccess ? value : NULL);
}

static void expect_log(unsigned iteration, unsigned length)
{
	EXPECT(host_log.length == length, "iteration %u: %u host functions ran, not %u", iteration,
	       host_log.length, length);
	for (unsigned k = 0; k < length; k++)
		EXPECT(host_log.value[k] == iteration * 10 + k + 1, "iteration %u: host function %u saw %u",
		       iteration, k, host_log.value[k]);
	host_log.length = 0;
}

/* Host functions among kernels run once each, in order, after the work before them. */
static void host_func_log(void)
{
	struct mirror mirror;
	cudaStream_t stream;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		unsigned length = trap_at(i) ? 5 : 3;

		for (uintptr_t k = 0; k < length; k++) {
			mirror_mix(&mirror, (uint32_t)k, stream);
			mirror_mix(&mirror, 7, stream);
			CHECK(cudaLaunchHostFunc(stream, append, (void *)(i * 10 + k + 1)));
		}
		CHECK(cudaStreamSynchronize(stream));
		expect_log(i, length);
	}
	mirror_verify(&mirror, ITERATIONS);
}

struct closure {
	unsigned value;
	const uint32_t *copied, *expected;
};

static void run_once(void *data)
{
	struct closure *closure = data;

	host_log.value[0] = closure->value;
	host_log.length = *closure->copied == *closure->expected;
	free(closure);
}

/* Each host function frees what it was given, and so gets something else each time. It sees what
 * the stream has copied by then. */
static void host_func_once(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	uint32_t *copied = mapped_words();

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		struct closure *closure = malloc(sizeof(*closure) + i % 7 * 64);

		EXPECT(closure, "no memory");
		*closure = (struct closure){i, copied, mirror.host};
		mirror_body(&mirror, stream);
		CHECK(cudaMemcpyAsync(copied, mirror.device, sizeof(mirror.host), cudaMemcpyDeviceToHost,
		                      stream));
		CHECK(cudaLaunchHostFunc(stream, run_once, closure));
		if (trap_at(i))
			EXPECT(cudaLaunchHostFunc(stream, NULL, NULL) == cudaErrorInvalidValue &&
			           cudaGetLastError() == cudaErrorInvalidValue,
			       "a host function that is none was taken");
		CHECK(cudaStreamSynchronize(stream));
		EXPECT(host_log.length == 1 && host_log.value[0] == i, "iteration %u: %u, saw %u", i,
		       host_log.length, host_log.value[0]);
		host_log.length = 0;
	}
	mirror_verify(&mirror, ITERATIONS);
}

static void callback(void)
{
	struct mirror mirror;
	cudaStream_t stream;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		unsigned length = trap_at(i) ? 4 : 2;

		for (uintptr_t k = 0; k < length; k++) {
			mirror_mix(&mirror, (uint32_t)k, stream);
			mirror_mix(&mirror, 7, stream);
			CHECK(cudaStreamAddCallback(stream, append_as_callback, (void *)(i * 10 + k + 1), 0));
		}
		CHECK(cudaStreamSynchronize(stream));
		expect_log(i, length);
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* A kernel on one stream waits, in device memory, for a kernel that the host enqueues later on
 * another. */
static void spin_across_streams(void)
{
	struct mirror of_a, of_b;
	cudaStream_t a, b;
	uint32_t *flag = device_words(), *late = mapped_words();

	mirror_init(&of_a);
	mirror_init(&of_b);
	CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	/* Loads the kernel before another waits for it: loading may wait for the device. */
	launch(kernel_raise, 1, 1, (void *[]){&flag, &(uint32_t){0}}, b);
	mirror_mix(&of_b, 0, b);
	mirror_mix(&of_a, 0, a);
	CHECK(cudaDeviceSynchronize());
	for (uint32_t i = 1; i <= ITERATIONS; i++) {
		mirror_mix(&of_a, 1, a);
		launch(kernel_wait, 1, 1, (void *[]){&flag, &i, &late}, a);
		mirror_mix(&of_a, trap_at(i) ? i : 2, a);
		mirror_mix(&of_b, 3, b);
		mirror_mix(&of_b, 4, b);
		launch(kernel_raise, 1, 1, (void *[]){&flag, &i}, b);
		CHECK(cudaStreamSynchronize(trap_at(i) ? b : a));
		CHECK(cudaStreamSynchronize(a));
		EXPECT(!*late, "iteration %u: the kernel gave up waiting for the other stream", i);
	}
	mirror_verify(&of_a, ITERATIONS);
	mirror_verify(&of_b, ITERATIONS);
}

/* A kernel waits for one whose launch has returned, in the midst of what is hot; then comes a call
 * that may wait for both. */
static void call_behind(void (*call)(void))
{
	struct mirror mirror;
	cudaStream_t waiting, hot;
	uint32_t *flag = device_words(), *late = mapped_words();

	mirror_init(&mirror);
	CHECK(cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&hot, cudaStreamNonBlocking));
	/* Loads the kernels before one waits for another: loading may wait for the device. */
	launch(kernel_raise, 1, 1, (void *[]){&flag, &(uint32_t){0}}, hot);
	launch(kernel_wait, 1, 1, (void *[]){&flag, &(uint32_t){0}, &late}, waiting);
	mirror_mix(&mirror, 0, hot);
	CHECK(cudaDeviceSynchronize());
	for (uint32_t i = 1; i <= ITERATIONS; i++) {
		launch(kernel_wait, 1, 1, (void *[]){&flag, &i, &late}, waiting);
		for (uint32_t k = 0; k < 4; k++)
			mirror_mix(&mirror, k, hot);
		launch(kernel_raise, 1, 1, (void *[]){&flag, &i}, hot);
		if (trap_at(i))
			call();
		for (uint32_t k = 0; k < 4; k++)
			mirror_mix(&mirror, k + 10, hot);
		CHECK(cudaStreamSynchronize(hot));
		CHECK(cudaStreamSynchronize(waiting));
		EXPECT(!*late, "iteration %u: the kernel gave up waiting for the other stream", i);
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* They are kept: only a heap that has to grow waits. */
static void make_streams(void)
{
	cudaStream_t made;

	for (unsigned i = 0; i < 10; i++)
		CHECK(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
}

static void streams_made_behind(void)
{
	call_behind(make_streams);
}

static cudaGraph_t kept;

static void make_graphs(void)
{
	cudaGraphExec_t made;

	for (unsigned i = 0; i < 10; i++)
		CHECK(cudaGraphInstantiateWithFlags(&made, kept, 0));
}

static void graph_made_behind(void)
{
	struct mirror unused;
	cudaStream_t stream;

	mirror_init(&unused);
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	for (unsigned i = 0; i < 40; i++)
		mirror_mix(&unused, i, stream);
	CHECK(cudaStreamEndCapture(stream, &kept));
	call_behind(make_graphs);
}

/* A kernel runs all the while, until the host lets it go; loops on other streams become hot beside
 * it, and change now and then. */
static void persistent_kernel(void)
{
	struct mirror mirror;
	cudaStream_t resident, hot;
	uint32_t *word = mapped_words(), *late = mapped_words(), one = 1;

	mirror_init(&mirror);
	CHECK(cudaStreamCreateWithFlags(&resident, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&hot, cudaStreamNonBlocking));
	/* Loads the kernels: loading may wait for the device. */
	mirror_body(&mirror, hot);
	mirror_mix(&mirror, scramble(0), hot);
	CHECK(cudaDeviceSynchronize());
	launch(kernel_wait, 1, 1, (void *[]){&word, &one, &late}, resident);
	for (uint32_t i = 1; i <= ITERATIONS; i++) {
		mirror_body(&mirror, hot);
		mirror_mix(&mirror, trap_at(i) ? i : 5, hot);
		CHECK(cudaStreamSynchronize(hot));
		/* Other loops from here on, whose graphs are built beside the kernel, too. */
		for (uint32_t k = 0; k < i * 4 / ITERATIONS; k++)
			mirror_mix(&mirror, 7 + k, hot);
	}
	EXPECT(!*late, "the kernel gave up waiting before the host let it go");
	__atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
	CHECK(cudaStreamSynchronize(resident));
	EXPECT(!*late, "the kernel gave up waiting for the host");
	mirror_verify(&mirror, ITERATIONS);
}

/* One stream waits for a word that another writes, both by operations of the stream itself. */
static void wait_value(void)
{
	struct mirror of_a, of_b;
	cudaStream_t a, b;
	uint32_t *word = device_words();

	mirror_init(&of_a);
	mirror_init(&of_b);
	CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	/* Loads the kernels before any stream waits: loading may wait for the device. */
	mirror_body(&of_a, a);
	mirror_mix(&of_a, scramble(0), a);
	mirror_absorb(&of_a, word, (uint32_t[WORDS]){0}, a);
	CHECK(cudaDeviceSynchronize());
	for (uint32_t i = 1; i <= ITERATIONS; i++) {
		mirror_body(&of_a, a);
		if (trap_at(i))
			mirror_mix(&of_a, scramble(0), a); /* what is hot is left in its middle */
		CHECK_DRIVER(cuStreamWaitValue32(a, (CUdeviceptr)word, i, CU_STREAM_WAIT_VALUE_GEQ));
		mirror_absorb(&of_a, word, (uint32_t[WORDS]){i}, a);
		mirror_body(&of_b, b);
		if (trap_at(i))
			mirror_mix(&of_b, scramble(0), b);
		CHECK_DRIVER(cuStreamWriteValue32(b, (CUdeviceptr)word, i, CU_STREAM_WRITE_VALUE_DEFAULT));
		mirror_body(&of_b, b);
		CHECK(cudaStreamSynchronize(a));
	}
	mirror_verify(&of_a, ITERATIONS);
	mirror_verify(&of_b, ITERATIONS);
}

/* Memory allocated and freed in stream order inside the loop. */
/*
 * An allocation may be given what another stream frees later, and then makes its stream wait for
 * that free: what was launched before the allocation must not come behind it, since the free itself
 * waits for that here.
 */
static void alloc_reuse(void)
{
	struct mirror of_b;
	cudaStream_t a, b;
	cudaEvent_t taken;
	uint32_t *flag = device_words(), *late = mapped_words(), *memory;
	int pools = 0;

	CHECK(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, 0));
	if (!pools)
		hazard_skip("no memory pools");
	mirror_init(&of_b);
	CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&taken, cudaEventDisableTiming));
	CHECK(cudaMallocAsync((void **)&memory, 64 << 20, a));
	/* Loads the kernels before one waits for another. */
	launch(kernel_raise, 1, 1, (void *[]){&flag, &(uint32_t){0}}, b);
	launch(kernel_wait, 1, 1, (void *[]){&flag, &(uint32_t){0}, &late}, a);
	mirror_mix(&of_b, 0, b);
	CHECK(cudaDeviceSynchronize());
	for (uint32_t i = 1; i <= ITERATIONS; i++) {
		launch(kernel_wait, 1, 1, (void *[]){&flag, &i, &late}, a);
		CHECK(cudaFreeAsync(memory, a));
		mirror_mix(&of_b, trap_at(i) ? i : 3, b);
		launch(kernel_raise, 1, 1, (void *[]){&flag, &i}, b);
		CHECK(cudaMallocAsync((void **)&memory, 64 << 20, b));
		mirror_mix(&of_b, 4, b);
		CHECK(cudaEventRecord(taken, b));
		CHECK(cudaStreamWaitEvent(a, taken, 0));
		CHECK(cudaStreamSynchronize(a));
		EXPECT(!*late,
		       "iteration %u: what the allocation waited for waited for what came before it", i);
	}
	mirror_verify(&of_b, ITERATIONS);
}

static void free_async(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	uint32_t set[WORDS];
	int pools = 0;

	CHECK(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, 0));
	if (!pools)
		hazard_skip("no memory pools");
	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		uint32_t *y;

		memset(set, (int)(i % 3), sizeof set);
		/* A second one now and then, so that the addresses change. */
		uint32_t *other = NULL;
		if (trap_at(i))
			CHECK(cudaMallocAsync((void **)&other, 4096, stream));
		CHECK(cudaMallocAsync((void **)&y, sizeof set, stream));
		CHECK(cudaMemsetAsync(y, (int)(i % 3), sizeof set, stream));
		for (unsigned k = 0; k < 6; k++) {
			mirror_mix(&mirror, k, stream);
			mirror_absorb(&mirror, y, set, stream);
		}
		CHECK(cudaFreeAsync(y, stream));
		if (other)
			CHECK(cudaFreeAsync(other, stream));
		if (i % 3 == 0)
			CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

const struct hazard order_hazards[] = {
	{"legacy_blocking", legacy_blocking},
	{"event_ping_pong", event_ping_pong},
	{"event_query_poll", event_query_poll},
	{"event_timing", event_timing},
	{"host_func_log", host_func_log},
	{"host_func_once", host_func_once},
	{"callback", callback},
	{"spin_across_streams", spin_across_streams},
	{"streams_made_behind", streams_made_behind},
	{"graph_made_behind", graph_made_behind},
	{"persistent_kernel", persistent_kernel},
	{"wait_value", wait_value},
	{"free_async", free_async},
	{"alloc_reuse", alloc_reuse},
	{NULL, NULL},
};
