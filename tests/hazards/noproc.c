/*
 * Put before Reprise: for libreprise.so there is no /proc and no /dev/shm. For where
 * hostile.c cannot have a mount namespace.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "code.h"

#define SHOWN __attribute__((visibility("default")))
#define BEHIND(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void set_up(void)
{
	code_find();
}

/* Sets errno. */
static bool is_missing(const char *path, const void *caller)
{
	if (!code_has(caller) ||
	    (strncmp(path, "/proc/", 6) != 0 && strncmp(path, "/dev/shm/", 9) != 0))
		return false;
	errno = ENOENT;
	return true;
}

SHOWN int open64(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list more;

	va_start(more, flags);
	if ((flags & O_CREAT) != 0)
		mode = va_arg(more, mode_t);
	va_end(more);
	return is_missing(path, __builtin_return_address(0)) ? -1 : BEHIND(open64)(path, flags, mode);
}

SHOWN int stat64(const char *path, struct stat64 *status)
{
	return is_missing(path, __builtin_return_address(0)) ? -1 : BEHIND(stat64)(path, status);
}

SHOWN ssize_t readlink(const char *path, char *target, size_t size)
{
	return is_missing(path, __builtin_return_address(0)) ? -1
	                                                     : BEHIND(readlink)(path, target, size);
}
