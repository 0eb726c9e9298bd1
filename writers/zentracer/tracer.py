"""Records the training of one model, whatever its framework: counts steps, decides what to sample, keeps order."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from math import nan
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import Any, Self

import numpy as np

import zentracer_schema as schema
from zentracer import ambient
from zentracer.files import latest_session
from zentracer.guard import Guard
from zentracer.ledger import Ledger
from zentracer.notice import tell
from zentracer.output import Job, Output
from zentracer.pulse import Fetch, Pulse, PulseReader, Reading
from zentracer.schedule import Schedule
from zentracer.session import new_session_id, session_record
from zentracer.sink import Sink, open_sink, release_sink

FLUSH_S = 30.0
_MOST_STEP_TIMES = 1024


@dataclass(frozen=True)
class Place:
    """Where a tracer records, as which process, and from which step on."""

    scope: str
    logdir: str
    directory: Path
    start_step: int = 0
    user_step: Callable[[], int] | None = None
    session: bool = True
    framework: str = ""
    rank: int = 0
    world_size: int = 1


class Tracer:
    """An open recording of one model. Made by an adapter's `watch`.

    Steps are the updates of the first optimizer completed before the recorded one, counted from `start_step`, or
    what `step=` says.
    """

    def __init__(
        self,
        place: Place,
        schedule: Schedule,
        *,
        keep: Callable[[Any], Any],
        fetch: Fetch,
        describe: Callable[[], Mapping[str, Any]],
    ) -> None:
        self.place = place
        self.guard = Guard()
        self.pid = os.getpid()
        self.session_id: str | None = None
        self.sampled = False
        self._schedule = schedule
        self._keep = keep
        self._fetch = fetch
        self._describe = describe
        self._sink: Sink | None = None
        self._count = 0
        self._skipped = 0
        self._forward_calls = 0
        self._seen = 0
        self._epoch = nan
        self._step = place.start_step
        self._ledger = Ledger()
        self._reader = PulseReader(place.scope, fetch)
        self._held: dict[str, tuple[int, Job, int]] = {}
        self._written: dict[str, int] = {}
        self.full_samples = 0
        self._since: float | None = None
        self._accounted_s = 0.0
        self._step_times: list[float] = []
        self._seen_at_clock = 0
        self._dropped = 0
        self._told: set[str] = set()

    # What users call.

    def log(self, *unnamed: Any, split: str | None = None, **values: Any) -> None:
        """Record numbers of this step: Python numbers or tensors of one element, read later, without a sync.

        `loss` and `epoch` also go into the pulse and the clock. `split` is a word such as "train".
        """
        if self._sink is None or self.pid != os.getpid():
            return
        if unnamed:
            self._tell_once("log", "log takes numbers by name, as in log(loss=loss). Those without one are left out.")
        self.guard.run(self._log, split, values)

    def flush(self) -> bool:
        """Wait until every sample of a finished update is on disk, and the pulse up to the step before.

        False where the disk did not keep up for `FLUSH_S`, or where records were dropped since the last flush.
        """
        if self._sink is None or self.pid != os.getpid():
            return True
        self.guard.run(self._release)
        written = self._sink.flush(FLUSH_S)
        before, self._dropped = self._dropped, self._sink.dropped
        return written and self._dropped == before

    def detach(self) -> None:
        """Take every hook off the model and its optimizers. `log` still works, for the last step."""

    def close(self) -> None:
        """Detach, write what is pending, end the session. Training goes on as if it had never been watched."""
        self._close(wait=True)

    def abandon(self) -> None:
        """Close without waiting for the disk; the writer thread finishes by itself."""
        self._close(wait=False)

    @property
    def closed(self) -> bool:
        """Whether nothing is recorded any more."""
        return self._sink is None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # What adapters call.

    def open(self) -> None:
        """Open the sink and say who records.

        Raises:
            OSError: nothing can be written there.
        """
        place = self.place
        start = self._step
        self._accounted_s = self.guard.spent_s
        continues = self.session_id or (latest_session(place.directory, place.scope) if start else None)
        self._sink = open_sink(place.directory, start_step=start, rank=place.rank)
        self._dropped = self._sink.dropped
        self.pid = os.getpid()
        self.session_id = new_session_id()
        if place.session:
            record = session_record(
                self.session_id,
                continues=continues,
                scopes={place.scope: {**self._describe(), "start_step": start, "planned_steps": None}},
                framework=place.framework,
                rank=place.rank,
                world_size=place.world_size,
            )
            self._put(partial(_session_job, place.scope, record, start))
        self.sampled = self._schedule.due(start)
        ambient.enter(self)

    def reopen(self) -> None:
        """Go on in a forked child that trains: what is pending belongs to the parent, the child has its own session."""
        self._ledger = Ledger()
        self._reader = PulseReader(self.place.scope, self._fetch)
        self._held.clear()
        self.open()
        tell(
            f"This forked process trains a watched model; it records into {self.place.directory} as a session "
            "of its own, in .ztrec files."
        )

    @property
    def step(self) -> int:
        """The step of the update that is under way or comes next."""
        return self._step

    @property
    def writes_plain_scalars(self) -> bool:
        """Whether this process writes the event file of its directory."""
        return self._sink is not None and self._sink.output.plain

    def forward_began(self, samples: int) -> None:
        """A forward pass in train mode began, on `samples` samples (0 where that can't be told)."""
        self._ledger.forward()
        self._forward_calls += 1
        self._seen += samples
        if self._since is None:
            self._since = time.perf_counter()

    def update_began(self) -> None:
        """An update of the first optimizer begins; asks the user's counter which step it is."""
        if self.place.user_step is None:
            return
        step = int(self.place.user_step())
        if step < self._step:
            self._tell_once(
                "step",
                f"step= went back from {self._step} to {step}. Steps that were recorded before are left out; "
                "give a count that grows over the whole run.",
            )
        self._step = step
        self._release(other_than=step)

    def hold(self, owner: str, job: Job, size_bytes: int) -> None:
        """Keep a sample of `owner` until its step is over: of several updates in a step the last is recorded."""
        self._held[owner] = (self._step, job, size_bytes)

    def update_skipped(self, pulse: Pulse) -> None:
        """A gradient scaler left the update out, as `pulse.found_inf` says: the step stays."""
        for entry in self._ledger.skip(self._step, time.time(), pulse):
            self._reader.add(entry)
        self._emit()

    def other_update_skipped(self) -> None:
        """A gradient scaler left out an update of an optimizer that is not the first."""
        if not self._ledger.mark(found_inf=1.0):
            self._skipped += 1

    def update_ended(self, pulse: Pulse) -> None:
        """An update of the first optimizer ended: its step is complete, and whether to sample the next is decided."""
        now, wall = time.perf_counter(), time.time()
        sink = self._sink
        if sink is None:
            return
        if over := self._ledger.update(self._step, wall, pulse):
            self._reader.add(over)
        self._count += 1
        self._since = now
        if pulse.step_seconds == pulse.step_seconds and len(self._step_times) < _MOST_STEP_TIMES:
            self._step_times.append(pulse.step_seconds)
        cost = self.cost_s
        self._schedule.account(pulse.step_seconds, cost - self._accounted_s)
        self._accounted_s = cost
        self._emit()
        sampled = self.sampled
        self.sampled = self._schedule.due(self.place.start_step + self._count, crowded=sink.crowded)
        if sampled:
            self.full_samples += 1
            self.hold("clock", self._clock_job(wall, sink), 1024)
        if self.place.user_step is None:
            self._release()
            self._step += 1

    @property
    def step_seconds(self) -> float:
        """Seconds since the last update of the first optimizer, or since training began; NaN before that."""
        return nan if self._since is None else time.perf_counter() - self._since

    @property
    def cost_s(self) -> float:
        """CPU seconds that recording took so far, on the training thread and on the writer thread."""
        written = self._sink.cpu_s.get(self._owner, 0.0) if self._sink is not None else 0.0
        return self.guard.spent_s + written

    # Inside.

    @property
    def _owner(self) -> str:
        return self.place.scope

    def _put(self, job: Job, size_bytes: int = 0) -> None:
        if self._sink is not None:
            self._sink.put(job, size_bytes, owner=self._owner)

    def _log(self, split: Any, values: Mapping[str, Any]) -> None:
        kept = {}
        if split is not None and not isinstance(split, str):
            self._tell_once("split", f"split= is a word such as 'train', got a {type(split).__name__}. It is left out.")
            split = None
        for name, value in values.items():
            try:
                kept[(split, name)] = self._keep(value)
            except Exception:  # a value of the user's: whatever its conversion raises, the others count
                shape = getattr(value, "shape", None)
                what = f"a tensor of shape {tuple(shape)}" if shape is not None else f"a {type(value).__name__}"
                self._tell_once(f"log {name}", f"log({name}=...) takes one number, got {what}. It is left out.")
        self._ledger.log(kept)
        if "epoch" in values and isinstance(values["epoch"], int | float):
            self._epoch = float(values["epoch"])

    def _release(self, other_than: int | None = None) -> None:
        """Hand over the samples that are held, but for those of the step `other_than`."""
        for owner, (step, job, size_bytes) in list(self._held.items()):
            if step == other_than:
                continue
            del self._held[owner]
            if self._grows(owner, step):
                self._put(job, size_bytes)

    def _grows(self, what: str, step: int) -> bool:
        """Whether a record of `step` may be written: steps of a tag must grow."""
        if step <= self._written.get(what, step - 1):
            return False
        self._written[what] = step
        return True

    def _tell_once(self, about: str, text: str) -> None:
        if about not in self._told:
            self._told.add(about)
            tell(text)

    def _emit(self, *, wait: bool = False) -> None:
        for reading in self._reader.read(wait=wait):
            self._skipped += reading.found_inf
            if reading.trouble:
                self._schedule.force(reading.trouble)
            write_metrics = bool(reading.metrics) and self._grows("metrics", reading.step)
            self._put(partial(_reading_job, self.place.scope, reading, write_metrics))

    def _clock_job(self, wall: float, sink: Sink) -> Job:
        times, self._step_times = self._step_times, []
        samples = self._seen - self._seen_at_clock
        self._seen_at_clock = self._seen
        schedule = self._schedule
        row = (
            float(self.place.start_step + self._count),
            float(self._forward_calls),
            nan if self.place.user_step is None else float(self._step),
            float(self._seen) if self._seen else nan,
            self._epoch,
            wall,
            float(self._skipped),
            float(schedule.interval),
            float(sink.dropped),
            float(sink.output.bytes),
            schedule.overhead,
        )
        scalars = {"overhead_percent": 100.0 * schedule.overhead}
        if times:
            scalars["step_seconds"] = median(times)
            if samples:
                scalars["samples_per_second"] = samples / sum(times)
        return partial(_clock_records, self.place.scope, self._step, wall, row, scalars)

    def _close(self, *, wait: bool) -> None:
        self.detach()
        ambient.leave(self)
        sink = self._sink
        if sink is None:
            return
        if self.pid == os.getpid():
            self.guard.run(self._finish, wait)
            release_sink(sink, wait=wait)
        self._sink = None

    def _finish(self, wait: bool) -> None:
        for entry in self._ledger.close(self._step, time.time()):
            self._reader.add(entry)
        self._emit(wait=wait)
        self._release()


def _session_job(scope: str, record: Mapping[str, Any], step: int, output: Output) -> None:
    output.session(scope, record, step)


def _reading_job(scope: str, reading: Reading, write_metrics: bool, output: Output) -> None:
    if reading.spec is not None:
        output.row(reading.wall_time, reading.spec, reading.row)
    if write_metrics:
        output.scalars(reading.wall_time, reading.step, scope, reading.metrics)


@lru_cache(maxsize=64)
def _clock_spec(scope: str) -> schema.TableSpec:
    return schema.TableSpec("clock", scope, schema.CLOCK_COLUMNS, (schema.RowSpec(scope),))


def _clock_records(
    scope: str, step: int, wall: float, row: tuple[float, ...], scalars: Mapping[str, float], output: Output
) -> None:
    output.table(wall, step, _clock_spec(scope), np.array([row], np.float64))
    output.scalars(wall, step, scope, {schema.scalar_tag(scope, name): value for name, value in scalars.items()})
