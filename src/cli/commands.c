#include "cli/commands.h"

#include <string.h>

#define PROGRAM "[options] -- PROGRAM [ARGUMENT ...]"

const struct reprise_command reprise_commands[] = {
	{REPRISE_COMMAND_RUN, "run", PROGRAM, "replay what repeats from CUDA graphs",
     REPRISE_HAVING_RUN},
	{REPRISE_COMMAND_OBSERVE, "observe", PROGRAM, "change nothing; tell what repeats",
     REPRISE_HAVING_OBSERVE},
	{REPRISE_COMMAND_REPORT, "report", "FILE|FOLDER ... [--compare] [--json | --html FILE]",
     "show reports, which --report of run and observe writes", REPRISE_HAVING_REPORT},
	{REPRISE_COMMAND_DOCTOR, "doctor", "[PROGRAM]",
     "tell what is here, and whether the program can be run so", REPRISE_HAVING_NOTHING},
	{REPRISE_COMMAND_VERIFY, "verify", PROGRAM,
     "run it without Reprise and with it; tell what differs", REPRISE_HAVING_VERIFY},
	{REPRISE_COMMAND_BENCH, "bench", PROGRAM,
     "run it without Reprise and with it, by turns; tell which is faster", REPRISE_HAVING_BENCH},
	{REPRISE_COMMAND_CTL, "ctl", "PID|NAME|all on|off|report",
     "turn processes that run with --control on or off, or get a report", REPRISE_HAVING_NOTHING},
	{REPRISE_COMMAND_TOP, "top", "[--once]",
     "show the processes that run with --control, each second anew", REPRISE_HAVING_TOP},
	{REPRISE_COMMAND_HELP, "help", "[COMMAND]", "show this help, or that of a command",
     REPRISE_HAVING_NOTHING},
};
const size_t reprise_command_count = sizeof(reprise_commands) / sizeof(reprise_commands[0]);

const struct reprise_command *reprise_command_named(const char *name)
{
	for (size_t i = 0; i < reprise_command_count; i++)
		if (strcmp(reprise_commands[i].name, name) == 0)
			return &reprise_commands[i];
	return NULL;
}
