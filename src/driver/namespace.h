/* The loader's namespaces: a library opened with dlmopen(3) has a C library of its own. */
#pragma once

/*
 * Before Reprise starts its first thread. In another namespace than the program's, makes the
 * program's C library take its locks from now on. The loader allocates with that C library for
 * threads of every namespace, and glibc (2.34 and later) takes no lock there until it has started a
 * thread itself.
 */
void reprise_namespace_begin_threads(void);
