/*
 * The signs are documented by the tools' makers, or were seen in processes that the tools start.
 * Variables come first: a tool that injects itself into the driver is not in the process yet when
 * Reprise decides.
 */
#include "base/tools.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

#define CHECKS "it ascribes what it finds to the call that it saw last"
#define PROFILES "it measures and names the program's own calls"
#define DEBUGS "it shows which call launched what"

static const struct reprise_tool tools[] = {
	{REPRISE_TOOL_VARIABLE, "CUDA_LAUNCH_BLOCKING", true, "blocking launches",
     "every launch is to have ended when it returns"},
	{REPRISE_TOOL_VARIABLE, "NV_SANITIZER_INJECTION_PORT_BASE", true, "compute-sanitizer", CHECKS},
	{REPRISE_TOOL_VARIABLE, "NV_SANITIZER_INJECTION_PORT_RANGE_BEGIN", true, "compute-sanitizer",
     CHECKS},
	{REPRISE_TOOL_VARIABLE, "NSYS_PROFILING_SESSION_ID", true, "Nsight Systems", PROFILES},
	{REPRISE_TOOL_VARIABLE, "NV_COMPUTE_PROFILER_PERFWORKS_DIR", true, "Nsight Compute", PROFILES},
	{REPRISE_TOOL_VARIABLE, "NV_NSIGHT_INJECTION_TRANSPORT_TYPE", true, "Nsight Compute", PROFILES},
	{REPRISE_TOOL_VARIABLE, "CUDA_INJECTION64_PATH", true, "a tool injected into the driver",
     PROFILES},
	{REPRISE_TOOL_VARIABLE, "CUDA_DEVICE_WAITS_ON_EXCEPTION", true,
     "a wait for cuda-gdb at exceptions", DEBUGS},
	{REPRISE_TOOL_LIBRARY, "libsanitizer-collection.so", true, "compute-sanitizer", CHECKS},
	{REPRISE_TOOL_LIBRARY, "libsanitizer-public.so", true, "compute-sanitizer", CHECKS},
	{REPRISE_TOOL_LIBRARY, "libToolsInjection", true, "Nsight Systems", PROFILES},
	{REPRISE_TOOL_LIBRARY, "libcuda-injection.so", true, "Nsight Compute", PROFILES},
	{REPRISE_TOOL_TRACER, "cuda-gdb", true, "cuda-gdb", DEBUGS},
	{REPRISE_TOOL_TRACER, "", false, "a debugger or tracer of the host's code",
     "it stops threads, which the program's work on the device does not notice"},
	{REPRISE_TOOL_VARIABLE, "CUDA_ENABLE_COREDUMP_ON_EXCEPTION", false, "core dumps of the device",
     "they show kernels, not how they were launched"},
	{REPRISE_TOOL_VARIABLE, "NVTX_INJECTION64_PATH", false, "a reader of NVTX ranges",
     "ranges are the host's"},
};

#define TOOL_COUNT (sizeof(tools) / sizeof(tools[0]))

static const struct reprise_tool *found;
static bool stands_aside;

/* State of the process: which of the rows' libraries it has loaded, and its tracer. */
struct process {
	bool has[TOOL_COUNT];
	bool traced;
	char tracer[32];
};

/* Calls `each` with every line of the file. Of a longer line, the last 127 to 255 characters are
 * kept. False if the file cannot be opened. */
static bool read_lines(const char *path, void (*each)(const char *line, struct process *process),
                       struct process *process)
{
	char block[1024], line[256];
	size_t length = 0;
	ssize_t count;
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file < 0)
		return false;
	while ((count = read(file, block, sizeof(block))) > 0 || (count < 0 && errno == EINTR))
		for (ssize_t i = 0; i < count; i++) {
			if (block[i] == '\n') {
				line[length] = '\0';
				each(line, process);
				length = 0;
				continue;
			}
			if (length == sizeof(line) - 1) {
				memmove(line, line + sizeof(line) / 2, length - sizeof(line) / 2);
				length -= sizeof(line) / 2;
			}
			line[length++] = block[i];
		}
	close(file);
	return true;
}

static void note_library(const char *line, struct process *process)
{
	const char *name = strrchr(line, '/');

	for (size_t i = 0; name != NULL && i < TOOL_COUNT; i++)
		if (tools[i].kind == REPRISE_TOOL_LIBRARY && reprise_begins(name + 1, tools[i].sign))
			process->has[i] = true;
}

static int note_loaded(struct dl_phdr_info *library, size_t size, void *process)
{
	note_library(library->dlpi_name, process);
	return 0;
}

static void note_name(const char *line, struct process *process)
{
	snprintf(process->tracer, sizeof(process->tracer), "%s", line);
}

static void note_tracer(const char *line, struct process *process)
{
	char path[64];
	long tracer =
		reprise_begins(line, "TracerPid:") ? strtol(line + strlen("TracerPid:"), NULL, 10) : 0;

	if (tracer <= 0)
		return;
	process->traced = true;
	snprintf(path, sizeof(path), "/proc/%ld/comm", tracer);
	read_lines(path, note_name, process);
}

static bool counts(const char *value)
{
	return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

static bool set(const char *variable)
{
	return strcmp(variable, REPRISE_LISTENER) == 0 ? reprise_tool_listener() != NULL
	                                               : counts(getenv(variable));
}

static bool is_there(size_t row, const struct process *process)
{
	switch (tools[row].kind) {
	case REPRISE_TOOL_VARIABLE:
		return set(tools[row].sign);
	case REPRISE_TOOL_LIBRARY:
		return process->has[row];
	default:
		return process->traced && reprise_begins(process->tracer, tools[row].sign);
	}
}

bool reprise_tools_look(bool ignore)
{
	struct process process = {0};

	/* The file also has what is in other namespaces. */
	if (!read_lines("/proc/self/maps", note_library, &process))
		dl_iterate_phdr(note_loaded, &process);
	read_lines("/proc/self/status", note_tracer, &process);
	for (size_t i = 0; i < TOOL_COUNT && (found == NULL || !found->aside); i++)
		if (is_there(i, &process) && (found == NULL || tools[i].aside))
			found = &tools[i];
	stands_aside = found != NULL && found->aside && !ignore;
	return stands_aside;
}

const struct reprise_tool *reprise_tool_found(void)
{
	return found;
}

bool reprise_tool_aside(void)
{
	return stands_aside;
}

/* By its file's name: asking the loader for it would take a lock. */
bool reprise_tool_listener_is_ours(const char *path)
{
	const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;

	return strcmp(name, "libreprise.so") == 0 || strcmp(name, "libcuda.so.1") == 0;
}

const char *reprise_tool_listener(void)
{
	const char *path = secure_getenv(REPRISE_LISTENER);

	if (counts(path) && reprise_tool_listener_is_ours(path))
		path = secure_getenv(REPRISE_LISTENER_BEFORE);
	return counts(path) && !reprise_tool_listener_is_ours(path) ? path : NULL;
}
