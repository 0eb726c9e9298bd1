"""The route `cells` beyond one run and its steps: several runs, other axes, and views that moved on."""

import socket

import numpy as np
import pytest

from tests.logs import begin, parameters, row, table, write_run, write_scalars
from tests.tb_plugins.zentracer_tb.reading import unpack
from tests.tb_plugins.zentracer_tb.test_weights import Tab
from zentracer_store import Lost, Store
from zentracer_store.pictures import query
from zentracer_tb import views
from zentracer_tb.http import Refused


@pytest.fixture
def tab(tmp_path):
    write_run(tmp_path / "a", steps=range(0, 100, 10), rows=["net.w", "net.b"], update_ratio=[1, 2])
    write_run(tmp_path / "b", steps=range(50, 200, 10), rows=["net.w", "other"], update_ratio=[3, 4])
    write_scalars(tmp_path / "plain", {"loss": [1.0, 2.0]})
    return Tab(tmp_path)


def test_several_runs_come_in_one_answer_over_all_that_any_of_them_recorded(tab):
    header, arrays = unpack(tab.ask("/cells?run=b&run=a&column=update_ratio&fold=net").data)
    assert [(part["run"], part["from"], part["to"]) for part in header["parts"]] == [("b", 0, 200), ("a", 0, 200)]
    assert arrays["0.edges"].tolist() == [0, *range(50, 201, 10)]
    assert arrays["1.edges"].tolist() == [*range(0, 101, 10), 200]
    for place, run in enumerate("ba"):
        alone, single = unpack(tab.ask(f"/cells?run={run}&column=update_ratio&fold=net&from=0&to=200").data)
        part = header["parts"][place]
        assert {k: v for k, v in part.items() if k != "edges"} == {
            k: v for k, v in alone.items() if k not in ("edges", "arrays")
        }
        for name, array in single.items():
            np.testing.assert_array_equal(arrays[f"{place}.{name}"], array)


def test_a_run_without_an_answer_says_why_and_hides_no_other(tab):
    header, arrays = unpack(tab.ask("/cells?run=plain&run=a&run=none&column=update_ratio").data)
    assert [part.get("error") for part in header["parts"]] == [
        "Run 'plain' has no parameter tables yet.",
        None,
        f"There is no run 'none' in {tab.plugin._where.shown}.",
    ]
    assert {name.partition(".")[0] for name in arrays} == {"1"}
    header, arrays = unpack(tab.ask("/cells?run=a&run=b&column=x").data)
    assert all(part["error"].startswith("No column 'x' is recorded.") for part in header["parts"])
    assert not arrays


SEVERAL = "/cells?run=a&run=b&column=update_ratio"


@pytest.mark.parametrize("what", ["Store.scopes", "answer_cells"])
@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("x"), "ZenTracer failed on this run (ValueError); the log says more."),
        (Lost("It is gone."), "It is gone. It is read again from its log."),
    ],
)
def test_a_run_that_fails_hides_no_other(tab, monkeypatch, what, error, sentence):
    module, name = (Store, "scopes") if what == "Store.scopes" else (query, "answer_cells")
    plain, asked, recovered = getattr(module, name), [], []

    def first_fails(*args, **more):
        asked.append(args)
        if len(asked) == 1:
            raise error
        return plain(*args, **more)

    monkeypatch.setattr(module, name, first_fails)
    monkeypatch.setattr(tab.store, "recover", recovered.append)
    header, arrays = unpack(tab.ask(SEVERAL).data)
    assert [part.get("error") for part in header["parts"]] == [sentence, None]
    assert {name.partition(".")[0] for name in arrays} == {"1"}
    assert recovered == (["a"] if isinstance(error, Lost) else [])


def test_a_question_about_several_runs_ends_as_a_whole(tab, monkeypatch):
    def overtaken(*_, **__):
        raise Refused(409, SUPERSEDED["error"])

    monkeypatch.setattr(query, "answer_cells", overtaken)
    answer = tab.ask(SEVERAL)
    assert (answer.status_code, answer.json) == (409, SUPERSEDED)


def test_the_limit_of_cells_is_for_all_runs_together(tmp_path):
    for run in "ab":
        write_run(tmp_path / run, steps=range(2100), rows=[f"w{number}" for number in range(1000)])
    header, _ = unpack(Tab(tmp_path).ask("/cells?run=a&run=b&column=update_ratio&width=2100").data)
    assert [part.get("error") for part in header["parts"]] == [
        None,
        "The picture would have 1,000 rows of 2,100 cells, over the limit of 1,900,000 cells. "
        "Ask for a smaller width or height.",
    ]


def test_more_runs_than_the_limit_are_refused(tab):
    answer = tab.ask("/cells?column=update_ratio&" + "&".join(f"run={number}" for number in range(17)))
    assert (answer.status_code, answer.json) == (400, {"error": "One answer has at most 16 runs, got 17."})


def test_several_runs_that_did_not_change_are_not_sent_again(tab, tmp_path):
    path = "/cells?run=a&run=none&column=update_ratio"
    tag = tab.ask(path).headers["ETag"]
    assert tab.ask(path, If_None_Match=tag).status_code == 304
    write_run(tmp_path / "none")
    tab.store.look()
    assert tab.ask(path, If_None_Match=tag).status_code == 200


def test_cells_along_wall_time_cover_seconds(tab):
    header, arrays = unpack(tab.ask("/cells?run=a&column=update_ratio&axis=relative").data)
    assert header["axis"] == {"name": "relative", "label": "Time since the start", "unit": "s"}
    assert (header["from"], header["to"], header["pauses"]) == (1, 11, [])
    assert arrays["edges"].tolist() == list(range(1, 12))
    assert (arrays["count"] == 1).all()
    header, arrays = unpack(tab.ask("/cells?run=a&column=update_ratio&axis=relative&from=2&to=8&width=3").data)
    assert arrays["edges"].tolist() == [2, 4, 6, 8]
    assert arrays["count"].tolist() == [[2, 2, 2]] * 2
    assert header["samples"] == 6


def test_a_pause_between_sessions_is_told_and_empty(tmp_path):
    spec = parameters([row("w")])
    log = begin(tmp_path / "a")
    for step in range(5):
        log.table(step, spec, table(1))
    log.append()
    again = begin(tmp_path / "a", "events.out.tfevents.2.host.2.0", start=5, wall=log.wall + 100)
    for step in range(5, 10):
        again.table(step, spec, table(1))
    again.append()
    header, arrays = unpack(Tab(tmp_path).ask("/cells?run=a&column=update_ratio&axis=relative").data)
    (pause,) = header["pauses"]
    cell = int(np.flatnonzero(arrays["edges"] == pause["from"])[0])
    assert arrays["edges"][cell + 1] == pause["to"]
    assert pause["step"] == 5
    assert np.isnan(arrays["max"][0, cell])
    assert arrays["count"].tolist() == [[1] * 5 + [0] + [1] * 5]


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (
            "axis=loss",
            "There is no axis 'loss'. There are step, wall, relative, updates, forward_calls, user_step, samples, "
            "epoch.",
        ),
        ("axis=wall&from=9&to=3", "The window from wall 9 to wall 3 is empty. Ask for 'from' below 'to'."),
        ("view=x", "'view' and 'n' go together: the name of a view, and the number of its question."),
        ("n=3", "'view' and 'n' go together: the name of a view, and the number of its question."),
        (f"view={'x' * 65}&n=1", "'view' must be at most 64 characters, got 65."),
        ("view=x&n=-1", "'n' must be a whole number from 0 to 999,999,999, got '-1'."),
    ],
)
def test_bad_axes_and_views_are_refused(tab, more, sentence):
    answer = tab.ask(f"/cells?run=a&column=update_ratio&{more}")
    assert (answer.status_code, answer.json) == (400, {"error": sentence})


SUPERSEDED = {"error": "A newer question of the same view took this one's place."}


def test_a_question_older_than_the_views_newest_is_not_worked_on(tab):
    assert tab.ask("/cells?run=a&column=update_ratio&view=v&n=2").status_code == 200
    answer = tab.ask("/cells?run=a&column=update_ratio&view=v&n=1")
    assert (answer.status_code, answer.json) == (409, SUPERSEDED)
    assert tab.ask("/cells?run=a&column=update_ratio&view=other&n=1").status_code == 200
    assert tab.ask("/cells?run=a&column=update_ratio&view=v&n=2").status_code == 200


def test_a_newer_question_ends_the_older_ones_work(tab, monkeypatch):
    import zentracer_store.pictures.picture as picture

    plain = picture.Picture._made

    def overtaken(self, tile, bins):
        if not overtaken.done:
            overtaken.done = True
            assert tab.ask("/cells?run=b&column=weight_norm&view=v&n=8").status_code == 200
        return plain(self, tile, bins)

    overtaken.done = False
    monkeypatch.setattr(picture.Picture, "_made", overtaken)
    answer = tab.ask("/cells?run=a&column=weight_rms&view=v&n=7")
    assert (answer.status_code, answer.json) == (409, SUPERSEDED)


def test_work_ends_when_the_browser_has_closed_the_connection(tab):
    from werkzeug.test import Client

    near, far = socket.socketpair()
    client = Client(tab.apps["/cells"])
    ask = {"query_string": "run=a&column=update_ratio", "environ_base": {"werkzeug.socket": near}}
    assert client.get("/cells", **ask).status_code == 200
    far.close()
    answer = client.get("/cells", **ask)
    assert (answer.status_code, answer.json) == (409, {"error": "Whoever asked has closed the connection."})
    near.close()


def test_views_are_forgotten_when_there_are_too_many(tab, monkeypatch):
    monkeypatch.setattr(views, "MOST_VIEWS", 2)
    for name in "vwx":
        assert tab.ask(f"/cells?run=a&column=update_ratio&view={name}&n=5").status_code == 200
    assert tab.ask("/cells?run=a&column=update_ratio&view=x&n=4").status_code == 409
    assert tab.ask("/cells?run=a&column=update_ratio&view=v&n=4").status_code == 200
