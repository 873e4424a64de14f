/*
 * nvtx-program MODULE [ranges | objects]: a loop of launches, on one stream and then on another.
 * With `ranges` it tells NVTX of two ranges in each of its iterations, "replayed" and "eager
 * \u00e9", by turns in all the ways that
 * there are. With `objects`, another object of the program tells of the second one. Prints what it
 * ends with, and what the pushes returned that it made first.
 */
#include <stdint.h>
#include <string.h>

#include "../hazards/await.h"
#include "../programs/driver.h"
#include "object.h"
#include "ways.h"

#define ITERATIONS 400u
#define CHAIN 24u   /* launches in the first range */
#define IN_RANGE 5u /* and in the second */
#define WORDS 16u
#define PATIENCE_NS UINT64_C(15000000000)

static const struct way_names eager = {"eager \xc3\xa9", L"eager \u00e9"},
							  replayed = {"replayed", L"replayed"};

static CUfunction mix, turn;
static CUdeviceptr x, y;

static void launch(unsigned count, CUstream stream)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned argument = i * 7 + 1;

		CHECK(cuLaunchKernel(i % 2 == 0 ? mix : turn, 1, 1, 1, WORDS, 1, 1, 0, stream,
		                     (void *[]){&x, &y, &argument}, NULL));
	}
}

static void set_up(const char *path)
{
	CUcontext context;
	CUdevice device;
	CUmodule module;

	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoad(&module, path));
	CHECK(cuModuleGetFunction(&mix, module, "mix"));
	CHECK(cuModuleGetFunction(&turn, module, "turn"));
	CHECK(cuMemAlloc(&x, WORDS * 4));
	CHECK(cuMemAlloc(&y, WORDS * 4));
	CHECK(cuMemsetD32(x, 3, WORDS));
	CHECK(cuMemsetD32(y, 5, WORDS));
	CHECK(cuCtxSynchronize());
}

static void print(void)
{
	uint32_t words[WORDS], sum = 0;

	CHECK(cuCtxSynchronize());
	CHECK(cuMemcpyDtoH(words, x, sizeof(words)));
	for (unsigned i = 0; i < WORDS; i++)
		sum = sum * 69069u + words[i];
	printf("%08x\n", (unsigned)sum);
}

int main(int count, char **words)
{
	bool objects = count > 2 && strcmp(words[2], "objects") == 0;
	bool ranges = objects || (count > 2 && strcmp(words[2], "ranges") == 0);
	CUstream streams[2];

	set_up(words[1]);
	CHECK(cuStreamCreate(&streams[0], CU_STREAM_NON_BLOCKING));
	CHECK(cuStreamCreate(&streams[1], CU_STREAM_NON_BLOCKING));
	if (ranges) {
		ways_begin();
		fprintf(stderr, "pushed %d\n", nvtxRangePushA("first"));
		fprintf(stderr, "popped %d\n", nvtxRangePop());
	}
	for (unsigned i = 0; i < ITERATIONS; i++) {
		CUstream stream = streams[i / (ITERATIONS / 2)];
		nvtxDomainHandle_t domain = NULL;

		if (ranges)
			domain = ways_push(i, &replayed);
		launch(CHAIN, stream);
		if (ranges)
			ways_pop(domain);
		if (objects)
			object_push(eager.text);
		else if (ranges)
			domain = ways_push(i, &eager);
		launch(IN_RANGE, stream);
		if (objects)
			object_pop();
		else if (ranges)
			ways_pop(domain);
		CHECK(cuStreamSynchronize(stream));
		if (i % 20 == 19)
			await_graphs(PATIENCE_NS);
	}
	print();
	return 0;
}
