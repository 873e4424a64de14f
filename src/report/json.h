/* The report as a JSON object: docs/report.schema.json says what is in it. */
#pragma once

#include "report/totals.h"
#include "report/text.h"

/* When it is written: nothing comes any more; somebody asks; or a second is over. */
enum reprise_json_moment { REPRISE_JSON_AT_END, REPRISE_JSON_ASKED, REPRISE_JSON_SNAPSHOT };

void reprise_json_write(struct reprise_text *text, const struct reprise_totals *totals,
                        enum reprise_json_moment moment);

/* When this process began to be reported on; once. */
void reprise_json_begin(void);
