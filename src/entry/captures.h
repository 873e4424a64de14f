/* What others end of the program's captures; entry.h has what the doors say of them. */
#pragma once

#include <cuda.h>

/* The stream, or if it is NULL the context, is destroyed, with the captures that began there. */
void reprise_program_captures_destroyed(CUstream stream, CUcontext context);
