// Makes calls of the runtime API one at a time, each on a created stream and on the default stream, each twice.
//
//     arrivals                 all of them
//     arrivals NUMBER...       those
//     arrivals --list          what there is: NUMBER, name, way, why it may arrive nowhere; NUMBER is - where it is not made
//
// Under librecord.so the record has marks around each call: #NUMBER:WHERE:TURN and #end. Prints a line when it starts with a call, and
// one for each time it made it, with what it returned. A call that takes 20 s ends the process by SIGALRM, and one that ruins the
// context ends it with 3: what is left can be made by another process. A machine without a GPU ends it with 77.
#include "arrivals.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <unistd.h>

namespace {

constexpr unsigned int LIMIT_S = 20;
constexpr int SKIPPED = 77, RUINED = 3;

using mark_function = void(const char *);

void mark(const char *text)
{
    static mark_function *const record = (mark_function *)dlsym(RTLD_DEFAULT, "record_mark");
    if (record != nullptr)
        record(text);
}

void list()
{
    for (size_t i = 0; i < call_count; i++)
        printf("%zu\t%s\t%s\t%s\n", i, calls[i].name, calls[i].way, calls[i].unless ? calls[i].unless : "");
    for (size_t i = 0; i < other_count; i++)
        printf("-\t%s\t\t%s\n", others[i].name, others[i].reason);
}

// What cannot be had stays null, and the calls that want it fail.
void furnish(world &w)
{
    const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<unsigned char>();
    cudaGraphNode_t node;

    cudaEventCreate(&w.event);
    cudaMalloc(&w.device, BYTES);
    cudaMalloc(&w.second, BYTES);
    cudaMallocHost(&w.pinned, BYTES);
    cudaMallocManaged(&w.managed, BYTES);
    w.pageable = calloc(1, BYTES);
    cudaMallocArray(&w.array, &bytes, WIDTH, HEIGHT);
    cudaDeviceGetDefaultMemPool(&w.pool, 0);
    cudaGraphCreate(&w.graph, 0);
    cudaGraphAddEmptyNode(&node, w.graph, nullptr, 0);
    cudaGraphInstantiate(&w.executable, w.graph, 0);
    cudaGetLastError();
}

void make(world &w, size_t number, const char *where, int turn)
{
    const call &call = calls[number];
    char text[64];

    if (call.before != nullptr)
        call.before(w);
    cudaGetLastError();
    snprintf(text, sizeof(text), "#%zu:%s:%d", number, where, turn);
    mark(text);
    cudaError_t result = call.make(w);
    mark("#end");
    cudaGetLastError();
    if (call.after != nullptr)
        call.after(w);
    cudaGetLastError();
    printf("%zu %s %d %s\n", number, where, turn, cudaGetErrorName(result));
    fflush(stdout);
}

void make_everywhere(world &w, size_t number)
{
    printf("start %zu\n", number);
    fflush(stdout);
    alarm(LIMIT_S);
    if (cudaStreamCreate(&w.stream) == cudaSuccess) {
        cudaStream_t created = w.stream;
        make(w, number, "created", 1);
        make(w, number, "created", 2);
        cudaStreamDestroy(created);
    }
    w.stream = nullptr;
    if (!calls[number].created_only) {
        make(w, number, "default", 1);
        make(w, number, "default", 2);
    }
    if (cudaDeviceSynchronize() != cudaSuccess)
        exit(RUINED);
    alarm(0);
}

}  // namespace

int main(int argc, char **argv)
{
    world w = {};
    int devices = 0;

    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        list();
        return 0;
    }
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        printf("skipped: no GPU\n");
        return SKIPPED;
    }
    furnish(w);
    for (int i = 1; i < argc; i++) {
        size_t number = strtoul(argv[i], nullptr, 10);
        if (number < call_count)
            make_everywhere(w, number);
    }
    for (size_t number = 0; argc == 1 && number < call_count; number++)
        make_everywhere(w, number);
    return 0;
}
