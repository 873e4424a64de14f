/*
 * The public API of Reprise, for programs that want to say something to it. Nobody needs it:
 * Reprise runs programs that know nothing of it.
 *
 * The functions below are inline, and look for the library in the process that they run in. Where
 * there is none, preloaded or standing in for libcuda.so.1, they do nothing; so a program may be
 * built with this header and run without Reprise. Nothing has to be linked (with a C library older
 * than 2.34: -ldl). C99 or newer, C++11 or newer, gcc or clang.
 *
 * None of them fails, makes a CUDA error, or waits for the GPU longer than launching may. All may
 * be called from any thread, at any time, with any context current or none. But not from a function
 * that the driver calls (cuLaunchHostFunc): flush and pause launch, which CUDA forbids there. In a
 * signal's handler that interrupted Reprise itself, they issue nothing.
 *
 * Until the driver is loaded, each call looks for the library again, some microseconds; after that,
 * what was found is remembered.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * What Reprise has counted in this process since it started, over all streams; after fork, the
 * child begins with nothing. Fields are only ever added, at the end. Times are in nanoseconds,
 * memory in bytes.
 */
struct reprise_counts {
	uint64_t ops;        /* launches, copies and memsets that Reprise looked at */
	uint64_t replayed;   /* of these, issued as nodes of a graph */
	uint64_t paused_ops; /* ops that came during a pause, and are not among these */
	uint64_t launches;   /* graphs launched */
	uint64_t traces;     /* sequences found to repeat */
	uint64_t
		side_exits; /* sequences that were left in their middle; their ops were issued one by one */
	uint64_t
		updates; /* replays for which a graph was given other values: nodes set, or all of it */
	uint64_t graphs_built;
	uint64_t build_ns; /* on Reprise's own thread */
	uint64_t
		hold_longest_ns;  /* the longest that the hold limit let an op wait until it was issued */
	uint64_t graph_bytes; /* device memory that graphs take now, estimated */
	uint64_t host_bytes;  /* host memory that Reprise keeps now */
	uint64_t graphs_waiting; /* graphs that are still to be built for what has come by now, on
	                            Reprise's own thread, whenever the GPU has nothing to do */
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

/* The library's function of that name, or NULL; *slot remembers it once the driver is loaded,
 * beside which nothing can come any more. */
static inline void *reprise_entry_(void **slot, const char *name)
{
	static char absent;
	void *entry = __atomic_load_n(slot, __ATOMIC_ACQUIRE), *driver;

	if (entry == NULL) {
		driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
		if (driver != NULL)
			entry = dlsym(driver, name); /* a stand-in, which need not be visible to all */
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
 * Issues to the driver, before it returns, every op that any thread's call has left with Reprise.
 * Needed only where something that CUDA does not show waits for the GPU's work: Reprise issues by
 * itself before every call that could tell, and within the hold limit (400 us unless set) whatever
 * happens.
 */
static inline void reprise_flush(void)
{
	static void *slot;

	reprise_call_(&slot, "reprise_flush");
}

/*
 * From here on every op of the process, on whatever thread, is issued at its own call, as without
 * Reprise; what is deferred is issued before it returns. (An op whose call is under way on another
 * thread at this moment may still be deferred, for no longer than the hold limit.) Graphs are kept.
 * Pauses nest: as many calls of reprise_resume() end them. A forked child inherits them.
 */
static inline void reprise_pause(void)
{
	static void *slot;

	reprise_call_(&slot, "reprise_pause");
}

/* Ends one pause; nothing if there is none. */
static inline void reprise_resume(void)
{
	static void *slot;

	reprise_call_(&slot, "reprise_resume");
}

/*
 * Fills in *counts, of which `size` bytes are the caller's: sizeof(struct reprise_counts). Returns
 * how many of them the library knew; the others are zero. 0, and all zero, if there is no library.
 * Counts of one call need not fit together where other threads go on meanwhile.
 */
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
