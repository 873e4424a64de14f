/*
 * The checker's view of a log: the ops of one run, in the order of enqueueing, and the lanes they
 * were enqueued on.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_lane;

/* One line: an op of the program's, or a mere point in the order. */
struct check_op {
	uint64_t sequence;
	size_t lane;   /* position in the run's lanes */
	size_t number; /* how many ops of its lane were enqueued before it */
	bool is_op;
	const char *after; /* sequences, separated by commas, ended by a space */
	uint64_t host;     /* the host's last wait before it, */
	uint64_t own;      /* and its thread's */
	const char *what;  /* what was done, as logged */
	uint32_t *clock;   /* order.c: for each chain, how many of its ops happen before this one */
	uint32_t clocks;
	uint32_t *most; /* the same, and what its thread has waited for counts, too */
	uint32_t mosts;
	uint32_t chain, position; /* ops: where it stands, from 1 on */
};

/* What one stream executed. */
struct check_lane {
	unsigned long context;
	char stream[32];
	size_t *ops; /* positions in the run's ops, in the order of enqueueing */
	size_t count, room;
};

struct check_run {
	const char *path;
	struct check_op *ops; /* and points */
	size_t count, room;
	struct check_lane
		*lanes; /* those that executed something, in order of creation; per-thread streams last */
	size_t lane_count;
	size_t op_count; /* without points */
	size_t *waits;   /* positions of the host's waits; none are kept if several threads wait, whose
	                    order is chance */
	size_t wait_count, wait_room;
};

/* Reads a log. Ends the process with status 2 if it cannot be read. */
void check_read(struct check_run *run, const char *path);

/* The decimal number at `text`; *end is behind it. strtoul() took a third of the time of a check.
 */
static inline uint64_t check_number(const char *text, char **end)
{
	uint64_t number = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		number = 10 * number + (uint64_t)(*text - '0');
	*end = (char *)text;
	return number;
}

/* The op or point of that sequence, or NULL. */
struct check_op *check_find(const struct check_run *run, uint64_t sequence);

void *check_grow(void *array, size_t size);

/*
 * Whether each op of `reprise` happens after the same ops as its pendant in `plain`, or after
 * others that the pendant's thread had waited for before it enqueued that, and the host has waited
 * for the same ops each time that it waited; says where not. The lanes must have been found to
 * agree.
 */
bool check_same_order(struct check_run *plain, struct check_run *reprise);

/* Whether no two ops of the run touch the same memory without an order between them; says which do.
 */
bool check_no_races(struct check_run *run);
