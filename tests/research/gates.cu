/* Gated graphs: a graph is launched at its first op, and the host opens a gate in it with one store
 * when more ops have come. What a gate costs, what it does to other work, and what whole loops
 * gain. docs/decisions/0041-gates.md has the question, the command lines and the figures. It needs
 * nothing of Reprise.
 *
 * Words of the host. A variant has a word in mapped host memory: the number of ops that have come
 * and may run. A gate before the ops up to `e` waits until (int)(word - e) >= 0. OPEN opens every
 * gate. ABORT + m opens every gate, too, but says that only the first m ops may run: gates with a
 * condition skip the rest. The host sets the word back before a launch, when the launch before has
 * ended. */
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#define OPEN 0x4000ffffu
#define ABORT 0x40000000u
#define LANES 32
#define GROUPS 64

/* ---- the device's side ---- */

struct dispatch {
	uint32_t *word;
	int groups, index;
	uint32_t end[GROUPS];
	cudaGraphExec_t exec[GROUPS];
	volatile uint32_t done;
	uint32_t error;
};

__device__ unsigned long long gpu_ns()
{
	unsigned long long t;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

/* The word, once it is at least `e`. Gives up after 4 s, so that no GPU stays busy for good: the
 * answer is less than `e` then. */
__device__ uint32_t spin(const uint32_t *word, uint32_t e)
{
	unsigned long long start = 0;
	uint32_t value;
	int turns = 0;

	while ((int)((value = *(const volatile uint32_t *)word) - e) < 0)
		if ((++turns & 1023) == 0) {
			if (!start)
				start = gpu_ns();
			else if (gpu_ns() - start > 4000000000ull)
				return 0;
		}
	return value;
}

__global__ void op_tiny(uint32_t *x, uint32_t i)
{
	x[threadIdx.x] = x[threadIdx.x] * 1664525u + i;
}

__global__ void op_mark(volatile uint32_t *flag)
{
	*flag = 1;
	__threadfence_system();
}

__global__ void op_long(float *x, int turns)
{
	float a = threadIdx.x;

	for (int i = 0; i < turns; i++)
		a = a * 1.0001f + 0.5f;
	if (a == 12345.f)
		*x = a;
}

__global__ void op_local(uint32_t *x, int n)
{
	uint32_t big[5000];

	for (int i = 0; i < n; i++)
		big[(i * 7919 + x[0]) % 5000] = i;
	x[1] = big[x[2] % 5000];
}

__global__ void op_unloaded(uint32_t *x)
{
	x[threadIdx.x] += 1;
}

__global__ void gate_spin(const uint32_t *word, uint32_t e)
{
	spin(word, e);
}

/* The same, but a gate that an earlier one saw open costs no read of the host's memory. */
__global__ void gate_cached(const uint32_t *word, uint32_t *seen, uint32_t e, int first)
{
	if (first || (int)(*seen - e) < 0)
		*seen = spin(word, e);
}

__global__ void gate_if(const uint32_t *word, uint32_t e, cudaGraphConditionalHandle handle)
{
	cudaGraphSetConditional(handle, (spin(word, e) & 0xffff) >= e);
}

__global__ void set_if(const uint32_t *word, uint32_t e, cudaGraphConditionalHandle handle)
{
	cudaGraphSetConditional(handle, (*(const volatile uint32_t *)word & 0xffff) >= e);
}

__global__ void gate_answer(const uint32_t *word, uint32_t e, volatile uint32_t *started,
                            volatile uint32_t *flag)
{
	*started = 1;
	__threadfence_system();
	spin(word, e);
	*flag = 1;
	__threadfence_system();
}

/* Says that `done` waits of the program are over; then a gate, if `e` is not 0. */
__global__ void signal_gate(volatile uint32_t *flag, uint32_t done, const uint32_t *word,
                            uint32_t e)
{
	if (done) {
		*flag = done;
		__threadfence_system();
	}
	if (e)
		spin(word, e);
}

/* A gate that gives kernels behind it their values. how: 0 one thread, one by one; 1 a thread each;
 * 2 one thread, all in one call; 3 a thread each, disabling; 4 a thread each, enabling. */
__global__ void gate_values(const uint32_t *word, uint32_t e, const uint32_t *values,
                            cudaGraphDeviceNode_t *nodes, size_t offset, int n, int how,
                            uint32_t *error)
{
	__shared__ uint32_t value[64];
	__shared__ __align__(16) unsigned char room[64 * sizeof(cudaGraphKernelNodeUpdate)];
	cudaGraphKernelNodeUpdate *update = (cudaGraphKernelNodeUpdate *)room;
	int t = threadIdx.x;
	cudaError_t status = cudaSuccess;

	if (t == 0)
		spin(word, e);
	__syncthreads();
	__threadfence_system();
	if (how == 0 && t == 0)
		for (int i = 0; i < n && !status; i++) {
			uint32_t v = ((const volatile uint32_t *)values)[i];

			status = cudaGraphKernelNodeSetParam(nodes[i], offset, &v, sizeof v);
		}
	if (how == 1 && t < n) {
		uint32_t v = ((const volatile uint32_t *)values)[t];

		status = cudaGraphKernelNodeSetParam(nodes[t], offset, &v, sizeof v);
	}
	if (how == 2) {
		if (t < n)
			value[t] = ((const volatile uint32_t *)values)[t];
		__syncthreads();
		if (t == 0) {
			for (int i = 0; i < n; i++) {
				update[i].node = nodes[i];
				update[i].field = cudaGraphKernelNodeFieldParam;
				update[i].updateData.param.pValue = &value[i];
				update[i].updateData.param.offset = offset;
				update[i].updateData.param.size = sizeof(uint32_t);
			}
			status = cudaGraphKernelNodeUpdatesApply(update, n);
		}
	}
	if (how >= 3 && t < n)
		status = cudaGraphKernelNodeSetEnabled(nodes[t], how == 4);
	if (status)
		*error = status;
}

__device__ void launch(struct dispatch *d, cudaGraphExec_t exec, cudaStream_t how)
{
	cudaError_t status = cudaGraphLaunch(exec, how);

	if (status)
		d->error = status;
}

/* Whether group g may run, once the host has said so or not. */
__device__ bool admitted(struct dispatch *d, int g)
{
	return g == 0 || (spin(d->word, d->end[g]) & 0xffff) >= d->end[g];
}

/* Launches a group behind itself, and itself again behind that. */
__global__ void dispatch_tail(struct dispatch *d)
{
	int g = d->index;

	if (!admitted(d, g)) {
		d->index = 0;
		return;
	}
	launch(d, d->exec[g], cudaStreamGraphTailLaunch);
	d->index = g + 1 < d->groups ? g + 1 : 0;
	if (g + 1 < d->groups)
		launch(d, cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch);
}

/* The last node of a group's graph: launches the next group. */
__global__ void dispatch_next(struct dispatch *d, int g)
{
	if (admitted(d, g))
		launch(d, d->exec[g], cudaStreamGraphTailLaunch);
}

/* Stays, and launches each group when the one before it has said that it is done. */
__global__ void dispatch_stay(struct dispatch *d, int sibling)
{
	unsigned long long start;

	d->done = 0;
	__threadfence();
	for (int g = 0; g < d->groups; g++) {
		if (!admitted(d, g))
			return;
		start = gpu_ns();
		while (d->done < (uint32_t)g)
			if (gpu_ns() - start > 4000000000ull) {
				d->error = 9999;
				return;
			}
		if (sibling)
			launch(d, d->exec[g], cudaStreamGraphFireAndForgetAsSibling);
		else
			launch(d, d->exec[g], cudaStreamGraphFireAndForget);
	}
}

__global__ void dispatch_done(struct dispatch *d, int g)
{
	__threadfence();
	d->done = g + 1;
}

/* ---- the host's side: errors, clock, words, watchdog ---- */

static void say(const char *format, ...)
{
	va_list list;

	va_start(list, format);
	vprintf(format, list);
	va_end(list);
	putchar('\n');
	fflush(stdout);
}

static void check(cudaError_t status, const char *what)
{
	if (status) {
		cudaGetLastError();
		throw std::runtime_error(std::string(cudaGetErrorName(status)) + " from " + what);
	}
}

static void check(CUresult status, const char *what)
{
	const char *name = "?";

	if (status) {
		cuGetErrorName(status, &name);
		throw std::runtime_error(std::string(name) + " from " + what);
	}
}

#define CK(call) check(call, std::string(#call).substr(0, std::string(#call).find('(')).c_str())

static double now()
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

static void work(double us)
{
	double end = now() + us;

	if (us > 0)
		while (now() < end)
			;
}

static double program_start;
static double limit_s = 34;

static bool late()
{
	return now() - program_start > limit_s * 1e6;
}

#define LINES 2048
static volatile uint32_t *lines; /* each of 32 words */
static std::atomic<int> line_count{0};
static bool is_word[LINES];

static volatile uint32_t *line(bool word)
{
	int i = line_count.load();

	if (i >= LINES)
		throw std::runtime_error("no lines left");
	is_word[i] = word;
	line_count.store(i + 1);
	return lines + 32 * i;
}

static void store(volatile uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static uint32_t load(volatile uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void open_all()
{
	for (int i = 0; i < line_count.load(); i++)
		if (is_word[i])
			store(lines + 32 * i, OPEN);
}

static std::atomic<double> guard_end{0}, guard_hard{0};
static std::atomic<bool> guard_fired{false};
static std::string guard_name;

static void watchdog()
{
	for (;;) {
		double end = guard_end.load(), hard = guard_hard.load();

		usleep(1000);
		if (end > 0 && now() > end && guard_end.compare_exchange_strong(end, 0)) {
			guard_fired.store(true);
			open_all();
		}
		if (hard > 0 && now() > hard) {
			say("STUCK for good, although all gates are open: %s", guard_name.c_str());
			_exit(3);
		}
		if (now() - program_start > 38e6) {
			say("out of time");
			_exit(4);
		}
	}
}

/* Opens all gates if its scope takes longer than `ms`, and ends the process 5 s later. */
struct guard {
	guard(const std::string &name, double ms)
	{
		guard_name = name;
		guard_fired.store(false);
		guard_hard.store(now() + ms * 1e3 + 5e6);
		guard_end.store(now() + ms * 1e3);
	}
	bool fired()
	{
		return guard_fired.load();
	}
	~guard()
	{
		guard_end.store(0);
		guard_hard.store(0);
	}
};

/* Whether the flag came to `value` within `ms`. */
static bool await(volatile uint32_t *flag, uint32_t value, double ms)
{
	double end = now() + ms * 1e3;

	while (load(flag) < value)
		if (now() > end)
			return false;
	return true;
}

struct spread {
	double middle, low, high;
};

static double quantile(std::vector<double> v, double q)
{
	if (v.empty())
		return 0;
	std::sort(v.begin(), v.end());
	return v[std::min(v.size() - 1, (size_t)(q * v.size()))];
}

static double median(const std::vector<double> &v)
{
	return quantile(v, 0.5);
}

static spread of(const std::vector<double> &v, double q = 0)
{
	return {median(v), quantile(v, q), quantile(v, q ? 1 - q : 0.999999)};
}

/* ---- ops and variants ---- */

enum { TINY, MARK, COPY };

struct op {
	int kind;
	void *at; /* x, a flag, or where to copy from */
	uint32_t value;
	void *host; /* COPY: where to */
};

enum mode {
	EAGER,
	CUT,
	WAIT,
	WAIT_SIDE,
	SPIN,
	CACHED,
	SPIN_SIDE,
	SPIN_IF,
	SPIN_NESTED,
	WAIT_IF,
	D_TAIL,
	D_NEXT,
	D_FORGET,
	D_SIBLING,
	MODES
};

static const char *mode_names[] = {"eager",          "cut",           "wait",        "wait-side",
                                   "spin",           "spin-cached",   "spin-side",   "spin-if",
                                   "spin-if-nested", "wait-if",       "device-tail", "device-next",
                                   "device-forget",  "device-sibling"};

static double defer_us = 0.06; /* what an op costs that is compared and not issued */
static double store_us;

static void issue(const op &o, cudaStream_t s)
{
	if (o.kind == TINY)
		op_tiny<<<1, LANES, 0, s>>>((uint32_t *)o.at, o.value);
	else if (o.kind == MARK)
		op_mark<<<1, 1, 0, s>>>((volatile uint32_t *)o.at);
	else
		CK(cudaMemcpyAsync(o.host, o.at, 8, cudaMemcpyDeviceToHost, s));
}

typedef std::vector<cudaGraphNode_t> nodes;

static cudaGraphNode_t add_kernel(cudaGraph_t g, const nodes &after, void *f, int threads,
                                  void **args)
{
	cudaKernelNodeParams p = {};
	cudaGraphNode_t node;

	p.func = f;
	p.gridDim = dim3(1);
	p.blockDim = dim3(threads);
	p.kernelParams = args;
	CK(cudaGraphAddKernelNode(&node, g, after.data(), after.size(), &p));
	return node;
}

static cudaGraphNode_t add_op(cudaGraph_t g, const nodes &after, const op &o)
{
	cudaGraphNode_t node;
	void *at = o.at;
	uint32_t value = o.value;
	void *tiny[] = {&at, &value}, *mark[] = {&at};

	if (o.kind == TINY)
		return add_kernel(g, after, (void *)op_tiny, LANES, tiny);
	if (o.kind == MARK)
		return add_kernel(g, after, (void *)op_mark, 1, mark);
	CK(cudaGraphAddMemcpyNode1D(&node, g, after.data(), after.size(), o.host, o.at, 8,
	                            cudaMemcpyDeviceToHost));
	return node;
}

/* A write of `done` to `flag`, if there is one, then a wait for `e`, if that is not 0. */
static cudaGraphNode_t add_wait(cudaGraph_t g, const nodes &after, volatile uint32_t *word,
                                uint32_t e, volatile uint32_t *flag = nullptr, uint32_t done = 0)
{
	CUstreamBatchMemOpParams ops[2];
	CUDA_BATCH_MEM_OP_NODE_PARAMS p = {};
	CUgraphNode node;
	int n = 0;

	memset(ops, 0, sizeof ops);
	if (flag) {
		ops[n].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
		ops[n].writeValue.address = (CUdeviceptr)flag;
		ops[n++].writeValue.value = done;
	}
	if (e) {
		ops[n].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
		ops[n].waitValue.address = (CUdeviceptr)word;
		ops[n].waitValue.value = e;
		ops[n++].waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
	}
	CK(cuCtxGetCurrent(&p.ctx));
	p.count = n;
	p.paramArray = ops;
	CK(cuGraphAddBatchMemOpNode(&node, (CUgraph)g, (const CUgraphNode *)after.data(), after.size(),
	                            &p));
	return (cudaGraphNode_t)node;
}

static cudaGraphNode_t add_if(cudaGraph_t g, const nodes &after, cudaGraphConditionalHandle handle,
                              cudaGraph_t *body)
{
	cudaGraphNodeParams p = {};
	cudaGraphNode_t node;

	p.type = cudaGraphNodeTypeConditional;
	p.conditional.handle = handle;
	p.conditional.type = cudaGraphCondTypeIf;
	p.conditional.size = 1;
	CK(cudaGraphAddNode(&node, g, after.data(), nullptr, after.size(), &p));
	*body = p.conditional.phGraph_out[0];
	return node;
}

struct variant {
	virtual ~variant()
	{
	}
	std::string name;
	int mode;
	std::vector<op> ops;
	std::vector<int> ends; /* CUT: the last ops of the graphs. Gated: those of what a gate admits */
	std::vector<cudaGraphExec_t> execs;
	volatile uint32_t *word = nullptr;
	struct dispatch *device = nullptr;
	uint32_t *x = nullptr, mirror[LANES];
	cudaStream_t stream;
	size_t next = 0;
	bool broken = false;
	std::vector<double> rounds, host;

	void instantiate(cudaGraph_t g, bool for_device = false)
	{
		cudaGraphExec_t exec;

		CK(cudaGraphInstantiate(&exec, g, for_device ? cudaGraphInstantiateFlagDeviceLaunch : 0));
		CK(cudaGraphUpload(exec, stream));
		CK(cudaStreamSynchronize(stream));
		execs.push_back(exec);
	}

	nodes chain(cudaGraph_t g, nodes after, int first, int last)
	{
		for (int i = first; i < last; i++)
			after = {add_op(g, after, ops[i])};
		return after;
	}

	void build_cut()
	{
		int first = 0;

		for (int end : ends) {
			cudaGraph_t g;

			CK(cudaGraphCreate(&g, 0));
			chain(g, {}, first, end);
			instantiate(g);
			first = end;
		}
	}

	void build_device()
	{
		struct dispatch d = {};
		cudaGraph_t g;
		int first = 0;
		int sibling = mode == D_SIBLING;

		CK(cudaMalloc(&device, sizeof d));
		d.word = (uint32_t *)word;
		d.groups = ends.size();
		for (int k = 0; k < d.groups; k++) {
			nodes last;
			int next_group = k + 1, this_group = k;
			void *next_args[] = {&device, &next_group}, *done_args[] = {&device, &this_group};

			CK(cudaGraphCreate(&g, 0));
			last = chain(g, {}, first, ends[k]);
			if (mode == D_NEXT && k + 1 < d.groups)
				add_kernel(g, last, (void *)dispatch_next, 1, next_args);
			if (mode == D_FORGET || mode == D_SIBLING)
				add_kernel(g, last, (void *)dispatch_done, 1, done_args);
			instantiate(g, true);
			d.end[k] = ends[k];
			d.exec[k] = execs.back();
			first = ends[k];
		}
		CK(cudaMemcpy(device, &d, sizeof d, cudaMemcpyHostToDevice));
		if (mode == D_NEXT)
			return; /* the host launches the first group */
		void *tail_args[] = {&device}, *stay_args[] = {&device, &sibling};

		CK(cudaGraphCreate(&g, 0));
		if (mode == D_TAIL)
			add_kernel(g, {}, (void *)dispatch_tail, 1, tail_args);
		else
			add_kernel(g, {}, (void *)dispatch_stay, 1, stay_args);
		instantiate(g, true);
		std::swap(execs.front(), execs.back());
	}

	void build_gated()
	{
		cudaGraph_t g, root, body;
		nodes after, side;
		uint32_t *word_at = (uint32_t *)word, *seen = nullptr;
		int first = 0;

		CK(cudaGraphCreate(&root, 0));
		g = root;
		if (mode == CACHED)
			CK(cudaMalloc(&seen, 4));
		for (size_t k = 0; k < ends.size(); k++) {
			uint32_t e = ends[k];
			int is_first = k == 1;
			void *spin_args[] = {&word_at, &e}, *cached_args[] = {&word_at, &seen, &e, &is_first};
			cudaGraphConditionalHandle handle;
			void *if_args[] = {&word_at, &e, &handle};

			if (k == 0) {
				after = chain(g, after, first, e);
				first = e;
				continue;
			}
			switch (mode) {
			case WAIT:
				after = {add_wait(g, after, word, e)};
				break;
			case WAIT_SIDE:
				side = {add_wait(g, side, word, e)};
				after.push_back(side[0]);
				break;
			case SPIN:
				after = {add_kernel(g, after, (void *)gate_spin, 1, spin_args)};
				break;
			case CACHED:
				after = {add_kernel(g, after, (void *)gate_cached, 1, cached_args)};
				break;
			case SPIN_SIDE:
				side = {add_kernel(g, side, (void *)gate_spin, 1, spin_args)};
				after.push_back(side[0]);
				break;
			case WAIT_IF:
			case SPIN_IF:
			case SPIN_NESTED:
				CK(cudaGraphConditionalHandleCreate(&handle, g, 0, cudaGraphCondAssignDefault));
				if (mode == WAIT_IF) {
					after = {add_wait(g, after, word, e)};
					after = {add_kernel(g, after, (void *)set_if, 1, if_args)};
				} else {
					after = {add_kernel(g, after, (void *)gate_if, 1, if_args)};
				}
				after = {add_if(g, after, handle, &body)};
				if (mode == SPIN_NESTED) {
					g = body;
					after = chain(g, {}, first, e);
				} else {
					chain(body, {}, first, e);
				}
				first = e;
				continue;
			}
			after = chain(g, after, first, e);
			first = e;
		}
		instantiate(root);
	}

	void build()
	{
		CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
		word = line(true);
		if (mode == CUT)
			build_cut();
		else if (mode >= D_TAIL)
			build_device();
		else if (mode != EAGER)
			build_gated();
	}

	/* The program makes op i, from 1 on. */
	void make(int i)
	{
		if (mode == EAGER) {
			issue(ops[i - 1], stream);
			return;
		}
		work(defer_us);
		if (i == 1)
			next = 0;
		if (next >= ends.size() || i != ends[next])
			return;
		if (mode == CUT) {
			CK(cudaGraphLaunch(execs[next], stream));
		} else if (next == 0) {
			store(word, i);
			CK(cudaGraphLaunch(execs[0], stream));
		} else {
			store(word, i);
		}
		next++;
	}

	void sync()
	{
		CK(cudaStreamSynchronize(stream));
	}

	void give_x()
	{
		CK(cudaMalloc(&x, LANES * 4));
		for (int t = 0; t < LANES; t++)
			mirror[t] = t + 1;
		CK(cudaMemcpy(x, mirror, sizeof mirror, cudaMemcpyHostToDevice));
	}

	void reflect(int first, int last)
	{
		for (int t = 0; t < LANES; t++)
			for (int i = first; i < last; i++)
				if (ops[i].kind == TINY)
					mirror[t] = mirror[t] * 1664525u + ops[i].value;
	}

	/* Whether all ops ran, each once, in order. */
	void verify()
	{
		uint32_t have[LANES], error = 0;

		CK(cudaStreamSynchronize(stream));
		if (device) {
			CK(cudaMemcpy(&error, &device->error, 4, cudaMemcpyDeviceToHost));
			if (error)
				throw std::runtime_error("device says error " + std::to_string(error) + " " +
				                         cudaGetErrorName((cudaError_t)error));
		}
		if (!x)
			return;
		CK(cudaMemcpy(have, x, sizeof have, cudaMemcpyDeviceToHost));
		if (memcmp(have, mirror, sizeof have))
			throw std::runtime_error("WRONG RESULT");
	}
};

typedef std::unique_ptr<variant> variant_ptr;

static variant_ptr make_variant(const std::string &name, int mode, const std::vector<int> &ends)
{
	variant_ptr v(new variant);

	v->name = name;
	v->mode = mode;
	v->ends = ends;
	return v;
}

/* Says why a variant is left out, and leaves it out. */
static bool attempt(variant &v, const char *doing, const std::function<void()> &f)
{
	if (v.broken)
		return false;
	try {
		guard g(v.name + ", " + doing, 3000);

		f();
		if (g.fired())
			throw std::runtime_error("stuck for 3 s");
		return true;
	} catch (const std::exception &e) {
		say("  %-22s left out, %s: %s", v.name.c_str(), doing, e.what());
		v.broken = true;
		open_all();
		return false;
	}
}

static std::vector<int> every(int first, int step, int n)
{
	std::vector<int> ends;

	if (first)
		ends.push_back(first);
	for (int e = step; e < n; e += step)
		if (e > first)
			ends.push_back(e);
	ends.push_back(n);
	return ends;
}

static std::vector<int> sizes(std::vector<int> sizes, int n)
{
	std::vector<int> ends;
	int at = 0;

	for (size_t k = 0; at < n; k++) {
		at = std::min(n, at + sizes[std::min(k, sizes.size() - 1)]);
		ends.push_back(at);
	}
	return ends;
}

/* As src/trace/plan.c cuts n ops that are `gap` apart, with a wait behind them. */
static std::vector<int> today(int n, double gap)
{
	std::vector<int> ends;
	auto within = [&](int most, double span) { return std::min(most, 1 + (int)(span / gap)); };

	for (int at = 0; at < n;) {
		int left = n - at;
		int count = within(std::min(left, at < 24 ? 24 - at : 128), at == 0 ? 3.0 : 37.5);
		int even = within(std::min(left, 24), 62.5);

		if (at >= 4 && even < 24 && even > count)
			count = even;
		if (count == left && count > 1 && within(count, 20.0) < count)
			count = (count + 1) / 2;
		at += count;
		ends.push_back(at);
	}
	return ends;
}

static std::string list(const std::vector<int> &v)
{
	std::string s;

	for (size_t i = 0; i < v.size() && i < 6; i++)
		s += (i ? "," : "") + std::to_string(v[i]);
	return s + (v.size() > 6 ? ",.." : "");
}

/* ---- experiments ---- */

static void about()
{
	cudaDeviceProp p;
	int driver, memops;
	std::vector<double> t;
	volatile uint32_t *w = line(false);

	CK(cudaGetDeviceProperties(&p, 0));
	CK(cudaDriverGetVersion(&driver));
	CK(cuDeviceGetAttribute(&memops, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 0));
	say("%s, driver API %d, 64-bit stream memory operations %d", p.name, driver, memops);
	for (int i = 0; i < 2000; i++) {
		double start = now();

		store(w, i);
		t.push_back(now() - start);
	}
	store_us = median(t);
	say("a store to mapped memory with two looks at the clock: %.3f us", store_us);
}

static void latency(const std::vector<int> &modes)
{
	std::vector<variant_ptr> all;

	say("\n== latency: from the host's store (or launch) until a kernel behind it has told the host ==");
	say("%-22s %8s %8s %8s", "gate", "median", "10 %", "90 %");
	defer_us = 0;
	{ /* the way there and back alone */
		volatile uint32_t *w = line(true), *started = line(false), *flag = line(false);
		std::vector<double> t;
		cudaStream_t s;
		guard g("answer", 5000);

		CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
		for (int i = 0; i < 300; i++) {
			double start;

			store(w, 0), store(flag, 0), store(started, 0);
			gate_answer<<<1, 1, 0, s>>>((uint32_t *)w, 1, started, flag);
			if (!await(started, 1, 1000))
				break;
			work(5 + i % 7);
			start = now();
			store(w, 1);
			if (!await(flag, 1, 1000))
				break;
			t.push_back(now() - start);
			CK(cudaStreamSynchronize(s));
		}
		spread q = of(t, 0.1);

		say("%-22s %8.2f %8.2f %8.2f   a kernel that spins answers itself", "bare", q.middle, q.low,
		    q.high);
		say("{\"exp\":\"latency\",\"gate\":\"bare\",\"us\":%.3f,\"p10\":%.3f,\"p90\":%.3f}",
		    q.middle, q.low, q.high);
	}
	for (int mode : modes) {
		variant_ptr v = make_variant(mode == CUT ? "graph launch" : mode_names[mode], mode, {1, 2});
		volatile uint32_t *a = line(false), *b = line(false);
		std::vector<double> t;

		v->ops = {{MARK, (void *)a}, {MARK, (void *)b}};
		if (!attempt(*v, "build", [&] { v->build(); }))
			continue;
		attempt(*v, "run", [&] {
			for (int i = 0; i < 300; i++) {
				double start;

				store(a, 0), store(b, 0);
				v->make(1);
				if (!await(a, 1, 1000))
					throw std::runtime_error("the first kernel did not start");
				work(5 + i % 7);
				if (load(b))
					throw std::runtime_error("the gate was no gate");
				start = now();
				v->make(2);
				if (!await(b, 1, 1000))
					throw std::runtime_error("the second kernel did not start");
				if (i >= 20)
					t.push_back(now() - start);
				v->sync();
			}
			v->verify();
		});
		if (v->broken)
			open_all();
		if (t.empty())
			continue;
		spread q = of(t, 0.1);

		say("%-22s %8.2f %8.2f %8.2f", v->name.c_str(), q.middle, q.low, q.high);
		say("{\"exp\":\"latency\",\"gate\":\"%s\",\"us\":%.3f,\"p10\":%.3f,\"p90\":%.3f}",
		    v->name.c_str(), q.middle, q.low, q.high);
	}
	defer_us = 0.06;
}

static void tiny_ops(variant &v, int n)
{
	v.give_x();
	v.ops.clear();
	for (int i = 0; i < n; i++)
		v.ops.push_back({TINY, v.x, (uint32_t)(i + 1)});
}

/* Rounds of all variants in changing order; `body` runs one iteration. */
static void rounds(std::vector<variant_ptr> &all, int count, int iterations,
                   const std::function<void(variant &)> &body)
{
	for (int r = 0; r < count; r++)
		for (size_t j = 0; j < all.size(); j++) {
			size_t at = r % 2 ? all.size() - 1 - (j + r) % all.size() : (j + r) % all.size();
			variant &v = *all[at];
			std::vector<double> t, h, in_calls;

			if (late()) {
				say("  out of time after %d rounds", r);
				return;
			}
			std::swap(h, v.host);
			attempt(v, "run", [&] {
				double end = now() + 400e3;

				for (int i = -3; i < iterations && now() < end && !guard_fired.load(); i++) {
					double start = now();

					v.host.clear();
					body(v);
					if (i < 0)
						continue;
					t.push_back(now() - start);
					if (!v.host.empty())
						in_calls.push_back(v.host.back());
				}
				v.verify();
			});
			std::swap(h, v.host);
			if (!v.broken && !t.empty()) {
				v.rounds.push_back(median(t));
				if (!in_calls.empty())
					v.host.push_back(median(in_calls));
			}
		}
}

static void open_gates(const std::vector<int> &modes)
{
	const int n = 100;
	std::vector<variant_ptr> all;
	double base = 0;
	int base_ends = 1;

	say("\n== open: what a gate costs that is open already; %d tiny kernels, a gate before each 4, 5 launches, a wait ==",
	    n);
	for (int mode : modes) {
		all.push_back(make_variant(mode == CUT ? "no gate" : mode_names[mode], mode,
		                           mode == CUT ? std::vector<int>{n} : every(0, 4, n)));
		attempt(*all.back(), "build", [&] {
			tiny_ops(*all.back(), n);
			all.back()->build();
			store(all.back()->word, OPEN);
		});
	}
	rounds(all, 7, 10, [&](variant &v) {
		for (int k = 0; k < 5; k++) {
			double start = now();

			CK(cudaGraphLaunch(v.execs[0], v.stream));
			v.host = {now() - start};
			v.reflect(0, n);
		}
		v.sync();
	});
	say("%-22s %10s %18s %14s %12s", "gate", "us/launch", "(rounds)", "us per gate", "launch call");
	for (auto &v : all) {
		if (v->rounds.empty())
			continue;
		spread q = of(v->rounds);
		double gates = v->ends.size() - base_ends;

		if (v->mode == CUT)
			base = q.middle / 5;
		say("%-22s %10.2f %8.2f..%-8.2f %14.3f %12.2f", v->name.c_str(), q.middle / 5, q.low / 5,
		    q.high / 5, gates > 0 ? (q.middle / 5 - base) / gates : 0, median(v->host));
		say("{\"exp\":\"open\",\"gate\":\"%s\",\"us\":%.3f,\"lo\":%.3f,\"hi\":%.3f,\"per_gate_us\":%.3f,\"launch_us\":%.3f}",
		    v->name.c_str(), q.middle / 5, q.low / 5, q.high / 5,
		    gates > 0 ? (q.middle / 5 - base) / gates : 0, median(v->host));
	}
}

static void report(const char *shape, double x, std::vector<variant_ptr> &all)
{
	double eager = 0, best = 0;

	for (auto &v : all)
		if (!v->rounds.empty()) {
			if (v->mode == EAGER)
				eager = median(v->rounds);
			if (v->name.find("today") == 0)
				best = median(v->rounds);
		}
	say("%-30s %9s %18s %9s %9s %9s", "variant", "us", "(rounds)", "x eager", "x today", "host us");
	for (auto &v : all) {
		if (v->rounds.empty())
			continue;
		spread q = of(v->rounds);

		say("%-30s %9.2f %8.2f..%-8.2f %9.3f %9.3f %9.2f", v->name.c_str(), q.middle, q.low, q.high,
		    eager / q.middle, best / q.middle, median(v->host));
		say("{\"exp\":\"shape\",\"shape\":\"%s\",\"x_us\":%g,\"variant\":\"%s\",\"us\":%.3f,\"lo\":%.3f,\"hi\":%.3f,"
		    "\"rounds\":%zu,\"over_eager\":%.3f,\"over_today\":%.3f,\"host_us\":%.3f}",
		    shape, x, v->name.c_str(), q.middle, q.low, q.high, v->rounds.size(), eager / q.middle,
		    best / q.middle, median(v->host));
	}
}

static void chain(const char *shape, int n, double x, bool device)
{
	std::vector<variant_ptr> all;
	auto add = [&](const std::string &name, int mode, const std::vector<int> &ends) {
		all.push_back(make_variant(name, mode, ends));
		attempt(*all.back(), "build", [&] {
			tiny_ops(*all.back(), n);
			all.back()->build();
		});
	};
	auto gated = [&](int mode, int step) {
		std::vector<int> ends = every(1, step, n);

		if (ends.size() <= GROUPS)
			add(std::string(mode_names[mode]) + " " + (step < n ? list(ends) : "1,all"), mode,
			    ends);
	};

	say("\n== %s, %g us of the host's work before each op, then a wait ==", shape, x);
	add("eager", EAGER, {});
	add("one graph at the last op", CUT, {n});
	add("today " + list(today(n, x + defer_us)), CUT, today(n, x + defer_us));
	add("cut 8,16,128", CUT, sizes({8, 16, 128}, n));
	add("cut 4", CUT, sizes({4}, n));
	if (device) {
		for (int step : {4, 8, n})
			for (int mode : {D_TAIL, D_NEXT, D_FORGET})
				gated(mode, step);
	} else {
		for (int step : {4, 8, 16, n})
			for (int mode : {WAIT, SPIN, CACHED})
				gated(mode, step);
		gated(WAIT_SIDE, 4);
		gated(WAIT_SIDE, 8);
		gated(SPIN_SIDE, 4);
		gated(SPIN_SIDE, 8);
		gated(SPIN_IF, 8);
		gated(WAIT_IF, 8);
		if (n <= 20) {
			gated(WAIT, 1);
			gated(SPIN, 1);
			gated(WAIT_SIDE, 1);
		}
	}
	double each = 30 + n * (x + 3.5);

	rounds(all, 7, std::max(12, std::min(100, (int)(8000 / each))), [&](variant &v) {
		double start = now();

		for (int i = 1; i <= n; i++) {
			work(x);
			v.make(i);
		}
		v.host = {now() - start};
		v.sync();
		v.reflect(0, n);
	});
	report(shape, x, all);
}

/* Bursts of 5 kernels and a copy back that the host waits for and reads. */
struct cg : variant {
	uint32_t *copied = nullptr;
	volatile uint32_t *done = nullptr;
	bool poll = false, across = false;
	int gates = 1;

	void build_across(int bursts)
	{
		cudaGraph_t g;
		nodes after;
		uint32_t *word_at = (uint32_t *)word;
		auto gate = [&](uint32_t finished, uint32_t e) {
			void *args[] = {(void *)&done, &finished, &word_at, &e};

			if (mode == WAIT)
				after = {add_wait(g, after, word, e, finished ? done : nullptr, finished)};
			else
				after = {add_kernel(g, after, (void *)signal_gate, 1, args)};
		};

		CK(cudaGraphCreate(&g, 0));
		for (int b = 0; b < bursts; b++) {
			gate(b, b * 6 + (gates == 2 ? 1 : 6));
			after = chain(g, after, 0, gates == 2 ? 1 : 6);
			if (gates == 2) {
				gate(0, b * 6 + 6);
				after = chain(g, after, 1, 6);
			}
		}
		gate(bursts, 0);
		instantiate(g);
	}

	void build_poll()
	{
		cudaGraph_t g;
		nodes after;

		CK(cudaGraphCreate(&g, 0));
		after = chain(g, {}, 0, ends[0]);
		if (ends.size() == 2) {
			after = {add_wait(g, after, word, ends[1])};
			after = chain(g, after, ends[0], ends[1]);
		}
		add_wait(g, after, word, 0, done, 1);
		instantiate(g);
	}

	void prepare(int bursts)
	{
		give_x();
		CK(cudaHostAlloc(&copied, 64, cudaHostAllocMapped));
		for (int i = 0; i < 5; i++)
			ops.push_back({TINY, x, (uint32_t)(i + 1)});
		ops.push_back({COPY, x, 0, copied});
		done = line(false);
		if (!across && !poll) {
			build();
			return;
		}
		CK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
		word = line(true);
		if (across)
			build_across(bursts);
		else
			build_poll();
	}

	void run(int bursts, double x_us)
	{
		double in_calls = 0;

		store(done, 0);
		if (across)
			store(word, 0);
		for (int b = 0; b < bursts; b++) {
			if (poll)
				store(done, 0);
			for (int i = 1; i <= 6; i++) {
				work(x_us);
				double start = now();

				if (across) {
					work(defer_us);
					if (i == 6 || (gates == 2 && i == 1))
						store(word, b * 6 + i);
					if (b == 0 && i == (gates == 2 ? 1 : 6))
						CK(cudaGraphLaunch(execs[0], stream));
				} else {
					make(i);
				}
				in_calls += now() - start;
			}
			if (across || poll) {
				if (!await(done, across ? b + 1 : 1, 1000))
					throw std::runtime_error("the burst did not end");
			} else {
				sync();
			}
			reflect(0, 5);
			if (((volatile uint32_t *)copied)[0] != mirror[0])
				throw std::runtime_error("WRONG VALUE copied back");
		}
		sync();
		host = {in_calls};
	}
};

static void conjugate(double x)
{
	const int bursts = 20;
	std::vector<variant_ptr> all;
	auto add = [&](const std::string &name, int mode, const std::vector<int> &ends, bool poll,
	               int gates) {
		cg *c = new cg;

		c->name = name;
		c->mode = mode;
		c->ends = ends;
		c->poll = poll;
		c->across = gates > 0;
		c->gates = gates;
		all.push_back(variant_ptr(c));
		attempt(*c, "build", [&] { c->prepare(bursts); });
	};

	say("\n== cg: %d bursts of 5 kernels, a copy of 8 bytes back, a wait; %g us of the host's work before each op ==",
	    bursts, x);
	add("eager", EAGER, {}, false, 0);
	add("one graph a burst", CUT, {6}, false, 0);
	add("today " + list(today(6, x + defer_us)), CUT, today(6, x + defer_us), false, 0);
	add("cut 2,6", CUT, {2, 6}, false, 0);
	for (int mode : {WAIT, SPIN, WAIT_SIDE}) {
		add(std::string(mode_names[mode]) + " 1,6", mode, {1, 6}, false, 0);
		add(std::string(mode_names[mode]) + " 3,6", mode, {3, 6}, false, 0);
	}
	add("one graph a burst, polled", CUT, {6}, true, 0);
	add("wait 1,6, polled", WAIT, {1, 6}, true, 0);
	add("across waits, wait 6", WAIT, {}, false, 1);
	add("across waits, wait 1,6", WAIT, {}, false, 2);
	add("across waits, spin 6", SPIN, {}, false, 1);
	add("across waits, spin 1,6", SPIN, {}, false, 2);
	rounds(all, 7, 12, [&](variant &v) { static_cast<cg &>(v).run(bursts, x); });
	report("cg", x, all);
}

/* A graph that waits at its gate once its first kernel has told. */
struct closed {
	variant_ptr v;
	volatile uint32_t *a;

	explicit closed(int mode)
	{
		v = make_variant(mode_names[mode], mode, {1, 2});
		a = line(false);
		v->give_x();
		v->ops = {{MARK, (void *)a}, {TINY, v->x, 1}};
		v->build();
	}

	bool start(double ms = 1000)
	{
		store(a, 0);
		v->make(1);
		return await(a, 1, ms);
	}

	void launch_only()
	{
		store(a, 0);
		v->make(1);
	}

	bool finish(double ms)
	{
		double end = now() + ms * 1e3;

		v->make(2);
		while (cudaStreamQuery(v->stream) == cudaErrorNotReady)
			if (now() > end)
				return false;
		return true;
	}
};

static void calls(int mode)
{
	static void *block, *pinned, *pinned2;
	static uint32_t *x;
	static cudaStream_t other, victim;
	static cudaEvent_t event;
	cudaFuncAttributes attributes;
	static char pageable[1 << 16];
	struct call {
		const char *name;
		std::function<void()> f;
	};
	auto wait_other = [] { CK(cudaStreamSynchronize(other)); };

	CK(cudaMalloc(&x, 1 << 20));
	CK(cudaMemset(x, 0, 1 << 20));
	CK(cudaHostAlloc(&pinned, 1 << 20, 0));
	CK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
	CK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	CK(cudaFuncGetAttributes(&attributes, (const void *)op_local)); /* loads it */
	CK(cudaDeviceSynchronize());
	say("\n== calls: made while a graph waits at a gate; us, or \"waits\": until the watchdog opened the gate after 200 ms ==");
	std::vector<call> list = {
		{"kernel elsewhere, and wait",
	     [&] {
			 op_tiny<<<1, LANES, 0, other>>>(x, 1);
			 wait_other();
		 }},
		{"pinned copies elsewhere, and wait",
	     [&] {
			 CK(cudaMemcpyAsync(x, pinned, 4096, cudaMemcpyHostToDevice, other));
			 CK(cudaMemcpyAsync(pinned, x, 4096, cudaMemcpyDeviceToHost, other));
			 wait_other();
		 }},
		{"pageable copy elsewhere, and wait",
	     [&] {
			 CK(cudaMemcpyAsync(x, pageable, sizeof pageable, cudaMemcpyHostToDevice, other));
			 wait_other();
		 }},
		{"cudaMemsetAsync elsewhere, and wait",
	     [&] {
			 CK(cudaMemsetAsync(x, 0, 4096, other));
			 wait_other();
		 }},
		{"event recorded elsewhere, and wait",
	     [&] {
			 CK(cudaEventRecord(event, other));
			 CK(cudaEventSynchronize(event));
		 }},
		{"kernel in the legacy stream, and wait",
	     [&] {
			 op_tiny<<<1, LANES>>>(x, 1);
			 CK(cudaStreamSynchronize(0));
		 }},
		{"cudaMemcpy", [&] { CK(cudaMemcpy(x, pageable, 4096, cudaMemcpyHostToDevice)); }},
		{"graph made, launched elsewhere, wait",
	     [&] {
			 cudaGraph_t g;
			 cudaGraphExec_t e;
			 CK(cudaGraphCreate(&g, 0));
			 add_op(g, {}, {TINY, x, 1});
			 CK(cudaGraphInstantiate(&e, g, 0));
			 CK(cudaGraphLaunch(e, other));
			 wait_other();
		 }},
		{"40 graphs of 100 instantiated",
	     [&] {
			 cudaGraph_t g;
			 cudaGraphExec_t e;
			 nodes after;
			 CK(cudaGraphCreate(&g, 0));
			 for (int i = 0; i < 100; i++)
				 after = {add_op(g, after, {TINY, x, 1})};
			 for (int i = 0; i < 40; i++)
				 CK(cudaGraphInstantiate(&e, g, 0));
		 }},
		{"first launch of a kernel, and wait",
	     [&] {
			 op_unloaded<<<1, LANES, 0, other>>>(x);
			 wait_other();
		 }},
		{"cudaMalloc, 1 MiB", [&] { CK(cudaMalloc(&block, 1 << 20)); }},
		{"cudaFree", [&] { CK(cudaFree(block)); }},
		{"cudaMalloc, 256 MiB", [&] { CK(cudaMalloc(&block, 256 << 20)); }},
		{"cudaFree", [&] { CK(cudaFree(block)); }},
		{"cudaMallocAsync, cudaFreeAsync, wait",
	     [&] {
			 CK(cudaMallocAsync(&block, 1 << 20, other));
			 CK(cudaFreeAsync(block, other));
			 wait_other();
		 }},
		{"cudaHostAlloc", [&] { CK(cudaHostAlloc(&pinned2, 1 << 20, 0)); }},
		{"cudaFreeHost", [&] { CK(cudaFreeHost(pinned2)); }},
		{"cudaStreamCreate",
	     [&] { CK(cudaStreamCreateWithFlags(&victim, cudaStreamNonBlocking)); }},
		{"cudaStreamDestroy", [&] { CK(cudaStreamDestroy(victim)); }},
		{"50 streams made and used",
	     [&] {
			 std::vector<cudaStream_t> s(50);
			 for (auto &each : s) {
				 CK(cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking));
				 op_tiny<<<1, LANES, 0, each>>>(x, 1);
			 }
			 for (auto &each : s)
				 CK(cudaStreamSynchronize(each));
		 }},
		{"kernel with 20 KB of local memory",
	     [&] {
			 op_local<<<1, 32, 0, other>>>(x, 4);
			 wait_other();
		 }},
	};

	std::unique_ptr<closed> c;
	try {
		c.reset(new closed(mode));
		c->start();
		c->finish(1000);
		c->v->sync();
	} catch (const std::exception &e) {
		say("  %s left out: %s", mode_names[mode], e.what());
		return;
	}
	list.push_back(
		{"event recorded behind the gate", [&] { CK(cudaEventRecord(event, c->v->stream)); }});
	list.push_back({"launches behind the gate: 500", [&] {
						for (int i = 0; i < 500; i++)
							op_tiny<<<1, LANES, 0, c->v->stream>>>(x, 1);
					}});
	list.push_back({"launches behind the gate: 3000", [&] {
						for (int i = 0; i < 3000; i++)
							op_tiny<<<1, LANES, 0, c->v->stream>>>(x, 1);
					}});
	list.push_back({"the program's device-wide wait", [&] { CK(cudaDeviceSynchronize()); }});
	for (auto &each : list) {
		if (late())
			return;
		try {
			double start, took;
			bool stuck;

			if (!c->start()) {
				say("  %s: did not start", mode_names[mode]);
				open_all();
				break;
			}
			{
				guard g(each.name, 200);

				start = now();
				each.f();
				took = now() - start;
				stuck = g.fired();
			}
			say("%-12s %-40s %s %10.1f", mode_names[mode], each.name, stuck ? "WAITS" : "     ",
			    took);
			say("{\"exp\":\"calls\",\"gate\":\"%s\",\"call\":\"%s\",\"waits\":%s,\"us\":%.1f}",
			    mode_names[mode], each.name, stuck ? "true" : "false", took);
			c->v->make(2);
			{
				guard g("the end", 2000);

				c->v->sync();
			}
		} catch (const std::exception &e) {
			say("%-12s %-40s %s", mode_names[mode], each.name, e.what());
			open_all();
			cudaDeviceSynchronize();
		}
	}
}

static void streams(const std::vector<int> &modes)
{
	const char *connections = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
	uint32_t *x;

	if (!connections)
		connections = "default";
	CK(cudaMalloc(&x, 1 << 16));
	say("\n== streams, CUDA_DEVICE_MAX_CONNECTIONS=%s: others while one graph waits at a gate, and many that wait ==",
	    connections);
	for (int mode : modes)
		for (int n : {4, 40, 120}) {
			if (late())
				return;
			try {
				closed c(mode);
				std::vector<cudaStream_t> s(n);
				int done = 0;
				double slowest = 0, end;
				bool stuck, started;

				for (auto &each : s)
					CK(cudaStreamCreateWithFlags(&each, cudaStreamNonBlocking));
				for (auto &each : s)
					op_tiny<<<1, LANES, 0, each>>>(x, 1);
				CK(cudaDeviceSynchronize());
				started = c.start();
				{
					guard g("streams", 400);

					for (auto &each : s) {
						double start = now();

						op_tiny<<<1, LANES, 0, each>>>(x, 1);
						slowest = std::max(slowest, now() - start);
					}
					end = now() + 200e3;
					for (auto &each : s) {
						cudaError_t status;

						while ((status = cudaStreamQuery(each)) == cudaErrorNotReady && now() < end)
							;
						done += status == cudaSuccess;
					}
					stuck = g.fired();
				}
				bool held = cudaStreamQuery(c.v->stream) == cudaErrorNotReady;

				c.v->make(2);
				{
					guard g("streams, the end", 2000);

					CK(cudaDeviceSynchronize());
				}
				say("%-14s one waits%s%s: %3d of %3d other streams ran meanwhile, slowest launch %.1f us%s",
				    mode_names[mode], started ? "" : " (first kernel late)",
				    held ? "" : " (NOT HELD)", done, n, slowest, stuck ? ", a launch WAITED" : "");
				say("{\"exp\":\"streams\",\"connections\":\"%s\",\"gate\":\"%s\",\"others\":%d,\"ran\":%d,\"held\":%s,\"launch_us\":%.1f}",
				    connections, mode_names[mode], n, done, held ? "true" : "false", slowest);
				for (auto &each : s)
					CK(cudaStreamDestroy(each));
			} catch (const std::exception &e) {
				say("%-14s %d streams: %s", mode_names[mode], n, e.what());
				open_all();
				cudaDeviceSynchronize();
			}
		}
	for (int mode : modes)
		for (int n : {2, 8, 40, 120}) {
			if (late())
				return;
			try {
				std::vector<std::unique_ptr<closed>> all;
				int started = 0, finished = 0;
				bool stuck;
				double end;

				for (int i = 0; i < n; i++)
					all.emplace_back(new closed(mode));
				CK(cudaDeviceSynchronize());
				{
					guard g("many", 700);

					for (auto &c : all)
						c->launch_only();
					end = now() + 200e3;
					for (auto &c : all)
						started += await(c->a, 1, std::max(0.0, (end - now()) / 1e3));
					for (int i = n - 1; i >= 0; i--)
						if (!all[i]->finish(100))
							break;
						else
							finished++;
					stuck = g.fired();
				}
				open_all();
				{
					guard g("many, the end", 2000);

					CK(cudaDeviceSynchronize());
				}
				say("%-14s %3d wait: %3d started; opened last first, %3d ended each while the rest waited%s",
				    mode_names[mode], n, started, finished, stuck ? "; a call WAITED" : "");
				say("{\"exp\":\"many\",\"connections\":\"%s\",\"gate\":\"%s\",\"graphs\":%d,\"started\":%d,\"ended\":%d}",
				    connections, mode_names[mode], n, started, finished);
			} catch (const std::exception &e) {
				say("%-14s %d graphs: %s", mode_names[mode], n, e.what());
				open_all();
				cudaDeviceSynchronize();
			}
		}
}

static void neighbour(const std::vector<int> &modes)
{
	uint32_t *x;
	cudaStream_t s;
	cudaGraph_t g;
	cudaGraphExec_t exec;
	nodes after;
	std::vector<std::unique_ptr<closed>> all;

	CK(cudaMalloc(&x, 4096));
	CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CK(cudaGraphCreate(&g, 0));
	for (int i = 0; i < 100; i++)
		after = {add_op(g, after, {TINY, x, 1})};
	CK(cudaGraphInstantiate(&exec, g, 0));
	say("\n== neighbour: work in another stream while k graphs wait at their gates; us ==");
	say("%-14s %4s %14s %14s %14s", "gate", "k", "100 eager", "graph of 100", "big kernel");
	for (int mode : modes) {
		try {
			all.clear();
			for (int i = 0; i < 16; i++)
				all.emplace_back(new closed(mode));
		} catch (const std::exception &e) {
			say("%-14s %s", mode_names[mode], e.what());
			continue;
		}
		for (int k : {0, 1, 4, 16}) {
			std::vector<double> t[3];

			if (late())
				return;
			try {
				bool fired;
				guard gd("neighbour", 3000);

				for (int i = 0; i < k; i++)
					all[i]->start();
				for (int r = 0; r < 30; r++) {
					double start = now();

					for (int i = 0; i < 100; i++)
						op_tiny<<<1, LANES, 0, s>>>(x, 1);
					CK(cudaStreamSynchronize(s));
					t[0].push_back(now() - start);
					start = now();
					CK(cudaGraphLaunch(exec, s));
					CK(cudaStreamSynchronize(s));
					t[1].push_back(now() - start);
					start = now();
					op_long<<<1056, 256, 0, s>>>((float *)x, 20000);
					CK(cudaStreamSynchronize(s));
					t[2].push_back(now() - start);
				}
				fired = gd.fired();
				for (int i = 0; i < k; i++)
					all[i]->finish(500);
				say("%-14s %4d %14.1f %14.1f %14.1f%s", mode_names[mode], k, median(t[0]),
				    median(t[1]), median(t[2]), fired ? "  WAITED" : "");
				say("{\"exp\":\"neighbour\",\"gate\":\"%s\",\"k\":%d,\"eager_us\":%.2f,\"graph_us\":%.2f,\"big_us\":%.2f}",
				    mode_names[mode], k, median(t[0]), median(t[1]), median(t[2]));
			} catch (const std::exception &e) {
				say("%-14s %d: %s", mode_names[mode], k, e.what());
				open_all();
				cudaDeviceSynchronize();
			}
		}
	}
}

static void aborted(const std::vector<int> &modes)
{
	const int n = 20;
	std::vector<variant_ptr> all;

	say("\n== abort: 20 tiny kernels, gates after 1, 8, 16; the guard of op 6 fails ==");
	say("%-22s %16s %20s %20s", "gate", "abort to idle", "visit, rest eager", "(rounds)");
	for (int mode : modes) {
		all.push_back(make_variant(mode == CUT ? "today: nothing launched" : mode_names[mode], mode,
		                           mode == CUT || mode == EAGER ? std::vector<int>{n}
		                                                        : std::vector<int>{1, 8, 16, 20}));
		attempt(*all.back(), "build", [&] {
			tiny_ops(*all.back(), n);
			all.back()->build();
		});
	}
	for (auto &v : all) { /* from the abort until the stream is idle */
		if (v->mode == EAGER || v->mode == CUT)
			continue;
		attempt(*v, "abort", [&] {
			for (int i = 0; i < 60 && !guard_fired.load(); i++) {
				double start;

				for (int k = 1; k <= 5; k++)
					v->make(k);
				work(30);
				start = now();
				store(v->word, ABORT + 1);
				v->sync();
				if (i >= 5)
					v->host.push_back(now() - start);
				v->reflect(0, 1);
			}
			v->verify();
		});
	}
	std::vector<double> idle;

	for (auto &v : all) {
		idle.push_back(median(v->host));
		v->host.clear();
	}
	rounds(all, 7, 60, [&](variant &v) {
		int from = 1;

		for (int i = 1; i <= (v.mode == EAGER ? n : 5); i++)
			v.make(i);
		if (v.mode == CUT)
			from = 0;
		if (v.mode != EAGER && v.mode != CUT)
			store(v.word, ABORT + 1);
		if (v.mode != EAGER)
			for (int i = from; i < n; i++)
				issue(v.ops[i], v.stream);
		v.sync();
		v.reflect(0, n);
	});
	for (size_t i = 0; i < all.size(); i++) {
		if (all[i]->rounds.empty())
			continue;
		spread q = of(all[i]->rounds);

		say("%-22s %16.2f %20.2f %11.2f..%-8.2f", all[i]->name.c_str(), idle[i], q.middle, q.low,
		    q.high);
		say("{\"exp\":\"abort\",\"gate\":\"%s\",\"abort_us\":%.3f,\"visit_us\":%.3f,\"lo\":%.3f,\"hi\":%.3f}",
		    all[i]->name.c_str(), idle[i], q.middle, q.low, q.high);
	}
}

/* What the host sets in the executable while the graph waits at its gate. */
static void set_while_waiting(cudaStream_t s)
{
	try {
		cudaGraph_t g;
		cudaGraphExec_t exec;
		volatile uint32_t *word = line(true);
		uint32_t *word_at = (uint32_t *)word, e = 1, *x, have;
		uint32_t fresh = 99;
		cudaGraphNode_t gate, node;
		void *plain[] = {&word_at, &e}, *args[] = {&x, &fresh};
		cudaKernelNodeParams p = {};
		double start, took;

		CK(cudaMalloc(&x, LANES * 4));
		CK(cudaMemset(x, 0, LANES * 4));
		CK(cudaGraphCreate(&g, 0));
		gate = add_kernel(g, {}, (void *)gate_spin, 1, plain);
		node = add_op(g, {gate}, {TINY, x, 7});
		CK(cudaGraphInstantiate(&exec, g, 0));
		CK(cudaGraphUpload(exec, s));
		CK(cudaStreamSynchronize(s));
		guard gd("set while it waits", 500);

		CK(cudaGraphLaunch(exec, s));
		work(1000);
		p.func = (void *)op_tiny;
		p.gridDim = dim3(1);
		p.blockDim = dim3(LANES);
		p.kernelParams = args;
		start = now();
		CK(cudaGraphExecKernelNodeSetParams(exec, node, &p));
		took = now() - start;
		store(word, OPEN);
		CK(cudaStreamSynchronize(s));
		CK(cudaMemcpy(&have, x, 4, cudaMemcpyDeviceToHost));
		say("set by the host while the graph waits: %.2f us%s; the run had the %s value (%u)", took,
		    gd.fired() ? ", WAITED" : "",
		    have == 7    ? "old"
		    : have == 99 ? "NEW"
		                 : "?",
		    have);
		say("{\"exp\":\"set_while_waiting\",\"us\":%.3f,\"run_had\":%u}", took, have);
	} catch (const std::exception &e) {
		say("set while it waits: %s", e.what());
	}
}

static void values()
{
	static const char *hows[] = {"one thread, one by one", "a thread each", "one thread, one call",
	                             "disable, a thread each", "enable, a thread each"};
	uint32_t *error, *host_values;
	cudaStream_t s;
	size_t offset = 0, size = 0;

	say("\n== values: a gate that sets the second parameter of n kernels behind it; us from launch to idle, 5 launches ==");
	CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
	CK(cudaMalloc(&error, 4));
	CK(cudaMemset(error, 0, 4));
	CK(cudaHostAlloc(&host_values, 4096, cudaHostAllocMapped));
	CK(cudaFuncGetParamInfo((void *)op_tiny, 1, &offset, &size));
	say("parameter 1 of the kernel: offset %zu, size %zu", offset, size);
	set_while_waiting(s);
	/* how -2: plain nodes behind a plain gate; -1: updatable nodes behind a plain gate */
	for (int n : {1, 4, 16, 32})
		for (int how = -2; how < 5; how++) {
			if (late())
				return;
			try {
				cudaGraph_t g;
				cudaGraphExec_t exec;
				volatile uint32_t *word = line(true);
				uint32_t *word_at = (uint32_t *)word, e = 1, *x, mirror[LANES], have[LANES], said;
				cudaGraphDeviceNode_t *handles, *host_handles;
				nodes after;
				std::vector<double> t;
				int threads = 64;
				bool wrong = false;
				void *plain[] = {&word_at, &e};
				void *args[] = {&word_at, &e, &host_values, &handles, &offset, &n, &how, &error};

				host_handles = (cudaGraphDeviceNode_t *)calloc(64, sizeof *host_handles);
				CK(cudaMalloc(&handles, 64 * sizeof *handles));
				CK(cudaMalloc(&x, LANES * 4));
				CK(cudaMemset(x, 0, LANES * 4));
				memset(mirror, 0, sizeof mirror);
				CK(cudaGraphCreate(&g, 0));
				after = {how < 0 ? add_kernel(g, {}, (void *)gate_spin, 1, plain)
				                 : add_kernel(g, {}, (void *)gate_values, threads, args)};
				for (int i = 0; i < n; i++) {
					after = {add_op(g, after, {TINY, x, 7})};
					if (how >= -1) {
						cudaLaunchAttributeValue value = {};

						value.deviceUpdatableKernelNode.deviceUpdatable = 1;
						CK(cudaGraphKernelNodeSetAttribute(
							after[0], cudaLaunchAttributeDeviceUpdatableKernelNode, &value));
						if (!value.deviceUpdatableKernelNode.devNode)
							CK(cudaGraphKernelNodeGetAttribute(
								after[0], cudaLaunchAttributeDeviceUpdatableKernelNode, &value));
						host_handles[i] = value.deviceUpdatableKernelNode.devNode;
						if (!host_handles[i])
							throw std::runtime_error("no handle of an updatable node");
					}
				}
				CK(cudaMemcpy(handles, host_handles, 64 * sizeof *handles, cudaMemcpyHostToDevice));
				CK(cudaGraphInstantiate(&exec, g, 0));
				CK(cudaGraphUpload(exec, s));
				store(word, OPEN);
				guard gd("values", 3000);

				for (int r = -3; r < 60; r++) {
					double start;

					for (int i = 0; i < n; i++)
						host_values[i] = how >= 0 && how < 3 ? 1000 + r + 3 * i : 7;
					start = now();
					for (int k = 0; k < 5; k++)
						CK(cudaGraphLaunch(exec, s));
					CK(cudaStreamSynchronize(s));
					if (r >= 0)
						t.push_back((now() - start) / 5);
					for (int k = 0; k < 5 && how != 3; k++)
						for (int lane = 0; lane < LANES; lane++)
							for (int i = 0; i < n; i++)
								mirror[lane] = mirror[lane] * 1664525u + host_values[i];
				}
				CK(cudaMemcpy(have, x, sizeof have, cudaMemcpyDeviceToHost));
				CK(cudaMemcpy(&said, error, 4, cudaMemcpyDeviceToHost));
				CK(cudaMemset(error, 0, 4));
				wrong = memcmp(have, mirror, sizeof have) != 0;
				spread q = of(t, 0.1);
				const char *name = how == -2   ? "plain nodes"
				                   : how == -1 ? "updatable, not updated"
				                               : hows[how];

				say("n=%-3d %-26s %9.2f %8.2f..%-8.2f %s%s%s", n, name, q.middle, q.low, q.high,
				    wrong ? "NOT AS SET" : "as set", said ? ", device says " : "",
				    said ? cudaGetErrorName((cudaError_t)said) : "");
				say("{\"exp\":\"values\",\"n\":%d,\"how\":\"%s\",\"us\":%.3f,\"p10\":%.3f,\"p90\":%.3f,\"right\":%s}",
				    n, name, q.middle, q.low, q.high, wrong ? "false" : "true");
			} catch (const std::exception &e) {
				say("n=%-3d how %d: %s", n, how, e.what());
				open_all();
				cudaDeviceSynchronize();
			}
		}
}

int main(int argc, char **argv)
{
	std::string what = argc > 1 ? argv[1] : "";
	const std::vector<int> gates = {EAGER,  CUT,       WAIT,    WAIT_SIDE,   SPIN,
	                                CACHED, SPIN_SIDE, SPIN_IF, SPIN_NESTED, WAIT_IF};
	const std::vector<int> devices = {EAGER, CUT, D_TAIL, D_NEXT, D_FORGET};
	auto without_eager = [](std::vector<int> v) {
		return std::vector<int>(v.begin() + 1, v.end());
	};
	std::vector<std::pair<std::string, std::function<void()>>> all = {
		{"latency", [&] { latency(gates); }},
		{"latency-device", [&] { latency(devices); }},
		{"latency-sibling", [&] { latency({D_SIBLING}); }},
		{"open", [&] { open_gates(without_eager(gates)); }},
		{"open-device", [&] { open_gates(without_eager(devices)); }},
		{"chain20",
	     [&] {
			 for (double x : {0., 0.3, 1., 3.})
				 chain("chain20", 20, x, false);
		 }},
		{"chain20-device",
	     [&] {
			 for (double x : {0., 1., 3.})
				 chain("chain20", 20, x, true);
		 }},
		{"chain100",
	     [&] {
			 for (double x : {0., 1., 3.})
				 chain("chain100", 100, x, false);
		 }},
		{"python", [&] { chain("python100", 100, 10, false); }},
		{"python-device", [&] { chain("python100", 100, 10, true); }},
		{"cg",
	     [&] {
			 for (double x : {0., 1., 3.})
				 conjugate(x);
		 }},
		{"calls-wait", [&] { calls(WAIT); }}, /* a process each: first times are what counts */
		{"calls-spin", [&] { calls(SPIN); }},
		{"calls-device", [&] { calls(D_FORGET); }},
		{"streams",
	     [&] {
			 streams({WAIT, SPIN, SPIN_IF, D_FORGET});
		 }},
		{"neighbour",
	     [&] {
			 neighbour({WAIT, SPIN, D_FORGET});
		 }},
		{"abort",
	     [&] {
			 aborted({EAGER, CUT, SPIN_IF, SPIN_NESTED, WAIT_IF});
		 }},
		{"abort-device",
	     [&] {
			 aborted({EAGER, CUT, D_TAIL, D_NEXT, D_FORGET});
		 }},
		{"values", [&] { values(); }},
	};

	program_start = now();
	if (argc > 2)
		limit_s = atof(argv[2]);
	for (auto &e : all)
		if (e.first == what)
			try {
				CK(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
				CK(cudaFree(0));
				CK(cudaHostAlloc((void **)&lines, LINES * 128,
				                 cudaHostAllocMapped | cudaHostAllocPortable));
				memset((void *)lines, 0, LINES * 128);
				std::thread(watchdog).detach();
				program_start = now();
				if (what == "latency")
					about();
				e.second();
				say("%s: done in %.1f s", what.c_str(), (now() - program_start) / 1e6);
				fflush(stdout);
				_exit(0);
			} catch (const std::exception &error) {
				say("%s: ended by %s", what.c_str(), error.what());
				open_all();
				_exit(1);
			}
	say("usage: gates EXPERIMENT [SECONDS], one of:");
	for (auto &e : all)
		say("  %s", e.first.c_str());
	return 2;
}
