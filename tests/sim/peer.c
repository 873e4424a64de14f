/*
 * Access from one device to another's memory. All memory is ordinary memory here, so what is not
 * enabled is not refused either: only the calls answer as they should.
 */
#include "api.h"
#include "context.h"
#include "device.h"

API(SIM_INIT, cuDeviceCanAccessPeer, (int *can, CUdevice device, CUdevice peer),
    (can, device, peer))
{
	if (!can)
		return CUDA_ERROR_INVALID_VALUE;
	if (!sim_device_exists(device) || !sim_device_exists(peer))
		return CUDA_ERROR_INVALID_DEVICE;
	*can = device != peer;
	return CUDA_SUCCESS;
}

/* "CUDA_ERROR_INVALID_DEVICE if srcDevice or dstDevice are not valid or if they represent the same
 * device." */
API(SIM_INIT, cuDeviceGetP2PAttribute,
    (int *value, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice peer),
    (value, attribute, device, peer))
{
	if (!sim_device_exists(device) || !sim_device_exists(peer) || device == peer)
		return CUDA_ERROR_INVALID_DEVICE;
	if (!value || attribute < CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK ||
	    attribute > CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED)
		return CUDA_ERROR_INVALID_VALUE;
	*value = attribute != CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK &&
	         attribute != CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED;
	return CUDA_SUCCESS;
}

static size_t position_of(const struct sim_context *context, const struct sim_context *peer)
{
	size_t i;

	for (i = 0; i < context->peers.count && context->peers.at[i] != peer->object.serial; i++)
		;
	return i;
}

/* "Unidirectional". Measured: a context is no peer of its own device's, rather than an invalid one.
 */
API(SIM_CONTEXT, cuCtxEnablePeerAccess, (CUcontext handle, unsigned int flags), (handle, flags))
{
	struct sim_context *context = sim_current();
	const struct sim_context *peer = handle ? sim_context_of(handle) : NULL;

	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!peer)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (peer->device == context->device)
		return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
	if (position_of(context, peer) < context->peers.count)
		return CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
	sim_push(&context->peers, peer->object.serial);
	return CUDA_SUCCESS;
}

API(SIM_CONTEXT, cuCtxDisablePeerAccess, (CUcontext handle), (handle))
{
	struct sim_context *context = sim_current();
	const struct sim_context *peer = handle ? sim_context_of(handle) : NULL;

	if (!peer)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (position_of(context, peer) == context->peers.count)
		return CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
	sim_remove(&context->peers, position_of(context, peer));
	return CUDA_SUCCESS;
}
