/*
 * What the fuzzer's programs are made of: actions, each a few driver calls that are legal, and free
 * of races whatever comes before and after, so that a program stays both when statements are taken
 * out of it.
 *
 * There are STREAMS streams, and each has buffers of its own: only its ops touch them, unless an
 * action orders another stream's ops against them by itself. What the host sees is mixed into
 * digests that finish() prints: of results, of memory, of what host functions logged. A program
 * prints the same however it is scheduled, and under Reprise.
 */
#pragma once

#include <stdbool.h>

/* 0 is the legacy default stream, 1 to 4 do not block it (2 has priority), 5 and 6 do, 7 is the
 * per-thread default stream. */
enum { LEGACY, FREE, URGENT, FREE_TOO, FREE_THREE, BLOCKING, BLOCKING_TOO, PER_THREAD, STREAMS };

enum { BUFFERS = 3, WORDS = 64, EVENTS = 6, CHANGES = 8 };

/*
 * X(name, arguments): the statements of a program. Arguments are small numbers of any size; each is
 * taken modulo what there is. The first is mostly the stream.
 */
#define ACTIONS(X) \
	X(launch, 4)         /* stream, kernel and handle, buffers, how the argument changes */ \
	X(launch_extra, 3)   /* stream, buffers, change: parameters in one buffer */ \
	X(launch_ex, 3)      /* stream, attributes, change: cuLaunchKernelEx */ \
	X(launch_swapped, 2) /* stream, period: buffers by turns */ \
	X(launch_grid, 2)    /* stream, change: the grid changes */ \
	X(launch_shared, \
	  2) /* stream, KiB of dynamic shared memory, more now and then: refused beyond the limit */ \
	X(launch_spread, 3) /* stream, which of six dimensions change, how */ \
	X(launch_wide, 3)   /* stream, which byte changes, how */ \
	X(launch_far, 1)    /* change: addresses that differ in their higher halves */ \
	X(launch_shared_by, \
	  3)                 /* stream, change, step: dynamic shared memory that grows and shrinks */ \
	X(launch_ex_grid, 3) /* stream, attributes, how the grid changes */ \
	X(launch_cooperative, 2) /* stream, how the grid changes */ \
	X(launch_ptsz, 1)        /* change: on the thread's own stream, by the entry point for that */ \
	X(launch_random, 2)      /* stream, salt: nothing repeats */ \
	X(launch_refused, 3)     /* stream, what is refused, when */ \
	X(memory_refused, 3)     /* stream, what is refused, when */ \
	X(call_refused, 3)       /* stream, what is refused, when */ \
	X(nothing, 3)            /* stream, what is of size zero, when */ \
	X(too_much, 1)           /* more memory than there is */ \
	X(copy_in, 3)            /* stream, buffer, from: pinned, pageable, managed */ \
	X(copy_in_fresh, \
	  2) /* stream, buffer: the host changes pinned memory once the stream has finished */ \
	X(copy_out, 2)        /* stream, from which buffer to pageable memory, read at once */ \
	X(copy_out_pinned, 2) /* stream, buffer; read after a wait */ \
	X(copy, 3)            /* stream, buffers, form */ \
	X(copy_2d, 2)         /* stream, buffer */ \
	X(copy_plane, 3)      /* stream, what of a 2-D copy changes, how */ \
	X(copy_block, 3)      /* stream, what of a 3-D copy changes, how */ \
	X(copy_part, 3)       /* stream, page of host memory, page that is the base */ \
	X(set_pitch, 3)       /* stream, form, how the pitch changes */ \
	X(copy_sync, 2)       /* stream, buffer: a synchronous copy */ \
	X(set, 4)             /* stream, buffer, form, change */ \
	X(set_sync, 2)        /* stream, buffer: cuMemsetD32 */ \
	X(record, 2)          /* stream, event */ \
	X(wait, 2)            /* stream, event */ \
	X(hand_over, 2)       /* stream to stream and back, by events */ \
	X(edge, 2)       /* what comes next on the second stream comes after what came on the first */ \
	X(fork_join, 2)  /* the second stream works beside the first, between two edges */ \
	X(over_host, 3)  /* stream, another, how: the host waits for the first, then the second reads \
	                    its buffer */ \
	X(event_anew, 1) /* the event of a stream's edges is destroyed and made again */ \
	X(through_legacy, 1) /* the legacy stream works on a blocking stream's buffers */ \
	X(from_legacy, 1)    /* a blocking stream reads the legacy stream's buffers */ \
	X(sync_stream, 1) \
	X(sync_context, 0) \
	X(sync_event, 1) \
	X(poll_stream, 1) /* until it is ready */ \
	X(poll_event, 1) \
	X(timing, 1) /* elapsed time around a launch */ \
	X(host_function, 1) \
	X(callback, 1) \
	X(temporary, 2)       /* stream-ordered allocation, used and freed */ \
	X(allocate, 1)        /* device memory, used and freed */ \
	X(pinned_life, 1)     /* pinned memory, used and freed */ \
	X(registered_life, 1) /* registered memory, used and unregistered */ \
	X(on_moving, 2)       /* stream, change: works on memory that free_anew gives back */ \
	X(copy_moving, 2)     /* stream, change: copies to it */ \
	X(free_anew, 2)       /* stream, how: given back with work under way, and allocated again */ \
	X(from_host, 2)       /* stream, form: copies from memory that host_anew changes */ \
	X(host_anew, 2)       /* stream, what: pageable, registered, pinned from now on */ \
	X(from_page, 1)       /* stream: copies from a page that context_life registers for a while */ \
	X(on_variable, 1)     /* how: works on a variable of the module's */ \
	X(event_reborn, 3) /* two streams, event: recorded, destroyed, made again, and waited for */ \
	X(edge_reborn, 2)  /* the same of a stream's edges */ \
	X(make, 1)         /* a module, streams, a graph, memory, and an end to it */ \
	X(spin_and_make, \
	  2)          /* way, what: the same while a kernel spins for a launch that came before */ \
	X(managed, 1) /* a kernel on managed memory, looked at after a wait */ \
	X(capture, \
	  3) /* stream, launches, mode: the program's own graph, launched from then on by replay */ \
	X(replay, 1) \
	X(capture_again, 2)    /* stream, change: whole-graph update of it */ \
	X(capture_broken, 2)   /* stream, how */ \
	X(shared_limit, 1)     /* KiB: a function's attribute */ \
	X(stream_attribute, 2) /* stream, which, or from which other stream */ \
	X(write_value, 2)      /* one stream writes a word, another waits for it */ \
	X(stream_anew, 1)      /* destroyed with work pending, and made again */ \
	X(module_anew, 0) \
	X(enter, 1)         /* another context from here on, with streams and buffers of its own */ \
	X(other_context, 2) /* launches, in which context */ \
	X(across, 3)        /* stream, how, which context: another context's work after this one's */ \
	X(context_event, 2) /* stream, how: events of a whole context */ \
	X(context_life, 1)  /* made, launched in, destroyed */ \
	X(capture_mode, 1)  /* the thread's */ \
	X(together, 3)      /* two streams, how: two threads at once */ \
	X(captures_together, 2) /* stream, how: two threads capture at once */ \
	X(locked, 3)      /* two streams, how: a host function wants a lock that who launches holds */ \
	X(mapped_poll, 1) /* the host spins on mapped memory that a kernel writes */ \
	X(mapped_flag, 1) /* a kernel spins until the host writes mapped memory */ \
	X(spin_across, 1) /* a kernel on one stream waits for one enqueued later on another */ \
	X(elsewhere, 3)   /* stream, what, how: another thread launches, copies, looks or waits */ \
	X(thread_anew, 0) /* that thread ends, and another takes its place */ \
	X(think, 1)       /* so many microseconds of computing */ \
	X(pause, 1)       /* so many microseconds of sleep */

enum action {
#define X(name, arguments) ACTION_##name,
	ACTIONS(X)
#undef X
		ACTION_COUNT
};

#define X0(name) void fuzz_##name(void);
#define X1(name) void fuzz_##name(int a);
#define X2(name) void fuzz_##name(int a, int b);
#define X3(name) void fuzz_##name(int a, int b, int c);
#define X4(name) void fuzz_##name(int a, int b, int c, int d);
#define X(name, arguments) X##arguments(name)
ACTIONS(X)
#undef X
#undef X0
#undef X1
#undef X2
#undef X3
#undef X4

/* Which time a loop's body runs; what changes with the iteration is computed from it. */
extern int iteration;

/* A number that looks random, the same for the same iteration and salt. */
unsigned chance(unsigned salt);

/* Initialises the driver, and all that actions use. `module`: the kernels, for a GPU or the
 * simulation. */
void start(const char *module);

/* Waits for everything and prints the digests, which go on if another program follows. Returns the
 * exit status. */
int finish(void);
