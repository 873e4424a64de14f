/* Records some iterations in the middle of a program, for tests/research/iteration.py: what its
 * threads call of the CUDA runtime, the replays of Reprise, and with CUPTI what reaches the driver
 * and what the GPU runs, all on one clock, as lines of JSON. An iteration ends with
 * cudaStreamSynchronize.
 *
 * It is preloaded beside Reprise, not injected into the driver: Reprise stands aside for
 * CUDA_INJECTION64_PATH. The program has to be linked with libcudart dynamically, as
 * launchbound-shared is: its calls are seen before Reprise sees them. Replays are heard as NVTX
 * ranges, so the host's side needs no CUPTI. Variables:
 *
 *     ITERATION_FILE     what to write; without it, nothing is done
 *     ITERATION_FROM     waits of a thread before the first iteration that is recorded
 *     ITERATION_COUNT    iterations of a thread
 *     ITERATION_THREADS  threads that wait; the file is written when all have had their iterations
 *     ITERATION_EDGES    set: of the calls, the first after a wait and the waits alone. Each other
 *                        one costs two readings of the clock, some 20 ns each
 *     ITERATION_CUPTI    graphs: a graph is one record; kernels: each kernel of a graph is one,
 *                        which costs more; not set: no CUPTI
 *
 * CUPTI works from the start to the end, so that the program's own times show what CUPTI costs.
 *
 *     gcc -O2 -shared -fPIC -D_GNU_SOURCE -Isrc -I/usr/local/cuda/include \
 *         tests/research/iteration.c -o iteration.so -ldl
 *     LD_PRELOAD="$PWD/iteration.so libreprise.so" NVTX_INJECTION64_PATH="$PWD/iteration.so" \
 *         ITERATION_FILE=... launchbound-shared ... */
#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "nvtx/protocol.h"

#define SHOWN __attribute__((visibility("default")))
#define THREADS_MOST 64
#define RECORDS_MOST 32768 /* of a thread */
#define BUFFER_BYTES (4u << 20)

/* ---- clocks ---- */

/* Not clock_gettime, which takes longer: each call of the program is stamped twice, and under
 * Reprise there are twenty of them where a graph written by hand has one. */
static uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
#endif
}

/* CUPTI's clock, too. */
static uint64_t CUPTIAPI now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The same moment by both clocks. */
struct moment {
	uint64_t ticks, ns;
};

static struct moment window_begin, window_end;

/* The best of some readings: the one during which the least time passed. */
static struct moment moment_now(void)
{
	struct moment best = {0, 0};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 16; i++) {
		uint64_t before = ticks(), ns = now_ns(), took = ticks() - before;

		if (took < least) {
			least = took;
			best = (struct moment){before + took / 2, ns};
		}
	}
	return best;
}

static uint64_t ns_of(uint64_t at)
{
	double rate =
		(double)(window_end.ns - window_begin.ns) / (double)(window_end.ticks - window_begin.ticks);

	return window_begin.ns + (uint64_t)(int64_t)((double)(int64_t)(at - window_begin.ticks) * rate);
}

/* ---- what the program's threads do ---- */

struct record {
	const char *name; /* NULL: a replay */
	uint64_t begin, end, calls;
};

/* Written by its own thread; read when all threads have had their iterations. */
struct thread {
	struct record *records;
	_Atomic unsigned int count;
	unsigned int waits;
	int id;
	uint32_t other_id; /* CUPTI's, if it does not take the kernel's */
	uint64_t replay_begin, replay_calls;
	bool had_first; /* the first call after a wait */
};

static struct thread threads[THREADS_MOST];
static _Atomic unsigned int thread_count, ended;
static _Atomic bool is_open, is_over;
static _Thread_local struct thread *mine __attribute__((tls_model("initial-exec")));

static const char *file;
static bool only_edges;
static unsigned int first_wait, iterations, waiting_threads;

/* NULL: there is no room for it. */
static struct thread *this_thread(void)
{
	unsigned int place;

	if (mine != NULL)
		return mine;
	place = atomic_fetch_add(&thread_count, 1);
	if (place >= THREADS_MOST)
		return NULL;
	threads[place].records = malloc(RECORDS_MOST * sizeof(struct record));
	if (threads[place].records == NULL)
		return NULL;
	/* Touched now, or the kernel would give the pages while an iteration is recorded. */
	memset(threads[place].records, 1, RECORDS_MOST * sizeof(struct record));
	threads[place].id = gettid();
	threads[place].other_id = (uint32_t)pthread_self();
	return mine = &threads[place];
}

static bool recording(void)
{
	return atomic_load_explicit(&is_open, memory_order_relaxed);
}

static void note(const char *name, uint64_t begin, uint64_t end, uint64_t calls)
{
	struct thread *thread = this_thread();
	unsigned int count = thread != NULL ? atomic_load(&thread->count) : RECORDS_MOST;

	if (count == RECORDS_MOST)
		return;
	thread->records[count] = (struct record){name, begin, end, calls};
	atomic_store(&thread->count, count + 1);
}

/* True if the call is to be recorded. */
static bool take_call(bool is_wait)
{
	struct thread *thread;
	bool had_first;

	if (!recording())
		return false;
	if (!only_edges)
		return true;
	thread = this_thread();
	if (thread == NULL)
		return false;
	had_first = thread->had_first;
	thread->had_first = !is_wait;
	return is_wait || !had_first;
}

static void finish(void);

static void waited(void)
{
	struct thread *thread = this_thread();
	bool closed = false;

	if (thread == NULL || atomic_load(&is_over))
		return;
	thread->waits++;
	if (thread->waits == first_wait && !atomic_exchange(&is_open, true))
		window_begin = moment_now();
	/* One more: the first iteration of a thread may have begun before its records. */
	if (thread->waits == first_wait + iterations + 1)
		closed = atomic_fetch_add(&ended, 1) + 1 == waiting_threads;
	if (closed) {
		atomic_store(&is_open, false);
		window_end = moment_now();
		finish();
		atomic_store(&is_over, true);
	}
}

/* ---- the program's calls ---- */

#define CALLS(X) \
	X(cudaLaunchKernel, \
	  (const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, \
	   cudaStream_t stream), \
	  (function, grid, block, arguments, shared, stream)) \
	X(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream)) \
	X(cudaMemcpyAsync, \
	  (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream), \
	  (to, from, bytes, kind, stream)) \
	X(cudaMemsetAsync, (void *to, int value, size_t bytes, cudaStream_t stream), \
	  (to, value, bytes, stream)) \
	X(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream)) \
	X(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned int flags), \
	  (stream, event, flags)) \
	X(cudaStreamSynchronize, (cudaStream_t stream), (stream))

static void *next(const char *name)
{
	void *address = dlsym(RTLD_NEXT, name);

	if (address == NULL) {
		fprintf(stderr, "iteration: %s is not in a shared library; link with libcudart\n", name);
		exit(1);
	}
	return address;
}

#define WRAPPER(name, parameters, arguments) \
	SHOWN cudaError_t CUDARTAPI name parameters \
	{ \
		static _Atomic(__typeof__(&name)) known; \
		__typeof__(&name) real = atomic_load_explicit(&known, memory_order_relaxed); \
		bool is_wait = (void *)(name) == (void *)cudaStreamSynchronize; \
		cudaError_t result; \
		uint64_t begin; \
\
		if (real == NULL) \
			atomic_store(&known, real = (__typeof__(&name))next(#name)); \
		begin = take_call(is_wait) ? ticks() : 0; \
		result = real arguments; \
		if (begin != 0) \
			note(#name, begin, ticks(), 0); \
		if (file != NULL && is_wait) \
			waited(); \
		return result; \
	}
CALLS(WRAPPER)
#undef WRAPPER

/* ---- replays, as NVTX ranges ---- */

static const char replays[] = "reprise", other_ranges[] = "";

static const void *create(const char *name)
{
	return strcmp(name, replays) == 0 ? replays : other_ranges;
}

static int push(const void *domain, const struct reprise_nvtx_event *event)
{
	struct thread *thread = recording() && domain == replays ? this_thread() : NULL;

	if (thread != NULL) {
		thread->replay_calls = event->payload;
		thread->replay_begin = ticks();
	}
	return 0;
}

static int pop(const void *domain)
{
	if (recording() && domain == replays && mine != NULL && mine->replay_begin != 0) {
		note(NULL, mine->replay_begin, ticks(), mine->replay_calls);
		mine->replay_begin = 0;
	}
	return 0;
}

SHOWN int InitializeInjectionNvtx2(reprise_nvtx_finds find);

SHOWN int InitializeInjectionNvtx2(reprise_nvtx_finds find)
{
	const struct reprise_nvtx_callbacks *callbacks = find(REPRISE_NVTX_CALLBACKS);
	reprise_nvtx_function **functions;
	unsigned int size;

	if (file == NULL || callbacks->table_of(REPRISE_NVTX_CORE2, &functions, &size) == 0 ||
	    size <= REPRISE_NVTX_CREATE_A)
		return 0;
	*functions[REPRISE_NVTX_CREATE_A] = (reprise_nvtx_function)create;
	*functions[REPRISE_NVTX_DOMAIN_PUSH_EX] = (reprise_nvtx_function)push;
	*functions[REPRISE_NVTX_DOMAIN_POP] = (reprise_nvtx_function)pop;
	return 1;
}

/* ---- what CUPTI tells ---- */

#define FUNCTIONS(X) \
	X(cuptiActivityRegisterTimestampCallback) \
	X(cuptiActivityRegisterCallbacks) \
	X(cuptiActivityEnable) \
	X(cuptiActivityFlushAll) \
	X(cuptiActivityGetNextRecord) \
	X(cuptiActivityGetNumDroppedRecords) \
	X(cuptiSetThreadIdType) \
	X(cuptiGetCallbackName) \
	X(cuptiGetResultString)

static struct {
#define X(name) __typeof__(&name) name;
	FUNCTIONS(X)
#undef X
} cupti;

struct activity {
	const char *kind, *name;
	uint64_t begin, end;
	uint32_t correlation, thread, stream, graph;
};

/* CUPTI delivers buffers on threads of its own. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct activity *activities;
static size_t activity_count, activity_most, dropped;
static const char *cupti_way;

static const char *name_of(CUpti_CallbackId id)
{
	const char *name = NULL;

	cupti.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name);
	return name != NULL ? name : "?";
}

#define COMMON(record) \
	.begin = (record)->start, .end = (record)->end, .correlation = (record)->correlationId
#define ON_GPU(record) .stream = (record)->streamId, .graph = (record)->graphId

/* Newer records begin with the same fields. */
static bool read_record(const CUpti_Activity *record, struct activity *activity)
{
	const CUpti_ActivityAPI *call = (const CUpti_ActivityAPI *)record;
	const CUpti_ActivityKernel9 *kernel = (const CUpti_ActivityKernel9 *)record;
	const CUpti_ActivityGraphTrace *graph = (const CUpti_ActivityGraphTrace *)record;
	const CUpti_ActivityMemcpy5 *copy = (const CUpti_ActivityMemcpy5 *)record;
	const CUpti_ActivityMemset4 *set = (const CUpti_ActivityMemset4 *)record;
	const CUpti_ActivitySynchronization *wait = (const CUpti_ActivitySynchronization *)record;

	switch (record->kind) {
	case CUPTI_ACTIVITY_KIND_DRIVER:
		*activity = (struct activity){COMMON(call), .kind = "driver", .name = name_of(call->cbid),
		                              .thread = call->threadId};
		break;
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		*activity = (struct activity){COMMON(kernel), ON_GPU(kernel), .kind = "kernel",
		                              .name = kernel->name != NULL ? kernel->name : "?"};
		break;
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		*activity =
			(struct activity){COMMON(graph), ON_GPU(graph), .kind = "graph", .name = "graph"};
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		*activity = (struct activity){COMMON(copy), ON_GPU(copy), .kind = "copy", .name = "copy"};
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		*activity = (struct activity){COMMON(set), ON_GPU(set), .kind = "memset", .name = "memset"};
		break;
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		*activity = (struct activity){COMMON(wait), .kind = "wait", .name = "wait",
		                              .stream = wait->streamId};
		break;
	default:
		return false;
	}
	return activity->begin != 0 && activity->end >= activity->begin;
}

static void keep(const struct activity *activity)
{
	if (activity_count == activity_most) {
		size_t most = activity_most == 0 ? 4096 : 2 * activity_most;
		struct activity *more = realloc(activities, most * sizeof(*more));

		if (more == NULL) {
			dropped++;
			return;
		}
		activities = more;
		activity_most = most;
	}
	activities[activity_count++] = *activity;
}

static void CUPTIAPI request(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*bytes = *buffer != NULL ? BUFFER_BYTES : 0;
	*most = 0;
	if (*buffer != NULL)
		memset(*buffer, 1, BUFFER_BYTES); /* touched now, as above */
}

static void CUPTIAPI complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
                              size_t valid)
{
	CUpti_Activity *record = NULL;
	struct activity activity;
	size_t lost = 0;

	(void)bytes;
	pthread_mutex_lock(&mutex);
	/* What comes while no window has begun is older than any. */
	while (!atomic_load(&is_over) && window_begin.ns != 0 &&
	       cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
		if (read_record(record, &activity) && activity.end >= window_begin.ns)
			keep(&activity);
	if (cupti.cuptiActivityGetNumDroppedRecords(context, stream, &lost) == CUPTI_SUCCESS)
		dropped += lost;
	pthread_mutex_unlock(&mutex);
	free(buffer);
}

static void check(CUptiResult result, const char *what)
{
	const char *why = NULL;

	if (result == CUPTI_SUCCESS)
		return;
	cupti.cuptiGetResultString(result, &why);
	fprintf(stderr, "iteration: %s: %s\n", what, why != NULL ? why : "?");
	exit(1);
}

static void begin_cupti(void)
{
	bool graphs = strcmp(cupti_way, "graphs") == 0;
	void *library = dlopen("libcupti.so.13", RTLD_NOW);

	if (library == NULL)
		library = dlopen("libcupti.so", RTLD_NOW);
	if (library == NULL) {
		fprintf(stderr, "iteration: %s\n", dlerror());
		exit(1);
	}
#define X(name) \
	cupti.name = (__typeof__(cupti.name))dlsym(library, #name); \
	if (cupti.name == NULL) { \
		fprintf(stderr, "iteration: libcupti lacks " #name "\n"); \
		exit(1); \
	}
	FUNCTIONS(X)
#undef X
	(void)cupti.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
	check(cupti.cuptiActivityRegisterTimestampCallback(now_ns), "clock");
	check(cupti.cuptiActivityRegisterCallbacks(request, complete), "buffers");
	check(cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER), "driver calls");
	check(cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "kernels");
	if (graphs)
		check(cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE), "graphs");
	check(cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY), "copies");
	check(cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET), "memsets");
	check(cupti.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION), "waits");
}

/* ---- the file ---- */

static void write_name(FILE *out, const char *name)
{
	fputs(",\"name\":\"", out);
	for (; *name != 0; name++)
		fputc(*name < ' ' || *name == '"' || *name == '\\' ? '?' : *name, out);
	fputc('"', out);
}

static void write_thread(FILE *out, const struct thread *thread)
{
	char path[64], name[32] = "";
	unsigned int count = atomic_load(&thread->count);
	FILE *in;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", thread->id);
	in = fopen(path, "r");
	if (in != NULL) {
		if (fgets(name, sizeof(name), in) != NULL)
			name[strcspn(name, "\n")] = 0;
		fclose(in);
	}
	fprintf(out, "{\"kind\":\"thread\",\"thread\":%d", thread->id);
	write_name(out, name);
	fprintf(out, ",\"other\":%u,\"full\":%s}\n", thread->other_id,
	        count == RECORDS_MOST ? "true" : "false");
	for (unsigned int i = 0; i < count; i++) {
		const struct record *record = &thread->records[i];

		fprintf(out, "{\"kind\":\"%s\",\"thread\":%d", record->name != NULL ? "call" : "replay",
		        thread->id);
		if (record->name != NULL)
			write_name(out, record->name);
		else
			fprintf(out, ",\"calls\":%lu", (unsigned long)record->calls);
		fprintf(out, ",\"begin\":%lu,\"end\":%lu}\n", (unsigned long)ns_of(record->begin),
		        (unsigned long)ns_of(record->end));
	}
}

static void write_activity(FILE *out, const struct activity *activity)
{
	fprintf(out, "{\"kind\":\"%s\"", activity->kind);
	write_name(out, activity->name);
	if (activity->thread != 0)
		fprintf(out, ",\"thread\":%u", activity->thread);
	else
		fprintf(out, ",\"stream\":%u,\"graph\":%u", activity->stream, activity->graph);
	fprintf(out, ",\"correlation\":%u,\"begin\":%lu,\"end\":%lu}\n", activity->correlation,
	        (unsigned long)activity->begin, (unsigned long)activity->end);
}

/* Writes the file at once, not at exit: by then CUPTI may have gone. */
static void finish(void)
{
	unsigned int count = atomic_load(&thread_count);
	FILE *out;

	if (cupti_way != NULL)
		check(cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "flush");
	out = fopen(file, "w");
	if (out == NULL) {
		fprintf(stderr, "iteration: cannot write %s\n", file);
		return;
	}
	pthread_mutex_lock(&mutex);
	fprintf(out, "{\"kind\":\"head\",\"cupti\":\"%s\",\"edges\":%s,\"dropped\":%zu}\n",
	        cupti_way != NULL ? cupti_way : "", only_edges ? "true" : "false", dropped);
	for (unsigned int i = 0; i < count && i < THREADS_MOST; i++)
		if (threads[i].records != NULL)
			write_thread(out, &threads[i]);
	for (size_t i = 0; i < activity_count; i++)
		if (activities[i].begin <= window_end.ns)
			write_activity(out, &activities[i]);
	pthread_mutex_unlock(&mutex);
	if (fclose(out) != 0)
		fprintf(stderr, "iteration: cannot write %s\n", file);
}

/* ---- the beginning ---- */

static unsigned int number(const char *variable, unsigned int standard)
{
	const char *text = getenv(variable);

	return text != NULL ? (unsigned int)strtoul(text, NULL, 10) : standard;
}

__attribute__((constructor)) static void begin(void)
{
	file = getenv("ITERATION_FILE");
	only_edges = getenv("ITERATION_EDGES") != NULL;
	first_wait = number("ITERATION_FROM", 1000);
	iterations = number("ITERATION_COUNT", 50);
	waiting_threads = number("ITERATION_THREADS", 1);
	cupti_way = getenv("ITERATION_CUPTI");
	if (cupti_way != NULL && *cupti_way == 0)
		cupti_way = NULL;
	if (file != NULL && cupti_way != NULL)
		begin_cupti();
}
