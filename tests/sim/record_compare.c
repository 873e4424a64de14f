/*
 * sim-record [--states] PLAIN REPRISE: compares the calls that a program made in two runs, and
 * their results, from what librecord.so wrote (record.c). Exit status: 0 if the runs agree, 1 with
 * the first difference in words, 2 if a record cannot be read.
 *
 * Each thread has to make the same calls with the same results, in the same order. How often a
 * program asks whether work is done is a matter of time, so queries of streams and events that
 * answer CUDA_ERROR_NOT_READY are passed over, and not counted. A change of a thread's state
 * (record_state.h) counts as a call, and has to come after the same one. With --states these
 * changes alone are compared, and any thread of one run may be that of the other: for programs of
 * which time decides how many calls they make, or which thread is first. Processes that the program
 * forked are compared likewise, from PLAIN.PID and REPRISE.PID, in order of PID.
 */
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_READY = 600 };

struct call {
	const char *name;
	unsigned int result;
};

/* What one thread called. */
struct thread {
	struct call *calls;
	size_t count, room;
};

/* What one process called. */
struct record {
	struct thread *threads;
	size_t count;
	size_t calls;
};

/* The records of a run: the first process's, then those of the forked. */
struct run {
	char **paths;
	size_t count;
};

static void *grow(void *array, size_t size)
{
	array = realloc(array, size);
	if (!array) {
		fprintf(stderr, "sim-record: out of memory\n");
		exit(2);
	}
	return array;
}

static _Noreturn void unreadable(const char *path, const char *line)
{
	fprintf(stderr, "%s: cannot read: %s\n", path, line);
	exit(2);
}

/* The bytes of a file and a zero after them. */
static char *read_file(const char *path, size_t *length)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t got;

	if (!file) {
		perror(path);
		exit(2);
	}
	*length = 0;
	do {
		text = grow(text, *length + (1 << 20) + 1);
		got = fread(text + *length, 1, 1 << 20, file);
		*length += got;
	} while (got);
	text[*length] = '\0';
	fclose(file);
	return text;
}

static struct thread *thread_of(struct record *record, size_t number)
{
	if (number > record->count) {
		record->threads = grow(record->threads, number * sizeof(*record->threads));
		memset(record->threads + record->count, 0,
		       (number - record->count) * sizeof(*record->threads));
		record->count = number;
	}
	return &record->threads[number - 1];
}

static bool is_poll(const struct call *call)
{
	return call->result == NOT_READY && (strncmp(call->name, "cuStreamQuery", 13) == 0 ||
	                                     strncmp(call->name, "cuEventQuery", 12) == 0);
}

static bool states_only;

/* Takes the line apart in place. */
static void read_line(struct record *record, const char *path, char *line)
{
	char *name, *result, *end;
	unsigned long number = strtoul(line, &name, 10);
	struct thread *thread;
	struct call call;

	if (number == 0 || number > 1 << 20 || *name != ' ')
		unreadable(path, line);
	result = strchr(++name, ' ');
	if (!result || result == name)
		unreadable(path, line);
	*result++ = '\0';
	call = (struct call){name, (unsigned int)strtoul(result, &end, 10)};
	if (end == result || *end)
		unreadable(path, line);
	thread = thread_of(record, number);
	if (is_poll(&call) || (states_only && call.name[0] != '@'))
		return;
	if (thread->count == thread->room) {
		thread->room = thread->room ? thread->room * 2 : 64;
		thread->calls = grow(thread->calls, thread->room * sizeof(*thread->calls));
	}
	thread->calls[thread->count++] = call;
	record->calls++;
}

/* Zeros are at the end, or where a thread had not yet written its line when the process ended. */
static struct record read_record(const char *path)
{
	struct record record = {0};
	size_t length;
	char *at = read_file(path, &length), *past = at + length, *end;

	for (; (end = memchr(at, '\n', (size_t)(past - at))) != NULL; at = end + 1) {
		char *zero = memrchr(at, '\0', (size_t)(end - at));

		*end = '\0';
		read_line(&record, path, zero ? zero + 1 : at);
	}
	if (!record.count)
		unreadable(path, "no call was recorded");
	return record;
}

static unsigned long process_of(const char *path)
{
	return strtoul(strrchr(path, '.') + 1, NULL, 10);
}

static int by_process(const void *left, const void *right)
{
	unsigned long a = process_of(*(char *const *)left), b = process_of(*(char *const *)right);

	return a < b ? -1 : a > b;
}

static struct run find_run(char *path)
{
	size_t length = strlen(path);
	struct run run = {grow(NULL, sizeof(path)), 1};
	char *pattern = grow(NULL, length + sizeof(".[0-9]*"));
	glob_t found;

	run.paths[0] = path;
	sprintf(pattern, "%s.[0-9]*", path);
	if (glob(pattern, 0, NULL, &found) == 0) {
		run.count += found.gl_pathc;
		run.paths = grow(run.paths, run.count * sizeof(path));
		memcpy(run.paths + 1, found.gl_pathv, found.gl_pathc * sizeof(path));
		qsort(run.paths + 1, run.count - 1, sizeof(path), by_process);
	}
	free(pattern);
	return run;
}

/* In words. `text` has room for any line. */
static const char *tell(const struct call *call, char *text, size_t size)
{
	if (call->name[0] == '@')
		snprintf(text, size, "the thread's state became %s", call->name + 1);
	else
		snprintf(text, size, "%s returned %u", call->name, call->result);
	return text;
}

/* Says where the calls of one thread part; false if they do. */
static bool compare_thread(const struct thread *plain, const struct thread *reprise,
                           const char *who, size_t number)
{
	char text[2][200];
	size_t i;

	for (i = 0; i < plain->count && i < reprise->count; i++) {
		const struct call *a = &plain->calls[i], *b = &reprise->calls[i];

		if (a->result == b->result && strcmp(a->name, b->name) == 0)
			continue;
		printf("%sthread %zu, call %zu: %s, but under Reprise %s\n", who, number, i + 1,
		       tell(a, text[0], sizeof(text[0])), tell(b, text[1], sizeof(text[1])));
		return false;
	}
	if (plain->count != reprise->count) {
		const struct call *odd = i < plain->count ? &plain->calls[i] : &reprise->calls[i];

		printf("%sthread %zu: %zu calls, but %zu under Reprise; the first that is %s: %s\n", who,
		       number, plain->count, reprise->count, i < plain->count ? "missing" : "too many",
		       tell(odd, text[0], sizeof(text[0])));
	}
	return plain->count == reprise->count;
}

static int by_states(const void *left, const void *right)
{
	const struct thread *a = left, *b = right;
	int order = 0;

	for (size_t i = 0; order == 0 && i < a->count && i < b->count; i++)
		order = strcmp(a->calls[i].name, b->calls[i].name);
	return order != 0 ? order : (a->count > b->count) - (a->count < b->count);
}

/* In an order that the threads' numbers have no part in, but for those without a state, which go.
 */
static void sort_threads(struct record *record)
{
	size_t count = 0;

	for (size_t i = 0; i < record->count; i++)
		if (record->threads[i].count > 0)
			record->threads[count++] = record->threads[i];
	record->count = count;
	qsort(record->threads, count, sizeof(*record->threads), by_states);
}

static bool compare(const struct record *plain, const struct record *reprise, const char *who)
{
	static const struct thread none;
	size_t i;

	for (i = 0; i < plain->count || i < reprise->count; i++)
		if (!compare_thread(i < plain->count ? &plain->threads[i] : &none,
		                    i < reprise->count ? &reprise->threads[i] : &none, who, i + 1))
			return false;
	return true;
}

int main(int argc, char **argv)
{
	size_t i, calls = 0, threads = 0;
	struct run plain, reprise;

	states_only = argc == 4 && strcmp(argv[1], "--states") == 0;
	argv += states_only;
	if (argc - states_only != 3) {
		fprintf(stderr, "usage: sim-record [--states] PLAIN_RECORD REPRISE_RECORD\n");
		return 2;
	}
	plain = find_run(argv[1]);
	reprise = find_run(argv[2]);
	if (plain.count != reprise.count) {
		printf("%zu processes called the driver, but %zu under Reprise\n", plain.count,
		       reprise.count);
		return 1;
	}
	for (i = 0; i < plain.count; i++) {
		struct record a = read_record(plain.paths[i]), b = read_record(reprise.paths[i]);
		char who[40] = "";

		if (states_only) {
			sort_threads(&a);
			sort_threads(&b);
		}
		if (i > 0)
			snprintf(who, sizeof(who), "forked process %zu, ", i);
		if (!compare(&a, &b, who))
			return 1;
		calls += a.calls;
		threads += a.count;
	}
	printf("the same %zu %s on %zu threads\n", calls, states_only ? "states" : "calls", threads);
	return 0;
}
