/* Kernel parameters: where they come from, how many, and what stands between them. */
#include <string.h>

#include "hazard.h"

/* One buffer on the stack holds the parameters of every launch, and is overwritten after each. */
static void params_reused(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	struct {
		CUdeviceptr x, y;
		unsigned argument;
	} values;
	void *params[] = {&values.x, &values.y, &values.argument};

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++) {
			values.x = hazard_x;
			values.y = hazard_y;
			values.argument = hazard_springs(iteration) ? i * iteration : i;
			CHECK(cuLaunchKernel(hazard_mix, 1, 1, 1, WORDS, 1, 1, 0, stream, params, NULL));
			memset(&values, 0xee, sizeof(values));
		}
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* Parameters come packed in a buffer that is reused. */
static void extra_buffer(void)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	struct {
		CUdeviceptr x, y;
		unsigned argument;
	} packed;
	size_t size = 20;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
	                 CU_LAUNCH_PARAM_END};

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++) {
			packed.x = hazard_x;
			packed.y = hazard_y;
			packed.argument = hazard_springs(iteration) ? i + iteration : i;
			CHECK(cuLaunchKernel(hazard_mix, 1, 1, 1, WORDS, 1, 1, 0, stream, NULL, extra));
			memset(&packed, 0xee, sizeof(packed));
		}
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* The structures of the kernels stir_large and stir. */
struct large {
	uint32_t words[1100];
};

struct stir {
	unsigned char rounds;
	unsigned short odd;
	unsigned long long addend;
};

/* More than 4 KB, of which one word near the end changes now and then. */
static void large_params(void)
{
	CUfunction stir_large = hazard_function("stir_large");
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	static struct large by;

	for (unsigned i = 0; i < 1100; i++)
		by.words[i] = i * 2654435761u;
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN / 4; i++) {
			by.words[0] = i;
			by.words[1090] = hazard_springs(iteration) && i == 3 ? iteration : 7;
			CHECK(cuLaunchKernel(stir_large, 1, 1, 1, WORDS, 1, 1, 0, stream,
			                     (void *[]){&hazard_x, &by}, NULL));
			by.words[1090] = 0xeeeeeeee;
		}
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

/* The padding of a structure never holds the same twice. It is passed on as it is, and what means
 * something changes now and then. */
static void padding_garbage(void)
{
	CUfunction stir = hazard_function("stir");
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		for (unsigned i = 0; i < CHAIN; i++) {
			struct stir by;

			memset(&by, (int)(iteration * CHAIN + i), sizeof(by));
			by.rounds = 2;
			by.odd = (unsigned short)i;
			by.addend = hazard_springs(iteration) && i == 9 ? iteration : 5;
			CHECK(cuLaunchKernel(stir, 1, 1, 1, WORDS, 1, 1, 0, stream, (void *[]){&hazard_x, &by},
			                     NULL));
		}
		CHECK(cuStreamSynchronize(stream));
	}
	hazard_print("x", hazard_x);
}

const struct hazard parameter_hazards[] = {
	{"params_reused", params_reused},
	{"extra_buffer", extra_buffer},
	{"large_params", large_params},
	{"padding_garbage", padding_garbage},
	{NULL, NULL},
};
