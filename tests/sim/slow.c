#include "slow.h"

#include <fnmatch.h>

#include "options.h"
#include "sim.h"

/* Reads "NAME:MICROSECONDS" or "NAME:MICROSECONDS:CALLS" in place; the name is left in *text. */
static struct sim_slow read_one(char *text)
{
	struct sim_slow slow = {.calls = (unsigned long)-1};
	char *at = strchr(text, ':'), *end;

	if (!at)
		sim_misuse("SIM_SLOW: %s: expected NAME:MICROSECONDS[:CALLS]", text);
	*at = '\0';
	slow.nanoseconds = strtoull(at + 1, &end, 10) * 1000;
	if (*end == ':')
		slow.calls = strtoul(end + 1, &end, 10);
	if (*end)
		sim_misuse("SIM_SLOW: %s: expected NAME:MICROSECONDS[:CALLS]", text);
	return slow;
}

struct sim_slow sim_slow_find(const char *wanted)
{
	const char *option = sim_options()->slow;
	char *copy = strdup(option ? option : ""), *text, *rest = NULL;
	struct sim_slow found = {0};

	for (text = strtok_r(copy, ",", &rest); text; text = strtok_r(NULL, ",", &rest)) {
		struct sim_slow slow = read_one(text);

		if (fnmatch(text, wanted, 0) == 0)
			found = slow;
	}
	free(copy);
	return found;
}

void sim_slow_down(const struct sim_slow *slow, unsigned long call)
{
	uint64_t end =
		slow->nanoseconds && call <= slow->calls ? sim_monotonic_ns() + slow->nanoseconds : 0;

	while (end && sim_monotonic_ns() < end)
		;
}
