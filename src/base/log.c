#include "base/log.h"

#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/keep.h"
#include "base/text.h"

#define MOST_LINES 200

static _Atomic uint64_t current_level = REPRISE_LOG_WARNING;
static _Atomic unsigned int lines_told;

/* The file that stderr was when the program began. */
static struct {
	bool known;
	dev_t device;
	ino_t inode;
} stderr_file;

/*
 * True if this library was loaded with the program, and not opened later. It then stands before the
 * loader in the list of loaded objects. A library opened later stands behind it. So does one that
 * only another library needs: it counts as opened later.
 */
static bool came_with_program(void)
{
	struct link_map *own = NULL, *map = _r_debug.r_map; /* the list of the main namespace */
	Dl_info info;

	if (dladdr1(&stderr_file, &info, (void **)&own, RTLD_DL_LINKMAP) == 0)
		return false;
	while (map != NULL && map != own && map->l_addr != _r_debug.r_ldbase)
		map = map->l_next;
	return map != NULL && map == own;
}

static bool is_commands(const struct stat *status)
{
	const char *told = secure_getenv(REPRISE_LOG_STDERR);
	char own[REPRISE_LOG_STDERR_MOST];

	snprintf(own, sizeof(own), REPRISE_LOG_STDERR_FORM, (unsigned long long)status->st_dev,
	         (unsigned long long)status->st_ino);
	return told != NULL && strcmp(told, own) == 0;
}

/* The only constructor. A program may close stderr and open another file before its first call;
 * nothing would tell the two files apart then. */
__attribute__((constructor)) void reprise_log_open(void)
{
	REPRISE_KEEP_ERRNO;
	struct stat status;

	stderr_file.known =
		fstat(STDERR_FILENO, &status) == 0 && (came_with_program() || is_commands(&status));
	stderr_file.device = status.st_dev;
	stderr_file.inode = status.st_ino;
}

/* The program may have closed stderr and have any file under its number now. And it must not wait
 * for a reader that does not read. */
static bool stderr_is_readable(void)
{
	struct pollfd listener = {.fd = STDERR_FILENO, .events = POLLOUT};
	struct stat status;

	return stderr_file.known && fstat(STDERR_FILENO, &status) == 0 &&
	       status.st_dev == stderr_file.device && status.st_ino == stderr_file.inode &&
	       poll(&listener, 1, 0) == 1 && (listener.revents & POLLOUT) != 0;
}

bool reprise_log_is_heard(void)
{
	return stderr_is_readable();
}

static void tell(const char *format, va_list arguments)
{
	char line[512];
	int cancelled;
	int length = snprintf(line, sizeof(line), "reprise: ");
	int more = vsnprintf(line + length, sizeof(line) - (size_t)length - 1, format, arguments);

	if (more > 0)
		length += more < (int)sizeof(line) - length - 1 ? more : (int)sizeof(line) - length - 2;
	line[length++] = '\n';
	/* poll is a cancellation point, and locks may be held. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);
	if (stderr_is_readable())
		reprise_write(STDERR_FILENO, line, (size_t)length);
	pthread_setcancelstate(cancelled, NULL);
}

void reprise_log_level(uint64_t level)
{
	atomic_store(&current_level, level);
}

void reprise_log(enum reprise_log_level level, const char *format, ...)
{
	va_list arguments;

	if (level > atomic_load_explicit(&current_level, memory_order_relaxed) ||
	    atomic_fetch_add_explicit(&lines_told, 1, memory_order_relaxed) >= MOST_LINES)
		return;
	va_start(arguments, format);
	tell(format, arguments);
	va_end(arguments);
}

void reprise_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	tell(format, arguments);
	va_end(arguments);
}

void reprise_log_option(const char *variable, const char *text, const char *range)
{
	char shown[REPRISE_LOG_NAME_MOST];

	reprise_printable(text, SIZE_MAX, shown, sizeof(shown));
	reprise_log(REPRISE_LOG_WARNING, "%s: \"%s\" is not %s; the default is used", variable, shown,
	            range);
}

void reprise_log_unknown(const char *variable, const char *meant)
{
	char shown[REPRISE_LOG_NAME_MOST];

	reprise_printable(variable, SIZE_MAX, shown, sizeof(shown));
	reprise_log(REPRISE_LOG_WARNING, "%s is no option%s%s%s", shown,
	            meant != NULL ? "; did you mean " : "", meant != NULL ? meant : "",
	            meant != NULL ? "?" : "");
}
