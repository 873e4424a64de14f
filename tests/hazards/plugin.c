/* A plugin of the hazards: linked with the driver, opened and closed again and again (endings.c).
 * Its destructor finds work deferred. */
#include "../programs/driver.h"

static CUstream stream;

__attribute__((visibility("default"))) void hazard_plugin_work(CUmodule module, CUdeviceptr x,
                                                               CUdeviceptr y, unsigned round,
                                                               void (*settle)(CUstream stream));

__attribute__((visibility("default"))) void hazard_plugin_work(CUmodule module, CUdeviceptr x,
                                                               CUdeviceptr y, unsigned round,
                                                               void (*settle)(CUstream stream))
{
	static unsigned argument;
	static void *params[3];
	CUfunction mix, turn;

	CHECK(cuModuleGetFunction(&mix, module, "mix"));
	CHECK(cuModuleGetFunction(&turn, module, "turn"));
	CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	params[0] = &x;
	params[1] = &y;
	params[2] = &argument;
	for (unsigned iteration = 0; iteration <= 60; iteration++) {
		for (unsigned i = 0; i < 20; i++) {
			argument = i == 7 ? round : i;
			CHECK(cuLaunchKernel(i % 2 ? mix : turn, 1, 1, 1, 16, 1, 1, 0, stream, params, NULL));
			argument = 0xeeeeeeee;
			if (iteration == 60 && i == 13)
				return;
		}
		if (iteration % 2)
			CHECK(cuStreamSynchronize(stream));
		if (iteration == 6 || iteration == 12)
			settle(stream);
	}
}

__attribute__((destructor)) static void leave(void)
{
	CHECK(cuStreamDestroy(stream));
	CHECK(cuCtxSynchronize());
}
