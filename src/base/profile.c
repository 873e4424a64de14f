#include "base/profile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/options.h"
#include "base/text.h"

/* What keeps the file from being read; NULL: nothing. */
static const char *hindrance(const struct stat *status)
{
	if (!S_ISREG(status->st_mode))
		return "it is no plain file";
	if (status->st_uid != 0 && status->st_uid != geteuid())
		return "it belongs to another user";
	if ((status->st_mode & S_IWOTH) != 0)
		return "everybody may write it";
	if (status->st_size > REPRISE_PROFILE_MOST)
		return "it is too long";
	return NULL;
}

/* The number of bytes read; -1: it cannot be read, with errno. */
static ssize_t read_all(int file, char *text, size_t size)
{
	size_t length = 0;

	while (length < size) {
		ssize_t more = read(file, text + length, size - length);

		if (more < 0 && errno == EINTR)
			continue;
		if (more < 0)
			return -1;
		if (more == 0)
			break;
		length += (size_t)more;
	}
	return (ssize_t)length;
}

/* Without the blanks at both ends. */
static char *trim(char *text)
{
	size_t length;

	while (isspace((unsigned char)*text))
		text++;
	length = strlen(text);
	while (length > 0 && isspace((unsigned char)text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

/* A file that is read. */
struct profile {
	const char *path;
	char shown[REPRISE_OPTION_FILE_MOST]; /* the path, as messages show it */
	unsigned int number;                  /* of the line, from 1 */
	unsigned int wrong;                   /* lines that cannot be used, so far */
};

/* A file of another kind, or one that somebody else has written, must not fill stderr, nor use up
 * the messages of the whole process. */
static bool takes_word(struct profile *profile)
{
	return profile->wrong++ < REPRISE_PROFILE_NAMED_MOST;
}

static void tell_more(const struct profile *profile)
{
	if (profile->wrong > REPRISE_PROFILE_NAMED_MOST)
		reprise_log(REPRISE_LOG_WARNING, "%s: %u more lines cannot be used", profile->shown,
		            profile->wrong - REPRISE_PROFILE_NAMED_MOST);
}

static void take_value(struct profile *profile, enum reprise_option option, const char *value)
{
	char shown[REPRISE_LOG_NAME_MOST], range[REPRISE_OPTION_RANGE_MOST];

	if (reprise_option_take(option, value, profile->path) || !takes_word(profile))
		return;
	reprise_printable(value, SIZE_MAX, shown, sizeof(shown));
	reprise_log(REPRISE_LOG_WARNING, "%s:%u: %s: \"%s\" is not %s", profile->shown, profile->number,
	            reprise_option_rows[option].variable, shown,
	            reprise_option_range(option, range, sizeof(range)));
}

/* The line's name; NULL if it has none to speak of. *value is NULL without an equals sign. */
static char *split(char *line, char **value)
{
	char *name = trim(line);

	if (*name == '\0' || *name == '#')
		return NULL;
	*value = strchr(name, '=');
	if (*value != NULL) {
		*(*value)++ = '\0';
		*value = trim(*value);
	}
	return trim(name);
}

/* By the option's variable, or as the command names it: `--hold`, or `hold`. */
static enum reprise_option option_of(const char *name)
{
	enum reprise_option option = reprise_option_of(name);
	char variable[64] = "REPRISE_";
	size_t length = strlen(variable);

	if (option != REPRISE_OPTION_COUNT)
		return option;
	name += strncmp(name, "--", 2) == 0 ? 2 : 0;
	for (; (islower((unsigned char)*name) || *name == '-') && length < sizeof(variable) - 1; name++)
		variable[length++] = *name == '-' ? '_' : (char)toupper((unsigned char)*name);
	variable[length] = '\0';
	return *name == '\0' ? reprise_option_of(variable) : REPRISE_OPTION_COUNT;
}

static void take_line(struct profile *profile, char *line)
{
	char shown[REPRISE_LOG_NAME_MOST], *value, *name = split(line, &value);
	enum reprise_option option;

	if (name == NULL)
		return;
	option = option_of(name);
	if (value != NULL && option != REPRISE_OPTION_COUNT) {
		take_value(profile, option, value);
	} else if (takes_word(profile)) {
		reprise_printable(name, SIZE_MAX, shown, sizeof(shown));
		reprise_log(REPRISE_LOG_WARNING, "%s:%u: \"%s\" is no %s", profile->shown, profile->number,
		            shown, value == NULL ? "OPTION = value" : "option");
	}
}

static void take_lines(struct profile *profile, char *text)
{
	profile->wrong = 0;
	profile->number = 1;
	for (char *line; (line = strsep(&text, "\n")) != NULL; profile->number++)
		take_line(profile, line);
	tell_more(profile);
}

/*
 * Opens a plain file of the right owner, without waiting for it. What else it is, is not opened:
 * opening alone can act on a device. -1: it is not opened. Then *why is NULL if there is none, or
 * if this program cannot know: it may not look into the folder, or may not ask for files.
 */
static int open_plain(const char *path, const char **why)
{
	struct stat status;
	int file, error;

	*why = NULL;
	if (stat(path, &status) != 0) {
		error = errno;
		if (error != ENOENT && lstat(path, &status) == 0)
			*why = strerrordesc_np(error);
		return -1;
	}
	*why = hindrance(&status);
	if (*why != NULL)
		return -1;
	file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (file < 0)
		*why = strerrordesc_np(errno);
	else if (fstat(file, &status) == 0) /* it may be another one by now */
		*why = hindrance(&status);
	return file;
}

/* The length of what is in the file; -1: it cannot be used, for *why. */
static ssize_t read_plain(int file, char *text, const char **why)
{
	ssize_t length = read_all(file, text, REPRISE_PROFILE_MOST + 1);

	if (length < 0)
		*why = strerrordesc_np(errno);
	else if (length > REPRISE_PROFILE_MOST) /* it grew, or the kernel does not say how long it is */
		*why = "it is too long";
	else if (memchr(text, '\0', (size_t)length) != NULL)
		*why = "it is no text";
	return *why == NULL ? length : -1;
}

/* What is in the file, until the next is read. NULL: it cannot be used, for *why; or there is none,
 * and *why is NULL. */
static char *text_of(const char *path, const char **why)
{
	static char text[REPRISE_PROFILE_MOST + 2];
	ssize_t length = -1;
	int file = open_plain(path, why);

	if (*why == NULL && file >= 0)
		length = read_plain(file, text, why);
	if (file >= 0)
		close(file);
	if (length < 0)
		return NULL;
	text[length] = '\0';
	return text;
}

static void read_file(const char *path)
{
	struct profile profile = {.path = path};
	const char *why;
	char *text = text_of(path, &why);

	if (text == NULL && why == NULL)
		return;
	reprise_printable(path, SIZE_MAX, profile.shown, sizeof(profile.shown));
	if (why != NULL) {
		reprise_log(REPRISE_LOG_WARNING, "%s is not read: %s", profile.shown, why);
		return;
	}
	take_lines(&profile, text);
}

/* Not from the arguments: programs write a title over them (setproctitle). */
const char *reprise_profile_program(void)
{
	const char *started = (const char *)getauxval(AT_EXECFN);

	return started != NULL ? basename(started) : program_invocation_short_name;
}

void reprise_profile_read(const char *folder, const char *program)
{
	char path[REPRISE_OPTION_FILE_MOST];

	if (snprintf(path, sizeof(path), "%s/%s" REPRISE_PROFILE_ENDING, folder, program) <
	    (int)sizeof(path))
		read_file(path);
}

bool reprise_profiles_own(char own[PATH_MAX])
{
	const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int length = -1;

	if (folder != NULL && *folder == '/')
		length = snprintf(own, PATH_MAX, "%s/reprise", folder);
	else if (home != NULL && *home == '/')
		length = snprintf(own, PATH_MAX, "%s/.config/reprise", home);
	return length > 0 && length < PATH_MAX;
}

void reprise_profiles_read(const char *program)
{
	char own[PATH_MAX];

	if (getauxval(AT_SECURE) != 0 || program == NULL || *program == '\0')
		return;
	reprise_profile_read(REPRISE_PROFILES, program);
	if (reprise_profiles_own(own))
		reprise_profile_read(own, program);
	reprise_log_level(reprise_option(REPRISE_OPTION_LOG));
}

static bool gives(char *text, enum reprise_option option)
{
	for (char *line; (line = strsep(&text, "\n")) != NULL;) {
		char *value, *name = split(line, &value);

		if (name != NULL && value != NULL && *value != '\0' && option_of(name) == option)
			return true;
	}
	return false;
}

bool reprise_profile_gives(const char *path, enum reprise_option option)
{
	const char *why;
	char *text = text_of(path, &why);

	return text != NULL && gives(text, option);
}
