#include "shared_event.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAGIC 0x73696d65u

struct sim_shared_event {
	_Atomic uint64_t recorded, finished;
};

/* What a handle holds. */
struct handle {
	uint32_t magic;
	pid_t process;
	int file;
};

static struct sim_shared_event *map(int file)
{
	void *memory =
		mmap(NULL, sizeof(struct sim_shared_event), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

struct sim_shared_event *sim_shared_event_new(int *file)
{
	struct sim_shared_event *shared = NULL;

	*file = memfd_create("sim-event", MFD_CLOEXEC);
	if (*file >= 0 && ftruncate(*file, sizeof(*shared)) == 0)
		shared = map(*file);
	if (!shared)
		sim_misuse("no memory to share an event");
	return shared;
}

uint64_t sim_shared_event_count(const struct sim_shared_event *shared)
{
	return atomic_load(&shared->recorded);
}

bool sim_shared_event_has_finished(const struct sim_shared_event *shared, uint64_t count)
{
	return atomic_load(&shared->finished) >= count;
}

uint64_t sim_shared_event_record(struct sim_shared_event *shared)
{
	return atomic_fetch_add(&shared->recorded, 1) + 1;
}

void sim_shared_event_finish(struct sim_shared_event *shared, uint64_t count)
{
	uint64_t before = atomic_load(&shared->finished);

	while (before < count && !atomic_compare_exchange_weak(&shared->finished, &before, count))
		;
}

void sim_shared_event_export(CUipcEventHandle *handle, int file)
{
	struct handle content = {MAGIC, getpid(), file};

	memset(handle, 0, sizeof(*handle));
	memcpy(handle, &content, sizeof(content));
}

struct sim_shared_event *sim_shared_event_import(const CUipcEventHandle *handle)
{
	struct sim_shared_event *shared;
	struct handle content;
	char path[64];
	int file;

	memcpy(&content, handle, sizeof(content));
	if (content.magic != MAGIC || content.process == getpid())
		return NULL;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)content.process, content.file);
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		return NULL;
	shared = map(file);
	close(file);
	return shared;
}
