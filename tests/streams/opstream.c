/* Reading; a call's kind is what the table of entry points says of it. */
#include "opstream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 12

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
#define PASS(name, ...) {#name, OPSTREAM_NOTHING},
#include "../../preload/entry_points.def"
};

/* The recorder left out versions and forms: the names are compared as far as the recorded one goes. */
static enum opstream_kind kind_of(const char *name)
{
	size_t length = strlen(name), i;

	/* Copies between host and device were followed by a wait wherever these programs made them: their host memory is pageable. */
	if (strstr(name, "HtoDAsync") || strstr(name, "DtoHAsync"))
		return OPSTREAM_WAIT;
	if (strncmp(name, "cuMemset", 8) == 0)
		return strstr(name, "Async") ? OPSTREAM_SET : OPSTREAM_WAIT;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strncmp(table[i].name, name, length) != 0 || (table[i].name[length] != '\0' && table[i].name[length] != '_'))
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

static bool read_header(FILE *file, enum opstream_kind kinds[256], size_t *count)
{
	char line[256], name[200];
	unsigned int id;

	if (!fgets(line, sizeof(line), file) || strcmp(line, "OPSTREAM1\n") != 0)
		return false;
	if (!fgets(line, sizeof(line), file) || sscanf(line, "%zu records", count) != 1)
		return false;
	kinds[0] = OPSTREAM_KERNEL;
	while (fgets(line, sizeof(line), file)) {
		if (strcmp(line, "end\n") == 0)
			return true;
		if (sscanf(line, "%u %199s", &id, name) != 2 || id == 0 || id > 255)
			return false;
		kinds[id] = kind_of(name);
	}
	return false;
}

static bool read_records(FILE *file, const enum opstream_kind kinds[256], struct opstream *stream)
{
	size_t i;

	for (i = 0; i < stream->count; i++) {
		unsigned char bytes[BYTES];

		if (fread(bytes, BYTES, 1, file) != 1)
			return false;
		stream->records[i] = (struct opstream_record){kinds[bytes[0]], bytes[1], number(bytes + 2, 2) * 10, number(bytes + 4, 4),
			number(bytes + 8, 4)};
	}
	return true;
}

bool opstream_read(struct opstream *stream, const char *path)
{
	enum opstream_kind kinds[256];
	FILE *file = fopen(path, "rb");
	bool read = false;
	size_t i;

	for (i = 0; i < 256; i++)
		kinds[i] = OPSTREAM_WAIT;
	if (file && read_header(file, kinds, &stream->count)) {
		stream->records = calloc(stream->count + 1, sizeof(*stream->records));
		read = stream->records && read_records(file, kinds, stream);
	}
	if (file)
		fclose(file);
	if (!read)
		fprintf(stderr, "%s: not a whole op stream\n", path);
	return read;
}
