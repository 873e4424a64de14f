/*
 * The binary interface between NVTX version 3 and the library that listens to it, as NVTX publishes
 * it: nvtx3/nvToolsExt.h and nvtx3/nvtxDetail/nvtxTypes.h of https://github.com/NVIDIA/NVTX. Only
 * what Reprise needs. A unit test compares it with those headers where they are installed.
 *
 * The headers themselves are not used: not every package of CUDA's headers has them, and their
 * client waits for its own thread if a listener calls NVTX while it is initialised.
 *
 * NVTX is compiled into each object of a program that uses it, with a table of functions of its
 * own. At the first call it loads the library that NVTX_INJECTION64_PATH names, and calls its
 * InitializeInjectionNvtx2 with a function that finds the table. The library writes its own
 * functions into it. It is called once for each such object.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define REPRISE_NVTX_VERSION 3
#define REPRISE_NVTX_NO_TRACKING (-2) /* what a push and a pop return where nobody listens */

typedef void (*reprise_nvtx_function)(void);

/*  X(module, its number, the size of its table): table[i] points at the function with number i;
 * table[0] is NULL */
#define REPRISE_NVTX_MODULES(X) \
	X(CORE, 1, 16) \
	X(CUDA, 2, 9) \
	X(OPENCL, 3, 15) \
	X(CUDART, 4, 7) \
	X(CORE2, 5, 16) \
	X(SYNC, 6, 7)

enum reprise_nvtx_module {
#define X(module, number, size) REPRISE_NVTX_##module = number,
	REPRISE_NVTX_MODULES(X)
#undef X
};

#define REPRISE_NVTX_MODULES_END 7
#define REPRISE_NVTX_TABLE_MOST 16

/* Numbers of functions in the tables of CORE and CORE2. */
enum {
	REPRISE_NVTX_PUSH_EX = 8,
	REPRISE_NVTX_PUSH_A = 9,
	REPRISE_NVTX_PUSH_W = 10,
	REPRISE_NVTX_POP = 11,

	REPRISE_NVTX_DOMAIN_PUSH_EX = 4,
	REPRISE_NVTX_DOMAIN_POP = 5,
	REPRISE_NVTX_REGISTER_A = 10,
	REPRISE_NVTX_REGISTER_W = 11,
	REPRISE_NVTX_CREATE_A = 12,
	REPRISE_NVTX_CREATE_W = 13,
};

/* What the function given to InitializeInjectionNvtx2 finds, by number. */
enum { REPRISE_NVTX_CALLBACKS = 1, REPRISE_NVTX_VERSION_INFO = 3 };

struct reprise_nvtx_callbacks {
	size_t size;
	/* Returns 0 if there is no such module. */
	int (*table_of)(uint32_t module, reprise_nvtx_function ***table, unsigned int *size);
};

struct reprise_nvtx_version_info {
	size_t size;
	uint32_t version, reserved;
	void (*set_version)(uint32_t version);
};

typedef const void *(*reprise_nvtx_finds)(uint32_t table);

/* Returns 0 if the library does not listen. */
typedef int (*reprise_nvtx_initialize)(reprise_nvtx_finds find);

/* Kinds of messages and payloads. */
enum { REPRISE_NVTX_ASCII = 1, REPRISE_NVTX_WIDE = 2, REPRISE_NVTX_REGISTERED = 3 };
enum { REPRISE_NVTX_UNSIGNED_64 = 1 };

/* What a range is pushed with. */
struct reprise_nvtx_event {
	uint16_t version, size;
	uint32_t category;
	int32_t color_kind;
	uint32_t color;
	int32_t payload_kind, reserved;
	uint64_t payload;
	int32_t message_kind;
	union {
		const char *ascii;
		const wchar_t *wide;
		const void *registered; /* what registering the string returned */
	} message;
};
