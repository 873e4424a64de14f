#include "base/launcher.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define RANK_MOST INT32_MAX /* MPI's ranks are of type int */

/*
 * Launchers start each other, and each leaves its variables to what the next one starts. The
 * innermost has to count: the variable of an outer one is the same in all its processes, or the
 * node's. So a launcher stands behind those that it is used to start.
 *
 * First MPI's launchers: Open MPI, MVAPICH2, MPICH and its kin, Cray's PALS, and what has only
 * PMIx. Flux and Slurm start these. Slurm starts Flux, too, and sets its variable in a batch script
 * as well, whatever that starts. RANK without its companions may be a node's, or the program's own.
 * The last is a number within one machine only.
 */
static const char *const variables[] = {
	"OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK", "PMI_RANK", "PALS_RANKID", "PMIX_RANK",
	"FLUX_TASK_RANK",       "SLURM_PROCID",        "RANK",     "LOCAL_RANK"};

/* torchrun sets these together, and so do other launchers for PyTorch. One is started on each node,
 * by Slurm or MPI. */
#define TORCH "RANK"
static const char *const beside_torch[] = {"LOCAL_RANK", "WORLD_SIZE"};

static struct reprise_launcher found;
static char mark[REPRISE_LAUNCHER_MARK_MOST];

static bool parse(const char *text, uint64_t *number)
{
	char *end;

	if (text == NULL || *text < '0' || *text > '9')
		return false;
	*number = strtoull(text, &end, 10);
	return *end == '\0' && *number <= RANK_MOST;
}

static bool take(const char *variable)
{
	if (!parse(getenv(variable), &found.rank))
		return false;
	found.variable = variable;
	return true;
}

static bool started_by_torch(void)
{
	uint64_t number;

	for (size_t i = 0; i < sizeof(beside_torch) / sizeof(beside_torch[0]); i++)
		if (!parse(getenv(beside_torch[i]), &number))
			return false;
	return true;
}

static void look_for_rank(void)
{
	found.variable = NULL;
	if (started_by_torch() && take(TORCH))
		return;
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		if (take(variables[i]))
			return;
}

void reprise_launcher_look(void)
{
	const char *given = getenv(REPRISE_LAUNCHER_MARK);

	mark[0] = '\0';
	if (given != NULL && strlen(given) < sizeof(mark))
		strcpy(mark, given);
	look_for_rank();
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
