#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/inside.h"
#include "../base/log.h"
#include "../base/options.h"
#include "../base/write.h"
#include "../report/counters.h"
#include "../report/file.h"

#define GATHERED_MOST 4096

_Static_assert(sizeof(struct reprise_record) == 16, "a record has no padding");

static struct {
	char path[REPRISE_REPORT_PATH_MOST]; /* absolute: the program may change its working directory */
	dev_t device;
	ino_t inode;
	uint64_t bytes; /* written */
	const char *ended;
	unsigned int gathered;
} stream;

static struct reprise_record gathered[GATHERED_MOST];

static bool end(const char *why)
{
	stream.ended = why;
	stream.gathered = 0;
	reprise_log(REPRISE_LOG_WARNING, "the op stream ends early: %s", why);
	return false;
}

/* The file that was made, or nothing. */
static int open_again(void)
{
	int file = open(stream.path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat status;

	if (file >= 0 && fstat(file, &status) == 0 && status.st_dev == stream.device && status.st_ino == stream.inode)
		return file;
	if (file >= 0)
		close(file);
	return -1;
}

static bool write_to(int file, const void *bytes, size_t count)
{
	bool whole = file >= 0 && reprise_write(file, bytes, count);

	if (file >= 0)
		close(file);
	if (!whole)
		return end("its file cannot be written");
	stream.bytes += count;
	return true;
}

static size_t header(char *text, size_t size)
{
	static const char *const names[] = {
#define X(kind, name) name,
		REPRISE_OP_KINDS(X)
#undef X
#define X(kind, name, words) name,
		REPRISE_RECORD_KINDS(X)
#undef X
	};
	int length = snprintf(text, size, "OPSTREAM2\n");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		length += snprintf(text + length, size - (size_t)length, "%zu %s\n", i, names[i]);
	length += snprintf(text + length, size - (size_t)length, "end\n");
	return (size_t)length;
}

/* Makes the file, and remembers which it is. */
static int open_new(void)
{
	int file = reprise_report_file_new(reprise_option_text(REPRISE_OPTION_STREAM), stream.path);
	struct stat status;

	if (file >= 0 && fstat(file, &status) == 0) {
		stream.device = status.st_dev;
		stream.inode = status.st_ino;
	}
	return file;
}

bool reprise_stream_open(void)
{
	int entered = reprise_enter(), saved = errno;
	char text[512];
	bool opened = write_to(open_new(), text, header(text, sizeof(text)));

	errno = saved;
	reprise_leave(entered);
	return opened;
}

bool reprise_stream_flush(void)
{
	int entered, saved = errno;
	bool written;

	if (stream.ended != NULL || stream.gathered == 0)
		return stream.ended == NULL;
	entered = reprise_enter();
	written = write_to(open_again(), gathered, stream.gathered * sizeof(gathered[0]));
	reprise_count(REPRISE_COUNT_stream_records, stream.gathered); /* none if it has ended */
	stream.gathered = 0;
	errno = saved;
	reprise_leave(entered);
	return written;
}

bool reprise_stream_add(const struct reprise_record *record)
{
	if (stream.bytes + (stream.gathered + 1) * sizeof(*record) > reprise_option(REPRISE_OPTION_STREAM_MOST) << 20)
		return reprise_stream_flush() && end("it is as large as it may be");
	gathered[stream.gathered++] = *record;
	return stream.gathered < GATHERED_MOST || reprise_stream_flush();
}

const char *reprise_stream_ended(void)
{
	return stream.ended;
}

void reprise_stream_forget(void)
{
	memset(&stream, 0, sizeof(stream));
}
