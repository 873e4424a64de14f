/*
 * The driver keeps a thread in a launch: as many are pending on the stream as there may be
 * (SIM_PENDING), and the first waits for the host; or launches take long. What has nothing to do
 * with that launch goes on, and nothing is said to have finished that is still to be launched.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hazard.h"

#define PARTLY 5u
#define FORKED \
	4u /* fewer launches than the first graph of a visit takes, and they end with a join */
#define UNJOINED 3u /* launches that leave a fork in its midst, so that they are deferred */
#define REJOINED 6u /* launches that end behind a join */
#define FORK 2u     /* launches that go into the stream before it forks */
#define LONG 20u    /* launches of several graphs */
#define PENDING 8u  /* as SIM_PENDING says */

static CUcontext elsewhere;
static CUstream stream;
static CUstream forked; /* where half of the launches go, or NULL */
static CUevent fork_event, join_event;
static CUstream beside; /* forked to before the first launch, and joined after the last, or NULL */
static CUevent beside_fork, beside_join;
static CUfunction await, publish;
static CUdeviceptr flag, ignored, worked_on;
static volatile uint32_t *flag_word, *worked_on_word;
static sem_t may_launch, has_launched, has_forked;
static unsigned partly, whole; /* so many launches, and then the others */
static bool halts;             /* between these and those */
static uint32_t round_now;
static bool ended;

static bool fills;         /* the stream, before each launch, */
static unsigned left_free; /* but for so many places, */
#define CROWD 80u
static CUevent crowd[CROWD]; /* more than a lane's first table has room for; recorded in some
                              * rounds, if there are any */
static bool looked_at;       /* they are what comes last before it halts */
static CUevent
	*named; /* recorded before the launches, in rounds in which it does not halt, or NULL */
static unsigned refused; /* such records */
static CUevent
	behind_fill; /* or if this is one, the other stream, and the stream comes behind that */

static void continue_on(CUstream next, CUstream before, CUevent event)
{
	CHECK(cuEventRecord(event, before));
	CHECK(cuStreamWaitEvent(next, event, 0));
}

static void launch_alone(CUfunction function, CUdeviceptr x, uint32_t value, CUstream into)
{
	CHECK(cuLaunchCooperativeKernel(function, 1, 1, 1, 1, 1, 1, 0, into, (void *[]){&x, &value}));
}

/* Ops of no lane's. The first ends when the host says so, and there is no room behind them, or
 * little. */
static void fill(uint32_t value)
{
	CUstream into = behind_fill != NULL ? forked : stream;

	if (!fills)
		return;
	launch_alone(await, flag, value, into);
	for (unsigned i = 1; i < PENDING - left_free; i++)
		launch_alone(publish, ignored, value, into);
	if (behind_fill == NULL)
		return;
	continue_on(stream, forked, behind_fill);
	launch_alone(publish, ignored, value, stream); /* what comes next is not one with the event */
}

/* Of every four launches two go to the forked stream, each behind the one before. */
static void launch_some(unsigned first, unsigned last)
{
	for (unsigned i = first; i < last; i++) {
		bool there = forked != NULL && i % 4 >= 2;

		if (beside != NULL && i == 0) {
			continue_on(beside, stream, beside_fork);
			hazard_launch(hazard_mix, ignored, 1, beside);
		}
		if (forked != NULL && i % 4 == 2)
			continue_on(forked, stream, fork_event);
		hazard_launch(i % 2 == 0 ? hazard_mix : hazard_turn, worked_on, i * 7 + 1,
		              there ? forked : stream);
		if (left_free > 0 && halts && i == 2)
			sem_post(&has_forked);
		if (forked != NULL && i % 4 == 3)
			continue_on(stream, forked, join_event);
		if (beside != NULL && i == whole - 1)
			continue_on(stream, beside, beside_join);
	}
}

static pthread_mutex_t crowd_used = PTHREAD_MUTEX_INITIALIZER;

static void use_crowd(void)
{
	pthread_mutex_lock(&crowd_used);
	for (unsigned i = 0; i < CROWD; i++)
		CHECK(cuEventRecord(crowd[i], stream));
	pthread_mutex_unlock(&crowd_used);
}

static void *launch_when_told(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	for (sem_wait(&may_launch); !ended; sem_wait(&may_launch)) {
		if (crowd[0] != NULL && round_now % 64 == 0)
			use_crowd();
		if (named != NULL && !halts)
			refused += cuEventRecord(*named, stream) != CUDA_SUCCESS;
		fill(round_now);
		launch_some(0, partly);
		if (halts && looked_at)
			use_crowd();
		if (halts) {
			sem_post(&has_launched);
			sem_wait(&may_launch);
		}
		launch_some(partly, whole);
		CHECK(cuStreamSynchronize(stream));
		sem_post(&has_launched);
	}
	return NULL;
}

static void tell(sem_t *may, sem_t *has)
{
	sem_post(may);
	sem_wait(has);
}

/* For others to get into the driver. If they do not, this round is an ordinary one. */
static void give_way(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

static volatile uint32_t *mapped(CUdeviceptr *device)
{
	void *memory;

	CHECK(cuMemHostAlloc(&memory, WORDS * 4, CU_MEMHOSTALLOC_DEVICEMAP));
	CHECK(cuMemHostGetDevicePointer(device, memory, 0));
	memset(memory, 0, WORDS * 4);
	return memory;
}

static void begin(unsigned first, unsigned all, pthread_t *thread)
{
	partly = first;
	whole = all;
	await = hazard_function("await");
	publish = hazard_function("publish");
	flag_word = mapped(&flag);
	mapped(&ignored);
	worked_on_word = mapped(&worked_on);
	if (stream == NULL)
		stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	pthread_create(thread, NULL, launch_when_told, NULL);
}

static void end(pthread_t thread)
{
	ended = true;
	sem_post(&may_launch);
	pthread_join(thread, NULL);
	printf("worked on %08x\n", (unsigned)*worked_on_word);
}

/* The other thread launches, in parts, behind a kernel that waits for the host. */
static void block(uint32_t value)
{
	round_now = value;
	halts = true;
	sem_post(&may_launch);
	give_way();
}

static void unblock(uint32_t value)
{
	*flag_word = value;
	sem_wait(&has_launched);
	tell(&may_launch, &has_launched);
}

/* It launches behind one that waits for nothing. */
static void go_on(uint32_t value, bool in_parts)
{
	halts = in_parts;
	*flag_word = round_now = value;
	tell(&may_launch, &has_launched);
}

static uint32_t chained(uint32_t word, unsigned first, unsigned last)
{
	for (unsigned i = first; i < last; i++) {
		uint32_t argument = i * 7 + 1;

		word = i % 2 == 0 ? hazard_mixed(word, 5, argument)
		                  : (word * 22695477u + argument) ^ (word << 5) ^ (5u << 1);
	}
	return word;
}

/* What is asked: whether a stream has finished, or what an event has recorded. */
static CUstream asked_stream;
static CUevent asked_event;

static CUresult ask(void)
{
	return asked_event != NULL ? cuEventQuery(asked_event) : cuStreamQuery(asked_stream);
}

/* If it has finished, all of it is there. */
static void expect(uint32_t expected)
{
	if (ask() == CUDA_SUCCESS && *worked_on_word != expected)
		printf("it is said to have finished, and has not\n");
}

/* The same where the thread that launches may be kept: if it is, nobody knows how far it is. */
static void expect_of_launched(uint32_t expected)
{
	if (sem_trywait(&has_launched) != 0) {
		ask();
		return;
	}
	expect(expected);
	sem_post(&has_launched);
}

static void ask_while_blocked(unsigned first)
{
	uint32_t expected = 0;
	pthread_t thread;

	fills = true;
	begin(first, 12, &thread);
	for (unsigned iteration = 0; iteration < ITERATIONS / 2; iteration++) {
		if (hazard_springs(iteration)) {
			block(iteration);
			expect_of_launched(chained(expected, 0, first));
			unblock(iteration);
		} else {
			go_on(iteration, false);
		}
		expected = chained(expected, 0, 12);
	}
	end(thread);
}

/* The stream that it launches into is asked about. */
static void asked_while_blocked(void)
{
	stream = asked_stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	ask_while_blocked(PARTLY);
}

/* The legacy default stream, which comes after the one that it launches into. */
static void legacy_asked_while_blocked(void)
{
	stream = hazard_stream(CU_STREAM_DEFAULT);
	asked_stream = CU_STREAM_LEGACY;
	ask_while_blocked(PARTLY);
}

static void fork_streams(void)
{
	stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	forked = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuEventCreate(&fork_event, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventCreate(&join_event, CU_EVENT_DISABLE_TIMING));
}

/* The other one of two streams that fork and join. */
static void fork_asked_while_blocked(void)
{
	fork_streams();
	asked_stream = forked;
	ask_while_blocked(FORKED);
}

/*
 * The other one is full, and the first comes behind it: a graph goes into the first, and the
 * other's pending wait for its branch would have to wait for room there.
 */
static void pending_wait_asked_while_blocked(void)
{
	fork_streams();
	CHECK(cuEventCreate(&behind_fill, CU_EVENT_DISABLE_TIMING));
	asked_stream = forked;
	ask_while_blocked(12);
}

/* The event that joins them. */
static void join_asked_while_blocked(void)
{
	fork_streams();
	asked_event = join_event;
	ask_while_blocked(FORKED);
}

/*
 * The thread that launches has gone, with a part of its launches deferred, and nothing of the
 * stream's is pending in the driver. A launch takes long (SIM_SLOW), so that what is deferred is
 * issued only in part when the question is answered.
 */
static void ask_while_issued(unsigned step)
{
	uint32_t expected = 0;
	pthread_t thread;

	begin(step, LONG, &thread);
	for (unsigned iteration = 0; iteration < 260; iteration++) {
		if (iteration == 60)
			hazard_await_graphs();
		halts =
			iteration > 60 && iteration % 5 == 0; /* seldom enough for traces not to end there */
		partly = (iteration / 5 % (LONG / step - 1) + 1) * step;
		tell(&may_launch, &has_launched);
		if (halts) {
			expect(chained(expected, 0, partly));
			tell(&may_launch, &has_launched);
		}
		expected = chained(expected, 0, LONG);
	}
	end(thread);
}

static void asked_while_issued(void)
{
	stream = asked_stream = hazard_stream(CU_STREAM_NON_BLOCKING);
	ask_while_issued(1);
}

static void legacy_asked_while_issued(void)
{
	stream = hazard_stream(CU_STREAM_DEFAULT);
	asked_stream = CU_STREAM_LEGACY;
	ask_while_issued(1);
}

/* No graph ends where a fork is open. Else each join may be the end of one, if the program is slow,
 * and nothing deferred there. */
static void fork_streams_in_a_fork(void)
{
	fork_streams();
	beside = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuEventCreate(&beside_fork, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventCreate(&beside_join, CU_EVENT_DISABLE_TIMING));
}

/* The one that is forked to: the lane of both is the other's. */
static void fork_asked_while_issued(void)
{
	fork_streams_in_a_fork();
	asked_stream = forked;
	ask_while_issued(FORKED);
}

/* The one that forks. */
static void origin_asked_while_issued(void)
{
	fork_streams_in_a_fork();
	asked_stream = stream;
	ask_while_issued(FORKED);
}

static void join_asked_while_issued(void)
{
	fork_streams_in_a_fork();
	asked_event = join_event;
	ask_while_issued(FORKED);
}

/* Launches into another context; before the last `late` of them the host waits for the others to
 * have written. */
static void launch_and_wait(CUfunction mix, CUdeviceptr x, CUdeviceptr y, volatile uint32_t *words,
                            unsigned count, unsigned late, uint32_t *expected, CUstream other)
{
	struct timespec begun, now;

	clock_gettime(CLOCK_MONOTONIC, &begun);
	for (unsigned i = 0; i < count; i++) {
		CHECK(cuLaunchKernel(mix, 1, 1, 1, WORDS, 1, 1, 0, other, (void *[]){&x, &y, &i}, NULL));
		*expected = hazard_mixed(*expected, 5, i);
		while (i + 1 == count - late && words[WORDS - 1] != *expected) {
			clock_gettime(CLOCK_MONOTONIC, &now);
			if (now.tv_sec > begun.tv_sec + 20) {
				fprintf(stderr, "what was launched beside is not executed\n");
				exit(1);
			}
		}
	}
}

/* What is deferred on a stream of another context is issued within the hold limit. */
static void hold_beside(unsigned first, unsigned all, unsigned count, unsigned late,
                        unsigned iterations, unsigned pause_ms)
{
	CUfunction mix;
	CUmodule module;
	CUdeviceptr x, y;
	volatile uint32_t *words;
	uint32_t expected = 0;
	pthread_t thread;
	CUstream other;

	fills = true;
	begin(first, all, &thread);
	CHECK(cuCtxCreate(&elsewhere, NULL, 0,
	                  1)); /* on a device of its own, so that there are graphs of one op */
	CHECK(cuModuleLoad(&module, hazard_module_path));
	CHECK(cuModuleGetFunction(&mix, module, "mix"));
	other = hazard_stream(CU_STREAM_NON_BLOCKING);
	words = mapped(&x);
	CHECK(cuMemAlloc(&y, WORDS * 4));
	CHECK(cuMemsetD32(y, 5, WORDS));
	CHECK(cuCtxSynchronize());
	for (unsigned iteration = 0; iteration < iterations; iteration++) {
		bool trap = hazard_springs(iteration);

		if (trap) {
			nanosleep(&(struct timespec){.tv_nsec = pause_ms * 1000000L}, NULL);
			block(iteration);
		} else {
			go_on(iteration, false); /* without a pause in which it would be seen to be two */
		}
		launch_and_wait(mix, x, y, words, count, trap ? late : count, &expected, other);
		if (trap)
			unblock(iteration);
		CHECK(cuStreamSynchronize(other));
	}
	printf("words %08x, expected %08x\n", (unsigned)words[0], (unsigned)expected);
	CHECK(cuCtxSetCurrent(hazard_context));
	end(thread);
}

static void hold_beside_blocked(void)
{
	hold_beside(PARTLY, 12, 12, 6, ITERATIONS / 2, 0);
}

/*
 * Of one op each time, so that nothing is deferred but what is left to the launch thread; and
 * when the hold limit's thread sleeps, since nothing was for a while.
 */
static void queued_beside_blocked(void)
{
	hold_beside(1, 1, 1, 0, ITERATIONS / 4, 250);
}

#define DOOMED 40u
static CUstream doomed[DOOMED];
static sem_t may_meddle, has_meddled;

/* Streams that have had an op, and are to end one by one. */
static void make_doomed(CUdeviceptr x)
{
	for (unsigned i = 0; i < DOOMED; i++) {
		doomed[i] = hazard_stream(CU_STREAM_NON_BLOCKING);
		hazard_launch(hazard_mix, x, i, doomed[i]);
		CHECK(cuStreamSynchronize(doomed[i]));
	}
}

/* Launches into a stream of another thread's that forks and joins: its group is split. */
static void *meddle(void *memory)
{
	CUdeviceptr x = (CUdeviceptr)memory;

	CHECK(cuCtxSetCurrent(hazard_context));
	for (sem_wait(&may_meddle); !ended; sem_wait(&may_meddle)) {
		hazard_launch(hazard_mix, x, 3, forked);
		sem_post(&has_meddled);
	}
	return NULL;
}

/* While a thread may be kept by its launches, a stream that has nothing to do with them is
 * destroyed, and then they can go on. */
static void destroy_beside(unsigned first, bool meddles)
{
	pthread_t thread, meddler;
	unsigned count = 0;
	CUdeviceptr x;

	CHECK(cuMemAlloc(&x, WORDS * 4));
	CHECK(cuMemsetD32(x, 1, WORDS));
	CHECK(cuCtxSynchronize());
	fills = true;
	make_doomed(x);
	begin(first, 12, &thread);
	if (meddles)
		pthread_create(&meddler, NULL, meddle, (void *)(uintptr_t)x);
	for (unsigned iteration = 0; iteration < ITERATIONS / 2; iteration++) {
		if (!hazard_springs(iteration) || count == DOOMED) {
			go_on(iteration, false);
			continue;
		}
		block(iteration);
		if (meddles) {
			sem_post(&may_meddle);
			give_way();
		}
		CHECK(cuStreamDestroy(doomed[count++]));
		*flag_word = iteration;
		if (meddles)
			sem_wait(&has_meddled);
		unblock(iteration);
	}
	end(thread);
	if (meddles) {
		sem_post(&may_meddle);
		pthread_join(meddler, NULL);
	}
	hazard_print("x", x);
}

static void destroyed_beside_blocked(void)
{
	destroy_beside(PARTLY, false);
}

/* The thread that has the group split is kept by what is deferred there. */
static void split_beside_blocked(void)
{
	fork_streams();
	destroy_beside(UNJOINED, true);
}

/* ---- calls that do not wait, beside one that is kept ---- */

static CUstream mine, mine_too;
static CUevent own_event, own_join;
static void *unregistered;
static CUdeviceptr own;

static void call_beside(unsigned first, void (*call)(unsigned i))
{
	pthread_t thread;

	CHECK(cuMemAlloc(&own, WORDS * 4));
	CHECK(cuMemsetD32(own, 1, WORDS));
	mine = hazard_stream(CU_STREAM_NON_BLOCKING);
	mine_too = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuEventCreate(&own_event, CU_EVENT_DISABLE_TIMING));
	CHECK(cuEventCreate(&own_join, CU_EVENT_DISABLE_TIMING));
	CHECK(cuCtxSynchronize());
	fills = true;
	begin(first, 12, &thread);
	for (unsigned iteration = 0; iteration < ITERATIONS / 2; iteration++) {
		if (!hazard_springs(iteration)) {
			go_on(iteration, false);
			continue;
		}
		block(iteration);
		call(iteration);
		unblock(iteration);
	}
	end(thread);
	hazard_print("own", own);
}

/* A capture, and beside it launches that are none of it. */
static void capture_some(unsigned i)
{
	CUgraph graph;

	CHECK(cuStreamBeginCapture(mine, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	hazard_launch(hazard_mix, own, i, mine);
	hazard_launch(hazard_turn, own, i, mine_too);
	CHECK(cuStreamEndCapture(mine, &graph));
	CHECK(cuGraphDestroy(graph));
	hazard_launch(hazard_mix, own, i + 1, mine_too);
}

static void captured_beside_blocked(void)
{
	call_beside(PARTLY, capture_some);
}

static void captured_beside_blocked_forks(void)
{
	fork_streams();
	call_beside(UNJOINED, capture_some);
}

/* An event of the other thread's, which does not use it again before it is told. Another one takes
 * its place, and maybe its handle. */
static void replace(CUevent *event)
{
	CHECK(cuEventDestroy(*event));
	if (cuEventDestroy(*event) == CUDA_SUCCESS || cuEventDestroy(NULL) == CUDA_SUCCESS)
		printf("what is no event was destroyed\n");
	CHECK(cuEventCreate(event, CU_EVENT_DISABLE_TIMING));
}

static void replace_join(unsigned i)
{
	replace(&join_event);
}

/* Nothing that is pending names it. By then the other thread's launches are deferred, or whoever
 * issues them is kept, as the hold limit says. */
static void event_destroyed_beside_blocked(void)
{
	fork_streams();
	call_beside(UNJOINED, replace_join);
}

static void replace_fork(unsigned i)
{
	sem_wait(&has_forked);
	give_way(); /* so that what comes next finds no room */
	replace(&fork_event);
}

/* It was recorded, and waited for, just before the stream was full. */
static void event_destroyed_behind_record(void)
{
	left_free = FORK;
	fork_streams();
	call_beside(REJOINED, replace_fork);
}

/*
 * The other thread has launches deferred, which fork. Meanwhile a kernel of this one's faults, and
 * nobody has been told of it when an event of the fork is destroyed: that call is the first that
 * may tell.
 */
static void event_destroyed_in_broken_context(void)
{
	CUfunction fault = hazard_function("fault");
	CUdeviceptr y;
	pthread_t thread;

	fork_streams();
	CHECK(cuMemAlloc(&y, WORDS * 4));
	mine = hazard_stream(CU_STREAM_NON_BLOCKING);
	hazard_launch(fault, y, 1, mine); /* its first launch has everybody's launches issued */
	CHECK(cuCtxSynchronize());
	begin(UNJOINED, 12, &thread);
	for (unsigned iteration = 0; iteration < ITERATIONS / 2; iteration++)
		go_on(iteration, false);
	hazard_settle(mine);
	for (unsigned iteration = 0; iteration < CHAIN; iteration++)
		go_on(iteration, false);
	block(0);
	hazard_launch(fault, y, 0xdead, mine);
	give_way();
	printf("destroyed: %d\n", (int)cuEventDestroy(join_event));
	exit(0); /* what the other thread's calls say is another matter */
}

/* By turns an event ends, of which a capture has just made a node, and again when there is none any
 * more: what has its handle by then is another one, and stays. The other thread records it, and
 * goes on when it is no event any more. */
static void destroy_again(unsigned i)
{
	static bool gone;
	CUgraph graph;

	if (gone) {
		if (cuEventDestroy(own_event) == CUDA_SUCCESS)
			printf("what was no event any more was destroyed\n");
		CHECK(cuEventCreate(&own_event, CU_EVENT_DISABLE_TIMING));
	} else {
		CHECK(cuStreamBeginCapture(mine, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
		CHECK(cuEventRecord(own_event, mine));
		CHECK(cuEventDestroy(own_event));
		if (cuEventDestroy(NULL) == CUDA_SUCCESS)
			printf("what is no event was destroyed in a capture\n");
		CHECK(cuStreamEndCapture(mine, &graph));
		CHECK(cuGraphDestroy(graph));
	}
	gone = !gone;
}

static void make_crowd(void)
{
	for (unsigned i = 0; i < CROWD; i++)
		CHECK(cuEventCreate(&crowd[i], CU_EVENT_DISABLE_TIMING));
}

static void event_destroyed_again_beside_blocked(void)
{
	fork_streams();
	named = &own_event;
	call_beside(UNJOINED, destroy_again);
	/* How many is a matter of time: an event of Reprise's may have the handle meanwhile. */
	printf("records of what is no event were refused: %s\n", refused > 0 ? "yes" : "no");
}

/* ---- events that another thread destroys, beside one that never waits ---- */

#define GIVES 8u /* one in so many iterations: a new event is a change of the sequence */

static CUevent given;
static sem_t may_take, has_taken;

static void *take_events(void *unused)
{
	CHECK(cuCtxSetCurrent(hazard_context));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		sem_wait(&may_take);
		CHECK(cuEventSynchronize(own_event)); /* of a stream that does not fork */
		if (i % GIVES == 0)
			CHECK(cuEventDestroy(given));
		sem_post(&has_taken);
	}
	return NULL;
}

/* How many handles events had: as many as there were at once, if those that ended come back. */
static unsigned handles_had(CUevent event)
{
	static CUevent had[ITERATIONS * 4];
	static unsigned count;
	unsigned i = 0;

	while (i < count && had[i] != event)
		i++;
	had[i] = event;
	return count += i == count;
}

/* The other thread holds nothing, and has recorded them all. If the machine is so slow that it is
 * still at it, this round is an ordinary one: nobody destroys what another thread records. */
static void replace_many(unsigned i)
{
	static unsigned handles;

	if (pthread_mutex_trylock(&crowd_used) != 0)
		return;
	for (unsigned j = 0; j < CROWD; j++) {
		handles = handles_had(crowd[j]);
		CHECK(cuEventDestroy(crowd[j]));
		CHECK(cuEventCreate(&crowd[j], CU_EVENT_DISABLE_TIMING));
	}
	pthread_mutex_unlock(&crowd_used);
	fprintf(stderr, "handles=%u\n", handles);
}

static void events_destroyed_beside_idle(void)
{
	fork_streams();
	make_crowd();
	looked_at = true;
	call_beside(REJOINED, replace_many);
}

/* Each is recorded where the streams fork, and ends while launches are held there. */
static void events_given_away(void)
{
	unsigned handles = 0;
	pthread_t taker;

	fork_streams();
	mine = hazard_stream(CU_STREAM_NON_BLOCKING);
	CHECK(cuEventCreate(&own_event, CU_EVENT_DISABLE_TIMING));
	CHECK(cuMemAlloc(&worked_on, WORDS * 4));
	CHECK(cuMemsetD32(worked_on, 1, WORDS));
	CHECK(cuCtxSynchronize());
	whole = 12;
	pthread_create(&taker, NULL, take_events, NULL);
	for (unsigned i = 0; i < ITERATIONS; i++) {
		if (i % GIVES == 0) {
			CHECK(cuEventCreate(&given, CU_EVENT_DISABLE_TIMING));
			handles = handles_had(given);
			CHECK(cuEventRecord(given, stream));
		}
		CHECK(cuEventRecord(own_event, mine));
		launch_some(0, UNJOINED);
		tell(&may_take, &has_taken);
		launch_some(UNJOINED, whole);
		/* Under some schedules graphs are built in such a wait or never: nothing else here waits.
		 * In the second half nobody does, and events must be forgotten all the same. */
		if (i >= ITERATIONS / 8 && i <= ITERATIONS / 2 && i % (ITERATIONS / 64) == 0)
			hazard_settle(stream);
	}
	pthread_join(taker, NULL);
	fprintf(stderr, "handles=%u\n", handles);
	hazard_print("worked on", worked_on);
}

/* Events that have nothing to do with those that fork and join, and calls that cannot have. */
static void use_events(unsigned i)
{
	hazard_launch(hazard_mix, own, i, mine);
	CHECK(cuEventRecord(own_event, mine));
	CHECK(cuStreamWaitEvent(mine_too, own_event, 0));
	hazard_launch(hazard_turn, own, i, mine_too);
	launch_alone(publish, ignored, i, mine_too);
	CHECK(cuEventRecord(own_join, mine_too));
	CHECK(cuEventSynchronize(own_join));
	CHECK(cuEventDestroy(own_event));
	CHECK(cuEventCreate(&own_event, CU_EVENT_DISABLE_TIMING));
}

/* A wait for a stream of its own thread's. */
static void wait_for_own(unsigned i)
{
	hazard_launch(hazard_mix, own, i, mine);
	CHECK(cuStreamSynchronize(mine));
}

static void waited_beside_blocked(void)
{
	fork_streams();
	call_beside(UNJOINED, wait_for_own);
}

static void events_beside_blocked(void)
{
	fork_streams();
	call_beside(UNJOINED, use_events);
}

/* The other thread uses so many events that its lane's table has grown. */
static void crowd_of_events_beside_blocked(void)
{
	fork_streams();
	make_crowd();
	call_beside(UNJOINED, use_events);
}

static void register_memory(unsigned i)
{
	CHECK(cuMemHostRegister((char *)unregistered + (i % 64) * 4096, 4096, 0));
}

/* What was registered stays so: to take it back waits. */
static void registered_beside_blocked(void)
{
	unregistered = aligned_alloc(4096, 64 * 4096);
	call_beside(PARTLY, register_memory);
}

static CUfunction adjusted;
static CUkernel adjusted_too;

static void set_attributes(unsigned i)
{
	CHECK(cuFuncSetAttribute(adjusted, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
	                         1024 + (int)i));
	CHECK(cuFuncSetCacheConfig(adjusted,
	                           i % 2 == 0 ? CU_FUNC_CACHE_PREFER_L1 : CU_FUNC_CACHE_PREFER_SHARED));
	CHECK(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024 + (int)i,
	                           adjusted_too, hazard_device));
}

/* Of functions that nobody launches there. */
static void functions_set_beside_blocked(void)
{
	adjusted = hazard_function("fold");
	adjusted_too = hazard_kernel("tally");
	call_beside(PARTLY, set_attributes);
}

static void functions_set_beside_blocked_forks(void)
{
	fork_streams();
	adjusted = hazard_function("fold");
	adjusted_too = hazard_kernel("tally");
	call_beside(UNJOINED, set_attributes);
}

const struct hazard blocked_hazards[] = {
	{"functions_set_beside_blocked", functions_set_beside_blocked},
	{"functions_set_beside_blocked_forks", functions_set_beside_blocked_forks},
	{"captured_beside_blocked", captured_beside_blocked},
	{"captured_beside_blocked_forks", captured_beside_blocked_forks},
	{"waited_beside_blocked", waited_beside_blocked},
	{"events_beside_blocked", events_beside_blocked},
	{"crowd_of_events_beside_blocked", crowd_of_events_beside_blocked},
	{"registered_beside_blocked", registered_beside_blocked},
	{"destroyed_beside_blocked", destroyed_beside_blocked},
	{"event_destroyed_beside_blocked", event_destroyed_beside_blocked},
	{"event_destroyed_beside_issued", event_destroyed_beside_blocked},
	{"event_destroyed_behind_record", event_destroyed_behind_record},
	{"event_destroyed_again_beside_blocked", event_destroyed_again_beside_blocked},
	{"event_destroyed_in_broken_context", event_destroyed_in_broken_context},
	{"events_given_away", events_given_away},
	{"events_destroyed_beside_idle", events_destroyed_beside_idle},
	{"split_beside_blocked", split_beside_blocked},
	{"asked_while_blocked", asked_while_blocked},
	{"legacy_asked_while_blocked", legacy_asked_while_blocked},
	{"fork_asked_while_blocked", fork_asked_while_blocked},
	{"pending_wait_asked_while_blocked", pending_wait_asked_while_blocked},
	{"join_asked_while_blocked", join_asked_while_blocked},
	{"asked_while_issued", asked_while_issued},
	{"legacy_asked_while_issued", legacy_asked_while_issued},
	{"fork_asked_while_issued", fork_asked_while_issued},
	{"origin_asked_while_issued", origin_asked_while_issued},
	{"join_asked_while_issued", join_asked_while_issued},
	{"hold_beside_blocked", hold_beside_blocked},
	{"queued_beside_blocked", queued_beside_blocked},
	{NULL, NULL},
};
