"""One cached file: what is written is read back, column by column, and whatever happens to the file is told as lost."""

import os
import resource
import stat
from contextlib import suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zentracer_store.caching import volumes
from zentracer_store.caching.volumes import Lost, open_volume, read_column, read_head, write_volume

DTYPES = ("<u4", "<i8", "<f8", "<f4", "<f2", "|u1", "|b1", "<c8", ">f4")
HEAD = {"tags": ["loss", "é\n"], "last": None}


def columns_of(seed=0, rows=5):
    random = np.random.default_rng(seed)
    made = {}
    for number, dtype in enumerate(DTYPES):
        shape = [(), (3,), (2, 2)][number % 3]
        made[f"column.{number}"] = random.integers(0, 200, (rows + number, *shape)).astype(dtype)
    return made


def write(path, columns=None, **more):
    columns = columns_of() if columns is None else columns
    given = {"log": "/runs/a", "key": "k1", "after": "", "start": 0, "end": 100, "head": HEAD, **more}
    return write_volume(str(path), columns=[(name, 7, rows) for name, rows in columns.items()], **given)


def bytes_read():
    """What this process has read from files so far."""
    return int(Path("/proc/self/io").read_text().split()[1])


def same(one, other):
    return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 99), st.integers(0, 40))
def test_what_is_written_is_read_back(tmp_path_factory, seed, rows):
    path, columns = tmp_path_factory.mktemp("v") / "v.arrow", columns_of(seed, rows)
    written = write(path, columns, after="k0", start=40, end=90)
    volume = open_volume(str(path))
    assert volume == written
    assert (volume.log, volume.key, volume.after, volume.start, volume.end) == ("/runs/a", "k1", "k0", 40, 90)
    assert read_head(volume) == HEAD
    for name, values in columns.items():
        assert volume.columns[name].first == 7
        assert same(read_column(volume, name), values)


def test_nan_keeps_its_bits(tmp_path):
    values = np.array([0x7FF8000000000123, 0xFFF0000000000001], np.uint64).view(np.float64)
    assert same(read_column(write(tmp_path / "v", {"x": values}), "x"), values)


def test_any_tool_that_reads_arrow_reads_it(tmp_path):
    write(tmp_path / "v", {"points.step": np.array([3, 4]), "table": np.array([[1, 2], [3, 4]], np.float32)})
    with pa.OSFile(str(tmp_path / "v")) as file:
        table = pa.ipc.open_file(file).read_all()
    assert table.num_rows == 1
    assert table["points.step"].to_pylist() == [[3, 4]]
    assert table["table"].to_pylist() == [[1, 2, 3, 4]]


def test_one_column_is_read_without_the_others(tmp_path):
    columns = {name: np.zeros(1 << 18, np.float32) for name in "abcdefgh"}
    volume = write(tmp_path / "v", columns)
    before = bytes_read()
    values = read_column(volume, "c")
    assert bytes_read() - before < 1.1 * values.nbytes


def test_opening_reads_little_of_a_large_file(tmp_path):
    volume = write(tmp_path / "v", {"a": np.zeros(1 << 20)})
    before = bytes_read()
    assert open_volume(volume.path) == volume
    assert bytes_read() - before < 1 << 16


def test_a_file_with_many_columns_is_read_back(tmp_path):
    columns = {f"segment.{number}.weight_norm": np.full(3, number, np.float32) for number in range(2000)}
    volume = write(tmp_path / "v", columns)
    assert open_volume(volume.path) == volume
    assert all(same(read_column(volume, name), values) for name, values in columns.items())


def test_only_the_owner_may_read_it(tmp_path):
    write(tmp_path / "v")
    assert stat.S_IMODE((tmp_path / "v").stat().st_mode) == 0o600


def test_an_unfinished_file_of_another_process_is_not_touched(tmp_path):
    (tmp_path / "v.part").write_text("theirs")
    with pytest.raises(FileExistsError):
        write(tmp_path / "v")
    assert (tmp_path / "v.part").read_text() == "theirs"


def test_a_full_disk_leaves_nothing_behind(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            write(tmp_path / "v", {"x": np.zeros(5000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_gone_is_lost(tmp_path):
    volume = write(tmp_path / "v")
    os.unlink(volume.path)
    for ask in (lambda: open_volume(volume.path), lambda: read_column(volume, "column.1"), lambda: read_head(volume)):
        with pytest.raises(Lost, match=rf"The cached file {volume.path} is gone\."):
            ask()


def test_a_file_truncated_anywhere_is_lost_or_whole(tmp_path):
    columns = columns_of(rows=2)
    whole = write(tmp_path / "v", columns)
    data = (tmp_path / "v").read_bytes()
    for length in range(0, len(data), 61):
        (tmp_path / "v").write_bytes(data[:length])
        with pytest.raises(Lost, match=rf"The cached file {whole.path} is (damaged|not one of ours)"):
            open_volume(whole.path)
        with suppress(Lost):
            assert same(read_column(whole, "column.8"), columns["column.8"])
    (tmp_path / "v").write_bytes(data[: len(data) // 4])
    with pytest.raises(Lost, match=rf"The cached file {whole.path} is damaged in the column column\.8\."):
        read_column(whole, "column.8")


def test_no_flipped_byte_yields_other_numbers(tmp_path):
    columns = columns_of(rows=2)
    whole = write(tmp_path / "v", columns)
    data = bytearray((tmp_path / "v").read_bytes())
    damaged = 0
    for at in range(0, len(data), 13):
        data[at] ^= 0x55
        (tmp_path / "v").write_bytes(data)
        data[at] ^= 0x55
        try:
            volume = open_volume(whole.path)
            assert read_head(volume) == HEAD
            for name, values in columns.items():
                assert same(read_column(volume, name), values)
        except Lost:
            damaged += 1
    assert damaged > 10


def test_damage_in_one_column_spares_the_others(tmp_path):
    columns = {"a": np.arange(100.0), "b": np.arange(100.0) + 0.5}
    volume = write(tmp_path / "v", columns)
    data = bytearray((tmp_path / "v").read_bytes())
    data[bytes(data).index(columns["b"].tobytes()) + 80] ^= 1
    (tmp_path / "v").write_bytes(data)
    assert same(read_column(volume, "a"), columns["a"])
    with pytest.raises(Lost, match=rf"The cached file {volume.path} is damaged in the column b\."):
        read_column(volume, "b")


def test_a_file_of_another_format_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(volumes, "FORMAT", 2)
    volume = write(tmp_path / "v")
    monkeypatch.undo()
    with pytest.raises(Lost, match=r"is not one of ours, or of another format\."):
        open_volume(volume.path)


def test_a_file_of_another_tool_is_not_read(tmp_path):
    batch = pa.record_batch([pa.array([1])], names=["column.1"])
    with pa.OSFile(str(tmp_path / "v"), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
        writer.write_batch(batch)
    with pytest.raises(Lost, match=r"is not one of ours, or of another format\."):
        open_volume(str(tmp_path / "v"))


def test_a_file_replaced_by_another_is_lost(tmp_path):
    volume = write(tmp_path / "v")
    os.unlink(volume.path)
    write(tmp_path / "v", {"other": np.arange(3), **columns_of(seed=1)})
    with pytest.raises(Lost, match="is damaged in the column"):
        read_column(volume, "column.1")


def test_what_is_no_file_is_lost_and_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for name in ("fifo", "."):
        with pytest.raises(Lost, match=r"The cached file .* can't be read \(.+\)\."):
            open_volume(str(tmp_path / name))


def test_a_layout_that_can_not_be_read_back_is_no_cached_file(tmp_path, monkeypatch):
    monkeypatch.setattr(volumes, "_LIST_BYTES", 64)
    with pytest.raises(OSError, match="what was written can't be read back"):
        write(tmp_path / "v")
    assert list(tmp_path.iterdir()) == []
