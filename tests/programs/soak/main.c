/*
 * soak: many threads on many streams for a long time, each op checked bit for bit by a mirror on
 * the host.
 *
 *   soak --module driver_kernels.cubin [--threads N] [--streams N] [--seconds N] [--rounds N]
 *        [--seed N]
 *
 * The module is a cubin, or a module of the simulated driver. Each thread has four streams; what
 * is left of --streams is shared by all. The time is cut into rounds. Between two nothing is under
 * way and only what stays is there: all memory is compared, and a line says how much memory the
 * process and the device have in use. Ends with 1 if anything differed.
 */
#include "soak.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

struct soak soak;

static struct {
	unsigned threads, streams, rounds;
	double seconds;
	uint64_t seed;
} settings = {.threads = 64, .streams = 200, .rounds = 20, .seconds = 10, .seed = 1};

static pthread_barrier_t meets;
static _Atomic bool over;

double soak_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

bool soak_hurries(void)
{
	return soak_now() >= soak.round_end;
}

static void *work(void *own)
{
	struct soak_thread *thread = own;

	CHECK(cuCtxSetCurrent(soak.context));
	for (unsigned i = 0; i < 4; i++)
		CHECK(cuEventCreate(&thread->events[i], CU_EVENT_DISABLE_TIMING));
	for (unsigned i = 0; i < SOAK_OWN; i++)
		soak_stream_init(&thread->own[i], i == 2 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING);
	for (;;) {
		pthread_barrier_wait(&meets); /* a round begins, or it is over */
		if (atomic_load(&over))
			break;
		do {
			if (soak_random(&thread->random, 12) == 0)
				soak_do_life(thread);
			else
				soak_do_body(thread);
		} while (!soak_hurries());
		for (unsigned i = 0; i < SOAK_OWN; i++)
			soak_check(&thread->own[i]);
		pthread_barrier_wait(&meets); /* nothing is under way */
	}
	for (unsigned i = 0; i < SOAK_OWN; i++)
		soak_stream_deinit(&thread->own[i]);
	for (unsigned i = 0; i < 4; i++)
		CHECK(cuEventDestroy(thread->events[i]));
	return NULL;
}

static unsigned long resident_kib(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1)
		pages = 0;
	if (file != NULL)
		fclose(file);
	return pages * ((unsigned long)sysconf(_SC_PAGESIZE) / 1024);
}

static void say(double begin)
{
	size_t left, all;

	for (unsigned i = 0; i < soak.shared_count; i++)
		soak_check(&soak.shared[i]);
	CHECK(cuMemGetInfo(&left, &all));
	printf("at_s=%.1f ops=%lu host_kib=%lu device_kib=%zu checks=%lu modules=%lu contexts=%lu "
	       "streams=%lu\n",
	       soak_now() - begin, (unsigned long)soak.ops, resident_kib(), (all - left) / 1024,
	       (unsigned long)soak.checks, (unsigned long)soak.modules, (unsigned long)soak.contexts,
	       (unsigned long)soak.streams);
	fflush(stdout);
}

static int run(void)
{
	struct soak_thread *threads = calloc(settings.threads, sizeof(*threads));
	double begin = soak_now();

	pthread_barrier_init(&meets, NULL, settings.threads + 1);
	for (unsigned i = 0; i < settings.threads; i++) {
		threads[i].number = i;
		threads[i].random = (settings.seed * 1000 + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
		if (pthread_create(&threads[i].thread, NULL, work, &threads[i]) != 0) {
			fprintf(stderr, "soak: no thread\n");
			return 1;
		}
	}
	for (unsigned k = 1; k <= settings.rounds; k++) {
		soak.round_end = begin + settings.seconds * k / settings.rounds;
		pthread_barrier_wait(&meets);
		pthread_barrier_wait(&meets);
		say(begin);
	}
	atomic_store(&over, true);
	pthread_barrier_wait(&meets);
	for (unsigned i = 0; i < settings.threads; i++)
		pthread_join(threads[i].thread, NULL);
	free(threads);
	printf("%s\n", atomic_load(&soak.differs) ? "something differed" : "all was equal");
	return atomic_load(&soak.differs);
}

static void parse(int argc, char **argv)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--module") == 0)
			soak.path = argv[i + 1];
		else if (strcmp(argv[i], "--threads") == 0)
			settings.threads = (unsigned)atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--streams") == 0)
			settings.streams = (unsigned)atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--rounds") == 0)
			settings.rounds = (unsigned)atoi(argv[i + 1]);
		else if (strcmp(argv[i], "--seconds") == 0)
			settings.seconds = atof(argv[i + 1]);
		else if (strcmp(argv[i], "--seed") == 0)
			settings.seed = (uint64_t)atoll(argv[i + 1]);
		else
			soak.path = NULL, i = argc;
	}
	if (soak.path == NULL || settings.threads < 1 || settings.rounds < 1 ||
	    settings.streams <= settings.threads * SOAK_OWN) {
		fprintf(stderr,
		        "usage: soak --module FILE [--threads N] [--streams N, more than %d for "
		        "each thread] [--seconds N] [--rounds N] [--seed N]\n",
		        SOAK_OWN);
		exit(2);
	}
	soak.shared_count = settings.streams - settings.threads * SOAK_OWN;
}

int main(int argc, char **argv)
{
	int status;

	parse(argc, argv);
	CHECK(cuInit(0));
	CHECK(cuDeviceGet(&soak.device, 0));
	CHECK(cuDevicePrimaryCtxRetain(&soak.context, soak.device));
	CHECK(cuCtxSetCurrent(soak.context));
	soak_module_load(&soak.module);
	soak.shared = calloc(soak.shared_count, sizeof(*soak.shared));
	for (unsigned i = 0; i < soak.shared_count; i++)
		soak_stream_init(&soak.shared[i], i % 2 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING);
	status = run();
	for (unsigned i = 0; i < soak.shared_count; i++)
		soak_stream_deinit(&soak.shared[i]);
	free(soak.shared);
	CHECK(cuModuleUnload(soak.module.module));
	CHECK(cuDevicePrimaryCtxRelease(soak.device));
	return status;
}
