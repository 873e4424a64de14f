/*
 * The C library's own dlsym. The preloaded object exports a dlsym of its own, so no code in it may
 * call that name.
 *
 * Any thread, at any time, also before constructors have run: no locks, no allocation, no options.
 */
#pragma once

/* As dlsym(3) called from this object: RTLD_NEXT means the objects after it. */
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
