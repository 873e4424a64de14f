/*
 * Where a thread's own variables are: in its static block, so that reading one is one load and
 * never allocates. But not where Reprise stands in for the driver: such an object comes late, when
 * others may have taken what room there was, and must not fail to load for it.
 */
#pragma once

#ifdef REPRISE_STAND_IN
#define REPRISE_TLS_MODEL "local-dynamic"
#else
#define REPRISE_TLS_MODEL "initial-exec"
#endif
