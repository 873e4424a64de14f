/*
 * finder [--from OP] [--gpu-ns N] [--waits apart] STREAM
 *
 * Runs an op stream through Reprise's lanes as REPRISE=observe does, with a clock of its own that
 * moves by the program's recorded pauses and by what calls cost (costs.h): for each thread by its
 * own, but in the order of the records. Prints what was found from op OP on (half of the ops by
 * default), a line `name=value ...`. Nothing is built: graphs are there as soon as a trace is made,
 * and the driver is a few functions that answer. What would be left to the launch thread costs
 * the program nothing, and is launched when that would look next.
 *
 * Beside it, the program runs without Reprise. Both issue to a GPU (gpu.h) that takes N ns for an
 * op, 2000 by default: how long they take in the end says whether what is issued late makes the
 * program wait longer than what the host saves. A recorded pause holds the wait before it, unless
 * waits are said to be apart.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tuning.h"
#include "base/clock.h"
#include "base/options.h"
#include "lane/dispatch.h"
#include "lane/side_exit.h"
#include "lane/hold.h"
#include "lane/async_launch.h"
#include "lane/traces.h"
#include "stats/counters.h"
#include "../virtual/answers.h"
#include "../virtual/costs.h"
#include "gpu.h"
#include "offline.h"
#include "opstream.h"

static struct reprise_lane lanes[OPSTREAM_LANES];
static unsigned int lane_count; /* lanes from this one on have had no op yet */

/* What the lanes' streams are, as the stream says. */
static struct {
	bool legacy, blocking;
	uint32_t context;
} streams[OPSTREAM_LANES];

static uint8_t last_thread[OPSTREAM_LANES]; /* whose op was the lane's last */
/* With Reprise (by reprise_clock_virtual) and without. */
struct run {
	uint64_t *now_ns;
	uint64_t thread_ns[256]; /* when the thread's last call had been made, or its wait was over */
	struct gpu gpu;
};

static uint64_t eager_ns;
static struct run ours = {.now_ns = &reprise_clock_virtual}, eager = {.now_ns = &eager_ns};
static uint64_t waited_ns[256]; /* by the thread in its last call, without Reprise: part of the
                                   pause that was recorded behind it */
static bool waits_apart;        /* or not */
static const struct opstream_record *feeding;

/* What the host did, in the whole run. */
static struct totals {
	uint64_t ops, replayed, patched, launches, traces;
	uint64_t exits[REPRISE_EXIT_COUNT];
	uint64_t host_ns;              /* for issuing: pauses not counted */
	uint64_t longest_ns;           /* of the program's pauses within one replayed trace */
	uint64_t run_ns, eager_run_ns; /* the whole run with Reprise, and without */
} now;

static struct {
	uint64_t since_ns,
		thought_ns; /* the deferred ops of a lane: when the first came, and the pauses since */
} held[OPSTREAM_LANES];

#define SOURCE (UINT64_C(1) << 32) /* set in the address of what is copied */

/* ---- the host's time ---- */

static void spend(uint64_t ns)
{
	now.host_ns += ns;
	reprise_clock_virtual += ns;
}

static unsigned int number_of(const struct reprise_lane *lane)
{
	return (unsigned int)(lane - lanes);
}

static uint64_t exited(const struct reprise_lane_counts *counts)
{
	uint64_t ops = 0;

	for (int i = 0; i < REPRISE_EXIT_COUNT; i++)
		ops += counts->exited[i];
	return ops;
}

/* ---- what is left to the launch thread ---- */

/* Visits in the order in which they were completed, by all lanes. */
static struct queued {
	unsigned int lane;
	struct reprise_trace *trace;
	uint64_t ops, cost_ns;
	uint64_t look_ns; /* when the thread looks next */
} queue[REPRISE_PENDING_MOST];
static unsigned int queued;

static bool queues(unsigned int lane)
{
	for (unsigned int i = 0; i < queued; i++)
		if (queue[i].lane == lane)
			return true;
	return false;
}

static bool queues_trace(const struct reprise_trace *trace)
{
	for (unsigned int i = 0; i < queued; i++)
		if (queue[i].trace == trace)
			return true;
	return false;
}

static void take_from_queue(unsigned int i)
{
	memmove(&queue[i], &queue[i + 1], (--queued - i) * sizeof(*queue));
}

/* The thread looks again and again, and launches what it finds. */
static void launch_until_now(void)
{
	static uint64_t busy_ns, looked_ns;

	while (queued > 0 && queue[0].look_ns <= reprise_clock_virtual) {
		if (looked_ns != queue[0].look_ns)
			reprise_pace_look(&lanes[queue[0].lane],
			                  gpu_wait_ns(&ours.gpu, queue[0].lane, queue[0].look_ns) > 0);
		looked_ns = queue[0].look_ns;
		busy_ns = (busy_ns > queue[0].look_ns ? busy_ns : queue[0].look_ns) + queue[0].cost_ns;
		gpu_run(&ours.gpu, queue[0].lane, queue[0].ops, 1, busy_ns);
		take_from_queue(0);
	}
}

/* Something is about to come behind what is queued of the lane. */
static void finish_queue(unsigned int lane, bool wait)
{
	for (unsigned int i = 0; i < queued;) {
		if (queue[i].lane != lane) {
			i++;
			continue;
		}
		spend(queue[i].cost_ns);
		gpu_run(&ours.gpu, lane, queue[i].ops, 1, reprise_clock_virtual);
		queue[i].trace->waited_for = queue[i].trace->waited_for || wait;
		take_from_queue(i);
	}
}

/* Whether the lane would have left its last visit to the thread. */
static bool was_left(void)
{
	static uint64_t before;
	uint64_t now_left = atomic_load(&reprise_counters[REPRISE_COUNT_async_launches]);
	bool left = now_left > before;

	before = now_left;
	return left;
}

/* A graph was launched, or was left to the thread: not if its trace is there with other values. */
static void launch(const struct reprise_lane *lane, uint64_t ops, bool patched, uint64_t cost_ns)
{
	unsigned int number = number_of(lane);

	if (was_left() && lane->last != NULL && queued < REPRISE_PENDING_MOST &&
	    !(patched && queues_trace(lane->last))) {
		queue[queued++] =
			(struct queued){number, lane->last, ops, cost_ns,
		                    (reprise_clock_virtual / REPRISE_TUNE_LAUNCH_PERIOD_NS + 1) *
		                        REPRISE_TUNE_LAUNCH_PERIOD_NS};
		return;
	}
	finish_queue(number, false);
	spend(cost_ns);
	gpu_run(&ours.gpu, number, ops, 1, reprise_clock_virtual);
}

/* What the lane has done since `before`, but for the op that is passing eagerly. */
static void account(const struct reprise_lane_counts *before, const struct reprise_lane *lane)
{
	uint64_t launches = lane->counts.launches - before->launches,
			 left = exited(&lane->counts) - exited(before);

	if (left > 0) {
		finish_queue(number_of(lane), false);
		spend(left * COST_EAGER);
		gpu_run(&ours.gpu, number_of(lane), left, 0, reprise_clock_virtual);
	}
	if (launches > 0)
		launch(lane, lane->counts.replayed - before->replayed,
		       lane->counts.patched > before->patched,
		       COST_GRAPH + (lane->counts.patched - before->patched) * COST_NODE);
	now.replayed += lane->counts.replayed - before->replayed;
	now.patched += lane->counts.patched - before->patched;
	now.launches += launches;
	for (int i = 0; i < REPRISE_EXIT_COUNT; i++)
		now.exits[i] += lane->counts.exits[i] - before->exits[i];
	now.traces += lane->counts.traces - before->traces;
}

static struct reprise_lane_counts counts_before;

/* Called for every op, as the lane only watches: deferred ops and the last op of a replay cost what
 * an answer costs. */
static CUresult make_call(const struct reprise_call *call)
{
	const struct reprise_lane *lane = call->entry;
	bool deferred = lane->trace || lane->counts.launches > counts_before.launches;

	if (!deferred)
		finish_queue(number_of(lane), false);
	spend(deferred ? COST_DEFERRED : COST_EAGER);
	gpu_run(&ours.gpu, number_of(lane), !deferred, 0, reprise_clock_virtual);
	return feeding->refused ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* ---- feeding ---- */

static void barrier(struct reprise_lane *lane, bool wait)
{
	struct reprise_lane_counts before = lane->counts;

	if (!lane->watch)
		return;
	finish_queue(number_of(lane), wait);
	reprise_lane_barrier(lane, wait);
	account(&before, lane);
}

static bool defers(unsigned int lane)
{
	return lanes[lane].trace && lanes[lane].cursor > 0;
}

static bool holds(unsigned int lane)
{
	return defers(lane) || queues(lane);
}

static void barrier_of_all(bool wait)
{
	for (unsigned int i = 0; i < lane_count; i++)
		barrier(&lanes[i], wait);
}

/* A stream that has no lane may be ordered against any: what is held is issued. */
static void barrier_if_any_holds(void)
{
	bool any = false;

	for (unsigned int i = 0; i < lane_count; i++)
		any = any || holds(i);
	if (any)
		barrier_of_all(false);
}

/* The legacy stream's ops come after those of the blocking streams of its context, and the other
 * way round (lane/order.c). */
static bool ordered(unsigned int a, unsigned int b)
{
	return a != b && streams[a].context == streams[b].context && streams[a].blocking &&
	       streams[b].blocking && (streams[a].legacy || streams[b].legacy);
}

static void make_way(unsigned int lane)
{
	for (unsigned int i = 0; i < lane_count; i++)
		if (holds(i) && ordered(i, lane))
			barrier(&lanes[i], false);
}

/* What a wait for one lane issues: that lane and what its ops come after, and what the thread has
 * asked for last (lane/order.c). One for none in particular: all. */
static void feed_wait(const struct opstream_record *record)
{
	bool all = record->lane == OPSTREAM_NO_LANE;

	for (unsigned int i = 0; i < lane_count; i++)
		if (all || i == record->lane || last_thread[i] == record->thread ||
		    ordered(i, record->lane))
			barrier(&lanes[i], true);
}

/* What the watchdog does in a process. */
static void limit_holds(uint64_t hold_ns)
{
	for (unsigned int i = 0; i < lane_count; i++) {
		struct reprise_lane_counts before = lanes[i].counts;
		bool split;

		if (!defers(i) || reprise_clock_virtual < held[i].since_ns + reprise_hold_pause(hold_ns))
			continue;
		split = reprise_lane_note_pause(&lanes[i]);
		if (split || reprise_clock_virtual >= held[i].since_ns + reprise_hold_due(hold_ns))
			reprise_lane_issue_held(&lanes[i], split);
		account(&before, &lanes[i]);
	}
}

/* An op that nothing can be deferred of is a copy of pageable memory, whatever it was: they all
 * fare alike. */
static struct reprise_call call_of(const struct opstream_record *record, void **params)
{
	struct reprise_call call = {.eager = make_call, .entry = &lanes[record->lane]};
	CUdeviceptr target =
		answers_address_in(record->unfit ? REPRISE_MEMORY_OTHER : record->target_memory,
	                       record->value);

	if (record->kind == OPSTREAM_COPY || record->unfit) {
		call.kind = REPRISE_OP_COPY;
		call.copy = (struct reprise_call_copy){.form = REPRISE_COPY_DEVICE_TO_DEVICE,
		                                       .target = target,
		                                       .source = answers_address_in(record->source_memory,
		                                                                    record->value | SOURCE),
		                                       .bytes = record->shape};
	} else if (record->kind == OPSTREAM_SET) {
		call.kind = REPRISE_OP_SET;
		call.set = (struct reprise_call_set){.target = target,
		                                     .element_bytes = 1,
		                                     .width = record->shape,
		                                     .height = 1};
	} else {
		call.kind = REPRISE_OP_KERNEL;
		call.kernel =
			(struct reprise_call_kernel){.function = (CUfunction)((uintptr_t)record->shape + 1),
		                                 .grid = {1, 1, 1},
		                                 .block = {1, 1, 1},
		                                 .params = params};
	}
	return call;
}

static void feed_op(const struct opstream_record *record)
{
	struct reprise_lane *lane = &lanes[record->lane];
	uint32_t value = record->value;
	void *params[] = {&value};
	struct reprise_call call = call_of(record, params);
	bool held_before = defers(record->lane);

	if (record->lane >= lane_count)
		lane_count = record->lane + 1u;
	make_way(record->lane);
	counts_before = lane->counts;
	if (held_before)
		held[record->lane].thought_ns += record->gap_ns;
	last_thread[record->lane] = record->thread;
	reprise_lane_handle_op(lane, &call);
	account(&counts_before, lane);
	now.ops++;
	if (lane->counts.launches > counts_before.launches && held_before &&
	    held[record->lane].thought_ns > now.longest_ns)
		now.longest_ns = held[record->lane].thought_ns;
	if (lane->trace && lane->cursor == 1) {
		held[record->lane].since_ns = reprise_clock_virtual;
		held[record->lane].thought_ns = 0;
	}
}

/* On a stream that has no lane. */
static void feed_unlaned(void)
{
	barrier_if_any_holds();
	spend(COST_EAGER);
	gpu_run(&ours.gpu, OPSTREAM_NO_LANE, 1, 0, reprise_clock_virtual);
	now.ops++;
}

/* All lanes' barrier; then what the `first` to the `last` lane know ends. */
static void feed_end(unsigned int first, unsigned int last)
{
	barrier_of_all(true);
	for (unsigned int i = first; i <= last; i++)
		if (i != OPSTREAM_NO_LANE)
			reprise_lane_forget(&lanes[i]);
}

static void feed_order(unsigned int lane)
{
	if (lane == OPSTREAM_NO_LANE) {
		barrier_if_any_holds();
	} else {
		make_way(lane);
		barrier(&lanes[lane], false);
	}
}

static void feed_record(const struct opstream_record *record)
{
	switch (record->kind) {
	case OPSTREAM_KERNEL:
	case OPSTREAM_COPY:
	case OPSTREAM_SET:
		if (record->lane == OPSTREAM_NO_LANE)
			feed_unlaned();
		else
			feed_op(record);
		break;
	case OPSTREAM_LANE:
		streams[record->lane].legacy = record->legacy;
		streams[record->lane].blocking = record->blocking;
		streams[record->lane].context = record->value;
		break;
	case OPSTREAM_ORDER:
		feed_order(record->lane);
		break;
	case OPSTREAM_ORDER_ALL:
		barrier_of_all(false);
		break;
	case OPSTREAM_WAIT:
		feed_wait(record);
		break;
	case OPSTREAM_MEMORY:
		barrier_of_all(true);
		reprise_changes_begin(REPRISE_CHANGES_MEMORY);
		reprise_changes_end(REPRISE_CHANGES_MEMORY);
		break;
	case OPSTREAM_FORGET:
		feed_end(record->lane, record->lane);
		break;
	case OPSTREAM_FORGET_ALL:
		feed_end(0, OPSTREAM_LANES - 1);
		break;
	case OPSTREAM_NOTHING:
		break;
	}
}

/* ---- both runs ---- */

static void feed_eager(const struct opstream_record *record)
{
	if (!opstream_is_op(record))
		return;
	eager_ns += COST_EAGER;
	gpu_run(&eager.gpu, record->lane, 1, 0, eager_ns);
}

/* A thread goes on from where it was, or from now if another's call came before in the stream and
 * is made by now. */
static void go_on(struct run *run, unsigned int thread, uint64_t pause_ns)
{
	if (run->thread_ns[thread] + pause_ns > *run->now_ns)
		*run->now_ns = run->thread_ns[thread] + pause_ns;
}

static bool is_wait(const struct opstream_record *record)
{
	return record->kind == OPSTREAM_WAIT || record->kind == OPSTREAM_MEMORY ||
	       record->kind == OPSTREAM_FORGET || record->kind == OPSTREAM_FORGET_ALL;
}

/* The call was made; a wait is over when the GPU is done. Returns how long that takes. */
static uint64_t end_call(struct run *run, const struct opstream_record *record)
{
	uint64_t wait_ns =
		is_wait(record)
			? gpu_wait_ns(&run->gpu,
	                      record->kind == OPSTREAM_WAIT ? record->lane : OPSTREAM_NO_LANE,
	                      *run->now_ns)
			: 0;

	run->thread_ns[record->thread] = *run->now_ns + wait_ns;
	return wait_ns;
}

/* The GPU was so much faster, and so the thread's last wait shorter. */
static void hurry(struct run *run, unsigned int thread, uint64_t ns)
{
	gpu_hurry(&run->gpu, ns);
	run->thread_ns[thread] -= ns;
}

/* What was recorded as a pause holds the wait before it. If that is shorter than ours, the
 * program's GPU was faster, or it only asked. */
static uint64_t pause_of(const struct opstream_record *record)
{
	uint64_t *waited = &waited_ns[record->thread], pause_ns = record->gap_ns;

	if (*waited > pause_ns) {
		hurry(&ours, record->thread, *waited - pause_ns);
		hurry(&eager, record->thread, *waited - pause_ns);
		*waited = pause_ns;
	}
	pause_ns -= *waited;
	*waited = 0;
	return pause_ns;
}

static void feed(const struct opstream_record *record, uint64_t hold_ns)
{
	uint64_t pause_ns = pause_of(record), waited;

	go_on(&ours, record->thread, pause_ns);
	launch_until_now();
	limit_holds(hold_ns);
	feeding = record;
	feed_record(record);
	end_call(&ours, record);
	go_on(&eager, record->thread, pause_ns);
	feed_eager(record);
	waited = end_call(&eager, record);
	waited_ns[record->thread] = waits_apart ? 0 : waited;
}

/* When all that the run has issued so far is done. */
static uint64_t end_of(const struct run *run)
{
	return *run->now_ns + gpu_wait_ns(&run->gpu, OPSTREAM_NO_LANE, *run->now_ns);
}

static void note_runs(void)
{
	now.run_ns = end_of(&ours);
	now.eager_run_ns = end_of(&eager);
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static void print(const struct totals *then, const struct offline *best)
{
	static const char *const exits[] = {
#define X(name, words, text) #name,
		REPRISE_EXITS(X)
#undef X
	};
	uint64_t ops = now.ops - then->ops, replayed = now.replayed - then->replayed,
			 launches = now.launches - then->launches;
	unsigned int graphs = 0;
	uint64_t nodes = 0;

	for (size_t i = 0; i < OPSTREAM_LANES; i++) {
		graphs += lanes[i].index ? lanes[i].index->count : 0;
		nodes += lanes[i].index ? lanes[i].index->nodes : 0;
	}
	printf(
		"ops=%lu replayed=%.4f patched=%.4f offline=%.4f of_offline=%.4f ops_a_launch=%.1f graphs=%u nodes=%lu built=%lu longest_think_us=%.1f host_us_eager=%.0f host_us=%.0f host_us_offline=%.0f run_us_eager=%.0f run_us=%.0f",
		ops, share(replayed, ops), share(now.patched - then->patched, replayed),
		share(best->repeated, best->ops),
		share(replayed, ops) / (best->repeated ? share(best->repeated, best->ops) : 1),
		share(replayed, launches), graphs, nodes, now.traces - then->traces,
		(double)now.longest_ns / 1e3, (double)ops * COST_EAGER / 1e3,
		(double)(now.host_ns - then->host_ns) / 1e3, (double)best->host_ns / 1e3,
		(double)(now.eager_run_ns - then->eager_run_ns) / 1e3,
		(double)(now.run_ns - then->run_ns) / 1e3);
	for (int i = 0; i < REPRISE_EXIT_COUNT; i++)
		printf(" exits_by_%s=%lu", exits[i], now.exits[i] - then->exits[i]);
	printf("\n");
}

static size_t ops_in(const struct opstream *stream)
{
	size_t i, ops = 0;

	for (i = 0; i < stream->count; i++)
		ops += opstream_is_op(&stream->records[i]);
	return ops;
}

int main(int argc, char **argv)
{
	struct opstream stream;
	struct totals then = {0};
	struct offline best;
	size_t from = SIZE_MAX, i;
	int argument;

	ours.gpu.op_ns = eager.gpu.op_ns = 2000;
	for (argument = 1; argument + 1 < argc && argv[argument][0] == '-'; argument += 2) {
		if (strcmp(argv[argument], "--from") == 0)
			from = strtoul(argv[argument + 1], NULL, 10);
		else if (strcmp(argv[argument], "--gpu-ns") == 0)
			ours.gpu.op_ns = eager.gpu.op_ns = strtoul(argv[argument + 1], NULL, 10);
		else if (strcmp(argv[argument], "--waits") == 0 && strcmp(argv[argument + 1], "apart") == 0)
			waits_apart = true;
		else
			break;
	}
	if (argument + 1 != argc) {
		fprintf(stderr, "usage: finder [--from OP] [--gpu-ns N] [--waits apart] STREAM\n");
		return 2;
	}
	if (!opstream_read(&stream, argv[argument]))
		return 1;
	if (from == SIZE_MAX)
		from = ops_in(&stream) / 2;
	reprise_options_read();
	reprise_observing = true;
	answers_install();
	reprise_clock_start();
	for (i = 0; i < OPSTREAM_LANES; i++)
		reprise_lane_begin_scanning(&lanes[i]);
	for (i = 0; i < stream.count; i++) {
		if (now.ops == from && opstream_is_op(&stream.records[i])) {
			note_runs();
			then = now;
		}
		feed(&stream.records[i], reprise_option(REPRISE_OPTION_HOLD) * 1000);
	}
	if (!offline_search(&best, &stream, from))
		return 1;
	note_runs();
	print(&then, &best);
	free(stream.records);
	return 0;
}
