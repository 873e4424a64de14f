/* Memory that the host reads or writes while work is under way. */
#include "hazard.h"

#include <string.h>

/* The source is overwritten as soon as the copy from pageable memory returns. */
static void pageable_h2d(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	uint32_t source[WORDS], sent[WORDS], *y = device_words();

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned word = 0; word < WORDS; word++)
			sent[word] = source[word] = trap_at(i) ? scramble(i + word) : word;
		mirror_mix(&mirror, 1, stream);
		CHECK(cudaMemcpyAsync(y, source, sizeof source, cudaMemcpyHostToDevice, stream));
		memset(source, 0xA5, sizeof source);
		for (unsigned k = 0; k < 6; k++)
			mirror_absorb(&mirror, y, sent, stream);
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* A copy to pageable memory has arrived when the call returns. */
static void pageable_d2h(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	uint32_t here[WORDS];

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		if (trap_at(i))
			mirror_mix(&mirror, i, stream);
		memset(here, 0, sizeof here);
		CHECK(cudaMemcpyAsync(here, mirror.device, sizeof here, cudaMemcpyDeviceToHost, stream));
		EXPECT(!memcmp(here, mirror.host, sizeof here),
		       "iteration %u: the copy was not there on return", i);
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* A pinned source that changes after each synchronisation. */
static void pinned_h2d_reuse(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	uint32_t *source = mapped_words(), *y = device_words();

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		CHECK(cudaMemcpyAsync(y, source, WORDS * sizeof *y, cudaMemcpyHostToDevice, stream));
		for (unsigned k = 0; k < 8; k++)
			mirror_absorb(&mirror, y, source, stream);
		CHECK(cudaStreamSynchronize(stream));
		if (trap_at(i) || i % 3 == 0)
			for (unsigned word = 0; word < WORDS; word++)
				source[word] = scramble(i * WORDS + word);
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* The host spins on mapped memory that the last kernel writes, and makes no call meanwhile. */
static void mapped_poll(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	uint32_t *mapped = mapped_words();

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (uint32_t i = 1; i <= ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		launch(kernel_publish, 1, 1, (void *[]){&mapped, &i}, stream);
		await_mapped(mapped, i);
		if (trap_at(i)) {
			mirror_mix(&mirror, i, stream);
			CHECK(cudaStreamSynchronize(stream));
		}
	}
	mirror_verify(&mirror, ITERATIONS);
}

static void think(double seconds)
{
	double end = seconds_now() + seconds;

	while (seconds_now() < end)
		continue;
}

/*
 * The host is slow between its calls and seldom waits, so that what it launches is left to a thread
 * of ours. An op has another value in each iteration, and at times the host spins, with no call, on
 * what the last one writes, or something comes between.
 */
static void slow_host(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	uint32_t *mapped = mapped_words();

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (uint32_t i = 1; i <= ITERATIONS; i++) {
		for (unsigned k = 0; k < 2 * BODY; k++) {
			think(6e-6);
			mirror_mix(&mirror, k == BODY ? i : k, stream);
		}
		think(6e-6);
		launch(kernel_publish, 1, 1, (void *[]){&mapped, &i}, stream);
		if (trap_at(i) && i % 3 == 0)
			await_mapped(mapped, i);
		if (trap_at(i) && i % 3 == 1)
			mirror_mix(&mirror, i, stream);
		if (i % 40 == 0)
			mirror_verify(&mirror, i);
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* A kernel says that it runs, then waits for a flag that the host sets only after that, its last
 * call long made. */
static void flag_from_host(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	volatile uint32_t *mapped = mapped_words();
	volatile uint32_t *started = mapped, *flag = mapped + 16, *done = mapped + 32,
					  *late = mapped + 48;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (uint32_t i = 1; i <= ITERATIONS; i++) {
		mirror_mix(&mirror, 1, stream);
		launch(kernel_publish, 1, 1, (void *[]){&started, &i}, stream);
		launch(kernel_wait, 1, 1, (void *[]){&flag, &i, &late}, stream);
		mirror_mix(&mirror, trap_at(i) ? i : 2, stream);
		launch(kernel_publish, 1, 1, (void *[]){&done, &i}, stream);
		await_mapped(started, i);
		*flag = i;
		await_mapped(done, i);
		EXPECT(!*late, "iteration %u: the kernel gave up waiting for the flag", i);
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* Managed memory attached to the stream, read and written by the host after each synchronisation.
 */
static void managed_touch(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	uint32_t *managed;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	if (cudaMallocManaged((void **)&managed, WORDS * sizeof *managed, cudaMemAttachGlobal) !=
	    cudaSuccess)
		hazard_skip("no managed memory");
	CHECK(cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachSingle));
	CHECK(cudaStreamSynchronize(stream));
	memcpy(managed, mirror.host, sizeof mirror.host);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned k = 0; k < BODY; k++) {
			uint32_t argument = scramble(k);

			launch(kernel_mix, 1, WORDS, (void *[]){&managed, &argument}, stream);
			mirror_mixed(&mirror, argument);
		}
		CHECK(cudaStreamSynchronize(stream));
		EXPECT(!memcmp(managed, mirror.host, sizeof mirror.host),
		       "iteration %u: managed memory holds something else", i);
		managed[i % WORDS] += i;
		mirror.host[i % WORDS] += i;
		if (trap_at(i))
			CHECK(cudaStreamAttachMemAsync(stream, managed, 0,
			                               i % 2 ? cudaMemAttachSingle : cudaMemAttachGlobal));
		CHECK(cudaStreamSynchronize(stream));
	}
	CHECK(cudaFree(managed));
}

/* One place in memory for the parameters of every launch, overwritten at once. */
static void params_reused(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	struct {
		uint32_t *x;
		uint32_t argument;
	} values;
	void *parameters[] = {&values.x, &values.argument};

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned k = 0; k < BODY; k++) {
			values.x = mirror.device;
			values.argument = trap_at(i) && k == 3 ? i : scramble(k);
			parameters[0] = &values.x;
			parameters[1] = &values.argument;
			mirror_mixed(&mirror, values.argument);
			launch(kernel_mix, 1, WORDS, parameters, stream);
			memset(&values, 0xEE, sizeof values);
			memset(parameters, 0xEE, sizeof parameters);
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* Parameters packed in a buffer, which is overwritten at once. */
static void extra_buffer(void)
{
	struct mirror mirror;
	cudaStream_t stream;
	cudaFunction_t function;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaGetFuncBySymbol(&function, kernel_mix));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned k = 0; k < BODY; k++) {
			struct {
				uint32_t *x;
				uint32_t argument;
			} packed = {mirror.device, trap_at(i) && k == 5 ? i : scramble(k)};
			size_t bytes = offsetof(__typeof__(packed), argument) + sizeof packed.argument;
			void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
			                 &bytes, CU_LAUNCH_PARAM_END};

			mirror_mixed(&mirror, packed.argument);
			CHECK_DRIVER(cuLaunchKernel(function, 1, 1, 1, WORDS, 1, 1, 0, stream, NULL, extra));
			memset(&packed, 0xEE, sizeof packed);
			bytes = 0;
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* 8000 bytes of parameters, of which one word near the end changes now and then. */
static void large_params(void)
{
	static struct large parameters;
	struct mirror mirror;
	cudaStream_t stream;
	uint32_t sum = 0;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned word = 0; word < sizeof parameters.words / sizeof parameters.words[0]; word++)
		sum += parameters.words[word] = scramble(word);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned k = 0; k < 4; k++) {
			uint32_t *changing = &parameters.words[1990], before = *changing;

			*changing = trap_at(i) && k == 2 ? i : k;
			sum += *changing - before;
			launch(kernel_large, 1, WORDS, (void *[]){&mirror.device, &parameters}, stream);
			for (unsigned word = 0; word < WORDS; word++)
				mirror.host[word] = mirror.host[word] * MIX_FACTOR + sum;
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

/* Structure padding never holds the same twice. */
static void padding_garbage(void)
{
	struct mirror mirror;
	cudaStream_t stream;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (unsigned k = 0; k < BODY; k++) {
			struct padded by;

			memset(&by, (int)scramble(i * BODY + k), sizeof by);
			by.factor = (uint8_t)(k + 1);
			by.addend = trap_at(i) && k == 7 ? i << 8 : scramble(k);
			by.shift = (uint8_t)(k % 4);
			launch(kernel_padded, 1, WORDS, (void *[]){&mirror.device, &by}, stream);
			for (unsigned word = 0; word < WORDS; word++)
				mirror.host[word] =
					mirror.host[word] * (2u * by.factor + 1u) + (by.addend >> by.shift);
		}
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

const struct hazard memory_hazards[] = {
	{"pageable_h2d", pageable_h2d},
	{"pageable_d2h", pageable_d2h},
	{"pinned_h2d_reuse", pinned_h2d_reuse},
	{"mapped_poll", mapped_poll},
	{"slow_host", slow_host},
	{"flag_from_host", flag_from_host},
	{"managed_touch", managed_touch},
	{"params_reused", params_reused},
	{"extra_buffer", extra_buffer},
	{"large_params", large_params},
	{"padding_garbage", padding_garbage},
	{NULL, NULL},
};
