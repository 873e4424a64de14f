/* The thread that builds graphs (graph/building.h). */
#pragma once

/* Before the first op. */
void reprise_builder_define(void);
