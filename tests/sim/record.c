/*
 * librecord.so: writes down the calls of the driver API that the program itself makes, with their
 * results (record_file.h). It is preloaded before libreprise.so, or alone:
 * LD_PRELOAD=librecord.so:libreprise.so. Reprise calls the driver past it.
 *
 * Every function of cuda.h is forwarded to the next definition of its name, and then a line is
 * added. The program finds these functions in all the ways in which it finds the driver: by
 * ordinary linking, by dlsym with any handle, as cudart does, and by cuGetProcAddress. A function
 * of the driver's that this cuda.h does not declare is handed out as it is, and the look-up is
 * written down as ?NAME.
 *
 * On the simulated driver, what it keeps for the thread is written down, too (record_state.h).
 *
 * A program may put lines of its own between those of its calls: record_mark(), which it finds with
 * dlsym.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "driver/loader.h"
#include "record_calls.h"
#include "record_file.h"
#include "record_state.h"

#define EXPORTED __attribute__((visibility("default")))

enum call {
#define ANY(name, parameters, arguments) CALL_##name,
	RECORD_CALLS(ANY, ANY)
#undef ANY
		CALL_COUNT,
};

struct function {
	const char *name;
	void *own;
};

#define ANY(name, parameters, arguments) \
	_Static_assert(sizeof(#name) <= RECORD_LONGEST_NAME, #name);
RECORD_CALLS(ANY, ANY)
#undef ANY

static const struct function forwarded[CALL_COUNT] = {
#define ANY(name, parameters, arguments) {#name, (void *)name},
	RECORD_CALLS(ANY, ANY)
#undef ANY
};

static void *_Atomic next[CALL_COUNT];

/* As the next object that has a dlsym would answer: Reprise, if it is preloaded after this, or the
 * C library. */
static void *next_dlsym(void *handle, const char *name)
{
	static void *(*_Atomic real)(void *, const char *);

	if (atomic_load(&real) == NULL)
		atomic_store(&real,
		             (void *(*)(void *, const char *))reprise_real_dlsym(RTLD_NEXT, "dlsym"));

	/* Not a tail call: dlsym tells its caller by the return address, and that has to be ours. */
	void *address = atomic_load(&real)(handle, name);
	__asm__ volatile("" : "+r"(address));
	return address;
}

/*
 * The next definition of a name, or NULL: in the global scope, or else in the driver that the
 * program opened itself. Under Reprise it is the door that cuGetProcAddress hands out too.
 */
static void *find_next(enum call call)
{
	void *address = atomic_load_explicit(&next[call], memory_order_acquire);

	if (address == NULL) {
		address = next_dlsym(RTLD_NEXT, forwarded[call].name);
		if (address == NULL) {
			void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);

			address = driver != NULL ? next_dlsym(driver, forwarded[call].name) : NULL;
			(void)dlerror(); /* the program did not ask */
		}
		atomic_store_explicit(&next[call], address, memory_order_release);
	}
	return address;
}

/* Stands for what this cuda.h declares and the driver has not. */
static CUresult missing(void)
{
	return CUDA_ERROR_NOT_SUPPORTED;
}

static void *enter(enum call call)
{
	void *address = find_next(call);

	record_thread();
	return address != NULL ? address : (void *)missing;
}

EXPORTED void record_mark(const char *text);
EXPORTED void record_mark(const char *text)
{
	size_t length = strlen(text);

	record_thread();
	record_write(text, length < RECORD_LONGEST_NAME ? length : RECORD_LONGEST_NAME, 0);
}

static void *not_recorded(const char *symbol, void *address)
{
	char line[RECORD_LONGEST_NAME];

	snprintf(line, sizeof(line), "?%s", symbol);
	record_mark(line);
	return address;
}

/* The recorder's own function where `address` is the next definition of a form of `symbol`. */
static void *own_of(const char *symbol, void *address)
{
	size_t length = strlen(symbol);

	for (enum call call = 0; call < CALL_COUNT; call++) {
		const char *name = forwarded[call].name;

		if (strncmp(name, symbol, length) == 0 && (name[length] == '\0' || name[length] == '_') &&
		    find_next(call) == address)
			return forwarded[call].own;
	}
	return not_recorded(symbol, address);
}

/* Returned in two registers, which the assembly of Reprise's own dlsym looks at
 * (preload/loader-*.S). */
struct reprise_found {
	void *address;
	uintptr_t answered; /* zero: ask the C library */
};

struct reprise_found reprise_dlsym(void *handle, const char *name, const void *caller);

/*
 * A look-up of a name that begins with "cu" and a capital. What RTLD_NEXT means depends on the
 * caller, and what comes after the program is the recorder itself, since it is preloaded: the C
 * library answers.
 */
struct reprise_found reprise_dlsym(void *handle, const char *name, const void *caller)
{
	void *address = handle != RTLD_NEXT ? next_dlsym(handle, name) : NULL;

	(void)caller;
	if (address == NULL)
		return (struct reprise_found){NULL, 0};
	for (enum call call = 0; call < CALL_COUNT; call++) {
		void *unknown = NULL;

		if (strcmp(forwarded[call].name, name) != 0)
			continue;
		if (address != forwarded[call].own)
			atomic_compare_exchange_strong(&next[call], &unknown, address);
		return (struct reprise_found){forwarded[call].own, 1};
	}
	return (struct reprise_found){not_recorded(name, address), 1};
}

#define FORWARD(name, parameters, arguments, ...) \
	EXPORTED CUresult name parameters \
	{ \
		CUresult record_result = ((__typeof__(&name))enter(CALL_##name))arguments; \
\
		__VA_ARGS__ \
		record_write(#name, sizeof(#name) - 1, (unsigned int)record_result); \
		record_state(); \
		return record_result; \
	}
#define CALL(name, parameters, arguments) FORWARD(name, parameters, arguments, )
#define LOOKUP(name, parameters, arguments) \
	FORWARD(name, parameters, arguments, \
	        if (record_result == CUDA_SUCCESS && *pfn != NULL) *pfn = own_of(symbol, *pfn);)
RECORD_CALLS(CALL, LOOKUP)
