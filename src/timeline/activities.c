/*
 * What ran on the GPU, from CUPTI's threads and threads that flush. All activities go to one chunk
 * at a time, so that they are written in the order in which they came.
 *
 * Their names need not stay valid. So each name is kept once, cut and escaped; there are few.
 *
 * `activities_lock`, a leaf, protects the chunk and the names.
 */
#include "timeline/inner.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/lock.h"

#define PLACES 4096u /* a power of two */
#define NAMES_MOST (PLACES / 4 * 3)
#define ESCAPE_MOST 6

static struct reprise_lock activities_lock;
static struct reprise_timeline_chunk *current;
static const char *names[PLACES];
static unsigned int names_kept;

size_t reprise_timeline_escape(char to[REPRISE_TIMELINE_NAME_MOST], const char *name)
{
	static const char cut[] = "...";
	size_t length = 0;

	for (; *name != '\0'; name++) {
		unsigned char byte = (unsigned char)*name;

		if (length + ESCAPE_MOST + sizeof(cut) > REPRISE_TIMELINE_NAME_MOST) {
			memcpy(to + length, cut, sizeof(cut));
			return length + sizeof(cut) - 1;
		}
		if (byte == '"' || byte == '\\')
			to[length++] = '\\';
		if (byte >= ' ' && byte < 127)
			to[length++] = (char)byte;
		else
			length += (size_t)snprintf(to + length, ESCAPE_MOST + 1, "\\u%04x", byte);
	}
	to[length] = '\0';
	return length;
}

static const char *kept(const char *name)
{
	char escaped[REPRISE_TIMELINE_NAME_MOST];
	size_t place = reprise_hash_bytes(0, escaped, reprise_timeline_escape(escaped, name)) % PLACES;

	while (names[place] != NULL && strcmp(names[place], escaped) != 0)
		place = (place + 1) % PLACES;
	if (names[place] == NULL && names_kept < NAMES_MOST) {
		names[place] = strdup(escaped);
		names_kept += names[place] != NULL;
	}
	return names[place] != NULL ? names[place] : "a kernel beyond the names that are kept";
}

/* The chunk, with room for one more activity; NULL ends the timeline. */
static struct reprise_timeline_chunk *chunk_with_room(void)
{
	if (current != NULL && atomic_load(&current->count) < REPRISE_TIMELINE_CHUNK_ACTIVITIES)
		return current;
	if (current != NULL)
		atomic_store_explicit(&current->ended, true, memory_order_release);
	current = reprise_timeline_chunk_make();
	if (current == NULL)
		atomic_store(&reprise_timeline_on, false);
	return current;
}

static void add(const struct reprise_gpu_activity *activity)
{
	struct reprise_timeline_chunk *chunk = chunk_with_room();
	uint32_t count;

	if (chunk == NULL)
		return;
	count = atomic_load(&chunk->count);
	chunk->activities[count] = *activity;
	chunk->activities[count].name = kept(activity->name);
	atomic_store_explicit(&chunk->count, count + 1, memory_order_release);
}

void reprise_timeline_note(const struct reprise_gpu_activity *activities, size_t count)
{
	if (!reprise_timeline_writer_ready())
		return;
	reprise_lock_take(&activities_lock);
	for (size_t i = 0; i < count && atomic_load(&reprise_timeline_on); i++)
		add(&activities[i]);
	reprise_lock_give(&activities_lock);
	reprise_timeline_writer_wake();
}

void reprise_timeline_activities_reset(void)
{
	current = NULL;
	atomic_store(&activities_lock.word, 0);
}
