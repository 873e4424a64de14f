"""PyTorch: training of an LSTM, by cuDNN."""
import torch
from torch import nn


def setup():
    torch.manual_seed(10)
    torch.backends.cudnn.deterministic = True
    lstm, head = nn.LSTM(32, 64, num_layers=2, batch_first=True).to("cuda"), nn.Linear(64, 1).to("cuda")
    parameters = [*lstm.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=1e-4)
    series = torch.randn(5, 16, 24, 32, device="cuda")
    wanted = series.mean(dim=(2, 3)).unsqueeze(-1)
    folded = torch.zeros((), dtype=torch.int32, device="cuda")
    number = 0

    def step():
        nonlocal number
        number += 1
        outputs, _ = lstm(series[number % 5])
        loss = nn.functional.mse_loss(head(outputs[:, -1]), wanted[number % 5])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        folded.mul_(31).add_(loss.detach().view(torch.int32))

    return step, torch.cuda.synchronize, lambda: [folded.cpu(), *(parameter.detach().cpu() for parameter in parameters)]
