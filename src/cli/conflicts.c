#include "cli/doctor.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/text.h"
#include "base/tools.h"
#include "cli/binary.h"
#include "cli/library.h"
#include "cli/output_check.h"

static void not_preloaded(struct reprise_hindrances *hindrances, const char *why)
{
	reprise_hindrance_note(hindrances->preloading, sizeof(hindrances->preloading), "%s", why);
}

/* Loads the library to test it: nothing of it runs at load time. */
static void tell_library(struct reprise_hindrances *hindrances)
{
	char path[REPRISE_CLI_PATH_MOST], what[REPRISE_CLI_PATH_MOST + 512];

	if (!reprise_cli_find_library(path)) {
		reprise_cli_tell_conflict("there is no libreprise.so beside this command",
		                          "install both together, and move them together");
		not_preloaded(hindrances, "there is no libreprise.so beside this command");
		return;
	}
	if (!reprise_cli_can_be_listed(path)) {
		reprise_cli_tell_conflict(
			"the library's path has a space or a colon, at which LD_PRELOAD is split",
			"install it elsewhere");
		not_preloaded(hindrances, "the library's path has a space or a colon in it");
	}
	if (dlopen(path, RTLD_NOW | RTLD_LOCAL) == NULL) {
		const char *error = dlerror();

		/* A preloaded library always has static TLS; one loaded here may not. */
		if (strstr(error, "static TLS") != NULL)
			return;
		snprintf(what, sizeof(what), "the library cannot be loaded: %s", error);
		reprise_cli_tell_conflict(
			what, "it was built for another C library or another machine than this: build it here");
		not_preloaded(hindrances, what);
	}
}

static void tell_tool(struct reprise_hindrances *hindrances)
{
	const struct reprise_tool *tool;
	bool ignore = reprise_option(REPRISE_OPTION_TOOLS) == 1;
	char what[512];

	reprise_tools_look(ignore);
	tool = reprise_tool_found();
	if (tool == NULL || !tool->aside)
		return;
	snprintf(what, sizeof(what), "%s (%s): %s", tool->name, tool->sign, tool->why);
	if (!ignore)
		reprise_hindrance_note(hindrances->replaying, sizeof(hindrances->replaying),
		                       "Reprise would stand aside for %s", tool->name);
	reprise_cli_tell_conflict(
		what, ignore ? "Reprise goes on all the same, since REPRISE_TOOLS is ignore"
					 : "Reprise stands aside for it; REPRISE_TOOLS=ignore replays all the same");
}

static void tell_mode(void)
{
	if (reprise_option(REPRISE_OPTION_MODE) == 0)
		reprise_cli_tell_conflict("REPRISE is off: what is preloaded by hand passes every call on",
		                          "unset it; reprise run sets it by itself");
}

static void tell_stand_in(void)
{
	if (reprise_cli_stand_in_leads())
		reprise_cli_tell_conflict(
			"the stand-in is on the library path: every program that finds it there is under Reprise already",
			"a preloaded library leaves everything to it, so this does no harm; take it from LD_LIBRARY_PATH to have it otherwise");
}

/* One library of LD_PRELOAD. */
static void tell_preloaded(const char *library)
{
	const char *name = strrchr(library, '/') != NULL ? strrchr(library, '/') + 1 : library;
	struct reprise_binary binary = reprise_binary_read(library);
	char what[REPRISE_CLI_PATH_MOST + 128];

	if (strcmp(name, "libreprise.so") == 0)
		reprise_cli_tell("preloaded", "%s: every program is under Reprise already", library);
	else if (binary.names_calls || binary.names_dlsym) {
		snprintf(what, sizeof(what), "%s is preloaded, too, and seems to stand in for %s", library,
		         binary.names_calls ? "calls of the driver" : "dlsym");
		reprise_cli_tell_conflict(
			what,
			"both are served where it asks for the next dlsym; if something is wrong, try the other order, and without it");
	} else
		reprise_cli_tell("preloaded", "%s", library);
}

static void tell_preloads(void)
{
	char *list = getenv("LD_PRELOAD") != NULL ? strdup(getenv("LD_PRELOAD")) : NULL;
	char *rest = list;

	for (const char *library = strsep(&rest, ": "); library != NULL; library = strsep(&rest, ": "))
		if (library[0] != '\0')
			tell_preloaded(library);
	free(list);
}

/* ---- output files ---- */

/* `by_profile`: a profile says so, which the command does not read. */
static void tell_output(const char *what, const char *path, const char *problem, bool by_profile,
                        struct reprise_hindrances *hindrances)
{
	char shown[REPRISE_OPTION_TEXT_MOST], words[REPRISE_OPTION_TEXT_MOST + 256];

	reprise_printable(path, SIZE_MAX, shown, sizeof(shown));
	if (problem == NULL) {
		reprise_cli_tell(what, "%s, which can be written to", shown);
		return;
	}
	snprintf(words, sizeof(words), "cannot write %s to %s: %s", what, shown, problem);
	if (!by_profile)
		reprise_hindrance_note(hindrances->starting, sizeof(hindrances->starting), "%s", words);
	reprise_cli_tell_conflict(
		words,
		by_profile
			? "the program runs and leaves none: choose another place in its profile"
			: "reprise run refuses to start the program so, and preloaded by hand it runs and leaves none: choose another place");
}

static void tell_outputs(struct reprise_hindrances *hindrances)
{
	static const struct {
		enum reprise_option option;
		const char *what;
	} outputs[] = {{REPRISE_OPTION_REPORT, "report"},
	               {REPRISE_OPTION_TIMELINE, "timeline"},
	               {REPRISE_OPTION_RECORD, "recording"},
	               {REPRISE_OPTION_DOT, "drawings"},
	               {REPRISE_OPTION_METRICS, "metrics"}};
	char scratch[REPRISE_SCRATCH_MOST], words[256];

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		enum reprise_option option = outputs[i].option;
		const char *path = reprise_option_text(option);

		if (path[0] != '\0' && !(option == REPRISE_OPTION_REPORT && strcmp(path, "stderr") == 0))
			tell_output(outputs[i].what, path, reprise_output_check_option(option, path),
			            reprise_option_origin(option)[0] == '/', hindrances);
	}
	if (reprise_scratch_make(scratch)) {
		reprise_scratch_remove(scratch);
		return;
	}
	snprintf(words, sizeof(words), "cannot make a folder for reports in $TMPDIR or /tmp: %s",
	         strerror(errno));
	reprise_cli_tell_conflict(
		words, "reprise run has nothing to tell at the end then, unless --report says where to");
}

void reprise_cli_tell_conflicts(struct reprise_hindrances *hindrances)
{
	tell_outputs(hindrances);
	tell_library(hindrances);
	tell_mode();
	tell_tool(hindrances);
	tell_stand_in();
	tell_preloads();
}
