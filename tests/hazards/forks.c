/*
 * Streams that fork and join again and again: made hot, then sprung. Each stream works on memory of
 * its own and reads the origin's, so that an edge that is lost, or one too many, shows in the order
 * of ops.
 */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include "hazard.h"

enum { SIDES = 2 };

static CUstream origin, sides[SIDES];
static CUevent fork_event, join_events[SIDES];
static CUdeviceptr side_x[SIDES], side_z[SIDES], origin_z;

static CUdeviceptr words_of(unsigned value)
{
	CUdeviceptr x;

	CHECK(cuMemAlloc(&x, WORDS * 4));
	CHECK(cuMemsetD32(x, value, WORDS));
	CHECK(cuCtxSynchronize());
	return x;
}

static void set_up(unsigned stream_flags, unsigned event_flags)
{
	origin = hazard_stream(stream_flags);
	origin_z = words_of(9);
	CHECK(cuEventCreate(&fork_event, event_flags));
	for (unsigned i = 0; i < SIDES; i++) {
		sides[i] = hazard_stream(stream_flags);
		side_x[i] = words_of(11 + i);
		side_z[i] = words_of(21 + i);
		CHECK(cuEventCreate(&join_events[i], event_flags));
	}
}

static void set_up_plainly(void)
{
	set_up(CU_STREAM_NON_BLOCKING, CU_EVENT_DISABLE_TIMING);
}

static void launch(CUfunction function, CUdeviceptr x, CUdeviceptr y, unsigned argument,
                   CUstream stream)
{
	CHECK(cuLaunchKernel(function, 1, 1, 1, WORDS, 1, 1, 0, stream, (void *[]){&x, &y, &argument},
	                     NULL));
}

static void signal_flag(CUfunction function, CUdeviceptr flag, unsigned value, CUstream stream)
{
	CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, (void *[]){&flag, &value}, NULL));
}

static void record_fork(void)
{
	for (unsigned i = 0; i < 3; i++)
		launch(i % 2 == 0 ? hazard_mix : hazard_turn, hazard_x, hazard_y, i, origin);
	CHECK(cuEventRecord(fork_event, origin));
}

static void fork_to(unsigned side)
{
	CHECK(cuStreamWaitEvent(sides[side], fork_event, 0));
}

static void work_on(unsigned side, unsigned argument)
{
	launch(hazard_mix, side_x[side], hazard_x, argument, sides[side]);
	for (unsigned i = 0; i < 4; i++)
		launch(hazard_turn, side_x[side], hazard_y, i + side, sides[side]);
}

/* Work that nobody else reads, and that reads nothing of others. */
static void work_alone(unsigned side, unsigned argument)
{
	for (unsigned i = 0; i < 4; i++)
		launch(hazard_turn, side_z[side], hazard_y, i + argument, sides[side]);
}

static void work_beside(void)
{
	for (unsigned i = 0; i < 3; i++)
		launch(hazard_turn, origin_z, hazard_y, i, origin);
}

static void join(unsigned side)
{
	CHECK(cuEventRecord(join_events[side], sides[side]));
	CHECK(cuStreamWaitEvent(origin, join_events[side], 0));
}

static void fold(unsigned side)
{
	launch(hazard_mix, hazard_x, side_x[side], side, origin);
}

static void fork_all(unsigned argument)
{
	record_fork();
	for (unsigned i = 0; i < SIDES; i++) {
		fork_to(i);
		work_on(i, argument);
	}
	work_beside();
}

static void fork_alone(void)
{
	record_fork();
	for (unsigned i = 0; i < SIDES; i++) {
		fork_to(i);
		work_alone(i, 1);
	}
}

static void join_all(void)
{
	for (unsigned i = 0; i < SIDES; i++)
		join(i);
	for (unsigned i = 0; i < SIDES; i++)
		fold(i);
}

static void print_all(void)
{
	hazard_print("x", hazard_x);
	hazard_print("z", origin_z);
	for (unsigned i = 0; i < SIDES; i++) {
		hazard_print("side", side_x[i]);
		hazard_print("side z", side_z[i]);
	}
}

/* Runs an iteration ITERATIONS times; the host waits now and then. */
static void repeat(void (*iterate)(unsigned iteration))
{
	for (unsigned iteration = 1; iteration < ITERATIONS; iteration++) {
		iterate(iteration);
		if (iteration % 4 == 0)
			CHECK(cuStreamSynchronize(origin));
	}
	print_all();
}

/* ---- the shape itself ---- */

static void forks_and_joins(unsigned iteration)
{
	fork_all(1);
	join_all();
}

static void fork_join(void)
{
	set_up_plainly();
	repeat(forks_and_joins);
}

static void fork_join_blocking(void)
{
	set_up(CU_STREAM_DEFAULT, CU_EVENT_DISABLE_TIMING);
	repeat(forks_and_joins);
}

/* Other values in one branch, now and then and always. */
static void forks_with_values(unsigned iteration)
{
	record_fork();
	fork_to(0);
	work_on(0, hazard_springs(iteration) ? 3 : 2);
	fork_to(1);
	work_on(1, iteration);
	join_all();
}

static void fork_values(void)
{
	set_up_plainly();
	repeat(forks_with_values);
}

/* A branch that forks itself. */
static void forks_in_a_fork(unsigned iteration)
{
	record_fork();
	fork_to(0);
	work_on(0, 1);
	CHECK(cuEventRecord(join_events[1], sides[0]));
	CHECK(cuStreamWaitEvent(sides[1], join_events[1], 0));
	launch(hazard_mix, side_x[1], side_x[0], 5, sides[1]);
	work_beside();
	CHECK(cuEventRecord(join_events[1], sides[1]));
	CHECK(cuStreamWaitEvent(sides[0], join_events[1], 0));
	launch(hazard_turn, side_x[0], side_x[1], hazard_springs(iteration) ? 7 : 6, sides[0]);
	join(0);
	fold(0);
}

static void fork_in_fork(void)
{
	set_up_plainly();
	repeat(forks_in_a_fork);
}

/* Streams of different priority are not one graph. */
static void fork_priorities(void)
{
	int least, greatest;

	set_up_plainly();
	CHECK(cuCtxGetStreamPriorityRange(&least, &greatest));
	for (unsigned i = 0; i < SIDES; i++)
		CHECK(cuStreamCreateWithPriority(&sides[i], CU_STREAM_NON_BLOCKING, greatest));
	repeat(forks_and_joins);
}

/* Attributes of the origin and of its sides change while they fork; for a while one has another
 * priority. */
static void forks_with_attributes(unsigned iteration)
{
	CUstream streams[SIDES + 1] = {sides[0], origin, sides[1]};
	static unsigned number;

	fork_all(1);
	if (hazard_springs(iteration) && iteration % 2 == 0 && number < 11) {
		if (number == 10)
			CHECK(cuStreamCopyAttributes(sides[0], sides[1]));
		else
			hazard_set_attribute(streams[number % 3], number);
		number++;
	}
	join_all();
	hazard_settle_again(iteration, origin);
}

static void fork_attributes(void)
{
	set_up_plainly();
	repeat(forks_with_attributes);
}

/* ---- branches that begin behind a wait of the host's, without an event ---- */

/* Nobody reads what another stream writes: where the host does not wait, none has to. */
static void begin_beside(void)
{
	for (unsigned i = 0; i < 4; i++)
		launch(hazard_turn, hazard_x, hazard_y, i, origin);
	for (unsigned i = 0; i < SIDES; i++)
		work_alone(i, i);
	for (unsigned i = 0; i < SIDES; i++)
		join(i);
	for (unsigned i = 0; i < SIDES; i++)
		launch(hazard_mix, hazard_x, hazard_y, i, origin);
}

enum { MEETINGS = 32, SETTLED = ITERATIONS / 8 }; /* before there is work, before deviations */

/* The streams meet when they have an op each, and so are a group before a part of what they do can
 * be a graph of its own, which hides the whole. */
static void begin_all(void)
{
	launch(hazard_mix, origin_z, hazard_y, 99, origin);
	for (unsigned i = 0; i < SIDES; i++)
		launch(hazard_mix, side_z[i], hazard_y, 99, sides[i]);
}

static void meet(void)
{
	for (unsigned meeting = 0; meeting < MEETINGS; meeting++) {
		begin_all();
		for (unsigned i = 0; i < SIDES; i++)
			join(i);
		CHECK(cuStreamSynchronize(origin));
	}
}

/* Deviations come once the graphs of what is done without them are there. */
static bool deviates(unsigned iteration)
{
	return iteration > SETTLED && hazard_is_irregular(iteration);
}

static void repeat_waiting(void (*iterate)(unsigned iteration))
{
	set_up_plainly();
	meet();
	for (unsigned iteration = 1; iteration < ITERATIONS; iteration++) {
		iterate(iteration);
		if (iteration <= SETTLED && iteration % 25 == 0)
			hazard_settle(origin);
		hazard_settle_again(iteration, origin);
	}
	print_all();
}

static void waits_for_origin(unsigned iteration)
{
	begin_beside();
	CHECK(cuStreamSynchronize(origin));
}

static void fork_from_wait(void)
{
	repeat_waiting(waits_for_origin);
}

/* Some iterations begin behind no wait, or behind a wait for one side. */
static void waits_for_less(unsigned iteration)
{
	begin_beside();
	if (!deviates(iteration))
		CHECK(cuStreamSynchronize(origin));
	else if (iteration % 2 == 0)
		CHECK(cuStreamSynchronize(sides[iteration / 2 % SIDES]));
}

static void fork_from_less(void)
{
	repeat_waiting(waits_for_less);
}

/* Sometimes a side has more work when the host waits for the origin, or the origin waits for an
 * event of a stream that is no member. */
static void works_on(unsigned iteration)
{
	static CUstream outside;
	static CUevent from_outside;

	if (outside == NULL) {
		outside = hazard_stream(CU_STREAM_NON_BLOCKING);
		CHECK(cuEventCreate(&from_outside, CU_EVENT_DISABLE_TIMING));
	}
	begin_beside();
	if (deviates(iteration) && iteration % 2 == 0)
		work_alone(iteration / 2 % SIDES, 3);
	CHECK(cuStreamSynchronize(origin));
	if (!deviates(iteration) || iteration % 2 == 0)
		return;
	launch(hazard_turn, origin_z, hazard_y, iteration, outside);
	CHECK(cuEventRecord(from_outside, outside));
	CHECK(cuStreamWaitEvent(origin, from_outside, 0));
}

static void fork_from_busy(void)
{
	repeat_waiting(works_on);
}

/* The host waits for the context; another thread may wait for the origin. */
static void *waits_elsewhere(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	CHECK(cuStreamSynchronize(origin));
	return unused;
}

static void waits_for_context(unsigned iteration)
{
	pthread_t thread;

	begin_beside();
	if (!deviates(iteration)) {
		CHECK(cuCtxSynchronize());
		return;
	}
	pthread_create(&thread, NULL, waits_elsewhere, NULL);
	begin_beside();
	pthread_join(thread, NULL);
}

static void fork_from_context(void)
{
	repeat_waiting(waits_for_context);
}

/* Sometimes the driver refuses to wait (by SIM_FAULT, in both runs). */
static void waits_in_vain(unsigned iteration)
{
	CUresult result;

	begin_beside();
	result = cuCtxSynchronize();
	if (result != CUDA_SUCCESS)
		printf("%u: %d\n", iteration, (int)result);
}

static void fork_from_vain(void)
{
	repeat_waiting(waits_in_vain);
}

/* ---- streams that wait for each other's last step ---- */

enum { PARTS = SIDES + 1 };

static CUevent stepped[2][PARTS];

static CUstream part_stream(unsigned part)
{
	return part == 0 ? origin : sides[part - 1];
}

static void set_up_ring(void)
{
	set_up_plainly();
	for (unsigned i = 0; i < 2 * PARTS; i++)
		CHECK(cuEventCreate(&stepped[i % 2][i / 2], CU_EVENT_DISABLE_TIMING));
}

static CUdeviceptr part_memory(unsigned part)
{
	return part == 0 ? origin_z : side_z[part - 1];
}

static void part_waits(unsigned part, unsigned iteration)
{
	for (unsigned other = 0; other < PARTS; other++)
		if (other != part)
			CHECK(cuStreamWaitEvent(part_stream(part), stepped[(iteration + 1) % 2][other], 0));
}

static void part_steps(unsigned part, unsigned iteration)
{
	CHECK(cuEventRecord(stepped[iteration % 2][part], part_stream(part)));
}

static void part_launches(unsigned part)
{
	for (unsigned i = 0; i < 3; i++)
		launch(hazard_turn, part_memory(part), hazard_y, i + part + 3, part_stream(part));
}

static void part_works(unsigned part, unsigned iteration)
{
	part_launches(part);
	part_steps(part, iteration);
}

static void steps_in_ring(unsigned iteration)
{
	for (unsigned part = 0; part < PARTS; part++) {
		part_waits(part, iteration);
		part_works(part, iteration);
	}
}

static void settle_parts(void)
{
	for (unsigned part = 0; part < PARTS; part++)
		hazard_settle(part_stream(part));
}

/* Often at first: segments begin behind a wait, and what is in them must come again to be hot. */
static void settle_now_and_then(unsigned iteration)
{
	if (iteration % 50 == 0 || (iteration <= 75 && iteration % 15 == 0))
		settle_parts();
}

static void meet_in_ring(void)
{
	begin_all();
	for (unsigned i = 0; i < PARTS * MEETINGS / 2; i++) {
		part_waits(i % PARTS, i / PARTS);
		part_steps(i % PARTS, i / PARTS);
	}
	settle_parts();
}

static void repeat_ring(void (*iterate)(unsigned iteration))
{
	set_up_ring();
	meet_in_ring();
	for (unsigned iteration = 1; iteration < ITERATIONS; iteration++) {
		iterate(iteration);
		settle_now_and_then(iteration);
	}
	print_all();
}

static void ring(void)
{
	repeat_ring(steps_in_ring);
}

/* Sometimes a part does not wait for one of the others; or does not record what it did, and the
 * others wait for what it did before. The last part is the group's first member. It does not step
 * last, since graphs begin behind the same op as ever. */
static void steps_with_less(unsigned iteration)
{
	for (unsigned part = PARTS; part-- > 0;) {
		bool less = deviates(iteration) && part == iteration % PARTS;

		if (less && iteration % 2 == 0)
			CHECK(cuStreamWaitEvent(part_stream(part),
			                        stepped[(iteration + 1) % 2][(part + 1) % PARTS], 0));
		else
			part_waits(part, iteration);
		if (less && iteration % 2 != 0)
			part_launches(part);
		else
			part_works(part, iteration);
	}
}

static void ring_waits_for_less(void)
{
	repeat_ring(steps_with_less);
}

static void goes_on(unsigned part)
{
	launch(hazard_turn, part_memory(part), hazard_y, 11, part_stream(part));
}

/* Sometimes a part goes on behind its record: the others do not wait for that. */
static void steps_with_more(unsigned iteration)
{
	steps_in_ring(iteration);
	if (deviates(iteration))
		goes_on(iteration % PARTS);
}

static void ring_goes_on(void)
{
	repeat_ring(steps_with_more);
}

/* Sometimes another stream, or another thread, records the event that a part waits for, in the
 * midst of a step. */
static CUstream aside;
static unsigned recorded_by_other;

static void *records_elsewhere(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	CHECK(cuEventRecord(stepped[(recorded_by_other + 1) % 2][0], aside));
	return unused;
}

static void is_recorded_elsewhere(unsigned iteration, bool by_thread)
{
	pthread_t thread;

	if (aside == NULL)
		aside = hazard_stream(CU_STREAM_NON_BLOCKING);
	launch(hazard_turn, side_x[0], hazard_y, iteration, aside);
	if (!by_thread) {
		CHECK(cuEventRecord(stepped[(iteration + 1) % 2][0], aside));
		return;
	}
	recorded_by_other = iteration;
	pthread_create(&thread, NULL, records_elsewhere, NULL);
	pthread_join(thread, NULL);
}

static void steps_with_other(unsigned iteration)
{
	for (unsigned part = 0; part < PARTS; part++) {
		part_waits(part, iteration);
		part_works(part, iteration);
		if (part == iteration / 2 % 2 && deviates(iteration))
			is_recorded_elsewhere(iteration, iteration % 2 != 0);
	}
}

static void ring_recorded_elsewhere(void)
{
	repeat_ring(steps_with_other);
}

/* The host waits in each eighth step. Sometimes another stream, or another thread, records the
 * event behind that wait, and the next step waits for it. */
static void steps_behind_wait(unsigned iteration)
{
	if (iteration % 8 == 0) {
		settle_parts();
		if (deviates(iteration / 8 + SETTLED))
			is_recorded_elsewhere(iteration, iteration / 8 % 2 != 0);
	}
	steps_in_ring(iteration);
}

static void ring_recorded_behind_wait(void)
{
	repeat_ring(steps_behind_wait);
}

/* The host waits after 17 steps, 17 more, and 7 more, and so on; and sometimes a part goes on. */
static void steps_and_varies(unsigned iteration)
{
	steps_with_more(iteration);
	if (iteration % 41 % 17 == 0)
		settle_parts();
}

static void ring_varies(void)
{
	repeat_ring(steps_and_varies);
}

/* The second part has one launch more in each step, and records its event again. Sometimes the host
 * waits for one part before that. */
static void steps_and_wait(unsigned iteration)
{
	steps_in_ring(iteration);
	if (deviates(iteration))
		CHECK(cuStreamSynchronize(part_stream(iteration % PARTS)));
	launch(hazard_turn, hazard_x, hazard_y, 1, part_stream(1));
	CHECK(cuEventRecord(stepped[iteration % 2][1], part_stream(1)));
}

static void ring_waited_for(void)
{
	repeat_ring(steps_and_wait);
}

/* Two streams wait for all that was done in the last step, first for the third's; the third comes
 * behind theirs of this one. So a graph may begin with the third alone, or with the others.
 * Sometimes one goes on behind its record, which nobody waits for. */
static void steps_in_pipeline(unsigned iteration)
{
	unsigned last = PARTS - 1;

	for (unsigned part = 0; part < last; part++) {
		for (unsigned i = 0; i < last; i++)
			CHECK(cuStreamWaitEvent(part_stream(part),
			                        stepped[(iteration + 1) % 2][i == 0 ? last : 1 - part], 0));
		part_works(part, iteration);
	}
	if (deviates(iteration) && iteration % PARTS != last)
		goes_on(iteration % PARTS);
	part_waits(last, iteration + 1);
	part_works(last, iteration);
	if (deviates(iteration) && iteration % PARTS == last)
		goes_on(last);
}

static void pipeline_goes_on(void)
{
	repeat_ring(steps_in_pipeline);
}

/* First the streams fork and join. Then they wait for each other's last step; sometimes they fork
 * and join behind a step, as often as in a graph of that, and the origin has waited for one of the
 * two others' steps. The host waits behind that: the next steps are not in one segment with a fork,
 * where they would be parts. From there it is 25 to 28 steps to the next: whatever the number of
 * steps of a graph, some forks come right behind one. */
static bool forks_behind(unsigned steps)
{
	unsigned place = steps % (25 + 26 + 27 + 28);

	return steps > SETTLED &&
	       (place == 0 || place == 25 || place == 25 + 26 || place == 25 + 26 + 27);
}

static void forks_then_steps(unsigned iteration)
{
	unsigned steps = iteration - ITERATIONS / 4;

	if (iteration <= ITERATIONS / 4) {
		forks_and_joins(iteration);
		return;
	}
	steps_in_ring(iteration);
	if (!forks_behind(steps)) {
		settle_now_and_then(steps);
		return;
	}
	CHECK(cuStreamWaitEvent(origin, stepped[iteration % 2][1], 0));
	for (unsigned i = 0; i < 5; i++)
		forks_and_joins(iteration);
	settle_parts();
}

static void fork_behind_ring(void)
{
	repeat_ring(forks_then_steps);
}

/* ---- what is not as before, this time ---- */

/* Work on a side stream that the next fork does not come behind. */
static void forks_beside_other_work(unsigned iteration)
{
	if (hazard_springs(iteration))
		work_alone(iteration % SIDES, iteration);
	fork_alone();
	join_all();
}

static void fork_member_outside(void)
{
	set_up_plainly();
	repeat(forks_beside_other_work);
}

/* One branch is not joined; the next fork goes on there. */
static void forks_unjoined(unsigned iteration)
{
	fork_alone();
	join(0);
	if (!hazard_springs(iteration))
		join(1);
	work_beside();
}

static void fork_unjoined(void)
{
	set_up_plainly();
	repeat(forks_unjoined);
}

/* A side stream goes on after its branch, and the host looks at what it made there. */
static void forks_and_goes_on(unsigned iteration)
{
	uint32_t words[WORDS];

	fork_all(1);
	join_all();
	if (!hazard_springs(iteration))
		return;
	work_alone(0, iteration);
	if (iteration % 2 == 0) {
		CHECK(cuMemcpyDtoHAsync(words, side_z[0], sizeof(words), sides[0]));
		CHECK(cuStreamSynchronize(sides[0]));
		printf("%u\n", words[iteration % WORDS]);
	}
	CHECK(cuStreamSynchronize(sides[1]));
	CHECK(cuMemcpyDtoHAsync(words, side_x[1], sizeof(words), sides[1]));
	printf("%u\n", words[iteration % WORDS]);
}

static void fork_member_goes_on(void)
{
	set_up_plainly();
	repeat(forks_and_goes_on);
}

/* The program's own graph, host functions and copies on a side stream, between two forks. */
static CUgraphExec own_graph;

static void count_up(void *counter)
{
	++*(unsigned *)counter;
}

static void forks_around_other_calls(unsigned iteration)
{
	static unsigned called;

	fork_alone();
	join_all();
	if (!hazard_springs(iteration))
		return;
	CHECK(cuStreamSynchronize(sides[0]));
	if (iteration % 3 == 0)
		CHECK(cuGraphLaunch(own_graph, sides[0]));
	else if (iteration % 3 == 1)
		CHECK(cuLaunchHostFunc(sides[1], count_up, &called));
	else
		CHECK(cuMemsetD32Async(side_z[1], iteration, WORDS, sides[1]));
}

static void fork_other_calls(void)
{
	CUgraph graph;

	set_up_plainly();
	CHECK(cuStreamBeginCapture(sides[0], CU_STREAM_CAPTURE_MODE_RELAXED));
	launch(hazard_turn, side_z[0], hazard_y, 77, sides[0]);
	CHECK(cuStreamEndCapture(sides[0], &graph));
	CHECK(cuGraphInstantiateWithFlags(&own_graph, graph, 0));
	repeat(forks_around_other_calls);
}

/* The program captures, a fork of its own or on a stream elsewhere, and meanwhile works on a stream
 * that is not in it. */
static CUstream outsider;

static CUgraph captured_fork(void)
{
	CUgraph graph;

	CHECK(cuStreamBeginCapture(origin, CU_STREAM_CAPTURE_MODE_RELAXED));
	record_fork();
	fork_to(0);
	work_on(0, 1);
	work_alone(1, 3);
	join(0);
	CHECK(cuStreamEndCapture(origin, &graph));
	return graph;
}

static CUgraph captured_elsewhere(void)
{
	CUgraph graph;

	CHECK(cuStreamBeginCapture(outsider, CU_STREAM_CAPTURE_MODE_RELAXED));
	launch(hazard_turn, origin_z, hazard_y, 3, outsider);
	work_alone(1, 3);
	CHECK(cuStreamEndCapture(outsider, &graph));
	return graph;
}

static void forks_captured(unsigned iteration)
{
	CUgraph graph;
	CUgraphExec exec;

	fork_all(1);
	join_all();
	if (!hazard_springs(iteration))
		return;
	graph = iteration % 2 == 0 ? captured_fork() : captured_elsewhere();
	CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	CHECK(cuStreamSynchronize(sides[0]));
	CHECK(cuGraphLaunch(exec, origin));
	CHECK(cuGraphExecDestroy(exec));
	CHECK(cuGraphDestroy(graph));
	CHECK(cuStreamSynchronize(origin)); /* so that the next fork begins as many others do */
}

static void fork_captured(void)
{
	set_up_plainly();
	outsider = hazard_stream(CU_STREAM_NON_BLOCKING);
	repeat(forks_captured);
}

/* The legacy stream between forks of blocking ones, and in the midst of one. */
static void forks_around_legacy(unsigned iteration)
{
	record_fork();
	for (unsigned i = 0; i < SIDES; i++) {
		fork_to(i);
		work_on(i, 1);
		if (hazard_springs(iteration))
			launch(hazard_turn, side_x[i], side_x[1 - i], iteration % 3, NULL);
	}
	join_all();
}

static void fork_legacy(void)
{
	set_up(CU_STREAM_DEFAULT, CU_EVENT_DISABLE_TIMING);
	repeat(forks_around_legacy);
}

/* The same where only the origin is blocking, and where only its sides are: then their graph would
 * not be in the legacy stream's order. */
static void forks_of_two_kinds(unsigned iteration)
{
	fork_all(1);
	join_all();
	if (iteration % 2 != 0)
		return;
	for (unsigned i = 0; i < SIDES && hazard_springs(iteration); i++)
		launch(hazard_turn, side_z[i], hazard_y, iteration % 3, NULL);
	CHECK(cuStreamSynchronize(origin));
}

static void fork_blocking_origin(void)
{
	set_up_plainly();
	origin = hazard_stream(CU_STREAM_DEFAULT);
	repeat(forks_of_two_kinds);
}

static void fork_blocking_sides(void)
{
	set_up(CU_STREAM_DEFAULT, CU_EVENT_DISABLE_TIMING);
	origin = hazard_stream(CU_STREAM_NON_BLOCKING);
	repeat(forks_of_two_kinds);
}

/*
 * Another thread retains the primary context once more and releases it, while this one forks and
 * joins; it stays. Now and then a side stream goes on behind its branch, without a wait.
 */
static sem_t release_wanted;
static unsigned releases = 59;

static void *release_again(void *unused)
{
	CUcontext context;

	for (;;) {
		while (sem_wait(&release_wanted) != 0)
			;
		if (releases-- == 0)
			return unused;
		CHECK(cuDevicePrimaryCtxRetain(&context, hazard_device));
		CHECK(cuDevicePrimaryCtxRelease(hazard_device));
	}
}

static void forks_beside_releases(unsigned iteration)
{
	fork_alone();
	join_all();
	if (iteration % 100 == 99)
		sem_post(&release_wanted);
	if (iteration % 5 == 4)
		work_alone(iteration % SIDES, 1);
	CHECK(cuStreamSynchronize(origin));
}

static void fork_primary_released(void)
{
	pthread_t thread;

	set_up_plainly();
	/* Replayed for certain: how much is beside the releases, which split the group, is a matter of
	 * time. */
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		fork_alone();
		join_all();
		if (iteration == 60)
			hazard_settle(origin);
		CHECK(cuStreamSynchronize(origin));
	}
	sem_init(&release_wanted, 0, 0);
	pthread_create(&thread, NULL, release_again, NULL);
	for (unsigned iteration = 1; iteration < 5 * ITERATIONS; iteration++)
		forks_beside_releases(iteration);
	sem_post(&release_wanted);
	pthread_join(thread, NULL);
	print_all();
}

/*
 * Another thread destroys a stream that this one forked to before, while this one forks and joins
 * with the others. Reprise parts them: first all debts are paid, then the graph that is being built
 * is waited for, and then each stream has a lane of its own again. So a graph is in work, which
 * takes long, when that is asked for; meanwhile this thread forks and joins, and when the other's
 * call is over, a side stream goes on behind its branch, without a wait.
 */
enum { PARTINGS = 5, FORKS_UNTIL_HOT = 20, CHAINS_UNTIL_HOT = 16 };

static sem_t side_unused, side_destroyed;

static void await_post(sem_t *semaphore)
{
	while (sem_wait(semaphore) != 0)
		continue;
}

static void *destroy_side(void *unused)
{
	for (unsigned i = 0; i < PARTINGS; i++) {
		await_post(&side_unused);
		CHECK(cuStreamDestroy(sides[1]));
		sem_post(&side_destroyed);
	}
	return unused;
}

static void fork_alone_to(unsigned count)
{
	record_fork();
	for (unsigned i = 0; i < count; i++) {
		fork_to(i);
		work_alone(i, 1);
	}
	for (unsigned i = 0; i < count; i++)
		join(i);
	for (unsigned i = 0; i < count; i++)
		fold(i);
}

static void fork_until_hot(unsigned count)
{
	for (unsigned i = 0; i < FORKS_UNTIL_HOT; i++) {
		fork_alone_to(count);
		hazard_settle(origin);
	}
}

/* On another stream, so that its graph is in work for a while. */
static void have_a_chain_built(CUdeviceptr x)
{
	CUstream stream = hazard_stream(CU_STREAM_NON_BLOCKING);

	for (unsigned i = 0; i < CHAINS_UNTIL_HOT; i++) {
		hazard_chain(x, stream);
		CHECK(cuStreamSynchronize(stream));
	}
	usleep(2000);
}

static void fork_split_beside(void)
{
	CUdeviceptr x = words_of(31);
	pthread_t thread;

	set_up_plainly();
	sem_init(&side_unused, 0, 0);
	sem_init(&side_destroyed, 0, 0);
	pthread_create(&thread, NULL, destroy_side, NULL);
	for (unsigned i = 0; i < PARTINGS; i++) {
		fork_until_hot(2);
		fork_until_hot(1);
		have_a_chain_built(x);
		sem_post(&side_unused);
		usleep(5000); /* the debts are paid, mostly; if they are not, there is nothing to find this
		                 time */
		fork_alone_to(1);
		await_post(&side_destroyed);
		work_alone(0, 1);
		CHECK(cuStreamSynchronize(sides[0]));
		sides[1] = hazard_stream(CU_STREAM_NON_BLOCKING);
	}
	pthread_join(thread, NULL);
	print_all();
}

/* ---- events that others look at ---- */

static CUstream looker;

static void forks_looked_at(unsigned iteration)
{
	uint32_t word;
	float ms = -1;

	if (iteration / 100 % 2 == 0) /* then a visit ends with the iteration: what is looked at was
	                                 launched, and not just deferred */
		CHECK(cuStreamSynchronize(origin));
	fork_all(1);
	if (iteration % 4 == 3 && iteration / 100 % 2 == 1 && hazard_springs(iteration))
		CHECK(cuStreamSynchronize(sides[1])); /* in the midst of a fork, where no graph ends: the
		                                         branch's ops are issued one by one */
	join_all();
	if (!hazard_springs(iteration))
		return;
	switch (iteration % 4) {
	case 0:
		while (cuEventQuery(join_events[1]) == CUDA_ERROR_NOT_READY)
			;
		break;
	case 1:
		CHECK(cuEventSynchronize(join_events[1]));
		break;
	case 2:
		CHECK(cuEventSynchronize(join_events[1]));
		CHECK(cuEventElapsedTime(&ms, fork_event, join_events[1]));
		printf("%d\n", ms >= 0);
		break;
	default:
		CHECK(cuStreamSynchronize(sides[1]));
		break;
	}
	/* Not on the branch's own stream, where it would come behind the branch by itself. */
	CHECK(cuMemcpyDtoHAsync(&word, side_x[1], sizeof(word), looker));
	CHECK(cuStreamSynchronize(looker));
	printf("%u\n", word);
}

static void fork_events_looked_at(void)
{
	set_up(CU_STREAM_NON_BLOCKING, CU_EVENT_DEFAULT);
	looker = hazard_stream(CU_STREAM_NON_BLOCKING);
	repeat(forks_looked_at);
}

/* Another stream waits for a branch, not for the whole; and this thread's wait comes while the
 * record is deferred, or after its launch. */
static CUevent outsider_done;

static void forks_waited_for(unsigned iteration)
{
	unsigned at = iteration % 3;

	record_fork();
	for (unsigned i = 0; i < SIDES; i++) {
		fork_to(i);
		work_on(i, 1);
		CHECK(cuEventRecord(join_events[i], sides[i]));
	}
	if (hazard_springs(iteration) && at == 0)
		CHECK(cuStreamWaitEvent(outsider, join_events[1], 0));
	for (unsigned i = 0; i < SIDES; i++)
		CHECK(cuStreamWaitEvent(origin, join_events[i], 0));
	if (hazard_springs(iteration) && at != 0)
		CHECK(cuStreamWaitEvent(outsider, join_events[at - 1], 0));
	if (hazard_springs(iteration)) {
		launch(hazard_mix, origin_z, side_x[at == 0 ? 1 : at - 1], iteration, outsider);
		CHECK(cuEventRecord(outsider_done, outsider));
		CHECK(cuStreamWaitEvent(origin, outsider_done, 0));
	}
	fold(0);
}

static void fork_waited_for(void)
{
	set_up_plainly();
	outsider = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuEventCreate(&outsider_done, CU_EVENT_DISABLE_TIMING));
	repeat(forks_waited_for);
}

/* The event of the fork is recorded again, elsewhere, before a branch waits for it: that branch is
 * not behind the origin. */
static void forks_elsewhere(unsigned iteration)
{
	if (iteration == 60)
		CHECK(cuCtxSynchronize()); /* or the outsider has something to do, and no graph is built */
	record_fork();
	fork_to(0);
	work_on(0, 1);
	if (hazard_springs(iteration)) {
		launch(hazard_turn, origin_z, hazard_y, iteration, outsider);
		CHECK(cuEventRecord(fork_event, outsider));
	}
	fork_to(1);
	for (unsigned i = 0; i < 4; i++)
		launch(hazard_turn, side_x[1], origin_z, i, sides[1]);
	join_all();
	CHECK(cuEventRecord(fork_event, origin));
	CHECK(cuStreamWaitEvent(outsider, fork_event, 0));
}

static void fork_recorded_elsewhere(void)
{
	set_up_plainly();
	outsider = hazard_stream(CU_STREAM_NON_BLOCKING);
	repeat(forks_elsewhere);
}

/* ---- what ends ---- */

static void replace_events(void)
{
	CHECK(cuEventDestroy(join_events[0]));
	CHECK(cuEventDestroy(fork_event));
	CHECK(cuEventCreate(&join_events[0], CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventCreate(&fork_event, CU_EVENT_DISABLE_TIMING));
}

static void forks_with_new_events(unsigned iteration)
{
	fork_all(1);
	join_all();
	hazard_settle_again(iteration, origin);
	if (hazard_springs(iteration))
		replace_events();
}

static void fork_event_destroyed(void)
{
	set_up_plainly();
	repeat(forks_with_new_events);
}

/* The events change as soon as a graph is made that names them: it is still in work. */
static void forks_with_fleeting_events(unsigned iteration)
{
	fork_all(1);
	join_all();
	CHECK(cuStreamSynchronize(origin));
	if (iteration % 6 == 0)
		replace_events();
}

static void fork_event_destroyed_in_work(void)
{
	set_up_plainly();
	repeat(forks_with_fleeting_events);
}

/* An event ends, and the next one, which has its handle, is waited for before it is recorded: that
 * orders nothing. */
static void forks_with_reborn_event(unsigned iteration)
{
	if (hazard_springs(iteration)) {
		work_alone(0, iteration);
		CHECK(cuEventRecord(outsider_done, sides[0]));
		CHECK(cuEventDestroy(outsider_done));
		CHECK(cuEventCreate(&outsider_done, CU_EVENT_DISABLE_TIMING));
		CHECK(cuStreamWaitEvent(origin, outsider_done, 0));
	}
	fork_alone();
	join_all();
}

static void fork_event_reborn(void)
{
	set_up_plainly();
	CHECK(cuEventCreate(&outsider_done, CU_EVENT_DISABLE_TIMING));
	repeat(forks_with_reborn_event);
}

static void forks_with_new_streams(unsigned iteration)
{
	fork_all(1);
	join_all();
	hazard_settle_again(iteration, origin);
	if (!hazard_springs(iteration) || iteration % 4 != 0)
		return;
	CHECK(cuStreamDestroy(sides[0]));
	sides[0] = hazard_stream(CU_STREAM_NON_BLOCKING);
}

static void fork_stream_destroyed(void)
{
	set_up_plainly();
	repeat(forks_with_new_streams);
}

/* The origin goes; its sides stay. */
static void fork_origin_destroyed(void)
{
	set_up_plainly();
	for (unsigned round = 0; round < 4; round++) {
		for (unsigned iteration = 0; iteration < 300; iteration++) {
			forks_and_joins(iteration);
			if (iteration == 60) {
				CHECK(cuCtxSynchronize()); /* the sides, too */
				hazard_await_graphs();
			}
		}
		CHECK(cuStreamSynchronize(origin));
		CHECK(cuStreamDestroy(origin));
		origin = hazard_stream(CU_STREAM_NON_BLOCKING);
	}
	print_all();
}

/* ---- time ---- */

/* A kernel of one branch waits in memory for one of another: nothing else orders the two. */
static CUdeviceptr flag;
static CUfunction publish, await;

static void forks_that_signal(unsigned iteration)
{
	record_fork();
	fork_to(0);
	signal_flag(await, flag, iteration, sides[0]);
	work_on(0, 1);
	CHECK(cuEventRecord(join_events[0], sides[0]));
	fork_to(1);
	work_on(1, 1);
	signal_flag(publish, flag, iteration, sides[1]);
	CHECK(cuEventRecord(join_events[1], sides[1]));
	for (unsigned i = 0; i < SIDES; i++)
		CHECK(cuStreamWaitEvent(origin, join_events[i], 0));
	fold(0);
}

static void set_up_flag(void)
{
	publish = hazard_function("publish");
	await = hazard_function("await");
	CHECK(cuMemAlloc(&flag, 4));
	CHECK(cuMemsetD32(flag, 0, 1));
	CHECK(cuCtxSynchronize());
}

static void fork_spin(void)
{
	set_up_plainly();
	set_up_flag();
	repeat(forks_that_signal);
}

/* A kernel of the origin, behind the fork, waits for what a side stream is given after its branch
 * was joined. */
static void forks_that_signal_late(unsigned iteration)
{
	CHECK(cuStreamWaitEvent(origin, join_events[1], 0)); /* the last signal */
	record_fork();
	signal_flag(await, flag, iteration, origin);
	fork_to(0);
	work_on(0, 1);
	join(0);
	fork_to(1);
	work_on(1, 1);
	join(1);
	signal_flag(publish, flag, iteration, sides[1]);
	CHECK(cuEventRecord(join_events[1], sides[1]));
	fold(0);
}

static void fork_spin_late(void)
{
	set_up_plainly();
	set_up_flag();
	repeat(forks_that_signal_late);
}

/* All kernels behind the fork's event wait in memory for what comes after the host has waited for
 * that event. */
static void forks_that_await_the_host(unsigned iteration)
{
	if (iteration == 60 || iteration == 120 || iteration == 180)
		hazard_settle(outsider);
	record_fork();
	signal_flag(await, flag, iteration, origin);
	for (unsigned i = 0; i < SIDES; i++) {
		fork_to(i);
		signal_flag(await, flag, iteration, sides[i]);
		work_on(i, 1);
	}
	join_all();
	CHECK(cuEventSynchronize(fork_event));
	signal_flag(publish, flag, iteration, outsider);
}

static void fork_event_before_spin(void)
{
	set_up_plainly();
	set_up_flag();
	outsider = hazard_stream(CU_STREAM_NON_BLOCKING);
	repeat(forks_that_await_the_host);
}

/* A kernel on the legacy stream, behind blocking streams that forked and joined, waits in memory
 * for what comes after the host has waited for a side stream. */
static void forks_beside_legacy(unsigned iteration)
{
	if (iteration == 60 || iteration == 120 || iteration == 180)
		hazard_settle(outsider);
	fork_all(1);
	join_all();
	signal_flag(await, flag, iteration, CU_STREAM_LEGACY);
	CHECK(cuStreamSynchronize(sides[iteration % SIDES]));
	signal_flag(publish, flag, iteration, outsider);
}

static void fork_side_before_legacy(void)
{
	set_up(CU_STREAM_DEFAULT, CU_EVENT_DISABLE_TIMING);
	set_up_flag();
	outsider = hazard_stream(CU_STREAM_NON_BLOCKING);
	repeat(forks_beside_legacy);
}

/* The host pauses in the midst of a fork. */
static void forks_and_pauses(unsigned iteration)
{
	record_fork();
	for (unsigned i = 0; i < SIDES; i++) {
		fork_to(i);
		work_on(i, 1);
		if (hazard_springs(iteration) && iteration % SIDES == i)
			usleep(300);
	}
	join_all();
}

static void fork_hold(void)
{
	set_up_plainly();
	repeat(forks_and_pauses);
}

/* ---- threads ---- */

static pthread_mutex_t turn_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_changed = PTHREAD_COND_INITIALIZER;
static unsigned turns;

/* Whose turn it is for each iteration, and what of it: the second thread takes over in a while,
 * once between fork and join. */
static unsigned whose(unsigned turn)
{
	return turn < 800 ? 0 : turn < 1200 ? turn % 2 : 1;
}

static void *forks_in_turn(void *which)
{
	for (unsigned me = (unsigned)(uintptr_t)which;;) {
		pthread_mutex_lock(&turn_mutex);
		while (turns < 2 * ITERATIONS && whose(turns) != me)
			pthread_cond_wait(&turn_changed, &turn_mutex);
		if (turns >= 2 * ITERATIONS)
			break;
		CHECK(cuCtxSetCurrent(hazard_context)); /* within the turn: threads are numbered in order of
		                                           their first call */
		if (turns % 2 == 0)
			fork_all(1);
		else
			join_all();
		if (turns % 8 == 7)
			CHECK(cuStreamSynchronize(origin));
		turns++;
		pthread_cond_broadcast(&turn_changed);
		pthread_mutex_unlock(&turn_mutex);
	}
	pthread_mutex_unlock(&turn_mutex);
	return NULL;
}

static void fork_threads_in_turn(void)
{
	pthread_t threads[2];

	set_up_plainly();
	for (uintptr_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, forks_in_turn, (void *)i);
	for (unsigned i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	print_all();
}

/* A second thread waits for the end of a branch, as soon as it was told that its event is recorded,
 * and looks at what the branch has made. */
static uint32_t *made;

static void *waits_for_branch(void *iteration)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	switch ((uintptr_t)iteration / 4 % 4) { /* not in step with where the host waits */
	case 0:
		CHECK(cuEventSynchronize(join_events[1]));
		break;
	case 1:
		while (cuEventQuery(join_events[1]) == CUDA_ERROR_NOT_READY)
			;
		break;
	case 2:
		CHECK(cuStreamSynchronize(sides[1]));
		break;
	default:
		CHECK(cuCtxSynchronize());
		break;
	}
	printf("%u\n", *made);
	return NULL;
}

static void forks_waited_for_elsewhere(unsigned iteration)
{
	pthread_t thread;

	record_fork();
	for (unsigned i = 0; i < SIDES; i++) {
		fork_to(i);
		work_on(i, 1);
		if (i == 1)
			CHECK(cuMemcpyDtoHAsync(made, side_x[i], sizeof(*made), sides[i]));
		CHECK(cuEventRecord(join_events[i], sides[i]));
	}
	if (hazard_springs(iteration)) {
		pthread_create(&thread, NULL, waits_for_branch, (void *)(uintptr_t)iteration);
		pthread_join(thread, NULL);
	}
	for (unsigned i = 0; i < SIDES; i++)
		CHECK(cuStreamWaitEvent(origin, join_events[i], 0));
	fold(0);
}

static void fork_waited_for_by_thread(void)
{
	set_up_plainly();
	CHECK(cuMemHostAlloc((void **)&made, sizeof(*made), 0));
	*made = 0;
	repeat(forks_waited_for_elsewhere);
}

/* A second thread has all of another context wait for the end of a branch, as soon as it was told
 * that its event is recorded. */
static struct {
	CUcontext context;
	CUfunction mix;
	CUdeviceptr x;
	CUstream stream;
} beyond;

static void set_up_beyond(void)
{
	CUmodule module;

	CHECK(cuCtxCreate(&beyond.context, NULL, 0, hazard_device));
	CHECK(cuModuleLoad(&module, hazard_module_path));
	CHECK(cuModuleGetFunction(&beyond.mix, module, "mix"));
	beyond.x = words_of(31);
	beyond.stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuCtxSetCurrent(hazard_context));
}

static void *has_context_wait(void *unused)
{
	CHECK(cuCtxSetCurrent(beyond.context));
	CHECK(cuCtxWaitEvent(beyond.context, join_events[1]));
	launch(beyond.mix, beyond.x, beyond.x, 7, beyond.stream);
	CHECK(cuStreamSynchronize(beyond.stream));
	return unused;
}

static void forks_waited_for_by_context(unsigned iteration)
{
	pthread_t thread;

	fork_all(1);
	CHECK(cuEventRecord(join_events[1], sides[1]));
	if (hazard_springs(iteration)) {
		pthread_create(&thread, NULL, has_context_wait, NULL);
		pthread_join(thread, NULL);
	}
	join(0);
	CHECK(cuStreamWaitEvent(origin, join_events[1], 0));
	fold(0);
}

static void fork_waited_for_by_context(void)
{
	set_up_plainly();
	set_up_beyond();
	repeat(forks_waited_for_by_context);
	CHECK(cuCtxSetCurrent(beyond.context));
	hazard_print("beyond", beyond.x);
}

/* The same of a green context, whose device's primary context is the one that has the branches. */
static CUgreenCtx green;

static void set_up_green(void)
{
	CUdevResource all, part;
	CUdevResourceDesc description;
	unsigned parts = 1;

	CHECK(cuDeviceGetDevResource(hazard_device, &all, CU_DEV_RESOURCE_TYPE_SM));
	CHECK(cuDevSmResourceSplitByCount(&part, &parts, &all, NULL, 0, 16));
	CHECK(cuDevResourceGenerateDesc(&description, &part, 1));
	CHECK(cuGreenCtxCreate(&green, description, hazard_device, CU_GREEN_CTX_DEFAULT_STREAM));
	CHECK(cuGreenCtxStreamCreate(&beyond.stream, green, CU_STREAM_NON_BLOCKING, 0));
	beyond.x = words_of(31);
}

static void *has_green_wait(void *unused)
{
	CHECK(cuCtxSetCurrent(NULL)); /* which one is current does not matter */
	CHECK(cuGreenCtxWaitEvent(green, join_events[1]));
	CHECK(cuCtxSetCurrent(hazard_context));
	launch(hazard_mix, beyond.x, side_x[1], 7, beyond.stream); /* what the branch has left there */
	CHECK(cuStreamSynchronize(beyond.stream));
	return unused;
}

static void forks_waited_for_by_green(unsigned iteration)
{
	pthread_t thread;

	fork_all(1);
	CHECK(cuEventRecord(join_events[1], sides[1]));
	if (hazard_springs(iteration)) {
		pthread_create(&thread, NULL, has_green_wait, NULL);
		pthread_join(thread, NULL);
	}
	join(0);
	CHECK(cuStreamWaitEvent(origin, join_events[1], 0));
	fold(0);
}

static void fork_waited_for_by_green(void)
{
	set_up_plainly();
	set_up_green();
	repeat(forks_waited_for_by_green);
	hazard_print("beyond", beyond.x);
	CHECK(cuStreamDestroy(beyond.stream));
	CHECK(cuGreenCtxDestroy(green));
}

/*
 * Another thread has a value written on a side stream, and that call takes long: this thread forks
 * and joins meanwhile. When it has returned, what comes next on that stream is behind the write.
 */
static sem_t write_wanted, write_done;
static CUdeviceptr written, seen;
static unsigned to_write;

static void *writes_on_side(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	for (;;) {
		while (sem_wait(&write_wanted) != 0)
			;
		if (to_write == 0)
			return unused;
		CHECK(cuStreamWriteValue32(sides[0], written, to_write, 0));
		sem_post(&write_done);
	}
}

static void fork_and_see(void)
{
	record_fork();
	fork_to(0);
	CHECK(cuMemcpyDtoDAsync(seen, written, sizeof(uint32_t), sides[0]));
	work_alone(0, 1);
	join(0);
	work_beside();
}

static void forks_beside_write(unsigned iteration)
{
	uint32_t word;

	if (hazard_springs(iteration)) {
		to_write = iteration;
		sem_post(&write_wanted);
		usleep(500); /* the call has begun, mostly; if it has not, there is nothing to find this
		                time */
		for (unsigned i = 0; i < 3; i++) {
			fork_and_see();
			CHECK(cuStreamSynchronize(origin));
		}
		while (sem_wait(&write_done) != 0)
			;
	}
	fork_and_see();
	if (!hazard_springs(iteration))
		return;
	CHECK(cuStreamSynchronize(origin));
	CHECK(cuMemcpyDtoH(&word, seen, sizeof(word)));
	if (word != iteration)
		printf("iteration %u: the branch saw %u\n", iteration, word);
}

static void fork_beside_call(void)
{
	pthread_t thread;

	set_up_plainly();
	written = words_of(0);
	seen = words_of(0);
	sem_init(&write_wanted, 0, 0);
	sem_init(&write_done, 0, 0);
	pthread_create(&thread, NULL, writes_on_side, NULL);
	repeat(forks_beside_write);
	to_write = 0;
	sem_post(&write_wanted);
	pthread_join(thread, NULL);
}

/* Another thread asks for an event of its own in the midst of a fork: that is no affair of the
 * fork's. */
static sem_t query_wanted, query_done;
static bool queries_are_over;
static CUevent event_apart;

static void *queries_apart(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	for (;;) {
		while (sem_wait(&query_wanted) != 0)
			;
		if (queries_are_over)
			return unused;
		CHECK(cuEventQuery(event_apart));
		CHECK(cuEventSynchronize(event_apart));
		sem_post(&query_done);
	}
}

/* After iteration 50 the other thread asks in the midst of each fork: if a query cut the fork,
 * hardly any would be replayed whole. The streams that fork have recorded the event, too. */
static void forks_beside_queries(unsigned iteration)
{
	if (iteration == 50) {
		CHECK(cuEventRecord(event_apart, origin));
		CHECK(cuEventSynchronize(event_apart));
	}
	if (iteration >= 60 && iteration <= 240 && iteration % 60 == 0)
		hazard_settle(origin);
	fork_all(1);
	if (iteration > 50) {
		sem_post(&query_wanted);
		while (sem_wait(&query_done) != 0)
			;
	}
	join_all();
}

static void fork_beside_queries(void)
{
	pthread_t thread;

	set_up_plainly();
	CHECK(cuEventCreate(&event_apart, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventRecord(event_apart, origin));
	CHECK(cuEventSynchronize(event_apart));
	sem_init(&query_wanted, 0, 0);
	sem_init(&query_done, 0, 0);
	pthread_create(&thread, NULL, queries_apart, NULL);
	repeat(forks_beside_queries);
	repeat(forks_beside_queries);
	queries_are_over = true;
	sem_post(&query_wanted);
	pthread_join(thread, NULL);
}

/*
 * The host polls a side stream until it has finished, and then has another stream, which nothing
 * orders behind it, read what it made. When the host begins to ask, the side stream may still work
 * on what came before the fork.
 */
static void fork_side_polled(void)
{
	CUdeviceptr z = words_of(31);
	CUstream elsewhere;
	CUevent back;

	set_up_plainly();
	elsewhere = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuEventCreate(&back, CU_EVENT_DISABLE_TIMING));
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		fork_all(7);
		join_all();
		hazard_springs(iteration);
		if (iteration % 2 == 0)
			continue;
		while (cuStreamQuery(sides[1]) == CUDA_ERROR_NOT_READY)
			continue;
		launch(hazard_mix, z, side_x[1], 5, elsewhere);
		CHECK(cuEventRecord(back, elsewhere));
		CHECK(cuStreamWaitEvent(sides[1], back, 0));
	}
	hazard_print("x", hazard_x);
	hazard_print("z", z);
}

const struct hazard fork_hazards[] = {
	{"fork_side_polled", fork_side_polled},
	{"fork_waited_for_by_context", fork_waited_for_by_context},
	{"fork_waited_for_by_green", fork_waited_for_by_green},
	{"fork_beside_call", fork_beside_call},
	{"fork_event_reborn", fork_event_reborn},
	{"fork_beside_queries", fork_beside_queries},
	{"fork_join", fork_join},
	{"fork_join_blocking", fork_join_blocking},
	{"fork_values", fork_values},
	{"fork_in_fork", fork_in_fork},
	{"fork_primary_released", fork_primary_released},
	{"fork_split_beside", fork_split_beside},
	{"fork_priorities", fork_priorities},
	{"fork_from_wait", fork_from_wait},
	{"fork_from_less", fork_from_less},
	{"fork_from_busy", fork_from_busy},
	{"fork_from_context", fork_from_context},
	{"fork_from_vain", fork_from_vain},
	{"ring", ring},
	{"ring_waits_for_less", ring_waits_for_less},
	{"ring_goes_on", ring_goes_on},
	{"ring_recorded_elsewhere", ring_recorded_elsewhere},
	{"ring_recorded_behind_wait", ring_recorded_behind_wait},
	{"ring_varies", ring_varies},
	{"ring_waited_for", ring_waited_for},
	{"pipeline_goes_on", pipeline_goes_on},
	{"fork_behind_ring", fork_behind_ring},
	{"fork_attributes", fork_attributes},
	{"fork_member_outside", fork_member_outside},
	{"fork_unjoined", fork_unjoined},
	{"fork_member_goes_on", fork_member_goes_on},
	{"fork_other_calls", fork_other_calls},
	{"fork_captured", fork_captured},
	{"fork_legacy", fork_legacy},
	{"fork_blocking_origin", fork_blocking_origin},
	{"fork_blocking_sides", fork_blocking_sides},
	{"fork_events_looked_at", fork_events_looked_at},
	{"fork_waited_for", fork_waited_for},
	{"fork_recorded_elsewhere", fork_recorded_elsewhere},
	{"fork_event_destroyed", fork_event_destroyed},
	{"fork_event_destroyed_in_work", fork_event_destroyed_in_work},
	{"fork_stream_destroyed", fork_stream_destroyed},
	{"fork_origin_destroyed", fork_origin_destroyed},
	{"fork_spin", fork_spin},
	{"fork_spin_late", fork_spin_late},
	{"fork_event_before_spin", fork_event_before_spin},
	{"fork_side_before_legacy", fork_side_before_legacy},
	{"fork_hold", fork_hold},
	{"fork_threads_in_turn", fork_threads_in_turn},
	{"fork_waited_for_by_thread", fork_waited_for_by_thread},
	{NULL, NULL},
};
