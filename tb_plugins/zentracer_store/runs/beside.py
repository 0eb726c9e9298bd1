"""Points out files of one directory that several writers wrote at the same time."""

from __future__ import annotations

import os
from collections.abc import Iterable

from zentracer_store.contents.file_contents import FileContents


def side_by_side(files: Iterable[FileContents]) -> dict[str, str]:
    """By path, a sentence for each file that was written while an earlier one of its directory was, with tags in both.

    Nothing is lost by it here: such files stay two lines. Whoever looks at the run should know that it is two.
    """
    directories: dict[str, list[tuple[float, float, FileContents]]] = {}
    for contents in files:
        began = _first_wall(contents)
        if began is not None and contents.last_wall is not None:
            directories.setdefault(os.path.dirname(contents.path), []).append((began, contents.last_wall, contents))
    found = {}
    for beside in directories.values():
        beside.sort(key=lambda span: span[0])
        for place, (began, _, contents) in enumerate(beside):
            for _, ended, other in beside[:place]:
                common = sorted(_tags(contents) & _tags(other)) if began < ended else []
                if common:
                    found[contents.path] = _sentence(os.path.basename(other.path), common)
                    break
    return found


def _first_wall(contents: FileContents) -> float | None:
    tables = [table for table in (contents.points, contents.records) if len(table)]
    return min((float(table.column("wall", 0, 1)[0]) for table in tables), default=None)


def _tags(contents: FileContents) -> set[str]:
    """Those of other writers: ours know their sessions, and several of their files belong together."""
    return {info.tag for info in contents.tags if not info.tag.startswith("zentracer/")}


def _sentence(other: str, common: list[str]) -> str:
    what = common[0] if len(common) == 1 else f"{common[0]} and {len(common) - 1:,} more"
    return f"The file was written at the same time as {other}, with {what} in both: they are kept apart as two lines."
