#include "cli/files.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHOWN_MOST 160

struct content {
	const char *bytes; /* NULL: there is no such file */
	size_t size;
};

static struct content read_file(const char *path)
{
	struct content content = {0};
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes;

	if (file < 0)
		return content;
	content.bytes = "";
	if (fstat(file, &status) == 0 && status.st_size > 0) {
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
		if (bytes != MAP_FAILED)
			content = (struct content){bytes, (size_t)status.st_size};
	}
	close(file);
	return content;
}

static void drop(struct content content)
{
	if (content.size > 0)
		munmap((void *)content.bytes, content.size);
}

static size_t first_difference(struct content a, struct content b)
{
	size_t at = 0, both = a.size < b.size ? a.size : b.size;

	while (at < both && a.bytes[at] == b.bytes[at])
		at++;
	return at;
}

/* The length of the line that begins at `begin`, without its newline. */
static size_t line_length(struct content content, size_t begin)
{
	const char *end =
		begin < content.size ? memchr(content.bytes + begin, '\n', content.size - begin) : NULL;

	return end != NULL ? (size_t)(end - (content.bytes + begin))
	                   : content.size - (begin < content.size ? begin : content.size);
}

static bool is_text(struct content content, size_t begin)
{
	size_t length = line_length(content, begin);

	for (size_t i = 0; i < length; i++)
		if (iscntrl((unsigned char)content.bytes[begin + i]) &&
		    !isspace((unsigned char)content.bytes[begin + i]))
			return false;
	return true;
}

static void show_line(const char *which, struct content content, size_t begin)
{
	size_t length = line_length(content, begin);

	if (begin >= content.size)
		printf("  %-8s (ends here)\n", which);
	else
		printf("  %-8s %.*s%s\n", which, (int)(length < SHOWN_MOST ? length : SHOWN_MOST),
		       content.bytes + begin, length > SHOWN_MOST ? " ..." : "");
}

static void show_byte(const char *which, struct content content, size_t at)
{
	if (at < content.size)
		printf("  %-8s 0x%02x\n", which, (unsigned char)content.bytes[at]);
	else
		printf("  %-8s (ends here)\n", which);
}

static void show(const char *what, struct content without, struct content with, size_t at)
{
	size_t begin = at, line = 1;

	while (begin > 0 && without.bytes[begin - 1] != '\n')
		begin--;
	for (size_t i = 0; i < begin; i++)
		line += without.bytes[i] == '\n';
	if (is_text(without, begin) && is_text(with, begin)) {
		printf("%s: differs, first in line %zu\n", what, line);
		show_line("without", without, begin);
		show_line("with", with, begin);
	} else {
		printf("%s: differs, first at byte %zu\n", what, at);
		show_byte("without", without, at);
		show_byte("with", with, at);
	}
}

bool reprise_cli_equal_files(const char *a, const char *b)
{
	struct content first = read_file(a), second = read_file(b);
	bool equal = first.bytes != NULL && second.bytes != NULL && first.size == second.size &&
	             memcmp(first.bytes, second.bytes, first.size) == 0;

	drop(first);
	drop(second);
	return equal;
}

bool reprise_cli_same_files(const char *what, const char *without_path, const char *with_path)
{
	struct content without = read_file(without_path), with = read_file(with_path);
	size_t at = 0;
	bool there = without.bytes != NULL && with.bytes != NULL, same;

	if (there)
		at = first_difference(without, with);
	same = there && at == without.size && at == with.size;
	if (same)
		printf("%s: the same, %zu bytes\n", what, at);
	else if (!there)
		printf("%s: only there %s Reprise\n", what, with.bytes != NULL ? "with" : "without");
	else
		show(what, without, with, at);
	drop(without);
	drop(with);
	return same;
}
