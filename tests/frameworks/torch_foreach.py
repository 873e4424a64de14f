"""PyTorch: training with an optimizer that works on lists of tensors (foreach), and a schedule of learning rates."""
import torch
from torch import nn


def setup():
    torch.manual_seed(5)
    model = nn.Sequential(*(layer for _ in range(12) for layer in (nn.Linear(192, 192), nn.SiLU())), nn.Linear(192, 1)).to("cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, foreach=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 200)
    inputs = torch.randn(64, 192, device="cuda")
    wanted = inputs.square().mean(dim=1, keepdim=True)
    folded = torch.zeros((), dtype=torch.int32, device="cuda")

    def step():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), wanted)
        loss.backward()
        optimizer.step()
        schedule.step()
        folded.mul_(31).add_(loss.detach().view(torch.int32))

    return step, torch.cuda.synchronize, lambda: [folded.cpu(), *(parameter.detach().cpu() for parameter in model.parameters())]
