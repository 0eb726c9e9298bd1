"""Tags name scope, kind and description, and refuse names that would make them ambiguous."""

import pytest

import zentracer_schema as schema


def test_a_tag_parses_into_what_it_was_made_of():
    tag = schema.table_tag("actor-1.0_x", "parameters", "0123abcd")
    assert tag == "zentracer/actor-1.0_x/parameters/0123abcd"
    assert schema.parse_tag(tag) == ("actor-1.0_x", "parameters", "0123abcd")


@pytest.mark.parametrize(
    "tag", ["loss", "zentracer/model/metrics/loss", "zentracer/model/parameters/0123ABCD", "zentracer/m/novel/0123abcd"]
)
def test_other_tags_are_nobodys_table(tag):
    assert schema.parse_tag(tag) is None


def test_metrics_have_their_split_in_the_middle():
    assert schema.metric_tag("model", "loss", "train") == "zentracer/model/metrics/train/loss"
    assert schema.metric_tag("model", "loss") == "zentracer/model/metrics/loss"
    assert schema.scalar_tag("model", "update_ratio") == "zentracer/model/update_ratio"


@pytest.mark.parametrize("name", ["", "a/b", "a b", "x" * 65, "ä", 3, None])
def test_a_bad_scope_name_is_told_with_its_value(name):
    with pytest.raises(ValueError, match="Scope names hold 1 to 64") as told:
        schema.check_scope(name)
    assert repr(name) in str(told.value)


@pytest.mark.parametrize("name", ["metrics", "parameters", "pulse"])
def test_a_reserved_scope_name_is_told(name):
    with pytest.raises(ValueError, match=f"The scope name '{name}' is taken by the file format"):
        schema.check_scope(name)
