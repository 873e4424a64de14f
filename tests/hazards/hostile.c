/*
 * hostile WHAT PROGRAM [ARGUMENT ...]: becomes the program, in a place where something is missing.
 * Ends with 77 where that cannot be arranged.
 *
 *     no-proc    no /proc: an empty folder, in a mount namespace of its own
 *     no-shm     no /dev/shm: the same, and nothing can be made there
 */
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define CANNOT 77

static bool put(const char *path, const char *text)
{
	int file = open(path, O_WRONLY);
	bool done = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);

	if (file >= 0)
		close(file);
	return done;
}

/* A mount namespace, in a user namespace where this user may have no other; nothing of it shows
 * outside. The user keeps his number. */
static bool enter_namespace(void)
{
	char users[64], groups[64];

	snprintf(users, sizeof(users), "%d %d 1", (int)geteuid(), (int)geteuid());
	snprintf(groups, sizeof(groups), "%d %d 1", (int)getegid(), (int)getegid());
	if (unshare(CLONE_NEWNS) != 0 &&
	    (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0 || !put("/proc/self/setgroups", "deny") ||
	     !put("/proc/self/uid_map", users) || !put("/proc/self/gid_map", groups)))
		return false;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static bool hide(const char *folder)
{
	return enter_namespace() && mount("none", folder, "tmpfs", MS_RDONLY, "size=4096,mode=0") == 0;
}

int main(int count, char **words)
{
	const char *folder = count < 3                          ? NULL
	                     : strcmp(words[1], "no-proc") == 0 ? "/proc"
	                     : strcmp(words[1], "no-shm") == 0  ? "/dev/shm"
	                                                        : NULL;

	if (folder == NULL) {
		fprintf(stderr, "usage: hostile no-proc|no-shm PROGRAM [ARGUMENT ...]\n");
		return 2;
	}
	if (!hide(folder)) {
		perror(folder);
		return CANNOT;
	}
	execv(words[2], words + 2);
	perror(words[2]);
	return 127;
}
