#!/usr/bin/env python3
"""PyTorch loops that are launch-bound at batch 1: us per iteration, and a digest of every output bit.

    torch_mlp.py [--model mlp|resnet|encoder|train] [--graph] [--warmup N] [--iterations N] [--batches N]

Prints one line of key=value, like launchbound. --graph runs the loop from a torch.cuda.CUDAGraph, written by hand.
"""
import argparse
import hashlib
import statistics
import time

import torch
from torch import nn


def mlp(width=256, layers=50):
    return nn.Sequential(*(layer for _ in range(layers) for layer in (nn.Linear(width, width), nn.ReLU())))


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU(),
            nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs))
        self.shortcut = nn.Identity() if inputs == outputs and stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet():
    """The layers of resnet50, without torchvision."""
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, width, 4 * width, stride if block == 0 else 1))
            inputs = 4 * width
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))


def encoder(width=256, layers=12):
    layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


def inference(model, example):
    model = model.cuda().eval()
    example = example.cuda()

    def step():
        with torch.no_grad():
            return model(example)

    return step


def training():
    model = mlp(layers=20).cuda().train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=False, capturable=True)
    inputs, wanted = torch.randn(8, 256).cuda(), torch.randn(8, 256).cuda()

    def step():
        optimizer.zero_grad(set_to_none=False)
        loss = nn.functional.mse_loss(model(inputs), wanted)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


MODELS = {
    "mlp": lambda: inference(mlp(), torch.randn(1, 256)),
    "resnet": lambda: inference(resnet().half(), torch.randn(1, 3, 224, 224).half()),
    "encoder": lambda: inference(encoder(), torch.randn(1, 64, 256)),
    "train": training,
}


def prepare(step):
    """Three steps on a side stream, which a capture needs before it; taken in every mode, so that training agrees."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)


def capture(step):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = step()

    def replay():
        graph.replay()
        return output

    return replay


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, default="mlp")
    parser.add_argument("--graph", action="store_true", help="from a torch.cuda.CUDAGraph")
    parser.add_argument("--warmup", type=int, default=200)
    parser.add_argument("--iterations", type=int, default=20, help="of one batch")
    parser.add_argument("--batches", type=int, default=20)
    settings = parser.parse_args()

    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = False
    torch.backends.cudnn.deterministic = True
    step = MODELS[settings.model]()
    prepare(step)
    if settings.graph:
        step = capture(step)
    for _ in range(settings.warmup):
        output = step()
        torch.cuda.synchronize()

    digest = hashlib.sha256()
    wall = []
    for _ in range(settings.batches):
        start = time.perf_counter()
        for _ in range(settings.iterations):
            output = step()
            torch.cuda.synchronize()
        wall.append((time.perf_counter() - start) / settings.iterations * 1e6)
        digest.update(output.float().cpu().numpy().tobytes())
    print(f"shape=torch-{settings.model} mode={'graph' if settings.graph else 'eager'} warmup={settings.warmup} "
          f"iterations={settings.iterations} batches={settings.batches} us_median={statistics.median(wall):.2f} "
          f"us_min={min(wall):.2f} checksum={digest.hexdigest()[:32]}")


if __name__ == "__main__":
    main()
