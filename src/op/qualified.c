#include "op/qualified.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "base/options.h"

#define NAMELESS "_GLOBAL__N_" /* how compilers name a namespace without a name */

/* A name that is put together part by part. */
struct name {
	char *text;
	size_t length, size;
};

static bool add(struct name *name, const char *part, size_t length)
{
	const char *between = name->length > 0 ? "::" : "";

	if (name->length + strlen(between) + length >= name->size)
		return false;
	memcpy(name->text + name->length, between, strlen(between));
	name->length += strlen(between);
	memcpy(name->text + name->length, part, length);
	name->length += length;
	name->text[name->length] = '\0';
	return true;
}

/* Reads a length and so many characters at *at, and moves it behind them. */
static bool read_part(const char **at, const char **part, size_t *length)
{
	size_t count = 0;

	for (; isdigit((unsigned char)**at); (*at)++) {
		count = count * 10 + (size_t)(**at - '0');
		if (count > REPRISE_OPTION_TEXT_MOST)
			return false;
	}
	if (count == 0 || strnlen(*at, count) < count)
		return false;
	*part = *at;
	*length = count;
	*at += count;
	return true;
}

static bool take_part(struct name *name, const char **at)
{
	const char *part;
	size_t length;

	if (**at == 'L') /* of this object alone */
		(*at)++;
	if (!read_part(at, &part, &length))
		return false;
	return strncmp(part, NAMELESS, strlen(NAMELESS)) == 0 && length >= strlen(NAMELESS)
	           ? add(name, "(anonymous namespace)", strlen("(anonymous namespace)"))
	           : add(name, part, length);
}

bool reprise_qualified_name(const char *mangled, char *text, size_t size)
{
	struct name name = {text, 0, size};
	const char *at = mangled + 2;
	bool nested;

	if (strncmp(mangled, "_Z", 2) != 0)
		return false;
	nested = *at == 'N';
	at += nested;
	at += nested ? strspn(at, "rVK") : 0;
	if (strncmp(at, "St", 2) == 0) {
		at += 2;
		if (!add(&name, "std", 3))
			return false;
	}
	if (!take_part(&name, &at))
		return false;
	while (nested && (isdigit((unsigned char)*at) || *at == 'L'))
		if (!take_part(&name, &at))
			return false;
	return true;
}

/* Where the glob's template arguments or parameters begin, or its end. A namespace without a name
 * has a bracket, too, at the begin of its part. */
static size_t name_length(const char *glob)
{
	size_t length = strcspn(glob, "<(");

	while (glob[length] == '(' && (length == 0 || glob[length - 1] == ':'))
		length += 1 + strcspn(glob + length + 1, "<(");
	return length;
}

bool reprise_glob_matches(const char *glob, const char *name)
{
	const char *longest = glob;
	size_t most = 0;

	for (const char *at = glob; *at != '\0';) {
		size_t length = strcspn(at, "*?[\\");

		if (length > most) {
			longest = at;
			most = length;
		}
		if (at[length] == '[' || at[length] == '\\')
			break; /* what is in brackets is no part */
		at += length + (at[length] != '\0');
	}
	return memmem(name, strlen(name), longest, most) != NULL && fnmatch(glob, name, 0) == 0;
}

bool reprise_qualified_matches(char *glob, const char *name)
{
	const char *last = name;
	size_t length;

	if (strncmp(glob, "void ", 5) == 0)
		glob += 5;
	length = name_length(glob);
	if (length == 0)
		return false;
	glob[length] = '\0';
	for (const char *at = name; (at = strstr(at, "::")) != NULL;)
		last = at += 2;
	return reprise_glob_matches(glob, name) ||
	       (strstr(glob, "::") == NULL && reprise_glob_matches(glob, last));
}
