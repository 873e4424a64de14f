/* Access from one device to another's memory, and copies between the two. */
#include "conformance.h"

static CUcontext second; /* the second device's primary context */

static bool can_access(void)
{
	int can = 9;

	OK(cuDeviceCanAccessPeer(&can, 0, 1));
	TRUE(can == 0 || can == 1);
	OK(cuDevicePrimaryCtxRetain(&second, 1));
	return can;
}

static CUdeviceptr words_there(void)
{
	CUdeviceptr address;

	OK(cuCtxSetCurrent(second));
	OK(cuMemAlloc(&address, WORDS * sizeof(unsigned)));
	OK(cuMemsetD32(address, 0, WORDS));
	OK(cuCtxSynchronize());
	OK(cuCtxSetCurrent(context));
	return address;
}

static void a_peer_is_a_device(void)
{
	int can;

	EXPECT(cuDeviceCanAccessPeer(&can, 0, 99), CUDA_ERROR_INVALID_DEVICE);
	EXPECT(cuDeviceCanAccessPeer(&can, 99, 0), CUDA_ERROR_INVALID_DEVICE);
	EXPECT(cuDeviceGetP2PAttribute(&can, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 99),
	       CUDA_ERROR_INVALID_DEVICE);
}

static void a_device_has_no_link_to_itself(void)
{
	int value;

	EXPECT(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0),
	       CUDA_ERROR_INVALID_DEVICE);
}

static void a_context_is_not_its_own_peer(void)
{
	EXPECT(cuCtxEnablePeerAccess(context, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
}

static void a_peer_is_a_context(void)
{
	EXPECT(cuCtxEnablePeerAccess(NULL, 0), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT(cuCtxDisablePeerAccess(NULL), CUDA_ERROR_INVALID_CONTEXT);
}

static void a_link_says_whether_it_gives_access(void)
{
	int can, told = 9;

	OK(cuDeviceCanAccessPeer(&can, 0, 1));
	OK(cuDeviceGetP2PAttribute(&told, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
	EQUAL(told, can);
	EXPECT(cuDeviceGetP2PAttribute(&told, (CUdevice_P2PAttribute)99, 0, 1),
	       CUDA_ERROR_INVALID_VALUE);
}

static void access_is_enabled_once_and_disabled_once(void)
{
	if (!can_access()) {
		EXPECT(cuCtxEnablePeerAccess(second, 0), CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
		return;
	}
	EXPECT(cuCtxDisablePeerAccess(second), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
	EXPECT(cuCtxEnablePeerAccess(second, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuCtxEnablePeerAccess(second, 0));
	EXPECT(cuCtxEnablePeerAccess(second, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
	OK(cuCtxDisablePeerAccess(second));
	EXPECT(cuCtxDisablePeerAccess(second), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
	OK(cuCtxEnablePeerAccess(second, 0));
}

static void access_is_in_one_direction(void)
{
	if (!can_access())
		return;
	OK(cuCtxEnablePeerAccess(second, 0));
	OK(cuCtxSetCurrent(second));
	EXPECT(cuCtxDisablePeerAccess(context), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

static void a_kernel_reaches_a_peers_memory(void)
{
	CUdeviceptr list;

	if (!can_access())
		return;
	OK(cuCtxEnablePeerAccess(second, 0));
	list = words_there();
	OK(append(list, 1, stream));
	finish(stream);
	is_list(list, 1);
}

static void bytes_go_to_another_device_and_back(void)
{
	CUdeviceptr here = words(), back = words(), there;

	can_access();
	there = words_there();
	OK(cuMemsetD32Async(here, 8, WORDS, stream));
	OK(cuMemcpyPeerAsync(there, second, here, context, 64, stream));
	OK(cuMemcpyPeerAsync(back, context, there, second, 64, stream));
	finish(stream);
	EQUAL(word(back, 15), 8);
	EQUAL(word(back, 16), 0);
	OK(cuMemcpyPeer(back + 64, context, there, second, 4));
	OK(cuCtxSynchronize());
	EQUAL(word(back, 16), 8);
}

static void a_copy_by_contexts_cannot_be_captured(void)
{
	CUdeviceptr here = words(), there;

	can_access();
	there = words_there();
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	EXPECT(cuMemcpyPeerAsync(there, second, here, context, 64, stream),
	       CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void nor_can_one_within_a_context(void)
{
	CUdeviceptr here = words(), there = words();

	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	EXPECT(cuMemcpyPeerAsync(there, context, here, context, 64, stream),
	       CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void a_copy_by_addresses_is_captured(void)
{
	CUdeviceptr here = words(), back = words(), there;

	can_access();
	there = words_there();
	OK(cuMemsetD32Async(here, 8, WORDS, stream));
	begin(CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(cuMemcpyDtoDAsync(there, here, 64, stream));
	OK(cuMemcpyAsync(back, there, 60, stream));
	capture_end();
	run_graph();
	EQUAL(word(back, 14), 8);
	EQUAL(word(back, 15), 0);
}

/* The legacy stream of one device, beside a busy blocking stream of the other. */
static void a_legacy_copy_between_devices_waits_for_the_other_device(void)
{
	volatile unsigned *flag = pinned();
	CUdeviceptr here = words(), there, address = (CUdeviceptr)(uintptr_t)flag;
	unsigned one = 1;
	CUfunction wait_flag;
	CUmodule theirs;
	CUevent copied;
	CUstream busy;

	can_access();
	there = words_there();
	copied = event_new(CU_EVENT_DISABLE_TIMING);
	OK(cuCtxSetCurrent(second));
	OK(cuModuleLoad(&theirs, module_path));
	OK(cuModuleGetFunction(&wait_flag, theirs, "wait_flag"));
	busy = blocking_stream();
	OK(cuLaunchKernel(wait_flag, 1, 1, 1, 1, 1, 1, 0, busy, (void *[]){&address, &one}, NULL));
	OK(cuMemsetD32Async(there, 8, WORDS, busy));
	OK(cuCtxSetCurrent(context));
	OK(cuMemcpyAsync(here, there, 64, CU_STREAM_LEGACY));
	OK(cuEventRecord(copied, CU_STREAM_LEGACY));
	for (unsigned i = 0; i < 20000; i++)
		EXPECT(cuEventQuery(copied), CUDA_ERROR_NOT_READY);
	*flag = 1;
	OK(cuEventSynchronize(copied));
	EQUAL(word(here, 15), 8);
}

static void a_pointer_tells_its_device(void)
{
	CUdeviceptr there;
	int device = 9;

	can_access();
	there = words_there();
	OK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, there));
	EQUAL(device, 1);
}

#define PEER "Peer Context Memory Access: "

const struct check peer_checks[] = {
	CHECK(a_peer_is_a_device, PEER "cuDeviceCanAccessPeer, cuDeviceGetP2PAttribute"),
	CHECK(a_device_has_no_link_to_itself, PEER "cuDeviceGetP2PAttribute"),
	CHECK(a_context_is_not_its_own_peer,
          MEASURED(PEER "cuCtxEnablePeerAccess", "CUDA_ERROR_INVALID_CONTEXT")),
	CHECK(a_peer_is_a_context, PEER "cuCtxEnablePeerAccess, cuCtxDisablePeerAccess"),
	CHECK_ALONE(a_link_says_whether_it_gives_access, PEER "cuDeviceGetP2PAttribute", TWO_DEVICES),
	CHECK_ALONE(access_is_enabled_once_and_disabled_once,
                PEER "cuCtxEnablePeerAccess, cuCtxDisablePeerAccess", TWO_DEVICES),
	CHECK_ALONE(access_is_in_one_direction, PEER "cuCtxEnablePeerAccess", TWO_DEVICES),
	CHECK_ALONE(a_kernel_reaches_a_peers_memory, PEER "cuCtxEnablePeerAccess", TWO_DEVICES),
	CHECK_ALONE(bytes_go_to_another_device_and_back,
                "Memory Management: cuMemcpyPeer, cuMemcpyPeerAsync", TWO_DEVICES),
	CHECK_ALONE(a_copy_by_contexts_cannot_be_captured,
                MEASURED("Memory Management: cuMemcpyPeerAsync", "nothing"), TWO_DEVICES),
	CHECK(nor_can_one_within_a_context,
          MEASURED("Memory Management: cuMemcpyPeerAsync", "nothing")),
	CHECK_ALONE(a_copy_by_addresses_is_captured,
                "Stream Management: cuStreamBeginCapture; Unified Addressing", TWO_DEVICES),
	CHECK_ALONE(a_legacy_copy_between_devices_waits_for_the_other_device,
                "Multi-Device System, Peer-to-Peer Memory Copy", TWO_DEVICES),
	CHECK_ALONE(a_pointer_tells_its_device,
                "Unified Addressing: cuPointerGetAttribute, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL",
                TWO_DEVICES),
	CHECKS_END,
};
