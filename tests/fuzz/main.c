/*
 * fuzz-program (--seed N | --file FILE) (--module KERNELS [--count N] | --text | --c): makes or
 * reads a program of the fuzzer, and runs it, or prints it. --count: the programs of so many seeds,
 * one after another in one process, since a GPU takes a second to be got ready.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

_Noreturn static void usage(void)
{
	fprintf(
		stderr,
		"usage: fuzz-program (--seed N | --file FILE) (--module KERNELS [--count N] | --text | --c)\n");
	exit(2);
}

/* Sent by who has waited long enough. */
static void tell_where(int signal)
{
	program_tell_where();
	_exit(128 + signal);
}

int main(int argc, char **argv)
{
	struct program program = {0};
	FILE *file;

	if (argc < 4)
		usage();
	if (strcmp(argv[1], "--seed") == 0) {
		program_generate(&program, strtoull(argv[2], NULL, 10));
	} else if (strcmp(argv[1], "--file") == 0) {
		file = fopen(argv[2], "r");
		if (file == NULL) {
			perror(argv[2]);
			return 2;
		}
		program_read(&program, file);
		fclose(file);
	} else {
		usage();
	}
	if (strcmp(argv[3], "--text") == 0) {
		program_write(&program, stdout);
		return 0;
	}
	if (strcmp(argv[3], "--c") == 0) {
		program_write_c(&program, stdout);
		return 0;
	}
	if (strcmp(argv[3], "--module") != 0 || argc < 5)
		usage();
	signal(SIGALRM, tell_where);
	setenv("CUDA_MODULE_LOADING", "EAGER",
	       0); /* a kernel loaded at its first launch may wait for one that spins */
	start(argv[4]);
	program_run(&program);
	if (argc == 7 && strcmp(argv[5], "--count") == 0)
		for (uint64_t seed = strtoull(argv[2], NULL, 10), end = seed + strtoull(argv[6], NULL, 10);
		     ++seed < end;) {
			struct program next = {0};

			finish();
			program_generate(&next, seed);
			program_run(&next);
		}
	return finish();
}
