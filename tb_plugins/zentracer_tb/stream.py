"""Tells browsers what has changed for as long as they listen: one `text/event-stream` a browser, few in all."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from werkzeug import Request, Response

from zentracer_store import Store
from zentracer_tb import http

MOST_STREAMS = 8
"""Each holds a thread of the server for as long as its browser listens."""

APART_S = 0.1
"""Least time from one `changed` to the next. What comes between is told together."""

HEARTBEAT_S = 10.0
LISTEN_S = 1.0
"""How often a quiet stream looks whether its browser is still there."""

_UNHEARD_MS = 30_000
_TOO_MANY = "{} browsers listen already, as many as may. This one has to ask again and again."


class Streams:
    """The streams that are open on one store."""

    def __init__(self, store: Store, server: str) -> None:
        self._store = store
        self._server = server
        self._lock = threading.Lock()
        self._open = 0

    def answer(self, request: Request) -> Response:
        """A stream for the browser that asks.

        Raises:
            http.Refused: too many listen.
        """
        with self._lock:
            if self._open >= MOST_STREAMS:
                raise http.Refused(503, _TOO_MANY.format(MOST_STREAMS))
            self._open += 1
        line = request.environ.get("werkzeug.socket")
        _tune(line)
        response = http.event_answer(events(self._store, self._server, lambda: not hung_up(line)))
        response.call_on_close(self._leave)  # also where nothing is ever taken from the iterator, as for HEAD
        return response

    def _leave(self) -> None:
        with self._lock:
            self._open -= 1


def events(store: Store, server: str, listening: Callable[[], bool]) -> Iterator[bytes]:
    """The bytes of one stream: `hello`, then `changed` whenever anything is read; comments in between."""
    told = store.generation
    yield _event("hello", {"server": server, "generation": told})
    spoke = time.monotonic()
    while listening():
        store.ask()
        generation = store.wait(told, LISTEN_S)
        now = time.monotonic()
        if generation != told:
            yield _event("changed", {"generation": generation, "runs": store.changed_since(told)})
            told, spoke = generation, now
            time.sleep(APART_S)
        elif now - spoke >= HEARTBEAT_S:
            yield b":\n\n"
            spoke = now


def _event(name: str, content: Mapping[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(content)}\n\n".encode()


def _tune(line: socket.socket | None) -> None:
    """Send small pieces at once, and do not wait long for a browser that fell silent, as a sleeping laptop does."""
    if line is None:
        return
    try:
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _UNHEARD_MS)
    except OSError:  # a connection of another kind, or one that is gone already: the next write finds out
        pass


def hung_up(line: socket.socket | None) -> bool:
    """Whether the other end has closed the connection. Writing would find out only the second time."""
    if line is None:
        return False
    try:
        return line.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except (BlockingIOError, InterruptedError, ValueError):  # nothing to read: it listens; TLS takes no flags
        return False
    except OSError:
        return True
