/*
 * turner STREAM [REPLAY_NS [SEED]]
 *
 * Runs a recorded op stream past the anchor and turns of its loop (lane/turns.h), on a clock that
 * moves by the program's own pauses, with a tenth of noise, and by what an op takes: EAGER_NS, or
 * REPLAY_NS (900) in the replaying arm. There are no lanes to follow traces: in the replaying arm
 * about half of the ops may be the anchor, those of some shapes. The second half of the stream
 * comes again and again, until two tests have ended or LONGEST_NS are over.
 *
 * Prints a line `name=value ...`: the gain of the second half as it is, and as it was told, in
 * thousandths; the verdict; when a loop was found, and when the first test ended, in microseconds.
 */
#include "../suite.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "lane/eager.h"
#include "lane/registry.h"
#include "lane/turns.h"
#include "../unit/lane/program.h"
#include "opstream.h"

#define EAGER_NS UINT64_C(3000)
#define LONGEST_NS UINT64_C(20000000000)
#define STREAMS 8

static uint64_t replay_ns = 900;
static struct opstream stream;

static uint64_t random_state = UINT64_C(88172645463325252);

static uint64_t next_random(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Between 0.95 and 1.05 of it; and now and then the thread does not run for a moment. */
static uint64_t pause_of(const struct opstream_record *record)
{
	uint64_t ns = record->gap_ns * (UINT64_C(95) + next_random() % 11) / 100;

	return next_random() % 8000 == 0 ? ns + 200000 : ns;
}

static struct reprise_call call_of(const struct opstream_record *record)
{
	if (record->kind == OPSTREAM_KERNEL)
		return (
			struct reprise_call){.kind = REPRISE_OP_KERNEL,
		                         .kernel = {.function = (CUfunction)(uintptr_t)(record->shape | 1u),
		                                    .grid = {1, 1, 1},
		                                    .block = {1, 1, 1}}};
	return (struct reprise_call){.kind = record->kind == OPSTREAM_COPY ? REPRISE_OP_COPY
	                                                                   : REPRISE_OP_SET,
	                             .copy.bytes = record->shape};
}

static uint64_t takes(const struct opstream_record *record, bool eager)
{
	return eager || record->unfit ? EAGER_NS : replay_ns;
}

/* As the entry points do it: in the eager arm, seen or unseen, and in the replaying one. */
static void op_comes(const struct opstream_record *record)
{
	struct reprise_lane *lane = lane_of(1u + record->lane % STREAMS);
	struct reprise_call call = call_of(record);
	bool waited = reprise_anchor_waited;

	reprise_clock_virtual += takes(record, reprise_eager_turn());
	if (reprise_eager_turn() && !reprise_eager_by_turn()) {
		lane->counts.in_turns++;
		reprise_turns_note_unseen();
		return;
	}
	if (reprise_eager_by_turn() && reprise_turns_goes_on(lane, &call))
		return;
	lane->counts.ops++;
	lane->counts.replayed += !record->unfit;
	if ((waited || record->unfit || record->shape % 2 == 0) && reprise_turns_look(lane, &call))
		reprise_turns_switch(lane);
}

/* Of the second half, in thousandths. */
static uint64_t true_gain(void)
{
	uint64_t eager = 0, replay = 0;

	for (size_t i = stream.count / 2; i < stream.count; i++) {
		const struct opstream_record *record = &stream.records[i];

		eager += record->gap_ns + (opstream_is_op(record) ? takes(record, true) : 0);
		replay += record->gap_ns + (opstream_is_op(record) ? takes(record, false) : 0);
	}
	return eager * 1000 / replay;
}

START_TEST(turns_of_a_stream)
{
	struct reprise_turns_result result = {0};
	uint64_t began, found_ns = 0, first_ns = 0;

	program_begins();
	reprise_turns_start();
	began = reprise_clock_virtual;
	for (size_t i = 0; result.tests < 2 && reprise_clock_virtual - began < LONGEST_NS;
	     i = i + 1 < stream.count ? i + 1 : stream.count / 2) {
		const struct opstream_record *record = &stream.records[i];

		reprise_clock_virtual += pause_of(record);
		if (record->kind == OPSTREAM_WAIT || record->kind == OPSTREAM_MEMORY)
			reprise_turns_note_wait(REPRISE_SYNC_STREAM);
		else if (opstream_is_op(record))
			op_comes(record);
		result = reprise_turns_read().result;
		if (result.loops > 0 && found_ns == 0)
			found_ns = reprise_clock_virtual - began;
		if (result.tests > 0 && first_ns == 0)
			first_ns = reprise_clock_virtual - began;
	}
	printf("true=%llu told=%u verdict=%d found_us=%llu first_us=%llu loops=%u tests=%u\n",
	       (unsigned long long)true_gain(), result.gain, (int)result.verdict,
	       (unsigned long long)found_ns / 1000, (unsigned long long)first_ns / 1000,
	       (unsigned)result.loops, (unsigned)result.tests);
	fflush(stdout);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *suite = suite_create("turner");
	TCase *tcase = tcase_create("turner");

	if (argc < 2)
		return 2;
	if (argc > 2)
		replay_ns = strtoull(argv[2], NULL, 10);
	if (argc > 3)
		random_state ^= strtoull(argv[3], NULL, 10) * UINT64_C(0x9e3779b97f4a7c15);
	if (!opstream_read(&stream, argv[1]))
		return 2;
	tcase_add_test(tcase, turns_of_a_stream);
	tcase_set_timeout(tcase, 0);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
