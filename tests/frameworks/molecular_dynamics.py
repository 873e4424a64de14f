"""PyTorch: molecular dynamics of 64 particles that repel and attract each other, by the method of Verlet."""
import torch


def setup():
    torch.manual_seed(23)
    side = torch.arange(4, dtype=torch.float64, device="cuda") * 1.2
    place = torch.cartesian_prod(side, side, side).contiguous()
    speed = 0.1 * torch.randn(64, 3, dtype=torch.float64).to("cuda")
    itself = torch.eye(64, dtype=torch.float64, device="cuda") * 1e6
    box, time = 4.8, 0.002

    def forces():
        apart = place[:, None] - place[None]
        apart -= box * (apart / box).round()
        near = 1 / (apart.square().sum(dim=-1) + itself)
        six = near * near * near
        return (24 * near * six * (2 * six - 1))[..., None].mul(apart).sum(dim=1)

    force = forces()

    @torch.no_grad()
    def step():
        speed.add_(force, alpha=time / 2)
        place.add_(speed, alpha=time).remainder_(box)
        force.copy_(forces())
        speed.add_(force, alpha=time / 2)

    return step, torch.cuda.synchronize, lambda: [place.cpu(), speed.cpu()]
