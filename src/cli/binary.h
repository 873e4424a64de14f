/* What a program's file tells of its way to the driver. Reads headers only and runs nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum reprise_binary_kind {
	REPRISE_BINARY_UNREADABLE, /* or empty */
	REPRISE_BINARY_OTHER,      /* neither ELF nor a script */
	REPRISE_BINARY_SCRIPT,
	REPRISE_BINARY_FOREIGN, /* ELF of another class or architecture than this command's */
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
	char cudart[64];      /* the shared cudart that it needs; "": none */
	bool cudart_inside;   /* it has a static cudart */
	bool names_driver;    /* it contains the driver's name, for dlopen */
	bool imports_dlmopen;
	/* It has names that interposers of dlsym(3) use: dlsym itself, and dlvsym, which
	 * goes past it. */
	bool names_dlsym;
	bool names_calls;      /* it has names of driver calls for the loader to resolve */
	char interpreter[256]; /* a script's interpreter */
	/* A script's first argument for its interpreter: the rest of the line as one word; "": none. */
	char argument[256];
	const char *problem; /* why it is unreadable; NULL if it is readable */
};

/* `path` as for open(2). */
struct reprise_binary reprise_binary_read(const char *path);

/* The same for the bytes of a file, at least one. */
struct reprise_binary reprise_binary_of(const char *bytes, size_t size);
