/*
 * ways MODULE                                    works by itself
 * ways MODULE local|deepbind|namespace PLUGIN    has a plugin do the work, opened in that way
 * ways MODULE threads PLUGIN                     in a namespace; then, if there are threads, the program's C library has to know
 */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/single_threaded.h>

#include "work.h"

static void *open_plugin(const char *way, const char *path)
{
	if (strcmp(way, "namespace") == 0 || strcmp(way, "threads") == 0)
		return dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | (strcmp(way, "deepbind") == 0 ? RTLD_DEEPBIND : 0));
}

static unsigned int threads(void)
{
	unsigned int count = 0;
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;

	while (tasks != NULL && (entry = readdir(tasks)) != NULL)
		count += entry->d_name[0] != '.';
	if (tasks != NULL)
		closedir(tasks);
	return count;
}

int main(int argc, char **argv)
{
	work_function *function = work;
	unsigned int result;

	if (argc != 2 && argc != 4)
		return 2;
	if (argc == 4) {
		void *plugin = open_plugin(argv[2], argv[3]);

		function = plugin != NULL ? (work_function *)dlsym(plugin, "work") : NULL;
		if (function == NULL) {
			fprintf(stderr, "ways: %s\n", dlerror());
			return 1;
		}
	}
	result = function(argv[1]);
	if (argc == 4 && strcmp(argv[2], "threads") == 0 && __libc_single_threaded != 0 &&
	    threads() > 1) {
		fprintf(stderr, "ways: there are threads, and the C library takes no locks\n");
		return 1;
	}
	printf("work=%08x\n", result);
	return result != 0 ? 0 : 1;
}
