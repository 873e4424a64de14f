/*
 * The model of thread-local variables. In the static block a read is one load and never allocates.
 * The stand-in for the driver cannot use it: it is loaded late, when the block may be full, and its
 * loading must not fail.
 */
#pragma once

#ifdef REPRISE_STAND_IN
#define REPRISE_TLS_MODEL "local-dynamic"
#else
#define REPRISE_TLS_MODEL "initial-exec"
#endif
