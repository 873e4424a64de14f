#include "cli/library.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/options.h"
#include "base/profile.h"
#include "base/tools.h"
#include "driver/search.h"

_Static_assert(REPRISE_CLI_PATH_MOST >= PATH_MAX, "realpath(3) writes as much");

/* `installed` and `built` are relative to this command's folder, so an installation may be moved as
 * a whole. `last` is the configured place, for a command that was moved alone. */
static bool find(char path[REPRISE_CLI_PATH_MOST], const char *installed, const char *built,
                 const char *last)
{
	const char *const places[] = {installed, built};
	char self[REPRISE_CLI_PATH_MOST];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length > 0) {
		self[length] = '\0';
		*strrchr(self, '/') = '\0';
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			char candidate[REPRISE_CLI_PATH_MOST + 64];

			snprintf(candidate, sizeof(candidate), "%s/%s", self, places[i]);
			if (realpath(candidate, path) != NULL)
				return true;
		}
	}
	snprintf(path, REPRISE_CLI_PATH_MOST, "%s", last);
	return access(path, R_OK) == 0;
}

bool reprise_cli_find_library(char path[REPRISE_CLI_PATH_MOST])
{
	return find(path, REPRISE_LIBDIR_FROM_HERE "/libreprise.so", "../../preload/libreprise.so",
	            REPRISE_LIBDIR "/libreprise.so");
}

bool reprise_cli_find_stand_in(char folder[REPRISE_CLI_PATH_MOST])
{
	if (!find(folder, REPRISE_LIBDIR_FROM_HERE "/reprise/" REPRISE_DRIVER_NAME,
	          "../../preload/stand_in/" REPRISE_DRIVER_NAME,
	          REPRISE_LIBDIR "/reprise/" REPRISE_DRIVER_NAME))
		return false;
	*strrchr(folder, '/') = '\0';
	return true;
}

bool reprise_cli_find_reader(char folder[REPRISE_CLI_PATH_MOST])
{
	return find(folder, "../share/reprise/reader", "reader", REPRISE_DATADIR "/reprise/reader");
}

bool reprise_cli_can_be_listed(const char *path)
{
	return strpbrk(path, " :") == NULL;
}

bool reprise_cli_stand_in_leads(void)
{
	void *handle = dlopen(REPRISE_DRIVER_NAME, RTLD_LAZY);

	return handle != NULL && reprise_is_stand_in(handle);
}

void *reprise_cli_open_driver(char path[REPRISE_CLI_PATH_MOST])
{
	void *handle = dlopen(REPRISE_DRIVER_NAME, RTLD_LAZY);
	struct link_map *map;

	if (handle != NULL && reprise_is_stand_in(handle))
		handle = reprise_driver_open_past(handle, RTLD_LAZY);
	return handle != NULL && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 &&
	               realpath(map->l_name, path) != NULL
	           ? handle
	           : NULL;
}

/* Puts `first` in front of the variable's value. */
static bool put_before(const char *variable, const char *first)
{
	const char *before = getenv(variable);
	bool any = before != NULL && before[0] != '\0';
	size_t size = strlen(first) + (any ? strlen(before) : 0) + 2;
	char *value = malloc(size);
	bool done = false;

	if (value != NULL) {
		snprintf(value, size, "%s%s%s", first, any ? ":" : "", any ? before : "");
		done = setenv(variable, value, 1) == 0;
	}
	free(value);
	return done;
}

static bool is_profile(const char *name)
{
	size_t length = strlen(name), ending = strlen(REPRISE_PROFILE_ENDING);

	return length > ending && strcmp(name + length - ending, REPRISE_PROFILE_ENDING) == 0;
}

/* True if a profile of that folder names ranges. */
static bool profile_names_ranges(const char *folder)
{
	char path[REPRISE_OPTION_FILE_MOST];
	DIR *directory = opendir(folder);
	struct dirent *entry;
	bool found = false;

	while (!found && directory != NULL && (entry = readdir(directory)) != NULL)
		found = is_profile(entry->d_name) &&
		        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name) < (int)sizeof(path) &&
		        reprise_profile_gives(path, REPRISE_OPTION_NVTX_OFF);
	if (directory != NULL)
		closedir(directory);
	return found;
}

/* True if the environment or else a profile names ranges. Which programs the command's program
 * starts is not known here, so the profile of any program counts: the library reads that of its own
 * program, and only passes on what it hears if no range is named there. */
static bool ranges_are_named(void)
{
	const char *names = getenv(reprise_option_rows[REPRISE_OPTION_NVTX_OFF].variable);
	char own[PATH_MAX];

	if (names != NULL)
		return names[0] != '\0';
	return profile_names_ranges(REPRISE_PROFILES) ||
	       (reprise_profiles_own(own) && profile_names_ranges(own));
}

/* With REPRISE_NVTX_OFF, NVTX in the program loads `library`, which passes on what it hears to what
 * NVTX would have loaded. */
static bool hear_ranges(const char *library)
{
	const char *before = getenv(REPRISE_LISTENER);

	if (!ranges_are_named())
		return true;
	/* This command may be run by a program that runs under it. */
	if ((before == NULL || !reprise_tool_listener_is_ours(before)) &&
	    setenv(REPRISE_LISTENER_BEFORE, before != NULL ? before : "", 1) != 0)
		return false;
	return setenv(REPRISE_LISTENER, library, 1) == 0;
}

bool reprise_cli_preload(void)
{
	char library[REPRISE_CLI_PATH_MOST];

	if (!reprise_cli_find_library(library)) {
		fprintf(stderr,
		        "reprise: libreprise.so was not found beside this command nor in " REPRISE_LIBDIR
		        "\n");
		return false;
	}
	if (!reprise_cli_can_be_listed(library)) {
		fprintf(
			stderr,
			"reprise: the loader would take %s, which has a space or colon in it, for several libraries: install it elsewhere\n",
			library);
		return false;
	}
	return put_before("LD_PRELOAD", library) && hear_ranges(library);
}

/* The stand-in is loaded when the program opens the driver. The program may have given stderr's
 * number to another file by then. */
static void tell_stderr(void)
{
	char text[REPRISE_LOG_STDERR_MOST];
	struct stat status;

	if (fstat(STDERR_FILENO, &status) != 0)
		return;
	snprintf(text, sizeof(text), REPRISE_LOG_STDERR_FORM, (unsigned long long)status.st_dev,
	         (unsigned long long)status.st_ino);
	setenv(REPRISE_LOG_STDERR, text, 1);
}

bool reprise_cli_stand_in(void)
{
	char folder[REPRISE_CLI_PATH_MOST], driver[REPRISE_CLI_PATH_MOST];
	char library[REPRISE_CLI_PATH_MOST + sizeof("/" REPRISE_DRIVER_NAME)];

	if (!reprise_cli_find_stand_in(folder)) {
		fprintf(
			stderr,
			"reprise: the stand-in for libcuda.so.1 was not found beside this command nor in " REPRISE_LIBDIR
			"/reprise\n");
		return false;
	}
	if (reprise_cli_open_driver(driver) == NULL) {
		fprintf(
			stderr,
			"reprise: there is no libcuda.so.1 for the stand-in to lead to: the program runs without it\n");
		return true;
	}
	tell_stderr();
	snprintf(library, sizeof(library), "%s/" REPRISE_DRIVER_NAME, folder);
	return put_before("LD_LIBRARY_PATH", folder) && hear_ranges(library);
}
