/*
 * The program runs as a child. What the terminal sends goes to both by itself; what is sent to this process alone is passed on. Every process
 * that the program starts reports to a file of its own in a folder that is gone afterwards.
 */
#include "run.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library.h"
#include "progress.h"
#include "summary.h"

static const int passed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH};
static volatile sig_atomic_t child;

static void pass_on(int signal)
{
	if (child > 0)
		kill((pid_t)child, signal);
}

static void tell_verdict(const struct reprise_summary *summary)
{
	if (summary->difference[0] != '\0')
		fprintf(stderr, "reprise: verify found a difference: %s\n", summary->difference);
	else
		fprintf(stderr, "reprise: verify found no difference in %llu nodes; of %llu more nothing is kept\n", summary->verified,
		        summary->not_verified);
}

static void tell(const struct reprise_summary *summary, const char *mode, bool kept_elsewhere)
{
	if (summary->processes == 0) {
		fprintf(stderr, kept_elsewhere ? "reprise: the report is in %s\n" : "reprise: no CUDA work was seen%s\n",
		        kept_elsewhere ? getenv("REPRISE_REPORT") : "");
		return;
	}
	if (summary->aside_for[0] != '\0' && summary->ops == 0) {
		fprintf(stderr, "reprise: stood aside for %s; --tools ignore replays all the same\n", summary->aside_for);
		return;
	}
	fprintf(stderr, "reprise: %llu ops, %.1f %% %s, %llu traces, %llu updates, %llu side exits\n", summary->ops,
	        reprise_summary_share(summary), strcmp(mode, "observe") == 0 ? "would be replayed" : "replayed", summary->traces, summary->updates,
	        summary->side_exits);
	if (strcmp(mode, "verify") == 0)
		tell_verdict(summary);
}

static int wait_for_child(void)
{
	int status;

	while (waitpid((pid_t)child, &status, 0) < 0)
		if (errno != EINTR)
			return 127 << 8;
	return status;
}

/* As wait_for_child(), with a word now and then about how far it is. */
static int wait_and_tell(void)
{
	struct timespec pause = {.tv_nsec = REPRISE_PROGRESS_MS * 1000000l};
	sigset_t ended;
	pid_t waited;
	int status;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ended, NULL);
	while ((waited = waitpid((pid_t)child, &status, WNOHANG)) == 0) {
		if (sigtimedwait(&ended, NULL, &pause) < 0 && errno == EAGAIN)
			reprise_progress_show((pid_t)child);
	}
	reprise_progress_erase();
	return waited < 0 ? 127 << 8 : status;
}

static void start_passing_on(void)
{
	struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};

	for (size_t i = 0; i < sizeof(passed_on) / sizeof(passed_on[0]); i++)
		sigaction(passed_on[i], &action, NULL);
	signal(SIGINT, SIG_IGN); /* the terminal sends these to the program as well, whose business they are */
	signal(SIGQUIT, SIG_IGN);
}

/* As the program ended, so does this process. */
static int end_like(int status)
{
	struct rlimit no_core = {0, 0};

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	setrlimit(RLIMIT_CORE, &no_core); /* one core file, the program's, is enough */
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}

int reprise_cli_run(char **command, const char *mode, bool stand_in, bool progress)
{
	const char *temporary = getenv("TMPDIR");
	bool elsewhere = getenv("REPRISE_REPORT") != NULL;
	struct reprise_summary summary = {0};
	char folder[512], pattern[560];
	pid_t self = getpid();
	int status;

	snprintf(folder, sizeof(folder), "%s/reprise-XXXXXX", temporary != NULL ? temporary : "/tmp");
	if (!elsewhere && mkdtemp(folder) != NULL) {
		snprintf(pattern, sizeof(pattern), "%s/%%p.json", folder);
		setenv("REPRISE_REPORT", pattern, 1);
	}
	setenv("REPRISE", mode, 1);
	if (progress)
		setenv("REPRISE_CONTROL", "1", 1);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* who kills this process means the program; other signals are passed on */
		if (getppid() != self || !(stand_in ? reprise_cli_stand_in() : reprise_cli_preload()))
			_exit(127);
		execvp(command[0], command);
		fprintf(stderr, "reprise: %s: %s\n", command[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	if (child < 0) {
		perror("reprise: fork");
		return 127;
	}
	start_passing_on();
	status = progress && reprise_progress_wanted() ? wait_and_tell() : wait_for_child();
	if (!elsewhere)
		reprise_summary_collect(&summary, folder);
	tell(&summary, mode, elsewhere);
	return end_like(status);
}
