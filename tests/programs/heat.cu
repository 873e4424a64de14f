// heat: the heat equation on a square, by the CUDA runtime. Launch-bound on small grids: a step takes the GPU about 2 us.
//
//   heat [--size N] [--steps N] [--every N] [--default-stream]
//
// Prints residuals and a digest of the final temperatures on stdout, and times on stderr.
#include "check.h"
#include "heat.h"
#include "heat_kernels.cu"

#include <utility>

int main(int argc, char **argv)
{
    heat heat;
    heat_parse(&heat, argc, argv);
    const unsigned size = heat.size, block = 256;
    const unsigned cells = size * size, cell_blocks = (cells + block - 1) / block;
    const size_t bytes = sizeof(double) * size * size;

    cudaStream_t stream = 0;
    double *now, *next, *sums[2], *residual;
    if (!heat.default_stream)
        CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMalloc(&now, bytes));
    CHECK(cudaMalloc(&next, bytes));
    for (double *&half : sums)
        CHECK(cudaMalloc(&half, sizeof(double) * heat_folded(cells)));
    CHECK(cudaMallocHost(&residual, sizeof(double)));
    CHECK(cudaMemcpy(now, heat.cells, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(next, heat.cells, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaDeviceSynchronize());

    double start = heat_now_us(), last = start;
    for (unsigned step = 1; step <= heat.steps; step++) {
        heat_step<<<cell_blocks, block, 0, stream>>>(now, next, size, HEAT_RATE);
        CHECK(cudaGetLastError());
        if (step % heat.every == 0) {
            unsigned count = heat_folded(cells);
            heat_change<<<heat_blocks(count), HEAT_FOLD_BLOCK, 0, stream>>>(now, next, sums[0], cells);
            for (; count > 1; count = heat_folded(count)) {
                heat_fold<<<heat_blocks(heat_folded(count)), HEAT_FOLD_BLOCK, 0, stream>>>(sums[0], sums[1], count);
                std::swap(sums[0], sums[1]);
            }
            double *total = sums[0];
            if (heat.default_stream) {
                CHECK(cudaMemcpy(residual, total, sizeof(double), cudaMemcpyDeviceToHost));
            } else {
                CHECK(cudaMemcpyAsync(residual, total, sizeof(double), cudaMemcpyDeviceToHost, stream));
                CHECK(cudaStreamSynchronize(stream));
            }
            double time = heat_now_us();
            heat_check(&heat, step, *residual, time - last);
            last = heat_now_us();
        }
        std::swap(now, next);
    }
    CHECK(cudaStreamSynchronize(stream));
    double took = heat_now_us() - start;

    CHECK(cudaMemcpy(heat.cells, now, bytes, cudaMemcpyDeviceToHost));
    heat_finish(&heat, took);
    CHECK(cudaFreeHost(residual));
    for (double *half : sums)
        CHECK(cudaFree(half));
    CHECK(cudaFree(next));
    CHECK(cudaFree(now));
    if (stream)
        CHECK(cudaStreamDestroy(stream));
    return 0;
}
