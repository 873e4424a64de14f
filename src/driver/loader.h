/* The C library's own dlsym and dlopen, and the loader's namespaces. */
#pragma once

/*
 * The preloaded object exports a dlsym of its own, so no code in it may call that name. This one
 * and what follows: any thread, at any time, also before constructors have run; no locks, no
 * allocation, no options. As dlsym(3) called from this object: RTLD_NEXT means the objects after
 * it.
 */
void *reprise_real_dlsym(void *handle, const char *name);

/*
 * The address of the C library's dlsym; NULL until reprise_real_dlsym_find(). The exported dlsym
 * jumps there with the program's return address on the stack, by which dlsym identifies its caller.
 */
extern void *reprise_real_dlsym_address;

void *reprise_real_dlsym_find(void);

/* The same for dlopen. */
extern void *reprise_real_dlopen_address;

void *reprise_real_dlopen_find(void);

/*
 * Before Reprise starts its first thread. A library opened with dlmopen(3) has a C library of its
 * own. In another namespace than the program's, this makes the program's C library take its locks
 * from now on. The loader allocates with that C library for threads of every namespace, and glibc
 * (2.34 and later) takes no lock there until it has started a thread itself.
 */
void reprise_namespace_begin_threads(void);
