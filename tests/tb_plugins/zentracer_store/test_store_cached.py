"""The store with its cache and its workers: what is read once is not read again, whatever happens to the cache."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.logs import EVENTS, begin, parameters, table, write_run, write_scalars
from zentracer_store import CellsQuery, Lost, Store, answer_cells, parse_places
from zentracer_store.caching.cache import Cache
from zentracer_store.reading.tail import Tail

ROWS = [f"layer{number}.weight" for number in range(40)]


@pytest.fixture
def store_of(tmp_path):
    """Makes stores over tmp_path/runs with a cache in tmp_path/cache."""
    made = []

    def make():
        store = Store(parse_places(str(tmp_path / "runs")), Cache(tmp_path / "cache"))
        made.append(store)
        return store

    yield make
    for store in made:
        store.close()


@pytest.fixture
def read(monkeypatch):
    """Counts the bytes that this process reads of logs."""
    counted = [0]
    whole = Tail.read

    def counting(self, *args):
        before = self.offset
        batch = whole(self, *args)
        counted[0] += max(self.offset - (0 if batch.restarted else before), 0)
        return batch

    monkeypatch.setattr(Tail, "read", counting)
    return counted


def write(tmp_path, steps=200):
    return write_run(tmp_path / "runs/a", steps=range(steps), rows=ROWS, weight_norm=lambda step: step + 1.0)


def picture(store):
    (scope,) = store.scopes("a")[1]
    return answer_cells(scope.timeline, CellsQuery("weight_norm", width=2000))


def same(one, other):
    assert one.facts == other.facts
    assert np.array_equal(one.edges, other.edges)
    for name, array in one.arrays.items():
        assert np.array_equal(array, other.arrays[name], equal_nan=True), name


def volumes(tmp_path):
    return [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and path.stat().st_size]


def test_a_second_start_reads_only_what_is_new(tmp_path, store_of, read):
    path = write(tmp_path)
    first = store_of()
    first.look()
    assert read[0] == path.stat().st_size
    log = begin(tmp_path / "runs/a", start=None)
    log.pending = []
    log.described = {parameters(ROWS).tag}
    before = path.stat().st_size
    log.table(200, parameters(ROWS), table(len(ROWS), weight_norm=201.0)).append()
    read[0] = 0
    second = store_of()
    second.look()
    assert read[0] == path.stat().st_size - before
    first.look()
    same(picture(second), picture(first))
    assert picture(second).facts["last"] == 200


def test_what_other_processes_read_is_what_this_one_reads(tmp_path, store_of, read, monkeypatch):
    write(tmp_path)
    write_scalars(tmp_path / "runs/b", {"loss": list(range(500))})
    here = store_of()
    here.look()
    expected = picture(here), here.contents("b")[f"b/{EVENTS}"].points_of("loss")
    shutil.rmtree(tmp_path / "cache")
    read[0] = 0
    monkeypatch.setattr("zentracer_store.store.MUCH_BYTES", 1)
    there = store_of()
    there.look()
    assert read[0] == 0
    same(picture(there), expected[0])
    points = there.contents("b")[f"b/{EVENTS}"].points_of("loss")
    assert all(np.array_equal(one, other) for one, other in zip(points, expected[1], strict=True))
    assert there.catalogue().progress.done
    assert there.catalogue().oddities == ()


def test_where_nothing_can_be_cached_this_process_reads_it_all(tmp_path, store_of, monkeypatch):
    path = write(tmp_path)
    (tmp_path / "cache").write_text("a file where the directory should be")
    monkeypatch.setattr("zentracer_store.store.MUCH_BYTES", 1)
    store = store_of()
    store.look()
    assert picture(store).facts["last"] == 199
    (oddity,) = store.catalogue().oddities
    assert (oddity.run, oddity.file) == (None, None)
    assert str(tmp_path / "cache") in oddity.text
    assert store.catalogue().progress.bytes == path.stat().st_size


@pytest.mark.parametrize("harm", ["truncate", "remove", "garble"])
def test_cached_columns_that_are_lost_are_read_again_from_the_log(tmp_path, store_of, harm):
    write(tmp_path)
    expected = store_of()
    expected.look()
    expected = picture(expected)
    store = store_of()
    store.look()
    assert volumes(tmp_path)
    for path in volumes(tmp_path):
        _harm(path, harm)
    with pytest.raises(Lost):
        picture(store)
    store.recover("a")
    store.look()
    same(picture(store), expected)


def test_an_oddity_is_told_again_by_the_next_start(tmp_path, store_of):
    path = write(tmp_path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 255
    path.write_bytes(data)
    told = []
    for _ in range(2):
        store = store_of()
        store.look()
        told.append(store.catalogue().oddities)
    assert len(told[0]) == 1
    assert told[0] == told[1]


def test_a_log_that_was_replaced_between_two_starts_is_read_anew(tmp_path, store_of):
    path = write(tmp_path)
    store_of().look()
    path.unlink()
    write(tmp_path, steps=150)
    store = store_of()
    store.look()
    assert picture(store).facts["last"] == 149


def _harm(path: Path, how: str) -> None:
    match how:
        case "truncate":
            with open(path, "r+b") as file:
                file.truncate(path.stat().st_size // 2)
        case "remove":
            path.unlink()
        case "garble":
            data = bytearray(path.read_bytes())
            for at in range(0, len(data), 97):
                data[at] ^= 1
            path.write_bytes(data)
