/*
 * The ways in which a program pushes a range of a name, by number. With NVTX's own header where
 * NVTX_HEADER is set, else with the tests' client.
 */
#pragma once

#include <wchar.h>

#ifdef NVTX_HEADER
#include <nvtx3/nvToolsExt.h>
#define WAYS_EVENT(kind, field, text) \
	{ \
		.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE, .messageType = (kind), \
		.message.field = (text) \
	}
#else
#include "client.h"
#define WAYS_EVENT(kind, field, text) \
	{ \
		.version = REPRISE_NVTX_VERSION, .size = sizeof(nvtxEventAttributes_t), \
		.message_kind = (kind), .message.field = (text) \
	}
#define unicode wide
#endif

enum { WAYS_ASCII = 1, WAYS_WIDE = 2, WAYS_REGISTERED = 3 };

#define WAYS 8u

struct way_names {
	const char *text;
	const wchar_t *wide;
};

static nvtxDomainHandle_t ways_domain;

static inline void ways_begin(void)
{
	ways_domain = nvtxDomainCreateA("tests");
}

/* Returns the domain to pop from: NULL is the default one. */
static inline nvtxDomainHandle_t ways_push(unsigned way, const struct way_names *name)
{
	nvtxEventAttributes_t ascii = WAYS_EVENT(WAYS_ASCII, ascii, name->text),
						  wide = WAYS_EVENT(WAYS_WIDE, unicode, name->wide),
						  registered = WAYS_EVENT(WAYS_REGISTERED, registered, NULL);

	switch (way % WAYS) {
	case 0:
		nvtxRangePushA(name->text);
		return NULL;
	case 1:
		nvtxRangePushW(name->wide);
		return NULL;
	case 2:
		nvtxRangePushEx(&ascii);
		return NULL;
	case 3:
		nvtxRangePushEx(&wide);
		return NULL;
	case 4:
		nvtxDomainRangePushEx(ways_domain, &ascii);
		return ways_domain;
	case 5:
		nvtxDomainRangePushEx(ways_domain, &wide);
		return ways_domain;
	case 6:
		registered.message.registered = nvtxDomainRegisterStringA(ways_domain, name->text);
		nvtxDomainRangePushEx(ways_domain, &registered);
		return ways_domain;
	default:
		registered.message.registered = nvtxDomainRegisterStringW(NULL, name->wide);
		nvtxRangePushEx(&registered);
		return NULL;
	}
}

static inline void ways_pop(nvtxDomainHandle_t domain)
{
	if (domain == NULL)
		nvtxRangePop();
	else
		nvtxDomainRangePop(domain);
}
