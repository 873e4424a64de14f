/* The driver opens its output by name, and would follow a link or overwrite any file. So Reprise
 * makes the file, and gives the driver the /proc name of the open file. */
#include "graph/make.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/options.h"
#include "driver/driver.h"
#include "stats/counters.h"
#include "base/output.h"

#define DRAWN_MOST 64

#define SHOWN \
	(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS | CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS | \
	 CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS)

#define DRIVER_DOES_NOT (-1) /* besides errno values */

/* 0, or the reason why there is no drawing. */
static int draw(const struct reprise_graph *graph)
{
	struct reprise_output_path output;
	char pattern[REPRISE_OPTION_TEXT_MOST + 64], path[32];
	CUresult result = CUDA_ERROR_NOT_SUPPORTED;
	int file;

	snprintf(pattern, sizeof(pattern), "%s/reprise-%%p-%04u.dot",
	         reprise_option_text(REPRISE_OPTION_DOT), graph->number);
	file = reprise_output_make(pattern, &output);
	if (file < 0)
		return errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	if (reprise_driver.cuGraphDebugDotPrint != NULL)
		result = reprise_driver.cuGraphDebugDotPrint(graph->graph, path, SHOWN);
	close(file);
	if (result != CUDA_SUCCESS)
		unlink(output.path);
	return result == CUDA_SUCCESS ? 0 : DRIVER_DOES_NOT;
}

static void tell(int error, const char *folder)
{
	char words[128];

	if (error == DRIVER_DOES_NOT)
		reprise_log(REPRISE_LOG_WARNING,
		            "no graph drawings are written to %s: the driver does not draw them", folder);
	else
		reprise_log(REPRISE_LOG_WARNING, "cannot write graph drawings to %s: %s", folder,
		            strerror_r(error, words, sizeof(words)));
}

void reprise_graph_draw(struct reprise_graph *graph)
{
	static bool failed;
	const char *folder = reprise_option_text(REPRISE_OPTION_DOT);
	int error;

	if (folder[0] == '\0' || graph->drawn || failed ||
	    reprise_counted(REPRISE_COUNT_graphs_drawn) >= DRAWN_MOST)
		return;
	error = draw(graph);
	graph->drawn = error == 0;
	reprise_count(REPRISE_COUNT_graphs_drawn, graph->drawn);
	failed = error != 0;
	if (failed && error != REPRISE_OUTPUT_LOCKED_IN)
		tell(error, folder);
}
