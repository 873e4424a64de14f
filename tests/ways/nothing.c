/*
 * A program that never uses CUDA. Tells what it can see of others in its process: threads, open
 * files, and libraries whose name has one of the words given.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static unsigned int entries(const char *path)
{
	DIR *folder = opendir(path);
	unsigned int count = 0;

	for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
		count += entry->d_name[0] != '.';
	if (folder != NULL)
		closedir(folder);
	return count;
}

static int tell(struct dl_phdr_info *info, size_t size, void *word)
{
	if (strstr(info->dlpi_name, word) != NULL)
		printf("%s\n", strrchr(info->dlpi_name, '/') + 1);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 1)
		return 0;
	(void)dlsym(RTLD_DEFAULT, "cuInit");
	(void)dlsym(RTLD_DEFAULT, "cuLaunchKernel");
	(void)dlsym(RTLD_DEFAULT, "strlen");
	printf("threads=%u files=%u\n", entries("/proc/self/task"), entries("/proc/self/fd"));
	for (int i = 1; i < argc; i++)
		dl_iterate_phdr(tell, argv[i]);
	return 0;
}
