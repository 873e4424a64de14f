/* Who should launch for four threads? Each has a stream, and in each iteration 50 tiny kernels and
 * a wait for its stream, as launchbound's threads4. The forms are timed by turns within this
 * process, in random order. Then, what the driver's calls cost while other threads make the same
 * ones. Figures are in docs/results/2026-11-30-threads-h200.md.
 *
 *     eager            each thread launches its kernels
 *     own graph        each launches a graph of its own: by hand
 *     ticket           the same, behind a fair lock of ours: does the driver's lock serve them badly?
 *     deferred T       what Reprise does: T us of the host for each op; after 24 a graph of these, and
 *                      one of the other 26 behind them
 *     launcher         one thread launches the graphs of all; a thread hands over by a word, spins on
 *                      another until its graph is launched, and then waits for its stream
 *     batch T          the launcher collects for T us from the first one on. All four: one graph with
 *                      four branches; otherwise each its own
 *     one graph        the first thread launches the graph of all four, and all wait for it
 *     one, one waits   the same, but the first one alone waits, and tells the others by a word
 *
 * "Free" threads run by themselves; "meeting" ones begin each iteration together, without which
 * four do not often come at once. An iteration is one of each thread: us is the mean of the
 * threads' own clocks. Launching ends with the last launch's return, or when the thread has seen
 * it, and counts from the beginning of an iteration, deferred ops included. The processor time is
 * that of the process, the launcher's included.
 *
 * The counts in the GPU's memory are compared in the end: each kernel adds one. It takes about 35
 * seconds, on a machine where no thread shares a processor, and needs nothing of Reprise.
 *
 *     nvcc -O2 -std=c++17 -arch=sm_90 tests/research/threads.cu -o threads && ./threads [ROUNDS] */
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <thread>
#include <unistd.h>
#include <vector>

enum {
	WORKERS = 4,
	MOST_WORKERS = 8, /* where calls are timed beside each other */
	ALL = (1 << WORKERS) - 1,
	OPS = 50,
	OPS_BEFORE = 24, /* the first of two graphs, where ops are deferred */
	BLOCK = 256,
	ROUNDS = 9,
	TURN_US = 150000,
	SETTLES_PART = 10, /* of a turn's iterations, this part comes before them, and is not timed */
	TRIAL = 300,
	BESIDE_ROUNDS = 1500,
	BESIDE_SETTLES = 150,
	HOLD_CYCLES = 2000000, /* about a millisecond */
	GIVES_UP_S = 120
};

static __global__ void add(uint32_t *words)
{
	words[threadIdx.x]++;
}

static __global__ void hold(long long cycles)
{
	long long begin = clock64();

	while (clock64() - begin < cycles)
		;
}

static void check(cudaError_t result, const char *what)
{
	if (result != cudaSuccess) {
		fprintf(stderr, "threads: %s: %s\n", what, cudaGetErrorString(result));
		_exit(1);
	}
}
#define CHECK(call) check(call, #call)

static double clock_us(clockid_t clock)
{
	timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1e6 + time.tv_nsec * 1e-3;
}

static double now_us()
{
	return clock_us(CLOCK_MONOTONIC);
}

static void relax()
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

static void spin_us(double us)
{
	double end = now_us() + us;

	while (now_us() < end)
		;
}

/* ---- what threads share ---- */

struct alignas(128) word {
	std::atomic<uint32_t> value{0};

	uint32_t get() const
	{
		return value.load(std::memory_order_acquire);
	}

	void set(uint32_t to)
	{
		value.store(to, std::memory_order_release);
	}

	void await(uint32_t what) const
	{
		while (get() != what)
			relax();
	}
};

struct barrier {
	word came, round;

	void meet(uint32_t members)
	{
		uint32_t now = round.get();

		if (came.value.fetch_add(1, std::memory_order_acq_rel) + 1 == members) {
			came.set(0);
			round.set(now + 1);
		} else {
			round.await(now + 1);
		}
	}
};

struct worker {
	word asked, launched; /* graphs that it has handed over, and those of them that are launched */
	alignas(128) cudaStream_t stream;
	cudaStream_t where; /* its graph was launched there; `launched` publishes it */
	uint32_t *words;
	cudaGraphExec_t whole, before, behind;
	uint64_t issued;       /* kernels */
	std::vector<float> us; /* of each launch */
	double own_us;         /* an iteration, by its own clock */
};

static worker workers[MOST_WORKERS];
static cudaGraphExec_t of_all;
static cudaStream_t of_all_stream;
static barrier every_iteration, start;
static word told_launched, told_ended, ticket, served, over, ended;
static uint64_t batched; /* iterations of a thread within a graph of all; the launcher's */
static double cpu_begin, cpu_end;

/* ---- graphs ---- */

static void add_chain(cudaGraph_t graph, worker &of, int count)
{
	cudaKernelNodeParams kernel = {};
	cudaGraphNode_t node, last = nullptr;
	void *arguments[] = {&of.words};

	kernel.func = (void *)add;
	kernel.gridDim = dim3(1);
	kernel.blockDim = dim3(BLOCK);
	kernel.kernelParams = arguments;
	for (int i = 0; i < count; i++) {
		CHECK(
			cudaGraphAddKernelNode(&node, graph, i > 0 ? &last : nullptr, i > 0 ? 1 : 0, &kernel));
		last = node;
	}
}

static cudaGraphExec_t graph_of(worker *first, int branches, int count, cudaStream_t stream)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph;

	CHECK(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < branches; i++)
		add_chain(graph, first[i], count);
	CHECK(cudaGraphInstantiate(&executable, graph, 0));
	CHECK(cudaGraphUpload(executable, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaGraphDestroy(graph));
	return executable;
}

static void set_up()
{
	for (worker &each : workers) {
		CHECK(cudaStreamCreate(&each.stream));
		CHECK(cudaMalloc(&each.words, BLOCK * sizeof(*each.words)));
		CHECK(cudaMemset(each.words, 0, BLOCK * sizeof(*each.words)));
		CHECK(cudaDeviceSynchronize());
		each.whole = graph_of(&each, 1, OPS, each.stream);
		each.before = graph_of(&each, 1, OPS_BEFORE, each.stream);
		each.behind = graph_of(&each, 1, OPS - OPS_BEFORE, each.stream);
	}
	CHECK(cudaStreamCreate(&of_all_stream));
	of_all = graph_of(workers, WORKERS, OPS, of_all_stream);
}

static void launch_kernel(worker &mine)
{
	void *arguments[] = {&mine.words};

	CHECK(cudaLaunchKernel((const void *)add, dim3(1), dim3(BLOCK), arguments, 0, mine.stream));
}

static bool counts_are_right()
{
	std::vector<uint32_t> words(BLOCK);
	bool right = true;

	CHECK(cudaDeviceSynchronize());
	for (worker &each : workers) {
		CHECK(cudaMemcpy(words.data(), each.words, BLOCK * sizeof(uint32_t), cudaMemcpyDefault));
		for (uint32_t word : words)
			right = right && word == (uint32_t)each.issued;
	}
	return right;
}

/* ---- forms ---- */

enum kind { EAGER, OWN, TICKET, DEFERRED, LAUNCHER, BATCH, ONE, ONE_WAITS };

struct form {
	const char *name;
	enum kind kind;
	double us; /* of the host, for an op; or for which the launcher collects */
	bool meets;
};

static const form kinds[] = {
	{"eager", EAGER, 0, false},
	{"own graph", OWN, 0, false},
	{"ticket", TICKET, 0, false},
	{"deferred 0.15", DEFERRED, 0.15, false},
	{"deferred 0.32", DEFERRED, 0.32, false},
	{"launcher", LAUNCHER, 0, false},
	{"batch 0", BATCH, 0, false},
	{"batch 2", BATCH, 2, false},
	{"batch 5", BATCH, 5, false},
	{"one graph", ONE, 0, true},
	{"one, one waits", ONE_WAITS, 0, true},
};

static bool has_launcher(const form &form)
{
	return form.kind == LAUNCHER || form.kind == BATCH;
}

/* Those who have handed something over that is not launched. */
static unsigned int asking()
{
	unsigned int found = 0;

	for (int i = 0; i < WORKERS; i++)
		if (workers[i].asked.get() != workers[i].launched.get())
			found |= 1u << i;
	return found;
}

static void tell_launched(worker &of, cudaStream_t where)
{
	of.where = where;
	of.launched.set(of.launched.get() + 1);
}

static void launch_for_others(const form &form)
{
	while (over.get() == 0) {
		unsigned int found = asking();

		if (found == 0) {
			relax();
			continue;
		}
		if (form.kind == BATCH && form.us > 0) {
			double end = now_us() + form.us;

			while (found != ALL && now_us() < end)
				found = asking();
		}
		if (form.kind == BATCH && found == ALL) {
			CHECK(cudaGraphLaunch(of_all, of_all_stream));
			batched += WORKERS;
			for (int i = 0; i < WORKERS; i++)
				tell_launched(workers[i], of_all_stream);
			continue;
		}
		for (int i = 0; i < WORKERS; i++)
			if (found & 1u << i) {
				CHECK(cudaGraphLaunch(workers[i].whole, workers[i].stream));
				tell_launched(workers[i], workers[i].stream);
			}
	}
}

/* Returns the stream to wait for. `number` is that of the iteration, from one on. */
static cudaStream_t launch(const form &form, worker &mine, uint32_t number)
{
	bool is_first = &mine == workers;
	uint32_t place;

	mine.issued += OPS;
	switch (form.kind) {
	case EAGER:
		for (int i = 0; i < OPS; i++)
			launch_kernel(mine);
		return mine.stream;
	case OWN:
		CHECK(cudaGraphLaunch(mine.whole, mine.stream));
		return mine.stream;
	case TICKET:
		place = ticket.value.fetch_add(1, std::memory_order_relaxed);
		served.await(place);
		CHECK(cudaGraphLaunch(mine.whole, mine.stream));
		served.set(place + 1);
		return mine.stream;
	case DEFERRED:
		spin_us(OPS_BEFORE * form.us);
		CHECK(cudaGraphLaunch(mine.before, mine.stream));
		spin_us((OPS - OPS_BEFORE) * form.us);
		CHECK(cudaGraphLaunch(mine.behind, mine.stream));
		return mine.stream;
	case LAUNCHER:
	case BATCH:
		mine.asked.set(number);
		mine.launched.await(number);
		return mine.where;
	case ONE:
	case ONE_WAITS:
		if (is_first) {
			CHECK(cudaGraphLaunch(of_all, of_all_stream));
			told_launched.set(number);
		} else {
			told_launched.await(number);
		}
		return of_all_stream;
	}
	return nullptr;
}

static void wait_for(const form &form, worker &mine, cudaStream_t stream, uint32_t number)
{
	bool is_first = &mine == workers;

	if (form.kind != ONE_WAITS || is_first)
		CHECK(cudaStreamSynchronize(stream));
	if (form.kind == ONE_WAITS && is_first)
		told_ended.set(number);
	if (form.kind == ONE_WAITS && !is_first)
		told_ended.await(number);
}

static void iterate(const form &form, worker &mine, int settles, int iterations)
{
	double first = 0;

	for (int i = 0; i < settles + iterations; i++) {
		uint32_t number = (uint32_t)i + 1;
		cudaStream_t stream;
		double begin;

		if (i == settles) {
			start.meet(WORKERS);
			if (&mine == workers)
				cpu_begin = clock_us(CLOCK_PROCESS_CPUTIME_ID);
			first = now_us();
		}
		if (form.meets)
			every_iteration.meet(WORKERS);
		begin = now_us();
		stream = launch(form, mine, number);
		if (i >= settles)
			mine.us[i - settles] = (float)(now_us() - begin);
		wait_for(form, mine, stream, number);
	}
	mine.own_us = (now_us() - first) / iterations;
	if (ended.value.fetch_add(1, std::memory_order_acq_rel) + 1 == WORKERS)
		cpu_end = clock_us(CLOCK_PROCESS_CPUTIME_ID);
}

static double quantile(std::vector<float> values, double part)
{
	size_t place = (size_t)(part * (double)(values.size() - 1) + 0.5);

	std::nth_element(values.begin(), values.begin() + (long)place, values.end());
	return values[place];
}

/* Of a turn. */
struct figures {
	double us, cpu_us, launch_us, launch_90_us, batched_part;
};

static figures turn(const form &form, int iterations)
{
	int settles = iterations / SETTLES_PART + 1;
	std::vector<std::thread> threads;
	std::vector<float> launches;
	figures found = {};

	for (int i = 0; i < WORKERS; i++) {
		workers[i].us.assign((size_t)iterations, 0);
		workers[i].asked.set(0);
		workers[i].launched.set(0);
	}
	for (word *each : {&told_launched, &told_ended, &ticket, &served, &over, &ended})
		each->set(0);
	batched = 0;
	for (int i = 0; i < WORKERS; i++)
		threads.emplace_back([&, i] { iterate(form, workers[i], settles, iterations); });
	if (has_launcher(form)) {
		std::thread launcher([&] { launch_for_others(form); });

		for (std::thread &each : threads)
			each.join();
		over.set(1);
		launcher.join();
	} else {
		for (std::thread &each : threads)
			each.join();
	}
	for (int i = 0; i < WORKERS; i++) {
		found.us += workers[i].own_us / WORKERS;
		launches.insert(launches.end(), workers[i].us.begin(), workers[i].us.end());
	}
	found.cpu_us = (cpu_end - cpu_begin) / iterations;
	found.launch_us = quantile(launches, 0.5);
	found.launch_90_us = quantile(launches, 0.9);
	found.batched_part = (double)batched / (WORKERS * (double)(settles + iterations));
	return found;
}

static void compare_forms(int rounds)
{
	std::vector<form> forms;
	std::vector<std::vector<figures>> found;
	std::vector<size_t> order;
	std::vector<int> iterations;
	std::mt19937 random(1);

	for (bool meets : {false, true})
		for (form each : kinds)
			if (meets || !each.meets) {
				each.meets = meets;
				forms.push_back(each);
			}
	found.resize(forms.size());
	for (size_t i = 0; i < forms.size(); i++) {
		order.push_back(i);
		iterations.push_back(std::max((int)(TURN_US / turn(forms[i], TRIAL).us), 10));
	}
	for (int round = 0; round < rounds; round++) {
		std::shuffle(order.begin(), order.end(), random);
		for (size_t i : order)
			found[i].push_back(turn(forms[i], iterations[i]));
	}

	printf("Medians of %d turns of %d ms, lowest and highest in brackets; us an iteration of all "
	       "four threads. The ratio is taken in each round.\n\n",
	       rounds, TURN_US / 1000);
	printf("| threads | form | us | / own graph | processor time, us | launching, us | its 90th "
	       "percentile | in a graph of all |\n|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0, own = 0; i < forms.size(); i++) {
		std::vector<float> us, ratio, cpu, launches, launches_90, parts;

		for (own = 0; forms[own].kind != OWN || forms[own].meets != forms[i].meets; own++)
			;
		for (size_t round = 0; round < found[i].size(); round++) {
			const figures &of = found[i][round];

			us.push_back((float)of.us);
			ratio.push_back((float)(of.us / found[own][round].us));
			cpu.push_back((float)of.cpu_us);
			launches.push_back((float)of.launch_us);
			launches_90.push_back((float)of.launch_90_us);
			parts.push_back((float)of.batched_part);
		}
		printf("| %s | %s | %.1f (%.1f–%.1f) | %.2f | %.1f | %.2f | %.2f | ",
		       forms[i].meets ? "meeting" : "free", forms[i].name, quantile(us, 0.5),
		       quantile(us, 0), quantile(us, 1), quantile(ratio, 0.5), quantile(cpu, 0.5),
		       quantile(launches, 0.5), quantile(launches_90, 0.5));
		if (forms[i].kind == BATCH)
			printf("%.0f %% |\n", 100 * quantile(parts, 0.5));
		else
			printf("– |\n");
	}
	fflush(stdout);
}

/* ---- calls beside each other ---- */

enum call { GRAPH_LAUNCH, KERNEL_LAUNCH, IDLE_WAIT, BESIDE_WAITS };

static const char *const call_names[] = {
	"cudaGraphLaunch, a graph of 50", "cudaLaunchKernel, each of 50 in a row",
	"cudaStreamSynchronize, a finished stream",
	"cudaGraphLaunch, the other threads waiting in cudaStreamSynchronize"};

/* Keeps its stream busy for about a millisecond at a time, and is nearly always in a wait. */
static void keep_waiting(worker &mine)
{
	long long cycles = HOLD_CYCLES;
	void *arguments[] = {&cycles};

	while (over.get() == 0) {
		CHECK(cudaLaunchKernel((const void *)hold, dim3(1), dim3(1), arguments, 0, mine.stream));
		CHECK(cudaStreamSynchronize(mine.stream));
	}
}

static void make_calls(enum call call, worker &mine, uint32_t members)
{
	int count = call == KERNEL_LAUNCH || call == IDLE_WAIT ? OPS : 1;

	for (int round = -BESIDE_SETTLES; round < BESIDE_ROUNDS; round++) {
		double begin, end;

		start.meet(members);
		begin = now_us();
		for (int i = 0; i < count; i++) {
			if (call == KERNEL_LAUNCH)
				launch_kernel(mine);
			else if (call == IDLE_WAIT)
				CHECK(cudaStreamSynchronize(mine.stream));
			else
				CHECK(cudaGraphLaunch(mine.whole, mine.stream));
			end = now_us();
			if (round >= 0)
				mine.us.push_back((float)(end - begin));
			begin = end;
		}
		CHECK(cudaStreamSynchronize(mine.stream));
		mine.issued += call == IDLE_WAIT ? 0 : OPS;
	}
}

static void time_calls(enum call call, int threads)
{
	int callers = call == BESIDE_WAITS ? 1 : threads;
	std::vector<std::thread> calling, waiting;
	std::vector<float> us;

	over.set(0);
	for (int i = 0; i < callers; i++) {
		workers[i].us.clear();
		workers[i].us.reserve(BESIDE_ROUNDS * OPS);
	}
	for (int i = callers; i < threads; i++)
		waiting.emplace_back([i] { keep_waiting(workers[i]); });
	for (int i = 0; i < callers; i++)
		calling.emplace_back([=] { make_calls(call, workers[i], (uint32_t)callers); });
	for (std::thread &each : calling)
		each.join();
	over.set(1);
	for (std::thread &each : waiting)
		each.join();
	for (int i = 0; i < callers; i++)
		us.insert(us.end(), workers[i].us.begin(), workers[i].us.end());
	printf(" %.2f (%.2f) |", quantile(us, 0.5), quantile(us, 0.9));
}

static void compare_calls()
{
	printf(
		"\nus of a call, the 90th percentile in brackets, by the number of threads. All begin at "
		"once, each on a stream of its own; the clock's own time, some 0.02 us, is in it.\n\n");
	printf("| call | 1 | 2 | 4 | 8 |\n|---|---|---|---|---|\n");
	for (enum call call : {GRAPH_LAUNCH, KERNEL_LAUNCH, IDLE_WAIT, BESIDE_WAITS}) {
		printf("| %s |", call_names[call]);
		for (int threads = 1; threads <= MOST_WORKERS; threads *= 2)
			time_calls(call, threads);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS, driver = 0, runtime = 0;
	double begin = now_us();
	cudaDeviceProp device;
	bool right;

	alarm(GIVES_UP_S);
	CHECK(cudaSetDevice(0));
	CHECK(cudaGetDeviceProperties(&device, 0));
	CHECK(cudaDriverGetVersion(&driver));
	CHECK(cudaRuntimeGetVersion(&runtime));
	printf("%s, CUDA %d, runtime %d, %u processors\n\n", device.name, driver, runtime,
	       std::thread::hardware_concurrency());
	set_up();
	compare_forms(std::max(rounds, 1));
	compare_calls();
	right = counts_are_right();
	printf("\n%s; %.1f s\n", right ? "all counts are right" : "A COUNT IS WRONG",
	       (now_us() - begin) * 1e-6);
	return right ? 0 : 1;
}
