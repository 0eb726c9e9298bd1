"""What a browser that listens is told, and how many may listen."""

import json
import re
import socket
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from werkzeug.test import Client, EnvironBuilder, run_wsgi_app

from tests.logs import begin, parameters, table, write_run
from tests.tb_plugins.zentracer_tb.test_weights import Tab
from zentracer_store import Store, parse_places
from zentracer_tb import stream
from zentracer_tb.stream import MOST_STREAMS, events

PAGE = Path(__file__).parents[3] / "docs/http.md"


def parsed(part):
    """The name and the content of an event."""
    name, data = re.fullmatch(rb"event: (\w+)\ndata: (.*)\n\n", part).groups()
    return name.decode(), json.loads(data)


@pytest.fixture
def store(tmp_path):
    write_run(tmp_path / "a")
    write_run(tmp_path / "b", rows=["other"])
    store = Store(parse_places(str(tmp_path)))
    store.ask = lambda run=None: None  # tests look themselves
    store.look()
    return store


@pytest.fixture
def swift(monkeypatch):
    """Times so short that nobody waits."""
    for name in ("APART_S", "HEARTBEAT_S", "LISTEN_S"):
        monkeypatch.setattr(stream, name, 0.001)


def test_it_begins_with_who_the_server_is_and_where_it_stands(store):
    told = events(store, "s1", lambda: True)
    assert parsed(next(told)) == ("hello", {"server": "s1", "generation": store.generation})


def test_what_changed_since_is_told_with_the_runs_it_concerns(store, tmp_path, swift):
    told = events(store, "s1", lambda: True)
    (_, hello) = parsed(next(told))
    begin(tmp_path / "b", name="more.tfevents").table(99, parameters(["w"]), table(1)).append()
    store.look()
    (name, content) = parsed(next(told))
    assert name == "changed"
    assert content == {"generation": store.generation, "runs": {"b": store.generation_of("b")}}
    assert content["generation"] > hello["generation"]


def test_a_run_that_comes_is_told_even_before_it_is_read(store, tmp_path, monkeypatch):
    before = store.generation
    (tmp_path / "new").mkdir()
    (tmp_path / "new/events.out.tfevents.1").write_bytes(b"")
    store.look()
    assert set(store.changed_since(before)) == {"new"}


def test_a_run_that_goes_raises_the_generation(store, tmp_path):
    before = store.generation
    for path in (tmp_path / "a/zentracer").iterdir():
        path.unlink()
    store.look()
    assert store.wait(before, 0) > before
    assert store.changed_since(before) == {}


def test_changes_that_follow_each_other_fast_are_told_together(store, tmp_path, monkeypatch):
    monkeypatch.setattr(stream, "APART_S", 0.2)
    told = events(store, "s1", lambda: True)
    next(told)
    log, spec = begin(tmp_path / "c").append(), parameters(["w"])
    store.look()
    parsed(next(told))
    began = time.monotonic()
    changing = threading.Thread(
        target=lambda: [(log.table(step, spec, table(1)).append(), store.look()) for step in range(5)]
    )
    changing.start()
    (_, content) = parsed(next(told))
    changing.join()
    assert time.monotonic() - began >= 0.2
    assert content["generation"] == store.generation


def test_a_quiet_stream_sends_a_comment_now_and_then(store, swift):
    told = events(store, "s1", lambda: True)
    next(told)
    assert [next(told) for _ in range(3)] == [b":\n\n"] * 3


def test_it_ends_when_the_browser_has_hung_up(store, swift):
    listens = True
    told = events(store, "s1", lambda: listens)
    next(told)
    next(told)
    listens = False
    assert list(told) == []


def test_while_it_is_open_the_store_knows_that_someone_watches(store, swift):
    asked = []
    store.ask = lambda run=None: asked.append(run)
    told = events(store, "s1", lambda: True)
    next(told)
    next(told)
    assert asked


def test_a_connection_counts_as_closed_once_the_other_end_closed_it():
    ours, theirs = socket.socketpair()
    with closing(ours):
        assert not stream.hung_up(ours)
        theirs.send(b"more than was asked for")
        assert not stream.hung_up(ours)
        ours.recv(100)
        theirs.close()
        assert stream.hung_up(ours)
    assert stream.hung_up(ours)
    assert not stream.hung_up(None)


def test_a_connection_that_cannot_be_tuned_is_taken_as_it_is():
    ours, theirs = socket.socketpair()  # not TCP
    with closing(ours), closing(theirs):
        stream._tune(ours)
    stream._tune(None)


@pytest.fixture
def tab(tmp_path):
    write_run(tmp_path / "a")
    return Tab(tmp_path)


def opened(tab, method="GET"):
    """Status, headers and parts of a stream, as a server gets them."""
    environ = EnvironBuilder("/stream", method=method).get_environ()
    return run_wsgi_app(tab.apps["/stream"], environ)


def test_the_page_shows_what_is_sent(store, tmp_path, swift):
    (shown,) = re.findall(r"```\nGET stream\n```\n\n```text\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    told = events(store, "5b1f0c6a7d2e9384", lambda: True)
    sent = [next(told)]
    log = begin(tmp_path / "c").append()
    store.look()
    log.table(0, parameters(["w"]), table(1)).append()
    store.look()
    sent += [next(told), next(told)]
    assert shape(b"".join(sent)) == shape(shown.encode())


def shape(text):
    """A stream with all generations and names the same."""
    return re.sub(rb'\d+|(?<=\{)"\w+"(?=: \d)', b"x", text.replace(b"5b1f0c6a7d2e9384", b"id"))


def test_nothing_on_the_way_may_keep_it_or_guess_at_it(tab):
    parts, status, headers = opened(tab)
    with closing(parts):
        assert status == "200 OK"
        assert dict(headers) == {
            "Content-Type": "text/event-stream; charset=utf-8",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-cache",
            "X-Accel-Buffering": "no",
        }
        assert parsed(next(iter(parts)))[0] == "hello"


def test_one_more_than_may_be_is_refused_until_another_ends(tab):
    streams = [opened(tab)[0] for _ in range(MOST_STREAMS)]
    refused = Client(tab.apps["/stream"]).get("/stream")
    assert refused.status_code == 503
    assert refused.json == {"error": "8 browsers listen already, as many as may. This one has to ask again and again."}
    streams.pop().close()
    streams.append(opened(tab)[0])
    for parts in streams:
        parts.close()


def test_who_asks_for_the_head_only_takes_no_place(tab):
    for _ in range(MOST_STREAMS + 1):
        parts, status, _ = opened(tab, "HEAD")
        assert (status, list(parts)) == ("200 OK", [])
        parts.close()


def test_other_methods_are_refused(tab):
    assert Client(tab.apps["/stream"]).post("/stream").status_code == 405
