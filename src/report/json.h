/* The report as a JSON object; docs/report.schema.json describes it. */
#pragma once

#include "report/totals.h"
#include "report/text.h"

/* At the end of the process; at a request; once a second. */
enum reprise_json_moment { REPRISE_JSON_AT_END, REPRISE_JSON_ASKED, REPRISE_JSON_SNAPSHOT };

void reprise_json_write(struct reprise_text *text, const struct reprise_totals *totals,
                        enum reprise_json_moment moment);

/* Called when this process's report begins. Once. */
void reprise_json_begin(void);
