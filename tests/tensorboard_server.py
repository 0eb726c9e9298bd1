"""Starts a real TensorBoard in one of the three server modes, and stops it.

    python tests/tensorboard_server.py MODE LOGDIR [further flags]

prints `PORT <n>` once it answers and runs until standard input closes. Modes: `rust` (data server), `python` (Python
loader with TensorFlow, from .venv-tf) and `python-no-tf`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
TF_PYTHON = ROOT / ".venv-tf/bin/python"
MODES = ("rust", "python", "python-no-tf")

_READY_S = 90.0


def missing(mode: str) -> str | None:
    """What keeps a mode from running here; None where nothing does."""
    if mode == "python" and not TF_PYTHON.exists():
        return f"{TF_PYTHON} is not there: run `make setup-tf`"
    return None


@dataclass(frozen=True)
class Server:
    """A running TensorBoard. `log` is what it has printed so far."""

    port: int
    process: subprocess.Popen[bytes]
    log_path: Path
    prefix: str = ""

    @property
    def url(self) -> str:
        """Address of its page, with a slash at the end."""
        return f"http://127.0.0.1:{self.port}{self.prefix}/"

    @property
    def log(self) -> str:
        """Standard output and error together."""
        return self.log_path.read_text(errors="replace")

    def get(self, path: str, headers: dict[str, str] | None = None, method: str = "GET") -> Answer:
        """Ask for `path` below the address; errors are answers too."""
        request = urllib.request.Request(self.url + path, headers=headers or {}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return Answer(response.status, dict(response.headers), response.read())
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, dict(error.headers), error.read())


@dataclass(frozen=True)
class Answer:
    """What the server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@contextmanager
def tensorboard(
    mode: str, *flags: str, env: dict[str, str] | None = None, prefix: str = "", ready: str = "data/plugins_listing"
) -> Iterator[Server]:
    """A TensorBoard started with `flags` on a free port. It is ready when it answers the path `ready`.

    `prefix` is its `--path_prefix`, below which all paths of the server are.

    Raises:
        RuntimeError: it ended, or did not answer in time; the message holds what it printed.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "tensorboard.log"
        port = _free_port()
        with open(log, "wb") as out:
            process = subprocess.Popen(
                _command(mode, port, flags, prefix),
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **(env or {})},
                start_new_session=True,
            )
        server = Server(port, process, log, prefix)
        try:
            _wait_until_ready(server, ready)
            yield server
        finally:
            _stop(process)


def _command(mode: str, port: int, flags: Sequence[str], prefix: str) -> list[str]:
    python = str(TF_PYTHON) if mode == "python" else sys.executable
    command = [python, "-m", "tensorboard.main", "--port", str(port), "--host", "127.0.0.1"]
    command.append(f"--load_fast={'true' if mode == 'rust' else 'false'}")
    if prefix:
        command.append(f"--path_prefix={prefix}")
    return [*command, *flags]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_until_ready(server: Server, path: str) -> None:
    end = time.monotonic() + _READY_S
    while time.monotonic() < end:
        if server.process.poll() is not None:
            raise RuntimeError(f"TensorBoard ended with {server.process.returncode}:\n{server.log}")
        try:
            if server.get(path).status == 200:
                return
        except OSError:
            pass
        time.sleep(0.1)  # there is no signal to wait for: TensorBoard says nothing when its port opens
    raise RuntimeError(f"TensorBoard did not answer within {_READY_S:.0f} s:\n{server.log}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    # The data server is a child of TensorBoard; its own session lets both be ended.
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(5)
            break
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def main() -> None:
    """Serve until standard input closes."""
    mode, logdir, *flags = sys.argv[1:]
    with tensorboard(mode, "--logdir", logdir, *flags) as server:
        print(f"PORT {server.port}", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
