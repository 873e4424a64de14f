/* Finds the C library's dlsym and dlopen past Reprise's own, without constructors and locks:
 * threads that ask at the same time find the same address. */
#include "driver/lookup.h"

#include <dlfcn.h>
#include <stddef.h>

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
