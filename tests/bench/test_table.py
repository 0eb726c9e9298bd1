"""The README's table says what was measured, a missed mark among it."""

import pytest

from bench.table import BEGIN, END, number, replaced, rows

FIGURE = {"name": "writer_torch.gpt.default", "unit": "%", "runs": 5, "machine": "2 cores"}


def test_a_mark_that_was_met_says_so():
    assert "| torch, gpt: default settings | 1.5 % | ≤ 2 | met |  |" in rows([{**FIGURE, "value": 1.5}])


def test_a_missed_mark_is_written_down_as_missed():
    assert "| torch, gpt: default settings | 2.5 % | ≤ 2 | **missed** |  |" in rows([{**FIGURE, "value": 2.5}])


def test_a_mark_from_below_is_met_from_there_up():
    figure = {**FIGURE, "name": "writer_torch.gpt.default_records_per_1000", "unit": "records"}
    assert any("20 records | ≥ 20 | met" in row for row in rows([{**figure, "value": 20}]))


def test_a_rival_stands_beside_ours_in_the_same_unit():
    figure = {**FIGURE, "value": 1, "rival": "TensorBoard histograms", "rival_value": 220}
    assert any("| TensorBoard histograms: 220 % |" in row for row in rows([figure]))


def test_a_mark_may_also_be_a_share_of_the_rivals_figure():
    figure = {**FIGURE, "name": "writer_torch.gpt.every_step", "value": 9, "rival": "histograms"}
    assert any("| ≤ 10, ≤ 0.25 × rival | met |" in row for row in rows([{**figure, "rival_value": 36}]))
    assert any("| **missed** | histograms: 35 % |" in row for row in rows([{**figure, "rival_value": 35}]))


def test_the_machine_is_named():
    assert rows([{**FIGURE, "value": 1}])[-1].endswith("on 2 cores.")


def test_a_figure_without_an_entry_stays_out_of_the_table():
    assert len(rows([{**FIGURE, "name": "something.else", "value": 1}])) == len(rows([{**FIGURE, "value": 1}])) - 1


@pytest.mark.parametrize(
    ("value", "text"), [(0.01234, "0.0123"), (3.14159, "3.14"), (123.6, "124"), (12345.0, "12,345")]
)
def test_three_significant_digits_without_exponent(value, text):
    assert number(value) == text


def test_the_table_goes_between_its_markers_and_the_rest_stays():
    text = f"before\n{BEGIN}\nold\n{END}\nafter"
    assert replaced(text, ["a", "b"]) == f"before\n{BEGIN}\na\nb\n{END}\nafter"
    assert replaced(replaced(text, ["a", "b"]), ["a", "b"]) == replaced(text, ["a", "b"])


def test_without_markers_it_says_which_are_needed():
    with pytest.raises(SystemExit, match=f"needs the lines {BEGIN} and {END}"):
        replaced("nothing", [])
