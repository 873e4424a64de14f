/* The parameters of the calls that are for one type of node, as those of the calls that are for
 * all. */
#pragma once

#include "graph.h"

static inline CUgraphNodeParams sim_params_of_kernel(const CUDA_KERNEL_NODE_PARAMS *params)
{
	return (CUgraphNodeParams){
		.type = CU_GRAPH_NODE_TYPE_KERNEL,
		.kernel = {params->func, params->gridDimX, params->gridDimY, params->gridDimZ,
	               params->blockDimX, params->blockDimY, params->blockDimZ, params->sharedMemBytes,
	               params->kernelParams, params->extra, params->kern, params->ctx},
	};
}

static inline CUgraphNodeParams sim_params_of_copy(const CUDA_MEMCPY3D *shape, CUcontext context)
{
	return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_MEMCPY,
	                           .memcpy = {.copyCtx = context, .copyParams = *shape}};
}

static inline CUgraphNodeParams sim_params_of_set(const CUDA_MEMSET_NODE_PARAMS *params,
                                                  CUcontext context)
{
	return (CUgraphNodeParams){
		.type = CU_GRAPH_NODE_TYPE_MEMSET,
		.memset = {params->dst, params->pitch, params->value, params->elementSize, params->width,
	               params->height, context},
	};
}

static inline CUgraphNodeParams sim_params_of_host(const CUDA_HOST_NODE_PARAMS *params)
{
	return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_HOST,
	                           .host = {params->fn, params->userData}};
}

static inline CUgraphNodeParams sim_params_of_batch(const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
	return (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
	                           .memOp = {params->ctx, params->count, params->paramArray,
	                                     params->flags}};
}
