/*
 * Kernels that run on a GPU and in the simulation from one source.
 *
 *     #include "kernel.h"
 *
 *     KERNEL(scale, (unsigned *, data), (unsigned, count), (unsigned, factor))
 *     {
 *             unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
 *
 *             if (i < count)
 *                     data[i] *= factor;
 *     }
 *
 * nvcc makes a cubin of it (nvcc -cubin -arch=native, or -fatbin), gcc a module of the simulated
 * driver (gcc -x c -shared -fPIC): a program that calls cuModuleLoad with the path of either runs
 * on either. The source is the common part of C and C++.
 *
 * Kernels:   KERNEL(name, (type, parameter)...) { body of one thread }
 *            SPINNING_KERNEL(...) is the same for kernels that wait for memory to change. Only these may, and only with
 *            KERNEL_PAUSE() in the loop and the memory read as volatile.
 * Functions: DEVICE unsigned mix(unsigned a) { ... }
 * Variables: GLOBAL(unsigned, counter); found by cuModuleGetGlobal.
 * In bodies: threadIdx, blockIdx, blockDim, gridDim; atomicAdd, atomicExch, atomicMax and
 * __threadfence, __threadfence_system;
 *            clock64; KERNEL_TRAP() (a fault of the device, sticky); KERNEL_SHARED(type, name) (dynamic shared memory), KERNEL_SHARED_BYTES();
 *            KERNEL_WAIT_FOR_OTHERS() (for what a launch with programmatic serialisation may overtake).
 * Not there: __syncthreads, warp intrinsics, static __shared__, indices in DEVICE functions (pass
 * them on).
 *
 * In the simulation the threads of a launch run one after another, block by block, x fastest: a
 * kernel whose result depends on the order of its threads gives another on a GPU. At most 16
 * parameters; a structure counts as one and may have any size.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__

#define KERNEL(name, ...) \
	extern "C" __global__ void name(__VA_OPT__(KERNEL_DECLARE_ALL(__VA_ARGS__)))
#define KERNEL_DECLARE_ALL(first, ...) \
	KERNEL_DECLARE first KERNEL_EACH(KERNEL_DECLARE_NEXT, , __VA_ARGS__)
#define KERNEL_DECLARE_NEXT(nothing, pair) , KERNEL_DECLARE pair
#define KERNEL_DECLARE(type, name) type name
#define SPINNING_KERNEL(name, ...) KERNEL(name, __VA_ARGS__)
#define GLOBAL(type, name) \
	extern "C" { \
	__device__ type name; \
	} \
	extern "C" __device__ type name
#define DEVICE static __device__ __attribute__((unused))
#define KERNEL_PAUSE() __nanosleep(100)
#define KERNEL_TRAP() __trap()
#define KERNEL_SHARED(type, name) extern __shared__ type name[]
#define KERNEL_SHARED_BYTES() kernel_shared_bytes()
static __device__ __attribute__((unused)) unsigned kernel_shared_bytes(void)
{
	unsigned bytes;

	asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
	return bytes;
}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define KERNEL_WAIT_FOR_OTHERS() asm volatile("griddepcontrol.wait;" ::: "memory")
#else
#define KERNEL_WAIT_FOR_OTHERS() ((void)0)
#endif

#else

struct sim_dim {
	unsigned int x, y, z;
};

/* One launch, as the simulated driver hands it to a kernel. The functions are the driver's. */
struct sim_launch {
	struct sim_dim grid;
	struct sim_dim block;
	void *shared; /* dynamic shared memory, zeroed for each block */
	size_t shared_bytes;
	void (*pause)(struct sim_launch *launch); /* lets everything else run for a while */
	void (*trap)(struct sim_launch *launch);  /* does not return */
};

/* One thread of it: what threadIdx and its like stand for in a body. */
struct sim_thread {
	struct sim_dim index;
	struct sim_dim block_index;
	struct sim_launch *launch;
};

struct sim_parameter {
	size_t offset;
	size_t size;
	const char *type; /* as written: a pointer to const is only read through, one to volatile is a
	                     means of synchronisation */
};

struct sim_kernel {
	const char *name;
	void (*run)(struct sim_launch *launch, const void *parameters);
	const struct sim_parameter *parameters;
	size_t parameter_count;
	size_t parameter_bytes;
	int spins;    /* declared with SPINNING_KERNEL: it gets a thread of its own */
	int launches; /* declared with LAUNCHING_KERNEL: it counts as one that launches kernels */
};

struct sim_global {
	const char *name;
	void *address;
	size_t size;
};

/* What a module exports, under the name sim_module. */
struct sim_module {
	unsigned int version;
	const struct sim_kernel *const *kernels, *const *kernels_end;
	const struct sim_global *const *globals, *const *globals_end;
};

#define SIM_MODULE_VERSION 3u

/* The linker gathers what KERNEL and GLOBAL declare between these symbols; weak, since a module may
 * lack either. */
extern const struct sim_kernel *const __start_sim_kernels[]
	__attribute__((weak, visibility("hidden")));
extern const struct sim_kernel *const __stop_sim_kernels[]
	__attribute__((weak, visibility("hidden")));
extern const struct sim_global *const __start_sim_globals[]
	__attribute__((weak, visibility("hidden")));
extern const struct sim_global *const __stop_sim_globals[]
	__attribute__((weak, visibility("hidden")));

#ifndef SIM_DRIVER
__attribute__((weak, visibility("default"))) const struct sim_module sim_module = {
	SIM_MODULE_VERSION,  __start_sim_kernels, __stop_sim_kernels,
	__start_sim_globals, __stop_sim_globals,
};
#endif

#define KERNEL(name, ...) SIM_KERNEL(name, 0, 0, __VA_ARGS__)
#define SPINNING_KERNEL(name, ...) SIM_KERNEL(name, 1, 0, __VA_ARGS__)
#define LAUNCHING_KERNEL(name, ...) SIM_KERNEL(name, 0, 1, __VA_ARGS__)

#define SIM_KERNEL(kernel, spinning, launching, ...) \
	struct kernel##_parameters { \
		KERNEL_EACH(SIM_FIELD, , __VA_ARGS__) \
	}; \
	static void kernel(const struct sim_thread *sim_self __attribute__((unused)) \
	                   KERNEL_EACH(SIM_AFTER_COMMA, , __VA_ARGS__)); \
	static void kernel##_run(struct sim_launch *launch, const void *parameters) \
	{ \
		const struct kernel##_parameters *p = (const struct kernel##_parameters *)parameters; \
		struct sim_thread self = {{0, 0, 0}, {0, 0, 0}, launch}; \
		(void)p; \
		do \
			kernel(&self KERNEL_EACH(SIM_ARGUMENT, , __VA_ARGS__)); \
		while (sim_next_thread(&self)); \
	} \
	static const struct sim_parameter kernel##_layout[] = { \
		KERNEL_EACH(SIM_LAYOUT, kernel##_parameters, __VA_ARGS__){0, 0, NULL}}; \
	static const struct sim_kernel kernel##_kernel = {#kernel, \
	                                                  kernel##_run, \
	                                                  kernel##_layout, \
	                                                  sizeof(kernel##_layout) / \
	                                                          sizeof(kernel##_layout[0]) - \
	                                                      1, \
	                                                  sizeof(struct kernel##_parameters), \
	                                                  spinning, \
	                                                  launching}; \
	static const struct sim_kernel *const kernel##_entry \
		__attribute__((section("sim_kernels"), used)) = &kernel##_kernel; \
	static void kernel(const struct sim_thread *sim_self __attribute__((unused)) \
	                   KERNEL_EACH(SIM_AFTER_COMMA, , __VA_ARGS__))

#define GLOBAL(type, variable) \
	static type variable; \
	static const struct sim_global variable##_global = {#variable, &variable, sizeof(type)}; \
	static const struct sim_global *const variable##_entry \
		__attribute__((section("sim_globals"), used)) = &variable##_global

#define DEVICE static inline __attribute__((unused))
#define KERNEL_PAUSE() (sim_self->launch->pause(sim_self->launch))
#define KERNEL_TRAP() (sim_self->launch->trap(sim_self->launch))
#define KERNEL_SHARED(type, name) type *const name = (type *)sim_self->launch->shared
#define KERNEL_SHARED_BYTES() ((unsigned)sim_self->launch->shared_bytes)
#define KERNEL_WAIT_FOR_OTHERS() ((void)0)

#define threadIdx (sim_self->index)
#define blockIdx (sim_self->block_index)
#define blockDim (sim_self->launch->block)
#define gridDim (sim_self->launch->grid)

#define atomicAdd(address, value) __atomic_fetch_add((address), (value), __ATOMIC_RELAXED)
#define atomicExch(address, value) __atomic_exchange_n((address), (value), __ATOMIC_RELAXED)
#define atomicMax(address, value) sim_atomic_max((address), (value))
#define __threadfence() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define __threadfence_system() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define clock64() sim_clock()

#define SIM_FIELD(nothing, pair) SIM_FIELD_OF pair
#define SIM_FIELD_OF(type, name) type name;
#define SIM_AFTER_COMMA(nothing, pair) , SIM_DECLARE pair
#define SIM_DECLARE(type, name) type name
#define SIM_ARGUMENT(nothing, pair) , SIM_ARGUMENT_OF pair
#define SIM_ARGUMENT_OF(type, name) p->name
#define SIM_LAYOUT(structure, pair) \
	{offsetof(struct structure, SIM_NAME_OF pair), sizeof(SIM_TYPE_OF pair), SIM_TYPE_TEXT pair},
#define SIM_NAME_OF(type, name) name
#define SIM_TYPE_OF(type, name) type
#define SIM_TYPE_TEXT(type, name) #type

static inline __attribute__((unused)) int sim_count(unsigned int *index, unsigned int end)
{
	*index = *index + 1 < end ? *index + 1 : 0;
	return *index != 0;
}

static inline __attribute__((unused)) int sim_next_thread(struct sim_thread *self)
{
	const struct sim_launch *launch = self->launch;

	if (sim_count(&self->index.x, launch->block.x) || sim_count(&self->index.y, launch->block.y) ||
	    sim_count(&self->index.z, launch->block.z))
		return 1;
	if (launch->shared_bytes)
		__builtin_memset(launch->shared, 0, launch->shared_bytes);
	return sim_count(&self->block_index.x, launch->grid.x) ||
	       sim_count(&self->block_index.y, launch->grid.y) ||
	       sim_count(&self->block_index.z, launch->grid.z);
}

/* A clock that ticks at each look: kernels that wait for time to pass end at once. */
static inline __attribute__((unused)) long long sim_clock(void)
{
	static long long ticks;

	return __atomic_fetch_add(&ticks, 1000, __ATOMIC_RELAXED);
}

static inline __attribute__((unused)) unsigned int sim_atomic_max(unsigned int *address,
                                                                  unsigned int value)
{
	unsigned int old = *address;

	if (value > old)
		*address = value;
	return old;
}

#endif

/* KERNEL_EACH(m, x, a, b) is m(x, a) m(x, b); at most 16, the number of times KERNEL_EXPAND makes
 * the preprocessor look again. */
#define KERNEL_EACH(m, x, ...) __VA_OPT__(KERNEL_EXPAND(KERNEL_EACH_STEP(m, x, __VA_ARGS__)))
#define KERNEL_EACH_STEP(m, x, first, ...) \
	m(x, first) __VA_OPT__(KERNEL_EACH_AGAIN KERNEL_PARENTHESES(m, x, __VA_ARGS__))
#define KERNEL_EACH_AGAIN() KERNEL_EACH_STEP
#define KERNEL_PARENTHESES ()
#define KERNEL_EXPAND(...) \
	KERNEL_EXPAND_4(KERNEL_EXPAND_4(KERNEL_EXPAND_4(KERNEL_EXPAND_4(__VA_ARGS__))))
#define KERNEL_EXPAND_4(...) \
	KERNEL_EXPAND_1(KERNEL_EXPAND_1(KERNEL_EXPAND_1(KERNEL_EXPAND_1(__VA_ARGS__))))
#define KERNEL_EXPAND_1(...) __VA_ARGS__
