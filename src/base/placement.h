/* Where code and data stand. */
#pragma once

/*
 * Marks what a steady loop uses at every op. A program that does much between two calls, as Python
 * does, fills the caches with its own code and data. Fetching Reprise's lines and pages anew then
 * takes longer than the work itself. So these functions stand side by side, and so do the few words
 * that all of them read and none writes in a steady loop.
 */
#define REPRISE_HOT __attribute__((hot))
#define REPRISE_HOT_DATA __attribute__((section("reprise_hot")))

/*
 * The model of thread-local variables. In the static block a read is one load and never allocates.
 * The stand-in for the driver cannot use it: it is loaded late, when the block may be full, and its
 * loading must not fail.
 */
#ifdef REPRISE_STAND_IN
#define REPRISE_TLS_MODEL "local-dynamic"
#else
#define REPRISE_TLS_MODEL "initial-exec"
#endif
