"""`zentracer doctor`: what it says, and how it ends."""

import json

from tests.logs import EVENTS, write_run, write_scalars
from tests.tb_plugins.zentracer_store.examining import hiding_logs
from zentracer.cli.doctor import words
from zentracer_store.examining.doctor import Report
from zentracer_store.examining.environment import Environment


def test_a_healthy_directory(command, tmp_path):
    write_run(tmp_path / "a", steps=range(3))
    write_scalars(tmp_path / "a", {"loss": [1.0] * 1500})
    status, out, error = command("doctor", tmp_path)
    assert (status, error) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith(f"{tmp_path}: 2 runs in 2 files, ")
    assert lines[0].endswith(". 1,500 points of scalars and 3 other values.")
    assert lines[1] == "Nothing is damaged."
    assert "  a: 1 scalar tag (1,500 values), to step 1,499" in lines
    assert "  a/zentracer: 1 table tag (3 values), to step 2, by ZenTracer" in lines
    assert "  TensorBoard's Python loader leaves out 500 values at random: it keeps a sample of each tag." in lines
    assert "    in a: loss" in lines
    assert lines[lines.index("What to do") + 1] == (
        "  - `--samples_per_plugin scalars=0,images=0` keeps every value, at the price of memory."
    )
    assert any("has the tabs zentracer_weights and reads by default with its" in line for line in lines)


def test_tags_of_several_sorts_are_counted_each(command, tmp_path):
    log = hiding_logs.points(hiding_logs.points(hiding_logs.log_in(tmp_path), [1]), [1], "accuracy")
    log.add(hiding_logs.text_event(1, "note")).append()
    assert "  .: 2 scalar tags, 1 text tag (3 values), to step 1" in command("doctor", tmp_path)[1].splitlines()


def test_on_a_terminal_it_tells_how_far_it_has_come(command, tmp_path, monkeypatch):
    write_scalars(tmp_path / "a", {"loss": [1.0]})
    monkeypatch.setattr("zentracer.cli.doctor.sys.stderr.isatty", lambda: True)
    assert command("doctor", tmp_path)[2] == "\r\x1b[K0 of 1 runs\r\x1b[K"


def test_damage_gives_status_1_and_its_place(command, tmp_path):
    hiding_logs.damaged_data(tmp_path / "a")
    status, out, _ = command("doctor", tmp_path)
    assert status == 1
    lines = out.splitlines()
    assert lines[1] == "1 place damaged."
    place = lines[lines.index("Damaged") + 1]
    assert place.startswith(f"  a/{EVENTS}, byte ")
    assert place.endswith("is damaged and is skipped.")


def test_json_has_all_of_it(command, tmp_path):
    hiding_logs.damaged_data(tmp_path / "a")
    status, out, _ = command("doctor", "--json", tmp_path)
    assert status == 1
    told = json.loads(out)
    assert list(told) == ["logdir", "environment", "runs", "damage", "oddities", "hidden", "advice"]
    assert told["runs"][0]["tags"] == {"scalar": 1}
    (hidden,) = told["hidden"]
    assert (hidden["kind"], hidden["reader"], hidden["values"], hidden["tags"]) == (
        "behind damage",
        "python",
        13,
        ["loss"],
    )
    assert hidden["text"].startswith("TensorBoard's Python loader never shows 13 values")


def test_an_empty_directory_says_what_was_looked_for(command, tmp_path):
    status, out, _ = command("doctor", tmp_path)
    assert status == 0
    assert out.splitlines()[0] == (
        f"{tmp_path} holds no event files: no file's name has 'tfevents' in it or ends with '.ztrec'."
    )


def test_long_lists_are_cut_unless_all_is_asked_for(command, tmp_path):
    for number in range(25):
        hiding_logs.repeated(tmp_path / f"run{number:02}")
    cut = command("doctor", tmp_path)[1].splitlines()
    assert "  ... and 5 more; --all lists them." in cut
    assert "    ... and 22 more; --all lists them" in cut
    whole = command("doctor", "--all", tmp_path)[1]
    assert "more; --all" not in whole
    assert sum(line.startswith("    in run") for line in whole.splitlines()) == 25


def test_many_tags_are_named_by_the_first(command, tmp_path):
    log = hiding_logs.log_in(tmp_path)
    for tag in "abcde":
        hiding_logs.points(log, [1, 1], tag)
    log.append()
    assert "    in .: a, b, c, ..." in command("doctor", tmp_path)[1].splitlines()


def test_names_from_logs_cannot_write_to_the_terminal(command, tmp_path):
    write_scalars(tmp_path / "a\x1b[31m", {"loss": [1.0]})
    out = command("doctor", tmp_path)[1]
    assert "\x1b" not in out
    assert "  a\\x1b[31m: 1 scalar tag (1 value), to step 0" in out.splitlines()


def test_an_environment_without_tensorboard_is_told():
    here = Environment("3.11.0", {"zentracer": "1"}, (), data_server=False, descriptors=1024)
    lines = list(words(Report("runs", here), 20))
    assert "  TensorBoard is not installed in this environment, so nothing here shows ZenTracer's tabs." in lines
    assert lines[-1] == "  - On the machine that shows the logs: pip install 'zentracer[tensorboard]'."


def test_an_environment_without_a_data_server_reads_with_the_python_loader():
    versions = {"tensorboard": "2.21.0", "pyarrow": "15", "scipy": "1.11"}
    here = Environment("3.11.0", versions, ("zentracer_weights",), data_server=False, descriptors=1024)
    assert list(words(Report("runs", here), 20))[-1] == (
        "  TensorBoard has the tabs zentracer_weights and reads by default with its Python loader: "
        "there is no data server here."
    )
