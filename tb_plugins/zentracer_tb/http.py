"""Turns answers into HTTP: JSON, binary columns, static files; errors as one JSON sentence each."""

from __future__ import annotations

import json
import logging
import math
import struct
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from werkzeug import Request, Response
from werkzeug.datastructures import Headers

from zentracer_store import QueryError

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

YEAR_S = 365 * 24 * 3600
_ALIGNMENT = 8
_TYPES = {
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".map": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".wasm": "application/wasm",
}

MOST_BODY_BYTES = 64 << 10

logger = logging.getLogger(__name__)

Handler = Callable[[Request], Response]
App = Callable[..., Any]


class Refused(Exception):
    """A request that is not answered; the message is a sentence for who asked."""

    def __init__(self, code: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def route(handler: Handler) -> App:
    """A WSGI app from a function of the request: only GET and HEAD, errors as JSON."""

    def answer(request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            response = _error(405, f"{request.method} is not allowed here. Use GET.")
            response.headers["Allow"] = "GET, HEAD"
            return response
        if (request.content_length or 0) > MOST_BODY_BYTES:
            size = f"{request.content_length:,} bytes, over the limit of {MOST_BODY_BYTES:,}"
            return _error(413, f"The request's body has {size}. Send none: no route reads one.")
        try:
            return handler(request)
        except Refused as refused:
            return _error(refused.code, str(refused))
        except QueryError as error:
            return _error(400, str(error))
        except Exception as error:  # a defect of ours must not become TensorBoard's HTML page
            logger.exception("The request %s failed.", request.full_path)
            return _error(500, f"The server failed on this request ({type(error).__name__}). Its log says more.")

    app: App = Request.application(answer)
    return app


def json_of(content: Mapping[str, Any]) -> str:
    """`content` as JSON, in which there is no NaN."""
    return json.dumps(content, allow_nan=False)


def json_answer(request: Request, content: Mapping[str, Any] | str, etag: str) -> Response:
    """`content` as JSON, which it may be already; nothing but the tag where the client has it already."""
    if kept := unchanged(request, etag):
        return kept
    return _response(content if isinstance(content, str) else json_of(content), "application/json", etag=etag)


def binary_answer(
    request: Request, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], etag: str
) -> Response:
    """`header` and arrays as one block of bytes, see `pack`."""
    return unchanged(request, etag) or _response(pack(header, arrays), "application/octet-stream", etag=etag)


def unchanged(request: Request, etag: str) -> Response | None:
    """The answer 304 where the client's copy is the present one."""
    if not request.if_none_match.contains(etag):
        return None
    response = _Unchanged(status=304)
    response.set_etag(etag)
    return response


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> list[bytes]:
    """Length of the header (u32), the header as JSON with a list `arrays` of what follows, and the arrays.

    Every array is little-endian and begins at a multiple of 8, counted from the first byte after the header. One that
    stands under several names is sent once. In parts, since an answer may have tens of MB: joining them is a copy.
    """
    parts: list[bytes] = []
    listed, size = [], 0
    places: dict[int, int] = {}
    for name, array in arrays.items():
        offset = places.setdefault(id(array), size)
        if offset == size:
            data = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
            parts += [data, bytes(-len(data) % _ALIGNMENT)]
            size += len(data) + len(parts[-1])
        dtype = array.dtype.newbyteorder("<").str
        listed.append({"name": name, "dtype": dtype, "shape": array.shape, "offset": offset})
    text = json.dumps({**header, "arrays": listed}, allow_nan=False).encode()
    text += b" " * (-(4 + len(text)) % _ALIGNMENT)
    return [struct.pack("<I", len(text)) + text, *parts]


class _Unchanged(Response):
    """A 304. Werkzeug takes the type from an answer without content, TensorBoard warns of any answer without one."""

    def get_wsgi_headers(self, environ: WSGIEnvironment) -> Headers:
        """The headers as they are sent."""
        headers = super().get_wsgi_headers(environ)
        headers["Content-Type"] = "application/octet-stream"
        headers["X-Content-Type-Options"] = "nosniff"
        headers["Cache-Control"] = "no-cache"
        return headers


def static_answer(request: Request, folder: Path, name: str) -> Response:
    """A file of `folder`, compressed where a `.gz` lies beside it and the client takes it.

    Names that carry a hash may be kept for a year; the others are asked for each time.
    """
    try:
        path = (folder / name).resolve()
        found = path.is_relative_to(folder.resolve()) and path.is_file() and path.suffix in _TYPES
    except (OSError, ValueError):  # names that no file can have
        found = False
    if not found:
        raise Refused(404, f"There is no file {name[:100]!r} here.")
    packed = path.with_name(path.name + ".gz")
    encoded = packed.is_file() and request.accept_encodings.quality("gzip") > 0
    response = _response((packed if encoded else path).read_bytes(), _TYPES[path.suffix])
    response.headers["Vary"] = "Accept-Encoding"
    if encoded:
        response.headers["Content-Encoding"] = "gzip"
    if "-" in path.stem:
        response.headers["Cache-Control"] = f"private, max-age={YEAR_S}, immutable"
    return response


def text_answer(content: str, content_type: str) -> Response:
    """`content` as it is, never kept."""
    return _response(content, content_type)


def event_answer(events: Iterable[bytes]) -> Response:
    """A `text/event-stream` of these bytes, each part sent at once by all that stands between."""
    response = _response(events, "text/event-stream; charset=utf-8")
    response.headers["X-Accel-Buffering"] = "no"  # nginx would gather them
    return response


def number(request: Request, name: str, default: float | None = None) -> float | None:
    """A number of at most 2^53 from the query.

    Raises:
        Refused: it is anything else.
    """
    text = request.args.get(name, "")
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not abs(value) <= 1 << 53:
        raise Refused(400, f"{name!r} must be a number of at most 2^53, got {text!r}.")
    return value


def whole(request: Request, name: str, default: int | None, largest: int, *, least: int = 1) -> int | None:
    """A whole number of `least` to `largest` from the query.

    Raises:
        Refused: it is anything else.
    """
    text = request.args.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 10 and least <= int(text) <= largest):
        raise Refused(400, f"{name!r} must be a whole number from {least:,} to {largest:,}, got {text!r}.")
    return int(text)


def jsonable(value: float | None) -> float | str | None:
    """A number as JSON can say it: what is not finite becomes a word."""
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _error(code: int, sentence: str) -> Response:
    return _response(json.dumps({"error": sentence}), "application/json", code=code)


def _response(
    content: bytes | str | Iterable[bytes], content_type: str, *, code: int = 200, etag: str | None = None
) -> Response:
    response = Response(content, status=code, content_type=content_type)
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Cache-Control"] = "no-cache"
    if etag is not None:
        response.set_etag(etag)
    return response
