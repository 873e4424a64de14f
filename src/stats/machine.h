/* The machine and the version of Reprise, so that reports can be compared and repeated. */
#pragma once

#define REPRISE_MACHINE_TEXT_MOST 128

struct reprise_machine {
	/* Of the first op's context; "" if the driver does not tell. */
	char gpu[REPRISE_MACHINE_TEXT_MOST];
	char cuda[16]; /* the driver's CUDA version, "13.0"; "" likewise */
	/* The release of the driver's kernel module; "" if there is none. */
	char driver[REPRISE_MACHINE_TEXT_MOST];
};

extern struct reprise_machine reprise_machine;

/* When Reprise starts: reads the driver's release from a file. A program may forbid itself to open
 * files later. */
void reprise_machine_note_driver(void);

/* With the first op, whose context is current: notes the rest. */
void reprise_machine_note(void);

/* Of these sources. The commit is "unknown" if they were built outside a repository. */
const char *reprise_version(void);
const char *reprise_commit(void);
