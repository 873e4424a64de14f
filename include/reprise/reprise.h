/*
 * The public API of Reprise, for programs that want to control it. It is optional: Reprise runs
 * unmodified programs.
 *
 * The functions are inline and look for the library in the running process. If it is not there,
 * neither preloaded nor as the stand-in for libcuda.so.1, they do nothing. So a program can be
 * built with this header and run without Reprise. Nothing has to be linked (with a C library older
 * than 2.34: -ldl). C99 or newer, C++11 or newer, gcc or clang.
 *
 * No function fails, causes a CUDA error, or waits for the GPU longer than a launch may. All may be
 * called from any thread, at any time, with any context current or none, except from a function
 * that the driver calls (cuLaunchHostFunc): flush and pause launch work, which CUDA forbids there.
 * In a signal handler that interrupted Reprise itself, they issue nothing.
 *
 * Until the driver is loaded, each call looks for the library again, which takes some microseconds.
 * After that the result is remembered.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What Reprise has counted in this process since it started, over all streams. A forked child
 * starts from zero. New fields are only added at the end. Times are in nanoseconds, memory in
 * bytes. */
struct reprise_counts {
	uint64_t ops;        /* launches, copies and memsets that Reprise looked at */
	uint64_t replayed;   /* of these, those issued as nodes of a graph */
	uint64_t paused_ops; /* ops during a pause; not counted in `ops` */
	uint64_t launches;   /* graphs launched */
	uint64_t traces;     /* sequences found to repeat */
	/* Visits that ended before their last op: their ops were issued one by one. */
	uint64_t side_exits;
	/* Replays in which the graph got other values: single nodes, or all of it. */
	uint64_t updates;
	uint64_t graphs_built;
	uint64_t build_ns; /* on a thread of Reprise's */
	/* The longest time that the hold limit let an op wait before it was issued. */
	uint64_t hold_longest_ns;
	uint64_t graph_bytes; /* estimated device memory of the graphs now */
	uint64_t host_bytes;  /* host memory that Reprise uses now */
	/* Graphs still to be built, by a thread of Reprise's while the GPU is idle. */
	uint64_t graphs_waiting;
};

#ifdef __cplusplus
extern "C" {
#endif

#ifdef REPRISE_LIBRARY

void reprise_flush(void);
void reprise_pause(void);
void reprise_resume(void);
size_t reprise_read_counts(struct reprise_counts *counts, size_t size);

#else

#include <dlfcn.h>
#include <string.h>

/* The library's function of that name, or NULL. *slot keeps the result once the driver is loaded:
 * after that the library cannot appear any more. */
static inline void *reprise_entry_(void **slot, const char *name)
{
	static char absent;
	void *entry = __atomic_load_n(slot, __ATOMIC_ACQUIRE), *driver;

	if (entry == NULL) {
		driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
		if (driver != NULL)
			entry = dlsym(driver, name); /* a stand-in, which may not be in the global scope */
		if (entry == NULL)
			entry = dlsym((void *)0 /* RTLD_DEFAULT */, name);
		if (driver != NULL) {
			__atomic_store_n(slot, entry != NULL ? entry : (void *)&absent, __ATOMIC_RELEASE);
			dlclose(driver);
		}
	}
	return entry == (void *)&absent ? NULL : entry;
}

static inline void reprise_call_(void **slot, const char *name)
{
	void *entry = reprise_entry_(slot, name);
	void (*call)(void);

	if (entry == NULL)
		return;
	memcpy(&call, &entry, sizeof(call));
	call();
}

/*
 * Issues every op that Reprise has deferred, of all threads, to the driver before it returns.
 * Needed only if something that CUDA does not show waits for the GPU's work: Reprise issues by
 * itself before every call that could observe it, and always within the hold limit (400 us unless
 * set, or 1,600 us where a loop has been steady for a quarter of a second).
 */
static inline void reprise_flush(void)
{
	static void *slot;

	reprise_call_(&slot, "reprise_flush");
}

/*
 * From now on every op of the process is issued at its own call, as without Reprise. Deferred ops
 * are issued before this returns. (An op that another thread is just calling may still be deferred,
 * but no longer than the hold limit.) Graphs are kept. Pauses nest: each needs its
 * reprise_resume(). A forked child inherits them.
 */
static inline void reprise_pause(void)
{
	static void *slot;

	reprise_call_(&slot, "reprise_pause");
}

/* Ends one pause. Does nothing if there is none. */
static inline void reprise_resume(void)
{
	static void *slot;

	reprise_call_(&slot, "reprise_resume");
}

/* Fills in *counts, whose size is `size`: sizeof(struct reprise_counts). Returns how many bytes the
 * library knew; the rest is zero. Returns 0, with all fields zero, if there is no library. While
 * other threads run, the fields may not be of exactly the same moment. */
static inline size_t reprise_read_counts(struct reprise_counts *counts, size_t size)
{
	static void *slot;
	void *entry = reprise_entry_(&slot, "reprise_read_counts");
	size_t (*call)(struct reprise_counts *, size_t);

	memset(counts, 0, size);
	if (entry == NULL)
		return 0;
	memcpy(&call, &entry, sizeof(call));
	return call(counts, size);
}

#endif

#ifdef __cplusplus
}
#endif
