/*
 * Streams of which none comes before all others. They begin side by side behind the host's wait, or
 * wait for each other's last step. Reprise may launch one graph for all beside them.
 */
#include "hazard.h"

enum { PARTS = 3, STEPS = 4000 };

/* Of each part: the array of this step and that of the last, by turns. */
static struct mirror arrays[2][PARTS];
static cudaStream_t parts[PARTS], looker;
static cudaEvent_t done[2][PARTS];

static void set_up(void)
{
	CHECK(cudaStreamCreateWithFlags(&looker, cudaStreamNonBlocking));
	for (unsigned part = 0; part < PARTS; part++) {
		CHECK(cudaStreamCreateWithFlags(&parts[part], cudaStreamNonBlocking));
		for (unsigned i = 0; i < 2; i++) {
			mirror_init(&arrays[i][part]);
			CHECK(cudaEventCreateWithFlags(&done[i][part], cudaEventDisableTiming));
		}
	}
}

static void verify_all(unsigned iteration)
{
	for (unsigned i = 0; i < 2 * PARTS; i++)
		mirror_verify(&arrays[i % 2][i / 2], iteration);
}

/* The host has waited for the part's stream alone, and looks at what is there. */
static void look_at(const struct mirror *mirror, unsigned iteration)
{
	uint32_t words[WORDS];

	CHECK(cudaMemcpyAsync(words, mirror->device, sizeof words, cudaMemcpyDeviceToHost, looker));
	CHECK(cudaStreamSynchronize(looker));
	for (unsigned i = 0; i < WORDS; i++)
		EXPECT(words[i] == mirror->host[i], "in iteration %u: word %u is %08x, not %08x", iteration,
		       i, words[i], mirror->host[i]);
}

/* ---- side by side ---- */

/* Each part works; the first takes what the others have made. */
static void begin_side_by_side(unsigned argument)
{
	for (unsigned part = 0; part < PARTS; part++) {
		for (unsigned k = 0; k < 6; k++)
			mirror_mix(&arrays[0][part], k == 3 ? argument : k, parts[part]);
		if (part > 0)
			CHECK(cudaEventRecord(done[0][part], parts[part]));
	}
	for (unsigned part = 1; part < PARTS; part++)
		CHECK(cudaStreamWaitEvent(parts[0], done[0][part], 0));
	for (unsigned part = 1; part < PARTS; part++)
		mirror_absorb(&arrays[0][0], arrays[0][part].device, arrays[0][part].host, parts[0]);
}

static void fork_from_wait(void)
{
	set_up();
	for (unsigned i = 0; i < STEPS; i++) {
		begin_side_by_side(trap_at(i) ? i : 7);
		CHECK(cudaStreamSynchronize(parts[0]));
		if (trap_at(i))
			look_at(&arrays[0][i % PARTS], i);
	}
	verify_all(STEPS);
}

/* A part is still waiting for the host when the host has waited for the first: the next step of the
 * others may not come behind it. */
static void fork_from_busy(void)
{
	uint32_t *flag = mapped_words(), *late = mapped_words();

	set_up();
	launch(kernel_wait, 1, 1, (void *[]){&flag, &(uint32_t){0}, &late}, parts[1]);
	CHECK(cudaDeviceSynchronize());
	for (uint32_t i = 1; i < STEPS; i++) {
		begin_side_by_side(7);
		if (trap_at(i))
			launch(kernel_wait, 1, 1, (void *[]){&flag, &i, &late}, parts[1]);
		CHECK(cudaStreamSynchronize(parts[0]));
		if (!trap_at(i))
			continue;
		mirror_mix(&arrays[0][0], i, parts[0]);
		mirror_mix(&arrays[0][2], i, parts[2]);
		CHECK(cudaStreamSynchronize(parts[0]));
		CHECK(cudaStreamSynchronize(parts[2]));
		look_at(&arrays[0][0], i);
		look_at(&arrays[0][2], i);
		*(volatile uint32_t *)flag = i;
		EXPECT(!*late, "iteration %u: the kernel gave up waiting for the host", i);
	}
	verify_all(STEPS);
}

/* ---- each other's last step ---- */

static void step(unsigned part, unsigned i, unsigned argument)
{
	struct mirror *own = &arrays[i % 2][part];

	for (unsigned other = 0; other < PARTS; other++)
		if (other != part)
			CHECK(cudaStreamWaitEvent(parts[part], done[(i + 1) % 2][other], 0));
	mirror_mix(own, argument, parts[part]);
	for (unsigned other = 0; other < PARTS; other++)
		mirror_absorb(own, arrays[(i + 1) % 2][other].device, arrays[(i + 1) % 2][other].host,
		              parts[part]);
	CHECK(cudaEventRecord(done[i % 2][part], parts[part]));
}

static void wait_for_all(void)
{
	for (unsigned part = 0; part < PARTS; part++)
		CHECK(cudaStreamSynchronize(parts[part]));
}

static void ring(void)
{
	set_up();
	for (unsigned i = 0; i < STEPS; i++) {
		for (unsigned part = 0; part < PARTS; part++)
			step(part, i, trap_at(i) ? i : 7);
		if (i % 40 == 0)
			wait_for_all();
	}
	verify_all(STEPS);
}

/* The host waits for one part's stream, and looks at what it made. */
static void ring_waited_for(void)
{
	set_up();
	for (unsigned i = 0; i < STEPS; i++) {
		for (unsigned part = 0; part < PARTS; part++)
			step(part, i, 7);
		if (trap_at(i)) {
			CHECK(cudaStreamSynchronize(parts[i % PARTS]));
			look_at(&arrays[i % 2][i % PARTS], i);
		}
		if (i % 40 == 0)
			wait_for_all();
	}
	verify_all(STEPS);
}

/* A part goes on behind its record, and what it does then waits for the host. The others take the
 * next step all the same, and the host sees it before it lets that work go on. */
static void ring_goes_on(void)
{
	uint32_t *flag = mapped_words(), *late = mapped_words();

	set_up();
	launch(kernel_wait, 1, 1, (void *[]){&flag, &(uint32_t){0}, &late}, parts[1]);
	CHECK(cudaDeviceSynchronize());
	for (uint32_t i = 1; i < STEPS; i++) {
		for (unsigned part = 0; part < PARTS; part++)
			step(part, i, 7);
		if (trap_at(i)) {
			launch(kernel_wait, 1, 1, (void *[]){&flag, &i, &late}, parts[1]);
			i++;
			step(0, i, 7);
			step(2, i, 7);
			CHECK(cudaStreamSynchronize(parts[0]));
			look_at(&arrays[i % 2][0], i);
			CHECK(cudaStreamSynchronize(parts[2]));
			look_at(&arrays[i % 2][2], i);
			*(volatile uint32_t *)flag = i;
			step(1, i, 7);
			EXPECT(!*late, "iteration %u: the kernel gave up waiting for the host", i);
		}
		if (i % 40 == 0)
			wait_for_all();
	}
	verify_all(STEPS);
}

/* Of two streams the first waits for the second's last step, and the second for the first's. The
 * second goes on behind its record, and waits for the host then. */
static void pipeline_goes_on(void)
{
	uint32_t *flag = mapped_words(), *late = mapped_words();
	struct mirror *first = &arrays[0][0], *second = &arrays[0][1];

	set_up();
	launch(kernel_wait, 1, 1, (void *[]){&flag, &(uint32_t){0}, &late}, parts[1]);
	CHECK(cudaDeviceSynchronize());
	for (uint32_t i = 1; i < STEPS; i++) {
		CHECK(cudaStreamWaitEvent(parts[0], done[0][1], 0));
		for (unsigned k = 0; k < 5; k++)
			mirror_mix(first, k, parts[0]);
		CHECK(cudaEventRecord(done[0][0], parts[0]));
		if (trap_at(i)) {
			CHECK(cudaStreamSynchronize(parts[0]));
			look_at(first, i);
			*(volatile uint32_t *)flag = i;
		}
		CHECK(cudaStreamWaitEvent(parts[1], done[0][0], 0));
		mirror_absorb(second, first->device, first->host, parts[1]);
		for (unsigned k = 0; k < 5; k++)
			mirror_mix(second, k, parts[1]);
		CHECK(cudaEventRecord(done[0][1], parts[1]));
		if (trap_at(i + 1)) {
			uint32_t next = i + 1;

			launch(kernel_wait, 1, 1, (void *[]){&flag, &next, &late}, parts[1]);
		}
		if (i % 40 == 0 && !trap_at(i + 1))
			wait_for_all();
		EXPECT(!*late, "iteration %u: the kernel gave up waiting for the host", i);
	}
	*(volatile uint32_t *)flag = STEPS;
	verify_all(STEPS);
}

const struct hazard beside_hazards[] = {
	{"fork_from_wait", fork_from_wait},
	{"fork_from_busy", fork_from_busy},
	{"ring", ring},
	{"ring_waited_for", ring_waited_for},
	{"ring_goes_on", ring_goes_on},
	{"pipeline_goes_on", pipeline_goes_on},
	{NULL, NULL},
};
