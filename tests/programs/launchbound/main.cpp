// launchbound: how long does an iteration of launch-bound work take, eagerly and from a hand-written graph?
//
//   launchbound --shape chain100 --mode FORM [--iterations N] [--warmup N] [--batches N] [--seed N] [--turns] [--answer]
//   launchbound --list
//
// FORM is eager, graph for the first hand-written one that the shape has, or one of those that --list names. Prints one line of
// key=value. The checksum covers every op in order and must be the same in all forms but the floor, which does no work; it
// depends on the numbers of iterations, which is why they are part of the line.
//
// --answer: the line has no times, so it is the same from run to run.
//
// --turns: before the program sets up, before it warms up, and before each batch, it waits for a line on its standard input; it answers
// each with a line us=TIME. So several processes can be timed by turns. The end of the input ends the batches. A line with a word on
// it asks for work as scripts/turns does (turns.h), with Reprise paused or not: so one process is timed by turns with itself.
#include "../check.h"
#include "../turns.h"
#include "clock.h"
#include "forms.h"

#include <algorithm>
#include <cstring>
#include <getopt.h>
#include <memory>
#include <pthread.h>
#include <string>
#include <thread>

struct Settings {
    const Shape *shape = nullptr;
    std::string form = "eager";
    uint64_t warmup = 0, iterations = 0, batches = 0, seed = 1;
    bool turns = false, answer = false;

    uint64_t most_iterations() const { return warmup + iterations * batches; }
};

struct Batch {
    double wall_us, thread_us, process_us;    // per iteration
};

// A thread of the program, with what it works with.
struct Member {
    Member(const Settings &settings, uint64_t seed)
        : run(seed, settings.shape->stream, settings.most_iterations()), form(make_form(settings.form.c_str())), shape(*settings.shape)
    {
        for (uint64_t i = 0; shape.choose && i < run.choice.size(); i++)
            run.choice[i] = shape.choose(run.random, run.choice.data(), i);
    }

    void iterate(uint64_t first, uint64_t count)
    {
        for (uint64_t i = first; i < first + count; i++) {
            form->body(shape, run, i);
            shape.finish(run, i);
        }
        run.wait();
    }

    Run run;
    std::unique_ptr<Form> form;
    const Shape &shape;
};

static double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    size_t n = values.size();
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// Runs batches in all threads at once; the first thread's clock counts.
class Team {
public:
    explicit Team(const Settings &settings)
    {
        for (int i = 0; i < settings.shape->threads; i++)
            members_.emplace_back(new Member(settings, settings.seed + i));
        pthread_barrier_init(&barrier_, nullptr, (unsigned)members_.size());
        for (size_t i = 1; i < members_.size(); i++)
            threads_.emplace_back([this, i] {
                while (meet(), count_)
                    members_[i]->iterate(first_, count_), meet();
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

    Batch batch(uint64_t count)
    {
        first_ = done_;
        count_ = count;
        double wall = clock_us(CLOCK_MONOTONIC);
        double thread = clock_us(CLOCK_THREAD_CPUTIME_ID), process = clock_us(CLOCK_PROCESS_CPUTIME_ID);
        meet();
        members_[0]->iterate(first_, count);
        meet();
        done_ += count;
        return {(clock_us(CLOCK_MONOTONIC) - wall) / count, (clock_us(CLOCK_THREAD_CPUTIME_ID) - thread) / count,
                (clock_us(CLOCK_PROCESS_CPUTIME_ID) - process) / count};
    }

    uint64_t checksum()
    {
        uint64_t sum = 0;
        for (auto &member : members_)
            sum = sum * 31 + member->run.checksum();
        return sum;
    }

    double ops_per_iteration() const
    {
        uint64_t ops = 0;
        for (auto &member : members_)
            ops += member->run.ops;
        return (double)ops / done_;
    }

private:
    void meet() { pthread_barrier_wait(&barrier_); }

    std::vector<std::unique_ptr<Member>> members_;
    std::vector<std::thread> threads_;
    pthread_barrier_t barrier_;
    uint64_t done_ = 0, first_ = 0, count_ = 0;
};

// What the device's memory has less after batches than before them. Others may use the device between batches.
class DeviceMemory {
public:
    void before() { free_ = free_bytes(); }

    void after()
    {
        taken_ += free_ - free_bytes();
        most_ = std::max(most_, taken_);
    }

    double most_mib() const { return most_ / 1048576.0; }

private:
    static int64_t free_bytes()
    {
        size_t free, total;
        CHECK(cudaMemGetInfo(&free, &total));
        return (int64_t)free;
    }

    int64_t free_ = 0, taken_ = 0, most_ = 0;
};

static void answer(double us)
{
    printf("us=%.3f\n", us);
    fflush(stdout);
}

static int measure(const Settings &settings)
{
    struct turns turns = {};
    if (settings.turns && !turns_asked(&turns))
        return 0;
    Team team(settings);
    DeviceMemory memory;
    if (settings.turns)
        answer(0);

    std::vector<double> wall, thread, process;
    struct Program {
        Team &team;
        uint64_t iterations;
    } program{team, settings.iterations};
    auto work = [](void *argument) {
        Program *asked = static_cast<Program *>(argument);
        asked->team.batch(asked->iterations);
    };
    bool warm = !settings.warmup && !settings.turns;
    while (wall.size() < settings.batches && (!settings.turns || turns_asked(&turns))) {
        if (turns.word[0]) {
            turns_take(&turns, settings.iterations, work, &program);
            continue;
        }
        if (!warm && !settings.warmup) {
            warm = true;
            answer(0);
            continue;
        }
        memory.before();
        Batch took = team.batch(warm ? settings.iterations : settings.warmup);
        memory.after();
        if (!warm) {
            warm = true;
            if (settings.turns)
                answer(took.wall_us);
            continue;
        }
        wall.push_back(took.wall_us);
        thread.push_back(took.thread_us);
        process.push_back(took.process_us);
        if (settings.turns)
            answer(took.wall_us);
    }
    if (turns.steps)
        printf("steps=%llu checksum=%016llx\n", (unsigned long long)turns.steps, (unsigned long long)team.checksum());
    if (wall.empty())
        return 0;
    if (settings.answer) {
        printf("shape=%s mode=%s ops_per_iteration=%.1f checksum=%016llx\n", settings.shape->name, settings.form.c_str(),
               team.ops_per_iteration(), (unsigned long long)team.checksum());
        return 0;
    }

    printf("shape=%s mode=%s warmup=%llu iterations=%llu batches=%zu threads=%d ops_per_iteration=%.1f us_median=%.2f us_min=%.2f "
           "thread_cpu_us=%.2f process_cpu_us=%.2f device_mib=%.1f checksum=%016llx\n",
           settings.shape->name, settings.form.c_str(), (unsigned long long)settings.warmup,
           (unsigned long long)settings.iterations, wall.size(), settings.shape->threads, team.ops_per_iteration(), median(wall),
           *std::min_element(wall.begin(), wall.end()), median(thread), median(process), memory.most_mib(),
           (unsigned long long)team.checksum());
    return 0;
}

static std::string forms_of(const Shape &shape)
{
    return std::string(shape.forms) + ",floor";
}

static void list()
{
    for (int i = 0; i < shape_count; i++)
        printf("%-18s %-50s %s\n", shapes[i].name, forms_of(shapes[i]).c_str(), shapes[i].about);
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

// The name among the shape's forms, or empty. "graph" is the second: the first that is not eager.
static std::string form_of(const Shape &shape, const std::string &wanted)
{
    std::string forms = forms_of(shape) + ",";
    for (size_t at = 0, end, place = 0; (end = forms.find(',', at)) != std::string::npos; at = end + 1, place++) {
        std::string form = forms.substr(at, end - at);
        if (form == wanted || (wanted == "graph" && place == 1 && form != "floor"))
            return form;
    }
    return "";
}

int main(int argc, char **argv)
{
    static const option options[] = {
        {"shape", required_argument, nullptr, 's'},      {"mode", required_argument, nullptr, 'm'},
        {"iterations", required_argument, nullptr, 'i'}, {"warmup", required_argument, nullptr, 'w'},
        {"batches", required_argument, nullptr, 'b'},    {"seed", required_argument, nullptr, 'r'},
        {"turns", no_argument, nullptr, 't'},            {"list", no_argument, nullptr, 'l'},
        {"answer", no_argument, nullptr, 'a'},
        {},
    };
    Settings settings;
    settings.shape = find_shape("chain100");
    const char *mode = "eager";
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
            mode = optarg;
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
        case 't':
            settings.turns = true;
            break;
        case 'a':
            settings.answer = true;
            break;
        case 'l':
            list();
            return 0;
        default:
            return 2;
        }
    }
    settings.form = form_of(*settings.shape, mode);
    if (settings.form.empty()) {
        fprintf(stderr, "launchbound: %s has %s, not %s\n", settings.shape->name, settings.shape->forms, mode);
        return 2;
    }
    settings.warmup = warmup < 0 ? settings.shape->warmup : (uint64_t)warmup;
    if (!settings.iterations)
        settings.iterations = settings.shape->iterations;
    if (!settings.batches)
        settings.batches = settings.shape->batches;
    return measure(settings);
}
