/* Kernels that launch kernels, in a hot loop: none of what follows may begin before what they have
 * launched has ended. */
#include "hazard.h"

enum { LAUNCHERS = 4, DEPTH = 3 };

/* Launches one that launches others with the argument, and does the same to the mirror. */
typedef void (*launcher)(struct mirror *mirror, uint32_t argument, cudaStream_t stream);

static void loop_with(launcher launches)
{
	struct mirror mirror;
	cudaStream_t stream;

	mirror_init(&mirror);
	CHECK(cudaStreamCreate(&stream));
	for (unsigned i = 0; i < ITERATIONS; i++) {
		for (uint32_t k = 0; k < LAUNCHERS; k++) {
			uint32_t argument = trap_at(i) && k == 2 ? i : 10 * k;

			launches(&mirror, argument, stream);
			mirror_mix(&mirror, k, stream);
			mirror_mix(&mirror, k + 1, stream);
		}
		if (i % 3)
			CHECK(cudaStreamSynchronize(stream));
	}
	mirror_verify(&mirror, ITERATIONS);
}

static void behind_and_beside(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	launch(kernel_parent, 1, WORDS, (void *[]){&mirror->device, &argument}, stream);
	for (uint32_t mixed = 0; mixed < 3; mixed++)
		mirror_mixed(mirror, argument + mixed);
	mirror_mix(mirror, 7, stream);
	launch(kernel_spawn, 1, 1, (void *[]){&mirror->device, &argument}, stream);
	mirror_mixed(mirror, argument);
}

/* Behind themselves, and beside themselves. */
static void dynamic_parallelism(void)
{
	loop_with(behind_and_beside);
}

static void in_streams(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	launch(kernel_streams, 1, 1, (void *[]){&mirror->device, &argument}, stream);
	mirror_mixed(mirror, argument);
	mirror_mixed(mirror, argument + 1);
}

/* In streams that the kernel makes, with an event between them. */
static void dynamic_parallelism_streams(void)
{
	loop_with(in_streams);
}

static void by_generations(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	uint32_t depth = DEPTH;

	launch(kernel_nested, 1, 1, (void *[]){&mirror->device, &depth, &argument}, stream);
	for (uint32_t left = DEPTH + 1; left-- > 0;)
		mirror_mixed(mirror, argument + left);
}

/* In the default stream, and each its successor. */
static void dynamic_parallelism_nested(void)
{
	loop_with(by_generations);
}

static void by_copies(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	static uint32_t *y;

	if (y == NULL)
		y = device_words();
	launch(kernel_by_copies, 1, 1, (void *[]){&mirror->device, &y, &argument}, stream);
	mirror_mixed(mirror, argument);
}

/* Copies that a kernel asks for. */
static void dynamic_parallelism_copies(void)
{
	loop_with(by_copies);
}

static void plainly(struct mirror *mirror, uint32_t argument, cudaStream_t stream)
{
	launch(kernel_linked, 1, WORDS, (void *[]){&mirror->device, &argument}, stream);
	mirror_mixed(mirror, argument);
}

/* One that launches none, though others of its module do. */
static void linked_kernel(void)
{
	loop_with(plainly);
}

const struct hazard dynamic_hazards[] = {
	{"dynamic_parallelism", dynamic_parallelism},
	{"dynamic_parallelism_streams", dynamic_parallelism_streams},
	{"dynamic_parallelism_nested", dynamic_parallelism_nested},
	{"dynamic_parallelism_copies", dynamic_parallelism_copies},
	{"linked_kernel", linked_kernel},
	{NULL, NULL},
};
