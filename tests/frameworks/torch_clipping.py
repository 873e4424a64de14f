"""PyTorch: training of a small transformer with gradient clipping, and a loss that is read now and then."""
import torch
from torch import nn


def setup():
    torch.manual_seed(7)
    layer = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True, norm_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 3, enable_nested_tensor=False), nn.Linear(64, 64)).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    inputs = torch.randn(4, 8, 32, 64, device="cuda")
    losses, number = [], 0

    def step():
        nonlocal number
        number += 1
        with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):    # whose gradients are the same each time
            loss = nn.functional.mse_loss(model(inputs[number % 4]), inputs[number % 4].roll(1, dims=1))
            loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        optimizer.zero_grad()
        if number % 10 == 0:
            losses.append(loss.item())

    return step, torch.cuda.synchronize, lambda: [torch.tensor(losses, dtype=torch.float64), *(parameter.detach().cpu() for parameter in model.parameters())]
