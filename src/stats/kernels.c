/* `kernels_lock`, a leaf, protects the sums. Buffers come about in the order of time; overlapping
 * time counts once. */
#include "stats/kernels.h"

#include <string.h>

#include "base/lock.h"

#define NAME_MOST 512
#define OTHERS (REPRISE_KERNELS_MOST - 1)

static struct reprise_kernels kernels;
static struct reprise_lock kernels_lock;

_Atomic bool reprise_kernels_working;

static unsigned int row_of(const char *name)
{
	unsigned int row = 0;

	while (row < kernels.names && strncmp(kernels.rows[row].name, name, NAME_MOST) != 0)
		row++;
	if (row == kernels.names && row < OTHERS) {
		const char *kept = strndup(name, NAME_MOST);

		if (kept == NULL)
			return OTHERS;
		kernels.rows[row].name = kept;
		kernels.names++;
	}
	return row < OTHERS ? row : OTHERS;
}

static void note_name(const struct reprise_gpu_activity *kernel)
{
	unsigned int row = row_of(kernel->name);

	if (row == OTHERS && kernels.names == OTHERS) {
		kernels.rows[OTHERS].name = "others";
		kernels.names++;
	}
	kernels.rows[row].launches++;
	kernels.rows[row].ns += kernel->end - kernel->begin;
	kernels.count++;
}

static void note_span(const struct reprise_gpu_activity *kernel)
{
	uint64_t begin = kernel->begin > kernels.last_ns ? kernel->begin : kernels.last_ns;

	if (kernels.first_ns == 0 || kernel->begin < kernels.first_ns)
		kernels.first_ns = kernel->begin;
	if (kernel->end <= begin)
		return;
	kernels.busy_ns += kernel->end - begin;
	kernels.last_ns = kernel->end;
}

void reprise_kernels_note(const struct reprise_gpu_activity *activities, size_t count)
{
	reprise_lock_take(&kernels_lock);
	for (size_t i = 0; i < count; i++) {
		if (activities[i].kind != REPRISE_GPU_KERNEL)
			continue;
		note_name(&activities[i]);
		note_span(&activities[i]);
	}
	reprise_lock_give(&kernels_lock);
}

bool reprise_kernels_read(struct reprise_kernels *copy)
{
	if (!reprise_kernels_at_work())
		return false;
	reprise_lock_take(&kernels_lock);
	*copy = kernels;
	reprise_lock_give(&kernels_lock);
	return true;
}

void reprise_kernels_reset(void)
{
	atomic_store(&reprise_kernels_working, false);
	atomic_store(&kernels_lock.word, 0);
}
