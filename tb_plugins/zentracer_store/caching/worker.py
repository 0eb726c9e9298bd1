"""The process that reads event files for the server: `python -m zentracer_store.caching.worker`.

It is told what to do by lines of JSON on its standard input and tells by such lines on its standard output how far it
is. What it read it leaves in the cache. It ends when its input does, which is also when the server has died.
"""

from __future__ import annotations

import json
import logging
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from zentracer_store.caching.cache import SAVE_BYTES, Cache, Saved
from zentracer_store.caching.entry import READING
from zentracer_store.caching.shelf import Shelf
from zentracer_store.contents.file_contents import FileContents
from zentracer_store.contents.growing import Lost
from zentracer_store.reading.tail import Tail, Unreadable

READ_BYTES = 8 << 20
TELL_S = 0.25
"""Seconds between two reports on one file."""

SAVE_S = 1.0
"""Seconds of reading after which it is time to show something, where saving is quick."""

_SAVE_SHARE = 10  # saving takes at most one part in so many, but for what `SAVE_BYTES` demand
_SHELF_BYTES = 64 << 20
_NICE = 5  # the server goes first, and so does training on the same machine
_LOOK_S = 0.2  # at what another process does with the same entry
_TRIES = 5

Tell = Callable[..., None]

logger = logging.getLogger(__name__)


def ingest(path: str, cache: Cache, tell: Tell) -> None:
    """Read an event file from where it is cached to its end, and save it.

    `tell(offset=..., saved=..., bytes_per_s=...)` is called now and then: how far the file is read, whether more of it
    is cached since it was called before, and how quick that is. What can't be saved is not read: nobody would see it.

    Raises:
        Unreadable: the file can't be read.
    """
    entry, reach = cache.claim(path), 0
    while entry is not None:
        with entry.lock(READING) as ours:
            if ours:
                _read_and_save(path, cache, tell)
                return
        # Where two servers begin on the same logs, one reads and the other takes over what that one saves.
        time.sleep(_LOOK_S)
        if entry.reach() != reach:
            reach = entry.reach()
            tell(offset=reach, saved=True, bytes_per_s=None)


def _read_and_save(path: str, cache: Cache, tell: Tell) -> None:
    for _ in range(_TRIES):
        with suppress(Lost):
            tail, contents = cache.load(path) or (Tail(path), FileContents(path))
            if _read_on(path, tail, contents, cache, tell):
                return


def _read_on(path: str, tail: Tail, contents: FileContents, cache: Cache, tell: Tell) -> bool:
    """Read to the end and save; False where that has to begin again from what is cached.

    Raises:
        Lost: that has to begin again, too.
    """
    first, saved_to = tail.offset, tail.offset
    began = told_at = time.monotonic()
    save_at = began + SAVE_S
    while True:
        batch = tail.read(READ_BYTES)
        if batch.restarted:
            cache.drop(path)
            contents = FileContents(path)
        contents.feed(batch.records)
        for damage in batch.damage:
            contents.note_damage(damage.text, damage.offset)
        saved, now = Saved.NOTHING, time.monotonic()
        if not batch.more or now >= save_at or tail.offset - saved_to >= SAVE_BYTES:
            saved = _save(path, tail, contents, cache, last=not batch.more)
            save_at, saved_to = _next_save(now, time.monotonic()), tail.offset
        if saved in (Saved.STALE, Saved.REFUSED):
            return saved is Saved.REFUSED
        if saved is Saved.SAVED or now - told_at > TELL_S:
            told_at = now
            rate = max(tail.offset - first, 0) / (now - began)
            tell(offset=tail.offset, saved=saved is Saved.SAVED, bytes_per_s=rate)
        if not batch.more:
            return True


def _next_save(began: float, ended: float) -> float:
    """When to save again, so that on a slow disk, too, most of the time goes into reading."""
    return ended + max(SAVE_S, _SAVE_SHARE * (ended - began))


def _save(path: str, tail: Tail, contents: FileContents, cache: Cache, *, last: bool) -> Saved:
    """Save; the last time wait for another process that writes the same entry, for nothing comes after."""
    saved = Saved.BUSY
    for _ in range(_TRIES if last else 1):
        saved = cache.save(path, tail, contents, all_of_it=last)
        if saved is not Saved.BUSY:
            break
        time.sleep(_LOOK_S)
    return saved


def main() -> None:
    """Serve until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt at the terminal is meant for the server
    logging.basicConfig(format="zentracer: %(message)s")
    with suppress(OSError):
        os.nice(_NICE)
    output = sys.stdout
    sys.stdout = sys.stderr  # whatever prints must not break what the server reads

    def tell(**what: Any) -> None:
        print(json.dumps(what), file=output, flush=True)

    tell(ready=True)
    said = _listen()
    where = next(said)
    cache = Cache(where["root"] and Path(where["root"]), where["most_bytes"], Shelf(_SHELF_BYTES))
    for line in said:
        _serve(line["path"], cache, tell)


def _listen() -> Iterator[dict[str, Any]]:
    """What standard input says. Its end ends the process, whatever it is at."""
    waiting: queue.SimpleQueue[str] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            waiting.put(line)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    while True:
        yield json.loads(waiting.get())


def _serve(path: str, cache: Cache, tell: Tell) -> None:
    problem = None
    try:
        ingest(path, cache, lambda **what: tell(path=path, **what))
    except Unreadable as error:
        problem = str(error)
    except Exception as error:  # a defect of ours must hide neither the other files nor itself
        logger.exception("Reading %s failed.", path)
        problem = f"ZenTracer failed on this file ({type(error).__name__}); the log says more."
    tell(path=path, done=True, problem=problem, troubles=cache.troubles)
    cache.forget(path)


if __name__ == "__main__":
    main()
