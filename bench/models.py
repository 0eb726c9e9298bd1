"""The two small models whose training the writer benchmarks watch: a residual network and a GPT."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F


class Residual(nn.Module):
    """Two convolutions beside a short cut."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        same = inputs == outputs
        self.short_cut = nn.Identity() if same else nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        return F.relu(y + self.short_cut(x))


class ResNet(nn.Module):
    """ResNet-20 for images of 32 x 32: 61 tensors, 0.27 M parameters."""

    def __init__(self, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU())
        widths = [(16, 16, 1)] * 3 + [(16, 32, 2)] + [(32, 32, 1)] * 2 + [(32, 64, 2)] + [(64, 64, 1)] * 2
        self.blocks = nn.Sequential(*(Residual(*width) for width in widths))
        self.head = nn.Linear(64, classes)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.head(self.blocks(self.stem(x)).mean((2, 3)))
        return y


class Block(nn.Module):
    """A transformer block, norms first."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        q, k, v = self.attention(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(y.transpose(1, 2).reshape(batch, length, width))
        deeper: Tensor = self.mlp(self.norm2(x))
        return x + deeper


class GPT(nn.Module):
    """A GPT of 4 blocks: 53 tensors, 2.0 M parameters."""

    def __init__(self, vocabulary: int = 512, length: int = 128, width: int = 192, depth: int = 4) -> None:
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, 4) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.tokens(tokens) + self.positions(torch.arange(tokens.shape[1]))
        logits: Tensor = self.head(self.norm(self.blocks(x)))
        return logits


Step = Callable[[], Tensor]
"""One step of training; returns the loss."""


def resnet(batch: int = 32) -> tuple[nn.Module, torch.optim.Optimizer, Step]:
    """The residual network on random images of 32 x 32, with SGD and momentum."""
    torch.manual_seed(0)
    model = ResNet()
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9, weight_decay=1e-4)
    images, classes = torch.randn(8, batch, 3, 32, 32), torch.randint(0, 10, (8, batch))
    return model, optimizer, _stepper(model, optimizer, images, classes)


def gpt(batch: int = 8) -> tuple[nn.Module, torch.optim.Optimizer, Step]:
    """The GPT on random sequences of 128 tokens, with AdamW."""
    torch.manual_seed(0)
    model = GPT()
    optimizer = torch.optim.AdamW(model.parameters(), 3e-4)
    tokens = torch.randint(0, 512, (8, batch, 129))
    return model, optimizer, _stepper(model, optimizer, tokens[:, :, :-1], tokens[:, :, 1:])


def _stepper(model: nn.Module, optimizer: torch.optim.Optimizer, inputs: Tensor, targets: Tensor) -> Step:
    count = 0

    def step() -> Tensor:
        nonlocal count
        count += 1
        x, y = inputs[count % len(inputs)], targets[count % len(targets)]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x).flatten(0, y.dim() - 1), y.flatten())
        loss.backward()
        optimizer.step()
        return loss

    return step
