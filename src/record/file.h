/*
 * The file of an op stream: a header that names the kinds of records, then records, gathered and
 * written many at a time. Under the lock of record.c, all of it.
 *
 * The file is a new one (base/output.h), and is opened for each write and closed again: a program
 * that closes every file, or counts on the number that it gets next, is not to find one of ours.
 * What is then found under the name is written to only if it is still the file that was made.
 */
#pragma once

#include <stdbool.h>

#include "record/format.h"

/* Makes the file. False if it cannot be. */
bool reprise_record_file_open(void);

/* False if the stream has come to its end: its file cannot be written, or is as large as it may be
 * (REPRISE_STREAM_MOST). */
bool reprise_record_file_add(const struct reprise_record *record);

/* Writes what was gathered. False as above. */
bool reprise_record_file_flush(void);

/* Why the last of them returned false; NULL if none did. */
const char *reprise_record_file_ended(void);

/* After fork, in the child: the file is the parent's. */
void reprise_record_file_forget(void);
