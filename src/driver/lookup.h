/*
 * The C library's own dlsym. The preloaded object exports a dlsym of its own, so nobody in here may
 * call that name.
 *
 * May be called from anywhere, at any time, also before any constructor has run: no locks, no
 * allocation, no options.
 */
#pragma once

/* As dlsym(3) would answer a caller in this object: RTLD_NEXT means the objects after it. */
void *reprise_real_dlsym(void *handle, const char *name);

/*
 * The address of the C library's dlsym, or NULL until reprise_real_dlsym_find() was called. The
 * exported dlsym reads it so that it can jump there with the program's return address on the stack,
 * which is how dlsym knows its caller.
 */
extern void *reprise_real_dlsym_address;

void *reprise_real_dlsym_find(void);

/* The same for dlopen. */
extern void *reprise_real_dlopen_address;

void *reprise_real_dlopen_find(void);
