/*
 * The file of an op stream: a header that names the kinds of records, then records, gathered and
 * written many at a time. All functions are called under the lock of record.c.
 *
 * The file is new (base/output.h), and is opened and closed for each write: a program may close all
 * files, or count on the number of its next one. A later write checks that the name still belongs
 * to that file.
 */
#pragma once

#include <stdbool.h>

#include "record/format.h"

/* Makes the file. False if that fails. */
bool reprise_record_file_open(void);

/* False if the recording has ended: the file cannot be written, or has the greatest size
 * (REPRISE_RECORD_MOST). */
bool reprise_record_file_add(const struct reprise_record *record);

/* Writes the gathered records. False as above. */
bool reprise_record_file_flush(void);

/* Why a function above returned false; NULL if none did. */
const char *reprise_record_file_ended(void);

/* After fork, in the child: the file is the parent's. */
void reprise_record_file_forget(void);
