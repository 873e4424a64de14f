/* The rank of a process: that of the innermost launcher, whose variables it has among those of the
 * outer ones. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../suite.h"
#include "base/launcher.h"

/* What the launchers set. */
#define TORCHRUN \
	"RANK=5 LOCAL_RANK=1 WORLD_SIZE=8 LOCAL_WORLD_SIZE=4 GROUP_RANK=1 TORCHELASTIC_RUN_ID=none"
#define MPIRUN "OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 PMIX_RANK=3"
#define HYDRA "PMI_RANK=2 PMI_SIZE=4"
#define SRUN "SLURM_PROCID=1 SLURM_LOCALID=0 SLURM_NTASKS=2 SLURM_JOB_ID=77 SLURM_STEP_ID=0"
#define BATCH "SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NTASKS=8 SLURM_JOB_ID=77"

static const struct {
	const char *environment, *variable; /* NULL: none has a rank */
	uint64_t rank;
} cases[] = {
	{"", NULL, 0},
	/* one launcher */
	{TORCHRUN, "RANK", 5},
	{MPIRUN, "OMPI_COMM_WORLD_RANK", 3},
	{HYDRA, "PMI_RANK", 2},
	{SRUN, "SLURM_PROCID", 1},
	{"MV2_COMM_WORLD_RANK=4 MV2_COMM_WORLD_SIZE=8", "MV2_COMM_WORLD_RANK", 4},
	{"PALS_RANKID=6 PALS_LOCAL_RANKID=2", "PALS_RANKID", 6},
	{"PMIX_RANK=7 PMIX_NAMESPACE=j", "PMIX_RANK", 7},
	{"FLUX_TASK_RANK=8", "FLUX_TASK_RANK", 8},
	{"RANK=9", "RANK", 9},
	{"LOCAL_RANK=1", "LOCAL_RANK", 1},
	/* within Slurm, as a step or in its batch script; and one torchrun for each node, by mpirun */
	{TORCHRUN " " SRUN, "RANK", 5},
	{TORCHRUN " " BATCH, "RANK", 5},
	{TORCHRUN " " SRUN " PMIX_RANK=1 PMI_RANK=1", "RANK", 5},
	{TORCHRUN " " MPIRUN, "RANK", 5},
	{MPIRUN " " BATCH, "OMPI_COMM_WORLD_RANK", 3},
	{MPIRUN " " SRUN " PMI_RANK=1", "OMPI_COMM_WORLD_RANK", 3},
	{HYDRA " " SRUN " PMIX_RANK=1", "PMI_RANK", 2},
	{SRUN " PMIX_RANK=1", "PMIX_RANK", 1},
	{"FLUX_TASK_RANK=8 " SRUN, "FLUX_TASK_RANK", 8},
	/* RANK and WORLD_SIZE are a node's in some jobs of containers, which start mpirun */
	{MPIRUN " RANK=0 WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK", 3},
	{MPIRUN " RANK=0 LOCAL_RANK=0", "OMPI_COMM_WORLD_RANK", 3},
	{SRUN " RANK=0 LOCAL_RANK=x WORLD_SIZE=2", "SLURM_PROCID", 1},
	/* what is no number, or none that a rank can have */
	{"SLURM_PROCID=x LOCAL_RANK=1", "LOCAL_RANK", 1},
	{"RANK=", NULL, 0},
	{"RANK=-1", NULL, 0},
	{"RANK=+1", NULL, 0},
	{"RANK=1\n", NULL, 0},
	{"RANK=0x10", NULL, 0},
	{"RANK=2147483647", "RANK", 2147483647},
	{"RANK=2147483648", NULL, 0},
	{"RANK=18446744073709551617", NULL, 0},
};

static void set_environment(const char *assignments)
{
	char text[512], *rest = text;

	clearenv();
	strcpy(text, assignments);
	for (char *name = strsep(&rest, " "); name != NULL; name = strsep(&rest, " ")) {
		char *value = strchr(name, '=');

		if (value == NULL)
			continue;
		*value++ = '\0';
		setenv(name, value, 1);
	}
}

START_TEST(the_innermost_launcher_gives_the_rank)
{
	struct reprise_launcher launcher;

	set_environment(cases[_i].environment);
	reprise_launcher_look();
	ck_assert_msg(reprise_launcher_found(&launcher) == (cases[_i].variable != NULL), "%s",
	              cases[_i].environment);
	ck_assert_pstr_eq(launcher.variable, cases[_i].variable);
	if (launcher.variable != NULL)
		ck_assert_uint_eq(launcher.rank, cases[_i].rank);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("launcher");
	TCase *ranks = tcase_create("ranks");

	tcase_add_loop_test(ranks, the_innermost_launcher_gives_the_rank, 0,
	                    sizeof(cases) / sizeof(*cases));
	suite_add_tcase(suite, ranks);
	return run_suite(suite);
}
