"""Reads images, sounds and other files that were logged, as the bytes that they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from zentracer_schema import FormatError
from zentracer_store.reading.tensors import strings_of

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"BM", "image/bmp"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"ID3", "audio/mpeg"),
)
_RIFF = {b"WEBP": "image/webp", b"WAVE": "audio/wav"}


@dataclass(frozen=True)
class Blob:
    """One file: its bytes, what they are, and of an image how large it says it is."""

    data: bytes
    mime: str
    width: int | None = None
    height: int | None = None
    label: str = ""


def blobs_of(value: Any, sort: str) -> tuple[Blob, ...]:
    """The files in a summary value of a sort, in order: several images or sounds of one step, or any byte strings.

    Raises:
        FormatError: it holds none.
    """
    match value.WhichOneof("value"):
        case "image":
            image = value.image
            return (_image(image.encoded_image_string, image.width, image.height),)
        case "audio":
            data = value.audio.encoded_audio_string
            return (Blob(data, _mime(data, value.audio.content_type)),)
        case "tensor":
            strings = strings_of(value.tensor)
        case _:
            raise FormatError("The value holds no files.")
    if sort == "image":
        if strings.ndim != 1 or len(strings) < 2:
            raise FormatError(f"Images are width, height and then one string each, the tensor is {strings.shape}.")
        width, height, *images = strings.tolist()
        return tuple(_image(data, _whole(width), _whole(height)) for data in images)
    if sort == "audio" and strings.ndim == 2 and strings.shape[1] == 2:
        return tuple(
            Blob(data, _mime(data), label=label.decode("utf-8", "replace")) for data, label in strings.tolist()
        )
    return tuple(Blob(data, _mime(data)) for data in strings.reshape(-1).tolist())


def _image(data: bytes, width: int | None, height: int | None) -> Blob:
    return Blob(data, _mime(data), width, height)


def _whole(text: bytes) -> int | None:
    return int(text) if text.isdigit() and len(text) < 10 else None


def _mime(data: bytes, told: str = "") -> str:
    """What the bytes themselves say counts: a browser that is told of an image must not be handed a page."""
    for magic, mime in _MAGIC:
        if data.startswith(magic):
            return mime
    if data.startswith(b"RIFF"):
        return _RIFF.get(data[8:12], "application/octet-stream")
    return told if told.startswith("audio/") else "application/octet-stream"
