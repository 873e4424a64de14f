#include "graph/program_captures.h"

#include <stddef.h>

#include "base/ending.h"
#include "base/lock.h"
#include "base/placement.h"

#define MOST 64

static struct reprise_lock captures_lock;
/*
 * The streams on which captures began, or which may have joined one; few, and rarely any. The
 * default streams of all threads have one handle, so an entry of such a stream also has its thread.
 * Captures of one handle are counted: a second one may be about to be refused while the first goes
 * on. So are waits that may join it to a capture.
 *
 * Written under captures_lock, and read without: `version` is odd while it is written.
 */
static struct entry {
	_Atomic(CUstream) stream;
	_Atomic(CUcontext) context;
	_Atomic uint32_t owner; /* 0: not a thread's own stream */
	_Atomic bool blocking;  /* ordered against the legacy stream */
	uint32_t count;
	uint32_t joining; /* waits under way */
	bool joined;
} entries[MOST];
static _Atomic uint32_t used, version;
/* A stream that is not noted may capture. */
static _Atomic bool any_may;
_Atomic uint32_t reprise_program_captures REPRISE_HOT_DATA;

static void begin_writing(void)
{
	reprise_lock_take(&captures_lock);
	atomic_fetch_add(&version, 1);
}

static void end_writing(void)
{
	atomic_fetch_add(&version, 1);
	reprise_lock_give(&captures_lock);
}

static bool is_of(const struct entry *entry, CUstream stream, CUcontext context, uint32_t owner)
{
	return entry->stream == stream && entry->owner == owner &&
	       (stream > CU_STREAM_PER_THREAD || entry->context == context);
}

/* The functions below: while writing. */

static struct entry *find(CUstream stream, CUcontext context)
{
	uint32_t owner = stream == CU_STREAM_PER_THREAD ? reprise_thread_self() : 0;

	for (uint32_t i = 0; i < used; i++)
		if (is_of(&entries[i], stream, context, owner))
			return &entries[i];
	return NULL;
}

static void remove_entry(struct entry *entry)
{
	const struct entry *last = &entries[--used];

	entry->stream = last->stream;
	entry->context = last->context;
	entry->owner = last->owner;
	entry->blocking = last->blocking;
	entry->count = last->count;
	entry->joining = last->joining;
	entry->joined = last->joined;
}

/* Gives up what is known of a stream that has joined. */
static void make_room(void)
{
	for (uint32_t i = 0; i < used && used == MOST; i++) {
		if (entries[i].count > 0 || entries[i].joining > 0)
			continue;
		atomic_store(&any_may, true);
		remove_entry(&entries[i]);
	}
}

/* NULL: there are too many. */
static struct entry *find_or_add(CUstream stream, CUcontext context, bool blocking)
{
	struct entry *entry = find(stream, context);

	if (entry != NULL)
		return entry;
	make_room();
	if (used == MOST)
		return NULL;
	entry = &entries[used++];
	entry->stream = stream;
	entry->context = context;
	entry->owner = stream == CU_STREAM_PER_THREAD ? reprise_thread_self() : 0;
	entry->blocking = blocking;
	entry->count = entry->joining = 0;
	entry->joined = false;
	return entry;
}

/* No capture is open, so no stream is in one. */
static void forget_joined(void)
{
	atomic_store(&any_may, false);
	for (uint32_t i = used; i-- > 0;) {
		entries[i].joined = false;
		if (entries[i].joining == 0)
			remove_entry(&entries[i]);
	}
}

/* So many captures of the entry have ended. */
static void end(struct entry *entry, uint32_t count)
{
	entry->count -= count;
	if (count > 0 && atomic_fetch_sub(&reprise_program_captures, count) == count)
		forget_joined();
	else if (entry->count == 0 && entry->joining == 0 && !entry->joined)
		remove_entry(entry);
}

/* The stream has ended, or cannot be named any more. */
static void drop(struct entry *entry)
{
	uint32_t count = entry->count;

	remove_entry(entry);
	if (count > 0 && atomic_fetch_sub(&reprise_program_captures, count) == count)
		forget_joined();
}

bool reprise_program_captures_begin(CUstream stream, CUcontext context, bool blocking)
{
	struct entry *entry;

	begin_writing();
	entry = find_or_add(stream, context, blocking);
	if (entry != NULL) {
		entry->count++;
		atomic_fetch_add(&reprise_program_captures, 1);
	}
	end_writing();
	return entry != NULL;
}

void reprise_program_captures_end(CUstream stream, CUcontext context)
{
	struct entry *entry;

	begin_writing();
	entry = find(stream, context);
	if (entry != NULL && entry->count > 0)
		end(entry, 1);
	end_writing();
}

void reprise_program_captures_join(CUstream stream, CUcontext context, bool blocking)
{
	struct entry *entry;

	begin_writing();
	entry = find_or_add(stream, context, blocking);
	if (entry != NULL)
		entry->joining++;
	else
		atomic_store(&any_may, true);
	end_writing();
}

void reprise_program_captures_joined(CUstream stream, CUcontext context, bool captures)
{
	struct entry *entry;

	begin_writing();
	entry = find(stream, context);
	if (entry != NULL && entry->joining > 0) {
		entry->joining--;
		entry->joined = entry->joined || captures;
		end(entry, 0);
	}
	end_writing();
}

void reprise_program_captures_doubt(void)
{
	atomic_store(&any_may, true);
}

/* True if the entry keeps what is given to the stream from being deferred. Nobody captures the
 * legacy stream, but it may not be given work while a blocking stream of its context captures. */
static bool concerns(const struct entry *entry, CUstream stream, CUcontext context, uint32_t owner)
{
	if (stream != CU_STREAM_LEGACY || entry->stream == CU_STREAM_LEGACY)
		return is_of(entry, stream, context, owner);
	return entry->blocking && (entry->context == context || entry->context == NULL);
}

bool reprise_program_captures_concern(CUstream stream, CUcontext context, uint32_t owner)
{
	uint32_t before = atomic_load(&version), count = atomic_load(&used);
	bool concerned = (before & 1) != 0 || atomic_load(&any_may);

	for (uint32_t i = 0; i < count && !concerned; i++)
		concerned = concerns(&entries[i], stream, context, owner);
	return concerned || atomic_load(&version) != before;
}

void reprise_program_captures_end_all(CUstream stream, CUcontext context)
{
	begin_writing();
	for (uint32_t i = used; i-- > 0;)
		if (i < used &&
		    (stream != NULL ? entries[i].stream == stream : entries[i].context == context))
			drop(&entries[i]);
	end_writing();
}

void reprise_program_captures_thread_ended(uint32_t thread)
{
	begin_writing();
	for (uint32_t i = used; i-- > 0;)
		if (i < used && entries[i].owner == thread)
			drop(&entries[i]);
	end_writing();
}

void reprise_program_captures_reset(void)
{
	atomic_store(&captures_lock.word, 0);
	atomic_store(&reprise_program_captures, 0);
	atomic_store(&used, 0);
	atomic_store(&version, 0);
	atomic_store(&any_may, false);
}
