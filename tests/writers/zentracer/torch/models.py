"""Small models that have what real ones have: sizes on both sides of 1,024, ties, norms, parts that do not train."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Small(nn.Module):
    """Convolution, norms, linear layers; 17 to 6,000 entries a tensor, on classes of 3 x 8 x 8 images."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 40, 3, padding=1)
        self.norm = nn.BatchNorm2d(40)
        self.hidden = nn.Linear(40, 150)
        self.layer_norm = nn.LayerNorm(150)
        self.out = nn.Linear(150, 17)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu(self.norm(self.conv(x))).mean((2, 3))
        return self.out(self.layer_norm(torch.tanh(self.hidden(x))))


class Tied(nn.Module):
    """An embedding that is also the output layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 30)
        self.mix = nn.Linear(30, 30)
        self.head = nn.Linear(30, 50, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.relu(self.mix(self.embedding(x))))


def batch(step: int, size: int = 12) -> tuple[Tensor, Tensor]:
    """Images and classes that depend on the step alone."""
    generator = torch.Generator().manual_seed(1000 + step)
    return torch.randn(size, 3, 8, 8, generator=generator), torch.randint(0, 17, (size,), generator=generator)


def loss_of(model: nn.Module, step: int, size: int = 12) -> Tensor:
    """The loss of the batch of a step."""
    x, y = batch(step, size)
    parameter = next(model.parameters())
    return F.cross_entropy(model(x.to(parameter.dtype)).float(), y)
