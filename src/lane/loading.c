#include "lane/loading.h"

#include <stdatomic.h>

#include "base/gate.h"
#include "base/inside.h"
#include "base/keep.h"
#include "driver/driver.h"
#include "lane/order.h"
#include "lane/registry.h"

static _Atomic bool modules_asked_for;

static CUcontext current(void)
{
	CUcontext context = NULL;

	reprise_driver_current(&context);
	return context;
}

bool reprise_loading_begins(CUfunction function, enum reprise_function_call call)
{
	REPRISE_KEEP_ERRNO;
	CUcontext context;

	if (reprise_inside != 0)
		return false;
	context = current();
	if (context == NULL || reprise_function_had(function, context, call))
		return false;
	reprise_gate_begin_waiting();
	reprise_lanes_issue_all();
	return true;
}

bool reprise_loading_begins_launch(const struct reprise_call *call, bool is_first)
{
	return call->kind == REPRISE_OP_KERNEL && (is_first || reprise_lanes_hold()) &&
	       reprise_loading_begins(call->kernel.function, REPRISE_FUNCTION_LAUNCH);
}

void reprise_loading_ends(CUfunction function, enum reprise_function_call call, bool succeeded)
{
	REPRISE_KEEP_ERRNO;
	CUcontext context = current();

	if (succeeded && context != NULL)
		reprise_function_note(function, context, call);
	reprise_gate_end_waiting();
}

CUresult reprise_loading_call(const struct reprise_call *call)
{
	bool loads = reprise_loading_begins_launch(call, false);
	CUresult result = reprise_call_eager(call, NULL);

	if (loads)
		reprise_loading_ends(call->kernel.function, REPRISE_FUNCTION_LAUNCH,
		                     result == CUDA_SUCCESS);
	return result;
}

void reprise_loading_note_module(void)
{
	atomic_store(&modules_asked_for, true);
}

struct reprise_function_set reprise_loading_set(CUfunction handle, bool is_kernel)
{
	struct reprise_function_set set = {.handle = handle, .is_kernel = is_kernel};

	if (!is_kernel)
		return set;
	set.context = current();
	if (set.context != NULL && reprise_function_had(handle, set.context, REPRISE_FUNCTION_GET))
		set.function = reprise_function_of_kernel(handle);
	set.nowhere = set.function == NULL && !atomic_load(&modules_asked_for);
	return set;
}
