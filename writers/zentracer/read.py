"""Reads a log directory for notebooks: every point of every run as Arrow tables, whichever program wrote it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from zentracer.missing import needed_for
from zentracer.notice import tell

if TYPE_CHECKING:
    import pyarrow as pa

    from zentracer_store.exporting.whole import WholeRun

Name = str | re.Pattern[str]
"""A name, or a pattern that matches somewhere in it."""


def read(logdir: str | os.PathLike[str]) -> Log:
    """The runs under a log directory. They are read when they are first asked for.

    Raises:
        TypeError: `logdir` is no path.
        NotADirectoryError: there is no such directory.
        MissingPackage: a package of the extra `tensorboard` is not installed.
    """
    if not isinstance(logdir, (str, os.PathLike)):
        raise TypeError(f"logdir is a path, not {logdir!r}. Give the directory that holds the logs.")
    path = os.path.expanduser(os.fsdecode(logdir))
    if not os.path.isdir(path):
        raise NotADirectoryError(f"{path} is no directory. Give the directory that holds the logs.")
    return Log(path)


class Log:
    """A log directory, as it is when each run is first asked for. Nothing is written.

    Where a method takes `run`, it is a run's name as TensorBoard shows it; a name stands for the runs inside that
    are part of it as well (`a` for `a/zentracer`, `a/train`, `a/validation`). `a #2` is a directory of another name
    that looks the same, since it is not UTF-8. Without it, all runs are meant. Tables begin with the column `run`;
    `superseded` marks what a later session of the training wrote anew. `.to_pandas()` makes a data frame of any of
    them.
    """

    def __init__(self, logdir: str) -> None:
        with needed_for("zentracer.read"):
            from zentracer_store.exporting.whole import look_under
        self.logdir = logdir
        self._found = look_under(logdir)
        self._read: dict[str, WholeRun] = {}

    @property
    def runs(self) -> list[str]:
        """The names of all runs, as TensorBoard shows them."""
        return list(self._found.runs)

    def oddities(self, run: Name | None = None) -> list[str]:
        """What is damaged or unusual, as sentences."""
        found = [f"{problem.path}: {problem.text}" for problem in self._found.problems] if run is None else []
        return found + [text for one in self._whole(run) for file in one.files for text in (*file.lost(), *file.odd())]

    def scalars(self, run: Name | None = None, tag: Name | None = None) -> pa.Table:
        """Scalars: run, tag, step, wall_time, session, superseded, value."""
        return self._rows("scalars", run, tag)

    def histograms(self, run: Name | None = None, tag: Name | None = None) -> pa.Table:
        """Histograms of other writers: lefts, rights and counts of the bins, a list each."""
        return self._rows("histograms", run, tag)

    def texts(self, run: Name | None = None, tag: Name | None = None) -> pa.Table:
        """Text: `item` counts where one value holds several."""
        return self._rows("texts", run, tag)

    def hparams(self, run: Name | None = None) -> pa.Table:
        """Hyperparameters, a row for each: name, value as text, number where it is one, group and status of the run."""
        return self._rows("hparams", run)

    def images(self, run: Name | None = None, tag: Name | None = None) -> pa.Table:
        """Images as the bytes of their files, in `data`: PNG mostly, `mime` says. `item` counts those of one step."""
        return self._rows("images", run, tag)

    def audio(self, run: Name | None = None, tag: Name | None = None) -> pa.Table:
        """Sounds as the bytes of their files, in `data`. `item` counts those of one step."""
        return self._rows("audio", run, tag)

    def tensors(self, run: Name | None = None, tag: Name | None = None) -> pa.Table:
        """Any other tensors: dtype, shape, and their values one after the other."""
        return self._rows("tensors", run, tag)

    def table(self, kind: str = "parameters", run: Name | None = None, scope: Name | None = None) -> pa.Table:
        """A table of ours, a row for each tensor (or module, device) and step, a column for each statistic.

        `kind` is one of the file format's kinds of tables; `scope` the name of a watched model.
        """
        return self._rows(kind, run, scope=scope)

    def _rows(self, kind: str, run: Name | None, tag: Name | None = None, scope: Name | None = None) -> pa.Table:
        with needed_for("zentracer.read"):
            from zentracer_store.exporting.tabular import EVERY_KIND, Choice, joined
        if kind not in EVERY_KIND:
            raise ValueError(f"There is no kind {kind!r}. The kinds are {', '.join(EVERY_KIND)}.")
        choice = Choice(tag=None if tag is None else _pattern(tag), scope=None if scope is None else _pattern(scope))
        return joined(self._whole(run), kind, choice, tell)

    def _whole(self, run: Name | None) -> list[WholeRun]:
        """The runs that `run` means, read."""
        from zentracer_store.exporting.whole import read_run

        names = self._named(run)
        for name in names:
            if name not in self._read:
                self._read[name] = read_run(name, self._found.runs[name])
        return [self._read[name] for name in names]

    def _named(self, run: Name | None) -> list[str]:
        if run is None:
            return self.runs
        trials = {name: files[0].trial for name, files in self._found.runs.items()}
        wanted = _pattern(run)
        names = [name for name in self.runs if wanted.search(name) or wanted.search(trials[name])]
        if not names:
            name = run.pattern if isinstance(run, re.Pattern) else run
            raise LookupError(f"No run under {self.logdir} is called {name!r}.")
        return names


def _pattern(name: Name) -> re.Pattern[str]:
    """`name` as a pattern; a plain one matches itself only."""
    if not isinstance(name.pattern if isinstance(name, re.Pattern) else name, str):
        raise TypeError(f"A name is text or a compiled pattern of text, not {name!r}.")
    return name if isinstance(name, re.Pattern) else re.compile(rf"\A{re.escape(name)}\Z")
