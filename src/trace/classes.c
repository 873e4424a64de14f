#include "trace/classes.h"

#include "base/quartile.h"
#include "base/tuning.h"
#include "op/cost.h"
#include "trace/balance.h"
#include "trace/trace.h"

/* ---- which classes there are ---- */

enum size { ONE, FEW, COPIES, SIZES };

/* What all ops of the visit are; bits, where it has several. */
enum node {
	KERNELS = 1,
	SETS = 2,
	WITHIN = 4, /* copies, by their way */
	TO_DEVICE = 8,
	FROM_DEVICE = 16,
	OTHERS = 32, /* host functions; records and waits, in a group */
	NODES = 64
};

#define COPIES_ALONE (WITHIN | TO_DEVICE | FROM_DEVICE)
#define CLASSES (SIZES * NODES)

/* Numbers are 8 bits wide. */
_Static_assert(CLASSES <= UINT8_MAX + 1, "too many classes");

static unsigned int node_of(const struct reprise_op *op)
{
	switch (reprise_op_way(op)) {
	case REPRISE_WAY_WITHIN:
		return WITHIN;
	case REPRISE_WAY_TO_DEVICE:
		return TO_DEVICE;
	case REPRISE_WAY_FROM_DEVICE:
		return FROM_DEVICE;
	default:
		return op->kind == REPRISE_OP_KERNEL ? KERNELS : op->kind == REPRISE_OP_SET ? SETS : OTHERS;
	}
}

uint8_t reprise_class_of(const struct reprise_op *ops, unsigned int count)
{
	unsigned int nodes = 0;

	for (unsigned int i = 0; i < count; i++) {
		nodes |= node_of(&ops[i]);
		if (count > REPRISE_TUNE_CLASS_SHORT && (nodes & ~COPIES_ALONE) != 0)
			return 0;
	}
	return (uint8_t)((count == 1                          ? ONE
	                  : count <= REPRISE_TUNE_CLASS_SHORT ? FEW
	                                                      : COPIES) *
	                     NODES +
	                 nodes);
}

/* ---- what is known of them ---- */

/* Of what a visit costs eagerly. */
#define WHOLE 1024

static struct class
{
	_Atomic bool gains;
	_Atomic unsigned int cold;            /* visits of this try that do not count */
	_Atomic uint64_t visits;              /* that could have begun */
	_Atomic uint64_t rests_until;         /* the count of visits up to which it rests */
	_Atomic unsigned int setbacks;        /* rests in a row: each is twice as long as the last */
	_Atomic unsigned int builds, refused; /* graphs wanted since it was tried last */
	struct reprise_quartile share;        /* of the eager cost, that a replay takes */
} classes[CLASSES][2];

static uint64_t rest_of(const struct class *class)
{
	return (uint64_t)REPRISE_TUNE_CLASS_REST << class->setbacks;
}

static bool rests(const struct class *class)
{
	return !class->gains && class->visits < class->rests_until;
}

static void begin_rest(struct class *class)
{
	class->gains = false;
	class->cold = 0;
	class->rests_until = class->visits + rest_of(class);
	class->builds = class->refused = 0;
	if (class->setbacks < REPRISE_TUNE_CLASS_SETBACKS)
		class->setbacks++;
	reprise_quartile_forget(&class->share);
}

bool reprise_class_gains(uint8_t class, bool patched)
{
	return classes[class][patched].gains;
}

bool reprise_class_rests(uint8_t class, bool patched)
{
	return rests(&classes[class][patched]);
}

/* Graphs that are built to try the class may never be launched: after a while a few more are
 * built. */
bool reprise_class_wants_builds(uint8_t number, bool patched)
{
	struct class *class = &classes[number][patched];

	if (class->gains)
		return true;
	if (class->builds >= REPRISE_TUNE_CLASS_BUILDS && ++class->refused > rest_of(class))
		begin_rest(class);
	return !rests(class) && class->builds < REPRISE_TUNE_CLASS_BUILDS;
}

bool reprise_class_take_build(uint8_t number, bool patched)
{
	if (!reprise_class_wants_builds(number, patched))
		return false;
	classes[number][patched].builds++;
	return true;
}

void reprise_class_passed(uint8_t number, bool patched)
{
	classes[number][patched].visits++;
}

/* True if eager calls like all its ops were timed often enough. */
static bool has_price(const struct reprise_trace *trace)
{
	for (unsigned int i = 0; i < trace->count; i++)
		if (!reprise_op_cost_is_known(&trace->ops[i]))
			return false;
	return true;
}

bool reprise_class_take_visit(const struct reprise_trace *trace, bool patched)
{
	struct class *class = &classes[trace->visit_class][patched];

	class->visits++;
	if (class->gains)
		return class->visits % REPRISE_TUNE_CLASS_EAGER != 0;
	return !rests(class) && has_price(trace);
}

bool reprise_class_replayed(const struct reprise_trace *trace, bool patched, uint64_t ticks)
{
	struct class *class = &classes[trace->visit_class][patched];
	uint64_t eager = reprise_balance_eager(trace), readings;

	if (!class->gains && class->cold < REPRISE_TUNE_CLASS_COLD) {
		class->cold++;
		return false;
	}
	if (eager == 0)
		return true;
	reprise_quartile_note(&class->share, ticks * WHOLE / eager);
	readings = reprise_quartile_readings(&class->share);
	if (!class->gains && readings >= REPRISE_TUNE_CLASS_TRIED) {
		class->gains =
			reprise_quartile(&class->share) < WHOLE - WHOLE / REPRISE_TUNE_BALANCE_MARGIN;
		if (!class->gains)
			begin_rest(class);
	} else if (class->gains && readings % REPRISE_QUARTILE_READINGS == 0) {
		if (reprise_quartile(&class->share) > WHOLE)
			begin_rest(class);
		else
			class->setbacks = 0;
	}
	return true;
}
