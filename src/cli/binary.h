/* What a program's file tells of how it reaches the driver. Reads headers only; nothing of the
 * program runs. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum reprise_binary_kind {
	REPRISE_BINARY_UNREADABLE, /* or nothing to read */
	REPRISE_BINARY_OTHER,      /* neither ELF nor a script */
	REPRISE_BINARY_SCRIPT,
	REPRISE_BINARY_FOREIGN, /* ELF for another class or architecture than this command's */
	REPRISE_BINARY_STATIC,
	REPRISE_BINARY_LIBRARY, /* a shared object that is no program */
	REPRISE_BINARY_DYNAMIC,
};

struct reprise_binary {
	enum reprise_binary_kind kind;
	bool bits32;
	unsigned int machine; /* e_machine */
	bool fixed_address;   /* not position independent */
	bool privileged;      /* set-user-id, set-group-id or file capabilities */
	bool links_driver;    /* needs libcuda.so.1 */
	char cudart[64];      /* the shared cudart that it needs; "" if none */
	bool cudart_inside;   /* static cudart */
	bool names_driver;    /* has its name, for dlopen */
	bool imports_dlmopen;
	bool names_dlsym; /* has names that interposers of dlsym(3) have: its own, and the version's
	                     that leads past it */
	bool names_calls; /* has names of the driver's calls among those that the loader resolves */
	char interpreter[256]; /* of a script */
	char argument[256];  /* of a script: the one word that its interpreter is given before its name,
	                        which is the rest of the line; "" if none */
	const char *problem; /* why it is unreadable, in words; NULL if it is not */
};

/* `path` is as for open(2). */
struct reprise_binary reprise_binary_read(const char *path);

/* The same of a file's bytes, of which there is at least one. */
struct reprise_binary reprise_binary_of(const char *bytes, size_t size);
