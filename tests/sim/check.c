/*
 * sim-check PLAIN REPRISE: compares what two runs of one program executed, from the logs of the
 * simulated driver (log.h). sim-check --races LOG [REPRISE]: looks for ops of one run that touch
 * the same memory without an order between them; then it is the plain run of such a comparison.
 *
 * The ops of each stream have to be the same, enqueued in the same order, with the same bytes; and
 * each has to happen after the same ops as in the plain run: no edge lost, none invented. Streams
 * are paired in order of creation, leaving out those that executed nothing: Reprise captures on
 * streams of its own. Memory is paired as it is met: if block 3 of one run stands where block 4 of
 * the other does, it has to do so everywhere. Exit status: 0 if all is well, 1 with the first
 * difference in words, 2 if a log cannot be read.
 */
#include "check_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How blocks of memory of one run stand for those of the other: by kind and number, 0 where not
 * met. */
struct pairing {
	unsigned long *other;
	size_t count;
};

static const char kinds[] = "dhmr";
static struct pairing forth[sizeof(kinds)], back[sizeof(kinds)];

static bool pair(struct pairing *pairing, unsigned long number, unsigned long other)
{
	if (number >= pairing->count) {
		size_t count = number * 2 + 64;

		pairing->other = check_grow(pairing->other, count * sizeof(*pairing->other));
		memset(pairing->other + pairing->count, 0,
		       (count - pairing->count) * sizeof(*pairing->other));
		pairing->count = count;
	}
	if (pairing->other[number] == 0)
		pairing->other[number] = other;
	return pairing->other[number] == other;
}

/* Whether two descriptions of an op agree. */
static bool same(const char *a, const char *b)
{
	for (;;) {
		size_t length = (size_t)(strchrnul(a, '@') - a);
		const char *kind;
		unsigned long x, y;
		char *a_end, *b_end;

		if (strncmp(a, b, length) != 0 || a[length] != b[length])
			return false;
		if (a[length] == '\0')
			return true;
		a += length + 1;
		b += length + 1;
		kind = *a && *a == *b ? strchr(kinds, *a) : NULL;
		if (kind == NULL)
			continue;
		x = check_number(a + 1, &a_end);
		y = check_number(b + 1, &b_end);
		if (!pair(&forth[kind - kinds], x, y) || !pair(&back[kind - kinds], y, x))
			return false;
		a = a_end;
		b = b_end;
	}
}

/* Says where the ops of a stream part; false if they do. */
static bool same_ops(const struct check_run *plain, const struct check_run *reprise, size_t lane)
{
	const struct check_lane *a = &plain->lanes[lane], *b = &reprise->lanes[lane];
	size_t i;

	for (i = 0; i < a->count && i < b->count; i++) {
		const char *wanted = plain->ops[a->ops[i]].what, *seen = reprise->ops[b->ops[i]].what;

		if (same(wanted, seen))
			continue;
		printf("context %lu, stream %s: op %zu of %zu is another\n  plain:   %s\n  reprise: %s\n",
		       a->context, a->stream, i + 1, a->count, wanted, seen);
		return false;
	}
	if (a->count == b->count)
		return true;
	printf("context %lu, stream %s: %zu ops, but %zu under Reprise; the first that is %s:\n  %s\n",
	       a->context, a->stream, a->count, b->count, i < a->count ? "missing" : "too many",
	       i < a->count ? plain->ops[a->ops[i]].what : reprise->ops[b->ops[i]].what);
	return false;
}

static bool agree(struct check_run *plain, struct check_run *reprise)
{
	size_t i;

	if (plain->lane_count != reprise->lane_count) {
		printf("%zu streams executed something, but %zu under Reprise\n", plain->lane_count,
		       reprise->lane_count);
		return false;
	}
	for (i = 0; i < plain->lane_count; i++)
		if (!same_ops(plain, reprise, i))
			return false;
	return check_same_order(plain, reprise);
}

int main(int argc, char **argv)
{
	struct check_run first = {0}, second = {0};

	bool races = argc > 2 && strcmp(argv[1], "--races") == 0;
	int logs = races ? 2 : 1; /* the first of them */

	if (argc != 3 && (argc != 4 || !races)) {
		fprintf(
			stderr,
			"usage: sim-check PLAIN_LOG REPRISE_LOG\n       sim-check --races LOG [REPRISE_LOG]\n");
		return 2;
	}
	check_read(&first, argv[logs]);
	if (races && !check_no_races(&first))
		return 1;
	if (logs + 1 == argc)
		return 0;
	check_read(&second, argv[logs + 1]);
	if (!agree(&first, &second))
		return 1;
	printf("the same %zu ops on %zu streams, in the same order\n", first.op_count,
	       first.lane_count);
	return 0;
}
