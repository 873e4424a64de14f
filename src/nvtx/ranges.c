/*
 * Names and own handles do not change once they are there. The lock protects the tables of handles,
 * which are read without it: a slot's handle is written behind its names.
 */
#include "nvtx/ranges.h"

#include <fnmatch.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/inside.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/options.h"
#include "base/placement.h"

#define NAMES_MOST 64 /* the bits of a word */
#define HANDLES_MOST 256
#define DOMAINS_AT_ONCE 4 /* in whose ranges a thread is: it is on each thread's stack */

bool reprise_ranges_wanted;

/* DOMAIN@RANGE; without a domain, in any. Both are globs. */
static struct {
	const char *domain, *range; /* domain NULL: any */
} names[NAMES_MOST];

static unsigned int name_count;
static uint64_t in_any_domain, in_default_domain;

/* Handles with the names that they are good for, none but those. */
struct handles {
	struct {
		_Atomic(const void *) handle;
		_Atomic uint64_t names;
	} rows[HANDLES_MOST];
	_Atomic unsigned int count;
	unsigned int own_count; /* handles made here: places in `own` */
	char own[HANDLES_MOST];
};

struct reprise_lock reprise_ranges_lock;
static struct handles domains, strings;

/* ---- names ---- */

static uint64_t domains_named(const char *name)
{
	uint64_t found = 0;

	for (unsigned int i = 0; i < name_count; i++)
		if (names[i].domain == NULL || fnmatch(names[i].domain, name, 0) == 0)
			found |= UINT64_C(1) << i;
	return found;
}

static void add_name(char *name)
{
	char *at = strchr(name, '@');

	if (*name == '\0')
		return;
	names[name_count].range = at != NULL ? at + 1 : name;
	names[name_count].domain = at != NULL ? name : NULL;
	if (at != NULL)
		*at = '\0';
	else
		in_any_domain |= UINT64_C(1) << name_count;
	name_count++;
}

void reprise_ranges_begin(void)
{
	static char text[REPRISE_OPTION_TEXT_MOST];
	char *rest = text;

	if (name_count > 0)
		return;
	strcpy(text, reprise_option_text(REPRISE_OPTION_NVTX_OFF));
	for (char *name = strsep(&rest, ","); name != NULL; name = strsep(&rest, ",")) {
		if (name_count == NAMES_MOST) {
			reprise_log(
				REPRISE_LOG_WARNING,
				"REPRISE_NVTX_OFF: only the first %d names count, not \"%s\" and what follows",
				NAMES_MOST, name);
			break;
		}
		add_name(name);
	}
	in_default_domain = domains_named("");
	reprise_ranges_wanted = name_count > 0;
}

uint64_t reprise_ranges_named(const char *text)
{
	uint64_t found = 0;

	for (unsigned int i = 0; text != NULL && i < name_count; i++)
		if (fnmatch(names[i].range, text, 0) == 0)
			found |= UINT64_C(1) << i;
	return found;
}

/* Writes one character; returns the bytes that it takes. */
static size_t put_character(uint32_t character, char *bytes)
{
	if (character < 0x80) {
		bytes[0] = (char)character;
		return 1;
	}

	size_t more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;

	for (size_t i = more; i > 0; i--, character >>= 6)
		bytes[i] = (char)(0x80 | (character & 0x3f));
	bytes[0] = (char)((0xff80 >> more & 0xff) | character);
	return more + 1;
}

const char *reprise_ranges_narrow(const wchar_t *wide, char *text, size_t size)
{
	size_t length = 0;

	for (; wide != NULL && *wide != L'\0' && length + 5 <= size; wide++) {
		uint32_t character = (uint32_t)*wide;

		length += put_character(character < 0x110000 ? character : '?', text + length);
	}
	text[length] = '\0';
	return text;
}

uint64_t reprise_ranges_named_wide(const wchar_t *wide)
{
	char text[REPRISE_OPTION_TEXT_MOST];

	return wide != NULL ? reprise_ranges_named(reprise_ranges_narrow(wide, text, sizeof(text))) : 0;
}

/* ---- handles ---- */

static bool find(const struct handles *handles, const void *handle, unsigned int *at)
{
	unsigned int count = atomic_load_explicit(&handles->count, memory_order_acquire);

	for (*at = 0; *at < count; (*at)++)
		if (atomic_load_explicit(&handles->rows[*at].handle, memory_order_acquire) == handle)
			return true;
	return false;
}

static uint64_t names_of(const struct handles *handles, const void *handle)
{
	unsigned int at;

	return handle != NULL && find(handles, handle, &at)
	           ? atomic_load_explicit(&handles->rows[at].names, memory_order_relaxed)
	           : 0;
}

/* A listener may give a handle again, for another name. */
static void note(struct handles *handles, const void *handle, uint64_t found)
{
	static bool told;
	unsigned int at;

	if (!find(handles, handle, &at)) {
		if (found == 0)
			return;
		if (!find(handles, NULL, &at)) { /* a row that is not used any more */
			if (at == HANDLES_MOST) {
				if (!told)
					reprise_log(
						REPRISE_LOG_WARNING,
						"REPRISE_NVTX_OFF: more than %d domains or strings have such names; further ones are not seen",
						HANDLES_MOST);
				told = true;
				return;
			}
		}
	}
	atomic_store(&handles->rows[at].names, found);
	atomic_store(&handles->rows[at].handle, found != 0 ? handle : NULL);
	if (at == atomic_load(&handles->count))
		atomic_store(&handles->count, at + 1);
}

/* The last one serves for all that there is no room for. */
static const void *make_handle(struct handles *handles)
{
	handles->own_count += handles->own_count < HANDLES_MOST;
	return &handles->own[handles->own_count - 1];
}

static bool is_own(const struct handles *handles, const void *handle)
{
	uintptr_t at = (uintptr_t)handle, begin = (uintptr_t)handles->own;

	return at >= begin && at < begin + HANDLES_MOST;
}

/* A handle made here for these names; NULL if there is none yet. */
static const void *made_for(const struct handles *handles, uint64_t found)
{
	for (unsigned int i = 0; i < atomic_load(&handles->count); i++)
		if (atomic_load(&handles->rows[i].names) == found &&
		    is_own(handles, atomic_load(&handles->rows[i].handle)))
			return atomic_load(&handles->rows[i].handle);
	return NULL;
}

const void *reprise_ranges_note_domain(const void *handle, const char *name)
{
	uint64_t found = domains_named(name != NULL ? name : "") & ~in_any_domain;

	reprise_lock_take(&reprise_ranges_lock);
	if (handle == NULL)
		handle = make_handle(&domains); /* domains have to be told apart, whatever their names */
	note(&domains, handle, found);
	reprise_lock_give(&reprise_ranges_lock);
	return handle;
}

const void *reprise_ranges_note_string(const void *handle, uint64_t found)
{
	if (handle == NULL && found == 0)
		return NULL;
	reprise_lock_take(&reprise_ranges_lock);
	if (handle == NULL)
		handle = made_for(&strings, found);
	if (handle == NULL)
		handle = make_handle(&strings);
	note(&strings, handle, found);
	reprise_lock_give(&reprise_ranges_lock);
	return handle;
}

uint64_t reprise_ranges_registered(const void *handle)
{
	return names_of(&strings, handle);
}

/* ---- this thread's ranges ---- */

/* Its domains with a range that is named: `depth`, how many ranges it is in from that one on. */
static _Thread_local struct {
	const void *domain;
	unsigned int depth; /* 0: unused */
} within[DOMAINS_AT_ONCE] __attribute__((tls_model(REPRISE_TLS_MODEL)));

static int row_of(const void *domain)
{
	for (int i = 0; i < DOMAINS_AT_ONCE; i++)
		if (within[i].depth > 0 && within[i].domain == domain)
			return i;
	return -1;
}

static unsigned int domains_within(void)
{
	unsigned int count = 0;

	for (int i = 0; i < DOMAINS_AT_ONCE; i++)
		count += within[i].depth > 0;
	return count;
}

static bool is_named(const void *domain, uint64_t found)
{
	if (found == 0)
		return false;
	return (found & (in_any_domain |
	                 (domain == NULL ? in_default_domain : names_of(&domains, domain)))) != 0;
}

bool reprise_ranges_push(const void *domain, uint64_t found)
{
	int row = row_of(domain);
	unsigned int before;

	if (row >= 0) {
		within[row].depth++;
		return false;
	}
	if (!is_named(domain, found))
		return false;
	before = domains_within();
	for (int i = 0; i < DOMAINS_AT_ONCE; i++)
		if (within[i].depth == 0) {
			within[i].domain = domain;
			within[i].depth = 1;
			return before == 0;
		}
	return false; /* it is within one already, and will miss the end of this one alone */
}

bool reprise_ranges_pop(const void *domain)
{
	int row = row_of(domain);

	if (row < 0 || --within[row].depth > 0)
		return false;
	return domains_within() == 0;
}

/* This thread's ranges stay: the child is within them, too. */
void reprise_ranges_reset(void)
{
	atomic_store(&reprise_ranges_lock.word, 0);
}
