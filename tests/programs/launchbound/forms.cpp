#include "forms.h"

#include "../check.h"
#include "clock.h"
#include "kernels.h"

#include <cstring>
#include <map>

namespace {

struct Eager : Form {
    void body(const Shape &shape, Run &run, uint64_t iteration) override { shape.body(run, iteration); }
};

// The program with ops that are answered and never executed: they cost nothing, and what is left is the host's own time, and its waits.
struct Floor : Form {
    void body(const Shape &shape, Run &run, uint64_t iteration) override
    {
        run.answered = true;
        shape.body(run, iteration);
        run.answered = false;
    }
};

// Captures the body as it is for this iteration. Capture is thread-local: other threads go on.
cudaGraph_t capture(const Shape &shape, Run &run, uint64_t iteration)
{
    cudaGraph_t graph;
    run.stream = run.capture_stream;
    run.capturing = true;
    CHECK(cudaStreamBeginCapture(run.stream, cudaStreamCaptureModeThreadLocal));
    shape.body(run, iteration);
    CHECK(cudaStreamEndCapture(run.stream, &graph));
    run.capturing = false;
    run.stream = run.own_stream;
    return graph;
}

cudaGraphExec_t instantiate(cudaGraph_t graph, const Run &run)
{
    cudaGraphExec_t exec;
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphUpload(exec, run.own_stream));
    return exec;
}

// One graph for each choice, captured when it comes for the first time, and launched as it is.
class Launched : public Form {
public:
    enum Which { ALL, RULE_ALONE };    // RULE_ALONE: choice 0 is the rule, the exceptions go eagerly

    explicit Launched(Which which) : which_(which) {}

    ~Launched()
    {
        for (auto &entry : captured_)
            cudaGraphExecDestroy(entry.second.exec);
    }

    void body(const Shape &shape, Run &run, uint64_t iteration) override
    {
        uint32_t choice = run.choice[iteration];
        if (which_ == RULE_ALONE && choice) {
            shape.body(run, iteration);
            return;
        }
        Captured &captured = captured_[choice];
        if (!captured.exec)
            captured = take(shape, run, iteration);
        CHECK(cudaGraphLaunch(captured.exec, run.own_stream));
        run.ops += captured.ops;
        if (captured.thought_us > 0)
            spin_us(captured.thought_us);    // the program has this work to do, with graphs or without
    }

private:
    struct Captured {
        cudaGraphExec_t exec = nullptr;
        uint64_t ops = 0;
        double thought_us = 0;    // host work that the body does between its launches
    };

    static Captured take(const Shape &shape, Run &run, uint64_t iteration)
    {
        Captured captured;
        uint64_t ops_before = run.ops;
        double thought_before = run.thought_us;
        cudaGraph_t graph = capture(shape, run, iteration);
        captured.exec = instantiate(graph, run);
        CHECK(cudaGraphDestroy(graph));
        captured.ops = run.ops - ops_before;
        captured.thought_us = run.thought_us - thought_before;
        run.ops = ops_before;
        return captured;
    }

    Which which_;
    std::map<uint32_t, Captured> captured_;
};

// The same without the allocation, which one would make once if one wrote the graph by hand.
class LaunchedHoisted : public Launched {
public:
    LaunchedHoisted() : Launched(ALL) {}

    void body(const Shape &shape, Run &run, uint64_t iteration) override
    {
        if (!run.hoisted)
            CHECK(cudaMalloc(&run.hoisted, BLOCK * sizeof(uint32_t)));
        Launched::body(shape, run, iteration);
    }
};

// For each choice a row of graphs of so many kernels, whose nodes are set one by one where parameters changed. Each graph is launched
// as soon as its nodes are right, so that setting those of the next goes on while it runs.
class Set : public Form, Sink {
public:
    explicit Set(size_t nodes_of_a_graph) : size_(nodes_of_a_graph) {}

    ~Set()
    {
        for (auto &entry : written_) {
            for (cudaGraphExec_t exec : entry.second.execs)
                cudaGraphExecDestroy(exec);
            for (cudaGraph_t graph : entry.second.graphs)
                cudaGraphDestroy(graph);
        }
    }

    void body(const Shape &shape, Run &run, uint64_t iteration) override
    {
        auto [found, is_new] = written_.try_emplace(run.choice[iteration]);
        current_ = &found->second;
        building_ = is_new;
        stream_ = run.own_stream;
        position_ = 0;
        run.sink = this;
        shape.body(run, iteration);
        run.sink = nullptr;
        for (size_t i = 0; building_ && i < current_->graphs.size(); i++) {
            current_->execs.push_back(instantiate(current_->graphs[i], run));
            CHECK(cudaGraphLaunch(current_->execs[i], stream_));
        }
    }

    void take(const Launch &launch) override
    {
        uint32_t *x = launch.x;
        const uint32_t *y = launch.y;
        uint32_t argument = launch.argument;
        void *arguments[] = {&x, &y, &argument};
        cudaKernelNodeParams params = {};
        params.func = (void *)launch.kernel;
        params.gridDim = dim3(launch.blocks);
        params.blockDim = dim3(BLOCK);
        params.kernelParams = arguments;
        if (building_)
            add(launch, params);
        else
            set(launch, params);
    }

private:
    struct Written {
        std::vector<cudaGraph_t> graphs;
        std::vector<cudaGraphExec_t> execs;
        std::vector<cudaGraphNode_t> nodes;    // of all the graphs
        std::vector<Launch> launches;          // what they are set to
    };

    void add(const Launch &launch, const cudaKernelNodeParams &params)
    {
        bool first = position_++ % size_ == 0;
        if (first)
            CHECK(cudaGraphCreate(&current_->graphs.emplace_back(), 0));
        cudaGraphNode_t node;
        CHECK(cudaGraphAddKernelNode(&node, current_->graphs.back(), first ? nullptr : &current_->nodes.back(), first ? 0 : 1, &params));
        current_->nodes.push_back(node);
        current_->launches.push_back(launch);
    }

    void set(const Launch &launch, const cudaKernelNodeParams &params)
    {
        cudaGraphExec_t exec = current_->execs[position_ / size_];
        Launch &last = current_->launches[position_];
        if (!(last == launch)) {
            CHECK(cudaGraphExecKernelNodeSetParams(exec, current_->nodes[position_], &params));
            last = launch;
        }
        position_++;
        if (position_ % size_ == 0 || position_ == current_->nodes.size())
            CHECK(cudaGraphLaunch(exec, stream_));
    }

    size_t size_;
    std::map<uint32_t, Written> written_;
    Written *current_ = nullptr;
    bool building_ = false;
    cudaStream_t stream_ = nullptr;
    size_t position_ = 0;
};

// One graph, brought up to date as a whole from a new capture of the body.
class Updated : public Form {
public:
    ~Updated()
    {
        if (exec_)
            cudaGraphExecDestroy(exec_);
    }

    void body(const Shape &shape, Run &run, uint64_t iteration) override
    {
        cudaGraph_t graph = capture(shape, run, iteration);
        cudaGraphExecUpdateResultInfo result;
        if (!exec_)
            exec_ = instantiate(graph, run);
        else
            CHECK(cudaGraphExecUpdate(exec_, graph, &result));
        CHECK(cudaGraphDestroy(graph));
        CHECK(cudaGraphLaunch(exec_, run.own_stream));
    }

private:
    cudaGraphExec_t exec_ = nullptr;
};

template <class FORM, auto... ARGUMENTS>
std::unique_ptr<Form> make()
{
    return std::make_unique<FORM>(ARGUMENTS...);
}

const struct {
    const char *name;
    std::unique_ptr<Form> (*make)();
} forms[] = {
    {"eager", make<Eager>},
    {"floor", make<Floor>},
    {"launch", make<Launched, Launched::ALL>},
    {"launch-or-eager", make<Launched, Launched::RULE_ALONE>},
    {"launch-hoisted", make<LaunchedHoisted>},
    {"set", make<Set, SIZE_MAX>},
    {"set-by-8", make<Set, 8>},
    {"set-by-16", make<Set, 16>},
    {"set-by-32", make<Set, 32>},
    {"update", make<Updated>},
};

}    // namespace

std::unique_ptr<Form> make_form(const char *name)
{
    for (auto &form : forms)
        if (!strcmp(form.name, name))
            return form.make();
    return nullptr;
}
