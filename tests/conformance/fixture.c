/* What a check finds, what it may ask for, and how it is all given back. */
#include "fixture.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

const char *module_path;
CUcontext context;
CUmodule module;
CUstream stream, other;
CUgraph graph;
CUgraphExec exec;

static CUdeviceptr device[16];
static void *host[16];
static CUevent events[16];
static CUstream streams[8];
static size_t devices, hosts, event_count, stream_count;
static volatile unsigned *flag;

static jmp_buf leave;
static char failure[FAILURE_ROOM];

void conformance_fail(const char *file, int line, const char *format, ...)
{
	const char *base = strrchr(file, '/');
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(failure, sizeof(failure), format, arguments);
	va_end(arguments);
	if (length > 0 && (size_t)length < sizeof(failure))
		snprintf(failure + length, sizeof(failure) - (size_t)length, " (%s:%d)",
		         base ? base + 1 : file, line);
	longjmp(leave, 1);
}

static const char *name_of(CUresult result)
{
	const char *name = NULL;

	cuGetErrorName(result, &name);
	return name ? name : "?";
}

void conformance_result(CUresult seen, CUresult wanted, const char *what, const char *file,
                        int line)
{
	if (seen != wanted)
		conformance_fail(file, line, "%s: expected %s (%d), saw %s (%d)", what, name_of(wanted),
		                 (int)wanted, name_of(seen), (int)seen);
}

void conformance_equal(unsigned long long seen, unsigned long long wanted, const char *what,
                       const char *file, int line)
{
	if (seen != wanted)
		conformance_fail(file, line, "%s: expected %llu (%#llx), saw %llu (%#llx)", what, wanted,
		                 wanted, seen, seen);
}

/* Looked up before the first check: a check may ask for one while it captures. */
static struct {
	const char *name;
	CUfunction function;
} functions[] = {{"nothing", NULL},   {"append", NULL}, {"append_double", NULL}, {"mixed", NULL},
                 {"count", NULL},     {"shape", NULL},  {"shared", NULL},        {"set_flag", NULL},
                 {"wait_flag", NULL}, {"trap", NULL}};

static void find_functions(void)
{
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		OK(cuModuleGetFunction(&functions[i].function, module, functions[i].name));
}

CUfunction function(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(functions[i].name, name) == 0)
			return functions[i].function;
	conformance_fail(__FILE__, __LINE__, "expected a kernel called %s, saw none", name);
}

CUstream blocking_stream(void)
{
	TRUE(stream_count < 8);
	OK(cuStreamCreate(&streams[stream_count], CU_STREAM_DEFAULT));
	return streams[stream_count++];
}

CUevent event_new(unsigned int flags)
{
	TRUE(event_count < 16);
	OK(cuEventCreate(&events[event_count], flags));
	return events[event_count++];
}

CUdeviceptr words(void)
{
	TRUE(devices < 16);
	OK(cuMemAlloc(&device[devices], WORDS * sizeof(unsigned)));
	OK(cuMemsetD32(device[devices], 0, WORDS));
	OK(cuStreamSynchronize(NULL));
	return device[devices++];
}

volatile unsigned *pinned(void)
{
	TRUE(hosts < 16);
	OK(cuMemAllocHost(&host[hosts], WORDS * sizeof(unsigned)));
	memset(host[hosts], 0, WORDS * sizeof(unsigned));
	return host[hosts++];
}

/* Through pinned memory and a stream of its own, so that nothing else is waited for. */
unsigned word(CUdeviceptr address, unsigned position)
{
	static void *value;
	CUstream copies;

	if (!value)
		OK(cuMemAllocHost(&value, sizeof(unsigned)));
	OK(cuStreamCreate(&copies, CU_STREAM_NON_BLOCKING));
	OK(cuMemcpyDtoHAsync(value, address + position * sizeof(unsigned), sizeof(unsigned), copies));
	OK(cuStreamSynchronize(copies));
	OK(cuStreamDestroy(copies));
	return *(volatile unsigned *)value;
}

CUresult launch(const char *name, CUstream on, void **params)
{
	return cuLaunchKernel(function(name), 1, 1, 1, 1, 1, 1, 0, on, params, NULL);
}

CUresult append_by(CUfunction by, CUdeviceptr list, unsigned value, CUstream on)
{
	void *params[] = {&list, &value};

	return cuLaunchKernel(by, 1, 1, 1, 1, 1, 1, 0, on, params, NULL);
}

CUresult append(CUdeviceptr list, unsigned value, CUstream on)
{
	return append_by(function("append"), list, value, on);
}

void is_list(CUdeviceptr list, unsigned count)
{
	unsigned i;

	EQUAL(word(list, 0), count);
	for (i = 1; i <= count; i++)
		EQUAL(word(list, i), i);
}

void keep_from_release(void)
{
	if (!flag)
		flag = pinned();
	*flag = 0;
}

void hold(CUstream on)
{
	CUdeviceptr address;
	unsigned one = 1;
	void *params[] = {&address, &one};

	keep_from_release();
	address = (CUdeviceptr)(uintptr_t)flag;
	OK(launch("wait_flag", on, params));
}

void CUDA_CB wait_for_release(void *unused)
{
	(void)unused;
	while (!__atomic_load_n(flag, __ATOMIC_SEQ_CST))
		nanosleep(&(struct timespec){0, 100000}, NULL);
}

void release(void)
{
	if (flag)
		__atomic_store_n(flag, 1u, __ATOMIC_SEQ_CST);
}

void finish(CUstream on)
{
	OK(cuStreamSynchronize(on));
}

static void *thread_main(void *call)
{
	((void (*)(void))call)();
	return NULL;
}

static void *thread_main_current(void *call)
{
	cuCtxSetCurrent(context);
	return thread_main(call);
}

void in_thread(void (*call)(void))
{
	pthread_t thread;

	TRUE(pthread_create(&thread, NULL, thread_main_current, (void *)call) == 0);
	pthread_join(thread, NULL);
}

void in_thread_without_context(void (*call)(void))
{
	pthread_t thread;

	TRUE(pthread_create(&thread, NULL, thread_main, (void *)call) == 0);
	pthread_join(thread, NULL);
}

void begin(CUstreamCaptureMode mode)
{
	OK(cuStreamBeginCapture(stream, mode));
}

CUstreamCaptureStatus status(CUstream of)
{
	CUstreamCaptureStatus found = (CUstreamCaptureStatus)99;

	OK(cuStreamIsCapturing(of, &found));
	return found;
}

void end_is(CUresult wanted)
{
	EXPECT(cuStreamEndCapture(stream, &graph), wanted);
}

void capture_end(void)
{
	end_is(CUDA_SUCCESS);
	TRUE(graph != NULL);
}

void run_graph(void)
{
	if (!exec)
		OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuGraphLaunch(exec, stream));
	finish(stream);
}

unsigned nodes(CUgraph of, CUgraphNode *into, unsigned room)
{
	size_t count = room;

	OK(cuGraphGetNodes(of, into, &count));
	return (unsigned)count;
}

CUgraphNodeType type_of(CUgraphNode node)
{
	CUgraphNodeType type;

	OK(cuGraphNodeGetType(node, &type));
	return type;
}

/* ---- around a check ---- */

static void set_up(void)
{
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	graph = NULL;
	exec = NULL;
	flag = NULL;
}

static void tear_down(void)
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

	release();
	cuThreadExchangeStreamCaptureMode(&mode);
	OK(cuStreamDestroy(stream));
	OK(cuStreamDestroy(other));
	while (stream_count)
		OK(cuStreamDestroy(streams[--stream_count]));
	OK(cuCtxSynchronize());
	while (event_count)
		OK(cuEventDestroy(events[--event_count]));
	if (exec)
		OK(cuGraphExecDestroy(exec));
	if (graph)
		OK(cuGraphDestroy(graph));
	while (devices)
		OK(cuMemFree(device[--devices]));
	while (hosts)
		OK(cuMemFreeHost(host[--hosts]));
}

const char *fixture_run(const struct check *check)
{
	static bool started;

	failure[0] = '\0';
	if (setjmp(leave))
		return failure;
	if (check->flags & NO_CONTEXT) {
		check->run();
		return NULL;
	}
	if (!started) {
		OK(cuInit(0));
		OK(cuDevicePrimaryCtxRetain(&context, 0));
		OK(cuCtxSetCurrent(context));
		OK(cuModuleLoad(&module, module_path));
		find_functions();
		started = true;
	}
	set_up();
	check->run();
	if (!(check->flags & OWN_PROCESS))
		tear_down();
	return NULL;
}

bool fixture_has_two_devices(void)
{
	int number = 0;

	return cuInit(0) == CUDA_SUCCESS && cuDeviceGetCount(&number) == CUDA_SUCCESS && number > 1;
}

bool fixture_is_simulation(void)
{
	char name[64] = "";

	return cuInit(0) == CUDA_SUCCESS && cuDeviceGetName(name, sizeof(name), 0) == CUDA_SUCCESS &&
	       strcmp(name, "Simulated device") == 0;
}
