/*
 * The C side of the doors: what a generic door tells the inner rooms, and where an exported name
 * leads.
 *
 * Called from the assembly in doors-*.S on the program's threads, whatever locks the program holds;
 * nothing here takes a lock. While Reprise itself is inside the driver on this thread
 * (reprise_inside), a door says nothing.
 */
#include "door.h"

#include <dlfcn.h>
#include <stddef.h>

#include "base/gate.h"
#include "base/hot.h"
#include "base/inside.h"
#include "base/keep.h"
#include "driver/driver.h"
#include "driver/lookup.h"
#include "entry/entry.h"
#include "stats/sites.h"
#include "attributes.h"
#include "route.h"
#include "scope.h"
#include "spare.h"

/* How many integer arguments travel in registers. */
#if defined(__x86_64__)
#define REGISTER_ARGUMENTS 6
#define RETURN_ADDRESS(registers, stack) ((stack)[-1])
#elif defined(__aarch64__)
#define REGISTER_ARGUMENTS 8
#define RETURN_ADDRESS(registers, stack) ((registers)[9]) /* x17: doors-aarch64.S */
#else
#error "the doors are written for x86-64 and aarch64"
#endif

/* From the assembly, which alone calls them. */
CUresult reprise_door_tell(uint32_t entry, const uint64_t *registers, const uint64_t *stack);
void reprise_door_returned(uint32_t entry, CUresult result);
CUresult reprise_door_ended(uint32_t entry, CUresult result, uintptr_t first_argument);
void *reprise_door_first_call(uint32_t entry, const void *caller);

void *reprise_real[REPRISE_DOOR_COUNT] REPRISE_HOT_DATA;
void *reprise_exported[REPRISE_ENTRY_COUNT];

void *reprise_door_of(unsigned int entry)
{
	const int32_t *distance = &reprise_door_distances[entry];

	return *distance != 0 ? (char *)distance + *distance
	                      : __atomic_load_n(&reprise_real[entry], __ATOMIC_RELAXED);
}

/* The argument at `position`, which the table gives only where all arguments before it are integers
 * too. */
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

/* Anything but CUDA_SUCCESS is answered to the program, and the call is not made. */
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
		reprise_gate_begin_waiting(); /* before what is deferred is issued, so that no more of it
		                                 comes */
	switch ((enum reprise_class)point->class) {
	case REPRISE_CLASS_ORDER:
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

/* Of a call that waits. One that ends a context says of its errors only that they end with it. */
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

/* A LIFETIME entry point of the driver has returned. A handle is the first argument; where it is
 * another, it says nothing to us. */
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

/* A caller that names the driver's function: through the door unless Reprise is off. NULL if there
 * is no driver, or no such function. */
static void *in_driver(uint32_t entry)
{
	enum reprise_mode mode = reprise_route_open(true);
	void *real = __atomic_load_n(&reprise_real[entry], __ATOMIC_RELAXED);

	if (real == NULL && reprise_driver_handle() != NULL)
		real = reprise_real_dlsym(reprise_driver_handle(), reprise_entry_name(entry));
	return real != NULL && reprise_inside == 0 && mode != REPRISE_MODE_OFF ? reprise_door_of(entry)
	                                                                       : real;
}

static void *settle(uint32_t entry, void *target)
{
	if (target == NULL)
		return (void *)reprise_door_missing;
	if (reprise_inside == 0) /* else it is too early */
		__atomic_store_n(&reprise_exported[entry], target, __ATOMIC_RELEASE);
	return target;
}

/*
 * The name is defined elsewhere, too, but not in the global scope: each caller is to get what it
 * would have got without us. (A call at a function's end has the return address of another object,
 * which may see none of them.)
 */
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

/*
 * Where a program that links the driver is to go from now on: to the next object that has this
 * name, as if we were not there, if that is not the driver itself; otherwise to the driver. Once
 * Reprise has started this leaves dlerror alone, unless the name is defined elsewhere.
 */
void *reprise_door_first_call(uint32_t entry, const void *caller)
{
	REPRISE_KEEP_ERRNO;
	const char *name = reprise_entry_name(entry);
	void *elsewhere = reprise_scope_other_definition(name);
	void *next;

	if (elsewhere == NULL)
		return settle(entry, in_driver(entry));
	next = reprise_real_dlsym(RTLD_NEXT, name);
	if (next == NULL) {
		(void)dlerror();
		/* A layer that comes before us calls on, and not itself. */
		return is_first(name) ? in_scope_of(caller, entry, elsewhere)
		                      : settle(entry, in_driver(entry));
	}
	/* Another layer will come through the door when it looks for the driver itself. */
	return settle(entry, reprise_scope_is_drivers(next) ? in_driver(entry) : next);
}
