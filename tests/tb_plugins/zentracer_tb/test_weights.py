"""The routes of the Weights tab, asked through WSGI on real files."""

import argparse
import gzip
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tensorboard.plugins.base_plugin import TBContext
from werkzeug.test import Client

import zentracer_schema as schema
from tests.logs import WALL, Log, begin, parameters, row, table, write_run, write_scalars
from tests.tb_plugins.zentracer_tb.reading import unpack
from zentracer_store import ARRAYS
from zentracer_tb import http
from zentracer_tb.weights import WeightsPlugin


class Tab:
    """The tab over a log directory, read as far as it goes."""

    def __init__(self, logdir, **more):
        flags = argparse.Namespace(logdir=str(logdir), logdir_spec="", grpc_data_provider="")
        self.plugin = WeightsPlugin(TBContext(logdir=str(logdir), flags=flags), **more)
        self.store = self.plugin._store
        self.store.ask = lambda run=None: None  # tests look themselves
        self.store.look()
        self.apps = self.plugin.get_plugin_apps()

    def ask(self, path, method="GET", **headers):
        name = path.partition("?")[0]
        app = self.apps.get(name) or self.apps["/static/*"]
        return Client(app).open(path, method=method, headers={k.replace("_", "-"): v for k, v in headers.items()})


@pytest.fixture
def tab(tmp_path):
    write_run(tmp_path / "a", steps=range(0, 100, 10), rows=["net.w", "net.b", "head.w"], update_ratio=[1, 2, 3])
    write_scalars(tmp_path / "plain", {"loss": [1.0, 2.0]})
    return Tab(tmp_path)


def test_the_tab_is_always_active_and_named_weights(tab, tmp_path):
    assert tab.plugin.is_active()
    assert tab.plugin.frontend_metadata().tab_name == "Weights"
    assert Tab(tmp_path / "nothing").plugin.is_active()
    assert {schema.KINDS[name].plugin_name for name in ("parameters", "clock", "pulse", "session")} == set(
        tab.plugin.data_plugin_names()
    )


def test_runs_lists_runs_with_their_state(tab, tmp_path):
    answer = tab.ask("/runs")
    content = answer.json
    assert (answer.status_code, answer.content_type) == (200, "application/json")
    assert (content["format"], content["logdir"], content["problem"]) == (1, str(tmp_path), None)
    assert [(r["name"], r["state"], r["tables"], r["nan"], r["last_step"], r["error"]) for r in content["runs"]] == [
        ("a", "live", True, False, 90, None),
        ("plain", "live", False, False, 1, None),
    ]
    assert content["found"]["scalar_tags"] == 1
    assert content["progress"]["done"]
    assert content["oddities"] == []
    assert content["looks_again_s"] == 2


def test_run_describes_its_models(tab):
    (scope,) = tab.ask("/run?run=a").json["scopes"]
    assert scope["name"] == "model"
    assert [one["name"] for one in scope["rows"]] == ["net.w", "net.b", "head.w"]
    assert scope["rows"][0] == {
        "name": "net.w",
        "aliases": [],
        "class": "Linear",
        "module": "net",
        "shape": [4],
        "dtype": "float32",
        "layout": "",
        "trainable": True,
        "optimizer": "",
        "group": 0,
        "size": 4,
    }
    ratio = next(column for column in scope["columns"] if column["name"] == "update_ratio")
    assert (ratio["label"], ratio["scale"], ratio["healthy"]) == ("Update ratio", "log", 1e-3)
    assert ratio["fold"] == "ratio:update_norm/weight_norm"
    assert scope["steps"] == {"first": 0, "last": 90, "count": 10}
    assert (scope["end"], scope["planned"], scope["loss"]) == (100, None, False)
    assert [(one["id"], one["start_step"]) for one in scope["sessions"]] == [(None, 0)]
    assert scope["modules"] == {"net": "Linear", "head": "Linear"}
    assert ["Model", "3 tensors"] in scope["facts"]


def test_a_run_without_tables_has_no_scopes(tab):
    assert tab.ask("/run?run=plain").json["scopes"] == []


def test_cells_answers_arrays_as_its_header_says(tab):
    answer = tab.ask("/cells?run=a&scope=model&column=update_ratio&width=50&fold=net")
    assert answer.content_type == "application/octet-stream"
    header, arrays = unpack(answer.data)
    assert (header["run"], header["scope"], header["column"], header["scale"]) == ("a", "model", "update_ratio", "log")
    assert [one["name"] for one in header["arrays"]] == ["edges", *ARRAYS]
    assert [(node["path"], node["leaf"], node["leaves"]) for node in header["nodes"]] == [
        ("net", False, 2),
        ("head.w", True, 1),
    ]
    assert [line["stratum"] for line in header["rows"]] == ["fold", "smallest", "median", "largest", "value"]
    assert arrays["edges"].tolist() == list(range(0, 101, 10))
    assert arrays["max"][:, 0].tolist() == pytest.approx([1, 1, 1, 2, 3])
    assert arrays["mean"].dtype == np.float32
    assert arrays["status"].dtype == np.uint8
    assert all(arrays[name].shape == (5, 10) for name in ARRAYS)
    assert (header["from"], header["to"], header["last"], header["samples"]) == (0, 100, 90, 10)


def test_folds_may_have_any_characters(tmp_path):
    name = "a,b %/c"
    write_run(tmp_path / "a", rows=[row("x", module=name), row("y", module=name)])
    answer = Tab(tmp_path).ask("/cells?run=a&column=update_ratio&fold=a%252Cb%2520%2525%252Fc")
    assert [node["path"] for node in unpack(answer.data)[0]["nodes"]] == [name]


def test_without_a_scope_the_first_is_meant(tab):
    assert tab.ask("/cells?run=a&column=update_ratio").status_code == 200


def test_at_answers_each_row_with_words_for_what_json_lacks(tmp_path):
    write_run(tmp_path / "a", rows=["u", "v", "w", "x"], update_ratio=[0.5, math.nan, math.inf, -math.inf])
    tab = Tab(tmp_path)
    assert tab.ask("/at?run=a&scope=model&column=update_ratio&step=3.7").json == {
        "step": 3,
        "values": [0.5, "NaN", "Infinity", "-Infinity"],
        "status": [1, 1, 1, 1],
    }
    assert tab.ask("/at?run=a&scope=model&column=update_ratio&step=-1").json["values"] == [None] * 4


def test_sample_answers_every_column_of_a_row(tab):
    content = tab.ask("/sample?run=a&scope=model&row=net.b&step=15").json
    assert (content["step"], content["next_step"], content["status"]) == (10, 20, 1)
    assert content["values"]["update_ratio"] == 2
    assert len(content["values"]) == len(schema.PARAMETER_COLUMNS) - 1


def test_steps_answers_all_recorded_steps(tab):
    header, arrays = unpack(tab.ask("/steps?run=a&scope=model").data)
    assert header["run"] == "a"
    assert arrays["steps"].tolist() == list(range(0, 100, 10))
    assert (np.diff(arrays["wall"]) == 1).all()
    assert arrays["session"].tolist() == [0] * 10


@pytest.mark.parametrize(
    ("path", "code", "sentence"),
    [
        ("/run", 400, "The request needs 'run'."),
        ("/run?run=b", 404, "There is no run 'b' in LOGDIR."),
        ("/run?run=../a", 404, "There is no run '../a' in LOGDIR."),
        ("/run?run=/etc/passwd", 404, "There is no run '/etc/passwd' in LOGDIR."),
        ("/cells?run=a", 400, "The request needs 'column'."),
        ("/cells?run=plain&column=x", 404, "Run 'plain' has no parameter tables yet."),
        ("/cells?run=a&scope=gan&column=x", 404, "Run 'a' has no scope 'gan'. There are model."),
        ("/cells?run=a&column=update_ratio&width=0", 400, "'width' must be a whole number from 1 to 8,192, got '0'."),
        ("/cells?run=a&column=update_ratio&width=-5", 400, "'width' must be a whole number from 1 to 8,192, got '-5'."),
        (
            "/cells?run=a&column=update_ratio&width=NaN",
            400,
            "'width' must be a whole number from 1 to 8,192, got 'NaN'.",
        ),
        (
            "/cells?run=a&column=update_ratio&width=1e3",
            400,
            "'width' must be a whole number from 1 to 8,192, got '1e3'.",
        ),
        ("/cells?run=a&column=update_ratio&width=²", 400, "'width' must be a whole number from 1 to 8,192, got '²'."),
        (
            "/cells?run=a&column=update_ratio&height=8193",
            400,
            "'height' must be a whole number from 1 to 8,192, got '8193'.",
        ),
        ("/cells?run=a&column=update_ratio&from=NaN", 400, "'from' must be a number of at most 2^53, got 'NaN'."),
        ("/cells?run=a&column=update_ratio&to=inf", 400, "'to' must be a number of at most 2^53, got 'inf'."),
        ("/cells?run=a&column=update_ratio&to=1e300", 400, "'to' must be a number of at most 2^53, got '1e300'."),
        ("/cells?run=a&column=update_ratio&from=x", 400, "'from' must be a number of at most 2^53, got 'x'."),
        (
            "/cells?run=a&column=update_ratio&from=9&to=3",
            400,
            "The window from step 9 to step 3 is empty. Ask for 'from' below 'to'.",
        ),
        ("/at?run=a&column=update_ratio", 400, "The request needs 'step'."),
        ("/at?run=a&column=x&step=1", 404, "No column 'x' is recorded in scope 'model'."),
        ("/sample?run=a&row=x&step=1", 404, "There is no row 'x' in scope 'model'."),
        ("/sample?run=a&row=net.w&step=1000", 404, "Nothing of 'net.w' is recorded at step 1000."),
        ("/static/none.js", 404, "There is no file 'none.js' here."),
        ("/static/%00.js", 404, "There is no file '\\x00.js' here."),
        (f"/static/{'a' * 300}.js", 404, f"There is no file '{'a' * 100}' here."),
        ("/static/../weights.py", 404, "There is no file '../weights.py' here."),
    ],
)
def test_a_bad_request_is_answered_with_a_sentence(tab, tmp_path, path, code, sentence):
    answer = tab.ask(path)
    assert (answer.status_code, answer.json) == (code, {"error": sentence.replace("LOGDIR", str(tmp_path))})
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_a_column_that_is_not_recorded_is_refused_with_those_that_are(tab):
    answer = tab.ask("/cells?run=a&column=x")
    assert answer.status_code == 400
    assert answer.json["error"].startswith("No column 'x' is recorded. There are weight_norm, ")


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["/runs", "/run", "/cells", "/at", "/sample", "/steps"]),
    st.dictionaries(
        st.sampled_from(["run", "scope", "column", "row", "step", "from", "to", "width", "height", "fold", "axis"]),
        st.one_of(
            st.sampled_from(["a", "model", "update_ratio", "net.w", "0", "5", "1e3", "-3", "net"]),
            st.text(max_size=20),
        ),
    ),
)
def test_no_request_makes_the_server_fail(odd_tab, route, query):
    answer = Client(odd_tab.apps[route]).get(route, query_string=query)
    assert answer.status_code in (200, 400, 404)


@pytest.fixture(scope="module")
def odd_tab(tmp_path_factory):
    logdir = tmp_path_factory.mktemp("runs")
    write_run(logdir / "a", rows=["net.w", "net.b"])
    return Tab(logdir)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_only_get_and_head_are_allowed(tab, method):
    for path in tab.apps:
        answer = tab.ask(path, method=method)
        assert answer.status_code == 405
        assert answer.headers["Allow"] == "GET, HEAD"
        assert answer.json == {"error": f"{method} is not allowed here. Use GET."}


def test_head_answers_the_headers_of_get(tab):
    got, head = tab.ask("/steps?run=a"), tab.ask("/steps?run=a", method="HEAD")
    assert head.data == b""
    assert dict(head.headers) == dict(got.headers)


@pytest.mark.parametrize(
    "path",
    [
        "/runs",
        "/run?run=a",
        "/cells?run=a&column=update_ratio",
        "/at?run=a&column=update_ratio&step=3",
        "/sample?run=a&row=net.w&step=3",
        "/steps?run=a",
    ],
)
def test_what_the_client_has_already_is_not_sent_again(tab, tmp_path, path):
    first = tab.ask(path)
    again = tab.ask(path, If_None_Match=first.headers["ETag"])
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    begin(tmp_path / "a", "events.out.tfevents.2.host.2.0", start=100).table(
        100, parameters(["net.w", "net.b", "head.w"]), table(3)
    ).append()
    tab.store.look()
    fresh = tab.ask(path, If_None_Match=first.headers["ETag"])
    assert fresh.status_code == 200
    assert fresh.headers["ETag"] != first.headers["ETag"]


def test_a_run_that_did_not_change_is_not_sent_again_though_another_did(tab, tmp_path):
    tag = tab.ask("/run?run=a").headers["ETag"]
    write_run(tmp_path / "b")
    tab.store.look()
    assert tab.ask("/run?run=a", If_None_Match=tag).status_code == 304


def test_a_defect_of_ours_is_told_as_a_sentence_and_logged(tab, monkeypatch, caplog):
    monkeypatch.setattr("zentracer_tb.weights.answer_cells", lambda *_, **__: 1 / 0)
    answer = tab.ask("/cells?run=a&column=update_ratio")
    assert answer.status_code == 500
    assert answer.json == {"error": "The server failed on this request (ZeroDivisionError). Its log says more."}
    assert [record.exc_info[0] for record in caplog.records] == [ZeroDivisionError]


def test_oddities_travel_with_file_and_offset(tmp_path):
    path = write_run(tmp_path / "a")
    size = path.stat().st_size
    with open(path, "ab") as file:
        file.write(b"no record, no record")
    (oddity,) = Tab(tmp_path).ask("/runs").json["oddities"]
    assert (oddity["run"], oddity["file"], oddity["offset"]) == ("a", f"a/zentracer/{path.name}", size)


def test_names_from_logs_stay_data(tmp_path):
    write_run(tmp_path / "<script>alert(1)</script>"[:8], rows=[row("<b>.w", module="<b>")])
    answer = Tab(tmp_path).ask("/run?run=%3Cscript%3E")
    assert answer.content_type == "application/json"
    assert answer.json["scopes"][0]["rows"][0]["name"] == "<b>.w"


def static(tmp_path, **files):
    folder = tmp_path / "static"
    folder.mkdir()
    for name, content in files.items():
        (folder / name.replace("__", "-").replace("_", ".")).write_bytes(content)
    return folder


def test_the_entry_is_the_one_in_the_manifest_even_when_it_is_built_anew(tmp_path):
    folder = static(tmp_path, manifest_json=b'{"weights": "weights-A.js"}', weights__A_js=b"", weights__B_js=b"")
    tab = Tab(tmp_path, static=folder)
    assert tab.plugin.frontend_metadata().es_module_path == "/static/weights-A.js"
    (folder / "manifest.json").write_text('{"weights": "weights-B.js"}')
    assert tab.plugin.frontend_metadata().es_module_path == "/static/weights-B.js"


@pytest.mark.parametrize("manifest", [None, b"", b"{}", b"[]", b'{"weights": 7}', b'{"weights": "none.js"}'])
def test_without_built_pages_the_tab_says_how_to_build_them(tmp_path, manifest):
    folder = static(tmp_path, **({} if manifest is None else {"manifest_json": manifest}))
    tab = Tab(tmp_path, static=folder)
    path = tab.plugin.frontend_metadata().es_module_path
    answer = tab.ask(path)
    assert answer.content_type == "text/javascript; charset=utf-8"
    assert "export function render()" in answer.text
    assert "npm ci && npm run build" in answer.text


def test_hashed_files_may_be_kept_and_come_compressed(tmp_path):
    folder = static(
        tmp_path, weights__AAAA_js=b"let a;", weights__AAAA_js_gz=gzip.compress(b"let a;"), manifest_json=b"{}"
    )
    tab = Tab(tmp_path, static=folder)
    plain = tab.ask("/static/weights-AAAA.js")
    assert (plain.data, plain.headers.get("Content-Encoding")) == (b"let a;", None)
    packed = tab.ask("/static/weights-AAAA.js", Accept_Encoding="gzip, br")
    assert gzip.decompress(packed.data) == b"let a;"
    assert packed.headers["Content-Encoding"] == "gzip"
    for answer in (plain, packed):
        assert answer.content_type == "text/javascript; charset=utf-8"
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert tab.ask("/static/manifest.json").headers["Cache-Control"] == "no-cache"


def test_only_files_of_the_built_pages_are_served(tmp_path):
    folder = static(tmp_path, weights__A_js=b"", secret_txt=b"")
    (tmp_path / "outside.js").write_text("")
    (folder / "link.js").symlink_to(tmp_path / "outside.js")
    tab = Tab(tmp_path, static=folder)
    for name in ("secret.txt", "link.js", "../outside.js", "%2e%2e/outside.js", "", "."):
        assert tab.ask(f"/static/{name}").status_code == 404


def test_pack_sends_an_array_that_stands_under_two_names_once():
    zeros = np.zeros((3, 5), np.uint8)
    header, arrays = unpack(b"".join(http.pack({"a": 1}, {"x": zeros, "y": zeros, "z": np.arange(3.0)})))
    offsets = {one["name"]: one["offset"] for one in header["arrays"]}
    assert offsets == {"x": 0, "y": 0, "z": 16}
    assert arrays["z"].tolist() == [0, 1, 2]
    assert json.loads(json.dumps(header))["a"] == 1


def test_the_sessions_of_other_writers_are_told(tmp_path):
    for number in range(3):
        log = Log(tmp_path / f"a/events.out.tfevents.{number}.host.1.0", WALL + 100 * number).version()
        for step in range(10):
            log.wall += 1
            log.scalars(step, loss=number)
        log.append()
    write_scalars(tmp_path / "b", {"loss": [1.0, 2.0]})
    tab = Tab(tmp_path)
    ((first, second, third),) = tab.ask("/run?run=a").json["sessions"]
    assert [session["offset"] for session in (first, second, third)] == [None, 10, 20]
    assert first["overwritten"] == {"from": 0, "to": 9, "samples": 10}
    assert tab.ask("/run?run=b").json["sessions"] == []
