"""Files that two writers wrote at the same time."""

from tests.logs import WALL, Log, parameters, table
from tests.tb_plugins.zentracer_store.runs.test_series import read, write, writer
from zentracer_store.runs.beside import side_by_side


def told(tmp_path):
    files = [read(path) for path in sorted(tmp_path.rglob("*tfevents*"))]
    return {path.removeprefix(f"{tmp_path}/"): text for path, text in side_by_side(files).items()}


def test_two_writers_at_the_same_time_are_told_with_what_both_wrote(tmp_path):
    write(write(writer(tmp_path / "a", 1, wall=WALL), range(9)), range(9), tag="acc").append()
    write(write(writer(tmp_path / "a", 2, wall=WALL + 5), range(9)), range(9), tag="acc").append()
    text = "The file was written at the same time as events.out.tfevents.1700000001.host.1.0, "
    text += "with acc and 1 more in both: they are kept apart as two lines."
    assert told(tmp_path) == {"a/events.out.tfevents.1700000002.host.2.0": text}


def test_a_single_tag_in_both_is_named(tmp_path):
    for number, wall in ((1, WALL), (2, WALL + 5)):
        write(writer(tmp_path / "a", number, wall=wall), range(9)).append()
    (text,) = told(tmp_path).values()
    assert "with loss in both" in text


def test_writers_one_after_the_other_or_of_different_tags_or_directories_are_not_told(tmp_path):
    write(writer(tmp_path / "after", 1), range(9)).append()
    write(writer(tmp_path / "after", 2), range(9)).append()
    write(writer(tmp_path / "tags", 1, wall=WALL), range(9)).append()
    write(writer(tmp_path / "tags", 2, wall=WALL + 5), range(9), tag="acc").append()
    write(writer(tmp_path / "apart/train", 1, wall=WALL), range(9)).append()
    write(writer(tmp_path / "apart/test", 2, wall=WALL + 5), range(9)).append()
    writer(tmp_path / "empty", 1).append()
    assert told(tmp_path) == {}


def test_files_of_ours_belong_together(tmp_path):
    for number in (1, 2):
        log = Log(tmp_path / f"zentracer/events.out.tfevents.170000000{number}.host.1.0", WALL + number).version()
        log.table(0, parameters(["w"]), table(1)).table(5, parameters(["w"]), table(1)).append()
    assert told(tmp_path) == {}
