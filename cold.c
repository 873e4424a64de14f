#define _GNU_SOURCE
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <x86intrin.h>
#include <time.h>
#define CK(x) do { CUresult r_ = (x); if (r_) { fprintf(stderr, "%s: %d\n", #x, r_); exit(1); } } while (0)
static uint64_t now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
static int cmp(const void *a, const void *b) { uint32_t x = *(uint32_t *)a, y = *(uint32_t *)b; return x < y ? -1 : x > y; }
int main(int n, char **v)
{
	unsigned lines = n > 2 ? atoi(v[2]) : 1000, code = n > 3 ? atoi(v[3]) : 300, ops = n > 4 ? atoi(v[4]) : 200, gap = n > 5 ? atoi(v[5]) : 6000, vary = n > 6 ? atoi(v[6]) : 0;
	CK(cuInit(0)); CUdevice d; CK(cuDeviceGet(&d, 0)); CUcontext c; CK(cuDevicePrimaryCtxRetain(&c, d)); CK(cuCtxSetCurrent(c));
	CUmodule m; CK(cuModuleLoad(&m, v[1])); 
	CUfunction f; CK(cuModuleGetFunction(&f, m, "run_twelve"));
	CUstream s; CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CUdeviceptr mem; CK(cuMemAlloc(&mem, 1 << 20));
	size_t size = 64u << 20; unsigned char *data = mmap(0, size, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); memset(data, 1, size);
	size_t csize = 16u << 20; unsigned char *text = mmap(0, csize, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); memset(text, 0xc3, csize);
	uint32_t *t = malloc(4u * 4000000); size_t used = 0; uint64_t rnd = 88172645463325252ull; unsigned sum = 0;
	unsigned iters = n > 7 ? atoi(v[7]) : 300;
	uint64_t begin = now();
	for (unsigned i = 0; i < iters; i++) {
		for (unsigned k = 0; k < ops; k++) {
			CUdeviceptr a[12]; void *p[12]; unsigned count = k + 1; 
			for (int j = 0; j < 12; j++) { a[j] = mem + 64 * (k % 50) + j; p[j] = &a[j]; }
			if (vary) a[3] = mem + (rnd % 1000) * 4;
			for (unsigned l = 0; l < lines; l++) { rnd ^= rnd << 13; rnd ^= rnd >> 7; rnd ^= rnd << 17; sum += data[(rnd % (size / 64)) * 64]; }
			for (unsigned l = 0; l < code; l++) { rnd ^= rnd << 13; rnd ^= rnd >> 7; rnd ^= rnd << 17; ((void (*)(void))(text + (rnd % (csize / 64)) * 64))(); }
			unsigned aux; uint64_t t0 = __rdtscp(&aux);
			CK(cuLaunchKernel(f, 1 + k % 7, 1, 1, 32, 1, 1, 0, s, p, NULL));
			uint64_t t1 = __rdtscp(&aux);
			if (i >= iters / 2 && used < 4000000) t[used++] = (uint32_t)(t1 - t0);
			(void)count;
		}
	}
	CK(cuCtxSynchronize());
	(void)gap;
	qsort(t, used, 4, cmp); double mean = 0; for (size_t i = 0; i < used; i++) mean += t[i];
	double r = 1.0; { uint64_t a = __rdtsc(), b = now(); while (now() - b < 20000000) ; r = 20e6 / (double)(__rdtsc() - a); }
	printf("op ns: p10 %.0f p25 %.0f p50 %.0f p75 %.0f p90 %.0f p99 %.0f mean %.0f  (step %.0f us, %u)\n", r*t[used/10], r*t[used/4], r*t[used/2], r*t[used*3/4], r*t[used*9/10], r*t[used*99/100], r*mean/used, (double)(now()-begin)/1e3/iters, sum & 1);
	return 0;
}
