#include "memory_node.h"

#include "api.h"
#include "context.h"
#include "device.h"

/*
 * What CU_GRAPH_MEM_ATTR_* tell, of each device: memory of nodes that exist is reserved, that of
 * launches not freed again is used. Measured: it is told in steps of 32 MB.
 */
#define STEP ((cuuint64_t)32 << 20)

static struct {
	cuuint64_t used, used_high, reserved, reserved_high;
} figures[SIM_MOST_DEVICES];

bool sim_graph_has_memory(const struct sim_graph *graph)
{
	size_t i;

	for (i = 0; i < graph->nodes.count; i++) {
		const struct sim_work *work = graph->nodes.at[i]->work;

		if (work->kind == SIM_ALLOC || work->kind == SIM_FREE ||
		    (work->kind == SIM_CHILD && sim_graph_has_memory(work->child)))
			return true;
	}
	return false;
}

static void reserve(const struct sim_memory *memory, bool on)
{
	CUdevice device = memory->context->device;

	figures[device].reserved += on ? memory->bytes : -(cuuint64_t)memory->bytes;
	if (figures[device].reserved > figures[device].reserved_high)
		figures[device].reserved_high = figures[device].reserved;
}

static void set_live(const struct sim_memory *memory, bool live)
{
	CUdevice device = memory->context->device;

	if (memory->graph->live == live)
		return;
	memory->graph->live = live;
	figures[device].used += live ? memory->bytes : -(cuuint64_t)memory->bytes;
	if (figures[device].used > figures[device].used_high)
		figures[device].used_high = figures[device].used;
}

/* "allocType: currently must be specified as CU_MEM_ALLOCATION_TYPE_PINNED", and graph memory "is
 * not IPC capable". */
CUresult sim_memory_node_alloc(struct sim_work **made, const struct sim_graph *graph,
                               CUDA_MEM_ALLOC_NODE_PARAMS_v2 *params)
{
	struct sim_memory *memory;

	params->dptr = 0;
	if (graph->is_moved || params->poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (params->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    params->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    !sim_device_exists(params->poolProps.location.id))
		return CUDA_ERROR_INVALID_VALUE;
	if (params->bytesize == 0 || params->accessDescCount > SIM_MOST_DEVICES ||
	    (params->accessDescCount && !params->accessDescs))
		return CUDA_ERROR_INVALID_VALUE;
	memory = sim_memory_new(sim_current(), SIM_DEVICE, params->bytesize, 0);
	if (!memory)
		return CUDA_ERROR_OUT_OF_MEMORY;
	params->dptr = memory->base;
	memory->graph = calloc(1, sizeof(*memory->graph));
	memory->graph->params = *params;
	memory->graph->graph = graph->object.serial;
	reserve(memory, true);
	*made = sim_work_new(SIM_ALLOC);
	(*made)->memory = memory->base;
	memory->graph->work = *made;
	return CUDA_SUCCESS;
}

/*
 * "An allocation twice in the same graph; an address that was not returned by an allocation node",
 * and not in both the owning graph and another. Measured: the owning graph frees it no more once it
 * has been instantiated.
 */
CUresult sim_memory_node_free(struct sim_work **made, const struct sim_graph *graph,
                              CUdeviceptr address)
{
	struct sim_memory *memory = sim_memory_of((uintptr_t)address);
	bool inside;
	size_t i;

	if (graph->is_moved)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!memory || memory->base != address || !memory->graph)
		return CUDA_ERROR_INVALID_VALUE;
	inside = memory->graph->graph == graph->object.serial;
	if (inside && graph->executable)
		return CUDA_ERROR_INVALID_VALUE;
	if (memory->graph->freed_inside || (inside && memory->graph->freed_outside))
		return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < graph->nodes.count; i++)
		if (graph->nodes.at[i]->work->kind == SIM_FREE &&
		    graph->nodes.at[i]->work->memory == address)
			return CUDA_ERROR_INVALID_VALUE;
	if (inside)
		memory->graph->freed_inside = true;
	else
		memory->graph->freed_outside = true;
	*made = sim_work_new(SIM_FREE);
	(*made)->memory = address;
	return CUDA_SUCCESS;
}

static bool may_launch(const struct sim_work *work, bool frees)
{
	const struct sim_memory *memory = sim_memory_of((uintptr_t)work->memory);

	if (!memory || !memory->graph)
		return false;
	if (memory->graph->freed_inside)
		return true;
	return work->kind == SIM_ALLOC ? !memory->graph->live || frees : memory->graph->live;
}

CUresult sim_memory_node_launch(struct sim_work *const *works, size_t count, bool frees)
{
	size_t i;

	for (i = 0; i < count; i++)
		if ((works[i]->kind == SIM_ALLOC || works[i]->kind == SIM_FREE) &&
		    !may_launch(works[i], frees))
			return CUDA_ERROR_INVALID_VALUE;
	for (i = 0; i < count; i++) {
		if (works[i]->kind != SIM_ALLOC && works[i]->kind != SIM_FREE)
			continue;
		set_live(sim_memory_of((uintptr_t)works[i]->memory), works[i]->kind == SIM_ALLOC);
	}
	return CUDA_SUCCESS;
}

bool sim_memory_node_take(struct sim_memory *memory)
{
	if (!memory->graph)
		return true;
	if (!memory->graph->live || memory->graph->freed_inside)
		return false;
	set_live(memory, false);
	memory->graph->freed_outside = true;
	return true;
}

static void give_back(struct sim_memory *memory)
{
	reserve(memory, false);
	sim_memory_free(memory);
}

void sim_memory_node_freed(CUdeviceptr address)
{
	struct sim_memory *memory = sim_memory_of((uintptr_t)address);

	if (!memory)
		return;
	if (!memory->graph)
		sim_memory_free(memory);
	else if (!memory->graph->work && !memory->graph->live)
		give_back(memory);
}

/* "Graph destruction does not implicitly free any live graph-allocated memory". */
void sim_memory_node_forget(const struct sim_work *work)
{
	struct sim_memory *memory = sim_memory_of((uintptr_t)work->memory);

	if (!memory || !memory->graph || memory->graph->work != work)
		return;
	memory->graph->work = NULL;
	if (!memory->graph->live)
		give_back(memory);
}

API(SIM_INIT, cuGraphMemAllocNodeGetParams,
    (CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS *params), (handle, params))
{
	const struct sim_node *node = sim_object_of(SIM_A_NODE, handle);
	const CUDA_MEM_ALLOC_NODE_PARAMS_v2 *own;

	if (!node || node->work->kind != SIM_ALLOC || !params)
		return CUDA_ERROR_INVALID_VALUE;
	own = &sim_memory_of((uintptr_t)node->work->memory)->graph->params;
	*params = (CUDA_MEM_ALLOC_NODE_PARAMS){own->poolProps, own->accessDescs, own->accessDescCount,
	                                       own->bytesize, own->dptr};
	return CUDA_SUCCESS;
}

API(SIM_INIT, cuGraphMemFreeNodeGetParams, (CUgraphNode handle, CUdeviceptr *address),
    (handle, address))
{
	const struct sim_node *node = sim_object_of(SIM_A_NODE, handle);

	if (!node || node->work->kind != SIM_FREE || !address)
		return CUDA_ERROR_INVALID_VALUE;
	*address = node->work->memory;
	return CUDA_SUCCESS;
}

static cuuint64_t in_steps(cuuint64_t bytes)
{
	return (bytes + STEP - 1) / STEP * STEP;
}

API(SIM_INIT, cuDeviceGetGraphMemAttribute,
    (CUdevice device, CUgraphMem_attribute attribute, void *value), (device, attribute, value))
{
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!value)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
		*(cuuint64_t *)value = in_steps(figures[device].used);
		return CUDA_SUCCESS;
	case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
		*(cuuint64_t *)value = in_steps(figures[device].used_high);
		return CUDA_SUCCESS;
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
		*(cuuint64_t *)value = in_steps(figures[device].reserved);
		return CUDA_SUCCESS;
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
		*(cuuint64_t *)value = in_steps(figures[device].reserved_high);
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_VALUE;
}

/* "High watermark can only be reset to zero." */
API(SIM_INIT, cuDeviceSetGraphMemAttribute,
    (CUdevice device, CUgraphMem_attribute attribute, void *value), (device, attribute, value))
{
	if (!sim_device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!value || *(const cuuint64_t *)value != 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
		figures[device].used_high = figures[device].used;
	else if (attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
		figures[device].reserved_high = figures[device].reserved;
	else
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

/* Nothing is kept that is not in use. */
API(SIM_INIT, cuDeviceGraphMemTrim, (CUdevice device), (device))
{
	return sim_device_exists(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
