#!/usr/bin/env python3
"""Data-parallel training by NCCL, and a digest of every bit that it computed.

    torch_ranks.py [--form processes|communicators] [--ranks N] [--iterations N]      starts its ranks itself
    torchrun --nproc-per-node N torch_ranks.py [--iterations N]                       is started once for each rank

processes: a process for each GPU, DistributedDataParallel. communicators: one process with a communicator for each GPU, the gradients summed by hand.
Prints one line of key=value. Ends with 77 where there are fewer GPUs than ranks.
"""
import argparse
import hashlib
import os
import sys
import tempfile
import time

SKIPPED = 77

try:
    import torch
    import torch.distributed
    import torch.multiprocessing
    from torch import nn
except ImportError:
    print("skip torch_ranks: there is no PyTorch")
    sys.exit(SKIPPED)

WIDTH, LAYERS, BATCH = 256, 20, 8


def replica(rank):
    """The same model everywhere, and data of its own for each rank."""
    torch.manual_seed(1)
    model = nn.Sequential(*(layer for _ in range(LAYERS) for layer in (nn.Linear(WIDTH, WIDTH), nn.ReLU()))).to(f"cuda:{rank}")
    torch.manual_seed(100 + rank)
    return model, torch.randn(BATCH, WIDTH).to(f"cuda:{rank}"), torch.randn(BATCH, WIDTH).to(f"cuda:{rank}")


def digest_of(models):
    digest = hashlib.sha256()
    for model in models:
        for parameter in model.parameters():
            digest.update(parameter.detach().cpu().numpy().tobytes())
    return digest.hexdigest()[:16]


def tell(form, ranks, iterations, models, seconds):
    print(f"form={form} ranks={ranks} iterations={iterations} digest={digest_of(models)}", flush=True)
    print(f"us_per_iteration={seconds / iterations * 1e6:.1f}", file=sys.stderr, flush=True)


def train(rank, ranks, iterations):
    """One process's part."""
    torch.cuda.set_device(rank)
    model, inputs, wanted = replica(rank)
    parallel = nn.parallel.DistributedDataParallel(model, device_ids=[rank])
    optimizer = torch.optim.SGD(parallel.parameters(), lr=1e-2, momentum=0.9)
    torch.cuda.synchronize()
    begin = time.monotonic()
    for _ in range(iterations):
        optimizer.zero_grad()
        nn.functional.mse_loss(parallel(inputs), wanted).backward()
        optimizer.step()
    torch.cuda.synchronize()
    if rank == 0:
        tell("processes", ranks, iterations, [model], time.monotonic() - begin)


def one_of_several(rank, ranks, iterations, meeting):
    torch.distributed.init_process_group("nccl", init_method=meeting, rank=rank, world_size=ranks)
    train(rank, ranks, iterations)
    torch.distributed.destroy_process_group()


def by_processes(ranks, iterations):
    if "RANK" in os.environ:    # torchrun's
        one_of_several(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), iterations, "env://")
        return
    with tempfile.TemporaryDirectory() as folder:
        torch.multiprocessing.spawn(one_of_several, (ranks, iterations, f"file://{folder}/meeting"), nprocs=ranks)


def by_communicators(ranks, iterations):
    """Every rank's kernels from this one thread; each gradient is summed over the GPUs as soon as all have it."""
    replicas = [replica(rank) for rank in range(ranks)]
    optimizers = [torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9) for model, _, _ in replicas]
    begin = time.monotonic()
    for _ in range(iterations):
        for (model, inputs, wanted), optimizer in zip(replicas, optimizers):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(inputs), wanted).backward()
        for gradients in zip(*([parameter.grad for parameter in model.parameters()] for model, _, _ in replicas)):
            torch.cuda.nccl.all_reduce(list(gradients))
        for optimizer in optimizers:
            optimizer.step()
    for rank in range(ranks):
        torch.cuda.synchronize(rank)
    tell("communicators", ranks, iterations, [model for model, _, _ in replicas], time.monotonic() - begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--form", choices=("processes", "communicators"), default="processes")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=300)
    settings = parser.parse_args()
    ranks = int(os.environ.get("WORLD_SIZE", settings.ranks))
    if torch.cuda.device_count() < ranks:
        print(f"skip torch_ranks: it takes {ranks} GPUs")
        return SKIPPED
    (by_processes if settings.form == "processes" else by_communicators)(ranks, settings.iterations)
    return 0


if __name__ == "__main__":
    sys.exit(main())
