/*
 * The driver functions that Reprise calls, each once. The table of pointers, its loading and the
 * check for needed functions are made from this list.
 *
 * NEEDED: without it Reprise is off. OPTIONAL: the pointer may be NULL on older drivers; callers
 * check it. Names are the exported ones, with their version: cuda.h renames the plain ones by
 * macro.
 */
#pragma once

#define REPRISE_DRIVER_FUNCTIONS(NEEDED, OPTIONAL) \
	/* contexts */ \
	OPTIONAL(cuDriverGetVersion) \
	NEEDED(cuDeviceGetCount) \
	OPTIONAL(cuDeviceGetName) \
	OPTIONAL(cuCtxGetDevice) \
	NEEDED(cuCtxGetCurrent) \
	NEEDED(cuCtxSetCurrent) \
	NEEDED(cuCtxPushCurrent_v2) \
	NEEDED(cuCtxPopCurrent_v2) \
	NEEDED(cuMemGetInfo_v2) \
	NEEDED(cuDevicePrimaryCtxGetState) \
	NEEDED(cuDevicePrimaryCtxRetain) \
	NEEDED(cuDevicePrimaryCtxRelease_v2) \
	OPTIONAL(cuCtxRecordEvent) \
	/* streams */ \
	NEEDED(cuStreamGetCtx) \
	NEEDED(cuStreamGetFlags) \
	NEEDED(cuStreamGetPriority) \
	OPTIONAL(cuStreamGetGreenCtx) \
	OPTIONAL(cuGreenCtxStreamCreate) \
	NEEDED(cuStreamIsCapturing) \
	OPTIONAL(cuStreamGetCaptureInfo_v2) \
	OPTIONAL(cuStreamGetCaptureInfo_v3) \
	NEEDED(cuStreamCreateWithPriority) \
	OPTIONAL(cuStreamCopyAttributes) \
	OPTIONAL(cuStreamGetAttribute) \
	OPTIONAL(cuStreamSetAttribute) \
	NEEDED(cuStreamDestroy_v2) \
	NEEDED(cuStreamQuery) \
	NEEDED(cuStreamSynchronize) \
	NEEDED(cuStreamWaitEvent) \
	/* events */ \
	NEEDED(cuEventCreate) \
	NEEDED(cuEventQuery) \
	NEEDED(cuEventRecord) \
	OPTIONAL(cuEventRecordWithFlags) \
	NEEDED(cuEventDestroy_v2) \
	/* capture and graphs */ \
	NEEDED(cuThreadExchangeStreamCaptureMode) \
	NEEDED(cuStreamBeginCapture_v2) \
	NEEDED(cuStreamEndCapture) \
	NEEDED(cuGraphGetNodes) \
	OPTIONAL(cuGraphKernelNodeGetParams_v2) \
	OPTIONAL(cuGraphMemcpyNodeGetParams) \
	OPTIONAL(cuGraphMemsetNodeGetParams) \
	OPTIONAL(cuGraphHostNodeGetParams) \
	NEEDED(cuGraphInstantiateWithFlags) \
	OPTIONAL(cuGraphExecUpdate_v2) \
	OPTIONAL(cuGraphExecKernelNodeSetParams_v2) \
	OPTIONAL(cuGraphExecMemcpyNodeSetParams) \
	OPTIONAL(cuGraphExecMemsetNodeSetParams) \
	OPTIONAL(cuGraphExecHostNodeSetParams) \
	OPTIONAL(cuGraphDebugDotPrint) \
	NEEDED(cuGraphUpload) \
	NEEDED(cuGraphLaunch) \
	NEEDED(cuGraphDestroy) \
	NEEDED(cuGraphExecDestroy) \
	/* the ops themselves */ \
	NEEDED(cuLaunchKernel) \
	OPTIONAL(cuLaunchKernelEx) \
	NEEDED(cuLaunchHostFunc) \
	NEEDED(cuMemcpyAsync) \
	NEEDED(cuMemcpyHtoDAsync_v2) \
	NEEDED(cuMemcpyDtoHAsync_v2) \
	NEEDED(cuMemcpyDtoDAsync_v2) \
	NEEDED(cuMemcpyPeerAsync) \
	NEEDED(cuMemcpy2DAsync_v2) \
	NEEDED(cuMemcpy3DAsync_v2) \
	NEEDED(cuMemsetD8Async) \
	NEEDED(cuMemsetD16Async) \
	NEEDED(cuMemsetD32Async) \
	NEEDED(cuMemsetD2D8Async) \
	NEEDED(cuMemsetD2D16Async) \
	NEEDED(cuMemsetD2D32Async) \
	/* functions and memory */ \
	OPTIONAL(cuFuncGetParamInfo) \
	OPTIONAL(cuKernelGetParamInfo) \
	NEEDED(cuFuncGetAttribute) \
	OPTIONAL(cuKernelGetFunction) \
	OPTIONAL(cuFuncGetName) \
	OPTIONAL(cuKernelGetName) \
	OPTIONAL(cuFuncGetModule) \
	OPTIONAL(cuKernelGetLibrary) \
	OPTIONAL(cuModuleGetGlobal_v2) \
	OPTIONAL(cuLibraryGetGlobal) \
	NEEDED(cuPointerGetAttributes) \
	NEEDED(cuMemGetAddressRange_v2)
