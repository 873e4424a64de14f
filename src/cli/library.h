/* Where the library and its stand-in for libcuda.so.1 are, and the environment that puts a program
 * under them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define REPRISE_CLI_PATH_MOST 4096

/* The preloaded library, and the stand-in's folder: beside this command, as built or as
 * installed. */
bool reprise_cli_find_library(char path[REPRISE_CLI_PATH_MOST]);
bool reprise_cli_find_stand_in(char folder[REPRISE_CLI_PATH_MOST]);

/* The folder of the reader of reports. */
bool reprise_cli_find_reader(char folder[REPRISE_CLI_PATH_MOST]);

/* True if the path can be in LD_PRELOAD, a list separated by spaces and colons. */
bool reprise_cli_can_be_listed(const char *path);

/* The driver and its path; NULL if the loader finds none. Loads it into this process for good. */
void *reprise_cli_open_driver(char path[REPRISE_CLI_PATH_MOST]);

/* True if the loader finds a stand-in before the driver: every program is under Reprise already
 * then. */
bool reprise_cli_stand_in_leads(void);

/* Each says on stderr what is missing, and returns false if it is a file of Reprise's. The second
 * puts a folder on LD_LIBRARY_PATH. */
bool reprise_cli_preload(void);
bool reprise_cli_stand_in(void);
