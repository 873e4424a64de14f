/*
 * What programs built with older toolkits get: for every function of the driver API and the
 * versions that they ask for, cuGetProcAddress hands out the door of the very form that was current
 * then, and the driver's own function where that form needs no door. Runs on the simulated driver,
 * which knows since when each form is there, with Reprise preloaded.
 */
#include <cuda.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "../../sim/names.h"

struct form {
	const char *name, *function;
	int version;
	const char *suffix;
};

static const struct form forms[] = {
#define FORM(name, function, version, suffix) {#name, #function, version, suffix},
	SIM_NAMES(FORM)};

static const char *const doors[] = {
#define DOOR(name, ...) #name,
#define RECORD DOOR
#define ORDER DOOR
#define SYNC DOOR
#define LIFETIME DOOR
#define OWN DOOR
#define ALLOC DOOR
#define NO_DOOR(name, ...)
#include "../../../preload/entry_points.def"
};

static const int versions[] = {11040, 12000, 12040, 12080, 13000};

static int failures, asked;

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The newest form that is there in `version`, per-thread if that is wanted and there is one; NULL
 * if there is none yet. */
static const struct form *current(const char *function, int version, bool per_thread)
{
	const struct form *found = NULL;

	for (size_t i = 0; i < COUNT(forms); i++) {
		const struct form *form = &forms[i];
		bool own = form->suffix[0] != '\0';

		if (strcmp(form->function, function) != 0 || form->version > version ||
		    (own && !per_thread))
			continue;
		if (found == NULL || (own && found->suffix[0] == '\0') ||
		    (own == (found->suffix[0] != '\0') && form->version > found->version))
			found = form;
	}
	return found;
}

static bool has_door(const char *name)
{
	for (size_t i = 0; i < COUNT(doors); i++)
		if (strcmp(doors[i], name) == 0)
			return true;
	return false;
}

static bool is_reprises(void *address)
{
	Dl_info info;

	return dladdr(address, &info) != 0 && strstr(info.dli_fname, "libreprise") != NULL;
}

static void ask(void *driver, const char *function, int version, bool per_thread)
{
	cuuint64_t flags = per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
	                              : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
	const struct form *form = current(function, version, per_thread);
	CUdriverProcAddressQueryResult status;
	void *address = NULL;

	if (cuGetProcAddress(function, &address, version, flags, &status) != CUDA_SUCCESS)
		address = NULL;
	asked++;
	if (form == NULL ? address != NULL
	                 : address != dlsym(driver, form->name) ||
	                       is_reprises(address) != has_door(form->name)) {
		printf("%s of %d%s is not %s\n", function, version, per_thread ? ", per thread" : "",
		       form != NULL ? form->name : "missing");
		failures++;
	}
}

int main(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);

	if (driver == NULL || cuInit(0) != CUDA_SUCCESS) {
		printf("no driver\n");
		return 1;
	}
	for (size_t i = 0; i < COUNT(forms); i++) {
		for (size_t j = 0; j < COUNT(versions); j++) {
			ask(driver, forms[i].function, versions[j], false);
			ask(driver, forms[i].function, versions[j], true);
		}
	}
	printf("%d look-ups, %d wrong\n", asked, failures);
	return failures != 0;
}
