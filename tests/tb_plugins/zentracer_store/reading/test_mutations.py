"""Records that are framed well and hold anything: none may fail, whatever it says of names, sizes and types."""

import json

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import zentracer_schema as schema
from tests.logs import parameters, row, table
from zentracer_store import (
    CellsQuery,
    QueryError,
    Store,
    answer_cells,
    facts_of,
    has_loss,
    parse_places,
    sample_of,
    values_at,
)

SPEC = parameters([row("net.w"), row("net.b"), "head"])
CLOCK = schema.TableSpec("clock", "model", schema.CLOCK_COLUMNS, (schema.RowSpec("model"),))
PULSE = schema.TableSpec("pulse", "model", schema.pulse_columns(["a/0"]))
SESSION = {"id": "x", "continues": None, "scopes": {"model": {"start_step": 0, "modules": {"net": "N"}}}}

RECORDS = [
    schema.file_version_event(1.0),
    schema.session_start_event(1.0, 0),
    schema.message_event(1.0, 0, "session", "model", SESSION),
    schema.table_event(2.0, 0, SPEC, table(3), with_spec=True),
    schema.table_event(2.0, 0, CLOCK, np.ones((1, len(CLOCK.columns))), with_spec=True),
    schema.table_event(2.0, 9, PULSE, np.ones((2, len(PULSE.columns))), with_spec=True),
    schema.scalar_event(3.0, 0, {"loss": 0.5}),
    schema.table_event(4.0, 7, SPEC, table(3), with_spec=False),
    schema.session_start_event(5.0, 3),
    schema.table_event(6.0, 3, SPEC, table(3), with_spec=True),
]

JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 70), 1 << 70)
    | st.floats(allow_nan=False)
    | st.sampled_from(
        ["", "float64", "log", "ratio:update_ratio/update_ratio", "ratio:a/b", "none", "status", "x" * 99]
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def read_everything(logdir):
    """Ask all that can be asked of what is there."""
    store = Store(parse_places(str(logdir)))
    store.look()
    catalogue = store.catalogue()
    assert not [oddity.text for oddity in catalogue.oddities if "ZenTracer failed" in oddity.text]
    json.dumps([run.last_wall for run in catalogue.runs], allow_nan=False)
    for run in catalogue.runs:
        for scope in store.scopes(run.name)[1]:
            json.dumps(facts_of(scope.chain, scope.timeline), allow_nan=False)
            has_loss(scope.chain)
            assert scope.planned is None or isinstance(scope.planned, int)
            values_at(scope.timeline, "update_ratio", 5)
            sample_of(scope.timeline, 0, 5)
            for column in [column.name for column in scope.timeline.columns][:25]:
                for folded in ((), ("net",)):
                    try:
                        answer = answer_cells(scope.timeline, CellsQuery(column, width=7, folded=folded))
                    except QueryError:
                        continue
                    json.dumps(answer.facts, allow_nan=False)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, len(RECORDS) - 1), st.data())
def test_flipped_bytes_inside_a_record(tmp_path_factory, number, data):
    payload = bytearray(RECORDS[number])
    for _ in range(data.draw(st.integers(1, 4))):
        payload[data.draw(st.integers(0, len(payload) - 1))] = data.draw(st.integers(0, 255))
    logdir = tmp_path_factory.mktemp("runs")
    records = [*RECORDS[:number], bytes(payload), *RECORDS[number + 1 :]]
    (logdir / "tfevents").write_bytes(b"".join(map(schema.frame, records)))
    read_everything(logdir)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(["columns", "rows", "column", "row", "session", "scope", "spec"]),
    st.sampled_from(["name", "shape", "dtype", "fold", "scale", "length", "module", "id", "continues", "scopes"]),
    st.sampled_from(["start_step", "modules", "optimizers", "planned_steps", "model", "kind", "optimizer", "healthy"]),
    JUNK,
)
def test_descriptions_and_session_records_that_say_anything(tmp_path_factory, where, one, other, junk):
    spec, session = json.loads(SPEC.json), json.loads(json.dumps(SESSION))
    match where:
        case "columns" | "rows":
            spec[where] = junk
        case "column":
            spec["columns"][17][one] = junk
        case "row":
            spec["rows"][0][one] = junk
        case "spec":
            spec[other] = junk
        case "session":
            session[one] = junk
        case "scope":
            session["scopes"]["model"][other] = junk
    tables = []
    for number in (3, 7, 9):
        event = schema.Event.FromString(RECORDS[number])
        event.summary.value[0].metadata.plugin_data.content = json.dumps(spec).encode()
        tables.append(event.SerializeToString())
    records = [schema.message_event(1.0, 0, "session", "model", session), *RECORDS[4:6], *tables]
    logdir = tmp_path_factory.mktemp("runs")
    (logdir / "tfevents").write_bytes(b"".join(map(schema.frame, records)))
    read_everything(logdir)
