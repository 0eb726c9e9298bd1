"""Files with the same bytes."""

import os
import shutil
from pathlib import Path

from tests.logs import write_scalars
from zentracer_store.runs.same import Candidate, Twins


def log(tmp_path, run, points=300, tag="loss"):
    return candidate(write_scalars(tmp_path / run, {tag: range(points)}), run)


def copied(tmp_path, file, run):
    (tmp_path / run).mkdir(parents=True, exist_ok=True)
    return candidate(shutil.copyfile(file.path, tmp_path / run / "events.out.tfevents.1700000009.other.1.0"), run)


def candidate(path, run):
    return Candidate(run, str(path), os.path.basename(path))


def texts(twins):
    return [twin.text for twin in twins]


def test_a_copy_in_another_run_is_pointed_out(tmp_path):
    first = log(tmp_path, "a")
    second, third = copied(tmp_path, first, "b"), copied(tmp_path, first, "c")
    other = log(tmp_path, "d", tag="cost")
    found = Twins().look([first, other, second, third])
    assert texts(found) == ["The file holds the same bytes as events.out.tfevents.1700000000.host.1.0 of run a."] * 2
    assert [(twin.file, twin.first) for twin in found] == [(second, first), (third, first)]


def test_a_copy_in_the_same_run_is_pointed_out(tmp_path):
    first = log(tmp_path, "a")
    (twin,) = Twins().look([first, copied(tmp_path, first, "a")])
    assert twin.text == "The file holds the same bytes as events.out.tfevents.1700000000.host.1.0 of this run."


def test_a_link_is_told_from_a_copy_and_not_read(tmp_path):
    first = log(tmp_path, "a")
    (tmp_path / "b").mkdir()
    (tmp_path / "b/events.out.tfevents.1").symlink_to(first.path)
    twins = Twins()
    (twin,) = twins.look([first, candidate(tmp_path / "b/events.out.tfevents.1", "b")], most=0)
    assert twin.text == "The file is a link to the same file as events.out.tfevents.1700000000.host.1.0 of run a."


def test_a_byte_that_differs_in_the_middle_is_enough(tmp_path):
    first = log(tmp_path, "a", points=1000)
    second = copied(tmp_path, first, "b")
    content = bytearray(Path(second.path).read_bytes())
    content[len(content) // 2] ^= 1
    Path(second.path).write_bytes(content)
    assert Twins().look([first, second]) == []


def test_the_work_is_shared_among_looks(tmp_path):
    first = log(tmp_path, "a", points=30_000)
    second = copied(tmp_path, first, "b")
    twins = Twins()
    looks = 0
    while not (found := twins.look([first, second], most=1 << 20)):
        assert twins.more
        looks += 1
    assert len(found) == 1
    assert looks == 2  # the budget of each is passed by less than a piece
    assert twins.look([first, second], most=1) == found  # nothing is read twice


def test_a_file_that_changed_is_compared_anew(tmp_path):
    first = log(tmp_path, "a")
    second = copied(tmp_path, first, "b")
    twins = Twins()
    assert len(twins.look([first, second])) == 1
    with open(second.path, "ab") as file:
        file.write(b"more")
    assert twins.look([first, second]) == []
    with open(first.path, "ab") as file:
        file.write(b"more")
    assert len(twins.look([first, second])) == 1


def test_what_is_no_file_or_empty_or_gone_is_passed_over(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for name in ("empty", "void"):
        (tmp_path / name).touch()
    names = ["fifo", "fifo", "empty", "void", "gone", "gone"]
    assert Twins().look([candidate(tmp_path / name, name) for name in names]) == []
