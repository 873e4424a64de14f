/*
 * Finding the C library's dlsym past our own, without constructors and without locks: whoever comes first asks, and two
 * who come at once find the same address.
 */
#include "lookup.h"

#include <dlfcn.h>
#include <stddef.h>

void *reprise_real_dlsym_address;

/* Where dlsym moved from libdl to libc (2.34), and its first version on x86-64 and aarch64. */
static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};

/* A sanitizer looks up names before its own memory is there, so this function must not need it. */
__attribute__((no_sanitize("address", "thread", "undefined"))) void *reprise_real_dlsym_find(void)
{
	void *address = __atomic_load_n(&reprise_real_dlsym_address, __ATOMIC_RELAXED);

	for (size_t i = 0; address == NULL && i < sizeof(versions) / sizeof(versions[0]); i++)
		address = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	__atomic_store_n(&reprise_real_dlsym_address, address, __ATOMIC_RELAXED);
	return address;
}

void *reprise_real_dlsym(void *handle, const char *name)
{
	void *(*real)(void *, const char *) = (void *(*)(void *, const char *))reprise_real_dlsym_find();

	/* Not a tail call: dlsym tells its caller by the return address, and that has to be ours. */
	void *address = real != NULL ? real(handle, name) : NULL;
	__asm__ volatile("" : "+r"(address));
	return address;
}
