/*
 * State: the table that the listener fills in, the domain, and the names that it knows. A listener
 * may write its functions into the table at any time, as CUPTI does when it is subscribed to. So
 * they are read at each launch, and the domain is made at the first that is heard. There is no
 * lock: two threads may make the domain, or register a name, at the same time; either will do.
 */
#include "nvtx/listener.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/inside.h"
#include "base/log.h"
#include "base/placement.h"
#include "base/tools.h"
#include "driver/loader.h"
#include "nvtx/protocol.h"
#include "op/name.h"

#define DOMAIN "reprise"
#define ANY_REPLAY "replay"
#define NAMES_MOST 256      /* a power of two: a program of many graphs must not fill a profiler */
#define KERNEL_NAME_MOST 96 /* characters of each: names of C++ are long */
#define NAME_MOST (2 * KERNEL_NAME_MOST + 64)

_Atomic bool reprise_nvtx_listens REPRISE_HOT_DATA;

/* ---- the table of functions ---- */

static _Atomic(reprise_nvtx_function) functions[REPRISE_NVTX_MODULES_END][REPRISE_NVTX_TABLE_MOST];
/* One more than NVTX's own: NULL, for a listener that reads on. */
static reprise_nvtx_function *tables[REPRISE_NVTX_MODULES_END][REPRISE_NVTX_TABLE_MOST + 1];

static unsigned int size_of(uint32_t module)
{
	static const unsigned int sizes[REPRISE_NVTX_MODULES_END] = {
#define X(module, number, size) [number] = size,
		REPRISE_NVTX_MODULES(X)
#undef X
	};

	return module < REPRISE_NVTX_MODULES_END ? sizes[module] : 0;
}

static int table_of(uint32_t module, reprise_nvtx_function ***table, unsigned int *size)
{
	unsigned int count = size_of(module);

	for (unsigned int i = 1; i < count; i++)
		tables[module][i] = (reprise_nvtx_function *)&functions[module][i];
	if (table != NULL)
		*table = count > 0 ? tables[module] : NULL;
	if (size != NULL)
		*size = count;
	return count > 0;
}

static void set_version(uint32_t version)
{
	(void)version; /* of the listener: NVTX ignores it, too */
}

static const void *find(uint32_t table)
{
	static const struct reprise_nvtx_callbacks callbacks = {sizeof(callbacks), table_of};
	static const struct reprise_nvtx_version_info info = {sizeof(info), REPRISE_NVTX_VERSION, 0,
	                                                      set_version};

	return table == REPRISE_NVTX_CALLBACKS      ? (const void *)&callbacks
	       : table == REPRISE_NVTX_VERSION_INFO ? (const void *)&info
	                                            : NULL;
}

static reprise_nvtx_function function_at(enum reprise_nvtx_module module, unsigned int number)
{
	return atomic_load_explicit(&functions[module][number], memory_order_acquire);
}

/* ---- the library ---- */

/* True if the address is within this object. */
static bool is_ours(const void *address)
{
	Dl_info theirs, own;

	return dladdr(address, &theirs) != 0 && dladdr((const void *)functions, &own) != 0 &&
	       theirs.dli_fbase == own.dli_fbase;
}

struct reprise_listener reprise_listener_open(const char *function)
{
	const char *path = reprise_tool_listener();
	struct reprise_listener listener = {NULL, NULL};

	if (path == NULL)
		return listener;
	listener.library = dlopen(path, RTLD_LAZY); /* as NVTX does */
	if (listener.library != NULL)
		listener.function = reprise_real_dlsym(listener.library, function);
	if (listener.function == NULL || is_ours(listener.function)) {
		(void)dlerror();
		reprise_listener_close(&listener);
	}
	return listener;
}

void reprise_listener_close(struct reprise_listener *listener)
{
	if (listener->library != NULL)
		dlclose(listener->library);
	*listener = (struct reprise_listener){NULL, NULL};
}

/* ---- names ---- */

static _Atomic(const void *) domain, any_replay;

static struct {
	_Atomic uint64_t hash; /* 0: free */
	_Atomic(const void *) handle;
} names[NAMES_MOST];

static const void *name_with(const char *text)
{
	const void *(*with)(const void *, const char *) =
		(const void *(*)(const void *, const char *))function_at(REPRISE_NVTX_CORE2,
	                                                             REPRISE_NVTX_REGISTER_A);

	return with != NULL ? with(atomic_load(&domain), text) : NULL;
}

/* The listener's handle for the text. The same one for the same text, and the one for any replay
 * when there are too many. */
static const void *registered(const char *text)
{
	uint64_t hash = reprise_hash_bytes(0, text, strlen(text)) | 1;

	for (unsigned int i = 0; i < NAMES_MOST; i++) {
		unsigned int at = (unsigned int)(hash + i) % NAMES_MOST;
		uint64_t there = 0;
		const void *handle;

		if (atomic_compare_exchange_strong(&names[at].hash, &there, hash)) {
			handle = name_with(text);
			atomic_store(&names[at].handle, handle);
			return handle;
		}
		if (there != hash)
			continue;
		handle = atomic_load(&names[at].handle);
		return handle != NULL ? handle : name_with(text);
	}
	return atomic_load(&any_replay);
}

static const char *word_for(const struct reprise_op *op)
{
	const char *name = NULL;
	uint64_t seen;

	if (op->kind == REPRISE_OP_KERNEL && op->kernel.name != 0)
		name = reprise_name_at(op->kernel.name, &seen);
	return name != NULL ? name : reprise_op_kind_names[op->kind];
}

/* "replay of 24 calls, mix ... turn" */
static const void *name_of(const struct reprise_op *ops, unsigned int count)
{
	char text[NAME_MOST];

	if (count == 1)
		snprintf(text, sizeof(text), "replay of 1 call, %.*s", KERNEL_NAME_MOST, word_for(ops));
	else
		snprintf(text, sizeof(text), "replay of %u calls, %.*s ... %.*s", count, KERNEL_NAME_MOST,
		         word_for(ops), KERNEL_NAME_MOST, word_for(&ops[count - 1]));
	return registered(text);
}

/* ---- ranges ---- */

static bool attach(void)
{
	struct reprise_listener listener = reprise_listener_open("InitializeInjectionNvtx2");

	if (listener.function == NULL)
		return false;
	if (((reprise_nvtx_initialize)listener.function)(find) != 0)
		return true;
	reprise_listener_close(&listener);
	return false;
}

/* NULL: the listener does not hear of domains. */
static const void *domain_of_replays(void)
{
	const void *(*create)(const char *) =
		(const void *(*)(const char *))function_at(REPRISE_NVTX_CORE2, REPRISE_NVTX_CREATE_A);

	if (atomic_load(&domain) == NULL && create != NULL) {
		atomic_store(&domain, create(DOMAIN));
		atomic_store(&any_replay, name_with(ANY_REPLAY));
	}
	return atomic_load(&domain);
}

void reprise_nvtx_begin(void)
{
	const char *path = reprise_tool_listener();
	int entered;

	if (path == NULL)
		return;
	entered = reprise_enter();
	atomic_store(&reprise_nvtx_listens, attach());
	reprise_leave(entered);
	if (!atomic_load(&reprise_nvtx_listens))
		reprise_log(REPRISE_LOG_INFO, "replays are no NVTX ranges: %s does not listen", path);
}

bool reprise_nvtx_replay_begins(_Atomic(const void *) *name, const struct reprise_op *ops,
                                unsigned int count)
{
	int (*push)(const void *, const struct reprise_nvtx_event *) =
		(int (*)(const void *, const struct reprise_nvtx_event *))
			function_at(REPRISE_NVTX_CORE2, REPRISE_NVTX_DOMAIN_PUSH_EX);
	const void *handle = atomic_load_explicit(name, memory_order_relaxed);
	struct reprise_nvtx_event event = {.version = REPRISE_NVTX_VERSION,
	                                   .size = sizeof(event),
	                                   .payload_kind = REPRISE_NVTX_UNSIGNED_64,
	                                   .payload = count,
	                                   .message_kind = REPRISE_NVTX_REGISTERED};

	if (push == NULL || domain_of_replays() == NULL)
		return false;
	if (handle == NULL && atomic_load(&any_replay) != NULL) {
		handle = name_of(ops, count);
		atomic_store_explicit(name, handle, memory_order_relaxed);
	}
	event.message.registered = handle;
	if (handle == NULL) { /* it does not register strings */
		event.message_kind = REPRISE_NVTX_ASCII;
		event.message.ascii = ANY_REPLAY;
	}
	push(atomic_load(&domain), &event);
	return true;
}

void reprise_nvtx_replay_ends(void)
{
	int (*pop)(const void *) =
		(int (*)(const void *))function_at(REPRISE_NVTX_CORE2, REPRISE_NVTX_DOMAIN_POP);

	if (pop != NULL)
		pop(atomic_load(&domain));
}
