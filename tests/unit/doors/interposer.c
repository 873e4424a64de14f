/* Another preloaded object that has a dlsym of its own, as some profilers do: counts, and asks the
 * next one. */
#include <dlfcn.h>
#include <stddef.h>

unsigned int interposer_calls;

void *dlsym(void *restrict handle, const char *restrict name)
{
	static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
	void *(*next)(void *, const char *) = NULL;

	for (size_t i = 0; next == NULL && i < sizeof(versions) / sizeof(versions[0]); i++)
		next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", versions[i]);
	__atomic_fetch_add(&interposer_calls, 1, __ATOMIC_RELAXED);
	return next(handle, name);
}
