"""Trains every demo run, two at a time, and on request shows them in TensorBoard meanwhile."""

import argparse
import contextlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

# What tells most comes first. With --quick they take so many steps, and record each.
RUNS = {
    "digits/healthy": 250,
    "digits/too_large": 200,
    "text/healthy": 80,
    "text/frozen_block": 80,
    "digits/too_small": 100,
    "digits/resumed": 100,
}
AT_A_TIME = 2
FINISHED = "demo-run-finished"


@contextlib.contextmanager
def running(module: str, *arguments: str | int | Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run `python -m module arguments` and end it on the way out, however that is taken."""
    process = subprocess.Popen([sys.executable, "-m", module, *map(str, arguments)])
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def train_all(logdir: Path, *, quick: bool) -> None:
    """Train what is not trained yet; raises SystemExit when a training fails."""
    waiting = []
    for name in RUNS:
        if (logdir / name / FINISHED).exists():
            print(f"{name:18} is there already")
            continue
        shutil.rmtree(logdir / name, ignore_errors=True)  # the half of an earlier demo
        waiting.append(name)
    with contextlib.ExitStack() as stack:
        active: dict[str, subprocess.Popen[bytes]] = {}
        while waiting or active:
            while waiting and len(active) < AT_A_TIME:
                name = waiting.pop(0)
                script, variant = name.split("/")
                brevity = ("--steps", RUNS[name], "--every", 1) if quick else ()
                process = running(f"demo_runs.{script}", variant, "--logdir", logdir / name, *brevity)
                active[name] = stack.enter_context(process)
            time.sleep(0.1)
            for name in [name for name, process in active.items() if process.poll() is not None]:
                status = active.pop(name).returncode
                if status:
                    raise SystemExit(f"Training {name} ended with exit status {status}; its message is above.")
                (logdir / name / FINISHED).touch()


def free_port(preferred: int) -> int:
    """`preferred`, or any free port where something listens there already."""
    for port in (preferred, 0):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise SystemExit("No free port on 127.0.0.1 for TensorBoard.")


def wait_for_page(address: str, server: subprocess.Popen[bytes]) -> None:
    """Return once `address` answers; raises SystemExit when the server ends first."""
    while server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise SystemExit(f"TensorBoard ended with exit status {server.returncode}; its message is above.")


def serve_and_train(logdir: Path, *, quick: bool) -> None:
    """Show `logdir` until Ctrl-C while the runs in it are trained."""
    logdir.mkdir(parents=True, exist_ok=True)
    port = free_port(6006)
    address = f"http://localhost:{port}/"
    with running("tensorboard.main", "--logdir", logdir, "--port", port) as server:
        wait_for_page(address, server)
        say = f"\n    TensorBoard shows the demo runs at {address}#zentracer_weights   (Ctrl-C stops it)\n"
        print(say, flush=True)
        train_all(logdir, quick=quick)
        print(say, flush=True)
        server.wait()


def main() -> None:
    """Train, and serve if asked to; Ctrl-C and SIGTERM end all that was started."""
    parser = argparse.ArgumentParser(prog="python -m demo_runs", description=__doc__)
    parser.add_argument("--logdir", type=Path, default=Path("runs"))
    parser.add_argument("--quick", action="store_true", help="few steps: under 40 s in all")
    parser.add_argument("--serve", action="store_true", help="show the runs in TensorBoard while they train")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if args.serve:
            serve_and_train(args.logdir, quick=args.quick)
        else:
            train_all(args.logdir, quick=args.quick)
    except KeyboardInterrupt:
        print("\nStopped.")


if __name__ == "__main__":
    main()
