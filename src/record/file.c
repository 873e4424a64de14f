#include "record/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/inside.h"
#include "base/log.h"
#include "base/options.h"
#include "stats/counters.h"
#include "base/output.h"

#define GATHERED_MOST 4096

_Static_assert(sizeof(struct reprise_record) == 16, "a record has no padding");

static struct {
	struct reprise_output_path output;
	uint64_t bytes;  /* bytes written */
	char ended[128]; /* the reason; "": not ended */
	unsigned int gathered;
} recording;

static struct reprise_record gathered[GATHERED_MOST];

static bool end(const char *why, bool told)
{
	snprintf(recording.ended, sizeof(recording.ended), "%s", why);
	recording.gathered = 0;
	if (told)
		reprise_log(REPRISE_LOG_WARNING, "the recording %s stopped: %s",
		            recording.output.path[0] != '\0' ? recording.output.path
		                                             : reprise_option_text(REPRISE_OPTION_RECORD),
		            why);
	return false;
}

/* `file` was opened just now, or could not be. */
static bool write_to(int file, const void *bytes, size_t count)
{
	int error = reprise_output_add(file, bytes, count);
	char room[128];

	if (error != 0)
		return end(reprise_output_words(error, room, sizeof(room)),
		           error != REPRISE_OUTPUT_LOCKED_IN);
	recording.bytes += count;
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

bool reprise_record_file_open(void)
{
	int entered = reprise_enter();
	char text[512];
	bool opened =
		write_to(reprise_output_make(reprise_option_text(REPRISE_OPTION_RECORD), &recording.output),
	             text, header(text, sizeof(text)));

	if (opened && recording.output.beside)
		reprise_log(REPRISE_LOG_WARNING, "%s is there already: the recording is in %s",
		            reprise_option_text(REPRISE_OPTION_RECORD), recording.output.path);
	reprise_leave(entered);
	return opened;
}

bool reprise_record_file_flush(void)
{
	int entered;
	bool written;

	if (recording.ended[0] != '\0' || recording.gathered == 0)
		return recording.ended[0] == '\0';
	entered = reprise_enter();
	written = write_to(reprise_output_again(&recording.output, O_APPEND), gathered,
	                   recording.gathered * sizeof(gathered[0]));
	/* 0 if the recording has ended. */
	reprise_count(REPRISE_COUNT_records_written, recording.gathered);
	recording.gathered = 0;
	reprise_leave(entered);
	return written;
}

bool reprise_record_file_add(const struct reprise_record *record)
{
	if (recording.bytes + (recording.gathered + 1) * sizeof(*record) >
	    reprise_option(REPRISE_OPTION_RECORD_MOST) << 20)
		return reprise_record_file_flush() && end("it is as large as it may be", true);
	gathered[recording.gathered++] = *record;
	return recording.gathered < GATHERED_MOST || reprise_record_file_flush();
}

const char *reprise_record_file_ended(void)
{
	return recording.ended[0] != '\0' ? recording.ended : NULL;
}

void reprise_record_file_forget(void)
{
	memset(&recording, 0, sizeof(recording));
}
