/* The processes that accept control (REPRISE_CONTROL), as the kernel's list of sockets has them. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#define REPRISE_PROCESSES_MOST 256 /* that are looked at */
#define REPRISE_PROCESS_NAME_MOST 32

/* Finds those of this user, in this network namespace. Returns how many; sorted by number. */
size_t reprise_processes_find(pid_t found[REPRISE_PROCESSES_MOST]);

/* The name of the process's program, without its folder, and only what a terminal may show; "?" if
 * there is no such process. Returns `name`. */
const char *reprise_process_name(pid_t process, char name[REPRISE_PROCESS_NAME_MOST]);
