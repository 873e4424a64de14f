/* The report as a JSON object: docs/report.schema.json says what is in it. */
#pragma once

#include "totals.h"
#include "text.h"

void reprise_json_write(struct reprise_text *text, const struct reprise_totals *totals);

/* When this process began to be reported on; once. */
void reprise_json_begin(void);
