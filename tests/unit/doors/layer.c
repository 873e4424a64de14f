/* Another preloaded layer over the driver: counts, and calls what comes next. */
#include <dlfcn.h>
#include <stdint.h>

unsigned int layer_calls;

unsigned int cuGraphLaunch(uint64_t event, uint64_t stream);

unsigned int cuGraphLaunch(uint64_t event, uint64_t stream)
{
	unsigned int (*next)(uint64_t, uint64_t) =
		(unsigned int (*)(uint64_t, uint64_t))dlsym(RTLD_NEXT, "cuGraphLaunch");

	layer_calls++;
	return next(event, stream);
}

/* Looks up so that it is this object that asks. */
void *layer_finds(void *(*look_up)(void *, const char *), void *handle, const char *name);

void *layer_finds(void *(*look_up)(void *, const char *), void *handle, const char *name)
{
	void *volatile found = look_up(handle, name);

	return found;
}

/* NULL, if the look-up knows that it was this object that asked. */
void *layer_past_itself(void);

void *layer_past_itself(void)
{
	void *volatile found =
		dlsym(RTLD_NEXT, "layer_calls"); /* no tail call, by which the caller would seem to ask */

	return found;
}
