/*
 * fuzz-program (--seed N | --file FILE) (--module KERNELS | --text | --c): makes or reads a program of the fuzzer, and runs it, or prints it.
 */
#include <stdlib.h>
#include <string.h>

#include "program.h"

_Noreturn static void usage(void)
{
	fprintf(stderr, "usage: fuzz-program (--seed N | --file FILE) (--module KERNELS | --text | --c)\n");
	exit(2);
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
	if (strcmp(argv[3], "--module") != 0 || argc != 5)
		usage();
	start(argv[4]);
	program_run(&program);
	return finish();
}
