"""Ends work that nobody waits for: a view that moved on asks anew, and a browser that left closes its connection."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from werkzeug import Request

from zentracer_tb import http
from zentracer_tb.http import Refused
from zentracer_tb.stream import hung_up

MOST_VIEWS = 1024
"""Views whose newest question is remembered; the one that asked longest ago is forgotten first."""

LONGEST_VIEW = 64
MOST_QUESTIONS = 999_999_999
_SUPERSEDED = "A newer question of the same view took this one's place."
_LEFT = "Whoever asked has closed the connection."


class Views:
    """The newest question of each view. Safe from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._newest: OrderedDict[str, int] = OrderedDict()

    def watch(self, request: Request) -> Callable[[], None]:
        """What to call while the request is worked on: it raises as soon as nobody waits for the answer.

        Raises:
            Refused: `view` and `n` are not what they should be, or a newer question of the view was asked before.
        """
        view, number = request.args.get("view", ""), http.whole(request, "n", None, MOST_QUESTIONS, least=0)
        if bool(view) != (number is not None):
            raise Refused(400, "'view' and 'n' go together: the name of a view, and the number of its question.")
        if len(view) > LONGEST_VIEW:
            raise Refused(400, f"'view' must be at most {LONGEST_VIEW} characters, got {len(view):,}.")
        connection = request.environ.get("werkzeug.socket")
        if number is not None:
            self._note(view, number)

        def check() -> None:
            if number is not None and self._newest.get(view, number) > number:
                raise Refused(409, _SUPERSEDED)
            if hung_up(connection):
                raise Refused(409, _LEFT)

        check()
        return check

    def _note(self, view: str, number: int) -> None:
        with self._lock:
            self._newest[view] = max(number, self._newest.get(view, number))
            self._newest.move_to_end(view)
            while len(self._newest) > MOST_VIEWS:
                self._newest.popitem(last=False)
