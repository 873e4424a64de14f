/*
 * NVTX of the program, with REPRISE_NVTX_OFF: Reprise is the library that NVTX_INJECTION64_PATH
 * names (`reprise run` sets that), and passes on what it hears to the library that was named
 * before.
 *
 * Each object of the program with NVTX in it comes once, from its first call of NVTX, and keeps its
 * other threads waiting until it is answered. Any thread; the program's locks may be held. First
 * the listener writes its functions into the object's table. Then those by which ranges are known
 * are replaced by Reprise's, which call the listener's. These are the same for all objects: NVTX
 * does not tell a function whose call it is. An object to which the listener gives others is left
 * alone.
 *
 * A call from within Reprise, or from a signal handler that interrupted it, is no range of the
 * program's.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/inside.h"
#include "base/keep.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/options.h"
#include "lane/eager.h"
#include "nvtx/listener.h"
#include "nvtx/protocol.h"
#include "nvtx/ranges.h"
#include "process/process.h"

#define SHOWN __attribute__((visibility("default")))

int InitializeInjectionNvtx(void *argument);
int InitializeInjectionNvtx2(reprise_nvtx_finds find);
int InitializeInjectionNvtxExtension(void *argument);

/* The functions that are replaced. */
enum replaced {
	PUSH_EX,
	PUSH_A,
	PUSH_W,
	POP,
	DOMAIN_PUSH_EX,
	DOMAIN_POP,
	REGISTER_A,
	REGISTER_W,
	CREATE_A,
	CREATE_W,
	REPLACED_COUNT
};

/* ---- what the program's calls lead to ---- */

/* The listener's functions, NULL where it has none. Written once, before any of them is called. */
static reprise_nvtx_function next[REPLACED_COUNT];
static bool alone; /* nobody listens: handles are Reprise's, and nobody else gets them */

static void begin_range(const void *domain, uint64_t names)
{
	REPRISE_KEEP_ERRNO;
	bool begins;

	if (reprise_inside != 0)
		return;
	reprise_inside++;
	atomic_signal_fence(memory_order_seq_cst);
	begins = reprise_ranges_push(domain, names);
	atomic_signal_fence(memory_order_seq_cst);
	reprise_inside--;
	if (begins)
		reprise_range_begin();
}

static void end_range(const void *domain)
{
	bool ends;

	if (reprise_inside != 0)
		return;
	reprise_inside++;
	atomic_signal_fence(memory_order_seq_cst);
	ends = reprise_ranges_pop(domain);
	atomic_signal_fence(memory_order_seq_cst);
	reprise_inside--;
	if (ends)
		reprise_range_end();
}

/* The names that the event's range may have. The event may be of an older NVTX. */
static uint64_t names_of(const struct reprise_nvtx_event *event)
{
	if (event == NULL || event->size < sizeof(*event))
		return 0;
	switch (event->message_kind) {
	case REPRISE_NVTX_ASCII:
		return reprise_ranges_named(event->message.ascii);
	case REPRISE_NVTX_WIDE:
		return reprise_ranges_named_wide(event->message.wide);
	case REPRISE_NVTX_REGISTERED:
		return reprise_ranges_registered(event->message.registered);
	default:
		return 0;
	}
}

/* Calls the listener's function of that type, if it has one. */
#define PASS_ON(which, type, none, ...) \
	(next[which] != NULL ? ((type)next[which])(__VA_ARGS__) : (none))

static int push_ex(const struct reprise_nvtx_event *event)
{
	begin_range(NULL, names_of(event));
	return PASS_ON(PUSH_EX, int (*)(const struct reprise_nvtx_event *), REPRISE_NVTX_NO_TRACKING,
	               event);
}

static int push_a(const char *text)
{
	begin_range(NULL, reprise_ranges_named(text));
	return PASS_ON(PUSH_A, int (*)(const char *), REPRISE_NVTX_NO_TRACKING, text);
}

static int push_w(const wchar_t *text)
{
	begin_range(NULL, reprise_ranges_named_wide(text));
	return PASS_ON(PUSH_W, int (*)(const wchar_t *), REPRISE_NVTX_NO_TRACKING, text);
}

static int pop(void)
{
	end_range(NULL);
	return PASS_ON(POP, int (*)(void), REPRISE_NVTX_NO_TRACKING);
}

static int domain_push_ex(const void *domain, const struct reprise_nvtx_event *event)
{
	begin_range(domain, names_of(event));
	return PASS_ON(DOMAIN_PUSH_EX, int (*)(const void *, const struct reprise_nvtx_event *),
	               REPRISE_NVTX_NO_TRACKING, domain, event);
}

static int domain_pop(const void *domain)
{
	end_range(domain);
	return PASS_ON(DOMAIN_POP, int (*)(const void *), REPRISE_NVTX_NO_TRACKING, domain);
}

/* A listener that registers no strings must not get a handle that it does not know. */
static const void *note_string(const void *handle, uint64_t names)
{
	if (reprise_inside != 0 || (handle == NULL && !alone))
		return handle;
	return reprise_ranges_note_string(handle, names);
}

static const void *note_domain(const void *handle, const char *name)
{
	if (reprise_inside != 0 || (handle == NULL && !alone))
		return handle;
	return reprise_ranges_note_domain(handle, name);
}

static const void *register_a(const void *domain, const char *text)
{
	const void *handle =
		PASS_ON(REGISTER_A, const void *(*)(const void *, const char *), NULL, domain, text);

	return note_string(handle, reprise_ranges_named(text));
}

static const void *register_w(const void *domain, const wchar_t *text)
{
	const void *handle =
		PASS_ON(REGISTER_W, const void *(*)(const void *, const wchar_t *), NULL, domain, text);

	return note_string(handle, reprise_ranges_named_wide(text));
}

static const void *create_a(const char *name)
{
	return note_domain(PASS_ON(CREATE_A, const void *(*)(const char *), NULL, name), name);
}

static const void *create_w(const wchar_t *name)
{
	char text[REPRISE_OPTION_TEXT_MOST];

	return note_domain(PASS_ON(CREATE_W, const void *(*)(const wchar_t *), NULL, name),
	                   reprise_ranges_narrow(name, text, sizeof(text)));
}

static const struct {
	uint32_t module;
	unsigned int number;
	reprise_nvtx_function ours;
} replaced[REPLACED_COUNT] = {
	[PUSH_EX] = {REPRISE_NVTX_CORE, REPRISE_NVTX_PUSH_EX, (reprise_nvtx_function)push_ex},
	[PUSH_A] = {REPRISE_NVTX_CORE, REPRISE_NVTX_PUSH_A, (reprise_nvtx_function)push_a},
	[PUSH_W] = {REPRISE_NVTX_CORE, REPRISE_NVTX_PUSH_W, (reprise_nvtx_function)push_w},
	[POP] = {REPRISE_NVTX_CORE, REPRISE_NVTX_POP, (reprise_nvtx_function)pop},
	[DOMAIN_PUSH_EX] = {REPRISE_NVTX_CORE2, REPRISE_NVTX_DOMAIN_PUSH_EX,
                        (reprise_nvtx_function)domain_push_ex},
	[DOMAIN_POP] = {REPRISE_NVTX_CORE2, REPRISE_NVTX_DOMAIN_POP, (reprise_nvtx_function)domain_pop},
	[REGISTER_A] = {REPRISE_NVTX_CORE2, REPRISE_NVTX_REGISTER_A, (reprise_nvtx_function)register_a},
	[REGISTER_W] = {REPRISE_NVTX_CORE2, REPRISE_NVTX_REGISTER_W, (reprise_nvtx_function)register_w},
	[CREATE_A] = {REPRISE_NVTX_CORE2, REPRISE_NVTX_CREATE_A, (reprise_nvtx_function)create_a},
	[CREATE_W] = {REPRISE_NVTX_CORE2, REPRISE_NVTX_CREATE_W, (reprise_nvtx_function)create_w},
};

/* ---- an object of the program comes ---- */

#define TABLE_MOST 32 /* functions of a module that are looked at: NVTX 3 has 16 at most */

/* The object's functions, as they were before the listener. */
struct object {
	struct {
		reprise_nvtx_function **table;
		unsigned int size;
		reprise_nvtx_function before[TABLE_MOST];
	} modules[REPRISE_NVTX_MODULES_END];
};

static bool read_object(struct object *object, reprise_nvtx_finds find)
{
	const struct reprise_nvtx_callbacks *callbacks = find(REPRISE_NVTX_CALLBACKS);

	if (callbacks == NULL || callbacks->size < sizeof(*callbacks) || callbacks->table_of == NULL)
		return false;
	for (uint32_t i = 1; i < REPRISE_NVTX_MODULES_END; i++) {
		reprise_nvtx_function **table = NULL;
		unsigned int size = 0;

		if (callbacks->table_of(i, &table, &size) == 0 || table == NULL)
			size = 0;
		object->modules[i].table = table;
		object->modules[i].size = size < TABLE_MOST ? size : TABLE_MOST;
		for (unsigned int j = 1; j < object->modules[i].size; j++)
			object->modules[i].before[j] = table[j] != NULL ? *table[j] : NULL;
	}
	return true;
}

/* What a listener that failed has written leads into a library that is not there any more. */
static void put_back(const struct object *object)
{
	for (uint32_t i = 1; i < REPRISE_NVTX_MODULES_END; i++)
		for (unsigned int j = 1; j < object->modules[i].size; j++)
			if (object->modules[i].table[j] != NULL)
				*object->modules[i].table[j] = object->modules[i].before[j];
}

/* The place of a function in the object's table; NULL if it has none. */
static reprise_nvtx_function *place_of(const struct object *object, enum replaced which)
{
	uint32_t module = replaced[which].module;

	return replaced[which].number < object->modules[module].size
	           ? object->modules[module].table[replaced[which].number]
	           : NULL;
}

/* The listener's function there. NVTX's own, which it left, would call the object's table again. */
static reprise_nvtx_function listeners(const struct object *object, enum replaced which)
{
	const reprise_nvtx_function *place = place_of(object, which);

	if (place == NULL)
		return NULL;
	return *place != object->modules[replaced[which].module].before[replaced[which].number] ? *place
	                                                                                        : NULL;
}

/* True if the listener's functions are those that Reprise's lead to. */
static bool are_the_same(const struct object *object, bool nobody)
{
	static bool known;
	bool same = true;

	reprise_lock_take(&reprise_ranges_lock);
	for (unsigned int i = 0; i < REPLACED_COUNT; i++)
		if (known)
			same = same && (place_of(object, i) == NULL || next[i] == listeners(object, i));
		else
			next[i] = listeners(object, i);
	if (known)
		same = same && alone == nobody;
	else
		alone = nobody;
	known = true;
	reprise_lock_give(&reprise_ranges_lock);
	return same;
}

static void replace(const struct object *object)
{
	for (unsigned int i = 0; i < REPLACED_COUNT; i++)
		if (place_of(object, i) != NULL)
			*place_of(object, i) = replaced[i].ours;
}

/* The listener's own function of that name. Returns what it returns, or 0. */
static int pass_on(const char *function, void *argument)
{
	struct reprise_listener listener = reprise_listener_open(function);
	int listens = listener.function != NULL ? ((int (*)(void *))listener.function)(argument) : 0;

	if (listens == 0)
		reprise_listener_close(&listener);
	return listens;
}

SHOWN int InitializeInjectionNvtx2(reprise_nvtx_finds find)
{
	REPRISE_KEEP_ERRNO;
	enum reprise_mode mode = reprise_start();
	struct object object;
	int listens;

	if (mode == REPRISE_MODE_OFF || !reprise_ranges_wanted || !read_object(&object, find))
		return pass_on("InitializeInjectionNvtx2", (void *)find);
	listens = pass_on("InitializeInjectionNvtx2", (void *)find);
	if (listens == 0)
		put_back(&object);
	if (!are_the_same(&object, listens == 0)) {
		reprise_log(REPRISE_LOG_WARNING,
		            "REPRISE_NVTX_OFF: a part of the program is not heard, since the listener has "
		            "other functions for it");
		return listens;
	}
	replace(&object);
	return 1;
}

/* NVTX version 2, a library of its own, whose interface is not published, and extensions of
 * version 3, which push no ranges: these are the listener's alone. */
SHOWN int InitializeInjectionNvtx(void *argument)
{
	return pass_on("InitializeInjectionNvtx", argument);
}

SHOWN int InitializeInjectionNvtxExtension(void *argument)
{
	return pass_on("InitializeInjectionNvtxExtension", argument);
}
