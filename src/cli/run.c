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
#include <unistd.h>

#include "library.h"

static const int passed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGCONT, SIGWINCH};
static volatile sig_atomic_t child;

static void pass_on(int signal)
{
	if (child > 0)
		kill((pid_t)child, signal);
}

struct totals {
	unsigned long long ops, replayed, traces, updates, side_exits;
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
	static char report[16384];
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
	totals->traces += number(report, "traces");
	totals->updates += number(report, "updates") + number(report, "node_updates");
	totals->side_exits += number(report, "side_exits");
	totals->processes++;
}

/* Adds up the reports in the folder, and removes them with it. */
static void collect(const char *folder, struct totals *totals)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;

	while (directory != NULL && (entry = readdir(directory)) != NULL) {
		char path[1024];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		add_report(totals, path);
		unlink(path);
	}
	if (directory != NULL)
		closedir(directory);
	rmdir(folder);
}

static void tell(const struct totals *totals, const char *mode, bool kept_elsewhere)
{
	if (totals->processes == 0) {
		fprintf(stderr, kept_elsewhere ? "reprise: the report is in %s\n" : "reprise: no CUDA work was seen%s\n",
		        kept_elsewhere ? getenv("REPRISE_REPORT") : "");
		return;
	}
	if (totals->aside_for[0] != '\0' && totals->ops == 0) {
		fprintf(stderr, "reprise: stood aside for %s; --tools ignore replays all the same\n", totals->aside_for);
		return;
	}
	fprintf(stderr, "reprise: %llu ops, %.1f %% %s, %llu traces, %llu updates, %llu side exits\n", totals->ops,
	        100.0 * (double)totals->replayed / (double)(totals->ops > 0 ? totals->ops : 1),
	        strcmp(mode, "observe") == 0 ? "would be replayed" : "replayed", totals->traces, totals->updates, totals->side_exits);
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
	bool elsewhere = getenv("REPRISE_REPORT") != NULL;
	struct totals totals = {0};
	char folder[512], pattern[560];
	int status;

	snprintf(folder, sizeof(folder), "%s/reprise-XXXXXX", temporary != NULL ? temporary : "/tmp");
	if (!elsewhere && mkdtemp(folder) != NULL) {
		snprintf(pattern, sizeof(pattern), "%s/%%p.json", folder);
		setenv("REPRISE_REPORT", pattern, 1);
	}
	setenv("REPRISE", mode, 1);
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
	if (!elsewhere)
		collect(folder, &totals);
	tell(&totals, mode, elsewhere);
	return end_like(status);
}
