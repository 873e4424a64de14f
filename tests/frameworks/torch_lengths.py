"""PyTorch: inference by a transformer encoder, with lengths that change from call to call."""
import torch
from torch import nn

LENGTHS = (17, 42, 23, 64, 31, 17, 96, 50, 23, 77, 12, 42)


def setup():
    torch.manual_seed(2)
    layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).to("cuda").eval()
    embedding = nn.Embedding(1000, 128).to("cuda")
    texts = [torch.randint(1000, (1, length)) for length in LENGTHS]
    folded = torch.zeros(1, 128, dtype=torch.int32, device="cuda")
    number = 0

    @torch.inference_mode()
    def step():
        nonlocal number
        tokens = texts[number % len(texts)].to("cuda")
        number += 1
        folded.mul_(31).add_(model(embedding(tokens)).mean(dim=1).view(torch.int32))

    return step, torch.cuda.synchronize, lambda: [folded.cpu()]
