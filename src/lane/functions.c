#include "lane/functions.h"

#include <stdatomic.h>

#include "base/inside.h"
#include "driver/driver.h"

CUfunction reprise_function_of_kernel(CUfunction handle)
{
	CUfunction function = NULL;
	int entered = reprise_enter();

	if (reprise_driver.cuKernelGetFunction == NULL ||
	    reprise_driver.cuKernelGetFunction(&function, (CUkernel)handle) != CUDA_SUCCESS)
		function = NULL;
	reprise_leave(entered);
	return function;
}

void reprise_lane_learn_function(struct reprise_lane *lane, CUfunction function)
{
	CUfunction of_kernel;

	if (reprise_knows(&lane->functions, function))
		return;
	of_kernel = reprise_function_of_kernel(function);
	if (of_kernel != NULL)
		reprise_known_learn(&lane->functions, of_kernel);
	else
		atomic_store(&lane->launches_functions, true);
	reprise_known_learn(&lane->functions, function);
}

bool reprise_lane_may_launch_any(const struct reprise_lane *lane,
                                 const struct reprise_function_set *set)
{
	if (!set->is_kernel || !atomic_load(&lane->launches_functions))
		return false;
	return lane->context != set->context || (set->function == NULL && !set->nowhere);
}

bool reprise_lane_may_launch(const struct reprise_lane *lane,
                             const struct reprise_function_set *set)
{
	return reprise_lane_may_launch_any(lane, set) || reprise_knows(&lane->functions, set->handle) ||
	       (set->function != NULL && reprise_knows(&lane->functions, set->function));
}
