"""PyTorch: training in mixed precision, with a gradient scaler, which waits for the GPU in each step."""
import torch
from torch import nn


def setup():
    torch.manual_seed(8)
    model = nn.Sequential(*(layer for _ in range(10) for layer in (nn.Linear(256, 256), nn.LayerNorm(256), nn.ReLU())), nn.Linear(256, 10)).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    scaler = torch.amp.GradScaler("cuda", init_scale=1024.0)
    inputs, wanted = torch.randn(8, 64, 256, device="cuda"), torch.randint(10, (8, 64), device="cuda")
    folded = torch.zeros((), dtype=torch.int32, device="cuda")
    number = 0

    def step():
        nonlocal number
        number += 1
        with torch.autocast("cuda", dtype=torch.float16):
            loss = nn.functional.cross_entropy(model(inputs[number % 8]), wanted[number % 8])
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        folded.mul_(31).add_(loss.detach().float().view(torch.int32))

    return step, torch.cuda.synchronize, lambda: [folded.cpu(), *(parameter.detach().cpu() for parameter in model.parameters())]
