/*
 * What all GPU hazards share. A hazard makes its sequence hot, springs its trap at irregular
 * iterations, and goes on; a mirror on the host says what the device must hold, so that each judges
 * itself, with Reprise or without.
 */
#pragma once

#include "kernels.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HOT = 600, /* iterations before the first trap */
	ITERATIONS = 1200,
	BODY = 10, /* launches in the ordinary body */
};

struct hazard {
	const char *name;
	void (*run)(void);
};

/* Each ends with a NULL name. */
extern const struct hazard memory_hazards[], order_hazards[], thread_hazards[], replay_hazards[],
	capture_hazards[], graph_hazards[], process_hazards[], lifetime_hazards[], limit_hazards[],
	room_hazards[], destroy_hazards[], manners_hazards[], patching_hazards[], fork_hazards[],
	device_hazards[], beside_hazards[], judged_hazards[], identity_hazards[], dynamic_hazards[],
	own_hazards[];

extern char **hazard_arguments; /* what followed the hazard's name on the command line */

/* Prints what went wrong and ends the program with 1. */
void hazard_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4), noreturn));
/* The GPU lacks what the hazard needs: ends the program with 77. */
void hazard_skip(const char *why) __attribute__((noreturn));
/* Ends the program with 3 unless it is called again, or ended, within the time. */
void hazard_deadline(unsigned seconds);

void hazard_check(const char *file, int line, const char *call, cudaError_t error);
void hazard_check_driver(const char *file, int line, const char *call, CUresult result);

#define CHECK(call) hazard_check(__FILE__, __LINE__, #call, call)
#define CHECK_DRIVER(call) hazard_check_driver(__FILE__, __LINE__, #call, call)
#define EXPECT(condition, ...) \
	((condition) ? (void)0 : hazard_fail(__FILE__, __LINE__, __VA_ARGS__))

/* True at irregular iterations, from HOT on. */
bool trap_at(unsigned iteration);
unsigned scramble(unsigned value);
double seconds_now(void);

/* Waits, without any CUDA call, until *mapped is value. Fails after two seconds. */
void await_mapped(const volatile uint32_t *mapped, uint32_t value);

/* Pinned and mapped host memory of WORDS words, all zero: the device uses the same address. */
uint32_t *mapped_words(void);
uint32_t *device_words(void);

void launch(const void *kernel, unsigned blocks, unsigned threads, void **parameters,
            cudaStream_t stream);

int device_attribute(enum cudaDeviceAttr attribute); /* of device 0 */

/* An array on the device and what it must hold by now. */
struct mirror {
	uint32_t *device;
	uint32_t host[WORDS];
};

void mirror_init(struct mirror *mirror);
void mirror_deinit(struct mirror *mirror);
void mirror_mixed(struct mirror *mirror, uint32_t argument);    /* on the host alone */
void mirror_absorbed(struct mirror *mirror, const uint32_t *y); /* on the host alone */
void mirror_mix(struct mirror *mirror, uint32_t argument, cudaStream_t stream);
void mirror_absorb(struct mirror *mirror, const uint32_t *device_y, const uint32_t *host_y,
                   cudaStream_t stream);
void mirror_body(struct mirror *mirror, cudaStream_t stream); /* BODY mixes, always the same */
void mirror_verify(const struct mirror *mirror, unsigned iteration); /* waits for the device */

/* A hot loop with `call` in the middle of its body, and a wait after it. `trap` is true where the
 * loop springs it. */
void among_hot(void (*call)(struct mirror *mirror, unsigned i, bool trap, cudaStream_t stream));

/* A hot loop of `body`, which faults in one iteration. The wait behind it says so, and so does all
 * that follows. */
void hot_until_fault(void (*body)(struct mirror *mirror, bool trap, cudaStream_t stream));
