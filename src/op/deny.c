#include "op/deny.h"

#include <fnmatch.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"

static bool matches(const char *name, const char *globs)
{
	char glob[REPRISE_OPTION_TEXT_MOST];

	for (const char *end; *globs != '\0'; globs = *end == '\0' ? end : end + 1) {
		end = strchrnul(globs, ',');
		memcpy(glob, globs, (size_t)(end - globs));
		glob[end - globs] = '\0';
		if (fnmatch(glob, name, 0) == 0)
			return true;
	}
	return false;
}

bool reprise_denied(const char *name)
{
	static atomic_bool told;
	const char *globs = reprise_option_text(REPRISE_OPTION_DENY);

	if (globs[0] == '\0')
		return false;
	if (name == NULL && reprise_option_given(REPRISE_OPTION_DENY) && !atomic_exchange(&told, true))
		reprise_log(
			REPRISE_LOG_WARNING,
			"the driver does not tell kernels' names: REPRISE_DENY denies nothing of those");
	return name != NULL && matches(name, globs);
}
