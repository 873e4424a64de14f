/*
 * What reads programs' files, on files that were altered: two hundred and more of each given one,
 * under a sanitizer of addresses. No crash, no hang.
 *
 *   mutated FILE ...
 *   mutated --write FOLDER FILE ...     leaves the altered files there, and reads none
 *
 * The same in every run. Each altered file is in memory of exactly its size, so that a byte read
 * behind it is found.
 */
#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/binary.h"

#define ALTERED 250    /* of each file */
#define SECONDS_MOST 5 /* for one */

static uint64_t state = 20261123;

static uint64_t any(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below > 0 ? state % below : state;
}

/* What is often wrong: nothing, one, the largest, a little beyond the file, anything. */
static uint64_t nasty(size_t size)
{
	const uint64_t values[] = {0,         1,          UINT64_MAX, UINT64_MAX - 7,
	                           INT64_MAX, size,       size - 1,   size + 1,
	                           0xffff,    0xfffffff0, any(0),     any(size + 1)};

	return values[any(sizeof(values) / sizeof(values[0]))];
}

static void put(char *bytes, size_t size, size_t at, size_t width)
{
	uint64_t value = nasty(size);

	if (at <= size && width <= size - at)
		memcpy(bytes + at, &value, width);
}

/* A field of the header, of a segment's header, or of the dynamic section: where the reader
 * believes what it reads. */
static void alter_structure(char *bytes, size_t size)
{
	static const size_t header_fields[][2] = {{16, 2}, {18, 2}, {32, 8}, {40, 8},
	                                          {54, 2}, {56, 2}, {4, 1}};
	ElfW(Ehdr) header = {0};
	ElfW(Phdr) segment = {0};
	size_t segments, which;

	memcpy(&header, bytes, size < sizeof(header) ? size : sizeof(header));
	segments = header.e_phnum > 0 && header.e_phnum < 64 ? header.e_phnum : 1;
	which = header.e_phoff + any(segments) * sizeof(segment);
	if (any(3) == 0) {
		size_t field = any(sizeof(header_fields) / sizeof(header_fields[0]));

		put(bytes, size, header_fields[field][0], header_fields[field][1]);
	} else if (any(2) == 0) {
		put(bytes, size, which + (size_t[]){0, 4, 8, 16, 24, 32, 40}[any(7)],
		    (size_t[]){4, 8}[any(2)]);
	} else {
		for (size_t i = 0; i < segments; i++) {
			size_t at = header.e_phoff + i * sizeof(segment);

			if (at > size || sizeof(segment) > size - at)
				break;
			memcpy(&segment, bytes + at, sizeof(segment));
			if (segment.p_type == PT_DYNAMIC && segment.p_filesz >= 16)
				put(bytes, size, segment.p_offset + any(segment.p_filesz / 8) * 8, 8);
		}
	}
}

/* The table of names is made to end with the file, with or without the zero behind the last name.
 * In the given files addresses of names are offsets, too. */
static void alter_names(char *bytes, size_t *size)
{
	ElfW(Ehdr) header;
	ElfW(Phdr) segment;
	ElfW(Dyn) entry;
	size_t names = 0, behind = 0, needed = 0;

	if (*size < sizeof(header))
		return;
	memcpy(&header, bytes, sizeof(header));
	for (size_t i = 0; i < header.e_phnum && header.e_phoff + (i + 1) * sizeof(segment) <= *size;
	     i++) {
		memcpy(&segment, bytes + header.e_phoff + i * sizeof(segment), sizeof(segment));
		for (size_t at = segment.p_offset;
		     segment.p_type == PT_DYNAMIC &&
		     at + sizeof(entry) <= segment.p_offset + segment.p_filesz &&
		     at + sizeof(entry) <= *size;
		     at += sizeof(entry)) {
			memcpy(&entry, bytes + at, sizeof(entry));
			names = entry.d_tag == DT_STRTAB ? entry.d_un.d_ptr : names;
			behind = entry.d_tag == DT_STRSZ ? at + offsetof(ElfW(Dyn), d_un) : behind;
			needed = entry.d_tag == DT_NEEDED ? at + offsetof(ElfW(Dyn), d_un) : needed;
		}
	}
	if (names == 0 || names + 1 >= *size || behind == 0)
		return;
	names = *size - names; /* how large the table is now */
	memcpy(bytes + behind, &names, sizeof(names));
	names -= 16;
	if (needed != 0)
		memcpy(bytes + needed, &names, sizeof(names));
	if (any(2) == 0)
		memcpy(bytes + *size - 16, "libcudart.so.xxx", 16);
}

static void alter(char *bytes, size_t *size)
{
	uint64_t times = 1 + any(4);

	if (any(4) == 0) {
		alter_names(bytes, size);
		return;
	}

	for (uint64_t i = 0; i < times; i++) {
		if (any(4) != 0)
			alter_structure(bytes, *size);
		else
			bytes[any(*size)] = (char)any(256);
	}
	if (any(4) == 0)
		*size = 1 + any(*size); /* cut short */
}

static char *read_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	char *bytes;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (*size = (size_t)ftell(file)) == 0 ||
	    (bytes = malloc(*size)) == NULL) {
		perror(path);
		exit(1);
	}
	rewind(file);
	if (fread(bytes, 1, *size, file) != *size)
		exit(1);
	fclose(file);
	return bytes;
}

/* As a program, which is not to be run. */
static void write_file(const char *folder, unsigned int number, const char *bytes, size_t size)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%04u", folder, number);
	file = fopen(path, "wb");
	if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0 ||
	    chmod(path, 0700) != 0) {
		perror(path);
		exit(1);
	}
}

int main(int count, char **words)
{
	const char *folder = count > 2 && strcmp(words[1], "--write") == 0 ? words[2] : NULL;
	unsigned int kinds[REPRISE_BINARY_DYNAMIC + 1] = {0}, read = 0, different = 0;

	for (int i = folder != NULL ? 3 : 1; i < count; i++) {
		size_t size;
		char *whole = read_file(words[i], &size);

		for (int altered = 0; altered < ALTERED; altered++) {
			size_t cut = size;
			char *bytes = malloc(size), *exact;
			struct reprise_binary binary;

			memcpy(bytes, whole, size);
			alter(bytes, &cut);
			read++;
			if (folder != NULL) {
				write_file(folder, read, bytes, cut);
				free(bytes);
				continue;
			}
			exact = malloc(cut);
			memcpy(exact, bytes, cut);
			alarm(SECONDS_MOST);
			binary = reprise_binary_of(exact, cut);
			alarm(0);
			kinds[binary.kind]++;
			free(exact);
			free(bytes);
		}
		free(whole);
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		different += kinds[i] > 0;
	printf("%u files altered, of %u kinds afterwards\n", read, different);
	return read >= 200 && (folder != NULL || different >= 4) ? 0 : 1;
}
