#include "workers/timeline_file.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/options.h"
#include "base/output.h"
#include "stats/counters.h"
#include "timeline/timeline.h"

#define PAGE_BYTES 4096
#define LINE_MOST 768

static struct {
	struct reprise_output_path output;
	bool made, ended;
	uint64_t bytes; /* including text that is not written yet */
} file;

/* The last page of the file, not written yet. */
static struct {
	char text[PAGE_BYTES];
	size_t length;
	uint64_t events;
} page;

static int open_file(void)
{
	int made;

	if (file.made)
		return reprise_output_again(&file.output, O_APPEND);
	file.made = true;
	made = reprise_output_make(reprise_option_text(REPRISE_OPTION_TIMELINE), &file.output);
	if (made >= 0 && file.output.beside)
		reprise_log(REPRISE_LOG_WARNING, "%s is there already: the timeline is in %s",
		            reprise_option_text(REPRISE_OPTION_TIMELINE), file.output.path);
	return made;
}

static void end(void)
{
	file.ended = true;
	atomic_store(&reprise_timeline_on, false);
}

void reprise_timeline_file_write(void)
{
	int error;
	char room[128];

	if (page.length == 0)
		return;
	error = reprise_output_add(open_file(), page.text, page.length);
	if (error == 0)
		reprise_count(REPRISE_COUNT_timeline_events, page.events);
	else if (error != REPRISE_OUTPUT_LOCKED_IN)
		reprise_log(REPRISE_LOG_WARNING, "the timeline %s stopped: %s",
		            file.output.path[0] != '\0' ? file.output.path
		                                        : reprise_option_text(REPRISE_OPTION_TIMELINE),
		            reprise_output_words(error, room, sizeof(room)));
	if (error != 0)
		end();
	page.length = 0;
	page.events = 0;
}

static void append(const char *text, size_t length)
{
	memcpy(page.text + page.length, text, length);
	page.length += length;
	file.bytes += length;
	if (file.bytes % PAGE_BYTES == 0)
		reprise_timeline_file_write();
}

static void add_text(const char *text, size_t length)
{
	static const char blanks[LINE_MOST] = {[0 ... LINE_MOST - 1] = ' '};
	size_t left = PAGE_BYTES - file.bytes % PAGE_BYTES;

	if (length > left)
		append(blanks, left);
	if (!file.ended)
		append(text, length);
}

/* Of the process, when it is written. */
static void add_end(void)
{
	uint64_t now = reprise_clock_steady_ns(reprise_clock_ticks());
	char line[LINE_MOST];
	int length = snprintf(
		line, sizeof(line),
		",\n{\"name\":\"the timeline ends here: it is as large as it may be\",\"ph\":\"i\",\"s\":\"p\","
		"\"pid\":%d,\"tid\":%d,\"ts\":%llu.%03u}\n]\n",
		(int)getpid(), (int)getpid(), (unsigned long long)(now / 1000), (unsigned int)(now % 1000));

	add_text(line, (size_t)length);
}

void reprise_timeline_file_add(const char *format, ...)
{
	char line[LINE_MOST];
	va_list arguments;
	int length;

	if (file.ended)
		return;
	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (file.bytes + (size_t)length + 2 * LINE_MOST <= reprise_option(REPRISE_OPTION_TIMELINE_MOST)
	                                                       << 20) {
		add_text(line, (size_t)length);
		return;
	}
	add_end();
	reprise_timeline_file_write();
	if (!file.ended)
		reprise_log(REPRISE_LOG_WARNING, "the timeline %s stopped: it is as large as it may be",
		            file.output.path);
	end();
}

bool reprise_timeline_file_begun(void)
{
	return file.bytes > 0;
}

void reprise_timeline_file_count(void)
{
	page.events += !file.ended;
}

void reprise_timeline_file_end(void)
{
	if (file.made && !file.ended)
		add_text("\n]\n", 3);
	reprise_timeline_file_write();
	file.ended = true;
}

void reprise_timeline_file_reset(void)
{
	memset(&file, 0, sizeof(file));
	page.length = 0;
	page.events = 0;
}
