/* Counts what a program calls of the CUDA driver and of its runtime, and how long each function
 * takes by itself: is there anything to gain from pure queries (the current device, attributes of
 * functions, occupancy) that would be answered from memory? No Reprise is in the process: it would
 * stand aside. At the end come tables in Markdown: groups, functions, threads. Figures
 * are in docs/results/2026-11-30-queries-h200.md.
 *
 *     CUPTI=/usr/local/cuda/extras/CUPTI
 *     gcc -O2 -shared -fPIC -D_GNU_SOURCE -I/usr/local/cuda/include -I$CUPTI/include \
 *         tests/research/queries.c -o queries.so -ldl \
 *         -Wl,-rpath,$CUPTI/lib64:/usr/local/cuda/lib64
 *     CUDA_INJECTION64_PATH="$PWD/queries.so" QUERIES_AFTER=10 \
 *         python3 scripts/lib/one_loop.py tests/frameworks/torch_fused.py --steps 20000
 *
 *     QUERIES_FILE     tables are added to it; without it they go to standard error
 *     QUERIES_STEP     a function, say cuStreamSynchronize: figures are by its calls. Without it they
 *                      are by the seconds counted
 *     QUERIES_AFTER    counting begins so many seconds after cuInit
 *     QUERIES_SKIP     or after so many calls of QUERIES_STEP
 *     QUERIES_RUNTIME  0: the driver alone, which costs the program less
 *
 * libcupti.so.13 is found in these folders. LD_LIBRARY_PATH would do, but could give a framework
 * other libraries than its own. A program that ends by _exit has no tables.
 *
 * What it relies on. The driver's domain has "callback points for all driver API functions"
 * (cupti_callbacks.h), and an entry and its exit come on the calling thread, one within another as
 * the calls are. Records of CUPTI's activities leave out what cudart calls of the driver. That its
 * callbacks do not is not written there: the tables say how many calls of the driver came within
 * one of the runtime, and if that is 0, nothing is known of the driver. What cudart reaches by
 * cuGetExportTable may have no callback, and is then in the time of the runtime's function; what
 * cudart answers by itself shows as that function alone.
 *
 * Time by itself is from entry to exit, without calls within it, of either API. What callbacks cost
 * is measured at the end, with and without them, and subtracted in the columns that say so. That is
 * the least they cost: there all is in the caches, and the runtime's may cost more than the
 * driver's, which are measured. A thread's time is from its first call counted to its last. */
#include <cupti.h>
#include <dlfcn.h>
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

#define IDS_MOST 1024 /* later ones count as 0 */
#define DEPTH_MOST 32
#define THREADS_SHOWN 8
#define SHOWN_PART 0.001 /* of the time of all functions: what takes less is left out */
#define BATCHES 11
#define BATCH_CALLS 10000
#define FIRST_RATE_NS 5000000u

enum { DRIVER, RUNTIME, DOMAINS };
static const char *const domain_names[DOMAINS] = {"driver", "runtime"};

/* ---- groups ---- */

enum group { WORK, WAITS, QUERIES, CURRENT, REST, GROUPS };
static const char *const group_names[GROUPS] = {"launches, copies, memsets", "waits, polls",
                                                "pure queries", "current context, last error",
                                                "the rest"};

/* The first row that fits counts; a name that ends in * is a beginning. */
static const struct row {
	enum group group;
	const char *names;
} rows[] = {
	{REST, "cuDeviceGetGraphMemAttribute cudaDeviceGetGraphMemAttribute"},
	{WORK, "cuLaunch* cuGraphLaunch cuMemcpy* cuMemset* "
           "cudaLaunch* cudaGraphLaunch cudaMemcpy* cudaMemset*"},
	{WAITS, "cuStreamSynchronize cuCtxSynchronize cuEventSynchronize cuStreamQuery cuEventQuery "
            "cudaStreamSynchronize cudaDeviceSynchronize cudaEventSynchronize cudaStreamQuery "
            "cudaEventQuery"},
	{CURRENT, "cuCtxPushCurrent cuCtxPopCurrent cuCtxSetCurrent cuThreadExchangeStreamCaptureMode "
              "cudaSetDevice cudaGetLastError cudaPeekAtLastError "
              "cudaThreadExchangeStreamCaptureMode"},
	{QUERIES, "cuCtxGet* cuDevicePrimaryCtxGetState cuDeviceGet* cuDeviceTotalMem "
              "cuDeviceCanAccessPeer cuDriverGetVersion cuFuncGet* cuFuncIsLoaded "
              "cuKernelGetAttribute cuKernelGetName cuKernelGetParamInfo cuOccupancy* "
              "cuStreamGet* cuStreamIsCapturing cuPointerGetAttribute* cuMemGetAddressRange "
              "cuMemHostGet* cuGetErrorString cuGetErrorName cuGetProcAddress"},
	{QUERIES, "cudaGetDevice* cudaDeviceGet* cudaDeviceCanAccessPeer cudaFuncGet* cudaOccupancy* "
              "cudaStreamGet* cudaStreamIsCapturing cudaPointerGetAttributes cudaHostGet* "
              "cudaGetErrorString cudaGetErrorName cudaDriverGetVersion cudaRuntimeGetVersion "
              "cudaGetDriverEntryPoint*"},
};

/* Without versions and kinds of default streams: cudaLaunchKernel of
 * __cudaLaunchKernel_ptsz_v13000. */
static void plain_name(const char *name, char *plain, size_t size)
{
	const char *from = name + strspn(name, "_");

	snprintf(plain, size, "%.*s", (int)strcspn(from, "_"), from);
}

static enum group group_of(const char *name)
{
	char plain[128];

	plain_name(name, plain, sizeof(plain));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		size_t length;

		for (const char *word = rows[i].names; *word != 0;
		     word += length + strspn(word + length, " ")) {
			bool begins;

			length = strcspn(word, " ");
			begins = word[length - 1] == '*';
			if (begins ? strncmp(plain, word, length - 1) == 0
			           : strlen(plain) == length && strncmp(plain, word, length) == 0)
				return rows[i].group;
		}
	}
	return REST;
}

/* ---- clocks ---- */

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return now_ns();
#endif
}

static uint64_t begin_ticks, begin_ns;

static double ticks_of_ns(void)
{
	return (double)(ticks() - begin_ticks) / (double)(now_ns() - begin_ns);
}

/* ---- what is counted ---- */

struct slot {
	uint64_t calls, ticks; /* by itself */
	uint64_t within;       /* calls that it has made, not those within them */
};

struct frame {
	unsigned int domain, id;
	uint64_t begin, inner, within; /* ticks and number of the calls that it has made */
};

/* Written by its own thread, and read at the end, when others may still run: a call more or less
 * does not matter there. It is never freed. */
struct thread {
	struct thread *next;
	int id;
	uint64_t first, last;
	uint64_t odd; /* calls that have not ended, or were too deep */
	uint64_t driver_in_runtime;
	unsigned int depth;
	struct frame frames[DEPTH_MOST];
	struct slot slots[DOMAINS][IDS_MOST];
};

static struct thread *_Atomic threads;
static _Thread_local struct thread *mine;
static _Atomic bool counting;
static _Atomic uint64_t counted_from; /* 0: nothing is counted yet */
static uint64_t wait_until;           /* ticks at which counting begins, unless calls are skipped */
static unsigned long skip;
static _Atomic unsigned long skipped;
static bool is_step[DOMAINS][IDS_MOST];

/* NULL: there is no memory. */
static struct thread *this_thread(void)
{
	struct thread *thread = mine;

	if (thread != NULL)
		return thread;
	thread = calloc(1, sizeof(*thread));
	if (thread == NULL)
		return NULL;
	thread->id = gettid();
	thread->next = atomic_load(&threads);
	while (!atomic_compare_exchange_weak(&threads, &thread->next, thread))
		;
	return mine = thread;
}

static void begin_counting(uint64_t now)
{
	uint64_t none = 0;

	atomic_compare_exchange_strong(&counted_from, &none, now);
	atomic_store(&counting, true);
}

/* Before counting begins. True if it does with this call. */
static bool begins_with(unsigned int domain, unsigned int id)
{
	uint64_t now = ticks();

	if (skip == 0 && now < wait_until)
		return false;
	if (skip != 0 && (!is_step[domain][id] || atomic_fetch_add(&skipped, 1) + 1 < skip))
		return false;
	begin_counting(now);
	return skip == 0; /* the last one skipped does not count */
}

static void enter(unsigned int domain, unsigned int id)
{
	struct thread *thread;
	struct frame *frame;

	if (!atomic_load_explicit(&counting, memory_order_relaxed) && !begins_with(domain, id))
		return;
	thread = this_thread();
	if (thread == NULL)
		return;
	if (thread->depth == DEPTH_MOST) {
		thread->odd++;
		return;
	}
	frame = &thread->frames[thread->depth++];
	frame->domain = domain;
	frame->id = id;
	frame->inner = frame->within = 0;
	frame->begin = ticks();
	if (thread->first == 0)
		thread->first = frame->begin;
}

static void leave(unsigned int domain, unsigned int id, uint64_t now)
{
	struct thread *thread = mine;
	unsigned int depth = thread != NULL ? thread->depth : 0;
	struct frame *frame;
	struct slot *slot;

	/* Of a call that was not counted when it began, there is none. */
	while (depth > 0 &&
	       (thread->frames[depth - 1].domain != domain || thread->frames[depth - 1].id != id))
		depth--;
	if (depth == 0)
		return;
	thread->odd += thread->depth - depth;
	thread->depth = --depth;
	frame = &thread->frames[depth];
	slot = &thread->slots[domain][id];
	slot->calls++;
	slot->ticks += now - frame->begin - frame->inner;
	slot->within += frame->within;
	if (depth > 0) {
		frame[-1].inner += now - frame->begin;
		frame[-1].within++;
		thread->driver_in_runtime += domain == DRIVER && frame[-1].domain == RUNTIME;
	}
	thread->last = now;
}

static void CUPTIAPI called(void *nothing, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                            const void *data)
{
	uint64_t now = ticks();
	unsigned int which = domain == CUPTI_CB_DOMAIN_DRIVER_API ? DRIVER : RUNTIME;

	(void)nothing;
	id = id < IDS_MOST ? id : 0;
	if (((const CUpti_CallbackData *)data)->callbackSite == CUPTI_API_ENTER)
		enter(which, id);
	else
		leave(which, id, now);
}

/* ---- CUPTI ---- */

#define FUNCTIONS(X) \
	X(cuptiSubscribe) \
	X(cuptiUnsubscribe) \
	X(cuptiEnableDomain) \
	X(cuptiGetCallbackName) \
	X(cuptiGetResultString)

static struct {
#define X(name) __typeof__(&name) name;
	FUNCTIONS(X)
#undef X
} cupti;

static CUpti_SubscriberHandle subscriber;
static const char *step_name;
static int process;

static bool is_well(CUptiResult result, const char *what)
{
	const char *why = NULL;

	if (result == CUPTI_SUCCESS)
		return true;
	cupti.cuptiGetResultString(result, &why);
	fprintf(stderr, "queries: %s: %s\n", what, why != NULL ? why : "?");
	return false;
}

static bool load_cupti(void)
{
	void *library = dlopen("libcupti.so.13", RTLD_NOW);

	if (library == NULL)
		library = dlopen("libcupti.so", RTLD_NOW);
	if (library == NULL) {
		fprintf(stderr, "queries: %s\n", dlerror());
		return false;
	}
#define X(name) \
	cupti.name = (__typeof__(cupti.name))dlsym(library, #name); \
	if (cupti.name == NULL) { \
		fprintf(stderr, "queries: libcupti lacks " #name "\n"); \
		return false; \
	}
	FUNCTIONS(X)
#undef X
	return true;
}

/* NULL: there is no such function. */
static const char *name_of(unsigned int domain, unsigned int id)
{
	const char *name = NULL;

	if (cupti.cuptiGetCallbackName(domain == DRIVER ? CUPTI_CB_DOMAIN_DRIVER_API
	                                                : CUPTI_CB_DOMAIN_RUNTIME_API,
	                               id, &name) != CUPTI_SUCCESS)
		return NULL;
	return name;
}

/* ---- what the callbacks cost ---- */

static double own_inside, own_outside; /* ns of a call: between our two readings, and around them */
static bool own_known;

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int count)
{
	qsort(values, (size_t)count, sizeof(*values), compare);
	return values[count / 2];
}

static double ns_of_a_call(CUresult(CUDAAPI *get)(int *))
{
	uint64_t begin = now_ns();
	int version;

	for (int i = 0; i < BATCH_CALLS; i++)
		get(&version);
	return (double)(now_ns() - begin) / BATCH_CALLS;
}

/* Calls with and without callbacks by turns. */
static void measure_own(double rate)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	CUresult(CUDAAPI * get)(int *) =
		library != NULL ? (CUresult(CUDAAPI *)(int *))dlsym(library, "cuDriverGetVersion") : NULL;
	struct slot *slot = &this_thread()->slots[DRIVER][CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion];
	double inside[BATCHES], outside[BATCHES];

	if (get == NULL)
		return;
	atomic_store(&counting, true);
	for (int i = 0; i < BATCHES; i++) {
		uint64_t calls = slot->calls, took = slot->ticks;
		double with, without;

		with = ns_of_a_call(get);
		if (slot->calls - calls != BATCH_CALLS)
			return;
		cupti.cuptiEnableDomain(0, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
		without = ns_of_a_call(get);
		cupti.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
		inside[i] = (double)(slot->ticks - took) / rate / BATCH_CALLS - without;
		outside[i] = with - without - inside[i];
	}
	own_inside = median(inside, BATCHES);
	own_outside = median(outside, BATCHES);
	own_known = true;
}

/* ---- the tables ---- */

struct sum {
	uint64_t calls;
	double us, less_us; /* less the callbacks' own time */
};

static void add(struct sum *to, const struct slot *slot, double rate)
{
	double us = (double)slot->ticks / rate * 1e-3;
	double own = ((double)slot->calls * own_inside + (double)slot->within * own_outside) * 1e-3;

	to->calls += slot->calls;
	to->us += us;
	to->less_us += us > own ? us - own : 0;
}

/* A function of the table, all threads together. */
struct function {
	const char *name;
	unsigned int domain;
	enum group group;
	struct sum sum;
};

static int by_time(const void *a, const void *b)
{
	double x = ((const struct function *)a)->sum.us, y = ((const struct function *)b)->sum.us;

	return (x < y) - (x > y);
}

static int by_calls(const void *a, const void *b)
{
	struct sum x = {0}, y = {0};

	for (unsigned int domain = 0; domain < DOMAINS; domain++)
		for (unsigned int id = 0; id < IDS_MOST; id++) {
			x.calls += (*(struct thread *const *)a)->slots[domain][id].calls;
			y.calls += (*(struct thread *const *)b)->slots[domain][id].calls;
		}
	return (x.calls < y.calls) - (x.calls > y.calls);
}

static void read_name(const char *path, char *name, int size)
{
	FILE *in = fopen(path, "r");

	snprintf(name, (size_t)size, "ended");
	if (in == NULL)
		return;
	if (fgets(name, size, in) != NULL)
		name[strcspn(name, "\n")] = 0;
	fclose(in);
}

static double part(double of, double whole)
{
	return whole > 0 ? 100 * of / whole : 0;
}

static double thread_us(const struct thread *thread, double rate)
{
	return (double)(thread->last - thread->first) / rate * 1e-3;
}

static void write_groups(FILE *out, const struct sum sums[DOMAINS][GROUPS], double steps,
                         const char *step, double time_us, double less_time_us)
{
	fprintf(out,
	        "\n| API | group | calls | calls %s | us %s | %% of threads' time | less callbacks: us "
	        "%s | %% |\n|---|---|---|---|---|---|---|---|\n",
	        step, step, step);
	for (unsigned int domain = 0; domain < DOMAINS; domain++)
		for (unsigned int group = 0; group < GROUPS; group++) {
			const struct sum *sum = &sums[domain][group];

			if (sum->calls != 0)
				fprintf(out, "| %s | %s | %lu | %.1f | %.2f | %.2f | %.2f | %.2f |\n",
				        domain_names[domain], group_names[group], (unsigned long)sum->calls,
				        (double)sum->calls / steps, sum->us / steps, part(sum->us, time_us),
				        sum->less_us / steps, part(sum->less_us, less_time_us));
		}
}

static void write_functions(FILE *out, const struct function *functions, unsigned int count,
                            double steps, const char *step)
{
	double all_us = 0;

	for (unsigned int i = 0; i < count; i++)
		all_us += functions[i].sum.us;
	fprintf(out,
	        "\n| API | function | group | calls | calls %s | us a call | us %s | less callbacks: "
	        "us a call | us %s |\n|---|---|---|---|---|---|---|---|---|\n",
	        step, step, step);
	for (unsigned int i = 0; i < count; i++) {
		const struct function *each = &functions[i];

		if (each->group != QUERIES && each->group != CURRENT && each->sum.us < SHOWN_PART * all_us)
			continue;
		fprintf(out, "| %s | %s | %s | %lu | %.2f | %.3f | %.2f | %.3f | %.2f |\n",
		        domain_names[each->domain], each->name, group_names[each->group],
		        (unsigned long)each->sum.calls, (double)each->sum.calls / steps,
		        each->sum.us / (double)each->sum.calls, each->sum.us / steps,
		        each->sum.less_us / (double)each->sum.calls, each->sum.less_us / steps);
	}
}

static void write_threads(FILE *out, struct thread **all, unsigned int count, double rate)
{
	qsort(all, count, sizeof(struct thread *), by_calls);
	fprintf(out, "\n| thread | its time, ms | calls | driver's queries, %% of its time | runtime's "
	             "| less callbacks: driver's | runtime's |\n|---|---|---|---|---|---|---|\n");
	for (unsigned int i = 0; i < count && i < THREADS_SHOWN; i++) {
		struct sum queries[DOMAINS] = {0}, every = {0};
		double us = thread_us(all[i], rate), less_us;
		char path[64], name[32];

		for (unsigned int domain = 0; domain < DOMAINS; domain++)
			for (unsigned int id = 0; id < IDS_MOST; id++) {
				const struct slot *slot = &all[i]->slots[domain][id];
				const char *function = slot->calls != 0 ? name_of(domain, id) : NULL;

				add(&every, slot, rate);
				if (function != NULL && group_of(function) == QUERIES)
					add(&queries[domain], slot, rate);
			}
		less_us = us - (double)every.calls * (own_inside + own_outside) * 1e-3;
		snprintf(path, sizeof(path), "/proc/self/task/%d/comm", all[i]->id);
		read_name(path, name, sizeof(name));
		fprintf(out, "| %s %d | %.1f | %lu | %.2f | %.2f | %.2f | %.2f |\n", name, all[i]->id,
		        us * 1e-3, (unsigned long)every.calls, part(queries[DRIVER].us, us),
		        part(queries[RUNTIME].us, us), part(queries[DRIVER].less_us, less_us),
		        part(queries[RUNTIME].less_us, less_us));
	}
}

static void write_head(FILE *out, double seconds, unsigned int count, double steps, uint64_t calls,
                       uint64_t within, uint64_t odd)
{
	char name[32];

	read_name("/proc/self/comm", name, sizeof(name));
	fprintf(out, "\n## %s %d: %u threads, %.2f s counted\n\n", name, process, count, seconds);
	if (step_name != NULL)
		fprintf(out, "- A step is a call of %s: %.0f of them.\n", step_name, steps);
	fprintf(out,
	        "- %lu calls of the driver, %lu of them within calls of the runtime; %lu calls "
	        "were not counted, as they were too deep or did not end.\n",
	        (unsigned long)calls, (unsigned long)within, (unsigned long)odd);
	if (own_known)
		fprintf(out,
		        "- Callbacks cost %.0f ns a call: %.0f within the time that is counted for it, "
		        "%.0f around that, in the time of whoever calls (medians of %d times %d calls "
		        "of cuDriverGetVersion).\n",
		        own_inside + own_outside, own_inside, own_outside, BATCHES, BATCH_CALLS);
	else
		fprintf(out, "- What callbacks cost could not be measured: nothing is subtracted.\n");
}

static void write_tables(FILE *out, struct thread **all, unsigned int count, double seconds,
                         double rate)
{
	static struct function functions[DOMAINS * IDS_MOST];
	struct sum sums[DOMAINS][GROUPS] = {0};
	uint64_t calls[DOMAINS] = {0}, within = 0, odd = 0, stepped = 0;
	unsigned int known = 0;
	double time_us = 0, steps, less_us;
	const char *step = step_name != NULL ? "a step" : "a second";

	for (unsigned int i = 0; i < count; i++) {
		time_us += thread_us(all[i], rate);
		within += all[i]->driver_in_runtime;
		odd += all[i]->odd;
	}
	for (unsigned int domain = 0; domain < DOMAINS; domain++)
		for (unsigned int id = 0; id < IDS_MOST; id++) {
			struct function *function = &functions[known];
			const char *name = name_of(domain, id);

			*function = (struct function){name != NULL ? name : "?", domain, REST, {0}};
			for (unsigned int i = 0; i < count; i++)
				add(&function->sum, &all[i]->slots[domain][id], rate);
			if (function->sum.calls == 0)
				continue;
			function->group = group_of(function->name);
			sums[domain][function->group].calls += function->sum.calls;
			sums[domain][function->group].us += function->sum.us;
			sums[domain][function->group].less_us += function->sum.less_us;
			calls[domain] += function->sum.calls;
			stepped += is_step[domain][id] ? function->sum.calls : 0;
			known++;
		}
	less_us =
		time_us - (double)(calls[DRIVER] + calls[RUNTIME]) * (own_inside + own_outside) * 1e-3;
	steps = step_name == NULL ? seconds : (double)(stepped > 0 ? stepped : 1);
	qsort(functions, known, sizeof(*functions), by_time);
	write_head(out, seconds, count, (double)stepped, calls[DRIVER], within, odd);
	write_groups(out, sums, steps, step, time_us, less_us);
	write_functions(out, functions, known, steps, step);
	write_threads(out, all, count, rate);
}

/* A copy, so that measuring the callbacks does not count. Those of threads that have had no call
 * since counting began are left out. */
static struct thread **copy_threads(unsigned int *count)
{
	struct thread **copies;
	unsigned int most = 0;

	*count = 0;
	for (struct thread *each = atomic_load(&threads); each != NULL; each = each->next)
		most++;
	copies = calloc(most + 1, sizeof(*copies));
	for (struct thread *each = atomic_load(&threads); copies != NULL && each != NULL;
	     each = each->next) {
		if (*count == most || each->last == 0)
			continue;
		copies[*count] = malloc(sizeof(*each));
		if (copies[*count] == NULL)
			break;
		memcpy(copies[(*count)++], each, sizeof(*each));
	}
	return copies;
}

static void finish(void)
{
	const char *path = getenv("QUERIES_FILE");
	uint64_t from = atomic_load(&counted_from), end = ticks();
	double rate = ticks_of_ns(), seconds = (double)(end - from) / rate * 1e-9;
	struct thread **all;
	unsigned int count;
	FILE *out;

	if (getpid() != process)
		return; /* a fork's child */
	all = copy_threads(&count);
	if (all == NULL || this_thread() == NULL)
		return;
	measure_own(rate);
	cupti.cuptiUnsubscribe(subscriber);
	out = path != NULL ? fopen(path, "a") : stderr;
	if (out == NULL) {
		fprintf(stderr, "queries: cannot write %s\n", path);
		return;
	}
	if (count == 0)
		fprintf(out, "\n%d: no call was counted\n", process);
	else
		write_tables(out, all, count, seconds, rate);
	if (path != NULL)
		fclose(out);
}

/* ---- the beginning ---- */

static void find_steps(void)
{
	for (unsigned int domain = 0; step_name != NULL && domain < DOMAINS; domain++)
		for (unsigned int id = 0; id < IDS_MOST; id++) {
			const char *name = name_of(domain, id);
			char plain[128];

			if (name == NULL)
				continue;
			plain_name(name, plain, sizeof(plain));
			is_step[domain][id] = strcmp(plain, step_name) == 0;
		}
}

__attribute__((visibility("default"))) int InitializeInjection(void);

/* Called within the first cuInit. */
__attribute__((visibility("default"))) int InitializeInjection(void)
{
	const char *runtime = getenv("QUERIES_RUNTIME"), *after = getenv("QUERIES_AFTER"),
			   *skips = getenv("QUERIES_SKIP");
	bool with_runtime = runtime == NULL || strcmp(runtime, "0") != 0;

	if (!load_cupti())
		return 0;
	process = getpid();
	step_name = getenv("QUERIES_STEP");
	if (skips != NULL && step_name == NULL) {
		fprintf(stderr, "queries: QUERIES_SKIP needs QUERIES_STEP\n");
		return 0;
	}
	skip = skips != NULL && step_name != NULL ? strtoul(skips, NULL, 10) : 0;
	find_steps();
	begin_ns = now_ns();
	begin_ticks = ticks();
	while (now_ns() - begin_ns < FIRST_RATE_NS)
		;
	if (after != NULL)
		wait_until = begin_ticks + (uint64_t)(strtod(after, NULL) * 1e9 * ticks_of_ns());
	if (!is_well(cupti.cuptiSubscribe(&subscriber, called, NULL), "subscribe") ||
	    !is_well(cupti.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API), "driver") ||
	    (with_runtime &&
	     !is_well(cupti.cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API), "runtime")))
		return 0;
	/* Last, so that it comes before whatever CUPTI does at the end. */
	atexit(finish);
	return 1;
}
