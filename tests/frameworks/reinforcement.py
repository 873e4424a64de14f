"""PyTorch: reinforcement learning of a balanced pole; each step of the game waits for an action, each game ends with a step of training."""
import math

import torch
from torch import nn


def setup():
    torch.manual_seed(19)
    policy = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 2)).to("cuda")
    optimizer = torch.optim.Adam(policy.parameters(), lr=1e-3)
    pole, chances, played = [0.0, 0.0, 0.02, 0.0], [], [0]

    def move(push):
        x, speed, angle, turn = pole
        force = (push + 0.05 * turn * turn * math.sin(angle)) / 1.1
        bend = (9.8 * math.sin(angle) - math.cos(angle) * force) / (0.5 * (4 / 3 - 0.1 * math.cos(angle) ** 2 / 1.1))
        pole[:] = x + 0.02 * speed, speed + 0.02 * (force - 0.05 * bend * math.cos(angle) / 1.1), angle + 0.02 * turn, turn + 0.02 * bend
        return abs(pole[0]) < 2.4 and abs(pole[2]) < 0.21 and len(chances) < 200

    def step():
        choice = torch.distributions.Categorical(logits=policy(torch.tensor(pole).to("cuda")))
        action = choice.sample()
        chances.append(choice.log_prob(action))
        if move(10.0 if action.item() else -10.0):
            return
        rewards = torch.arange(len(chances), 0, -1, dtype=torch.float32).to("cuda")
        loss = -(torch.stack(chances) * (rewards - rewards.mean())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        played[0] += 1
        chances.clear()
        pole[:] = 0.0, 0.0, 0.02, 0.0

    return step, torch.cuda.synchronize, lambda: [torch.tensor(played), torch.tensor(pole), *(parameter.detach().cpu() for parameter in policy.parameters())]
