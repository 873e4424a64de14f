/*
 * The table of the driver's addresses.
 *
 * Open addressing: each slot is one word with an entry and its address, filled by compare-and-swap,
 * never emptied. A look-up takes no lock, and a thread that is stopped half way blocks no other.
 * Threads that open at the same time do the same work twice. A lock could deadlock: a constructor
 * that calls CUDA holds the loader's lock, and dlsym takes that lock too.
 */
#include "route.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>

#include "base/inside.h"
#include "base/log.h"
#include "driver/driver.h"
#include "driver/loader.h"
#include "driver/search.h"
#include "entry/entry.h"
#include "doors.h"
#include "entry_points.h"

#define SLOT_COUNT 4096 /* a power of two, at least three times the number of doors */
#define ADDRESS_BITS 48 /* as far as Linux goes unless a hint asks for more */

_Static_assert(SLOT_COUNT >= 3 * REPRISE_DOOR_COUNT, "the table must stay sparse");
_Static_assert(REPRISE_DOOR_COUNT < 1 << (64 - ADDRESS_BITS), "an entry must fit above an address");

static _Atomic uint64_t slots[SLOT_COUNT];

/* 0 until the table is filled, then 1 + enum reprise_mode. */
static atomic_int opened;

static uint64_t pack(unsigned int entry, void *address)
{
	return (uint64_t)entry << ADDRESS_BITS | (uintptr_t)address;
}

static unsigned int entry_of(uint64_t word)
{
	return (unsigned int)(word >> ADDRESS_BITS);
}

static bool holds(uint64_t word, void *address)
{
	return word << (64 - ADDRESS_BITS) == (uint64_t)(uintptr_t)address << (64 - ADDRESS_BITS);
}

static enum reprise_class class_of(unsigned int entry)
{
	return entry < REPRISE_ENTRY_COUNT ? reprise_entry_points[entry].class : REPRISE_CLASS_SYNC;
}

static size_t first_slot(void *address)
{
	return ((uintptr_t)address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 52;
}

/* The entry of `address`, or REPRISE_DOOR_COUNT. */
static unsigned int find(void *address)
{
	for (size_t i = first_slot(address);; i = (i + 1) % SLOT_COUNT) {
		uint64_t word = atomic_load_explicit(&slots[i], memory_order_acquire);

		if (word == 0)
			return REPRISE_DOOR_COUNT;
		if (holds(word, address))
			return entry_of(word);
	}
}

/*
 * Returns the entry that `address` has from now on: an earlier one if that is at least as strict.
 */
static unsigned int insert(void *address, unsigned int entry)
{
	size_t i = first_slot(address);

	for (;;) {
		uint64_t word = atomic_load_explicit(&slots[i], memory_order_acquire);

		if (word != 0 && !holds(word, address)) {
			i = (i + 1) % SLOT_COUNT;
			continue;
		}
		if (word != 0 && class_of(entry_of(word)) >= class_of(entry))
			return entry_of(word);
		if (atomic_compare_exchange_strong(&slots[i], &word, pack(entry, address)))
			return entry;
	}
}

static void learn_addresses(void)
{
	for (unsigned int entry = 0; entry < REPRISE_ENTRY_COUNT; entry++) {
		void *address = reprise_real_dlsym(reprise_driver_handle(), reprise_entry_name(entry));

		if (address == NULL) {
			(void)dlerror();
			continue;
		}
		__atomic_store_n(&reprise_real[entry], address, __ATOMIC_RELAXED);
		insert(address, entry);
	}
}

/* A stand-in does the work, or the driver lacks a needed function, which is told. */
static bool is_of_no_use(void)
{
	static atomic_bool told;

	if (reprise_is_stand_in(reprise_driver_handle()))
		return true;
	if (reprise_driver_load())
		return false;
	if (!atomic_exchange(&told, true))
		reprise_log(REPRISE_LOG_WARNING, "the driver has no %s: nothing will be replayed",
		            reprise_driver_lacks());
	return true;
}

enum reprise_mode reprise_route_open(bool load)
{
	int state = atomic_load_explicit(&opened, memory_order_acquire);

	if (state != 0)
		return state - 1;
	if (reprise_inside != 0)
		return REPRISE_MODE_OFF;

	enum reprise_mode mode = REPRISE_MODE_OFF;

	reprise_inside++;
	if (reprise_driver_present() || (load && reprise_driver_load())) {
		mode = reprise_start();
		if (mode != REPRISE_MODE_OFF && is_of_no_use())
			mode = REPRISE_MODE_OFF;
		if (mode != REPRISE_MODE_OFF)
			learn_addresses();
		atomic_store_explicit(&opened, (int)mode + 1, memory_order_release);
	}
	reprise_inside--;
	return mode;
}

static bool in_driver(void *address)
{
	struct link_map *driver = NULL;
	struct link_map *map = NULL;
	Dl_info info;

	return dlinfo(reprise_driver_handle(), RTLD_DI_LINKMAP, &driver) == 0 &&
	       dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) != 0 && map == driver;
}

/* The address of a spare door for a function that the table does not have. */
static void *route_unknown(const char *name, void *address)
{
	unsigned int entry = reprise_spare_take(name, address);

	return entry < REPRISE_DOOR_COUNT ? reprise_door_of(insert(address, entry)) : address;
}

void *reprise_route(const char *name, void *address)
{
	unsigned int entry = find(address);

	if (entry < REPRISE_DOOR_COUNT)
		return reprise_door_of(entry);
	/* A driver with preemptible references answers with Reprise's exported name, which serves as
	 * well as the door. */
	return reprise_is_exported(address) ? address : route_unknown(name, address);
}

void *reprise_route_driver(const char *name, void *address)
{
	unsigned int entry = find(address);

	if (entry < REPRISE_DOOR_COUNT)
		return reprise_door_of(entry);
	return in_driver(address) ? route_unknown(name, address) : NULL;
}
