#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_run.h"

void *check_grow(void *array, size_t size)
{
	array = realloc(array, size ? size : 1);
	if (!array) {
		fprintf(stderr, "sim-check: out of memory\n");
		exit(2);
	}
	return array;
}

static int read_whole(int file, char *text, size_t size)
{
	ssize_t got = 1;

	for (size_t length = 0; length < size && got > 0; length += (size_t)got)
		got = read(file, text + length, size - length);
	return got < 0 ? -1 : 0;
}

/* The text of the log, which stays: a process that was killed leaves zeros behind it. */
static char *read_file(const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat about;
	char *text;

	/* A run that enqueued nothing has no log. */
	if (file < 0 && errno == ENOENT)
		return calloc(1, 1);
	if (file < 0 || fstat(file, &about) != 0) {
		perror(path);
		exit(2);
	}
	text = mmap(NULL, (size_t)about.st_size + 1, PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (text == MAP_FAILED || read_whole(file, text, (size_t)about.st_size) != 0) {
		perror(path);
		exit(2);
	}
	close(file);
	return text;
}

static size_t lane_of(struct check_run *run, unsigned long context, const char *stream)
{
	size_t i;

	for (i = run->lane_count; i-- > 0;)
		if (run->lanes[i].context == context && strcmp(run->lanes[i].stream, stream) == 0)
			return i;
	run->lanes = check_grow(run->lanes, (run->lane_count + 1) * sizeof(*run->lanes));
	run->lanes[run->lane_count] = (struct check_lane){.context = context};
	snprintf(run->lanes[run->lane_count].stream, sizeof(run->lanes[0].stream), "%s", stream);
	return run->lane_count++;
}

static void cannot_read(const char *path, const char *line)
{
	fprintf(stderr, "%s: cannot read: %s\n", path, line);
	exit(2);
}

static const char host_wait[] = "host-wait ";

static void add_wait(struct check_run *run, size_t position)
{
	if (run->wait_count == run->wait_room) {
		run->wait_room = run->wait_room ? run->wait_room * 2 : 64;
		run->waits = check_grow(run->waits, run->wait_room * sizeof(*run->waits));
	}
	run->waits[run->wait_count++] = position;
}

static void gather_waits(struct check_run *run)
{
	size_t i;

	for (i = 0; i < run->count; i++)
		if (strncmp(run->ops[i].what, host_wait, strlen(host_wait)) == 0)
			add_wait(run, i);
	for (i = 1; i < run->wait_count; i++)
		if (strcmp(run->ops[run->waits[0]].what, run->ops[run->waits[i]].what) != 0)
			run->wait_count = 0;
}

/* Behind the field's name, which has to be next. sscanf() took half the time of reading a log. */
static char *field(const struct check_run *run, const char *line, char *at, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(at, name, length) != 0)
		cannot_read(run->path, line);
	return at + length;
}

static void read_line(struct check_run *run, char *line)
{
	bool is_op = strncmp(line, "op ", 3) == 0;
	struct check_op op = {.is_op = is_op};
	unsigned long context;
	char stream[32], *at;
	size_t length;

	if (!is_op && strncmp(line, "mark ", 5) != 0)
		return;
	op.sequence = check_number(strchr(line, ' ') + 1, &at);
	context = check_number(field(run, line, at, " context="), &at);
	at = field(run, line, at, " stream=");
	length = (size_t)(strchrnul(at, ' ') - at);
	if (length == 0 || length >= sizeof(stream))
		cannot_read(run->path, line);
	memcpy(stream, at, length);
	stream[length] = '\0';
	op.after = field(run, line, at + length, " after=");
	at = field(run, line, strchrnul(op.after, ' '), " host=");
	op.host = check_number(at, &at);
	op.own = check_number(field(run, line, at, " own="), &at);
	op.what = at + 1;
	op.lane = lane_of(run, context, stream);
	if (run->count == run->room) {
		run->room = run->room ? run->room * 2 : 1024;
		run->ops = check_grow(run->ops, run->room * sizeof(*run->ops));
	}
	run->ops[run->count++] = op;
}

static int by_sequence(const void *left, const void *right)
{
	const struct check_op *a = left, *b = right;

	return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static bool is_sorted(const struct check_run *run)
{
	size_t i;

	for (i = 1; i < run->count; i++)
		if (run->ops[i - 1].sequence > run->ops[i].sequence)
			return false;
	return true;
}

/* By context, then number; per-thread streams come last. */
static int by_creation(const void *left, const void *right)
{
	const struct check_lane *a = left, *b = right;
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

static void add_to_lane(struct check_run *run, size_t position)
{
	struct check_lane *lane = &run->lanes[run->ops[position].lane];

	if (lane->count == lane->room) {
		lane->room = lane->room ? lane->room * 2 : 64;
		lane->ops = check_grow(lane->ops, lane->room * sizeof(*lane->ops));
	}
	run->ops[position].number = lane->count;
	lane->ops[lane->count++] = position;
	run->op_count++;
}

/* Lanes were numbered as they were met; now they are sorted, and those without ops come last,
 * uncounted. */
static void sort_lanes(struct check_run *run)
{
	size_t *moved = check_grow(NULL, run->lane_count * sizeof(*moved)), kept = 0, i;
	struct check_lane *sorted = check_grow(NULL, run->lane_count * sizeof(*sorted));

	for (i = 0; i < run->lane_count; i++)
		if (run->lanes[i].count)
			sorted[kept++] = run->lanes[i];
	if (kept)
		qsort(sorted, kept, sizeof(*sorted), by_creation);
	for (i = 0; i < run->lane_count; i++)
		moved[i] = kept;
	for (i = 0; i < kept; i++)
		moved[run->ops[sorted[i].ops[0]].lane] = i;
	for (i = 0; i < run->count; i++)
		run->ops[i].lane = moved[run->ops[i].lane];
	free(run->lanes);
	free(moved);
	run->lanes = sorted;
	run->lane_count = kept;
}

void check_read(struct check_run *run, const char *path)
{
	char *line, *rest = NULL;
	size_t i;

	run->path = path;
	for (line = strtok_r(read_file(path), "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		read_line(run, line);
	if (!is_sorted(run))
		qsort(run->ops, run->count, sizeof(*run->ops), by_sequence);
	for (i = 0; i < run->count; i++)
		if (run->ops[i].is_op)
			add_to_lane(run, i);
	gather_waits(run);
	sort_lanes(run);
}

struct check_op *check_find(const struct check_run *run, uint64_t sequence)
{
	size_t low = 0, high = run->count,
		   guess = high > 0 ? (size_t)(sequence - run->ops[0].sequence) : 0;

	/* Mostly all sequences are there. */
	if (guess < high && run->ops[guess].sequence == sequence)
		return &run->ops[guess];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (run->ops[middle].sequence < sequence)
			low = middle + 1;
		else
			high = middle;
	}
	return low < run->count && run->ops[low].sequence == sequence ? &run->ops[low] : NULL;
}
