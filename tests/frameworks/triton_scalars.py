"""Triton: a kernel whose scalars change at each launch."""
import torch
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["shift"])
def mix(x, out, scale, shift, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    value = tl.load(x + (at + shift) % count, mask=inside)
    tl.store(out + at, 0.5 * value + 0.5 * tl.sin(scale * value + 1.0), mask=inside)


def setup():
    torch.manual_seed(30)
    count, number = 10000, 0
    buffers = [torch.randn(count, device="cuda"), torch.empty(count, device="cuda")]
    folded = torch.zeros(count, dtype=torch.int32, device="cuda")

    def step():
        nonlocal number
        for _ in range(10):
            number += 1
            mix[(triton.cdiv(count, 1024),)](buffers[0], buffers[1], 1.0 + number % 17 / 4, number % 101, count, BLOCK=1024)
            buffers.reverse()
        folded.mul_(31).add_(buffers[0].view(torch.int32))

    return step, torch.cuda.synchronize, lambda: [folded.cpu()]
