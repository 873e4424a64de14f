/* What turns say of a loop. Integers only. No threads, locks or clocks. */
#pragma once

#include <stdbool.h>

#include "stats/pairs.h"

enum reprise_verdict {
	REPRISE_VERDICT_UNDECIDED,
	REPRISE_VERDICT_REPLAY,  /* replaying is faster */
	REPRISE_VERDICT_EAGER,   /* replaying gains one in a hundred at most */
	REPRISE_VERDICT_BOUND,   /* the GPU is behind in both arms: there is nothing to gain */
	REPRISE_VERDICT_COSTLY,  /* replaying is faster, for more than 1.02 x the processor time */
	REPRISE_VERDICT_UNCLEAR, /* many pairs have not shown whether it is */
};

/* `pairs`: of eager time over replaying time. Replay, eager, unclear, or undecided. */
enum reprise_verdict reprise_verdict_of(const struct reprise_pairs *pairs);

/* `processor`: of processor time, replaying over eager. False if it may be less than is allowed. */
bool reprise_verdict_is_costly(const struct reprise_pairs *processor);

/* True also where many pairs make it likely. */
bool reprise_verdict_seems_costly(const struct reprise_pairs *processor);
