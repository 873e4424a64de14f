#include "left.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "event.h"
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

/* What is alive in a context. */
struct left {
	unsigned int streams, events, graphs, executables, reprises;
};

static void add(unsigned int *count, struct left *left, const struct sim_object *object)
{
	*count += 1;
	left->reprises += object->is_reprises;
}

static bool is_active(uint64_t serial)
{
	const struct sim_object *object = sim_object_newest(SIM_A_CONTEXT);

	while (object && object->serial != serial)
		object = object->older;
	return object && ((const struct sim_context *)object)->active;
}

/* Those of a context, or if that is 0 of those that have ended. */
static void add_graphs(struct left *left, uint64_t context)
{
	for (const struct sim_object *object = sim_object_newest(SIM_A_GRAPH); object;
	     object = object->older) {
		const struct sim_graph *graph = (const struct sim_graph *)object;

		if (!graph->is_child && graph->context &&
		    (context ? graph->context == context : !is_active(graph->context)))
			add(&left->graphs, left, object);
	}
}

static struct left left_in(const struct sim_context *context)
{
	struct left left = {0};
	size_t i;

	for (i = 0; i < context->streams.count; i++)
		if (context->streams.at[i]->kind == SIM_CREATED_STREAM)
			add(&left.streams, &left, &context->streams.at[i]->object);
	for (i = 0; i < context->events.count; i++)
		add(&left.events, &left, &context->events.at[i]->object);
	add_graphs(&left, context->object.serial);
	for (const struct sim_object *object = sim_object_newest(SIM_AN_EXEC); object;
	     object = object->older)
		if (((const struct sim_exec *)object)->context == context)
			add(&left.executables, &left, object);
	return left;
}

void sim_left_in(const struct sim_context *context)
{
	struct left left = left_in(context);
	FILE *file = open_file();

	if (!file)
		return;
	fprintf(file,
	        "context %u: %u streams, %u events, %u graphs, %u executable graphs, %zu of memory; "
	        "made by calls known as Reprise's: %u\n",
	        (unsigned int)context->object.ordinal, left.streams, left.events, left.graphs,
	        left.executables, sim_memory_count(context), left.reprises);
	fclose(file);
}

/* Allocates nothing: the handler of a signal may have ended the process in the midst of an
 * allocation. */
__attribute__((destructor)) static void write_end(void)
{
	const char *path = sim_options()->left;
	int file = path && *path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
	struct left left = {0};
	char line[64];
	int length;

	if (file < 0)
		return;
	add_graphs(&left, 0);
	length =
		snprintf(line, sizeof(line), "end: %u graphs of contexts that have ended\n", left.graphs);
	if (write(file, line, (size_t)length) != length)
		perror("simulated driver: SIM_LEFT");
	close(file);
}
