#include "base/launcher.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* Open MPI, MPICH and its kin, Slurm, torchrun. The first that is a number counts. The last is a
 * number within one machine only. */
static const char *const variables[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID", "RANK",
                                        "LOCAL_RANK"};

static struct reprise_launcher found;
static char mark[REPRISE_LAUNCHER_MARK_MOST];

static bool parse(const char *text, uint64_t *rank)
{
	char *end;

	if (text == NULL || *text < '0' || *text > '9')
		return false;
	*rank = strtoull(text, &end, 10);
	return *end == '\0';
}

void reprise_launcher_look(void)
{
	const char *given = getenv(REPRISE_LAUNCHER_MARK);

	mark[0] = '\0';
	if (given != NULL && strlen(given) < sizeof(mark))
		strcpy(mark, given);
	found.variable = NULL;
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]) && found.variable == NULL; i++)
		if (parse(getenv(variables[i]), &found.rank))
			found.variable = variables[i];
}

bool reprise_launcher_found(struct reprise_launcher *launcher)
{
	*launcher = found;
	return found.variable != NULL;
}

const char *reprise_launcher_mark(void)
{
	return mark;
}

/* True if the command's own limit on file sizes is below what it tries to write. A limit that the
 * program has set for itself does not hold for the command. */
static bool is_command_limited(void)
{
	const char *innermost = strrchr(mark, '/');
	pid_t command = (pid_t)strtol(innermost != NULL ? innermost + 1 : mark, NULL, 10);
	struct rlimit limit;

	return command > 0 && prlimit(command, RLIMIT_FSIZE, NULL, &limit) == 0 &&
	       limit.rlim_cur < REPRISE_LAUNCHER_ROOM;
}

bool reprise_launcher_tells(int error)
{
	return mark[0] != '\0' &&
	       (error == ENOSPC || error == EDQUOT || (error == EFBIG && is_command_limited()));
}
