/*
 * What NVTX version 3 is in a program, under its own names: the part of nvtx3/nvToolsExt.h that the
 * tests call, for where that header is not installed. It loads what NVTX_INJECTION64_PATH names at
 * the first call, by the rules of nvtx3/nvtxDetail/nvtxInit.h.
 */
#pragma once

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "../../src/nvtx/protocol.h"

typedef const void *nvtxDomainHandle_t;
typedef const void *nvtxStringHandle_t;
typedef struct reprise_nvtx_event nvtxEventAttributes_t;

static reprise_nvtx_function client_functions[REPRISE_NVTX_MODULES_END][REPRISE_NVTX_TABLE_MOST];
static reprise_nvtx_function *client_tables[REPRISE_NVTX_MODULES_END][REPRISE_NVTX_TABLE_MOST];

/* In the place of a function that nobody has written; NVTX has one that loads the listener. */
static inline void client_untouched(void)
{
	abort();
}

static inline int client_table_of(uint32_t module, reprise_nvtx_function ***table,
                                  unsigned int *size)
{
	if (module != REPRISE_NVTX_CORE && module != REPRISE_NVTX_CORE2)
		return 0;
	*table = client_tables[module];
	*size = REPRISE_NVTX_TABLE_MOST;
	return 1;
}

static inline const void *client_find(uint32_t table)
{
	static const struct reprise_nvtx_callbacks callbacks = {sizeof(callbacks), client_table_of};

	return table == REPRISE_NVTX_CALLBACKS ? &callbacks : NULL;
}

static inline int client_load(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path != NULL ? dlopen(path, RTLD_LAZY) : NULL;
	void *initialize = library != NULL ? dlsym(library, "InitializeInjectionNvtx2") : NULL;

	if (initialize != NULL && ((reprise_nvtx_initialize)initialize)(client_find) != 0)
		return 1;
	if (library != NULL)
		dlclose(library);
	return 0;
}

/* By the first thread, before the others call NVTX. */
static inline reprise_nvtx_function client_function(uint32_t module, unsigned int number)
{
	static _Atomic int state;

	if (atomic_load(&state) == 0) {
		int listens;

		for (uint32_t i = 1; i < REPRISE_NVTX_MODULES_END; i++)
			for (unsigned int j = 1; j < REPRISE_NVTX_TABLE_MOST; j++) {
				client_functions[i][j] = client_untouched;
				client_tables[i][j] = &client_functions[i][j];
			}
		listens = client_load();
		for (uint32_t i = 1; i < REPRISE_NVTX_MODULES_END; i++)
			for (unsigned int j = 1; j < REPRISE_NVTX_TABLE_MOST; j++)
				if (!listens || client_functions[i][j] == client_untouched)
					client_functions[i][j] = NULL;
		atomic_store(&state, 1);
	}
	return client_functions[module][number];
}

#define CLIENT_CALL(module, number, none, type, ...) \
	reprise_nvtx_function function = \
		client_function(REPRISE_NVTX_##module, REPRISE_NVTX_##number); \
\
	return function != NULL ? ((type)function)(__VA_ARGS__) : (none)

static inline int nvtxRangePushEx(const nvtxEventAttributes_t *event)
{
	CLIENT_CALL(CORE, PUSH_EX, REPRISE_NVTX_NO_TRACKING, int (*)(const nvtxEventAttributes_t *),
	            event);
}

static inline int nvtxRangePushA(const char *text)
{
	CLIENT_CALL(CORE, PUSH_A, REPRISE_NVTX_NO_TRACKING, int (*)(const char *), text);
}

static inline int nvtxRangePushW(const wchar_t *text)
{
	CLIENT_CALL(CORE, PUSH_W, REPRISE_NVTX_NO_TRACKING, int (*)(const wchar_t *), text);
}

static inline int nvtxRangePop(void)
{
	CLIENT_CALL(CORE, POP, REPRISE_NVTX_NO_TRACKING, int (*)(void));
}

static inline int nvtxDomainRangePushEx(nvtxDomainHandle_t domain,
                                        const nvtxEventAttributes_t *event)
{
	CLIENT_CALL(CORE2, DOMAIN_PUSH_EX, REPRISE_NVTX_NO_TRACKING,
	            int (*)(const void *, const nvtxEventAttributes_t *), domain, event);
}

static inline int nvtxDomainRangePop(nvtxDomainHandle_t domain)
{
	CLIENT_CALL(CORE2, DOMAIN_POP, REPRISE_NVTX_NO_TRACKING, int (*)(const void *), domain);
}

static inline nvtxDomainHandle_t nvtxDomainCreateA(const char *name)
{
	CLIENT_CALL(CORE2, CREATE_A, NULL, const void *(*)(const char *), name);
}

static inline nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t *name)
{
	CLIENT_CALL(CORE2, CREATE_W, NULL, const void *(*)(const wchar_t *), name);
}

static inline nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain,
                                                           const char *text)
{
	CLIENT_CALL(CORE2, REGISTER_A, NULL, const void *(*)(const void *, const char *), domain, text);
}

static inline nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t domain,
                                                           const wchar_t *text)
{
	CLIENT_CALL(CORE2, REGISTER_W, NULL, const void *(*)(const void *, const wchar_t *), domain,
	            text);
}
