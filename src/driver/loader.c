/* Finds the C library's dlsym and dlopen past Reprise's own, without constructors and locks:
 * threads that ask at the same time find the same address. */
#include "driver/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *reprise_real_dlsym_address;
void *reprise_real_dlopen_address;

/* The version since these moved from libdl to libc, and their first ones on x86-64 and aarch64. */
static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};

/* A sanitizer looks up names before its own memory is mapped, so these must not need it. */
#define UNSANITIZED __attribute__((no_sanitize("address", "thread", "undefined")))

UNSANITIZED static void *find(void **known, const char *name)
{
	void *address = __atomic_load_n(known, __ATOMIC_RELAXED);

	for (size_t i = 0; address == NULL && i < sizeof(versions) / sizeof(versions[0]); i++)
		address = dlvsym(RTLD_NEXT, name, versions[i]);
	__atomic_store_n(known, address, __ATOMIC_RELAXED);
	return address;
}

UNSANITIZED void *reprise_real_dlsym_find(void)
{
	return find(&reprise_real_dlsym_address, "dlsym");
}

UNSANITIZED void *reprise_real_dlopen_find(void)
{
	return find(&reprise_real_dlopen_address, "dlopen");
}

void *reprise_real_dlsym(void *handle, const char *name)
{
	void *(*real)(void *, const char *) =
		(void *(*)(void *, const char *))reprise_real_dlsym_find();

	/* Not a tail call: dlsym identifies its caller by the return address, which must be in here. */
	void *address = real != NULL ? real(handle, name) : NULL;
	__asm__ volatile("" : "+r"(address));
	return address;
}

/* ---- namespaces ---- */

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
