/*
 * The part of the exported dlsym that is not a plain jump: names that begin with "cu" and a
 * capital.
 *
 * Only look-ups that a door replaces are answered here. For all others the assembly enters the C
 * library's dlsym with the program's return address on the stack, so results and dlerror are as
 * without Reprise. May be called from anywhere, also before anything is initialised. Takes no lock.
 */
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>

#include "base/inside.h"
#include "base/keep.h"
#include "driver/driver.h"
#include "driver/loader.h"
#include "entry_points.h"
#include "route.h"
#include "scope.h"

/* Returned in two registers; the assembly reads them. */
struct reprise_found {
	void *address;
	uintptr_t answered; /* 0: ask the C library */
};

struct reprise_found reprise_dlsym(void *handle, const char *name, const void *caller);

static const struct reprise_found not_ours = {NULL, 0};

static struct reprise_found answer(void *address)
{
	return (struct reprise_found){address, 1};
}

/*
 * The look-up found Reprise's exported name, since a preloaded object comes first. Returns what it
 * would have found without Reprise: the next definition in the global scope, else `scope`, from the
 * caller's own scope. The driver's function is replaced by its door. NULL if there is neither: the
 * program sees NULL too.
 */
static struct reprise_found past_ourselves(const char *name, void *scope)
{
	enum reprise_mode mode = reprise_route_open(false);
	void *address = reprise_real_dlsym(RTLD_NEXT, name);
	void *door;

	if (address == NULL && scope != NULL) {
		(void)dlerror();
		address = scope;
	}
	if (address == NULL || mode == REPRISE_MODE_OFF)
		return answer(address);
	door = reprise_route_driver(name, address);
	return answer(door != NULL ? door : address);
}

/* True if a look-up from `caller` finds the driver's function at `address`. */
static bool sees_driver(const char *name, const void *address, const void *caller)
{
	return reprise_scope_has_driver() || reprise_scope_of_caller(caller, name) == address;
}

/* RTLD_NEXT: the first definition after the caller, which may itself be a layer over the driver.
 * Only a definition of the driver's or of Reprise's matters. A driver loaded with RTLD_LOCAL is
 * seen only by the objects that need it. */
static struct reprise_found next_after(const char *name, const void *caller)
{
	enum reprise_mode mode = reprise_route_open(false);
	struct link_map *map = reprise_scope_object(caller);

	for (map = map != NULL ? map->l_next : NULL; map != NULL; map = map->l_next) {
		void *address = reprise_own_definition(map, name);

		if (address == NULL)
			continue;
		if (reprise_is_exported(address))
			return past_ourselves(name, NULL);

		void *door = mode != REPRISE_MODE_OFF ? reprise_route_driver(name, address) : NULL;

		return door != NULL && sees_driver(name, address, caller) ? answer(door) : not_ours;
	}
	return not_ours;
}

struct reprise_found reprise_dlsym(void *handle, const char *name, const void *caller)
{
	REPRISE_KEEP_ERRNO;

	if (reprise_inside != 0)
		return not_ours;
	if (handle == RTLD_NEXT)
		return next_after(name, caller);

	void *address = reprise_real_dlsym(handle, name);

	if (address == NULL)
		return not_ours;
	if (reprise_is_exported(address))
		return past_ourselves(name, handle == RTLD_DEFAULT ? reprise_scope_of_caller(caller, name)
		                                                   : NULL);
	if (reprise_route_open(false) == REPRISE_MODE_OFF)
		return not_ours;

	void *door = reprise_route_driver(name, address);

	return door != NULL ? answer(door) : not_ours;
}
