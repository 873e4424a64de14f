// The forms that an iteration can take: as the program is written, and as one would write it with
// graphs by hand. A form keeps the graphs of one thread.
#pragma once

#include "shapes.h"

#include <memory>

struct Form {
	virtual ~Form() = default;
	virtual void body(const Shape &shape, Run &run, uint64_t iteration) = 0;
};

// eager, floor, or one of the hand-written ones; null if there is none of that name.
std::unique_ptr<Form> make_form(const char *name);
