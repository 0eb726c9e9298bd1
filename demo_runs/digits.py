"""A small CNN on handwritten digits, at a healthy, a too small and a too large learning rate, and resumed half-way.

The digits are the 1,797 images of 8 x 8 that scikit-learn ships.
"""

import argparse
import copy
from pathlib import Path
from typing import Any

import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, leaky_relu

import zentracer.torch as zt
from demo_runs.progress import Progress

LEARNING_RATES = {"healthy": 0.02, "too_small": 0.0001, "too_large": 0.6, "resumed": 0.02}
HELD_OUT = 297
_STATE = ("model", "optimizer", "schedule")


class Block(nn.Module):
    """Two 3 x 3 convolutions with a way around them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        change: Tensor = self.conv2(leaky_relu(self.conv1(leaky_relu(x))))
        return x + change


class DigitNet(nn.Module):
    """Images [n, 1, 8, 8] -> scores [n, 10]."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Conv2d(1, 16, 3, padding=1)
        self.stage1 = nn.Sequential(Block(16), Block(16))
        self.down1 = nn.Conv2d(16, 32, 2, stride=2)
        self.stage2 = nn.Sequential(Block(32), Block(32))
        self.down2 = nn.Conv2d(32, 64, 2, stride=2)
        self.stage3 = nn.Sequential(Block(64), Block(64))
        self.head = nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stage1(self.stem(x))
        x = self.stage2(self.down1(leaky_relu(x)))
        x = self.stage3(self.down2(leaky_relu(x)))
        scores: Tensor = self.head(leaky_relu(x).mean(dim=(2, 3)))
        return scores


def digits() -> tuple[Tensor, Tensor]:
    """Images [1797, 1, 8, 8] in 0..1 and labels [1797], shuffled."""
    data = load_digits()
    order = torch.randperm(len(data.target))
    images = torch.tensor(data.images, dtype=torch.float32)[:, None] / 16
    return images[order], torch.tensor(data.target)[order]


class Training:
    """A model that is trained for `steps` updates of 32 images, the rate rising and falling once."""

    def __init__(self, variant: str, *, steps: int) -> None:
        torch.manual_seed(0)
        self.images, self.labels = digits()
        self.model = DigitNet()
        rate = LEARNING_RATES[variant]
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=rate, momentum=0.9)
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(
            self.optimizer, max_lr=rate, total_steps=steps, pct_start=0.4, cycle_momentum=False, final_div_factor=1
        )
        self.progress = Progress(f"digits/{variant}", steps)
        self.save_at = 0
        self._saved: dict[str, Any] = {}

    def run(self, logdir: Path, first: int, last: int, *, every: int) -> None:
        """Take the steps `first` to `last` (exclusive), and leave them in a run."""
        model, images, labels = self.model, self.images, self.labels
        tracer = zt.watch(model, self.optimizer, logdir=logdir, every=every, start_step=first)
        for step in range(first, last):
            batch = torch.randint(HELD_OUT, len(images), (32,))
            noisy = images[batch] + 0.4 * torch.randn(32, 1, 8, 8)  # else it soon knows all of them by heart
            loss = cross_entropy(model(noisy), labels[batch])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.schedule.step()
            tracer.log(loss=loss, split="train")
            if step % 50 == 49:
                with torch.no_grad():
                    right = model(images[:HELD_OUT]).argmax(1) == labels[:HELD_OUT]
                tracer.log(accuracy=right.float().mean(), split="validation")
            self.progress(step, loss.item())
            if step + 1 == self.save_at:
                self.save()
        tracer.close()

    def save(self) -> None:
        """Keep a checkpoint: all that it takes to go on from here."""
        self._saved = copy.deepcopy({name: getattr(self, name).state_dict() for name in _STATE})

    def go_back(self) -> None:
        """Go back to where the checkpoint was taken."""
        for name, state in self._saved.items():
            getattr(self, name).load_state_dict(state)


def train(variant: str, logdir: Path, *, steps: int, every: int) -> None:
    """Train one variant. `resumed` ends some way behind its last checkpoint and goes on from there."""
    training = Training(variant, steps=steps)
    if variant != "resumed":
        training.run(logdir, 0, steps, every=every)
        return
    training.save_at = steps // 2
    training.run(logdir, 0, steps * 3 // 5, every=every)
    training.go_back()
    training.run(logdir, training.save_at, steps, every=every)


def main() -> None:
    """Train the variant asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant", choices=LEARNING_RATES)
    parser.add_argument("--logdir", type=Path, help="where the run goes (default: runs/digits/VARIANT)")
    parser.add_argument("--steps", type=int, default=1500)
    # By default the tracer keeps to 2 % of the time, which for steps as short as these is a sample in fifty.
    parser.add_argument("--every", type=int, default=10, help="record every so many steps (default: 10)")
    args = parser.parse_args()
    torch.set_num_threads(1)  # as deterministic as it gets, and another run may train beside this one
    train(args.variant, args.logdir or Path("runs/digits", args.variant), steps=args.steps, every=args.every)


if __name__ == "__main__":
    main()
