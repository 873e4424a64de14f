#include "options.h"

#include "sim.h"

static struct sim_options options;
static bool read_already;

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	char *end;
	uint64_t value;

	if (!text || !*text)
		return otherwise;
	value = strtoull(text, &end, 0);
	switch (*end) {
	case 'G':
		value <<= 10; /* fall through */
	case 'M':
		value <<= 10; /* fall through */
	case 'K':
		value <<= 10;
		end++;
	}
	if (*end)
		sim_misuse("%s=%s is not a number", name, text);
	return value;
}

static void read_schedule(const char *text)
{
	if (!text || !*text || strcmp(text, "eager") == 0) {
		options.schedule = SIM_EAGER;
	} else if (strcmp(text, "lazy") == 0) {
		options.schedule = SIM_LAZY;
	} else if (strcmp(text, "last") == 0) {
		options.schedule = SIM_LAST;
	} else if (strncmp(text, "random:", 7) == 0) {
		options.schedule = SIM_RANDOM;
		options.seed = strtoull(text + 7, NULL, 0);
	} else {
		sim_misuse("SIM_SCHEDULE=%s: eager, lazy, last or random:SEED", text);
	}
}

static void read_pace(const char *text)
{
	struct sim_pace *pace = &options.pace;
	char *at;

	if (!text || !*text)
		return;
	pace->start = strtoull(text, &at, 10);
	pace->launch = *at == ':' ? strtoull(at + 1, &at, 10) : 0;
	pace->node = *at == ':' ? strtoull(at + 1, &at, 10) : 0;
	if (*at || !pace->launch || !pace->node)
		sim_misuse("SIM_PACE=%s: START:LAUNCH:NODE, in nanoseconds", text);
}

void sim_options_read(void)
{
	if (read_already)
		return;
	read_already = true;
	options.devices = (int)number("SIM_DEVICES", 1);
	options.memory = number("SIM_MEMORY", (size_t)8 << 30);
	options.node_bytes = number("SIM_NODE_BYTES", 3 << 10); /* measured on an H200 */
	options.graph_room = number("SIM_GRAPH_ROOM", 0);
	options.pending = number("SIM_PENDING", 0);
	options.functions = number("SIM_FUNCTIONS", 0);
	options.patience_ms = (unsigned int)number("SIM_PATIENCE", 2);
	options.hang_ms = (unsigned int)number("SIM_HANG_MS", 5000);
	options.log_calls = number("SIM_LOG_CALLS", 0) != 0;
	options.log = getenv("SIM_LOG");
	options.stats = getenv("SIM_STATS");
	options.left = getenv("SIM_LEFT");
	options.fault = getenv("SIM_FAULT");
	options.slow = getenv("SIM_SLOW");
	options.newer = number("SIM_NEWER", 0) != 0;
	read_schedule(getenv("SIM_SCHEDULE"));
	read_pace(getenv("SIM_PACE"));
}

const struct sim_options *sim_options(void)
{
	return &options;
}
