#include "cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SAID (-1) /* in place of an error: the child has said why it does not start */

static const int passed_on[] = {SIGTERM, SIGHUP,  SIGINT,  SIGQUIT,  SIGUSR1,
                                SIGUSR2, SIGALRM, SIGCONT, SIGWINCH, SIGTSTP};
#define PASSED_ON (sizeof(passed_on) / sizeof(passed_on[0]))

static volatile sig_atomic_t child, asked;
/* A write that fails for these reasons is reported or does not matter. */
static const int ignored[] = {SIGPIPE, SIGXFSZ};
#define IGNORED (sizeof(ignored) / sizeof(ignored[0]))

/* The handlers at the start of this process. */
static struct sigaction found[PASSED_ON], found_ignored[IGNORED], found_end;

static bool is_key(int signal)
{
	return signal == SIGINT || signal == SIGQUIT || signal == SIGWINCH || signal == SIGTSTP;
}

static bool was_ignored(int signal)
{
	for (size_t i = 0; i < PASSED_ON; i++)
		if (passed_on[i] == signal)
			return found[i].sa_handler == SIG_IGN;
	return false;
}

/* Not if the signal was ignored from the start, as HUP under nohup: the program ignores it too. */
static bool asks_to_end(int signal)
{
	return !was_ignored(signal) &&
	       (signal == SIGTERM || signal == SIGHUP || signal == SIGINT || signal == SIGQUIT);
}

/* Stops this process as if the signal were not caught, so its parent sees it stopped. SIGCONT
 * continues it and is passed on. */
static void stop_by(int signal)
{
	struct sigaction standard = {.sa_handler = SIG_DFL}, before;
	sigset_t set, mask;

	sigaction(signal, &standard, &before);
	sigemptyset(&set);
	sigaddset(&set, signal);
	raise(signal);
	sigprocmask(SIG_UNBLOCK, &set, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(signal, &before, NULL);
}

/* The kernel sends the signals of keys and windows to the terminal's whole foreground group: a
 * child in it has the signal already. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
	int saved = errno;

	(void)context;
	if (asks_to_end(signal))
		asked = signal;
	if (child > 0 && !(is_key(signal) && info->si_code == SI_KERNEL))
		kill((pid_t)child, signal);
	if (signal == SIGTSTP && !was_ignored(signal))
		stop_by(signal);
	errno = saved;
}

void reprise_child_guard(void)
{
	struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, standard = {.sa_handler = SIG_DFL};

	for (size_t i = 0; i < PASSED_ON; i++)
		sigaction(passed_on[i], &action, &found[i]);
	for (size_t i = 0; i < IGNORED; i++)
		sigaction(ignored[i], &ignore, &found_ignored[i]);
	sigaction(SIGCHLD, &standard, &found_end); /* if it is ignored, children cannot be waited for */
}

static void block(bool all, sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < PASSED_ON; i++)
		sigaddset(&set, passed_on[i]);
	sigprocmask(all ? SIG_BLOCK : SIG_UNBLOCK, &set, before);
}

/* A pipe whose ends do not have the numbers of standard streams: the child may be about to open
 * these. */
static bool make_pipe(int ends[2])
{
	int first[2];

	if (pipe2(first, O_CLOEXEC) != 0)
		return false;
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(first[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		close(first[i]);
	}
	return ends[0] >= 0 && ends[1] >= 0;
}

_Noreturn static void become(char **command, bool (*prepare)(void *context), void *context,
                             int tell, pid_t parent, const sigset_t *mask)
{
	int error = SAID;

	/* SIGKILL of this process is meant for the program; other signals are passed on. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (size_t i = 0; i < PASSED_ON; i++)
		sigaction(passed_on[i], &found[i], NULL);
	for (size_t i = 0; i < IGNORED; i++)
		sigaction(ignored[i], &found_ignored[i], NULL);
	sigaction(SIGCHLD, &found_end, NULL);
	if (getppid() == parent && prepare(context)) {
		sigprocmask(SIG_SETMASK, mask, NULL);
		execvp(command[0], command);
		error = errno;
	}
	(void)!write(tell, &error, sizeof(error));
	_exit(127);
}

/* Why the child could not start the program; 0: it has. */
static int read_error(int from)
{
	int error = 0;
	ssize_t got;

	while ((got = read(from, &error, sizeof(error))) < 0 && errno == EINTR)
		continue;
	return got == sizeof(error) ? error : 0;
}

static int could_not(const char *program, int error)
{
	child = 0;
	if (error != SAID)
		fprintf(stderr, "reprise: cannot start %s: %s\n", program, strerror(error));
	return error == ENOENT || error == SAID ? 127 : 126;
}

int reprise_child_start(char **command, bool (*prepare)(void *context), void *context)
{
	pid_t self = getpid();
	sigset_t mask;
	int ends[2], error;

	if (!make_pipe(ends))
		return could_not(command[0], errno);
	block(true, &mask);
	child = asked != 0 ? -1 : fork();
	error = child > 0 ? 0 : asked != 0 ? SAID : errno;
	if (child == 0)
		become(command, prepare, context, ends[1], self, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	block(false, NULL);
	close(ends[1]);
	if (child > 0) {
		error = read_error(ends[0]);
		if (error != 0)
			waitpid((pid_t)child, NULL, 0);
	}
	close(ends[0]);
	return error == 0 ? 0 : could_not(command[0], error);
}

static int wait_for_end(void)
{
	int status;

	while (waitpid((pid_t)child, &status, 0) < 0)
		if (errno != EINTR)
			return 127 << 8;
	return status;
}

static int wait_and_call(void (*meanwhile)(pid_t child), unsigned int milliseconds)
{
	struct timespec pause = {.tv_sec = milliseconds / 1000,
	                         .tv_nsec = milliseconds % 1000 * 1000000l};
	sigset_t ended;
	pid_t waited;
	int status;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ended, NULL);
	while ((waited = waitpid((pid_t)child, &status, WNOHANG)) == 0) {
		if (sigtimedwait(&ended, NULL, &pause) < 0 && errno == EAGAIN)
			meanwhile((pid_t)child);
	}
	return waited < 0 ? 127 << 8 : status;
}

int reprise_child_wait(void (*meanwhile)(pid_t child), unsigned int milliseconds)
{
	int status = meanwhile != NULL ? wait_and_call(meanwhile, milliseconds) : wait_for_end();

	child = 0; /* the number may be another process's now */
	return status;
}

int reprise_child_asked_to_end(void)
{
	return asked;
}

int reprise_child_end_by(int signal)
{
	struct rlimit no_core = {0, 0};
	struct sigaction standard = {.sa_handler = SIG_DFL};
	sigset_t set;

	fflush(NULL);
	setrlimit(RLIMIT_CORE, &no_core);
	sigaction(signal, &standard, NULL);
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(signal);
	return 128 + signal;
}
