"""torchdiffeq: a neural equation by a method that chooses its steps (Dormand and Prince's), and waits for each error."""
import torch
from torch import nn
from torchdiffeq import odeint


def setup():
    torch.manual_seed(18)
    network = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 8)).to("cuda")
    times = torch.tensor([0.0, 1.0], device="cuda")
    state = torch.randn(32, 8, device="cuda")
    folded = torch.zeros(32, 8, dtype=torch.int32, device="cuda")

    @torch.no_grad()
    def step():
        end = odeint(lambda _time, y: network(y), state, times, method="dopri5", rtol=1e-4, atol=1e-5)[-1]
        state.copy_(end / end.norm())
        folded.mul_(31).add_(state.view(torch.int32))

    return step, torch.cuda.synchronize, lambda: [folded.cpu(), state.cpu()]
