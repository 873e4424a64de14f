/* The system calls that Reprise makes beside those of a program that takes memory, waits and
 * writes: X(name). docs/design/hostile.md says by whom and for what. */
/* processor time */
X(clock_gettime)
/* threads */
#if defined(SYS_clone3)
X(clone3)
#endif
X(clone)
X(prctl)
X(rseq)
X(rt_sigaction)
X(rt_sigprocmask)
X(sched_getaffinity)
X(sched_getscheduler)
X(sched_setaffinity)
X(set_robust_list)
/* files */
X(close_range)
X(fchmodat)
X(flock)
X(geteuid)
X(getpid)
X(linkat)
X(openat)
X(ppoll)
X(pread64)
X(read)
X(readlinkat)
X(renameat2)
X(rt_sigpending)
X(rt_sigtimedwait)
X(uname)
X(unlinkat)
#if defined(SYS_open)
X(chmod)
X(link)
X(poll)
X(readlink)
X(rename)
X(unlink)
#else
X(renameat)
#endif
