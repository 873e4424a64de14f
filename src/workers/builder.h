/* The thread that builds graphs (graph/building.h). */
#pragma once

/* When Reprise starts, before any thread may need it. */
void reprise_builder_define(void);
