/*
 * traced NAME PROGRAM [ARGUMENT ...]: becomes the program, traced by a process that is called NAME.
 * Ends with 77 where tracing is not allowed.
 *
 * The tracer is the child, so that the program has the process number that whoever started this one
 * knows.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Traces until the program has ended, and passes its signals on. */
static void trace(pid_t program, const char *name, int ready)
{
	int status;

	prctl(PR_SET_NAME, name);
	unsetenv("LD_PRELOAD");
	if (ptrace(PTRACE_SEIZE, program, NULL, NULL) != 0)
		_exit(77);
	if (write(ready, "", 1) != 1)
		_exit(1);
	close(ready);
	while (waitpid(program, &status, __WALL) == program && !WIFEXITED(status) &&
	       !WIFSIGNALED(status)) {
		int signal = WSTOPSIG(status);

		ptrace(PTRACE_CONT, program, NULL, status >> 16 != 0 || signal == SIGTRAP ? 0 : signal);
	}
	_exit(0);
}

int main(int count, char **words)
{
	pid_t program = getpid(), tracer;
	int ready[2];
	char byte;

	if (count < 3 || pipe(ready) != 0)
		return 2;
	tracer = fork();
	if (tracer == 0) {
		close(ready[0]);
		close(
			STDOUT_FILENO); /* whoever reads the program's output does not wait for this process */
		close(STDERR_FILENO);
		trace(program, words[1], ready[1]);
	}
	close(ready[1]);
	prctl(PR_SET_PTRACER, tracer);
	if (tracer < 0 || read(ready[0], &byte, 1) != 1)
		return 77;
	close(ready[0]);
	execv(words[2], words + 2);
	perror(words[2]);
	return 127;
}
