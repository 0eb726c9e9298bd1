"""A small character transformer on the source text of Python's standard library, healthy and with a frozen block."""

import argparse
import sysconfig
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, gelu, scaled_dot_product_attention

import zentracer.torch as zt
from demo_runs.progress import Progress

VARIANTS = ("healthy", "frozen_block")
CHARACTERS, CONTEXT, WIDTH, HEADS, BLOCKS, BATCH = 128, 64, 64, 4, 6, 12


class Attention(nn.Module):
    """Each position looks at those before it: [n, time, width] -> the same."""

    def __init__(self) -> None:
        super().__init__()
        self.queries_keys_values = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        queries, keys, values = self.queries_keys_values(x).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        mixed = scaled_dot_product_attention(queries, keys, values, is_causal=True)
        out: Tensor = self.out(mixed.transpose(1, 2).flatten(2))
        return out


class Block(nn.Module):
    """Attention, then a two-layer perceptron, each with a way around it."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.norm2 = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm1(x))
        change: Tensor = self.down(gelu(self.up(self.norm2(x))))
        return x + change


class CharacterTransformer(nn.Module):
    """Characters [n, time] -> scores of the next one [n, time, 128]."""

    def __init__(self) -> None:
        super().__init__()
        self.characters = nn.Embedding(CHARACTERS, WIDTH)
        self.positions = nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(BLOCKS)))
        self.norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, CHARACTERS, bias=False)
        for table in (self.characters, self.positions):
            nn.init.normal_(table.weight, std=0.02)
        self.head.weight = self.characters.weight

    def forward(self, text: Tensor) -> Tensor:
        x = self.characters(text) + self.positions.weight[: text.shape[1]]
        scores: Tensor = self.head(self.norm(self.blocks(x)))
        return scores


def library_text(size: int = 1_000_000) -> Tensor:
    """The first `size` characters of the standard library's modules, in the order of their names."""
    text = bytearray()
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        text += path.read_bytes()
        if len(text) >= size:
            break
    return torch.frombuffer(text, dtype=torch.uint8)[:size].long().clamp(max=CHARACTERS - 1)


def train(variant: str, logdir: Path, *, steps: int, every: int) -> None:
    """Train for `steps` updates of 12 x 64 characters and leave a run."""
    torch.manual_seed(0)
    text = library_text()
    model = CharacterTransformer()
    if variant == "frozen_block":
        model.blocks[2].requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-3, total_steps=steps, final_div_factor=1)
    progress = Progress(f"text/{variant}", steps)

    tracer = zt.watch(model, optimizer, logdir=logdir, every=every)
    for step in range(steps):
        starts = torch.randint(len(text) - CONTEXT, (BATCH, 1))
        batch = text[starts + torch.arange(CONTEXT + 1)]
        loss = cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        tracer.log(loss=loss, split="train")
        progress(step, loss.item())
    tracer.close()


def main() -> None:
    """Train the variant asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant", choices=VARIANTS)
    parser.add_argument("--logdir", type=Path, help="where the run goes (default: runs/text/VARIANT)")
    parser.add_argument("--steps", type=int, default=1000)
    # By default the tracer keeps to 2 % of the time, which for steps as short as these is a sample in some twenty.
    parser.add_argument("--every", type=int, default=5, help="record every so many steps (default: 5)")
    args = parser.parse_args()
    torch.set_num_threads(1)  # as deterministic as it gets, and another run may train beside this one
    train(args.variant, args.logdir or Path("runs/text", args.variant), steps=args.steps, every=args.every)


if __name__ == "__main__":
    main()
