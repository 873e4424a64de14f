"""gpytorch: the parameters of an exact Gaussian process are fitted to 64 points."""
import gpytorch
import torch


class Process(gpytorch.models.ExactGP):
    def __init__(self, inputs, outputs, likelihood):
        super().__init__(inputs, outputs, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def setup():
    torch.manual_seed(16)
    inputs = torch.linspace(0, 1, 64, device="cuda")
    outputs = torch.sin(6 * inputs) + 0.1 * torch.randn(64).to("cuda")
    likelihood = gpytorch.likelihoods.GaussianLikelihood().to("cuda")
    model = Process(inputs, outputs, likelihood).to("cuda").train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    folded = torch.zeros((), dtype=torch.int32, device="cuda")

    def step():
        optimizer.zero_grad()
        loss = -marginal(model(inputs), outputs)
        loss.backward()
        optimizer.step()
        folded.mul_(31).add_(loss.detach().view(torch.int32))

    return step, torch.cuda.synchronize, lambda: [folded.cpu(), *(parameter.detach().cpu() for parameter in model.parameters())]
