"""Runs training scripts in processes of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[4]

PRELUDE = """
import json, os, sys, time, torch
import zentracer.torch as zt
from tests.writers.zentracer.torch.models import Small, loss_of
torch.set_num_threads(1)
model = Small()
optimizer = torch.optim.SGD(model.parameters(), 0.1)

def watch(logdir, **options):
    return zt.watch(model, optimizer, logdir=logdir, every=1, **options)

def train(steps, model=model, optimizer=optimizer):
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(model, 0).backward()
        optimizer.step()

def say(*words):
    print(*words, flush=True)
"""


def start(script: str, *arguments: object, under: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Begin a script after `PRELUDE`; its words are in `stdout`, warnings in `stderr`."""
    return subprocess.Popen(
        [*under, sys.executable, "-W", "default", "-c", PRELUDE + script, *map(str, arguments)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(script: str, *arguments: object, under: tuple[str, ...] = ()) -> tuple[str, str]:
    """Run a script to its end; fails where it does. Returns what it said and what it warned of."""
    process = start(script, *arguments, under=under)
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    return out, err


def wait_for(process: subprocess.Popen[str], word: str) -> str:
    """Read what a script says up to the line that begins with `word`; returns that line."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(word):
            return line
    assert process.stderr is not None
    raise AssertionError(f"The script ended without saying {word!r}: {process.stderr.read()}")
