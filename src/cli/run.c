/*
 * The program runs as a child. What the terminal sends goes to both by itself; what is sent to this process alone is passed on. Every process
 * that the program starts reports to a file of its own in a folder that is gone afterwards.
 */
#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "library.h"
#include "report.h"

static const int passed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH};
static volatile sig_atomic_t child;

static void pass_on(int signal)
{
	if (child > 0)
		kill((pid_t)child, signal);
}

struct totals {
	unsigned long long ops, replayed, launch_time_ns;
	long long saved_ns;
	unsigned int processes;
	char aside_for[128]; /* the tool for which a process stood aside */
};

static unsigned long long number(const char *report, const char *key)
{
	char quoted[64];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\n  \"%s\": ", key);
	at = strstr(report, quoted);
	return at != NULL ? strtoull(at + strlen(quoted), NULL, 10) : 0;
}

/* As number(), for a string without escapes; "" if there is none. */
static void word(const char *report, const char *key, char *text, size_t size)
{
	char quoted[64];
	const char *at;

	snprintf(quoted, sizeof(quoted), "\n  \"%s\": \"", key);
	at = strstr(report, quoted);
	snprintf(text, size, "%.*s", at != NULL ? (int)strcspn(at + strlen(quoted), "\"") : 0, at != NULL ? at + strlen(quoted) : "");
}

static void add_report(struct totals *totals, const char *path)
{
	static char report[16384]; /* its beginning, which has all that is looked for */
	FILE *file = fopen(path, "r");
	char aside[8];
	size_t length;

	if (file == NULL)
		return;
	length = fread(report, 1, sizeof(report) - 1, file);
	fclose(file);
	report[length] = '\0';
	word(report, "aside", aside, sizeof(aside));
	if (aside[0] != '\0')
		word(report, "tool", totals->aside_for, sizeof(totals->aside_for));
	totals->ops += number(report, "ops");
	totals->replayed += number(report, "replayed");
	totals->launch_time_ns += number(report, "launch_time_ns");
	totals->saved_ns += (long long)number(report, "saved_ns"); /* a negative one comes out right */
	totals->processes++;
}

/* Calls `each` for the reports in the folder. */
static void visit(const char *folder, void (*each)(struct totals *totals, const char *path), struct totals *totals)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		char path[1024];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		each(totals, path);
	}
	if (directory != NULL)
		closedir(directory);
}

static void remove_report(struct totals *totals, const char *path)
{
	unlink(path);
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

/* The one line. `kept`: where the report is, for whoever wants to know more; "" if nowhere. */
static void tell(const struct totals *totals, const char *mode, const char *kept)
{
	bool observed = strcmp(mode, "observe") == 0;
	char ops[32], saved[32], time[32];

	if (totals->aside_for[0] != '\0' && totals->ops == 0) {
		fprintf(stderr, "reprise: stood aside for %s; --tools ignore replays all the same\n", totals->aside_for);
		return;
	}
	fprintf(stderr, "reprise: %.1f %% of %s launches %s", 100.0 * (double)totals->replayed / (double)(totals->ops > 0 ? totals->ops : 1),
	        grouped(totals->ops, ops), observed ? "would be replayed" : "replayed");
	if (totals->saved_ns > 0)
		fprintf(stderr, ", %s about %s of %s launch time", observed ? "which would save" : "saved", duration((double)totals->saved_ns, saved),
		        duration((double)totals->launch_time_ns, time));
	fprintf(stderr, kept[0] != '\0' ? "; reprise report %s tells more\n" : "%s\n", kept);
}

/* The name of the child's own report where the user has chosen one; false if it has written none, or one was left there from before. */
static bool find_report(const char *pattern, const struct timespec *started, char *path, size_t size)
{
	const char *mark = strstr(pattern, "%p");
	struct stat status;

	snprintf(path, size, "%.*s", mark != NULL ? (int)(mark - pattern) : (int)strlen(pattern), pattern);
	if (mark != NULL)
		snprintf(path + strlen(path), size - strlen(path), "%d%s", (int)child, mark + 2);
	return stat(path, &status) == 0 && (status.st_mtim.tv_sec > started->tv_sec ||
	                                    (status.st_mtim.tv_sec == started->tv_sec && status.st_mtim.tv_nsec >= started->tv_nsec));
}

/* What there is to tell at the end, of the report that the user asked for or of those in our folder. */
static void tell_at_end(const char *mode, const char *folder, const char *chosen, const struct timespec *started)
{
	bool observed = strcmp(mode, "observe") == 0, found = true;
	struct totals totals = {0};
	char path[1024] = "";

	if (chosen == NULL)
		visit(folder, add_report, &totals);
	else if ((found = find_report(chosen, started, path, sizeof(path))))
		add_report(&totals, path);
	if (totals.processes == 0)
		fprintf(stderr, found ? "reprise: no CUDA work was seen%s\n" : "reprise: the report is in %s\n", found ? "" : chosen);
	else if (!observed || totals.ops == 0 || !reprise_cli_report_run(chosen == NULL ? folder : path))
		tell(&totals, mode, path);
	if (chosen == NULL) {
		visit(folder, remove_report, NULL);
		rmdir(folder);
	}
}

static int wait_for_child(void)
{
	int status;

	while (waitpid((pid_t)child, &status, 0) < 0)
		if (errno != EINTR)
			return 127 << 8;
	return status;
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

int reprise_cli_run(char **command, const char *mode, bool stand_in)
{
	const char *temporary = getenv("TMPDIR");
	const char *chosen = getenv("REPRISE_REPORT");
	char folder[512], pattern[560];
	struct timespec started;
	int status;

	snprintf(folder, sizeof(folder), "%s/reprise-XXXXXX", temporary != NULL ? temporary : "/tmp");
	if (chosen == NULL && mkdtemp(folder) != NULL) {
		snprintf(pattern, sizeof(pattern), "%s/%%p.json", folder);
		setenv("REPRISE_REPORT", pattern, 1);
	}
	setenv("REPRISE", mode, 1);
	clock_gettime(CLOCK_REALTIME_COARSE, &started); /* as times of files are taken */
	child = fork();
	if (child == 0) {
		if (!(stand_in ? reprise_cli_stand_in() : reprise_cli_preload()))
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
	status = wait_for_child();
	tell_at_end(mode, folder, chosen, &started);
	return end_like(status);
}
