/*
 * Every name of names.h, exported: those that the simulation does not model are defined here,
 * weakly, and return CUDA_ERROR_NOT_SUPPORTED. cuda.h is not included, since its declarations would
 * contradict these.
 */
#include "exports.h"

#include "names.h"

int sim_not_modelled(const char *name);

#define X(name, function, version, suffix) \
	__attribute__((weak, visibility("default"))) int name(void); \
	int name(void) \
	{ \
		return sim_not_modelled(#name); \
	}
SIM_NAMES(X)
#undef X

const struct sim_export sim_exports[] = {
#define X(name, function, version, suffix) {#name, #function, version, suffix, (void *)name},
	SIM_NAMES(X)
#undef X
};

const size_t sim_export_count = sizeof(sim_exports) / sizeof(sim_exports[0]);
