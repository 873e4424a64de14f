#include "program.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/options.h"
#include "base/store.h"
#include "base/tuning.h"
#include "graph/build_queue.h"
#include "graph/make.h"
#include "op/function.h"
#include "lane/async_launch.h"
#include "lane/dispatch.h"
#include "entry/entry.h"
#include "record/record.h"
#include "lane/eager.h"
#include "lane/hold.h"
#include "lane/loading.h"
#include "lane/order.h"
#include "lane/registry.h"
#include "lane/turns.h"
#include "workers/workers.h"
#include "../../virtual/answers.h"
#include "../../virtual/threads.h"

#define VISITS_MOST 64 /* to learn a sequence */

/* ---- the threads of Reprise, in this one ---- */

void time_passes(uint64_t ns)
{
	thread_runs(&reprise_hold_worker, ns);
}

void launch_thread_looks(void)
{
	thread_runs(&reprise_async_launch_worker, 0);
}

void graphs_are_built(void)
{
	struct reprise_graph *graph;

	while ((graph = reprise_build_queue_take()) != NULL) {
		enum reprise_graph_state state = reprise_make(graph);

		if (state == REPRISE_GRAPH_READY)
			state = reprise_make_ready(graph);
		ck_assert_int_eq(state, REPRISE_GRAPH_READY);
		atomic_store(&graph->state, state);
		reprise_build_queue_finish();
	}
}

/* ---- calls ---- */

/* Calls of the program's are known to the gate, and what the driver calls back passes straight
 * through. */
static CUresult eager(const struct reprise_call *call)
{
	if (reprise_inside == 0)
		ck_assert_msg(false, "not inside"); /* an assertion would be noted for each op */
	return driver_takes(call->entry, call->stream);
}

/* Of a kernel the letter is the function, of a memset the number of bytes. */
static void call_op(unsigned int stream, struct work *work)
{
	struct reprise_call call = {.eager = eager, .entry = work, .stream = driver_stream(stream)};
	struct reprise_lane *lane;
	CUresult result;
	uint32_t value = work->value;
	void *params[] = {&value};

	if (work->event != NULL) {
		call.kind = work->what == '>' ? REPRISE_OP_RECORD : REPRISE_OP_WAIT;
		call.event = work->event;
	} else if (work->what >= 'a') {
		call.kind = REPRISE_OP_KERNEL;
		call.kernel = (struct reprise_call_kernel){.function = (CUfunction)(uintptr_t)work->what,
		                                           .grid = {1, 1, 1},
		                                           .block = {1, 1, 1},
		                                           .params = params};
	} else {
		call.kind = REPRISE_OP_SET;
		call.set =
			(struct reprise_call_set){.target = answers_address_in(REPRISE_MEMORY_DEVICE, 256),
		                              .value = value,
		                              .element_bytes = 1,
		                              .width = (size_t)work->what,
		                              .height = 1};
	}
	if (work->event != NULL) {
		reprise_handle_event(&call);
		return;
	}
	if (REPRISE_PASSES(call.stream, false, call.kind == REPRISE_OP_KERNEL,
	                   reprise_scan_key(&call))) {
		eager(&call);
		reprise_pass_again(CUDA_SUCCESS, 0);
		return;
	}
	lane = reprise_lanes_find(call.stream, false);
	if (lane == NULL)
		ck_assert_ptr_nonnull(lane); /* an assertion would be noted for each op */
	if (!reprise_taking_part() && reprise_lanes_hold_anything())
		reprise_lanes_eager_call(call.stream, false);
	if (reprise_eager_unseen()) {
		reprise_turns_note_unseen();
		reprise_loading_call(&call);
		return;
	}
	if (reprise_eager_by_turn() && reprise_turns_pass(&call, &result))
		return;
	if (reprise_eager_by_turn() && reprise_turns_goes_on(lane, &call)) {
		reprise_loading_call(&call);
		return;
	}
	if (!reprise_taking_part() || (!reprise_records() && reprise_lanes_back_off(lane, &call))) {
		reprise_loading_call(&call);
		return;
	}
	reprise_lanes_make_way(lane, false);
	reprise_lane_handle_op(lane, &call);
}

/* The word at *at, behind the stream's number; *at is moved behind it. */
static struct work read_work(const char **at)
{
	struct work work = {.what = **at};

	(*at)++;
	if (work.what == '>' || work.what == '<') {
		work.event = driver_event(**at);
		(*at)++;
		return work;
	}
	for (; isdigit((unsigned char)**at); (*at)++)
		work.value = 10 * work.value + (unsigned int)(**at - '0');
	return work;
}

/* `own`: what it waits for is before all that this thread calls then. */
static void waits_for_all(bool own)
{
	uintptr_t context = (uintptr_t)lane_of(1)->context;

	reprise_turns_note_wait(REPRISE_SYNC_CONTEXT);
	reprise_lanes_sync(REPRISE_SYNC_CONTEXT, context, false);
	if (own)
		reprise_lanes_wait_begins(REPRISE_SYNC_CONTEXT, context, false);
}

static void call_word(const char **at)
{
	unsigned int stream = 1;
	struct work work;

	reprise_clock_virtual += PROGRAM_GAP_NS;
	if ((*at)[1] == ':') {
		stream = (unsigned int)(**at - '0');
		*at += 2;
	}
	if (**at == '|' || **at == '~') {
		waits_for_all(**at == '~');
		(*at)++;
	} else if (**at == '/') {
		reprise_lanes_order(lane_of(stream), driver_stream(stream), false, false);
		(*at)++;
	} else {
		work = read_work(at);
		call_op(stream, &work);
	}
}

void calls(const char *words)
{
	const char *at = words;

	for (;;) {
		at += strspn(at, " ");
		if (*at == '\0')
			return;
		call_word(&at);
	}
}

void calls_with(const char *format, unsigned int value)
{
	char words[256];

	snprintf(words, sizeof(words), format, value);
	calls(words);
}

void learns(const char *words, const char *graphs)
{
	bool known = false;

	driver_saw();
	for (unsigned int visit = 0; visit < VISITS_MOST && !known; visit++) {
		calls(words);
		graphs_are_built();
		known = strcmp(driver_saw(), graphs) == 0;
	}
	ck_assert_msg(known, "\"%s\" did not become \"%s\"", words, graphs);
}

void learns_any_value(void)
{
	for (unsigned int visit = 1000; visit < 1040; visit++) {
		calls_with("a b c%u d |", visit);
		graphs_are_built();
	}
	driver_saw();
	calls("a b c2000 d |");
	IS_SEEN("[a b c2000 d]");
}

struct reprise_lane *lane_of(unsigned int stream)
{
	return reprise_lanes_find(driver_stream(stream), false);
}

void watches_up_to(unsigned int stream)
{
	for (; stream > 0; stream--) {
		struct reprise_lane *lane = lane_of(stream);

		if (lane->scan == NULL)
			lane->scan = reprise_store_take(REPRISE_STORE_WATCHED, sizeof(*lane->scan));
		atomic_store(&lane->scan->score, REPRISE_TUNE_SCAN_MOST);
	}
}

const struct reprise_lane_counts *counted(void)
{
	return &lane_of(1)->counts;
}

/* ---- the begin ---- */

void program_begins_with(const char *const *options)
{
	static const char *const fixed[] = {"REPRISE_SMALLEST=3", "REPRISE_SUBMIT=never", NULL};

	for (unsigned int i = 0; i < REPRISE_OPTION_COUNT; i++)
		unsetenv(reprise_option_rows[i].variable);
	for (const char *const *option = fixed; *option != NULL; option++)
		putenv((char *)(uintptr_t)*option);
	for (const char *const *option = options; *option != NULL; option++)
		putenv((char *)(uintptr_t)*option);
	reprise_options_read();
	reprise_clock_virtual = 1000000000;
	reprise_clock_start();
	driver_install();
	reprise_hold_define();
	reprise_async_launch_define();
	for (char letter = 'a'; letter < 'z'; letter++)
		reprise_function_note((CUfunction)(uintptr_t)letter, lane_of(1)->context,
		                      REPRISE_FUNCTION_LAUNCH);
	threads_are_there();
}

void program_begins(void)
{
	static const char *const none[] = {NULL};

	program_begins_with(none);
}
