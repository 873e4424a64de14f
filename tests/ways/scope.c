/*
 * ways-scope MODULE OWN LINKED
 *
 * What names of the driver's lead to where the program is not linked with it: opened with
 * RTLD_LOCAL are OWN, a plugin with functions of its own that have such names; the driver; and
 * LINKED, a plugin that needs the driver and works with it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "work.h"

typedef unsigned int answer_function(void);

static answer_function *own[2];

static void ask_own(void)
{
	for (unsigned int i = 0; i < 2; i++)
		printf("its own: %u\n", own[i]());
}

static int has_driver(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	int has = 0;

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
		has = has || strstr(line, "libcuda.so.1") != NULL;
	if (maps != NULL)
		fclose(maps);
	return has;
}

static void look_up(void *handle, const char *what)
{
	static const char *const names[] = {"cuInit", "cuGraphLaunch", "cuCtxSynchronize",
	                                    "cuStreamSynchronize"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *found = dlsym(handle, names[i]) != NULL ? "there" : "absent";
		const char *error = dlerror();

		printf("%s in %s: %s, %s\n", names[i], what, found,
		       error != NULL && strstr(error, names[i]) != NULL ? "told" : "not told");
	}
}

static void look_up_everywhere(void)
{
	void *program = dlopen(NULL, RTLD_LAZY);

	look_up(RTLD_DEFAULT, "any object");
	look_up(RTLD_NEXT, "the next");
	look_up(program, "the program");
}

int main(int argc, char **argv)
{
	void *plugin, *linked;
	work_function *function;

	if (argc != 4)
		return 2;
	plugin = dlopen(argv[2], RTLD_LAZY | RTLD_LOCAL);
	own[0] = plugin != NULL ? (answer_function *)dlsym(plugin, "own_answer") : NULL;
	own[1] = plugin != NULL ? (answer_function *)dlsym(plugin, "own_answer_at_the_end") : NULL;
	if (own[0] == NULL || own[1] == NULL)
		return 1;
	ask_own();
	printf("the driver is loaded: %d\n", has_driver());
	look_up_everywhere();
	if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) == NULL)
		return 1;
	look_up_everywhere();
	ask_own();
	linked = dlopen(argv[3], RTLD_LAZY | RTLD_LOCAL);
	function = linked != NULL ? (work_function *)dlsym(linked, "work") : NULL;
	printf("work=%08x\n", function != NULL ? function(argv[1]) : 0);
	ask_own();
	look_up_everywhere();
	return 0;
}
