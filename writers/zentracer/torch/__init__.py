"""Records the training of PyTorch models: `watch(model, optimizer, logdir="runs/baseline")`."""

from zentracer.notice import ZenTracerWarning
from zentracer.torch.tracer import Tracer
from zentracer.torch.watch import watch

__all__ = ["Tracer", "ZenTracerWarning", "watch"]
