// The kernels that the shapes launch. All take (uint32_t *x, const uint32_t *y, uint32_t argument)
// and are launched with BLOCK threads a block; block b owns x[b * BLOCK] to x[b * BLOCK + BLOCK -
// 1].
//
// Every kernel maps x to itself one to one whatever y and the argument are, so that nothing is ever
// forgotten: an op that is lost, doubled, out of order or run with a stale argument changes the
// final state, however early it was.
#pragma once

enum { BLOCK = 256, MIX_KERNELS = 8 };

// Tiny kernels, equal but for their constants: about a microsecond each.
extern const void *const mix_kernels[MIX_KERNELS];

// The same with a long chain of dependent arithmetic: about as long as their names say on an H200.
extern const void *const work_2us;
extern const void *const work_5us;
extern const void *const work_10us;
extern const void *const work_30us;
extern const void *const work_1ms;
