#include "lane/verify.h"

#include <stdio.h>

#include "base/inside.h"
#include "base/log.h"
#include "base/store.h"
#include "base/tuning.h"
#include "driver/driver.h"
#include "graph/shadow.h"
#include "stats/counters.h"
#include "lane/eager.h"

#define ASKED_MOST REPRISE_TUNE_SEGMENT_MOST /* no trace is longer */
#define WORDS_MOST 192

struct reprise_asked {
	unsigned int count;
	struct reprise_op *ops[ASKED_MOST]; /* NULL: there was no memory */
};

static char difference[2 * WORDS_MOST];
static _Atomic bool told;

/* A copy of the call, in memory of its own, or NULL. */
static struct reprise_op *copy_of(const struct reprise_call *call)
{
	struct reprise_op examined = {0}, *op;

	if (reprise_op_examine(&examined, call, NULL) != REPRISE_UNFIT_NONE)
		return NULL;
	op = reprise_store_take(REPRISE_STORE_TRACES, sizeof(*op) + examined.payload_bytes);
	if (op == NULL)
		return NULL;
	*op = examined;
	op->payload = (unsigned char *)(op + 1);
	reprise_op_complete(op, call);
	return op;
}

void reprise_verify_begin(struct reprise_lane *lane)
{
	struct reprise_asked *asked = lane->asked;

	if (asked == NULL) {
		lane->asked = reprise_store_take(REPRISE_STORE_TRACES, sizeof(*asked));
		return;
	}
	for (unsigned int i = 0; i < asked->count; i++)
		reprise_store_give(asked->ops[i]);
	asked->count = 0;
}

void reprise_verify_ask(struct reprise_lane *lane, const struct reprise_call *call)
{
	struct reprise_asked *asked = lane->asked;

	if (asked != NULL && asked->count < ASKED_MOST)
		asked->ops[asked->count++] = copy_of(call);
}

/* The call that was answered as op i of the followed trace; NULL if it is not known. */
static const struct reprise_op *asked_for(const struct reprise_lane *lane, unsigned int i)
{
	return lane->asked != NULL && i < lane->asked->count ? lane->asked->ops[i] : NULL;
}

/* Only the first difference is reported. Nothing is replayed after it. */
static void tell(const struct reprise_lane *lane, unsigned int i, const char *where,
                 const char *words)
{
	reprise_count(REPRISE_COUNT_differences, 1);
	if (!atomic_exchange(&told, true)) {
		snprintf(difference, sizeof(difference), "node %u of graph %u (%s), %s: %s", i,
		         lane->trace->graph.number, reprise_op_kind_names[lane->trace->ops[i].kind], where,
		         words);
		reprise_say("verify: %s; everything is eager from now on", difference);
	}
	reprise_eager_stop("verify found a difference");
}

static bool agree(const struct reprise_lane *lane, unsigned int i, const struct reprise_op *asked,
                  const struct reprise_op *op)
{
	char words[WORDS_MOST];

	if (reprise_shadow_compare_ops(asked, op, words, sizeof(words)) == REPRISE_SHADOW_SAME)
		return true;
	tell(lane, i, "as Reprise kept it", words);
	return false;
}

static bool node_agrees(const struct reprise_lane *lane, unsigned int i,
                        const struct reprise_op *asked)
{
	char words[WORDS_MOST];
	enum reprise_shadow_verdict verdict =
		reprise_shadow_compare(&lane->trace->graph, i, asked, words, sizeof(words));

	reprise_count(verdict == REPRISE_SHADOW_UNKNOWN ? REPRISE_COUNT_nodes_not_verified
	                                                : REPRISE_COUNT_nodes_verified,
	              1);
	if (verdict == REPRISE_SHADOW_OTHER)
		tell(lane, i, "as its node was set", words);
	return verdict != REPRISE_SHADOW_OTHER;
}

bool reprise_verify_graph(struct reprise_lane *lane)
{
	const struct reprise_trace *trace = lane->trace;
	bool agrees = true;

	for (unsigned int i = 0; agrees && i < trace->count; i++) {
		const struct reprise_op *asked = asked_for(lane, i);

		if (asked == NULL)
			reprise_count(REPRISE_COUNT_nodes_not_verified, 1);
		else
			agrees =
				agree(lane, i, asked, reprise_trace_op(trace, i)) && node_agrees(lane, i, asked);
	}
	return agrees;
}

const struct reprise_op *reprise_verify_op(struct reprise_lane *lane, unsigned int i,
                                           const struct reprise_op *op)
{
	const struct reprise_op *asked = asked_for(lane, i);

	return asked == NULL || agree(lane, i, asked, op) ? op : asked;
}

const char *reprise_verify_difference(void)
{
	return difference;
}

/* Relaxed mode: the program may capture on another thread in a mode that forbids this wait. */
CUresult reprise_verify_wait(struct reprise_lane *lane)
{
	CUstreamCaptureMode mode;
	int entered = reprise_enter();
	CUresult result;

	mode = reprise_driver_begin_relaxed();
	result = reprise_driver.cuStreamSynchronize(lane->stream);
	reprise_driver_end_relaxed(mode);
	reprise_leave(entered);
	if (result != CUDA_SUCCESS)
		reprise_say("verify: the work up to the last replay ended with error %d", (int)result);
	return result;
}
