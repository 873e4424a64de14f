#include "user_object.h"

#include <limits.h>

#include "api.h"
#include "graph.h"
#include "worker.h"

struct sim_user_object {
	struct sim_object object;
	CUhostFn destroy;
	void *data;
	uint64_t references;
};

struct destruction {
	CUhostFn destroy;
	void *data;
};

static void *run_destructor(void *argument)
{
	struct destruction destruction = *(struct destruction *)argument;

	free(argument);
	sim_self()->in_host_function = true;
	destruction.destroy(destruction.data);
	return NULL;
}

static void release(struct sim_user_object *object, uint64_t count)
{
	struct destruction *destruction;

	object->references -= count;
	if (object->references)
		return;
	destruction = malloc(sizeof(*destruction));
	*destruction = (struct destruction){object->destroy, object->data};
	sim_object_free(object);
	sim_worker_start(run_destructor, destruction);
}

static struct sim_reference *find(const struct sim_references *references,
                                  const struct sim_user_object *object)
{
	size_t i;

	for (i = 0; i < references->held.count; i++)
		if (references->held.at[i].object == object)
			return &references->held.at[i];
	return NULL;
}

static void add(struct sim_references *references, struct sim_user_object *object, uint64_t count)
{
	struct sim_reference *reference = find(references, object);

	if (reference)
		reference->count += count;
	else
		sim_push(&references->held, ((struct sim_reference){object, count}));
}

void sim_references_copy(struct sim_references *to, const struct sim_references *from)
{
	size_t i;

	for (i = 0; i < from->held.count; i++) {
		from->held.at[i].object->references += from->held.at[i].count;
		add(to, from->held.at[i].object, from->held.at[i].count);
	}
}

void sim_references_release(struct sim_references *references)
{
	size_t i;

	for (i = 0; i < references->held.count; i++)
		release(references->held.at[i].object, references->held.at[i].count);
	sim_clear(&references->held);
}

/* "Must be nonzero and not larger than INT_MAX". */
static bool is_count(unsigned int count)
{
	return count != 0 && count <= INT_MAX;
}

API(SIM_INIT, cuUserObjectCreate,
    (CUuserObject * made, void *data, CUhostFn destroy, unsigned int count, unsigned int flags),
    (made, data, destroy, count, flags))
{
	struct sim_user_object *object;

	if (!made || !destroy || !is_count(count) || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
		return CUDA_ERROR_INVALID_VALUE;
	object = sim_object_new(SIM_A_USER_OBJECT, sizeof(*object));
	object->destroy = destroy;
	object->data = data;
	object->references = count;
	*made = (CUuserObject)object;
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuUserObjectRetain, (CUuserObject handle, unsigned int count), (handle, count))
{
	struct sim_user_object *object = sim_object_of(SIM_A_USER_OBJECT, handle);

	if (!object || !is_count(count))
		return CUDA_ERROR_INVALID_VALUE;
	object->references += count;
	return CUDA_SUCCESS;
}

/* "It is undefined behavior to release references not owned by the caller": more than there are are
 * taken for all. */
API(SIM_INIT, cuUserObjectRelease, (CUuserObject handle, unsigned int count), (handle, count))
{
	struct sim_user_object *object = sim_object_of(SIM_A_USER_OBJECT, handle);

	if (!object || !is_count(count))
		return CUDA_ERROR_INVALID_VALUE;
	release(object, count < object->references ? count : object->references);
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphRetainUserObject,
    (CUgraph graph_handle, CUuserObject handle, unsigned int count, unsigned int flags),
    (graph_handle, handle, count, flags))
{
	struct sim_user_object *object = sim_object_of(SIM_A_USER_OBJECT, handle);
	struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, graph_handle);

	if (!graph || !object || !is_count(count) || (flags & ~(unsigned int)CU_GRAPH_USER_OBJECT_MOVE))
		return CUDA_ERROR_INVALID_VALUE;
	if (!(flags & CU_GRAPH_USER_OBJECT_MOVE))
		object->references += count;
	add(&graph->references, object, count);
	return CUDA_SUCCESS;
}

/* Measured: more than the graph holds is no error. */
API(SIM_INIT, cuGraphReleaseUserObject,
    (CUgraph graph_handle, CUuserObject handle, unsigned int count), (graph_handle, handle, count))
{
	struct sim_user_object *object = sim_object_of(SIM_A_USER_OBJECT, handle);
	struct sim_graph *graph = sim_object_of(SIM_A_GRAPH, graph_handle);
	struct sim_reference *reference = graph && object ? find(&graph->references, object) : NULL;

	if (!graph || !object || !is_count(count))
		return CUDA_ERROR_INVALID_VALUE;
	if (!reference)
		return CUDA_SUCCESS;
	if (count > reference->count)
		count = (unsigned int)reference->count;
	reference->count -= count;
	if (reference->count == 0)
		sim_remove(&graph->references.held, (size_t)(reference - graph->references.held.at));
	release(object, count);
	return CUDA_SUCCESS;
}
