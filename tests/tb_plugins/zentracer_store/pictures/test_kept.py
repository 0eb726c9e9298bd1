"""What is kept, and what goes when there is too much of it."""

from dataclasses import dataclass

import numpy as np
import pytest

from zentracer_store.pictures.kept import Kept, key_of


@dataclass(frozen=True)
class Result:
    number: int
    nbytes: int = 10


def made(kept, key):
    """The result of a key, and whether it had to be made."""
    calls = []
    result = kept.get(key, lambda: calls.append(key) or Result(len(key)))
    return result.number, bool(calls)


def test_a_result_is_made_once():
    kept = Kept()
    assert [made(kept, b"a"), made(kept, b"bb"), made(kept, b"a")] == [(1, True), (2, True), (1, False)]
    assert kept.nbytes == 20


def test_what_was_used_longest_ago_goes_first():
    kept = Kept(30)
    for key in (b"a", b"b", b"c", b"a", b"d"):
        made(kept, key)
    assert kept.nbytes == 30
    assert [made(kept, key)[1] for key in (b"a", b"d", b"c")] == [False, False, False]
    assert made(kept, b"b")[1]


def test_a_result_takes_the_place_of_the_one_before_it_there():
    kept = Kept()
    for key, place in ((b"a", b"here"), (b"b", b"there"), (b"cc", b"here"), (b"d", None)):
        kept.get(key, lambda key=key: Result(len(key)), place)
    assert kept.nbytes == 30
    assert [made(kept, key)[1] for key in (b"cc", b"b", b"d", b"a")] == [False, False, False, True]
    assert made(kept, b"cc") == (2, False), "a result without a place drives none away"


def test_a_place_whose_result_went_for_want_of_room_is_free():
    kept = Kept(20)
    for key, place in ((b"a", b"here"), (b"b", None), (b"c", None), (b"d", b"here"), (b"e", b"here")):
        kept.get(key, lambda: Result(1), place)
        assert kept.nbytes <= 20
    assert [made(kept, key)[1] for key in (b"e", b"c")] == [False, False]


def test_a_result_larger_than_all_room_is_given_and_not_kept():
    kept = Kept(5)
    assert made(kept, b"a") == (1, True)
    assert (kept.nbytes, made(kept, b"a")) == (0, (1, True))


def test_a_result_that_failed_is_asked_for_again():
    kept = Kept()
    with pytest.raises(ZeroDivisionError):
        kept.get(b"a", lambda: Result(1 // 0))
    assert made(kept, b"a") == (1, True)


def test_keys_differ_where_any_part_does():
    parts = [
        (),
        (b"",),
        (b"", b""),
        ("a", "b"),
        ("ab",),
        (b"ab",),
        (1,),
        (1.0,),
        (True,),
        (None,),
        ((1, 2),),
        (np.array([1, 2]),),
        (np.array([1, 2], np.uint8),),
        (np.array([1, 2], np.float64),),
    ]
    assert len({key_of(*some) for some in parts}) == len(parts)
    assert key_of(np.array([1, 2]), "a") == key_of(np.array([1, 2]), "a")
