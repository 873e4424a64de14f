#include "modes.h"

#include "check.h"
#include "clock.h"

void run_eagerly(const Shape &shape, Run &run, uint64_t iteration)
{
    shape.body(run, iteration);
    shape.finish(run, iteration);
}

// Captures the body as it is for this iteration. Capture is thread-local: other threads go on.
static Variant capture(const Shape &shape, Run &run, uint64_t iteration)
{
    Variant variant;
    uint64_t ops_before = run.ops;
    double thought_before = run.thought_us;
    cudaGraph_t graph;
    run.stream = run.capture_stream;
    run.capturing = true;
    CHECK(cudaStreamBeginCapture(run.stream, cudaStreamCaptureModeThreadLocal));
    shape.body(run, iteration);
    CHECK(cudaStreamEndCapture(run.stream, &graph));
    run.capturing = false;
    run.stream = run.own_stream;
    CHECK(cudaGraphInstantiate(&variant.exec, graph, 0));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphUpload(variant.exec, run.own_stream));
    variant.ops = run.ops - ops_before;
    variant.thought_us = run.thought_us - thought_before;
    run.ops = ops_before;
    return variant;
}

static void launch_choice(const Shape &shape, Run &run, uint64_t iteration)
{
    Variant &variant = run.variants[run.choice[iteration]];
    if (!variant.exec)
        variant = capture(shape, run, iteration);
    CHECK(cudaGraphLaunch(variant.exec, run.own_stream));
    run.ops += variant.ops;
    if (variant.thought_us > 0)
        spin_us(variant.thought_us);    // the program has this work to do, with graphs or without
}

static void set_and_launch(const Shape &shape, Run &run, uint64_t iteration)
{
    if (!run.exec) {
        CHECK(cudaGraphCreate(&run.graph, 0));
        run.target = TO_GRAPH;
        shape.body(run, iteration);
        CHECK(cudaGraphInstantiate(&run.exec, run.graph, 0));
        CHECK(cudaGraphUpload(run.exec, run.own_stream));
    } else {
        run.target = TO_EXEC;
        run.position = 0;
        shape.body(run, iteration);
    }
    run.target = TO_STREAM;
    CHECK(cudaGraphLaunch(run.exec, run.own_stream));
}

void run_from_graph(const Shape &shape, Run &run, uint64_t iteration)
{
    switch (shape.method) {
    case BY_CHOICE:
        launch_choice(shape, run, iteration);
        break;
    case BY_CHOICE_0:
        if (run.choice[iteration] == 0)
            launch_choice(shape, run, iteration);
        else
            shape.body(run, iteration);
        break;
    case SET_NODES:
        set_and_launch(shape, run, iteration);
        break;
    case NO_GRAPH:
        shape.body(run, iteration);
        break;
    }
    shape.finish(run, iteration);
}

const char *method_name(Method method)
{
    switch (method) {
    case BY_CHOICE:
        return "graph-launch";
    case BY_CHOICE_0:
        return "graph-launch-or-eager";
    case SET_NODES:
        return "set-changed-nodes";
    case NO_GRAPH:
        return "none-fits-so-eager";
    }
    return "?";
}
