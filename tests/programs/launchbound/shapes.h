// The shapes: what one iteration of each issues, how it waits, and how one would write it with graphs by hand.
#pragma once

#include "run.h"

// The best that a programmer could do by hand, without Reprise.
enum Method {
    BY_CHOICE,      // capture one graph for each choice, then launch the chosen one
    BY_CHOICE_0,    // a graph for choice 0, which is the rule; the exceptions eagerly
    SET_NODES,      // one graph; the nodes whose parameters changed are set before each launch
    NO_GRAPH,       // nothing to be had from graphs: runs eagerly
};

struct Shape {
    const char *name;
    const char *about;
    void (*body)(Run &run, uint64_t iteration);
    void (*finish)(Run &run, uint64_t iteration);    // what the host does at an iteration's end
    uint32_t (*choose)(Random &random, uint64_t iteration, uint32_t previous);    // may be null: always 0
    Method method;
    int warmup, iterations, batches;    // iterations of one batch; about a second in all, eager, on an H200
    int threads;
    bool default_stream;
};

extern const Shape shapes[];
extern const int shape_count;

const Shape *find_shape(const char *name);
