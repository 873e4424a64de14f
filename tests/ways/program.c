/*
 * ways MODULE                                    works by itself
 * ways MODULE local|deepbind|namespace PLUGIN    has a plugin do the work, opened in that way
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "work.h"

static void *open_plugin(const char *way, const char *path)
{
	if (strcmp(way, "namespace") == 0)
		return dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL | (strcmp(way, "deepbind") == 0 ? RTLD_DEEPBIND : 0));
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
	printf("work=%08x\n", result);
	return result != 0 ? 0 : 1;
}
