/*
 * Whether this thread is inside Reprise: non-zero while Reprise itself calls the driver or the loader. A door that is
 * reached then (from a callback, from a constructor that dlopen runs) passes straight through.
 *
 * A depth, not a flag: whoever adds one takes it off again on every way out.
 */
#pragma once

#include "tls.h"

extern _Thread_local int reprise_inside __attribute__((tls_model(REPRISE_TLS_MODEL), visibility("hidden")));
