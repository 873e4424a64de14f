/* What a thread does on streams that stay. */
#include "soak.h"

#include <time.h>

enum {
	SEQUENCE_MOST = 40,
	SEQUENCES = 4, /* that a stream comes back to */
	ODD = 97,      /* one iteration in so many is another */
};

unsigned soak_random(uint64_t *random, unsigned below)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return (unsigned)((*random >> 11) % below);
}

/* Rarely, and then mostly short: up to a second. */
void soak_pause(uint64_t *random)
{
	static const unsigned longest_us[] = {50, 500, 5000, 5000, 50000, 1000000};
	unsigned us;

	if (soak_random(random, 400) > 0)
		return;
	us = soak_random(random, longest_us[soak_random(random, 6)]) + 1;
	nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000L}, NULL);
}

/* Kernels are most of what programs issue. */
static enum soak_op kind(uint64_t *random)
{
	unsigned any = soak_random(random, 24);

	return any < SOAK_OPS ? (enum soak_op)any : any % 2 ? SOAK_MIX : SOAK_TURN;
}

/* The sequence of a number, the same each time. */
void soak_repeat(struct soak_stream *stream, const struct soak_module *module, uint64_t *random,
                 unsigned times)
{
	uint64_t sequence = UINT64_C(0x9e3779b97f4a7c15) * (1 + soak_random(random, SEQUENCES));
	unsigned length = 3 + soak_random(&sequence, SEQUENCE_MOST - 3),
			 changing = soak_random(&sequence, 2 * SEQUENCE_MOST),
			 wait_after = 1 + soak_random(&sequence, 4);
	enum soak_op ops[SEQUENCE_MOST];

	for (unsigned i = 0; i < length; i++)
		ops[i] = kind(&sequence);
	for (unsigned k = 0; k < times && !soak_hurries(); k++) {
		for (unsigned i = 0; i < length; i++)
			soak_issue(stream, module, ops[i], i == changing ? k : i);
		if (soak_random(random, ODD) == 0)
			soak_issue(stream, module, kind(random), soak_random(random, 1000));
		if (k % wait_after == 0)
			soak_wait(stream, random);
		soak_pause(random);
	}
}

/* Nothing comes again. */
static void do_random(struct soak_stream *stream, uint64_t *random)
{
	for (unsigned i = 0; i < 300 && !soak_hurries(); i++) {
		soak_issue(stream, &soak.module, kind(random), soak_random(random, 1u << 30));
		if (soak_random(random, 30) == 0)
			soak_wait(stream, random);
	}
}

static void waits_for(struct soak_stream *stream, struct soak_stream *other, CUevent event)
{
	CHECK(cuEventRecord(event, other->stream));
	CHECK(cuStreamWaitEvent(stream->stream, event, 0));
	stream->ops++;
	other->ops++;
}

static void absorb(struct soak_stream *stream, const struct soak_stream *other, unsigned value)
{
	soak_launch(stream, soak.module.mix, false, other->x, other->mirror_x, value);
}

/* The first stream forks to the second and the third, and they join it again. */
static void do_forks(struct soak_thread *thread, unsigned times)
{
	struct soak_stream *a = &thread->own[0], *b = &thread->own[1], *c = &thread->own[2];
	unsigned length = 2 + soak_random(&thread->random, 6);

	for (unsigned k = 0; k < times && !soak_hurries(); k++) {
		for (unsigned i = 0; i < length; i++)
			soak_issue(a, &soak.module, i % 2 ? SOAK_TURN : SOAK_MIX, i);
		CHECK(cuEventRecord(thread->events[0], a->stream));
		CHECK(cuStreamWaitEvent(b->stream, thread->events[0], 0));
		CHECK(cuStreamWaitEvent(c->stream, thread->events[0], 0));
		absorb(b, a, 1);
		absorb(c, a, 2);
		for (unsigned i = 0; i < length; i++) {
			soak_issue(b, &soak.module, SOAK_MIX, i);
			soak_issue(c, &soak.module, SOAK_TURN, i);
		}
		waits_for(a, b, thread->events[1]);
		waits_for(a, c, thread->events[2]);
		absorb(a, b, 3);
		absorb(a, c, k % 50 == 49 ? k : 4);
		if (k % 3 == 2)
			soak_wait(a, &thread->random);
		soak_pause(&thread->random);
	}
	soak_wait(a, &thread->random);
	soak_wait(b, &thread->random);
	soak_wait(c, &thread->random);
}

static struct soak_stream *take_shared(struct soak_thread *thread)
{
	struct soak_stream *shared = &soak.shared[soak_random(&thread->random, soak.shared_count)];

	pthread_mutex_lock(&shared->lock);
	return shared;
}

/* Threads by turns on one stream. */
static void do_shared(struct soak_thread *thread, unsigned times)
{
	for (unsigned k = 0; k < times && !soak_hurries(); k++) {
		struct soak_stream *shared = take_shared(thread);

		for (unsigned i = 0; i < 8; i++)
			soak_issue(shared, &soak.module, i % 2 ? SOAK_TURN : SOAK_MIX, i);
		if (k % 4 == 0)
			soak_wait(shared, &thread->random);
		pthread_mutex_unlock(&shared->lock);
		soak_pause(&thread->random);
	}
}

/* A shared stream reads what an own one wrote, which goes on when that is done. */
static void do_handing(struct soak_thread *thread, unsigned times)
{
	struct soak_stream *own = &thread->own[soak_random(&thread->random, 3)];

	for (unsigned k = 0; k < times && !soak_hurries(); k++) {
		struct soak_stream *shared = take_shared(thread);

		for (unsigned i = 0; i < 4; i++)
			soak_issue(own, &soak.module, SOAK_MIX, i);
		waits_for(shared, own, thread->events[0]);
		absorb(shared, own, 5);
		waits_for(own, shared, thread->events[1]);
		soak_issue(own, &soak.module, SOAK_TURN, k % 20 == 19 ? k : 6);
		pthread_mutex_unlock(&shared->lock);
		if (k % 5 == 0)
			soak_wait(own, &thread->random);
	}
	soak_wait(own, &thread->random);
}

void soak_do_body(struct soak_thread *thread)
{
	uint64_t *random = &thread->random;
	struct soak_stream *own = &thread->own[soak_random(random, 3)];

	switch (soak_random(random, 8)) {
	case 0:
		do_random(own, random);
		break;
	case 1:
	case 2:
		do_forks(thread, 20 + soak_random(random, 100));
		break;
	case 3:
		do_shared(thread, 10 + soak_random(random, 30));
		break;
	case 4:
		do_handing(thread, 10 + soak_random(random, 30));
		break;
	default:
		soak_repeat(own, &soak.module, random, 50 + soak_random(random, 400));
	}
	soak_pause(random);
}
