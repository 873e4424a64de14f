#include "op/name.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "base/options.h"
#include "driver/driver.h"
#include "op/qualified.h"

#define OTHERS (REPRISE_NAMES_MOST - 1)

static struct {
	_Atomic(const char *) name;
	_Atomic uint64_t seen;
} rows[REPRISE_NAMES_MOST];

static uint16_t count = 1;

bool reprise_names_wanted;

const char *reprise_name_of(CUfunction function, bool is_kernel)
{
	const char *name = NULL;
	CUresult result = CUDA_ERROR_NOT_SUPPORTED;

	if (is_kernel && reprise_driver.cuKernelGetName != NULL)
		result = reprise_driver.cuKernelGetName(&name, (CUkernel)function);
	else if (!is_kernel && reprise_driver.cuFuncGetName != NULL)
		result = reprise_driver.cuFuncGetName(&name, function);
	return result == CUDA_SUCCESS ? name : NULL;
}

uint16_t reprise_name_row(const char *name)
{
	const char *kept;

	if (name == NULL)
		return 0;
	for (uint16_t row = 1; row < count; row++)
		if (strncmp(rows[row].name, name, REPRISE_NAME_MOST) == 0)
			return row;
	if (count == REPRISE_NAMES_MOST)
		return OTHERS;
	kept = count == OTHERS ? "others" : strndup(name, REPRISE_NAME_MOST);
	if (kept == NULL)
		return 0;
	atomic_store(&rows[count].name, kept);
	return count++;
}

void reprise_name_seen(uint16_t row)
{
	if (row != 0)
		atomic_fetch_add_explicit(&rows[row].seen, 1, memory_order_relaxed);
}

const char *reprise_name_at(uint16_t row, uint64_t *seen)
{
	*seen = atomic_load(&rows[row].seen);
	return atomic_load(&rows[row].name);
}

void reprise_names_reset(void)
{
	for (unsigned int row = 0; row < REPRISE_NAMES_MOST; row++)
		atomic_store(&rows[row].seen, 0);
}

/* ---- the deny list ---- */

static bool matches(const char *name, const char *globs, struct reprise_deny_texts *texts)
{
	bool mangled = reprise_qualified_name(name, texts->qualified, sizeof(texts->qualified));

	for (const char *end; *globs != '\0'; globs = *end == '\0' ? end : end + 1) {
		end = strchrnul(globs, ',');
		memcpy(texts->glob, globs, (size_t)(end - globs));
		texts->glob[end - globs] = '\0';
		if (reprise_glob_matches(texts->glob, name) ||
		    (mangled && reprise_qualified_matches(texts->glob, texts->qualified)))
			return true;
	}
	return false;
}

bool reprise_denied(const char *name, struct reprise_deny_texts *texts)
{
	static atomic_bool told;
	const char *globs = reprise_option_text(REPRISE_OPTION_DENY);

	if (globs[0] == '\0')
		return false;
	if (name == NULL && reprise_option_given(REPRISE_OPTION_DENY) && !atomic_exchange(&told, true))
		reprise_log(
			REPRISE_LOG_WARNING,
			"the driver does not tell the names of some kernels: REPRISE_DENY has no effect on these");
	return name != NULL && matches(name, globs, texts);
}
