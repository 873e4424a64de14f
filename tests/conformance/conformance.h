/*
 * What the checks share. A check is a function that returns if the driver does what is expected,
 * and leaves by `conformance_fail` (a jump) if not. It finds a current context, the module and two
 * fresh streams; what it allocates with the helpers here is given back after it.
 */
#pragma once

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
	OWN_PROCESS = 1, /* it breaks its context, or needs one untouched */
	NO_CONTEXT = 2,  /* nothing is set up, not even cuInit; with OWN_PROCESS */
	TWO_DEVICES = 4, /* skipped where there is only one */
};

struct check {
	const char *name;
	const char *source; /* the paragraph of CUDA's documentation, or "measured" */
	void (*run)(void);
	unsigned int flags;
	const char *gpu_only; /* why the simulation does not model it, or NULL */
};

/* The source of a check in which the GPU does otherwise than the documentation says, or says
 * nothing of: the check expects what the GPU did. */
#define MEASURED(source, documented) "measured on an H200, driver 580; " source ": " documented

#define CHECK(name, source) \
	{ \
#name, source, name, 0, NULL \
	}
#define CHECK_ALONE(name, source, flags) \
	{ \
#name, source, name, (flags) | OWN_PROCESS, NULL \
	}
#define CHECK_GPU(name, source, reason) \
	{ \
#name, source, name, 0, reason \
	}
#define CHECKS_END \
	{ \
		NULL, NULL, NULL, 0, NULL \
	}

/* The tables, each ended by CHECKS_END. */
extern const struct check device_checks[], context_checks[], module_checks[], function_checks[],
	launch_checks[], memory_checks[], pointer_checks[], copy_checks[], pool_checks[],
	stream_checks[], order_checks[], event_checks[], capture_checks[], prohibited_checks[],
	unsafe_checks[], fork_checks[], graph_checks[], node_checks[], update_checks[], set_checks[],
	sticky_checks[], address_checks[], memory_node_checks[], edge_checks[], any_node_checks[],
	managed_checks[], peer_checks[], array_checks[], green_checks[], carried_checks[],
	beside_checks[], host_checks[], across_checks[];

/* ---- expectations ---- */

_Noreturn void conformance_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void conformance_result(CUresult seen, CUresult wanted, const char *what, const char *file,
                        int line);
void conformance_equal(unsigned long long seen, unsigned long long wanted, const char *what,
                       const char *file, int line);

#define EXPECT(call, wanted) conformance_result((call), (wanted), #call, __FILE__, __LINE__)
#define OK(call) EXPECT(call, CUDA_SUCCESS)
#define EQUAL(seen, wanted) \
	conformance_equal((unsigned long long)(seen), (unsigned long long)(wanted), #seen, __FILE__, \
	                  __LINE__)
#define TRUE(condition) \
	do { \
		if (!(condition)) \
			conformance_fail(__FILE__, __LINE__, "expected %s", #condition); \
	} while (0)

/* ---- what is there for a check ---- */

enum { WORDS = 64 };

extern const char *module_path;
extern CUcontext context;
extern CUmodule module;
extern CUstream stream, other; /* non-blocking */
extern CUgraph graph;          /* destroyed afterwards, if a check sets them */
extern CUgraphExec exec;

CUfunction function(const char *name);
CUstream blocking_stream(void);
CUevent event_new(unsigned int flags);
CUdeviceptr words(void);         /* WORDS words of zeros */
volatile unsigned *pinned(void); /* the same in pinned memory */
unsigned word(CUdeviceptr address, unsigned position);

/* Kernels of kernels.cu, one thread each. */
CUresult launch(const char *name, CUstream on, void **params);
CUresult append(CUdeviceptr list, unsigned value, CUstream on); /* list[++list[0]] = value */
CUresult append_by(CUfunction function, CUdeviceptr list, unsigned value, CUstream on);
void is_list(CUdeviceptr list, unsigned count); /* 1, 2, ... count */

/* The stream is busy from here until the program releases it. One at a time. */
void hold(CUstream on);
void release(void);
void finish(CUstream on); /* synchronises */

/* The same with a host function, called after the first of these and before release(). */
void keep_from_release(void);
void CUDA_CB wait_for_release(void *unused);

/* Calls in another thread, with the context current there, and waits for it. */
void in_thread(void (*call)(void));
void in_thread_without_context(void (*call)(void));

/* Captures. */
void begin(CUstreamCaptureMode mode); /* on `stream` */
CUstreamCaptureStatus status(CUstream of);
void end_is(CUresult wanted); /* of `stream`; sets `graph` */
void capture_end(void);       /* successfully */
void run_graph(void);         /* instantiates if need be, launches on `stream`, synchronises */
unsigned nodes(CUgraph of, CUgraphNode *into, unsigned room);
CUgraphNodeType type_of(CUgraphNode node);
