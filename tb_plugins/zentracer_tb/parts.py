"""Puts the pictures of several runs into one answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from numpy.typing import NDArray

from zentracer_store import CellsAnswer, CellsQuery, Scope, answer_several
from zentracer_tb.http import Refused


def side_by_side(
    found: Mapping[str, tuple[int, Scope] | str],
    query: CellsQuery,
    check: Callable[[], None],
    why: Callable[[str, Exception], str],
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Header and arrays of the same window of each run, given its generation and scope, or why it has none.

    Each part is what one run alone would be answered; its arrays are called `<place>.<name>`. `why` words what was
    raised for a run.
    """
    asked = {run: one[1].timeline for run, one in found.items() if not isinstance(one, str)}
    runs = list(asked)

    def worded(place: int, error: Exception) -> str:
        if isinstance(error, Refused):  # by `check`: nobody waits for the answer
            raise error
        return why(runs[place], error)

    answers = iter(answer_several(list(asked.values()), query, check=check, why=worded))
    parts: list[dict[str, Any]] = []
    arrays: dict[str, NDArray[Any]] = {}
    for place, (run, one) in enumerate(found.items()):
        if isinstance(one, str):
            parts.append({"run": run, "error": one})
            continue
        generation, scope = one
        about = {"run": run, "scope": scope.name, "generation": generation}
        answer = next(answers)
        if not isinstance(answer, CellsAnswer):
            parts.append({**about, "error": answer})
            continue
        parts.append({**about, "edges": f"{place}.edges", **answer.facts})
        arrays[f"{place}.edges"] = answer.edges
        arrays |= {f"{place}.{name}": array for name, array in answer.arrays.items()}
    return {"parts": parts}, arrays
