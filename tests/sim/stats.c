/* How often each entry point was called: written at the end of the process to the file that
 * SIM_STATS names, or to stderr for "-". */
#include <stdio.h>

#include "api.h"
#include "options.h"

__attribute__((destructor)) static void write_stats(void)
{
	const char *path = sim_options()->stats;
	const struct sim_entry *entry;
	FILE *file;

	if (!path || !*path)
		return;
	file = strcmp(path, "-") == 0 ? stderr : fopen(path, "w");
	if (!file)
		return;
	fprintf(file, "%lu calls\n", sim_calls());
	for (entry = sim_entries(); entry; entry = entry->next)
		fprintf(file, "%lu %s\n", entry->calls, entry->name);
	if (file != stderr)
		fclose(file);
}
