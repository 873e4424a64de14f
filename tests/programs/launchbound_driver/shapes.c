#include "shapes.h"

#include <string.h>

static unsigned constant(unsigned k)
{
	return k * 2654435761u + 12345u;
}

static void launch(struct run *run, CUfunction function, CUstream stream, CUdeviceptr x,
                   CUdeviceptr y, unsigned argument)
{
	void *parameters[] = {&x, &y, &argument};

	CALL(run, cuLaunchKernel(function, 1, 1, 1, WORDS, 1, 1, 0, stream, parameters, NULL));
}

/* Launch k of one of many bodies that are alike but for kernels, buffers and arguments. */
static void launch_of(struct run *run, unsigned body, unsigned k)
{
	launch(run, (k + body) % 3 ? run->mix : run->turn, run->stream, run->buffer[0],
	       run->buffer[1 + k % 3], constant(1000 * body + k));
}

static void sync(struct run *run, CUstream stream)
{
	CALL(run, cuStreamSynchronize(stream));
}

static void chain(struct run *run)
{
	for (unsigned k = 0; k < LENGTH; k++)
		launch(run, run->mix, run->stream, run->buffer[0], run->buffer[1], constant(k));
	sync(run, run->stream);
}

static void chain_without_sync(struct run *run)
{
	for (unsigned k = 0; k < LENGTH; k++)
		launch(run, run->mix, run->stream, run->buffer[0], run->buffer[1], constant(k));
}

static void one_changed(struct run *run)
{
	for (unsigned k = 0; k < LENGTH; k++)
		launch(run, run->mix, run->stream, run->buffer[0], run->buffer[1],
		       k == 7 ? run->iteration : constant(k));
	sync(run, run->stream);
}

static void all_changed(struct run *run)
{
	for (unsigned k = 0; k < LENGTH; k++)
		launch(run, run->mix, run->stream, run->buffer[0], run->buffer[1],
		       constant(run->iteration * LENGTH + k));
	sync(run, run->stream);
}

static void swap_among(struct run *run, unsigned buffers)
{
	CUdeviceptr x = run->buffer[run->iteration % buffers],
				y = run->buffer[(run->iteration + 1) % buffers];

	for (unsigned k = 0; k < LENGTH; k++)
		launch(run, k % 2 ? run->turn : run->mix, run->stream, x, y, constant(k));
	sync(run, run->stream);
}

static void swap(struct run *run)
{
	swap_among(run, 2);
}

static void swap3(struct run *run)
{
	swap_among(run, 3);
}

/* A grid that grows with each iteration, and begins anew when all of the buffer is in it. */
static void grow(struct run *run)
{
	CUdeviceptr x = run->buffer[0], y = run->buffer[1];

	for (unsigned k = 0; k < LENGTH; k++) {
		unsigned argument = constant(k);

		CALL(run, cuLaunchKernel(run->mix, 1 + run->iteration % WORDS, 1, 1, 1, 1, 1, 0,
		                         run->stream, (void *[]){&x, &y, &argument}, NULL));
	}
	sync(run, run->stream);
}

static void mixed(struct run *run)
{
	CUdeviceptr filled = run->scratch, copied = run->scratch + WORDS * 4,
				given = run->scratch + WORDS * 8;

	CALL(run, cuMemcpyHtoDAsync(given, run->to_device, WORDS * 4, run->stream));
	launch(run, run->turn, run->stream, run->buffer[0], given, 1);
	for (unsigned k = 0; k < 6; k++) {
		CALL(run, cuMemsetD32Async(filled, constant(k), WORDS, run->stream));
		launch(run, run->mix, run->stream, run->buffer[0], filled, k);
		CALL(run, cuMemcpyDtoDAsync(copied, run->buffer[0], WORDS * 4, run->stream));
		launch(run, run->turn, run->stream, run->buffer[1], copied, k);
		CALL(run, cuMemsetD8Async(filled + 1, (unsigned char)k, WORDS, run->stream));
		launch(run, run->mix, run->stream, run->buffer[1], filled, k);
	}
	CALL(run, cuMemcpyDtoHAsync(run->from_device, run->buffer[1], WORDS * 4, run->stream));
	sync(run, run->stream);
	run_note(run, run->from_device[run->iteration % WORDS]);
	run->to_device[run->iteration % WORDS] += run->from_device[0];
}

static void pageable(struct run *run)
{
	unsigned here[WORDS];

	for (unsigned i = 0; i < WORDS; i++)
		here[i] = run->iteration * WORDS + i;
	CALL(run, cuMemcpyHtoDAsync(run->scratch, here, sizeof here, run->stream));
	memset(here, 0xA5, sizeof here);
	for (unsigned k = 0; k < 8; k++)
		launch(run, run->mix, run->stream, run->buffer[0], run->scratch, constant(k));
	CALL(run, cuMemcpyDtoHAsync(here, run->buffer[0], sizeof here, run->stream));
	sync(run, run->stream);
	run_note(run, here[run->iteration % WORDS]);
}

static void conjugate_gradient(struct run *run)
{
	for (unsigned k = 0; k < 8; k++)
		launch(run, k % 2 ? run->turn : run->mix, run->stream, run->buffer[k % 3],
		       run->buffer[(k + 1) % 3], k);
	CUdeviceptr x = run->buffer[0], result = run->scratch;
	unsigned count = WORDS;

	CALL(run, cuLaunchKernel(run->fold, 1, 1, 1, 1, 1, 1, 0, run->stream,
	                         (void *[]){&x, &count, &result}, NULL));
	CALL(run, cuMemcpyDtoHAsync(run->from_device, result, sizeof(unsigned), run->stream));
	sync(run, run->stream);
	run_note(run, run->from_device[0]);
}

/* Parameters packed in a buffer that is overwritten after each launch; the structure's padding
 * never holds the same twice. */
static void extra(struct run *run)
{
	struct {
		CUdeviceptr x;
		struct stir by;
	} packed;
	size_t bytes = sizeof packed;
	void *extra_of[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE,
	                    &bytes, CU_LAUNCH_PARAM_END};

	for (unsigned k = 0; k < LENGTH; k++) {
		memset(&packed, (int)run_draw(run), sizeof packed);
		packed.x = run->buffer[k % 2];
		packed.by.rounds = (unsigned char)(1 + k % 3);
		packed.by.odd = (unsigned short)(k + 1);
		packed.by.addend = k == 5 ? run->iteration : constant(k);
		CALL(run, cuLaunchKernel(run->stir, 1, 1, 1, WORDS, 1, 1, 0, run->stream, NULL, extra_of));
	}
	sync(run, run->stream);
}

static void legacy(struct run *run)
{
	for (unsigned k = 0; k < LENGTH; k++)
		launch(run, run->mix, CU_STREAM_LEGACY, run->buffer[0], run->buffer[1], constant(k));
	sync(run, NULL);
}

/* The legacy stream and a blocking one by turns: the order between them is implied. */
static void legacy_between(struct run *run)
{
	for (unsigned k = 0; k < 8; k++) {
		launch(run, run->mix, run->other, run->buffer[0], run->buffer[1], constant(k));
		launch(run, run->turn, NULL, run->buffer[0], run->buffer[1], constant(k + 100));
	}
	CALL(run, cuCtxSynchronize());
}

static void two_streams(struct run *run)
{
	for (unsigned k = 0; k < 8; k++)
		launch(run, run->mix, run->stream, run->buffer[0], run->buffer[1], constant(k));
	CALL(run, cuEventRecord(run->event, run->stream));
	CALL(run, cuStreamWaitEvent(run->other, run->event, 0));
	for (unsigned k = 0; k < 8; k++)
		launch(run, run->turn, run->other, run->buffer[2], run->buffer[0], constant(k));
	CALL(run, cuEventRecord(run->back, run->other));
	for (unsigned k = 0; k < 4; k++)
		launch(run, run->mix, run->stream, run->buffer[3], run->buffer[1], constant(k));
	CALL(run, cuStreamWaitEvent(run->stream, run->back, 0));
	for (unsigned k = 0; k < 4; k++)
		launch(run, run->turn, run->stream, run->buffer[0], run->buffer[2], constant(k));
	sync(run, run->stream);
}

static void random_bodies(struct run *run)
{
	unsigned body = run_draw(run) % 4;

	for (unsigned k = 0; k < 8 + 6 * body; k++)
		launch(run, k % (body + 2) ? run->mix : run->turn, run->stream, run->buffer[0],
		       run->buffer[1], constant(k < 6 ? k : 100 * body + k));
	sync(run, run->stream);
}

/* Eight bodies of 5 to 40 launches by Zipf's law; four share the first 4, two of these the
 * first 10. */
static void eight_bodies(struct run *run)
{
	static const unsigned up_to[] = {3679, 5519, 6745, 7665, 8401, 9014, 9540}; /* of 10000 */
	unsigned drawn = run_draw(run) % 10000, body = 0;

	while (body < 7 && drawn >= up_to[body])
		body++;
	for (unsigned k = 0; k < 5 + 5 * body; k++)
		launch_of(run, k < 4 ? body / 4 : k < 10 ? 10 + body / 2 : 20 + body, k);
	sync(run, run->stream);
}

/* Another body every hundred iterations: two new ones, then the first of the two again. */
static void changing_bodies(struct run *run)
{
	unsigned stretch = run->iteration / 100;

	for (unsigned k = 0; k < LENGTH; k++)
		launch_of(run, stretch % 3 == 2 ? stretch - 2 : stretch, k);
	sync(run, run->stream);
}

/* Loops that go round sixteen times each and never come again. */
static void loops(struct run *run)
{
	for (unsigned k = 0; k < LENGTH; k++)
		launch_of(run, run->iteration / 16, k);
	sync(run, run->stream);
}

static void no_repeat(struct run *run)
{
	for (unsigned k = 0; k < LENGTH; k++) {
		uint32_t drawn = run_draw(run);

		launch(run, drawn & 1 ? run->mix : run->turn, run->stream, run->buffer[drawn >> 1 & 1],
		       run->buffer[2 + (drawn >> 2 & 1)], drawn);
	}
	sync(run, run->stream);
}

/* Five other launches in a tenth of the iterations. */
static void extra_ops(struct run *run)
{
	unsigned at = run_draw(run) % 10 ? LENGTH : run_draw(run) % LENGTH;

	for (unsigned k = 0; k < LENGTH; k++) {
		for (unsigned more = 0; k == at && more < 5; more++)
			launch(run, run->turn, run->stream, run->buffer[0], run->buffer[2],
			       run->iteration + more);
		launch(run, run->mix, run->stream, run->buffer[0], run->buffer[1], constant(k));
	}
	sync(run, run->stream);
}

/* A launch that can never be, now and then: its error must come at that very call. */
static void bad_launch(struct run *run)
{
	CUdeviceptr x = run->buffer[0], y = run->buffer[1];
	unsigned argument = 5;

	for (unsigned k = 0; k < LENGTH; k++) {
		launch(run, run->mix, run->stream, x, y, constant(k));
		if (k == 11 && run->iteration % 37 == 36)
			CALL(run, cuLaunchKernel(run->mix, 1, 1, 1, 4096, 1, 1, 0, run->stream,
			                         (void *[]){&x, &y, &argument}, NULL));
	}
	sync(run, run->stream);
}

/* Ends by looking again and again whether the work is done. */
static void poll(struct run *run)
{
	CUresult result;

	for (unsigned k = 0; k < LENGTH; k++)
		launch(run, run->mix, run->stream, run->buffer[0], run->buffer[1], constant(k));
	if (run->iteration % 2) {
		CALL(run, cuEventRecord(run->event, run->stream));
		while ((result = cuEventQuery(run->event)) == CUDA_ERROR_NOT_READY)
			;
	} else {
		while ((result = cuStreamQuery(run->stream)) == CUDA_ERROR_NOT_READY)
			;
	}
	CALL(run, result);
}

const struct shape shapes[] = {
	{"chain", chain, false},
	{"chain-nosync", chain_without_sync, false},
	{"one-changed", one_changed, false},
	{"all-changed", all_changed, false},
	{"swap", swap, false},
	{"swap3", swap3, false},
	{"grow", grow, false},
	{"mixed", mixed, false},
	{"pageable", pageable, false},
	{"cg", conjugate_gradient, false},
	{"extra", extra, false},
	{"legacy", legacy, false},
	{"legacy-between", legacy_between, false},
	{"two-streams", two_streams, false},
	{"random-bodies", random_bodies, false},
	{"eight-bodies", eight_bodies, false},
	{"changing-bodies", changing_bodies, false},
	{"loops", loops, false},
	{"norepeat", no_repeat, false},
	{"extra-ops", extra_ops, false},
	{"bad-launch", bad_launch, true},
	{"poll", poll, false},
	{NULL, NULL, false},
};
