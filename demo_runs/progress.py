"""Says how far a training is, about once a second, on one line each time."""

import time


class Progress:
    """Prints `name  step 400 of 2,000  loss 0.312  12 s` where a second has passed, and at the last step."""

    def __init__(self, name: str, steps: int) -> None:
        self.name, self.steps = name, steps
        self.started = self.last = time.monotonic()

    def __call__(self, step: int, loss: float) -> None:
        """Tell that `step` (from 0) is done and gave `loss`."""
        now = time.monotonic()
        if now - self.last < 1 and step + 1 < self.steps:
            return
        self.last = now
        done = f"step {step + 1:,} of {self.steps:,}"
        print(f"{self.name:18} {done:20} loss {loss:<8.4g} {now - self.started:4.0f} s", flush=True)
