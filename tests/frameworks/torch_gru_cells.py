"""PyTorch: a recurrent network of GRU cells, called from a loop over time, for what comes in bit by bit."""
import torch
from torch import nn


def setup():
    torch.manual_seed(11)
    cells = [nn.GRUCell(64, 64).to("cuda") for _ in range(3)]
    head = nn.Linear(64, 8).to("cuda")
    samples = torch.randn(50, 4, 64, device="cuda")
    states = [torch.zeros(4, 64, device="cuda") for _ in cells]
    folded = torch.zeros(4, 8, dtype=torch.int32, device="cuda")
    number = 0

    @torch.no_grad()
    def step():
        nonlocal number
        for _ in range(10):
            x = samples[number % 50]
            number += 1
            for i, cell in enumerate(cells):
                x = states[i] = cell(x, states[i])
        folded.mul_(31).add_(head(x).view(torch.int32))

    return step, torch.cuda.synchronize, lambda: [folded.cpu(), *(state.cpu() for state in states)]
