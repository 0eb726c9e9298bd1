"""Text, images and sounds as TensorBoard's writers and their forerunners log them."""

import io

import numpy as np
import pytest
from PIL import Image
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.plugins.text.summary_v2 import text_pb
from tensorboard.util import tensor_util

import zentracer_schema as schema
from zentracer_store.reading.blobs import Blob, blobs_of
from zentracer_store.reading.texts import text_of

PNG = b"\x89PNG\r\n\x1a\n more"
WAV = b"RIFF\x10\0\0\0WAVEfmt "


def ours(value):
    return schema.Summary.FromString(Summary(value=[value]).SerializeToString()).value[0]


def strings(values):
    return ours(Summary.Value(tag="t", tensor=tensor_util.make_tensor_proto(values)))


def test_text_comes_in_the_shape_of_its_tensor():
    assert text_of(ours(text_pb("t", "caf\xe9").value[0])).item() == "caf\xe9"
    assert text_of(strings([["a", "b"], ["c", "d"]])).tolist() == [["a", "b"], ["c", "d"]]
    assert text_of(strings([b"\xff!"])).tolist() == ["\ufffd!"]


def test_a_number_is_no_text():
    with pytest.raises(schema.FormatError, match=r"^The value holds no text\.$"):
        text_of(schema.Summary.Value(tag="t", simple_value=1.0))


def test_images_of_both_spellings_come_with_their_size():
    old = Summary.Value(tag="i")
    old.image.encoded_image_string, old.image.width, old.image.height = PNG, 4, 3
    assert blobs_of(ours(old), "image") == (Blob(PNG, "image/png", 4, 3),)
    jpeg = b"\xff\xd8\xff\xe0"
    assert blobs_of(strings([b"4", b"3", PNG, jpeg]), "image") == (
        Blob(PNG, "image/png", 4, 3),
        Blob(jpeg, "image/jpeg", 4, 3),
    )


def test_sounds_of_both_spellings_come_with_their_label():
    old = Summary.Value(tag="a")
    old.audio.encoded_audio_string, old.audio.content_type = b"raw", "audio/x-raw"
    assert blobs_of(ours(old), "audio") == (Blob(b"raw", "audio/x-raw"),)
    old.audio.content_type = "text/html"
    assert blobs_of(ours(old), "audio") == (Blob(b"raw", "application/octet-stream"),)
    assert blobs_of(strings([[WAV, b"one"], [b"fLaC", b""]]), "audio") == (
        Blob(WAV, "audio/wav", label="one"),
        Blob(b"fLaC", "audio/flac"),
    )


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "WEBP"])
def test_images_are_known_by_their_bytes(kind):
    file = io.BytesIO()
    Image.fromarray(np.zeros((2, 2, 3), np.uint8)).save(file, kind)
    (blob,) = blobs_of(strings([file.getvalue()]), "tensor")
    assert blob.mime == f"image/{kind.lower()}"


def test_an_image_that_says_no_size_has_none():
    assert blobs_of(strings([b"-4", b"9" * 99, b"<svg>"]), "image") == (Blob(b"<svg>", "application/octet-stream"),)


def test_what_holds_no_files_is_refused():
    with pytest.raises(schema.FormatError, match=r"^The value holds no files\.$"):
        blobs_of(schema.Summary.Value(tag="t", simple_value=1.0), "image")
    with pytest.raises(schema.FormatError) as error:
        blobs_of(strings([b"4"]), "image")
    assert str(error.value) == "Images are width, height and then one string each, the tensor is (1,)."
