/*
 * The functions of the fake driver whose answers matter.
 *
 * cuGetProcAddress is as driver 580 has it: base names only, the newest version that the caller
 * knows, the _ptsz form on request; version 2 succeeds with NULL for names that it does not know,
 * version 1 fails and writes nothing.
 */
#include "../fake_driver.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags);
unsigned int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                                 int *status);

/* One function by two names, of which cuLogsCurrent alone would need no door. */
unsigned int one_function(void) __asm__("cuMemGetAttribute");
unsigned int other_name(void) __asm__("cuLogsCurrent") __attribute__((alias("cuMemGetAttribute")));

unsigned int one_function(void)
{
	fake_log.name = "cuMemGetAttribute";
	if (fake_log.called != NULL)
		fake_log.called();
	return fake_log.result;
}

unsigned int cuStreamIsCapturing(uint64_t stream, int *status);

unsigned int cuStreamIsCapturing(uint64_t stream, int *status)
{
	(void)stream;
	*status = fake_log.capturing;
	return 0;
}

struct named {
	const char *name;
	void *function;
};

/* By label: what they are does not matter here. */
#define DECLARE(name) extern char symbol_##name __asm__(#name);
#define ENTRY(name, ...) DECLARE(name)
#include "../../../../preload/entry_points.def"
FAKE_UNKNOWN(DECLARE)

#define NAMED(name) {#name, &symbol_##name},
#define ENTRY(name, ...) NAMED(name)
static const struct named known[] = {
#include "../../../../preload/entry_points.def"
	FAKE_UNKNOWN(NAMED)};

/* cuSpare0 to cuSpare999: as many unknown functions as a test may ask for, none of them to be
 * called. */
static char spare[1000];

static void *named(const char *base, const char *version, const char *form)
{
	char name[200];

	snprintf(name, sizeof(name), "%s%s%s", base, version, form);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].name, name) == 0)
			return known[i].function;
	}
	return NULL;
}

static void *look_up(const char *symbol, int version, uint64_t flags)
{
	static const struct {
		const char *suffix;
		int since;
	} versions[] = {{"_v9", 90000}, {"_v3", 12000}, {"_v2", 3020}, {"", 0}};
	void *found = NULL;

	if (strcmp(symbol, "cuGetProcAddress") == 0)
		return named(symbol, version >= 12000 ? "_v2" : "", "");
	if (strncmp(symbol, "cuSpare", 7) == 0)
		return &spare[atoi(symbol + 7)];
	if (strstr(symbol, "_v") != NULL || strstr(symbol, "_pt") != NULL)
		return NULL;
	for (int form = flags == 2 ? 1 : 0; found == NULL && form >= 0; form--) {
		for (size_t i = 0; found == NULL && i < sizeof(versions) / sizeof(versions[0]); i++) {
			if (version >= versions[i].since)
				found = named(symbol, versions[i].suffix, form == 1 ? "_ptsz" : "");
		}
	}
	return found;
}

unsigned int cuGetProcAddress(const char *symbol, void **function, int version, uint64_t flags)
{
	void *found = look_up(symbol, version, flags);

	if (found == NULL)
		return 500;
	*function = found;
	return 0;
}

unsigned int cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                                 int *status)
{
	*function = look_up(symbol, version, flags);
	if (status != NULL)
		*status = *function == NULL;
	return 0;
}
