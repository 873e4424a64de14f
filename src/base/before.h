/*
 * Whether a file is from before something began. Times alone do not tell: a file's tick every few
 * milliseconds, so that one of just before the beginning may have the time of the beginning; and of
 * a name that was not known then, such as one with a process number, there is only the time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

struct reprise_before {
	struct timespec time; /* of the beginning, as times of files are taken */
	struct stat found;    /* what was there then; st_nlink 0: nothing */
};

static inline bool reprise_time_is_earlier(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec != other->tv_sec ? one->tv_sec < other->tv_sec
	                                    : one->tv_nsec < other->tv_nsec;
}

/* Now it begins. `path`: the file, or NULL if its name is not known yet. */
static inline void reprise_before_note(struct reprise_before *before, const char *path)
{
	clock_gettime(CLOCK_REALTIME_COARSE, &before->time);
	if (path == NULL || stat(path, &before->found) != 0)
		before->found.st_nlink = 0;
}

/* Whether the file with that status was last written before, or is what was there, and was not
 * written to since. */
static inline bool reprise_is_from_before(const struct stat *status,
                                          const struct reprise_before *before)
{
	const struct stat *found = &before->found;

	return reprise_time_is_earlier(&status->st_mtim, &before->time) ||
	       (found->st_nlink != 0 && status->st_dev == found->st_dev &&
	        status->st_ino == found->st_ino && status->st_size == found->st_size &&
	        !reprise_time_is_earlier(&found->st_mtim, &status->st_mtim));
}
