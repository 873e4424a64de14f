#include "opstream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/record.h"

#define BYTES_1 12
#define BYTES_2 16
#define KINDS 256

/* ---- OPSTREAM1: a call's kind is what the table of entry points says of it ---- */

struct call {
	const char *name;
	enum opstream_kind kind;
};

/* Entry points by their class. What a RECORD row is, is told apart by name below. */
static const struct call table[] = {
#define RECORD(name, ...) {#name, OPSTREAM_KERNEL},
#define ORDER(name, ...) {#name, OPSTREAM_ORDER},
#define SYNC(name, ...) {#name, OPSTREAM_WAIT},
#define LIFETIME(name, ...) {#name, OPSTREAM_WAIT},
#define OWN(name, ...) {#name, OPSTREAM_WAIT},
#define ALLOC(name, ...) {#name, OPSTREAM_NOTHING},
#define NO_DOOR(name, ...) {#name, OPSTREAM_NOTHING},
#include "../../preload/entry_points.def"
};

/* The recorder left out versions and forms: the names are compared as far as the recorded one goes.
 */
static enum opstream_kind kind_of(const char *name)
{
	size_t length = strlen(name), i;

	/* Copies between host and device were followed by a wait wherever these programs made them:
	 * their host memory is pageable. */
	if (strstr(name, "HtoDAsync") || strstr(name, "DtoHAsync"))
		return OPSTREAM_WAIT;
	if (strncmp(name, "cuMemset", 8) == 0)
		return strstr(name, "Async") ? OPSTREAM_SET : OPSTREAM_WAIT;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strncmp(table[i].name, name, length) != 0 ||
		    (table[i].name[length] != '\0' && table[i].name[length] != '_'))
			continue;
		return table[i].kind == OPSTREAM_KERNEL ? OPSTREAM_COPY : table[i].kind;
	}
	return OPSTREAM_WAIT; /* unknown is a barrier */
}

static uint32_t number(const unsigned char *at, unsigned int bytes)
{
	uint32_t value = 0;

	while (bytes-- > 0)
		value = value << 8 | at[bytes];
	return value;
}

static struct opstream_record record_1(const unsigned char *bytes,
                                       const enum opstream_kind kinds[KINDS])
{
	struct opstream_record record = {.kind = kinds[bytes[0]],
	                                 .lane = bytes[1],
	                                 .gap_ns = number(bytes + 2, 2) * 10,
	                                 .shape = number(bytes + 4, 4),
	                                 .value = number(bytes + 8, 4)};

	if (record.kind == OPSTREAM_ORDER && record.lane == OPSTREAM_NO_LANE)
		record.kind = OPSTREAM_WAIT; /* the recorder did not look which stream it was */
	return record;
}

/* ---- OPSTREAM2 ---- */

/* What the file's kinds are here. A function's attribute makes the lanes forget those traces alone
 * that launch it, and a record does not say which. */
static const struct {
	const char *name;
	enum opstream_kind kind;
} kinds_2[] = {
#define X(kind, name) \
	{name, REPRISE_OP_##kind == REPRISE_OP_KERNEL ? OPSTREAM_KERNEL \
	       : REPRISE_OP_##kind == REPRISE_OP_SET  ? OPSTREAM_SET \
	                                              : OPSTREAM_COPY},
	REPRISE_OP_KINDS(X)
#undef X
		{"lane", OPSTREAM_LANE},
	{"order", OPSTREAM_ORDER},
	{"capture", OPSTREAM_ORDER_ALL},
	{"wait", OPSTREAM_WAIT},
	{"function", OPSTREAM_WAIT},
	{"memory", OPSTREAM_MEMORY},
	{"attributes", OPSTREAM_FORGET},
	{"stream", OPSTREAM_FORGET},
	{"code", OPSTREAM_FORGET_ALL},
	{"context", OPSTREAM_FORGET_ALL},
	{"refused", OPSTREAM_NOTHING},
};

/* A kind that is newer than this is a barrier. */
static enum opstream_kind kind_2(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds_2) / sizeof(kinds_2[0]); i++)
		if (strcmp(kinds_2[i].name, name) == 0)
			return kinds_2[i].kind;
	return OPSTREAM_WAIT;
}

static struct opstream_record record_2(const unsigned char *bytes,
                                       const enum opstream_kind kinds[KINDS])
{
	struct opstream_record record = {.kind = kinds[bytes[0]],
	                                 .lane = bytes[1],
	                                 .thread = bytes[2],
	                                 .gap_ns = number(bytes + 4, 4),
	                                 .shape = number(bytes + 8, 4),
	                                 .value = number(bytes + 12, 4)};

	if (opstream_is_op(&record)) {
		record.target_memory = bytes[3] & 3;
		record.source_memory = bytes[3] >> 2 & 3;
		record.unfit = bytes[3] >> 4 != 0;
	} else if (record.kind == OPSTREAM_LANE) {
		record.legacy = record.shape & 1;
		record.blocking = record.shape & 2;
	}
	return record;
}

/* The thread's last op before record `at`. */
static void mark_refused(struct opstream *stream, size_t at)
{
	uint8_t thread = stream->records[at].thread;

	while (at-- > 0)
		if (stream->records[at].thread == thread && opstream_is_op(&stream->records[at])) {
			stream->records[at].refused = true;
			return;
		}
}

/* ---- both ---- */

struct form {
	size_t bytes; /* of a record */
	enum opstream_kind (*kind_of)(const char *name);
	struct opstream_record (*record)(const unsigned char *bytes,
	                                 const enum opstream_kind kinds[KINDS]);
};

static const struct form form_1 = {BYTES_1, kind_of, record_1},
						 form_2 = {BYTES_2, kind_2, record_2};

struct header {
	const struct form *form;
	enum opstream_kind kinds[KINDS];
	int refused;  /* the kind that says so; -1 if there is none */
	size_t count; /* of records, where the header says it */
};

static bool read_header(FILE *file, struct header *header)
{
	char line[256], name[200];
	unsigned int id;

	*header = (struct header){.kinds[0] = OPSTREAM_KERNEL, .refused = -1, .count = SIZE_MAX};
	for (id = 1; id < KINDS; id++)
		header->kinds[id] = OPSTREAM_WAIT;
	if (!fgets(line, sizeof(line), file))
		return false;
	header->form = strcmp(line, "OPSTREAM1\n") == 0   ? &form_1
	               : strcmp(line, "OPSTREAM2\n") == 0 ? &form_2
	                                                  : NULL;
	if (!header->form ||
	    (header->form == &form_1 &&
	     (!fgets(line, sizeof(line), file) || sscanf(line, "%zu records", &header->count) != 1)))
		return false;
	while (fgets(line, sizeof(line), file)) {
		if (strcmp(line, "end\n") == 0)
			return true;
		if (sscanf(line, "%u %199[^\n]", &id, name) != 2 || id >= KINDS)
			return false;
		header->kinds[id] = header->form->kind_of(name);
		if (header->form == &form_2 && strcmp(name, "refused") == 0)
			header->refused = (int)id;
	}
	return false;
}

/* Room for one more. */
static bool grow(struct opstream *stream, size_t *room)
{
	struct opstream_record *records;

	if (stream->count < *room)
		return true;
	*room = *room ? *room * 2 : 4096;
	records = realloc(stream->records, *room * sizeof(*records));
	if (records)
		stream->records = records;
	return records != NULL;
}

/* A process that was killed while it wrote may have left a part of a record at the end. */
static bool read_records(FILE *file, const struct header *header, struct opstream *stream)
{
	unsigned char bytes[BYTES_2];
	size_t room = 0;

	while (stream->count < header->count && fread(bytes, header->form->bytes, 1, file) == 1) {
		if (!grow(stream, &room))
			return false;
		stream->records[stream->count] = header->form->record(bytes, header->kinds);
		if (bytes[0] == header->refused)
			mark_refused(stream, stream->count);
		stream->count++;
	}
	return header->count == SIZE_MAX || stream->count == header->count;
}

bool opstream_read(struct opstream *stream, const char *path)
{
	FILE *file = fopen(path, "rb");
	struct header header;
	bool read = false;

	*stream = (struct opstream){NULL, 0};
	if (file)
		read = read_header(file, &header) && read_records(file, &header, stream);
	if (file)
		fclose(file);
	if (!read)
		fprintf(stderr, "%s: not a whole op stream\n", path);
	return read;
}
