/* hazards MODULE NAME, or --list. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "await.h"
#include "hazard.h"

#ifdef SHORT_HAZARDS
#define NOTHING_BUILT_NS 2000000000u /* where the context broke, nothing is ever built */
#else
#define NOTHING_BUILT_NS \
	15000000000u /* for so long the building thread does not rest, however busy the machine is: \
	                the device is never idle, and the test has no more to ask for */
#endif
#define REACHED_NS UINT64_C(5000000000)

CUcontext hazard_context;
CUdevice hazard_device;
CUmodule hazard_module;
CUfunction hazard_mix, hazard_turn, hazard_fold;
CUdeviceptr hazard_x, hazard_y;
const char *hazard_module_path;

static const struct hazard *const tables[] = {
	error_hazards,    blocked_hazards, attribute_hazards, memory_hazards,  parameter_hazards,
	waiting_hazards,  order_hazards,   context_hazards,   thread_hazards,  apart_hazards,
	lifetime_hazards, capture_hazards, graph_hazards,     launch_hazards,  change_hazards,
	replay_hazards,   ending_hazards,  room_hazards,      manners_hazards, process_hazards,
	patching_hazards, limit_hazards,   fork_hazards,      device_hazards,  api_hazards,
	identity_hazards, judged_hazards,  gated_hazards,     guest_hazards,   clock_hazards,
	range_hazards,    own_hazards,
};

uint64_t hazard_now_ns(void)
{
	return await_now_ns();
}

bool hazard_reaches(const volatile uint32_t *words, uint32_t value)
{
	uint64_t end = hazard_now_ns() + REACHED_NS;

	while (words[0] != value)
		if (hazard_now_ns() > end)
			return words[0] == value;
	return true;
}

void hazard_await_graphs(void)
{
	await_graphs(NOTHING_BUILT_NS);
}

void hazard_settle(CUstream stream)
{
	CHECK(cuStreamSynchronize(stream));
	hazard_await_graphs();
}

bool hazard_is_irregular(unsigned iteration)
{
	return iteration > 60 && iteration * 2654435761u % 37 == 5;
}

bool hazard_springs(unsigned iteration)
{
	if (iteration == 60)
		hazard_await_graphs();
	return hazard_is_irregular(iteration);
}

void hazard_settle_again(unsigned iteration, CUstream stream)
{
	for (unsigned after = 2; after <= 12; after += 2)
		if (iteration > after && hazard_is_irregular(iteration - after))
			hazard_settle(stream);
}

void hazard_launch(CUfunction function, CUdeviceptr x, unsigned argument, CUstream stream)
{
	CHECK(cuLaunchKernel(function, 1, 1, 1, WORDS, 1, 1, 0, stream,
	                     (void *[]){&x, &hazard_y, &argument}, NULL));
}

void hazard_part_of_chain(CUdeviceptr x, unsigned count, CUstream stream)
{
	for (unsigned i = 0; i < count; i++)
		hazard_launch(i % 2 == 0 ? hazard_mix : hazard_turn, x, i * 7 + 1, stream);
}

void hazard_chain(CUdeviceptr x, CUstream stream)
{
	hazard_part_of_chain(x, CHAIN, stream);
}

static size_t address_space(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	if (file == NULL || fscanf(file, "%zu", &pages) != 1)
		abort();
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

void hazard_limit_address_space(size_t more)
{
	struct rlimit limit;
	size_t used;

	getrlimit(RLIMIT_AS, &limit);
	do { /* a thread of the simulation that maps memory in between would have none left */
		used = address_space();
		limit.rlim_cur = used + more;
		setrlimit(RLIMIT_AS, &limit);
	} while (address_space() > used);
}

void hazard_print(const char *what, CUdeviceptr x)
{
	uint32_t words[WORDS], sum = 0;

	CHECK(cuCtxSynchronize());
	CHECK(cuMemcpyDtoH(words, x, sizeof(words)));
	for (unsigned i = 0; i < WORDS; i++)
		sum = sum * 69069u + words[i];
	printf("%s %08x\n", what, (unsigned)sum);
}

uint32_t hazard_mixed(uint32_t x, uint32_t y, uint32_t argument)
{
	return x * 1664525u + 2u * y + argument;
}

CUstream hazard_stream(unsigned flags)
{
	CUstream stream;

	CHECK(cuStreamCreate(&stream, flags));
	return stream;
}

struct hazard_place hazard_make_place(void)
{
	struct hazard_place place;
	CUmodule module;

	CHECK(cuCtxCreate(&place.context, NULL, 0, hazard_device));
	CHECK(cuModuleLoad(&module, hazard_module_path));
	CHECK(cuModuleGetFunction(&place.mix, module, "mix"));
	CHECK(cuModuleGetFunction(&place.turn, module, "turn"));
	CHECK(cuMemAlloc(&place.x, WORDS * 4));
	CHECK(cuMemAlloc(&place.y, WORDS * 4));
	CHECK(cuMemsetD32(place.x, 1, WORDS));
	CHECK(cuMemsetD32(place.y, 2, WORDS));
	CHECK(cuCtxSynchronize());
	return place;
}

void hazard_launch_there(const struct hazard_place *place, unsigned argument, CUstream stream)
{
	CHECK(cuLaunchKernel(argument % 2 ? place->turn : place->mix, 1, 1, 1, WORDS, 1, 1, 0, stream,
	                     (void *[]){(void *)&place->x, (void *)&place->y, &argument}, NULL));
}

CUfunction hazard_function(const char *name)
{
	CUfunction function;

	CHECK(cuModuleGetFunction(&function, hazard_module, name));
	return function;
}

CUgreenCtx hazard_green_context(void)
{
	CUdevResource all, part;
	CUdevResourceDesc description;
	unsigned parts = 1;
	CUgreenCtx green;

	CHECK(cuDeviceGetDevResource(hazard_device, &all, CU_DEV_RESOURCE_TYPE_SM));
	CHECK(cuDevSmResourceSplitByCount(&part, &parts, &all, NULL, 0, 16));
	CHECK(cuDevResourceGenerateDesc(&description, &part, 1));
	CHECK(cuGreenCtxCreate(&green, description, hazard_device, CU_GREEN_CTX_DEFAULT_STREAM));
	return green;
}

CUkernel hazard_kernel(const char *name)
{
	CUlibrary library;
	CUkernel kernel;

	CHECK(cuLibraryLoadFromFile(&library, hazard_module_path, NULL, NULL, 0, NULL, NULL, 0));
	CHECK(cuLibraryGetKernel(&kernel, library, name));
	return kernel;
}

static const struct hazard *find(const char *name)
{
	for (size_t table = 0; table < sizeof(tables) / sizeof(tables[0]); table++)
		for (const struct hazard *hazard = tables[table]; hazard->name != NULL; hazard++) {
			if (strcmp(name, "--list") == 0)
				puts(hazard->name);
			if (strcmp(name, hazard->name) == 0)
				return hazard;
		}
	return NULL;
}

void hazard_set_up(void)
{
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&hazard_device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&hazard_context, hazard_device));
	CHECK(cuCtxSetCurrent(hazard_context));
	CHECK(cuModuleLoad(&hazard_module, hazard_module_path));
	CHECK(cuModuleGetFunction(&hazard_mix, hazard_module, "mix"));
	CHECK(cuModuleGetFunction(&hazard_turn, hazard_module, "turn"));
	CHECK(cuModuleGetFunction(&hazard_fold, hazard_module, "fold"));
	CHECK(cuMemAlloc(&hazard_x, WORDS * 4));
	CHECK(cuMemAlloc(&hazard_y, WORDS * 4));
	CHECK(cuMemsetD32(hazard_x, 3, WORDS));
	CHECK(cuMemsetD32(hazard_y, 5, WORDS));
	CHECK(cuCtxSynchronize()); /* a memset of device memory is not waited for, and non-blocking
	                              streams do not wait for it either */
}

/* Hazards that call hazard_set_up themselves: most fork before they use CUDA. */
static bool sets_up_itself(const char *name)
{
	static const char *const names[] = {
		"fork_before_init",      "fork_while_starting", "nccl_like",         "ipc_event",
		"exit_pending",          "signal_exit",         "stop_and_continue", "daemonise",
		"handler_at_first_call", "handler_at_first_op", "errno_spoiled",     "closed_before",
		"main_thread_ends",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

#ifdef SHORT_HAZARDS
/* Ends the first device's primary context, so that what is left in it is counted. */
static void end_context(void)
{
	CUresult result = cuDevicePrimaryCtxReset(hazard_device);

	if (result != CUDA_SUCCESS)
		fprintf(stderr, "cuDevicePrimaryCtxReset: error %d\n", (int)result);
}

/* A call of the program's has failed. With FAILED_GOES_ON the program does so; the errors are in
 * its record. */
void hazard_failed(void)
{
	static _Atomic bool ending;

	if (getenv("FAILED_GOES_ON") != NULL)
		return;
	while (atomic_exchange(&ending, true))
		pause();
	end_context();
	exit(1);
}
#endif

int main(int count, char **words)
{
	const struct hazard *hazard;

	if (count == 2 && strcmp(words[1], "--list") == 0)
		return find("--list") != NULL;
	hazard = count == 3 ? find(words[2]) : NULL;
	if (hazard == NULL) {
		fprintf(stderr, "usage: hazards MODULE NAME | hazards --list\n");
		return 2;
	}
	hazard_module_path = words[1];
	alarm(getenv("SLOW_BUILD") != NULL ? 200
	                                   : 50); /* a hang ends here, not in the test's own limit */
	if (!sets_up_itself(hazard->name))
		hazard_set_up();
	hazard->run();
#ifdef SHORT_HAZARDS
	end_context();
#endif
	return 0;
}
