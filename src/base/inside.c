#include "base/inside.h"

_Thread_local int reprise_inside;
