/*
 * ways-late MODULE: closes stderr, and gives its number to a file of its own, before it opens the
 * driver, and with it whatever stands in for it. Says what others have written there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "work.h"

int main(int argc, char **argv)
{
	char path[] = "/tmp/ways-late-XXXXXX";
	int scratch = argc == 2 ? mkstemp(path) : -1;
	struct stat status;
	unsigned int result;

	if (scratch < 0 || unlink(path) != 0 || dup2(scratch, STDERR_FILENO) < 0)
		return 2;
	result = work(argv[1]);
	if (fstat(scratch, &status) != 0)
		return 2;
	printf("work=%08x, bytes in the program's file: %ld\n", result, (long)status.st_size);
	return result != 0 ? 0 : 1;
}
