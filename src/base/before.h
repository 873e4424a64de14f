/*
 * Tells whether a file was last written before a given moment. File times alone are too coarse:
 * they advance every few milliseconds, so a file written just before the moment may carry its time.
 * If the file's name was not known at that moment (it has a process number, say), the time is all
 * there is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

struct reprise_before {
	struct timespec time; /* the moment, by the clock of file times */
	struct stat found;    /* the file at that moment; st_nlink 0: none */
};

static inline bool reprise_time_is_earlier(const struct timespec *one, const struct timespec *other)
{
	return one->tv_sec != other->tv_sec ? one->tv_sec < other->tv_sec
	                                    : one->tv_nsec < other->tv_nsec;
}

/* Notes the current moment. `path`: the file, or NULL if its name is not known yet. */
static inline void reprise_before_note(struct reprise_before *before, const char *path)
{
	clock_gettime(CLOCK_REALTIME_COARSE, &before->time);
	if (path == NULL || stat(path, &before->found) != 0)
		before->found.st_nlink = 0;
}

/* True if the file with this status was last written before the moment, or is the file found at
 * that moment and was not written since. */
static inline bool reprise_is_from_before(const struct stat *status,
                                          const struct reprise_before *before)
{
	const struct stat *found = &before->found;

	return reprise_time_is_earlier(&status->st_mtim, &before->time) ||
	       (found->st_nlink != 0 && status->st_dev == found->st_dev &&
	        status->st_ino == found->st_ino && status->st_size == found->st_size &&
	        !reprise_time_is_earlier(&found->st_mtim, &status->st_mtim));
}
