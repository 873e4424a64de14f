/*
 * heat-devices: the heat equation on a square, its rows divided among devices, by the CUDA driver
 * API.
 *
 *   heat-devices --module heat_kernels.cubin [--size N] [--steps N] [--every N] [--devices N] [--mode eager|together|apart]
 *
 * After each step neighbours give each other the rows at their border (cuMemcpyPeerAsync), and wait
 * for each other by events. Same results as heat, to
 * the last bit, for any number of parts; where there are fewer devices, several parts are on one.
 *
 * Two forms are from graphs, written by hand: each part's kernel and copies of a step in one graph
 * (together), or each in a graph of its own (apart).
 */
#include "driver.h"
#include "heat.h"

#define PARTS_MOST 16u
#define BLOCK 256u

/* Its rows, and its neighbours' next to them; what is and what comes after a step change places.
 * The graphs are of the step from here. */
struct half {
	CUdeviceptr rows, above, below;
	CUgraphExec stepped, given_up, given_down, all;
};

struct part {
	CUcontext context;
	CUfunction strip, change, fold;
	CUstream stream;
	CUevent stepped; /* its rows of this step are done, and its neighbours have theirs of them */
	struct half now, next;
	unsigned first, count;
};

static struct part parts[PARTS_MOST];
static unsigned part_count;
static enum { EAGER, TOGETHER, APART } mode;

static void enter(const struct part *part)
{
	CHECK(cuCtxSetCurrent(part->context));
}

static size_t row_bytes(const struct heat *heat)
{
	return sizeof(double) * heat->size;
}

static void fill(struct half *half, const struct part *part, const struct heat *heat)
{
	const double *rows = heat->cells + (size_t)part->first * heat->size;

	CHECK(cuMemAlloc(&half->rows, part->count * row_bytes(heat)));
	CHECK(cuMemAlloc(&half->above, row_bytes(heat)));
	CHECK(cuMemAlloc(&half->below, row_bytes(heat)));
	CHECK(cuMemcpyHtoD(half->rows, rows, part->count * row_bytes(heat)));
	if (part->first > 0)
		CHECK(cuMemcpyHtoD(half->above, rows - heat->size, row_bytes(heat)));
	if (part->first + part->count < heat->size)
		CHECK(cuMemcpyHtoD(half->below, rows + part->count * heat->size, row_bytes(heat)));
}

static void set_up(struct part *part, CUdevice device, const struct heat *heat)
{
	CUmodule module;

	CHECK(cuDevicePrimaryCtxRetain(&part->context, device));
	enter(part);
	CHECK(cuModuleLoad(&module, heat->module));
	CHECK(cuModuleGetFunction(&part->strip, module, "heat_strip"));
	CHECK(cuModuleGetFunction(&part->change, module, "heat_change"));
	CHECK(cuModuleGetFunction(&part->fold, module, "heat_fold"));
	CHECK(cuStreamCreate(&part->stream, CU_STREAM_NON_BLOCKING));
	CHECK(cuEventCreate(&part->stepped, CU_EVENT_DISABLE_TIMING));
	fill(&part->now, part, heat);
	fill(&part->next, part, heat);
	CHECK(cuCtxSynchronize());
}

static void launch(CUfunction function, unsigned threads, unsigned block, const struct part *part,
                   void **parameters)
{
	CHECK(cuLaunchKernel(function, (threads + block - 1) / block, 1, 1, block, 1, 1, 0,
	                     part->stream, parameters, NULL));
}

static void launch_step(struct part *part, const struct heat *heat)
{
	unsigned size = heat->size;
	double rate = HEAT_RATE;

	launch(part->strip, part->count * size, BLOCK, part,
	       (void *[]){&part->now.rows, &part->now.above, &part->now.below, &part->next.rows, &size,
	                  &rate, &part->first, &part->count});
}

/* cuMemcpyPeerAsync cannot be captured; its addresses tell as much. */
static void give(CUdeviceptr to, const struct part *neighbour, CUdeviceptr from,
                 const struct part *part, const struct heat *heat)
{
	if (mode == EAGER)
		CHECK(cuMemcpyPeerAsync(to, neighbour->context, from, part->context, row_bytes(heat),
		                        part->stream));
	else
		CHECK(cuMemcpyAsync(to, from, row_bytes(heat), part->stream));
}

static void give_up(struct part *part, const struct heat *heat)
{
	if (part > parts)
		give(part[-1].next.below, &part[-1], part->next.rows, part, heat);
}

static void give_down(struct part *part, const struct heat *heat)
{
	if (part + 1 < parts + part_count)
		give(part[1].next.above, &part[1], part->next.rows + (part->count - 1) * row_bytes(heat),
		     part, heat);
}

static void all(struct part *part, const struct heat *heat)
{
	launch_step(part, heat);
	give_up(part, heat);
	give_down(part, heat);
}

static void swap(struct part *part)
{
	struct half now = part->now;

	part->now = part->next;
	part->next = now;
}

static CUgraphExec graph_of(void (*work)(struct part *, const struct heat *), struct part *part,
                            const struct heat *heat)
{
	CUgraphExec executable;
	CUgraph graph;

	CHECK(cuStreamBeginCapture(part->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	work(part, heat);
	CHECK(cuStreamEndCapture(part->stream, &graph));
	CHECK(cuGraphInstantiate(&executable, graph, 0));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuGraphUpload(executable, part->stream));
	return executable;
}

/* Of the step from this half. All parts have to be set up. */
static void make_graphs(struct part *part, const struct heat *heat)
{
	enter(part);
	part->now.all = graph_of(all, part, heat);
	part->now.stepped = graph_of(launch_step, part, heat);
	part->now.given_up = graph_of(give_up, part, heat);
	part->now.given_down = graph_of(give_down, part, heat);
}

static void step(struct part *part, const struct heat *heat)
{
	enter(part);
	if (mode == EAGER)
		launch_step(part, heat);
	else if (mode == APART)
		CHECK(cuGraphLaunch(part->now.stepped, part->stream));
}

static void give_borders(struct part *part, const struct heat *heat)
{
	enter(part);
	if (mode == EAGER) {
		give_up(part, heat);
		give_down(part, heat);
	} else if (mode == TOGETHER) {
		CHECK(cuGraphLaunch(part->now.all, part->stream));
	} else {
		if (part > parts)
			CHECK(cuGraphLaunch(part->now.given_up, part->stream));
		if (part + 1 < parts + part_count)
			CHECK(cuGraphLaunch(part->now.given_down, part->stream));
	}
	CHECK(cuEventRecord(part->stepped, part->stream));
}

static void wait_for_neighbours(const struct part *part)
{
	enter(part);
	if (part > parts)
		CHECK(cuStreamWaitEvent(part->stream, part[-1].stepped, 0));
	if (part + 1 < parts + part_count)
		CHECK(cuStreamWaitEvent(part->stream, part[1].stepped, 0));
}

/* The square before and after the step comes to the first part's device, by its stream. */
static void gather(CUdeviceptr now, CUdeviceptr next, const struct heat *heat)
{
	enter(parts);
	for (const struct part *part = parts; part < parts + part_count; part++) {
		size_t begin = part->first * row_bytes(heat), bytes = part->count * row_bytes(heat);

		CHECK(cuStreamWaitEvent(parts->stream, part->stepped, 0));
		CHECK(cuMemcpyPeerAsync(now + begin, parts->context, part->now.rows, part->context, bytes,
		                        parts->stream));
		CHECK(cuMemcpyPeerAsync(next + begin, parts->context, part->next.rows, part->context, bytes,
		                        parts->stream));
	}
}

/* How much the step changed the cells. */
static double residual(CUdeviceptr now, CUdeviceptr next, CUdeviceptr sums[2], double *host,
                       unsigned cells)
{
	unsigned count = heat_folded(cells);

	launch(parts->change, count, HEAT_FOLD_BLOCK, parts, (void *[]){&now, &next, &sums[0], &cells});
	for (; count > 1; count = heat_folded(count)) {
		CUdeviceptr folded = sums[1];

		launch(parts->fold, heat_folded(count), HEAT_FOLD_BLOCK, parts,
		       (void *[]){&sums[0], &folded, &count});
		sums[1] = sums[0];
		sums[0] = folded;
	}
	CHECK(cuMemcpyDtoHAsync(host, sums[0], sizeof(double), parts->stream));
	CHECK(cuStreamSynchronize(parts->stream));
	return *host;
}

static void choose_mode(const char *name)
{
	static const char *const names[] = {
		[EAGER] = "eager", [TOGETHER] = "together", [APART] = "apart"};

	for (mode = EAGER; name != NULL && mode <= APART && strcmp(name, names[mode]) != 0; mode++)
		;
	if (mode <= APART)
		return;
	fprintf(stderr, "heat-devices: no mode %s\n", name);
	exit(2);
}

int main(int argc, char **argv)
{
	struct heat heat;
	CUdeviceptr now, next, sums[2];
	double *host, start, last, took;
	int devices;

	heat_parse(&heat, argc, argv);
	choose_mode(heat.mode);
	if (!heat.module) {
		fprintf(stderr, "heat-devices: --module FILE is needed\n");
		return 2;
	}
	unsigned cells = heat.size * heat.size;
	part_count = heat.devices < heat.size ? heat.devices : heat.size;
	if (part_count > PARTS_MOST)
		part_count = PARTS_MOST;
	CHECK(cuInit(0));
	CHECK(cuDeviceGetCount(&devices));
	for (unsigned i = 0; i < part_count; i++) {
		parts[i].first = heat.size * i / part_count;
		parts[i].count = heat.size * (i + 1) / part_count - parts[i].first;
		set_up(&parts[i], (CUdevice)i % devices, &heat);
	}
	for (unsigned turn = 0; mode != EAGER && turn < 2; turn++) {
		for (unsigned i = 0; i < part_count; i++)
			make_graphs(&parts[i], &heat);
		for (unsigned i = 0; i < part_count; i++)
			swap(&parts[i]);
	}
	enter(parts);
	CHECK(cuMemAlloc(&now, sizeof(double) * cells));
	CHECK(cuMemAlloc(&next, sizeof(double) * cells));
	CHECK(cuMemAlloc(&sums[0], sizeof(double) * heat_folded(cells)));
	CHECK(cuMemAlloc(&sums[1], sizeof(double) * heat_folded(cells)));
	CHECK(cuMemHostAlloc((void **)&host, sizeof(double), 0));

	start = last = heat_now_us();
	for (unsigned number = 1; number <= heat.steps; number++) {
		for (unsigned i = 0; i < part_count; i++)
			step(&parts[i], &heat);
		for (unsigned i = 0; i < part_count; i++)
			give_borders(&parts[i], &heat);
		for (unsigned i = 0; i < part_count; i++)
			wait_for_neighbours(&parts[i]);
		if (number % heat.every == 0) {
			gather(now, next, &heat);
			double change = residual(now, next, sums, host, cells), time = heat_now_us();

			heat_check(&heat, number, change, time - last);
			last = heat_now_us();
		}
		for (unsigned i = 0; i < part_count; i++)
			swap(&parts[i]);
	}
	gather(now, next, &heat);
	CHECK(cuStreamSynchronize(parts->stream));
	took = heat_now_us() - start;

	CHECK(cuMemcpyDtoH(heat.cells, now, sizeof(double) * cells));
	heat_finish(&heat, took);
	return 0;
}
