/*
 * Each process of the program writes a report of its own: to the user's path, or into a folder that
 * is removed at the end. A command within a command finds the outer one's folder already set. It
 * tells of its own processes' reports there, but neither names nor removes the folder.
 */
#include "cli/outcome.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/launcher.h"
#include "base/text.h"
#include "cli/arguments.h"
#include "cli/doctor.h"
#include "cli/reports.h"

#define NAMED_MOST 4
#define OF_A_LINE "stderr" /* the report's name that asks for one line instead of a file */

/* ---- where reports go ---- */

static void make_mark(struct reprise_outcome *outcome, const char *outer)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (outer != NULL && strlen(outer) + 64 < sizeof(outcome->mark))
		snprintf(outcome->mark, sizeof(outcome->mark), "%s/%d-%lld", outer, (int)getpid(),
		         (long long)now.tv_sec * 1000000000 + now.tv_nsec);
	else
		snprintf(outcome->mark, sizeof(outcome->mark), "%d-%lld", (int)getpid(),
		         (long long)now.tv_sec * 1000000000 + now.tv_nsec);
	setenv(REPRISE_LAUNCHER_MARK, outcome->mark, 1);
}

static void make_scratch(struct reprise_outcome *outcome)
{
	if (!reprise_scratch_make(outcome->scratch)) {
		outcome->error = errno;
		outcome->scratch[0] = '\0';
		return;
	}
	snprintf(outcome->pattern, sizeof(outcome->pattern), "%s/%%p.json", outcome->scratch);
	reprise_given_set(REPRISE_OPTION_REPORT, outcome->pattern, "the command");
}

/* All such folders of commands have the same form of name, which a user's path does not have. */
static bool is_outer_scratch(const char *pattern)
{
	const char *end = strstr(pattern, "/%p.json"), *begin = end;

	while (begin != NULL && begin > pattern && begin[-1] != '/')
		begin--;
	return end != NULL && end[strlen("/%p.json")] == '\0' &&
	       end - begin == (long)strlen("reprise-XXXXXX") && strncmp(begin, "reprise-", 8) == 0;
}

void reprise_outcome_begin(struct reprise_outcome *outcome)
{
	const char *given = getenv("REPRISE_REPORT"), *outer = getenv(REPRISE_LAUNCHER_MARK);

	*outcome = (struct reprise_outcome){0};
	make_mark(outcome, outer);
	outcome->of_a_line = given != NULL && strcmp(given, OF_A_LINE) == 0;
	/* The library's own line would be one for each process, and none from one that is killed. */
	if (outcome->of_a_line)
		unsetenv("REPRISE_REPORT");
	if (given == NULL || given[0] == '\0' || outcome->of_a_line) {
		make_scratch(outcome);
		return;
	}
	outcome->chosen = outer == NULL || !is_outer_scratch(given);
	if ((size_t)snprintf(outcome->pattern, sizeof(outcome->pattern), "%s", given) >=
	    sizeof(outcome->pattern))
		outcome->pattern[0] = '\0'; /* the library says that it is too long */
}

void reprise_outcome_end(const struct reprise_outcome *outcome)
{
	if (outcome->scratch[0] != '\0')
		reprise_scratch_remove(outcome->scratch);
}

void reprise_outcome_look(const struct reprise_outcome *outcome, struct reprise_found *found,
                          struct reprise_summary *summary, enum reprise_summary_kind kind)
{
	*found = (struct reprise_found){0};
	*summary = (struct reprise_summary){.kind = kind};
	if (outcome->pattern[0] != '\0')
		reprise_found_look(found, outcome->pattern, outcome->mark);
	for (size_t i = 0; i < found->count; i++) {
		char *path = found->paths[i], *report = reprise_summary_read(path);
		unsigned int before = summary->counted;

		if (report != NULL)
			reprise_summary_add(summary, report);
		if (summary->counted > before) {
			found->paths[i] = found->paths[before];
			found->paths[before] = path;
		}
		free(report);
	}
}

/* ---- why there are no reports ---- */

/* Why reports cannot be written; false if they can. A path with %p is named by its folder, and a
 * folder of Reprise's by its parent. */
static bool output_problem(const struct reprise_outcome *outcome, char *words, size_t size)
{
	const char *problem = NULL, *name = outcome->pattern;
	char folder[sizeof(outcome->pattern)];

	if (outcome->pattern[0] == '\0')
		return false;
	problem = reprise_output_check_file(outcome->pattern);
	if (reprise_folder_of(outcome->pattern, folder, sizeof(folder))) {
		problem = problem != NULL ? problem : reprise_output_check_room(folder);
		name = strstr(outcome->pattern, "%p") != NULL ? folder : name;
		if (!outcome->chosen)
			*strrchr(folder, '/') = '\0';
	}
	if (problem != NULL)
		snprintf(words, size, "cannot write report to %s: %s", name, problem);
	return problem != NULL;
}

void reprise_outcome_why_unknown(const struct reprise_outcome *outcome,
                                 const struct reprise_found *found, char **command, int status,
                                 char *words, size_t size)
{
	char obstacle[256];

	if (outcome->error != 0)
		snprintf(words, size, "cannot make a folder for reports in $TMPDIR or /tmp: %s",
		         strerror(outcome->error));
	else if (output_problem(outcome, words, size))
		return;
	else if (found->unusable != NULL)
		snprintf(words, size, "the report in %s is not whole", found->unusable);
	else if (WIFSIGNALED(status))
		snprintf(words, size, "%s was ended by signal %d (%s) before it could report", command[0],
		         WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (reprise_program_obstacle(command[0], obstacle, sizeof(obstacle)))
		snprintf(words, size, "%s", obstacle);
	else
		snprintf(
			words, size,
			"no report came: %s made no CUDA call that Reprise could see, ended by _exit, forbade itself to open files, or changed the environment; try reprise doctor %s",
			command[0], command[0]);
}

/* ---- the end ---- */

static void tell_verdict(const struct reprise_summary *summary)
{
	char checked[REPRISE_AMOUNT_MOST], others[REPRISE_AMOUNT_MOST];

	reprise_amount_count(summary->verified, checked);
	if (summary->difference[0] != '\0')
		fprintf(stderr, "reprise: verify found a difference: %s\n", summary->difference);
	else if (summary->verified == 0)
		fprintf(stderr, "reprise: verify: no graph node was checked: this proves nothing\n");
	else {
		fprintf(stderr, "reprise: verify: %s graph nodes checked, all match", checked);
		if (summary->not_verified > 0)
			fprintf(stderr, "; %s more could not be checked",
			        reprise_amount_count(summary->not_verified, others));
		if (summary->unchecked > 0)
			fprintf(stderr, "; %u of %u processes had REPRISE=on, which checks nothing",
			        summary->unchecked, summary->counted);
		fputc('\n', stderr);
	}
}

/* Says where to learn more, if the user keeps the reports. */
static void tell_kept(const struct reprise_outcome *outcome, const struct reprise_found *found)
{
	if (outcome->chosen && found->count <= NAMED_MOST) {
		fprintf(stderr, "; reprise report");
		for (size_t i = 0; i < found->count; i++)
			fprintf(stderr, " %s", found->paths[i]);
		fprintf(stderr, " tells more");
	} else if (outcome->chosen) {
		fprintf(stderr, "; %zu reports tell more, the first is %s", found->count, found->paths[0]);
	}
	fputc('\n', stderr);
}

/* By turns, or what is expected of replaying. */
static void tell_gain(const struct reprise_summary *summary, bool observed)
{
	char expected[REPRISE_EXPECTED_MOST];

	if (summary->measured[0] != '\0')
		fprintf(stderr, ", %s", summary->measured);
	else if (!observed)
		fputs(summary->any_measured ? ", each report tells its gain" : ", gain not measured",
		      stderr);
	else if (summary->saved_ns != 0)
		fprintf(stderr, ", which would %s",
		        reprise_amount_expected(summary->saved_ns, summary->launch_time_ns, expected));
}

static void tell_shares(const struct reprise_summary *summary, bool observed)
{
	const char *replayed = observed ? "would be replayed" : "replayed";
	char ops[REPRISE_AMOUNT_MOST], why[256];

	reprise_amount_count(summary->ops, ops);
	if (summary->replayed > 0)
		fprintf(stderr, "reprise: %.1f %% of %s launches %s", reprise_summary_share(summary), ops,
		        replayed);
	else if (observed)
		fprintf(stderr, "reprise: 0 of %s launches %s: %s", ops, replayed,
		        reprise_summary_why_none(summary, why, sizeof(why)));
	else
		fprintf(stderr, "reprise: replayed 0 of %s launches: %s", ops,
		        reprise_summary_why_none(summary, why, sizeof(why)));
	if (summary->counted > 1)
		fprintf(stderr, " (%u processes)", summary->counted);
}

/* Launches that are not among the counted ones, since Reprise did not look at them. */
static void tell_others(const struct reprise_summary *summary)
{
	char others[REPRISE_AMOUNT_MOST];

	if (summary->paused > 0)
		fprintf(stderr, "; %s more came while Reprise was off",
		        reprise_amount_count(summary->paused, others));
	if (summary->in_ranges > 0)
		fprintf(stderr, "; %s more came in NVTX ranges that are eager",
		        reprise_amount_count(summary->in_ranges, others));
	if (summary->eager_stopped > 0 && summary->stopped[0] != '\0')
		fprintf(stderr, "; %s more came after it had stopped: %s",
		        reprise_amount_count(summary->eager_stopped, others), summary->stopped);
}

static unsigned long long not_looked_at(const struct reprise_summary *summary)
{
	return summary->paused + summary->in_ranges + summary->eager_stopped + summary->eager_capturing;
}

static void tell_line(const struct reprise_outcome *outcome, const struct reprise_found *found,
                      const struct reprise_summary *summary, const char *mode)
{
	bool observed = strcmp(mode, "observe") == 0;
	char passed[REPRISE_AMOUNT_MOST], others[256];
	bool any_others = reprise_summary_others(summary, others, sizeof(others));

	if (summary->aside > 0 && summary->aside == summary->processes) {
		fprintf(stderr, "reprise: stood aside for %s; --tools ignore replays all the same",
		        summary->aside_for);
		any_others = false;
	} else if (summary->ops == 0 && not_looked_at(summary) > 0)
		fprintf(
			stderr,
			"reprise: none of %s launches was looked at: they came while Reprise was off or had stopped, %sor in captures of the program's own",
			reprise_amount_count(not_looked_at(summary), passed),
			summary->in_ranges > 0 ? "in NVTX ranges that are eager, " : "");
	else if (summary->ops == 0 && any_others)
		fprintf(stderr, "reprise: nothing was %s", observed ? "observed" : "replayed");
	else if (summary->ops == 0)
		fprintf(stderr, "reprise: no CUDA launches were seen");
	else
		tell_shares(summary, observed);
	if (summary->replayed > 0)
		tell_gain(summary, observed);
	if (summary->ops > 0)
		tell_others(summary);
	if (any_others)
		fprintf(stderr, "; %s", others);
	tell_kept(outcome, found);
	if (strcmp(mode, "verify") == 0)
		tell_verdict(summary);
}

/* Says that not everything is shown. */
static void tell_snapshots(const struct reprise_summary *summary, int status)
{
	if (summary->snapshots == 0)
		return;
	if (WIFSIGNALED(status))
		fprintf(stderr, "reprise: ended by signal %d (%s); the last snapshot is shown\n",
		        WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		fprintf(
			stderr,
			"reprise: %u of %u processes ended before the last report; the last snapshot is shown\n",
			summary->snapshots, summary->processes);
}

static void write_page(const struct reprise_found *found, const struct reprise_summary *summary,
                       const struct reprise_run_wish *wish)
{
	if ((wish->html != NULL || wish->open) && summary->counted > 0)
		reprise_cli_report_page(found->paths, summary->counted, wish->html, wish->open,
		                        wish->quiet);
	else if (wish->html != NULL)
		fprintf(stderr, "reprise: %s was not written: there is no report to make a page of\n",
		        wish->html);
	else if (wish->open)
		fprintf(stderr, "reprise: no page is opened: there is no report to make one of\n");
}

/* A line that names the share of all launches, also of those that nobody looked at, if it is too
 * small. True if it is not. */
static bool tell_enough(const struct reprise_summary *summary, double required)
{
	unsigned long long all = summary->ops + summary->other_ops + summary->paused +
	                         summary->in_ranges + summary->eager_stopped;
	char launches[REPRISE_AMOUNT_MOST];

	if (required == 0 || (all > 0 && 100.0 * (double)summary->replayed >= required * (double)all))
		return true;
	if (summary->processes == 0 || all == 0)
		fprintf(stderr, "reprise: --require %g: no launch is known to be replayed\n", required);
	else
		fprintf(stderr, "reprise: --require %g: only %.4g %% of %s launches were replayed\n",
		        required, 100.0 * (double)summary->replayed / (double)all,
		        reprise_amount_count(all, launches));
	return false;
}

/* What is said if nothing is but errors. */
static void tell_errors(const struct reprise_outcome *outcome)
{
	char why[PATH_MAX + 256];

	if (outcome->chosen && output_problem(outcome, why, sizeof(why)))
		fprintf(stderr, "reprise: %s\n", why);
}

static void tell_all(const struct reprise_outcome *outcome, struct reprise_found *found,
                     const struct reprise_summary *summary, char **command, const char *mode,
                     int status)
{
	bool observed = strcmp(mode, "observe") == 0;
	char why[PATH_MAX + 256];

	if (found->unusable != NULL && summary->processes > 0)
		fprintf(stderr, "reprise: the report in %s is not whole, and not counted\n",
		        found->unusable);
	if (summary->processes > 0 && output_problem(outcome, why, sizeof(why)))
		fprintf(stderr, "reprise: %s; what is not there is not counted\n", why);
	tell_snapshots(summary, status);
	if (summary->processes == 0) {
		reprise_outcome_why_unknown(outcome, found, command, status, why, sizeof(why));
		fprintf(stderr, "reprise: nothing is known of the launches: %s\n", why);
	} else if (!observed || outcome->of_a_line || summary->ops == 0 ||
	           !reprise_cli_report_run(found->paths, summary->counted)) {
		tell_line(outcome, found, summary, mode);
	} else if (reprise_summary_others(summary, why, sizeof(why))) {
		fprintf(stderr, "reprise: %s\n", why);
	}
}

bool reprise_outcome_tell(const struct reprise_outcome *outcome, char **command, const char *mode,
                          int status, const struct reprise_run_wish *wish)
{
	struct reprise_found found;
	struct reprise_summary summary;
	bool enough;

	reprise_outcome_look(outcome, &found, &summary,
	                     strcmp(mode, "observe") == 0 ? REPRISE_SUMMARY_OBSERVED
	                                                  : REPRISE_SUMMARY_REPLAYED);
	if (wish->quiet)
		tell_errors(outcome);
	else
		tell_all(outcome, &found, &summary, command, mode, status);
	enough = tell_enough(&summary, wish->require);
	write_page(&found, &summary, wish);
	reprise_found_free(&found);
	return enough;
}
