#include "report/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/keep.h"

static void flush(struct reprise_text *text)
{
	if (text->error == 0)
		text->error = reprise_write(text->file, text->bytes, text->length);
	text->length = 0;
}

void reprise_text_add(struct reprise_text *text, const char *format, ...)
{
	for (int tries = 0; tries < 2; tries++) {
		size_t room = sizeof(text->bytes) - text->length;
		va_list arguments;
		int added;

		va_start(arguments, format);
		added = vsnprintf(text->bytes + text->length, room, format, arguments);
		va_end(arguments);
		if (added >= 0 && (size_t)added < room) {
			text->length += (size_t)added;
			return;
		}
		flush(text);
	}
	text->error = EOVERFLOW;
}

void reprise_text_add_string(struct reprise_text *text, const char *bytes, size_t length)
{
	reprise_text_add(text, "\"");
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if (byte == '"' || byte == '\\')
			reprise_text_add(text, "\\%c", byte);
		else if (byte >= ' ' && byte < 127)
			reprise_text_add(text, "%c", byte);
		else
			reprise_text_add(text, "\\u%04x", byte);
	}
	reprise_text_add(text, "\"");
}

const char *reprise_text_comma(bool *any)
{
	const char *between = *any ? ", " : "";

	*any = true;
	return between;
}

const char *reprise_text_line(bool *any)
{
	return *reprise_text_comma(any) != '\0' ? ",\n    " : "\n    ";
}

void reprise_text_add_list(struct reprise_text *text, const char *name, const uint64_t *values,
                           unsigned int count)
{
	bool any = false;

	reprise_text_add(text, "\"%s\": [", name);
	for (unsigned int i = 0; i < count; i++)
		reprise_text_add(text, "%s%" PRIu64, reprise_text_comma(&any), values[i]);
	reprise_text_add(text, "]");
}

void reprise_text_add_named(struct reprise_text *text, const char *name, const char *const *names,
                            const uint64_t *values, unsigned int count)
{
	bool any = false;

	reprise_text_add(text, "\"%s\": {", name);
	for (unsigned int i = 0; i < count; i++)
		reprise_text_add(text, "%s\"%s\": %" PRIu64, reprise_text_comma(&any), names[i], values[i]);
	reprise_text_add(text, "}");
}

int reprise_text_end(struct reprise_text *text)
{
	flush(text);
	return text->error;
}
