/* gpu-hazards NAME runs one hazard; --list names them. Ends with 0 and "ok NAME", 1 and what went
 * wrong, 77 where it cannot run. */
#include "hazard.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

char **hazard_arguments;
static const char *name = "hazards";

void hazard_fail(const char *file, int line, const char *format, ...)
{
	va_list arguments;

	printf("%s: %s:%d: ", name, strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
	_exit(1);
}

void hazard_skip(const char *why)
{
	printf("skip %s: %s\n", name, why);
	fflush(stdout);
	_exit(77);
}

static void too_late(int signal)
{
	static const char message[] = ": no end within the deadline\n";

	(void)signal;
	if (write(STDOUT_FILENO, name, strlen(name)) < 0 ||
	    write(STDOUT_FILENO, message, sizeof message - 1) < 0)
		_exit(4);
	_exit(3);
}

void hazard_deadline(unsigned seconds)
{
	signal(SIGALRM, too_late);
	alarm(seconds);
}

void hazard_check(const char *file, int line, const char *call, cudaError_t error)
{
	if (error != cudaSuccess)
		hazard_fail(file, line, "%.100s: %s", call, cudaGetErrorName(error));
}

void hazard_check_driver(const char *file, int line, const char *call, CUresult result)
{
	if (result != CUDA_SUCCESS)
		hazard_fail(file, line, "%.100s: driver error %d", call, (int)result);
}

unsigned scramble(unsigned value)
{
	value = (value ^ (value >> 16)) * 0x7feb352du;
	value = (value ^ (value >> 15)) * 0x846ca68bu;
	return value ^ (value >> 16);
}

bool trap_at(unsigned iteration)
{
	return iteration >= HOT && scramble(iteration) % 7 == 0;
}

double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void await_mapped(const volatile uint32_t *mapped, uint32_t value)
{
	double end = seconds_now() + 2;

	while (*mapped != value)
		EXPECT(seconds_now() < end, "mapped memory is %u, not %u, after two seconds", *mapped,
		       value);
}

uint32_t *mapped_words(void)
{
	uint32_t *words;

	CHECK(cudaHostAlloc((void **)&words, WORDS * sizeof *words, cudaHostAllocMapped));
	memset(words, 0, WORDS * sizeof *words);
	return words;
}

uint32_t *device_words(void)
{
	uint32_t *words;

	CHECK(cudaMalloc((void **)&words, WORDS * sizeof *words));
	CHECK(cudaMemset(words, 0, WORDS * sizeof *words));
	CHECK(cudaDeviceSynchronize());
	return words;
}

void launch(const void *kernel, unsigned blocks, unsigned threads, void **parameters,
            cudaStream_t stream)
{
	CHECK(cudaLaunchKernel(kernel, (dim3){blocks, 1, 1}, (dim3){threads, 1, 1}, parameters, 0,
	                       stream));
}

int device_attribute(enum cudaDeviceAttr attribute)
{
	int value = 0;

	CHECK(cudaDeviceGetAttribute(&value, attribute, 0));
	return value;
}

void mirror_init(struct mirror *mirror)
{
	for (unsigned i = 0; i < WORDS; i++)
		mirror->host[i] = scramble(i + 1);
	CHECK(cudaMalloc((void **)&mirror->device, sizeof mirror->host));
	CHECK(cudaMemcpy(mirror->device, mirror->host, sizeof mirror->host, cudaMemcpyHostToDevice));
	CHECK(cudaDeviceSynchronize());
}

void mirror_deinit(struct mirror *mirror)
{
	CHECK(cudaFree(mirror->device));
}

void mirror_mixed(struct mirror *mirror, uint32_t argument)
{
	for (unsigned i = 0; i < WORDS; i++)
		mirror->host[i] = mirror->host[i] * MIX_FACTOR + argument + i;
}

void mirror_absorbed(struct mirror *mirror, const uint32_t *y)
{
	for (unsigned i = 0; i < WORDS; i++)
		mirror->host[i] = mirror->host[i] * ABSORB_FACTOR + 2 * y[i];
}

void mirror_mix(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	launch(kernel_mix, 1, WORDS, (void *[]){&mirror->device, &argument}, stream);
	mirror_mixed(mirror, argument);
}

void mirror_absorb(struct mirror *mirror, const uint32_t *device_y, const uint32_t *host_y,
                   cudaStream_t stream)
{
	launch(kernel_absorb, 1, WORDS, (void *[]){&mirror->device, &device_y}, stream);
	mirror_absorbed(mirror, host_y);
}

void mirror_body(struct mirror *mirror, cudaStream_t stream)
{
	for (unsigned k = 0; k < BODY; k++)
		mirror_mix(mirror, scramble(k), stream);
}

void mirror_verify(const struct mirror *mirror, unsigned iteration)
{
	uint32_t words[WORDS];

	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(words, mirror->device, sizeof words, cudaMemcpyDeviceToHost));
	for (unsigned i = 0; i < WORDS; i++)
		EXPECT(words[i] == mirror->host[i], "after iteration %u: word %u is %08x, not %08x",
		       iteration, i, words[i], mirror->host[i]);
}

void among_hot(void (*call)(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream))
{
	struct mirror mirror;
	cudaStream_t stream;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		mirror_body(&mirror, stream);
		call(&mirror, i, trap_at(i), stream);
		mirror_body(&mirror, stream);
		CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

void hot_until_fault(void (*body)(struct mirror *mirror, bool trap, cudaStream_t stream))
{
	struct mirror mirror;
	cudaStream_t stream;
	cudaError_t error = cudaSuccess, after;
	void *memory;
	unsigned i;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (i = 0; i < ITERATIONS && error == cudaSuccess; i++) {
		body(&mirror, i == HOT + 123, stream);
		error = cudaStreamSynchronize(stream);
	}
	EXPECT(i == HOT + 124, "the fault of iteration %d showed after %u iterations", HOT + 123, i);
	after = cudaMalloc(&memory, 1024);
	printf("the wait returned %s, an allocation after it %s\n", cudaGetErrorName(error),
	       cudaGetErrorName(after));
	EXPECT(after == error, "the error did not stay");
	EXPECT(cudaStreamSynchronize(stream) == error, "the error did not stay");
	EXPECT(cudaDeviceSynchronize() == error, "the error did not stay");
}

static const struct hazard *const rooms[] = {
	memory_hazards,  order_hazards,    thread_hazards,   replay_hazards, capture_hazards,
	graph_hazards,   process_hazards,  lifetime_hazards, limit_hazards,  room_hazards,
	destroy_hazards, manners_hazards,  patching_hazards, fork_hazards,   device_hazards,
	judged_hazards,  identity_hazards, dynamic_hazards,  own_hazards,    beside_hazards,
};

int main(int argc, char **argv)
{
	for (size_t room = 0; room < sizeof rooms / sizeof rooms[0]; room++)
		for (const struct hazard *hazard = rooms[room]; hazard->name; hazard++) {
			if (argc > 1 && !strcmp(argv[1], "--list"))
				puts(hazard->name);
			if (argc < 2 || strcmp(argv[1], hazard->name))
				continue;
			name = hazard->name;
			hazard_arguments = argv + 2;
			hazard_deadline(30);
			hazard->run();
			printf("ok %s, last error %d\n", name, (int)cudaPeekAtLastError());
			return 0;
		}
	if (argc > 1 && !strcmp(argv[1], "--list"))
		return 0;
	fprintf(stderr, "gpu-hazards: name one hazard; --list names all\n");
	return 2;
}
