"""A description round-trips, hashes the same for ever, and refuses what it cannot mean."""

import contextlib
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import zentracer_schema as schema
from zentracer_schema import ColumnSpec, FormatError, NewerFormatError, RowSpec, TableSpec

NAMES = st.text(min_size=1, max_size=20)
COLUMNS = st.builds(
    ColumnSpec,
    name=NAMES,
    unit=st.text(max_size=5),
    dtype=st.sampled_from(["float32", "float64", "float16", "uint32", "uint8"]),
    length=st.integers(1, 300),
    scale=st.sampled_from(["linear", "log"]),
    error=st.floats(0, 1),
    fold=st.sampled_from(["none", "sum", "pooled_std", "root_sum_squares"]),
    healthy=st.none() | st.floats(-1e9, 1e9),
)
ROWS = st.builds(
    RowSpec,
    name=NAMES,
    aliases=st.lists(NAMES, max_size=2).map(tuple),
    class_name=NAMES,
    shape=st.lists(st.integers(0, 10**6), max_size=4).map(tuple),
    trainable=st.booleans(),
    group=st.integers(0, 9),
)
SPECS = st.builds(
    TableSpec,
    kind=st.sampled_from(sorted(schema.KINDS)),
    scope=st.from_regex(r"\A[A-Z][A-Za-z0-9_.-]{0,10}\Z"),
    columns=st.lists(COLUMNS, min_size=1, max_size=5, unique_by=lambda c: c.name).map(tuple),
    rows=st.none() | st.lists(ROWS, max_size=5).map(tuple),
    optimizer=st.text(max_size=5),
)

SPEC = TableSpec(
    kind="parameters",
    scope="model",
    columns=(ColumnSpec("weight_norm", scale="log", fold="root_sum_squares"), ColumnSpec("status", unit="bits")),
    rows=(RowSpec("conv.weight", shape=(8, 3, 3, 3)), RowSpec("conv.bias", shape=(8,), trainable=False)),
    optimizer="adam",
)


@given(SPECS)
def test_a_description_reads_back_equal(spec):
    assert TableSpec.from_json(spec.json) == spec


@given(SPECS)
def test_the_json_is_sorted_and_without_spaces(spec):
    again = json.dumps(json.loads(spec.json), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert again.encode("utf-8", "backslashreplace") == spec.json


def test_the_hash_of_a_known_description_never_changes():
    expected = (
        b'{"columns":[{"fold":"root_sum_squares","name":"weight_norm","scale":"log"},{"name":"status","unit":"bits"}],'
        b'"format":1,"kind":"parameters","optimizer":"adam","rows":[{"name":"conv.weight","shape":[8,3,3,3]},'
        b'{"name":"conv.bias","shape":[8],"trainable":false}],"scope":"model"}'
    )
    assert expected == SPEC.json
    assert SPEC.tag == "zentracer/model/parameters/de5d5fdd"


def test_another_row_set_is_another_tag():
    assert replace(SPEC, rows=SPEC.rows[:1]).tag != SPEC.tag
    assert replace(SPEC, optimizer="sgd").tag != SPEC.tag


def test_a_row_knows_its_size():
    assert [row.size for row in SPEC.rows] == [216, 8]
    assert RowSpec("scalar").size == 1


def test_a_newer_format_is_told_with_both_versions():
    content = json.dumps(json.loads(SPEC.json) | {"format": 7}).encode()
    with pytest.raises(NewerFormatError, match=r"Written in format 7, this version reads up to 1: upgrade zentracer"):
        TableSpec.from_json(content)


def test_fields_of_a_later_release_are_passed_over():
    data = json.loads(SPEC.json)
    data["columns"][0]["colour"] = "green"
    data["rows"][0]["added"] = 1
    assert TableSpec.from_json(json.dumps(data).encode()) == SPEC


def damage(change):
    data = json.loads(SPEC.json)
    change(data)
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"null",
        b'{"format":1}',
        b'{"format":"1"}',
        b'{"format":' + b"[" * 100_000,
        damage(lambda d: d.update(scope="no/slash")),
        damage(lambda d: d.update(scope=3)),
        damage(lambda d: d["columns"][0].update(name=3)),
        damage(lambda d: d["columns"][0].pop("name")),
        damage(lambda d: d["columns"][0].update(dtype="object")),
        damage(lambda d: d["columns"][0].update(length=0)),
        damage(lambda d: d["columns"][0].update(length=10**12)),
        damage(lambda d: d["columns"][0].update(fold="average")),
        damage(lambda d: d["columns"][0].update(healthy=float("nan"))),
        damage(lambda d: d["columns"][0].update(error=float("inf"))),
        damage(lambda d: d["columns"][0].update(healthy=10**400)),
        damage(lambda d: d["columns"][0].update(fold="ratio:weight_norm/nowhere")),
        damage(lambda d: d["columns"][1].update(name="weight_norm")),
        damage(lambda d: d["rows"][0].update(shape=[-1])),
        damage(lambda d: d["rows"][0].update(shape=["1"])),
        damage(lambda d: d["rows"][0].update(shape=5)),
        damage(lambda d: d["rows"][0].update(aliases=[1])),
        damage(lambda d: d.update(rows=[3])),
    ],
)
def test_what_is_no_description_is_a_format_error(content):
    with pytest.raises(FormatError):
        TableSpec.from_json(content)


@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["format", "kind", "scope", "columns", "rows", "name", "shape"]), inner)
        ),
    ).map(lambda value: json.dumps(value).encode())
)
def test_no_bytes_make_it_fail_otherwise(content):
    with contextlib.suppress(FormatError):
        TableSpec.from_json(content)


def test_the_canonical_columns_name_existing_columns_in_their_ratios():
    spec = TableSpec("parameters", "model", schema.PARAMETER_COLUMNS, ())
    assert TableSpec.from_json(spec.json) == spec
    clock = TableSpec("clock", "model", schema.CLOCK_COLUMNS)
    assert TableSpec.from_json(clock.json) == clock
    pulse = TableSpec("pulse", "model", schema.pulse_columns(["adam/0", "adam/1"]))
    assert TableSpec.from_json(pulse.json) == pulse
    assert pulse.columns[-1].name == "learning_rate/adam/1"
