#include "fault.h"

#include <fnmatch.h>
#include <stdio.h>

#include "capture.h"
#include "context.h"
#include "options.h"
#include "stream.h"

struct sim_fault {
	unsigned long first, last, step; /* 0: all between */
	CUresult error;
	struct sim_fault *next;
};

/* Reads "NAME:WHEN=ERROR" in place; the parts are left in *name and *fault. */
static void read_one(char *text, char **name, struct sim_fault *fault)
{
	char *when = strchr(text, ':'), *error = strchr(text, '='), *end;

	if (!when || !error || error < when)
		sim_misuse("SIM_FAULT: %s: expected NAME:N=ERROR", text);
	*when++ = *error++ = '\0';
	*name = text;
	fault->first = 1;
	fault->last = (unsigned long)-1;
	if (strncmp(when, "from-", 5) == 0)
		fault->first = strtoul(when + 5, NULL, 10);
	else if (strncmp(when, "to-", 3) == 0)
		fault->last = strtoul(when + 3, NULL, 10);
	else if (strcmp(when, "every") != 0) {
		fault->first = strtoul(when, &end, 10);
		fault->step = *end == '+' ? strtoul(end + 1, NULL, 10) : 0;
		if (fault->step == 0)
			fault->last = fault->first;
	}
	fault->error = (CUresult)strtoul(error, &end, 10);
	if (*end || fault->first == 0 || fault->last == 0)
		sim_misuse("SIM_FAULT: %s:%s=%s: expected NAME:N=ERROR", *name, when, error);
}

struct sim_fault *sim_fault_find(const char *wanted)
{
	const char *option = sim_options()->fault;
	struct sim_fault *found = NULL;
	char *copy, *text, *rest = NULL;

	if (!option || !*option)
		return NULL;
	copy = strdup(option);
	for (text = strtok_r(copy, ",", &rest); text; text = strtok_r(NULL, ",", &rest)) {
		struct sim_fault fault = {0}, *kept;
		char *name;

		read_one(text, &name, &fault);
		if (fnmatch(name, wanted, 0) != 0)
			continue;
		kept = malloc(sizeof(*kept));
		*kept = fault;
		kept->next = found;
		found = kept;
	}
	free(copy);
	return found;
}

bool sim_fault_strikes(const struct sim_fault *fault, unsigned long call, CUresult *error)
{
	for (; fault; fault = fault->next)
		if (call >= fault->first && call <= fault->last &&
		    (fault->step == 0 || (call - fault->first) % fault->step == 0))
			break;
	if (!fault)
		return false;
	*error = fault->error;
	/* A call that meets an invalidated capture fails with this error by itself, and ends the
	 * capture where it should. */
	return fault->error != CUDA_ERROR_STREAM_CAPTURE_INVALIDATED ||
	       !sim_capture_invalidate_thread();
}

void sim_fault_reprises(bool begins)
{
	sim_self()->reprises = begins;
}

void sim_fault_carries(CUstream to, CUstream from)
{
	struct sim_stream *target, *source;

	pthread_mutex_lock(&sim_lock);
	target = sim_stream_of(to);
	source = sim_stream_of(from);
	if (target && source)
		target->model = source->place;
	pthread_mutex_unlock(&sim_lock);
}

bool sim_fault_cause(CUresult error, bool breaks)
{
	struct sim_context *current;
	bool made;

	pthread_mutex_lock(&sim_lock);
	current = sim_current();
	if (breaks && current)
		sim_context_break(current, error);
	made = error == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED && sim_capture_invalidate_thread();
	pthread_mutex_unlock(&sim_lock);
	return made;
}
