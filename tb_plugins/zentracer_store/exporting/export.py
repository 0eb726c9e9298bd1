"""Writes what a log directory holds as files that other programs read: Parquet or CSV, a folder for each run."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from zentracer_store.discover import text
from zentracer_store.exporting.partition import MARKER, is_shortened, partition, refuse, replacing
from zentracer_store.exporting.sheets import Form, Sheet
from zentracer_store.exporting.tabular import Choice, batches_of
from zentracer_store.exporting.whole import Logdir, WholeRun, look_under, read_run
from zentracer_store.progress import Progress, Rate, progress_of

FORMAT = 1
"""Version of the layout, told in each export."""

PART = "part-0"


@dataclass
class Exported:
    """What was written: rows by kind, files and their bytes.

    Where there was nothing to write, `files` is 0 and nothing was touched.
    `left_out` are sentences on what could not be read, `odd` on what is unusual, `shortened` runs with too long a name.
    """

    out: str
    runs: int = 0
    files: int = 0
    bytes: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    left_out: list[str] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    shortened: list[str] = field(default_factory=list)


def export(
    logdir: str,
    out: str,
    form: Form,
    choice: Choice,
    *,
    force: bool = False,
    progress: Callable[[Progress], None] = lambda progress: None,
) -> Exported:
    """Write what is chosen of `logdir` to the directory `out`, which appears only once all of it is there.

    One run at a time is read and written, so memory is bounded by the largest. What can't be read is left out and
    told; it never keeps the rest from being written. Where nothing comes of it, nothing is written, and what is at
    `out` stays.

    Raises:
        Refused: something is at `out` that must stay.
        OSError: the disk is full, or refuses us.
    """
    refuse(out, force=force, keep=logdir)
    found = look_under(logdir)
    chosen = [run for run in found.runs if choice.takes_run(run)]
    done = Exported(out, left_out=[f"{problem.path}: {problem.text}" for problem in found.problems])
    listed: list[dict[str, Any]] = []
    with suppress(_NothingToWrite), replacing(out, force=force, keep=logdir) as folder:
        way = _Way(found, chosen, progress)
        for name in chosen:
            run = read_run(name, found.runs[name], way.read)
            listed.append(_write(run, form, choice, folder, done))
            way.done(name)
        if not done.rows.total():
            done.files = done.bytes = 0
            raise _NothingToWrite
        _mark(folder, logdir, form, listed, done)
    return done


class _NothingToWrite(Exception):
    """Keeps an export without a row from taking the place of one that has some."""


class _Way:
    """Tells how far an export has come: files that are written, and bytes that are read."""

    def __init__(self, found: Logdir, runs: list[str], progress: Callable[[Progress], None]) -> None:
        self._progress = progress
        self._files = {run: len(found.runs[run]) for run in runs}
        self._total = sum(found.sizes[run] for run in runs)
        self._finished = 0
        self._bytes = 0
        self._rate = Rate()
        self._rate.read(0, time.monotonic())

    def read(self, count: int) -> None:
        """Note that so many bytes were read. A file that began anew while it was read takes some back."""
        self._bytes += count
        self._rate.read(count, time.monotonic())
        self._tell()

    def done(self, run: str) -> None:
        """Note that a run is written."""
        self._finished += self._files[run]
        self._tell()

    def _tell(self) -> None:
        self._progress(
            progress_of(
                files=self._finished,
                files_total=sum(self._files.values()),
                done=self._bytes,
                total=max(self._total, self._bytes),
                rate=self._rate.at(time.monotonic()),
                walked=True,
            )
        )


def _write(run: WholeRun, form: Form, choice: Choice, folder: Path, done: Exported) -> dict[str, Any]:
    """Write one run. Returns what the export's list says of it."""
    counts: dict[str, int] = {}
    for batches in batches_of(run, choice, done.left_out.append):
        place = folder / partition(kind=batches.kind, run=run.name)
        place.mkdir(parents=True, exist_ok=True)
        path = place / f"{PART}.{form}"
        with Sheet(path, form, batches.schema) as sheet:
            sheet.write(batches.parts())
        counts[batches.kind] = sheet.rows
        done.files += 1
        done.bytes += path.stat().st_size
    done.rows.update(counts)
    done.runs += bool(counts)
    if counts and is_shortened(run.name):
        done.shortened.append(run.name)
    for file in run.files:
        done.left_out += file.lost()
        done.odd += file.odd()
    return {"run": run.name, "trial": run.trial, "folder": partition(run=run.name), "rows": counts}


def _mark(folder: Path, logdir: str, form: Form, runs: list[dict[str, Any]], done: Exported) -> None:
    """Say in the export what it is; by this it is known as one that may be replaced."""
    content = {
        "format": FORMAT,
        "zentracer": metadata.version("zentracer"),
        "written": time.time(),
        "logdir": text(os.path.abspath(logdir)),
        "form": form,
        "runs": runs,
        "left_out": done.left_out,
        "odd": done.odd,
    }
    (folder / MARKER).write_text(json.dumps(content, indent=1) + "\n")
