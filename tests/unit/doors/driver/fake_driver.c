/* Every function of the table, each remembering its call. Weak, so that fake_answers.c can put
 * something better in place. */
#include "../fake_driver.h"

#include <string.h>

struct fake_log fake_log;

static unsigned int remember(const char *name, const uint64_t *integers, const double *floats)
{
	fake_log.calls++;
	fake_log.name = name;
	memcpy(fake_log.integers, integers, sizeof(fake_log.integers));
	memcpy(fake_log.floats, floats, sizeof(fake_log.floats));
	if (fake_log.called != NULL)
		fake_log.called();
	return fake_log.result;
}

#define FUNCTION(name) \
	__attribute__((weak)) fake_function name; \
	unsigned int name(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, \
	                  uint64_t g, uint64_t h, uint64_t i, uint64_t j, uint64_t k, uint64_t l, \
	                  double s, double t, double u, double v, double w, double x, double y, \
	                  double z) \
	{ \
		return remember(#name, (uint64_t[]){a, b, c, d, e, f, g, h, i, j, k, l}, \
		                (double[]){s, t, u, v, w, x, y, z}); \
	}

#define ENTRY(name, ...) FUNCTION(name)
#include "../../../../preload/entry_points.def"

FAKE_UNKNOWN(FUNCTION)
