/* What the process runs on, and by which Reprise: so that a report can be held against another one,
 * or had again. */
#pragma once

#define REPRISE_MACHINE_TEXT_MOST 128

struct reprise_machine {
	char gpu[REPRISE_MACHINE_TEXT_MOST];    /* of the first op's context; "" if the driver does not
	                                           tell */
	char cuda[16];                          /* what the driver can do: "13.0"; "" likewise */
	char driver[REPRISE_MACHINE_TEXT_MOST]; /* the release of its kernel module; "" where there is
	                                           none */
};

extern struct reprise_machine reprise_machine;

/* When Reprise starts: the driver's release, which stands in a file. Not later, since a program may
 * forbid itself to open any once it is at work. */
void reprise_machine_note_driver(void);

/* With the first op, whose context is current: the rest. */
void reprise_machine_note(void);

/* Of these sources; the commit is "unknown" where they were built from no repository. */
const char *reprise_version(void);
const char *reprise_commit(void);
