/* The C++ names of kernels, as far as a deny list needs them. Allocates nothing. Any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * The name that a mangled name begins with, in C++'s words, up to its first template arguments:
 * "at::native::fill" of _ZN2at6native4fillIfEEvPT_i, "saxpy" of _Z5saxpyfPfS_. False if it is not
 * mangled, is no function's, or does not fit.
 *
 * Source: the Itanium C++ ABI, 5.1 "External Names (a.k.a. Mangling)", which nvcc follows.
 */
bool reprise_qualified_name(const char *mangled, char *name, size_t size);

/* As fnmatch(3), without flags. Its stack, of about 3 KiB, is needed only where the glob's longest
 * part without special characters is in the name. */
bool reprise_glob_matches(const char *glob, const char *name);

/* True if the glob is of that C++ name: the whole, or its last part if the glob has no "::". What
 * the glob says of the result, of template arguments and of parameters is not looked at, and cut
 * off. */
bool reprise_qualified_matches(char *glob, const char *name);
