/*
 * relay-driver: two threads that launch chains on one stream by turns, or on two, by the CUDA
 * driver API.
 *
 *   relay-driver --module driver_kernels.cubin [--iterations N] [--own-streams]
 *
 * The module is a cubin, or a module of the simulated driver. Same results as relay.
 */
#include "driver.h"
#include "relay.h"

static CUcontext context;
static CUfunction mix, turn;
static CUstream streams[2];
static CUdeviceptr x[2], y;

static void relay_begin(struct relay *relay, unsigned me)
{
	(void)relay;
	(void)me;
	CHECK(cuCtxSetCurrent(context));
}

static void relay_launch(struct relay *relay, unsigned me, unsigned k)
{
	unsigned stream = relay->own_streams ? me : 0;

	CHECK(cuLaunchKernel(k % 2 ? turn : mix, 1, 1, 1, RELAY_WORDS, 1, 1, 0, streams[stream],
	                     (void *[]){&x[stream], &y, &k}, NULL));
}

static void relay_wait(struct relay *relay, unsigned me)
{
	CHECK(cuStreamSynchronize(streams[relay->own_streams ? me : 0]));
}

int main(int argc, char **argv)
{
	unsigned words[2 * RELAY_WORDS];
	struct relay relay;
	CUdevice device;
	CUmodule module;

	relay_parse(&relay, argc, argv);
	if (!relay.module) {
		fprintf(stderr, "relay-driver: --module FILE is needed\n");
		return 2;
	}
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&context, device));
	CHECK(cuCtxSetCurrent(context));
	CHECK(cuModuleLoad(&module, relay.module));
	CHECK(cuModuleGetFunction(&mix, module, "mix"));
	CHECK(cuModuleGetFunction(&turn, module, "turn"));
	CHECK(cuMemAlloc(&y, sizeof(words) / 2));
	CHECK(cuMemsetD32(y, 5, RELAY_WORDS));
	for (unsigned i = 0; i < 2; i++) {
		CHECK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
		CHECK(cuMemAlloc(&x[i], sizeof(words) / 2));
		CHECK(cuMemsetD32(x[i], i + 1, RELAY_WORDS));
	}
	CHECK(cuCtxSynchronize());

	relay_run_both(&relay);

	for (unsigned i = 0; i < 2; i++)
		CHECK(cuMemcpyDtoH(words + i * RELAY_WORDS, x[i], sizeof(words) / 2));
	relay_print(&relay, words);
	for (unsigned i = 0; i < 2; i++) {
		CHECK(cuMemFree(x[i]));
		CHECK(cuStreamDestroy(streams[i]));
	}
	CHECK(cuMemFree(y));
	CHECK(cuModuleUnload(module));
	CHECK(cuDevicePrimaryCtxRelease(device));
	return 0;
}
