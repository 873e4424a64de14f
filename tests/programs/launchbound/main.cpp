// launchbound: how long does an iteration of launch-bound work take, eagerly and from a hand-written graph?
//
//   launchbound --shape chain100 --mode eager|graph [--iterations N] [--warmup N] [--batches N] [--seed N]
//   launchbound --list
//
// Prints one line of key=value. The checksum covers every op in order and must be the same in all modes; it
// depends on the numbers of iterations, which is why they are part of the line.
#include "check.h"
#include "clock.h"
#include "modes.h"

#include <algorithm>
#include <cstring>
#include <getopt.h>
#include <memory>
#include <pthread.h>
#include <thread>

struct Settings {
    const Shape *shape = nullptr;
    bool graph = false;
    uint64_t warmup = 0, iterations = 0, batches = 0, seed = 1;
};

struct Batch {
    double wall_us, thread_us, process_us;    // per iteration
};

static double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    size_t n = values.size();
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void iterate(const Settings &settings, Run &run, uint64_t first, uint64_t count)
{
    auto *one = settings.graph ? run_from_graph : run_eagerly;
    for (uint64_t i = first; i < first + count; i++)
        one(*settings.shape, run, i);
    CHECK(cudaStreamSynchronize(run.own_stream));
}

// Runs batches in all threads at once; the first thread's clock counts.
class Team {
public:
    Team(const Settings &settings, std::vector<std::unique_ptr<Run>> &runs) : settings_(settings), runs_(runs)
    {
        pthread_barrier_init(&barrier_, nullptr, (unsigned)runs.size());
        for (size_t i = 1; i < runs.size(); i++)
            threads_.emplace_back([this, i] {
                while (meet(), count_)
                    iterate(settings_, *runs_[i], first_, count_), meet();
            });
    }

    ~Team()
    {
        count_ = 0;
        meet();
        for (std::thread &thread : threads_)
            thread.join();
        pthread_barrier_destroy(&barrier_);
    }

    Batch batch(uint64_t first, uint64_t count)
    {
        first_ = first;
        count_ = count;
        double wall = clock_us(CLOCK_MONOTONIC);
        double thread = clock_us(CLOCK_THREAD_CPUTIME_ID), process = clock_us(CLOCK_PROCESS_CPUTIME_ID);
        meet();
        iterate(settings_, *runs_[0], first, count);
        meet();
        return {(clock_us(CLOCK_MONOTONIC) - wall) / count, (clock_us(CLOCK_THREAD_CPUTIME_ID) - thread) / count,
                (clock_us(CLOCK_PROCESS_CPUTIME_ID) - process) / count};
    }

private:
    void meet() { pthread_barrier_wait(&barrier_); }

    const Settings &settings_;
    std::vector<std::unique_ptr<Run>> &runs_;
    std::vector<std::thread> threads_;
    pthread_barrier_t barrier_;
    uint64_t first_ = 0, count_ = 0;
};

static int measure(const Settings &settings)
{
    const Shape &shape = *settings.shape;
    uint64_t total = settings.warmup + settings.iterations * settings.batches;
    std::vector<std::unique_ptr<Run>> runs;
    for (int thread = 0; thread < shape.threads; thread++) {
        runs.emplace_back(new Run(settings.seed + thread, shape.default_stream, total));
        Run &run = *runs.back();
        for (uint64_t i = 0; shape.choose && i < total; i++)
            run.choice[i] = shape.choose(run.random, i, i ? run.choice[i - 1] : 0);
    }

    std::vector<double> wall, thread, process;
    {
        Team team(settings, runs);
        if (settings.warmup)
            team.batch(0, settings.warmup);
        for (uint64_t batch = 0; batch < settings.batches; batch++) {
            Batch took = team.batch(settings.warmup + batch * settings.iterations, settings.iterations);
            wall.push_back(took.wall_us);
            thread.push_back(took.thread_us);
            process.push_back(took.process_us);
        }
    }

    uint64_t checksum = 0, ops = 0;
    for (auto &run : runs) {
        checksum = checksum * 31 + run->checksum();
        ops += run->ops;
    }
    printf("shape=%s mode=%s method=%s warmup=%llu iterations=%llu batches=%llu threads=%d ops_per_iteration=%.1f "
           "us_median=%.2f us_min=%.2f thread_cpu_us=%.2f process_cpu_us=%.2f checksum=%016llx\n",
           shape.name, settings.graph ? "graph" : "eager", settings.graph ? method_name(shape.method) : "eager",
           (unsigned long long)settings.warmup, (unsigned long long)settings.iterations,
           (unsigned long long)settings.batches, shape.threads, (double)ops / total, median(wall),
           *std::min_element(wall.begin(), wall.end()), median(thread), median(process), (unsigned long long)checksum);
    return 0;
}

static void list()
{
    for (int i = 0; i < shape_count; i++)
        printf("%-18s %s\n", shapes[i].name, shapes[i].about);
}

static uint64_t number(const char *text, uint64_t least)
{
    char *end;
    unsigned long long value = strtoull(text, &end, 10);
    if (*end || end == text || value < least || value > 100000000) {
        fprintf(stderr, "launchbound: %s is not a number that fits\n", text);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    static const option options[] = {
        {"shape", required_argument, nullptr, 's'},      {"mode", required_argument, nullptr, 'm'},
        {"iterations", required_argument, nullptr, 'i'}, {"warmup", required_argument, nullptr, 'w'},
        {"batches", required_argument, nullptr, 'b'},    {"seed", required_argument, nullptr, 'r'},
        {"list", no_argument, nullptr, 'l'},             {},
    };
    Settings settings;
    settings.shape = find_shape("chain100");
    int64_t warmup = -1;
    for (int c; (c = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
        switch (c) {
        case 's':
            settings.shape = find_shape(optarg);
            if (!settings.shape) {
                fprintf(stderr, "launchbound: no shape %s; --list names them\n", optarg);
                return 2;
            }
            break;
        case 'm':
            settings.graph = !strcmp(optarg, "graph");
            if (!settings.graph && strcmp(optarg, "eager")) {
                fprintf(stderr, "launchbound: the mode is eager or graph\n");
                return 2;
            }
            break;
        case 'i':
            settings.iterations = number(optarg, 1);
            break;
        case 'w':
            warmup = (int64_t)number(optarg, 0);
            break;
        case 'b':
            settings.batches = number(optarg, 1);
            break;
        case 'r':
            settings.seed = number(optarg, 0);
            break;
        case 'l':
            list();
            return 0;
        default:
            return 2;
        }
    }
    settings.warmup = warmup < 0 ? settings.shape->warmup : (uint64_t)warmup;
    if (!settings.iterations)
        settings.iterations = settings.shape->iterations;
    if (!settings.batches)
        settings.batches = settings.shape->batches;
    return measure(settings);
}
