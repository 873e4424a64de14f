/*
 * sim-check PLAIN REPRISE: compares what two runs of one program executed, from the logs of the simulated driver (log.h).
 *
 * The ops of each stream have to be the same, in the same order, with the same bytes. Streams are paired in order of creation, leaving out those that
 * executed nothing: Reprise captures on streams of its own. Memory is paired as it is met: if block 3 of one run stands where block 4 of the other does, it has
 * to do so everywhere. Exit status: 0 if the runs agree, 1 with the first difference in words, 2 if a log cannot be read.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
	char **at;
	size_t count, room;
};

/* What one stream executed. */
struct lane {
	unsigned long context;
	char stream[32];
	struct list ops; /* the part of each line that says what was done */
};

struct run {
	const char *path;
	struct lane *lanes;
	size_t count;
	size_t ops;
};

/* How blocks of memory of one run stand for those of the other: by kind and number, 0 where not met. */
struct pairing {
	unsigned long *other;
	size_t count;
};

static const char kinds[] = "dhmr";
static struct pairing forth[sizeof(kinds)], back[sizeof(kinds)];

static void *grow(void *array, size_t size)
{
	array = realloc(array, size);
	if (!array) {
		fprintf(stderr, "sim-check: out of memory\n");
		exit(2);
	}
	return array;
}

static void push(struct list *list, char *text)
{
	if (list->count == list->room) {
		list->room = list->room ? list->room * 2 : 64;
		list->at = grow(list->at, list->room * sizeof(*list->at));
	}
	list->at[list->count++] = text;
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t length = 0, got;
	char *text = NULL;

	if (!file) {
		perror(path);
		exit(2);
	}
	do {
		text = grow(text, length + (1 << 20) + 1);
		got = fread(text + length, 1, 1 << 20, file);
		length += got;
	} while (got);
	text[length] = '\0';
	fclose(file);
	return text;
}

static struct lane *lane_of(struct run *run, unsigned long context, const char *stream)
{
	size_t i;

	for (i = run->count; i-- > 0;)
		if (run->lanes[i].context == context && strcmp(run->lanes[i].stream, stream) == 0)
			return &run->lanes[i];
	run->lanes = grow(run->lanes, (run->count + 1) * sizeof(*run->lanes));
	run->lanes[run->count] = (struct lane){.context = context};
	snprintf(run->lanes[run->count].stream, sizeof(run->lanes[0].stream), "%s", stream);
	return &run->lanes[run->count++];
}

/* By context, then number; per-thread streams come last. */
static int by_creation(const void *left, const void *right)
{
	const struct lane *a = left, *b = right;
	bool a_thread = a->stream[0] == 't', b_thread = b->stream[0] == 't';
	unsigned long x, y;

	if (a->context != b->context)
		return a->context < b->context ? -1 : 1;
	if (a_thread != b_thread)
		return a_thread ? 1 : -1;
	x = strtoul(a->stream + (a_thread ? 6 : 0), NULL, 10);
	y = strtoul(b->stream + (b_thread ? 6 : 0), NULL, 10);
	return x < y ? -1 : x > y;
}

static void read_run(struct run *run, const char *path)
{
	char *line, *rest = NULL, *text = read_file(path);

	run->path = path;
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		unsigned long context;
		char stream[32];
		int end = 0;

		if (strncmp(line, "op ", 3) != 0)
			continue;
		if (sscanf(line, "op %*u context=%lu stream=%31s after=%n", &context, stream, &end) != 2 || end == 0) {
			fprintf(stderr, "%s: cannot read: %s\n", path, line);
			exit(2);
		}
		push(&lane_of(run, context, stream)->ops, strchr(line + end, ' ') + 1);
		run->ops++;
	}
	if (run->count)
		qsort(run->lanes, run->count, sizeof(*run->lanes), by_creation);
}

static bool pair(struct pairing *pairing, unsigned long number, unsigned long other)
{
	if (number >= pairing->count) {
		size_t count = number * 2 + 64;

		pairing->other = grow(pairing->other, count * sizeof(*pairing->other));
		memset(pairing->other + pairing->count, 0, (count - pairing->count) * sizeof(*pairing->other));
		pairing->count = count;
	}
	if (pairing->other[number] == 0)
		pairing->other[number] = other;
	return pairing->other[number] == other;
}

/* Whether two descriptions of an op agree. */
static bool same(const char *a, const char *b)
{
	while (*a && *b) {
		const char *kind = a[0] == '@' && b[0] == '@' && a[1] == b[1] ? strchr(kinds, a[1]) : NULL;

		if (kind && *kind) {
			char *a_end, *b_end;
			unsigned long x = strtoul(a + 2, &a_end, 10), y = strtoul(b + 2, &b_end, 10);

			if (!pair(&forth[kind - kinds], x, y) || !pair(&back[kind - kinds], y, x))
				return false;
			a = a_end;
			b = b_end;
		} else if (*a++ != *b++) {
			return false;
		}
	}
	return *a == *b;
}

/* Says where the stream's ops part; false if they do. */
static bool compare(const struct lane *plain, const struct lane *reprise)
{
	size_t i;

	for (i = 0; i < plain->ops.count && i < reprise->ops.count; i++) {
		if (same(plain->ops.at[i], reprise->ops.at[i]))
			continue;
		printf("context %lu, stream %s: op %zu of %zu is another\n  plain:   %s\n  reprise: %s\n", plain->context, plain->stream, i + 1,
			plain->ops.count, plain->ops.at[i], reprise->ops.at[i]);
		return false;
	}
	if (plain->ops.count == reprise->ops.count)
		return true;
	printf("context %lu, stream %s: %zu ops, but %zu under Reprise; the first that is %s:\n  %s\n", plain->context, plain->stream,
		plain->ops.count, reprise->ops.count, i < plain->ops.count ? "missing" : "too many",
		i < plain->ops.count ? plain->ops.at[i] : reprise->ops.at[i]);
	return false;
}

int main(int argc, char **argv)
{
	struct run plain = {0}, reprise = {0};
	size_t i;

	if (argc != 3) {
		fprintf(stderr, "usage: sim-check PLAIN_LOG REPRISE_LOG\n");
		return 2;
	}
	read_run(&plain, argv[1]);
	read_run(&reprise, argv[2]);
	if (plain.count != reprise.count) {
		printf("%zu streams executed something, but %zu under Reprise\n", plain.count, reprise.count);
		return 1;
	}
	for (i = 0; i < plain.count; i++)
		if (!compare(&plain.lanes[i], &reprise.lanes[i]))
			return 1;
	printf("the same %zu ops on %zu streams\n", plain.ops, plain.count);
	return 0;
}
