/* Copies and memsets of two and three dimensions: pitches, offsets, parts of host memory of two
 * kinds. */
#include "ops.h"

void fuzz_set_pitch(int s, int form, int change)
{
	int stream = fuzz_stream_of(s);
	CUdeviceptr at = world.field[stream] + 1024;
	size_t pitch = 32 + 16 * (fuzz_changing(change) % 3);

	switch (fuzz_in(form, 3)) {
	case 0:
		CALL(cuMemsetD2D8Async(at, pitch, 7, 16, 4, world.stream[stream]));
		break;
	case 1:
		CALL(cuMemsetD2D16Async(at, pitch, (unsigned short)(form % 2 ? iteration : 9), 8, 4,
		                        world.stream[stream]));
		break;
	default:
		CALL(cuMemsetD2D32Async(at, pitch, (unsigned)form, 4, 4, world.stream[stream]));
		break;
	}
}

/* Within the stream's field; one thing changes: a pitch, where it begins, how much it is. */
void fuzz_copy_plane(int s, int what, int change)
{
	int stream = fuzz_stream_of(s);
	unsigned by = fuzz_changing(change) % 3;
	CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .srcDevice = world.field[stream],
	                      .srcPitch = 64,
	                      .srcXInBytes = 4,
	                      .srcY = 1,
	                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .dstDevice = world.field[stream] + 2048,
	                      .dstPitch = 64,
	                      .dstXInBytes = 8,
	                      .dstY = 2,
	                      .WidthInBytes = 20,
	                      .Height = 4};

	switch (fuzz_in(what, 9)) {
	case 0:
		copy.srcPitch += 16 * by;
		break;
	case 1:
		copy.dstPitch += 16 * by;
		break;
	case 2:
		copy.srcXInBytes += 4 * by;
		break;
	case 3:
		copy.dstXInBytes += 4 * by;
		break;
	case 4:
		copy.srcY += by;
		break;
	case 5:
		copy.dstY += by;
		break;
	case 6:
		copy.WidthInBytes += 4 * by;
		break;
	case 7:
		copy.Height += by;
		break;
	default:
		copy.srcDevice += 64 * by;
		break;
	}
	CALL(cuMemcpy2DAsync(&copy, world.stream[stream]));
	memset(&copy, 0xa5, sizeof(copy));
}

void fuzz_copy_block(int s, int what, int change)
{
	int stream = fuzz_stream_of(s);
	unsigned by = fuzz_changing(change) % 3;
	CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .srcDevice = world.field[stream],
	                      .srcPitch = 32,
	                      .srcHeight = 4,
	                      .srcXInBytes = 4,
	                      .srcY = 1,
	                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .dstDevice = world.field[stream] + 2048,
	                      .dstPitch = 48,
	                      .dstHeight = 5,
	                      .dstZ = 1,
	                      .WidthInBytes = 16,
	                      .Height = 2,
	                      .Depth = 3};

	switch (fuzz_in(what, 6)) {
	case 0:
		copy.srcHeight += by;
		break;
	case 1:
		copy.dstHeight += by;
		break;
	case 2:
		copy.srcZ += by;
		break;
	case 3:
		copy.dstZ += by;
		break;
	case 4:
		copy.Depth -= by;
		break;
	default:
		copy.srcPitch += 16 * by;
		break;
	}
	CALL(cuMemcpy3DAsync(&copy, world.stream[stream]));
	memset(&copy, 0xa5, sizeof(copy));
}

/*
 * From a page of host memory, every other page of which is registered; the copy's base is another
 * page than the one where it begins. What is pageable has been read when the call returns.
 */
void fuzz_copy_part(int s, int from, int base)
{
	int stream = fuzz_stream_of(s), part = fuzz_in(from, PARTS), at = fuzz_in(base, part + 1);
	char *begin = world.parts[stream] + part * PAGE;
	CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                      .srcHost = world.parts[stream] + at * PAGE,
	                      .srcPitch = 256,
	                      .srcY = (size_t)(part - at) * (PAGE / 256),
	                      .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                      .dstDevice = world.field[stream],
	                      .dstPitch = 64,
	                      .WidthInBytes = 32,
	                      .Height = 4};

	if (part % 2 == 0)
		*begin = (char)iteration;
	CALL(cuMemcpy2DAsync(&copy, world.stream[stream]));
	if (part % 2 == 0) {
		if (!fuzz_simulated)
			CALL(cuStreamSynchronize(world.stream[stream]));
		*begin = 0x55;
	}
}
