/*
 * What the parts of soak share: a stream with the memory that it works on, and what that memory has
 * to hold, computed on the host as the calls are made. The arithmetic is such that a lost, doubled,
 * reordered or stale op shows.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../driver.h"

enum {
	SOAK_WORDS = 64,
	SOAK_BYTES = SOAK_WORDS * sizeof(unsigned),
	SOAK_NOTES = 48, /* host functions between two waits: a stream has room for some dozens */
	SOAK_OWN = 3,    /* streams of a thread: the last comes and goes */
};

/* Of one context. */
struct soak_module {
	CUmodule module;
	CUfunction mix, turn;
	CUdeviceptr pages; /* the module's variable */
};

struct soak_stream;

struct soak_note {
	struct soak_stream *stream;
	unsigned value;
};

/* Whoever uses it has it for itself: a shared one by its lock. */
struct soak_stream {
	pthread_mutex_t lock;
	CUstream stream;
	CUdeviceptr x, y;
	unsigned *staged, *landed; /* pinned: copied to y; where x is copied to */
	unsigned mirror_x[SOAK_WORDS], mirror_y[SOAK_WORDS], mirror_landed[SOAK_WORDS];
	struct soak_note notes[SOAK_NOTES]; /* of the host functions since the last wait */
	unsigned note_count;
	unsigned noted, mirror_noted; /* of all host functions that ran; that were given */
	unsigned ops;                 /* since the last wait */
};

/* The kinds of ops. */
enum soak_op {
	SOAK_MIX,
	SOAK_TURN,
	SOAK_SET,
	SOAK_SET_BYTES,
	SOAK_MOVE,    /* x to y */
	SOAK_STAGE,   /* from pinned memory */
	SOAK_SEND,    /* from the thread's stack */
	SOAK_LAND,    /* to pinned memory */
	SOAK_ORDERED, /* memory from the stream's pool, used and given back */
	SOAK_NOTE,    /* a host function */
	SOAK_OPS
};

struct soak_thread {
	pthread_t thread;
	unsigned number;
	uint64_t random;
	CUevent events[4];
	struct soak_stream own[SOAK_OWN];
};

/* The whole run. */
extern struct soak {
	const char *path; /* the module's */
	CUdevice device;
	CUcontext context;
	struct soak_module module;
	struct soak_stream *shared;
	unsigned shared_count;
	_Atomic uint64_t ops, checks, modules, contexts, streams;
	_Atomic bool differs;
	double round_end; /* on the clock of soak_now() */
} soak;

/* Seconds. */
double soak_now(void);

/* The round is over: what threads do comes to its end soon. */
bool soak_hurries(void);

/* ---- a stream: stream.c ---- */

/* In the current context. */
void soak_stream_init(struct soak_stream *stream, unsigned flags);
void soak_stream_deinit(struct soak_stream *stream);

/* Another CUstream in the place of the one there is, which has nothing to do. */
void soak_stream_renew(struct soak_stream *stream, unsigned flags);

void soak_launch(struct soak_stream *stream, CUfunction function, bool turn, CUdeviceptr from,
                 const unsigned *mirror_from, unsigned value);
void soak_issue(struct soak_stream *stream, const struct soak_module *module, enum soak_op op,
                unsigned value);

/* The stream has nothing to do any more: what is seen of it has to be as in the mirror. */
void soak_look(struct soak_stream *stream);

/* Waits for the stream, in one way or another, and looks. */
void soak_wait(struct soak_stream *stream, uint64_t *random);

/* Waits for the stream, and compares all its memory. */
void soak_check(struct soak_stream *stream);

/* ---- what threads do: bodies.c, lives.c ---- */

unsigned soak_random(uint64_t *random, unsigned below);
void soak_pause(uint64_t *random);

void soak_module_load(struct soak_module *module);

/* Does one thing of some dozens to some thousands of ops. */
void soak_do_body(struct soak_thread *thread);

/* A sequence of ops that comes again, in which some values change. */
void soak_repeat(struct soak_stream *stream, const struct soak_module *module, uint64_t *random,
                 unsigned times);

/* A module, a context or a stream comes and goes. */
void soak_do_life(struct soak_thread *thread);
