/* Another object of the program, with NVTX of its own. */
#include "object.h"

#include "client.h"

void object_push(const char *name)
{
	nvtxRangePushA(name);
}

void object_pop(void)
{
	nvtxRangePop();
}
