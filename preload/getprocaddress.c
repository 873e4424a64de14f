/*
 * The doors of cuGetProcAddress. The driver answers, and the pointer that it returns is replaced by
 * its door. So the driver itself chooses versions, flags and per-thread forms; its answer for
 * cuGetProcAddress is the door of the right version, too.
 */
#include "versions.h"

#include "base/inside.h"
#include "doors.h"
#include "route.h"

__typeof__(cuGetProcAddress) reprise_door_cuGetProcAddress;
__typeof__(cuGetProcAddress_v2) reprise_door_cuGetProcAddress_v2;

/* An answer without a function stays as it is: version 2 succeeds with NULL for an unknown name. */
static CUresult route(CUresult result, const char *symbol, void **function)
{
	if (result == CUDA_SUCCESS && reprise_inside == 0 && *function != NULL)
		*function = reprise_route(symbol, *function);
	return result;
}

CUresult reprise_door_cuGetProcAddress(const char *symbol, void **function, int version,
                                       cuuint64_t flags)
{
	return route(REPRISE_REAL(cuGetProcAddress)(symbol, function, version, flags), symbol,
	             function);
}

CUresult reprise_door_cuGetProcAddress_v2(const char *symbol, void **function, int version,
                                          cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
	return route(REPRISE_REAL(cuGetProcAddress_v2)(symbol, function, version, flags, status),
	             symbol, function);
}
