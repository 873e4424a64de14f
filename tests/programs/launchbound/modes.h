// The two ways to run an iteration: as the program is written, and by a graph written by hand.
#pragma once

#include "shapes.h"

void run_eagerly(const Shape &shape, Run &run, uint64_t iteration);
void run_from_graph(const Shape &shape, Run &run, uint64_t iteration);

const char *method_name(Method method);
