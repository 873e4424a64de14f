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
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../base/before.h"
#include "library.h"
#include "progress.h"
#include "report.h"
#include "summary.h"

static const int passed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH};
static volatile sig_atomic_t child;

static void pass_on(int signal)
{
	if (child > 0)
		kill((pid_t)child, signal);
}

/* 1204331 as 1,204,331. */
static const char *grouped(unsigned long long value, char text[32])
{
	char digits[32];
	int count = snprintf(digits, sizeof(digits), "%llu", value);
	char *at = text;

	for (int i = 0; i < count; i++) {
		if (i > 0 && (count - i) % 3 == 0)
			*at++ = ',';
		*at++ = digits[i];
	}
	*at = '\0';
	return text;
}

static const char *duration(double ns, char text[32])
{
	static const struct {
		double ns;
		const char *name;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	size_t unit = 0;

	while (unit < 3 && ns < units[unit].ns)
		unit++;
	snprintf(text, 32, "%.3g %s", ns / units[unit].ns, units[unit].name);
	return text;
}

static void tell_verdict(const struct reprise_summary *summary)
{
	if (summary->difference[0] != '\0')
		fprintf(stderr, "reprise: verify found a difference: %s\n", summary->difference);
	else
		fprintf(stderr, "reprise: verify found no difference in %llu nodes; of %llu more nothing is kept\n", summary->verified,
		        summary->not_verified);
}

/* The one line. `kept`: where the report is, for whoever wants to know more; "" if nowhere. */
static void tell(const struct reprise_summary *summary, const char *mode, const char *kept)
{
	bool observed = strcmp(mode, "observe") == 0;
	char ops[32], saved[32], time[32];

	if (summary->aside_for[0] != '\0' && summary->ops == 0) {
		fprintf(stderr, "reprise: stood aside for %s; --tools ignore replays all the same\n", summary->aside_for);
		return;
	}
	fprintf(stderr, "reprise: %.1f %% of %s launches %s", reprise_summary_share(summary),
	        grouped(summary->ops, ops), observed ? "would be replayed" : "replayed");
	if (summary->saved_ns > 0)
		fprintf(stderr, ", %s about %s of %s launch time", observed ? "which would save" : "saved", duration((double)summary->saved_ns, saved),
		        duration((double)summary->launch_time_ns, time));
	fprintf(stderr, kept[0] != '\0' ? "; reprise report %s tells more\n" : "%s\n", kept);
	if (strcmp(mode, "verify") == 0)
		tell_verdict(summary);
}

/* The name of the child's own report where the user has chosen one; false if it has written none, or one was left there from before. */
static bool find_report(const char *pattern, const struct reprise_before *before, char *path, size_t size)
{
	const char *mark = strstr(pattern, "%p");
	struct stat status;

	snprintf(path, size, "%.*s", mark != NULL ? (int)(mark - pattern) : (int)strlen(pattern), pattern);
	if (mark != NULL)
		snprintf(path + strlen(path), size - strlen(path), "%d%s", (int)child, mark + 2);
	return stat(path, &status) == 0 && !reprise_is_from_before(&status, before);
}

/* What there is to tell at the end, of the report that the user asked for or of those in our folder. */
static void tell_at_end(const char *mode, const char *folder, const char *chosen, const struct reprise_before *before)
{
	bool observed = strcmp(mode, "observe") == 0, found = true;
	struct reprise_summary summary = {0};
	char path[1024] = "";

	if (chosen == NULL)
		reprise_summary_add_folder(&summary, folder);
	else if ((found = find_report(chosen, before, path, sizeof(path))))
		reprise_summary_add_file(&summary, path);
	if (summary.processes == 0)
		fprintf(stderr, found ? "reprise: no CUDA work was seen%s\n" : "reprise: the report is in %s\n", found ? "" : chosen);
	else if (!observed || summary.ops == 0 || !reprise_cli_report_run(chosen == NULL ? folder : path))
		tell(&summary, mode, path);
	if (chosen == NULL)
		reprise_summary_remove(folder);
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
	const char *chosen = getenv("REPRISE_REPORT");
	char folder[512], pattern[560];
	struct reprise_before before;
	pid_t self = getpid();
	int status;

	snprintf(folder, sizeof(folder), "%s/reprise-XXXXXX", temporary != NULL ? temporary : "/tmp");
	if (chosen == NULL && mkdtemp(folder) != NULL) {
		snprintf(pattern, sizeof(pattern), "%s/%%p.json", folder);
		setenv("REPRISE_REPORT", pattern, 1);
	}
	setenv("REPRISE", mode, 1);
	if (progress)
		setenv("REPRISE_CONTROL", "1", 1);
	reprise_before_note(&before, chosen);
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
	tell_at_end(mode, folder, chosen, &before);
	return end_like(status);
}
