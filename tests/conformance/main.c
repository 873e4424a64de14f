/*
 * conformance [--list] [--only NAME] [--deadline SECONDS] MODULE
 *
 * Does this driver do what CUDA documents? MODULE is kernels.cu, built for the driver at hand. The
 * checks run in processes of their own, one after another in each until one fails, ends the process
 * or takes too long: then the next begins in a fresh one. This process never calls CUDA.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

static const struct check *const tables[] = {
	address_checks, device_checks, context_checks,  module_checks,  function_checks,
	launch_checks,  memory_checks, pointer_checks,  copy_checks,    managed_checks,
	array_checks,   green_checks,  carried_checks,  pool_checks,    peer_checks,
	stream_checks,  order_checks,  event_checks,    capture_checks, prohibited_checks,
	unsafe_checks,  fork_checks,   graph_checks,    beside_checks,  host_checks,
	across_checks,  node_checks,   any_node_checks, edge_checks,    memory_node_checks,
	update_checks,  set_checks,    sticky_checks,
};

enum { MOST = 1024 };

static const struct check *checks[MOST];
static size_t count;
static bool simulated, has_two_devices;
static int deadline_s = 30;

/* What a process reports of one check, in one write. */
struct report {
	size_t position;
	bool failed;
	char text[FAILURE_ROOM];
};

static unsigned int passed, failed, skipped;
static char
	*failures[MOST]; /* the lines again, for the end of a log of which only the end is shown */

static void tell(const struct check *check, const char *failure)
{
	if (failure) {
		if (asprintf(&failures[failed], "FAILED %s: %s", check->name, failure) < 0)
			exit(2);
		puts(failures[failed++]);
	} else {
		printf("ok %s\n", check->name);
		passed++;
	}
	fflush(stdout);
}

/* Why a check is skipped here, or NULL. */
static const char *reason_to_skip(const struct check *check)
{
	if (simulated && check->gpu_only)
		return check->gpu_only;
	return (check->flags & TWO_DEVICES) && !has_two_devices ? "there is one device" : NULL;
}

static bool skips(const struct check *check)
{
	return reason_to_skip(check) != NULL;
}

/* The child: runs from `first` on, up to where a fresh process is needed. */
_Noreturn static void run_from(size_t first, int reports)
{
	size_t i;

	for (i = first; i < count; i++) {
		struct report report = {.position = i};
		const char *failure;

		if (skips(checks[i]))
			continue;
		if (i != first && (checks[i]->flags & OWN_PROCESS))
			break;
		failure = fixture_run(checks[i]);
		report.failed = failure != NULL;
		if (failure)
			snprintf(report.text, sizeof(report.text), "%s", failure);
		if (write(reports, &report, sizeof(report)) != sizeof(report) || failure ||
		    (checks[i]->flags & OWN_PROCESS))
			break;
	}
	_exit(0);
}

/* Reads one report; 1: it came, 0: the process has ended, -1: the deadline has passed. */
static int read_report(int reports, struct report *report)
{
	struct pollfd ready = {.fd = reports, .events = POLLIN};
	int events;

	do
		events = poll(&ready, 1, deadline_s * 1000);
	while (events < 0 && errno == EINTR);
	if (events == 0)
		return -1;
	return read(reports, report, sizeof(*report)) == sizeof(*report);
}

/* Starts a process at `first` and returns the position of the first check that it did not answer
 * for. */
static size_t run_some(size_t first)
{
	struct report report;
	size_t next = first;
	int ends[2], status = 0, came;
	char text[64];
	pid_t child;

	if (pipe(ends) != 0 || (child = fork()) < 0) {
		perror("conformance");
		exit(2);
	}
	if (child == 0) {
		close(ends[0]);
		run_from(first, ends[1]);
	}
	close(ends[1]);
	while ((came = read_report(ends[0], &report)) == 1) {
		tell(checks[report.position], report.failed ? report.text : NULL);
		next = report.position + 1;
		for (; next < count && skips(checks[next]); next++)
			;
	}
	if (came < 0)
		kill(child, SIGKILL);
	close(ends[0]);
	waitpid(child, &status, 0);
	if (next < count && (came < 0 || !WIFEXITED(status) || WEXITSTATUS(status))) {
		if (came < 0)
			snprintf(text, sizeof(text), "expected an end within %d s, saw none", deadline_s);
		else
			snprintf(text, sizeof(text), "expected a result, saw the process end with %s %d",
			         WIFSIGNALED(status) ? "signal" : "status",
			         WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		tell(checks[next++], text);
	}
	return next;
}

/* In another process, since this one never calls CUDA. */
static bool ask(bool (*question)(void))
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(question() ? 3 : 0);
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 3;
}

static void gather(const char *only)
{
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		const struct check *check;

		for (check = tables[i]; check->name && count < MOST; check++)
			if (!only || strcmp(check->name, only) == 0)
				checks[count++] = check;
	}
}

static int list(void)
{
	size_t i;

	for (i = 0; i < count; i++)
		printf("%s\t%s%s%s\n", checks[i]->name, checks[i]->source,
		       checks[i]->gpu_only ? "\tGPU only: " : "",
		       checks[i]->gpu_only ? checks[i]->gpu_only : "");
	return 0;
}

static void skip(void)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (!skips(checks[i]))
			continue;
		printf("skipped %s: %s\n", checks[i]->name, reason_to_skip(checks[i]));
		skipped++;
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *only = NULL;
	bool lists = false;
	size_t next;
	int i;

	for (i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--list") == 0)
			lists = true;
		else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc)
			only = argv[++i];
		else if (strcmp(argv[i], "--deadline") == 0 && i + 1 < argc)
			deadline_s = atoi(argv[++i]);
		else if (argv[i][0] != '-' && !module_path)
			module_path = argv[i];
		else
			break;
	}
	gather(only);
	if (lists)
		return list();
	if (i < argc || !module_path || deadline_s <= 0 || count == 0) {
		fprintf(stderr,
		        count ? "usage: conformance [--list] [--only NAME] [--deadline SECONDS] MODULE\n"
		              : "conformance: no such check\n");
		return 2;
	}
	/* A kernel loaded at its first launch may wait for one that holds a stream. */
	setenv("CUDA_MODULE_LOADING", "EAGER", 1);
	simulated = ask(fixture_is_simulation);
	has_two_devices = ask(fixture_has_two_devices);
	skip();
	for (next = 0; next < count && skips(checks[next]); next++)
		;
	while (next < count)
		next = run_some(next);
	for (unsigned int again = 0; again < failed; again++)
		puts(failures[again]);
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed != 0;
}
