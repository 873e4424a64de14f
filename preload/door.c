/*
 * The C side of the doors: what a generic door tells the inner rooms, and where an exported name
 * leads.
 *
 * Called from the assembly in doors-*.S on the program's threads, whatever locks the program holds.
 * Takes no lock of its own. A door tells nothing while Reprise itself is in the driver on this
 * thread (reprise_inside).
 */
#include "doors.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/gate.h"
#include "base/inside.h"
#include "base/keep.h"
#include "driver/driver.h"
#include "driver/loader.h"
#include "entry/entry.h"
#include "stats/sites.h"
#include "route.h"
#include "scope.h"

/* The number of integer arguments that are passed in registers. */
#if defined(__x86_64__)
#define REGISTER_ARGUMENTS 6
#define RETURN_ADDRESS(registers, stack) ((stack)[-1])
#elif defined(__aarch64__)
#define REGISTER_ARGUMENTS 8
#define RETURN_ADDRESS(registers, stack) ((registers)[9]) /* x17: doors-aarch64.S */
#else
#error "the doors are written for x86-64 and aarch64"
#endif

/* Called from the assembly only. */
CUresult reprise_door_tell(uint32_t entry, const uint64_t *registers, const uint64_t *stack);
void reprise_door_returned(uint32_t entry, CUresult result);
CUresult reprise_door_ended(uint32_t entry, CUresult result, uintptr_t first_argument);
void *reprise_door_first_call(uint32_t entry, const void *caller);

/* The argument at `position`, 0 if there is none. The table gives a position only if all arguments
 * before it are integers too. */
static uintptr_t argument(unsigned int position, const uint64_t *registers, const uint64_t *stack)
{
	if (position == 0)
		return 0;
	return position <= REGISTER_ARGUMENTS ? registers[position - 1]
	                                      : stack[position - 1 - REGISTER_ARGUMENTS];
}

static uintptr_t handle_of(const struct reprise_entry_point *point, uintptr_t handle)
{
	return point->what == REPRISE_LIFETIME_ATTRIBUTES && handle == 0 && point->per_thread
	           ? (uintptr_t)CU_STREAM_PER_THREAD
	           : handle;
}

static void forget_attributes(enum reprise_lifetime what)
{
	if (what == REPRISE_LIFETIME_CODE || reprise_ends_context(what))
		reprise_attributes_forget();
}

/* Returns the program's result if it is not CUDA_SUCCESS: the call is not made then. */
CUresult reprise_door_tell(uint32_t entry, const uint64_t *registers, const uint64_t *stack)
{
	if (reprise_inside)
		return CUDA_SUCCESS;
	reprise_gate_doubt_no_more();
	if (entry >= REPRISE_ENTRY_COUNT) {
		reprise_spare_tell(entry);
		return CUDA_SUCCESS;
	}

	const struct reprise_entry_point *point = &reprise_entry_points[entry];
	uintptr_t value = argument(point->argument, registers, stack);
	const void *from = (const void *)RETURN_ADDRESS(registers, stack);

	if (point->waits)
		reprise_gate_begin_waiting(); /* first, so that nothing more is deferred */
	switch ((enum reprise_class)point->class) {
	case REPRISE_CLASS_ORDER:
		reprise_call_site_note_some(REPRISE_CALL_SITE_orders, reprise_entry_name(entry), from);
		reprise_order((CUstream)value, point->per_thread);
		break;
	case REPRISE_CLASS_LIFETIME:
		reprise_call_site_note(REPRISE_CALL_SITE_ends, reprise_entry_name(entry), from);
		forget_attributes(point->what);
		reprise_lifetime(point->what, handle_of(point, value));
		break;
	default:
		reprise_call_site_note(REPRISE_CALL_SITE_waits, reprise_entry_name(entry), from);
		if (point->what <= REPRISE_SYNC_CONTEXT && !point->waits)
			return reprise_wait(point->what, value, point->per_thread);
		reprise_sync(point->what, value, point->per_thread);
		break;
	}
	return CUDA_SUCCESS;
}

/* After a call that waits. Errors of a call that ends a context are ignored: they end with it. */
void reprise_door_returned(uint32_t entry, CUresult result)
{
	const struct reprise_entry_point *point = &reprise_entry_points[entry];

	if (reprise_inside)
		return;
	reprise_gate_end_waiting();
	if (result != CUDA_SUCCESS &&
	    !(point->class == REPRISE_CLASS_LIFETIME && reprise_ends_context(point->what)))
		reprise_observe_result(result);
}

/* After a LIFETIME call of the driver. Only a first argument can be the handle here; others are
 * ignored. */
CUresult reprise_door_ended(uint32_t entry, CUresult result, uintptr_t first_argument)
{
	REPRISE_KEEP_ERRNO;
	const struct reprise_entry_point *point = &reprise_entry_points[entry];

	if (reprise_inside)
		return result;
	if (point->waits)
		reprise_door_returned(entry, result);
	forget_attributes(point->what);
	reprise_lifetime_ended(point->what, handle_of(point, point->argument == 1 ? first_argument : 0),
	                       result);
	return result;
}

/* What a caller that names the driver's function gets: the door, or the function itself if Reprise
 * is off. NULL if there is no driver or no such function. */
static void *in_driver(uint32_t entry)
{
	enum reprise_mode mode = reprise_route_open(true);
	void *real = __atomic_load_n(&reprise_real[entry], __ATOMIC_RELAXED);

	if (real == NULL && reprise_driver_handle() != NULL)
		real = reprise_real_dlsym(reprise_driver_handle(), reprise_entry_name(entry));
	return real != NULL && reprise_inside == 0 && mode != REPRISE_MODE_OFF ? reprise_door_of(entry)
	                                                                       : real;
}

static void *lead_to(uint32_t entry, void *target)
{
	if (target == NULL)
		return (void *)reprise_door_missing;
	if (reprise_inside == 0) /* otherwise it is too early */
		__atomic_store_n(&reprise_exported[entry], target, __ATOMIC_RELEASE);
	return target;
}

/* The name is also defined elsewhere, but not in the global scope: each caller gets what it would
 * get without Reprise. (A tail call has the return address of another object, which may see none of
 * the definitions.) */
static void *in_scope_of(const void *caller, uint32_t entry, void *elsewhere)
{
	void *own = reprise_scope_of_caller(caller, reprise_entry_name(entry));
	void *driver;

	if (own != NULL && !reprise_is_exported(own) && !reprise_scope_is_drivers(own))
		return own;
	if (own == NULL)
		return elsewhere;
	driver = in_driver(entry);
	return driver != NULL ? driver : (void *)reprise_door_missing;
}

static bool is_first(const char *name)
{
	return reprise_is_exported(reprise_real_dlsym(RTLD_DEFAULT, name));
}

/* Where a program that links the driver goes from now on: to the next object that defines the name,
 * as without Reprise, unless that object is the driver; else to the driver's door. Once Reprise has
 * started, this leaves dlerror alone, unless the name is defined elsewhere. */
void *reprise_door_first_call(uint32_t entry, const void *caller)
{
	REPRISE_KEEP_ERRNO;
	const char *name = reprise_entry_name(entry);
	void *elsewhere = reprise_scope_other_definition(name);
	void *next;

	if (elsewhere == NULL)
		return lead_to(entry, in_driver(entry));
	next = reprise_real_dlsym(RTLD_NEXT, name);
	if (next == NULL) {
		(void)dlerror();
		/* A layer in front of Reprise calls on; it must not get itself. */
		return is_first(name) ? in_scope_of(caller, entry, elsewhere)
		                      : lead_to(entry, in_driver(entry));
	}
	/* Another layer gets the door when it looks for the driver itself. */
	return lead_to(entry, reprise_scope_is_drivers(next) ? in_driver(entry) : next);
}
