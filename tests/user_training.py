"""Trainings that log with torch's SummaryWriter, as users do, beside our tracer.

Run as `python tests/user_training.py LOGDIR`: every training goes half its way, `half` is printed, and after a line on
standard input each goes to its end. So a server can be watched reading files that grow.
"""

import argparse
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch.utils.tensorboard import SummaryWriter

import zentracer.torch as zt

STEPS = 40
HALF = STEPS // 2
TAG = "user/value"


def user_value(step: int) -> float:
    """What the user logs at `step`: exact in float32 and different at each."""
    return step + 0.25


class Training:
    """A model, an optimizer, and one update a call."""

    def __init__(self, width: int = 8) -> None:
        self.model = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.Tanh(), torch.nn.Linear(width, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.inputs = torch.randn(16, width)

    def __call__(self) -> torch.Tensor:
        loss = self.model(self.inputs).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss


def log(writer: SummaryWriter, step: int) -> None:
    """One point of the user's series, in the file at once."""
    writer.add_scalar(TAG, user_value(step), step)
    writer.flush()


def same_directory(logdir: Path) -> Iterator[None]:
    """SummaryWriter and tracer in one logdir."""
    training = Training()
    with SummaryWriter(logdir) as writer, zt.watch(training.model, training.optimizer, logdir=logdir) as tracer:
        for step in range(STEPS):
            if step == HALF:
                yield
            tracer.log(loss=training())
            log(writer, step)


def two_tracers(logdir: Path) -> Iterator[None]:
    """Two models side by side, each with a tracer of its own."""
    generator, critic = Training(), Training(4)
    with (
        SummaryWriter(logdir) as writer,
        zt.watch(generator.model, generator.optimizer, logdir=logdir, name="generator"),
        zt.watch(critic.model, critic.optimizer, logdir=logdir, name="critic"),
    ):
        for step in range(STEPS):
            if step == HALF:
                yield
            generator()
            critic()
            log(writer, step)


def second_process(logdir: Path) -> Iterator[None]:
    """A child traces into the same logdir while the first process goes on."""
    training = Training()
    with SummaryWriter(logdir) as writer, zt.watch(training.model, training.optimizer, logdir=logdir):
        for step in range(STEPS):
            if step == HALF:
                yield
            if step in (HALF // 2, HALF + HALF // 2):
                subprocess.run([sys.executable, __file__, str(logdir), "--child"], check=True)
            training()
            log(writer, step)
    assert list((logdir / "zentracer").glob("*.ztrec")), "the child was to record too"


def resume(logdir: Path) -> Iterator[None]:
    """The first process ends halfway, a second takes up at its step."""
    command = [sys.executable, __file__, str(logdir), "--steps"]
    subprocess.run([*command, "0", str(HALF)], check=True)
    yield
    subprocess.run([*command, str(HALF), str(STEPS)], check=True)


def full_disk(logdir: Path) -> Iterator[None]:
    """Our file can't grow for a while, as on a full disk; then there is room again."""
    training = Training()
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with (
        SummaryWriter(logdir) as writer,
        zt.watch(training.model, training.optimizer, logdir=logdir, every=1) as tracer,
    ):
        for step in range(STEPS):
            if step == HALF // 2:
                tracer.flush()
                ours = max(path.stat().st_size for path in (logdir / "zentracer").iterdir())
                resource.setrlimit(resource.RLIMIT_FSIZE, (ours + 100, hard))
            if step == HALF:
                tracer.flush()
                resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
                yield
            training()
            log(writer, step)
        tracer.flush()
        files = list((logdir / "zentracer").glob("*.tfevents.*"))
        assert len(files) > 1, "a new file was to be begun after the disk was full"


def rerun_cell(logdir: Path) -> Iterator[None]:
    """A notebook's cell that makes a new model and watches it is run again and again."""
    with SummaryWriter(logdir) as writer:
        for step in range(STEPS):
            if step == HALF:
                yield
            if step % (HALF // 2) == 0:
                training = Training()
                zt.watch(training.model, training.optimizer, logdir=logdir)
            training()
            log(writer, step)
    assert not list((logdir / "zentracer").glob("*.ztrec")), "one process is to keep the event file"


TRAININGS: dict[str, Callable[[Path], Iterator[None]]] = {
    training.__name__: training
    for training in (same_directory, two_tracers, second_process, resume, full_disk, rerun_cell)
}


def child(logdir: Path) -> None:
    """A few traced updates, without a series of the user's."""
    training = Training(4)
    with zt.watch(training.model, training.optimizer, logdir=logdir):
        for _ in range(5):
            training()


def part(logdir: Path, first: int, end: int) -> None:
    """The updates [first, end) of a training that was interrupted."""
    training = Training()
    with SummaryWriter(logdir) as writer, zt.watch(training.model, training.optimizer, logdir=logdir, start_step=first):
        for step in range(first, end):
            training()
            log(writer, step)


def main() -> None:
    """All trainings, or the piece of one that a child process does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logdir", type=Path)
    parser.add_argument("--child", action="store_true")
    parser.add_argument("--steps", type=int, nargs=2)
    args = parser.parse_args()
    torch.set_num_threads(1)
    if args.child:
        return child(args.logdir)
    if args.steps:
        return part(args.logdir, *args.steps)
    halves = [training(args.logdir / name) for name, training in TRAININGS.items()]
    for half in halves:
        next(half)
    print("half", flush=True)
    sys.stdin.readline()
    for half in halves:
        next(half, None)
    return None


if __name__ == "__main__":
    main()
