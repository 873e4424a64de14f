/* `errors_lock`, a leaf, protects the rows. An error equal to the last row's is counted in that
 * row. When all rows are used, every further error is counted in the last row, and is told as that
 * row's error. So none is lost, and nothing is allocated. */
#include "lane/errors.h"

#include <string.h>

#include "base/ending.h"
#include "stats/counters.h"
#include "lane/eager.h"

#define ROWS 64

struct row {
	CUstream stream; /* NULL once it has ended */
	CUcontext context;
	bool blocking;
	uint32_t thread; /* that called the op */
	CUresult error;
	uint64_t count;
};

static struct reprise_lock errors_lock;
static struct row rows[ROWS]; /* the oldest first */
static unsigned int row_count;

_Atomic uint64_t reprise_errors_count;

/* While any error is kept, doors call Reprise. */
static void count(uint64_t before, uint64_t now)
{
	atomic_store(&reprise_errors_count, now);
	if (before == 0 && now > 0)
		atomic_fetch_add(&reprise_attention, 1);
	if (before > 0 && now == 0)
		atomic_fetch_sub(&reprise_attention, 1);
}

static bool is_same(const struct row *a, const struct row *b)
{
	return a->stream == b->stream && a->context == b->context && a->thread == b->thread &&
	       a->error == b->error;
}

void reprise_errors_keep_one(const struct reprise_lane *lane, CUstream stream, CUresult error)
{
	struct row row = {stream, lane->context, lane->blocking, atomic_load(&lane->thread), error, 1};
	uint64_t before;

	reprise_lock_take(&errors_lock);
	if (row_count > 0 && (is_same(&rows[row_count - 1], &row) || row_count == ROWS))
		rows[row_count - 1].count++;
	else
		rows[row_count++] = row;
	before = atomic_load(&reprise_errors_count);
	count(before, before + 1);
	reprise_lock_give(&errors_lock);
	reprise_count(REPRISE_COUNT_errors_kept, 1);
	reprise_eager_note_error(error);
}

/* Under the lock. */
static void remove_row(unsigned int row)
{
	row_count--;
	memmove(&rows[row], &rows[row + 1], (row_count - row) * sizeof(rows[0]));
}

static bool is_of_stream(const struct row *row, const struct reprise_errors_wait *wait)
{
	if (row->stream == wait->stream && wait->stream > CU_STREAM_PER_THREAD)
		return true;
	if (row->context != wait->context)
		return false;
	return row->stream == NULL || row->stream == wait->stream ||
	       (wait->stream == CU_STREAM_LEGACY && row->blocking) ||
	       (row->stream == CU_STREAM_LEGACY && wait->blocking);
}

static bool is_told(const struct row *row, const struct reprise_errors_wait *wait, uint32_t self)
{
	if (row->thread == self)
		return true;
	switch (wait->what) {
	case REPRISE_SYNC_STREAM:
	case REPRISE_SYNC_QUERY:
	case REPRISE_SYNC_DEFAULT:
		return is_of_stream(row, wait);
	default:
		return row->context == wait->context;
	}
}

CUresult reprise_errors_take(const struct reprise_errors_wait *wait)
{
	uint32_t self = reprise_thread_self();
	CUresult error = CUDA_SUCCESS;

	reprise_lock_take(&errors_lock);
	for (unsigned int i = 0; i < row_count && error == CUDA_SUCCESS; i++) {
		uint64_t before = atomic_load(&reprise_errors_count);

		if (!is_told(&rows[i], wait, self))
			continue;
		error = rows[i].error;
		count(before, before - 1);
		if (--rows[i].count == 0)
			remove_row(i);
	}
	reprise_lock_give(&errors_lock);
	reprise_count(REPRISE_COUNT_errors_told, error != CUDA_SUCCESS);
	return error;
}

void reprise_errors_stream_ended(CUstream stream)
{
	reprise_lock_take(&errors_lock);
	for (unsigned int i = 0; i < row_count; i++)
		if (rows[i].stream == stream)
			rows[i].stream = NULL;
	reprise_lock_give(&errors_lock);
}

void reprise_errors_context_ended(CUcontext context)
{
	uint64_t before;

	reprise_lock_take(&errors_lock);
	for (unsigned int i = row_count; i-- > 0;) {
		if (rows[i].context != context)
			continue;
		before = atomic_load(&reprise_errors_count);
		count(before, before - rows[i].count);
		remove_row(i);
	}
	reprise_lock_give(&errors_lock);
}

void reprise_errors_reset(void)
{
	atomic_store(&errors_lock.word, 0);
	atomic_store(&reprise_errors_count, 0);
	row_count = 0;
}
