"""PyTorch: training of low-rank adapters (LoRA) of a frozen network."""
import torch
from torch import nn


class Adapted(nn.Module):
    def __init__(self, linear, rank=8):
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.down = nn.Parameter(torch.randn(rank, linear.in_features) / 64)
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))

    def forward(self, x):
        return self.linear(x) + 2.0 * nn.functional.linear(nn.functional.linear(x, self.down), self.up)


def setup():
    torch.manual_seed(9)
    model = nn.Sequential(*(layer for _ in range(8) for layer in (Adapted(nn.Linear(512, 512)), nn.GELU())), Adapted(nn.Linear(512, 64))).to("cuda")
    adapters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(adapters, lr=1e-4)
    inputs, wanted = torch.randn(32, 512, device="cuda"), torch.randn(32, 64, device="cuda")
    folded = torch.zeros((), dtype=torch.int32, device="cuda")

    def step():
        loss = nn.functional.mse_loss(model(inputs), wanted)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        folded.mul_(31).add_(loss.detach().view(torch.int32))

    return step, torch.cuda.synchronize, lambda: [folded.cpu(), *(parameter.detach().cpu() for parameter in adapters)]
