#include "driver/namespace.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/lookup.h"

/* True in the program's namespace. Leaves dlerror alone. */
static bool is_programs(void)
{
	struct link_map *first = NULL;
	Dl_info info;

	if (dladdr1((void *)(uintptr_t)reprise_namespace_begin_threads, &info, (void **)&first,
	            RTLD_DL_LINKMAP) == 0)
		return true;
	while (first->l_prev != NULL)
		first = first->l_prev;
	return first == _r_debug.r_map;
}

static void *do_nothing(void *unused)
{
	return unused;
}

void reprise_namespace_begin_threads(void)
{
	typeof(&pthread_create) create;
	typeof(&pthread_join) join;
	sigset_t all, before;
	pthread_t thread;
	void *library;

	if (is_programs())
		return;
	library = dlmopen(LM_ID_BASE, "libc.so.6", RTLD_NOW | RTLD_NOLOAD);
	if (library == NULL)
		return;
	create = (typeof(create))reprise_real_dlsym(library, "pthread_create");
	join = (typeof(join))reprise_real_dlsym(library, "pthread_join");
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (create != NULL && join != NULL && create(&thread, NULL, do_nothing, NULL) == 0)
		join(thread, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	dlclose(library);
}
