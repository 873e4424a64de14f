#!/usr/bin/env python3
"""PyTorch programs that are launch-bound at batch 1: us per iteration, and a digest of every bit that they computed.

    torch_models.py [--model mlp|encoder|resnet50|train] [--graph] [--warmup N] [--iterations N] [--batches N] [--turns]

Prints one line of key=value, like launchbound. --graph runs the loop from a torch.cuda.CUDAGraph, written by hand. --turns: waits for a line
on standard input before it sets up, before it warms up, and before each batch; it answers each with a line us=TIME.

Each iteration ends with two small kernels that fold the bits of what it computed into one tensor, so that no iteration can go wrong
unseen. The digest is of that tensor, of the last output, and of whatever was trained.

torch.use_deterministic_algorithms() is not needed for the same bits each time, and wants CUBLAS_WORKSPACE_CONFIG to be set: PyTorch 2.11 parses that anew, with
std::regex, at each matrix product, which takes the host ten times as long as a launch.
"""
import argparse
import hashlib
import statistics
import sys
import time

import torch
from torch import nn


class Bottleneck(nn.Module):
    """As in ResNet-50 v1.5: it is the 3 x 3 convolution that strides."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        outputs = 4 * width
        self.conv1, self.norm1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.norm2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.norm3 = nn.Conv2d(width, outputs, 1, bias=False), nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if inputs != outputs or stride != 1:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        out = self.relu(self.norm1(self.conv1(x)))
        out = self.relu(self.norm2(self.conv2(out)))
        out = self.norm3(self.conv3(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


def resnet50():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            layers.append(Bottleneck(inputs, width, stride if block == 0 else 1))
            inputs = 4 * width
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000))
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        elif isinstance(module, Bottleneck):
            nn.init.constant_(module.norm3.weight, 0.2)    # as after training: sixteen blocks on end stay within fp16
    return model


def mlp(width=256, layers=50):
    return nn.Sequential(*(layer for _ in range(layers) for layer in (nn.Linear(width, width), nn.ReLU())))


def encoder(width=256, layers=12):
    layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)


def inference(model, example):
    model = model.to(device()).eval()
    example = example.to(device())

    def step():
        with torch.no_grad():
            return model(example)

    return step, []


def training(width=256, layers=20):
    hidden = (layer for _ in range(layers) for layer in (nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.1)))
    model = nn.Sequential(*hidden, nn.Linear(width, width)).to(device()).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=device() == "cuda")
    inputs, wanted = torch.randn(8, width).to(device()), torch.randn(8, width).to(device())

    def step():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), wanted)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step, list(model.parameters())


MODELS = {
    "mlp": lambda: inference(mlp(), torch.randn(1, 256)),
    "encoder": lambda: inference(encoder(), torch.randn(1, 64, 256)),
    "resnet50": lambda: inference(resnet50().half(), torch.randn(1, 3, 224, 224).half()),
    "train": training,
}


def device():
    return "cuda" if torch.cuda.is_available() else "cpu"    # without a GPU it shows at least that it runs


def synchronize():
    if device() == "cuda":
        torch.cuda.synchronize()


def folding(step):
    """The step, and a tensor into which it folds the bits of what it returns."""
    bits = {2: torch.int16, 4: torch.int32}
    output = step()
    folded = torch.zeros_like(output, dtype=bits[output.element_size()])

    def folded_step():
        output = step()
        folded.mul_(31).add_(output.view(folded.dtype))
        return output

    return folded_step, folded


def prepare(step):
    """Three steps on a side stream, which a capture needs before it; taken in every form, so that training agrees."""
    if device() != "cuda":
        return
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


class Program:
    def __init__(self, settings):
        torch.manual_seed(1)
        torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic = False, True
        step, self.trained = MODELS[settings.model]()
        step, self.folded = folding(step)
        prepare(step)
        self.step = capture(step) if settings.graph else step
        self.output = None

    def batch(self, iterations):
        """Microseconds per iteration, each of which is waited for."""
        start = time.perf_counter()
        for _ in range(iterations):
            self.output = self.step()
            synchronize()
        return (time.perf_counter() - start) / iterations * 1e6

    def digest(self):
        if not all(torch.isfinite(tensor).all() for tensor in (self.output, *self.trained)):
            sys.exit("torch_models: not all numbers are finite, so that a digest would say nothing")
        digest = hashlib.sha256()
        for tensor in (self.folded, self.output, *self.trained):
            digest.update(tensor.detach().cpu().numpy().tobytes())
        return digest.hexdigest()[:32]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=MODELS, default="mlp")
    parser.add_argument("--graph", action="store_true", help="from a torch.cuda.CUDAGraph")
    parser.add_argument("--warmup", type=int, default=200)
    parser.add_argument("--iterations", type=int, default=20, help="of one batch")
    parser.add_argument("--batches", type=int, default=20)
    parser.add_argument("--turns", action="store_true")
    settings = parser.parse_args()

    def asked():
        return not settings.turns or sys.stdin.readline()

    def answer(us):
        if settings.turns:
            print(f"us={us:.3f}", flush=True)

    if not asked():
        return
    program = Program(settings)
    answer(0)
    if settings.turns and not asked():
        return
    answer(program.batch(settings.warmup))
    wall = []
    while len(wall) < settings.batches and asked():
        wall.append(program.batch(settings.iterations))
        answer(wall[-1])
    if wall:
        print(f"shape=torch-{settings.model} mode={'graph' if settings.graph else 'eager'} warmup={settings.warmup} "
              f"iterations={settings.iterations} batches={len(wall)} us_median={statistics.median(wall):.2f} us_min={min(wall):.2f} "
              f"checksum={program.digest()}")


if __name__ == "__main__":
    main()
