#include "left.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "exec.h"
#include "graph.h"
#include "memory.h"
#include "options.h"
#include "stream.h"

static FILE *open_file(void)
{
	const char *path = sim_options()->left;

	return path && *path ? fopen(path, "a") : NULL;
}

static unsigned int streams_of(const struct sim_context *context)
{
	unsigned int count = 0;
	size_t i;

	for (i = 0; i < context->streams.count; i++)
		count += context->streams.at[i]->kind == SIM_CREATED_STREAM;
	return count;
}

static bool is_active(uint64_t serial)
{
	const struct sim_object *object = sim_object_newest(SIM_A_CONTEXT);

	while (object && object->serial != serial)
		object = object->older;
	return object && ((const struct sim_context *)object)->active;
}

/* Those of a context, or if that is 0 of those that have ended. */
static unsigned int graphs_of(uint64_t context)
{
	unsigned int count = 0;

	for (const struct sim_object *object = sim_object_newest(SIM_A_GRAPH); object;
	     object = object->older) {
		const struct sim_graph *graph = (const struct sim_graph *)object;

		count += !graph->is_child && graph->context &&
		         (context ? graph->context == context : !is_active(graph->context));
	}
	return count;
}

static unsigned int executables_of(const struct sim_context *context)
{
	unsigned int count = 0;

	for (const struct sim_object *object = sim_object_newest(SIM_AN_EXEC); object;
	     object = object->older)
		count += ((const struct sim_exec *)object)->context == context;
	return count;
}

void sim_left_in(const struct sim_context *context)
{
	FILE *file = open_file();

	if (!file)
		return;
	fprintf(file,
	        "context %u: %u streams, %zu events, %u graphs, %u executable graphs, %zu of memory\n",
	        (unsigned int)context->object.ordinal, streams_of(context), context->events.count,
	        graphs_of(context->object.serial), executables_of(context), sim_memory_count(context));
	fclose(file);
}

/* Allocates nothing: the handler of a signal may have ended the process in the midst of an
 * allocation. */
__attribute__((destructor)) static void write_end(void)
{
	const char *path = sim_options()->left;
	int file = path && *path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
	char line[64];
	int length;

	if (file < 0)
		return;
	length =
		snprintf(line, sizeof(line), "end: %u graphs of contexts that have ended\n", graphs_of(0));
	if (write(file, line, (size_t)length) != length)
		perror("simulated driver: SIM_LEFT");
	close(file);
}
