/* Arrays: what they are told to be, and copies through them. Kernels that read them are not looked
 * at. */
#include "conformance.h"

static CUarray array_of(size_t width, size_t height)
{
	CUDA_ARRAY_DESCRIPTOR wanted = {.Width = width,
	                                .Height = height,
	                                .Format = CU_AD_FORMAT_UNSIGNED_INT32,
	                                .NumChannels = 1};
	CUarray array;

	OK(cuArrayCreate(&array, &wanted));
	return array;
}

static CUDA_MEMCPY2D into(CUarray array, CUdeviceptr from)
{
	return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .srcDevice = from,
	                       .srcPitch = 16,
	                       .dstMemoryType = CU_MEMORYTYPE_ARRAY,
	                       .dstArray = array,
	                       .WidthInBytes = 16,
	                       .Height = 3};
}

static CUDA_MEMCPY2D out_of(CUarray array, CUdeviceptr to)
{
	return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
	                       .srcArray = array,
	                       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                       .dstDevice = to,
	                       .dstPitch = 16,
	                       .WidthInBytes = 16,
	                       .Height = 3};
}

static void is_there(CUdeviceptr address)
{
	unsigned i;

	for (i = 0; i < 12; i++)
		EQUAL(word(address, i), 100 + i);
}

static CUdeviceptr filled(void)
{
	CUdeviceptr source = words();
	unsigned i;

	for (i = 0; i < 12; i++)
		OK(cuMemsetD32(source + 4 * i, 100 + i, 1));
	OK(cuCtxSynchronize());
	return source;
}

static void copies_go_through_an_array(void)
{
	CUdeviceptr source = filled(), target = words();
	CUarray array = array_of(32, 8);
	CUDA_MEMCPY2D in = into(array, source), out = out_of(array, target);

	in.dstXInBytes = out.srcXInBytes = 8;
	in.dstY = out.srcY = 5;
	OK(cuMemcpy2DAsync(&in, stream));
	OK(cuMemcpy2DAsync(&out, stream));
	finish(stream);
	is_there(target);
	OK(cuArrayDestroy(array));
}

static void an_array_says_what_it_is(void)
{
	CUDA_ARRAY3D_DESCRIPTOR told;
	CUarray array = array_of(24, 6);

	OK(cuArray3DGetDescriptor(&told, array));
	EQUAL(told.Width, 24);
	EQUAL(told.Height, 6);
	EQUAL(told.Depth, 0);
	EQUAL(told.NumChannels, 1);
	EQUAL(told.Format, CU_AD_FORMAT_UNSIGNED_INT32);
	OK(cuArrayDestroy(array));
}

static void an_array_needs_a_width_and_one_two_or_four_channels(void)
{
	CUDA_ARRAY_DESCRIPTOR wanted = {.Width = 8,
	                                .Height = 1,
	                                .Format = CU_AD_FORMAT_FLOAT,
	                                .NumChannels = 3};
	CUarray array;

	EXPECT(cuArrayCreate(&array, &wanted), CUDA_ERROR_INVALID_VALUE);
	wanted.NumChannels = 1;
	wanted.Width = 0;
	EXPECT(cuArrayCreate(&array, &wanted), CUDA_ERROR_INVALID_VALUE);
}

static void a_copy_out_of_an_array_is_captured(void)
{
	CUdeviceptr source = filled(), target = words();
	CUarray array = array_of(32, 8);
	CUDA_MEMCPY2D in = into(array, source), out = out_of(array, target);

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemcpy2DAsync(&in, stream));
	OK(cuMemcpy2DAsync(&out, stream));
	capture_end();
	run_graph();
	is_there(target);
	OK(cuArrayDestroy(array));
}

static void a_capture_prohibits_making_an_array(void)
{
	CUDA_ARRAY_DESCRIPTOR wanted = {.Width = 8,
	                                .Height = 1,
	                                .Format = CU_AD_FORMAT_FLOAT,
	                                .NumChannels = 1};
	CUarray array;

	begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
	EXPECT(cuArrayCreate(&array, &wanted), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	end_is(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

#define MEMORY "Memory Management: "

const struct check array_checks[] = {
	CHECK(copies_go_through_an_array, MEMORY "cuMemcpy2DAsync"),
	CHECK(an_array_says_what_it_is, MEMORY "cuArray3DGetDescriptor"),
	CHECK(an_array_needs_a_width_and_one_two_or_four_channels, MEMORY "cuArrayCreate"),
	CHECK(a_copy_out_of_an_array_is_captured, MEMORY "cuMemcpy2DAsync"),
	CHECK(a_capture_prohibits_making_an_array,
          "Stream Management: cuThreadExchangeStreamCaptureMode, potentially unsafe calls"),
	CHECKS_END,
};
