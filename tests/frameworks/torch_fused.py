"""PyTorch: training with a fused optimizer."""
import torch
from torch import nn


def setup():
    torch.manual_seed(4)
    model = nn.Sequential(*(layer for _ in range(12) for layer in (nn.Linear(256, 256), nn.ReLU())), nn.Linear(256, 10)).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    inputs, wanted = torch.randn(16, 32, 256, device="cuda"), torch.randint(10, (16, 32), device="cuda")
    folded = torch.zeros((), dtype=torch.int32, device="cuda")
    number = 0

    def step():
        nonlocal number
        number += 1
        loss = nn.functional.cross_entropy(model(inputs[number % 16]), wanted[number % 16])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        folded.mul_(31).add_(loss.detach().view(torch.int32))

    return step, torch.cuda.synchronize, lambda: [folded.cpu(), *(parameter.detach().cpu() for parameter in model.parameters())]
