#include "work.h"

#include "batch.h"
#include "context.h"
#include "copy_work.h"
#include "graph.h"
#include "kernel_work.h"
#include "memory.h"
#include "memory_node.h"
#include "shared_event.h"
#include "worker.h"

static const struct {
	const char *name;
	CUgraphNodeType type;
} kinds[] = {
#define X(kind, name, type) [SIM_##kind] = {name, type},
	SIM_WORKS(X)
#undef X
};

struct sim_work *sim_work_new_with(enum sim_work_kind kind, size_t extra)
{
	struct sim_work *work = calloc(1, sizeof(*work) + extra);

	if (!work)
		sim_misuse("out of host memory");
	work->kind = kind;
	work->references = 1;
	work->context = sim_current();
	return work;
}

struct sim_work *sim_work_new(enum sim_work_kind kind)
{
	return sim_work_new_with(kind, 0);
}

struct sim_work *sim_work_keep(struct sim_work *work)
{
	work->references++;
	return work;
}

void sim_work_drop(struct sim_work *work)
{
	if (--work->references > 0)
		return;
	if (work->kind == SIM_COPY)
		free(work->copy.staged);
	if (work->kind == SIM_CHILD)
		sim_graph_free(work->child);
	if (work->kind == SIM_BATCH)
		sim_batch_work_clear(work);
	if (work->kind == SIM_EMPTY)
		sim_references_release(&work->given_back);
	if (work->kind == SIM_ALLOC)
		sim_memory_node_forget(work);
	free(work);
}

const char *sim_work_name(const struct sim_work *work)
{
	return kinds[work->kind].name;
}

CUgraphNodeType sim_work_node_type(const struct sim_work *work)
{
	return kinds[work->kind].type;
}

bool sim_work_blocks(const struct sim_work *work)
{
	return work->kind == SIM_HOST || work->kind == SIM_CALLBACK || work->kind == SIM_WAIT_VALUE ||
	       work->kind == SIM_WAIT_ELSEWHERE ||
	       (work->kind == SIM_KERNEL && sim_kernel_work_spins(work));
}

/* The host's functions run without the lock; they may not call CUDA. */
static CUresult run_host(struct sim_work *work)
{
	struct sim_self *self = sim_self();

	self->in_host_function = true;
	pthread_mutex_unlock(&sim_lock);
	if (work->kind == SIM_HOST)
		work->host.function(work->host.data);
	else
		work->callback.function(work->callback.stream, CUDA_SUCCESS, work->callback.data);
	pthread_mutex_lock(&sim_lock);
	self->in_host_function = false;
	return CUDA_SUCCESS;
}

CUresult sim_work_run(struct sim_work *work)
{
	switch (work->kind) {
	case SIM_KERNEL:
		return sim_kernel_work_run(work);
	case SIM_COPY:
		return sim_copy_work_run(work);
	case SIM_SET:
		return sim_set_work_run(work);
	case SIM_HOST:
	case SIM_CALLBACK:
		return run_host(work);
	case SIM_WRITE_VALUE:
	case SIM_WAIT_VALUE:
		return sim_word_work_run(work);
	case SIM_FREE:
		sim_memory_node_freed(work->memory);
		break;
	case SIM_RECORD:
		if (work->shared)
			sim_shared_event_finish(work->shared, work->count);
		break;
	case SIM_WAIT_ELSEWHERE:
		while (!sim_shared_event_has_finished(work->shared, work->count) &&
		       work->context->error == CUDA_SUCCESS)
			sim_worker_pause();
		break;
	case SIM_WAIT:
	case SIM_EMPTY:
	case SIM_CHILD:
	case SIM_BATCH:
	case SIM_ALLOC:
	case SIM_ATTACH:
		break;
	}
	return CUDA_SUCCESS;
}
