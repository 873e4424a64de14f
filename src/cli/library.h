/* Where the library and its stand-in for libcuda.so.1 are, and what has to be in the environment
 * for a program to be under them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define REPRISE_CLI_PATH_MOST 4096

/* The preloaded library, and the folder that has the stand-in: beside this command, as built or as
 * installed. */
bool reprise_cli_find_library(char path[REPRISE_CLI_PATH_MOST]);
bool reprise_cli_find_stand_in(char folder[REPRISE_CLI_PATH_MOST]);

/* The folder that has what reads reports. */
bool reprise_cli_find_reader(char folder[REPRISE_CLI_PATH_MOST]);

/* Whether a path can stand in LD_PRELOAD, a list in which spaces and colons part its members. */
bool reprise_cli_can_be_listed(const char *path);

/* The driver and its file; NULL where the loader finds none. Loads it into this process, for good.
 */
void *reprise_cli_open_driver(char path[REPRISE_CLI_PATH_MOST]);

/* Whether the loader finds a stand-in before the driver: then every program is under Reprise
 * already. */
bool reprise_cli_stand_in_leads(void);

/* Each says on stderr what is missing, and is false if that is of ours. The second puts a folder on
 * LD_LIBRARY_PATH. */
bool reprise_cli_preload(void);
bool reprise_cli_stand_in(void);
