"""To which step a logged value belongs."""

from hypothesis import given
from hypothesis import strategies as st

from zentracer.ledger import Ledger

LOSS = (None, "loss")


def written(events):
    """Step -> logged values, for a list of "forward", "update", "skip" and numbers to log."""
    ledger, found, step = Ledger(), [], 0
    for event in events:
        match event:
            case "forward":
                ledger.forward()
            case "update":
                found.append(ledger.update(step, 0.0, f"pulse {step}"))
                step += 1
            case "skip":
                found += ledger.skip(step, 0.0, f"skipped {step}")
            case number:
                ledger.log({LOSS: number})
    found += ledger.close(step, 0.0)
    return [(entry.step, entry.pulse, entry.values.get(LOSS)) for entry in found if entry]


def test_a_value_logged_before_the_update_belongs_to_it():
    assert written(["forward", 1, "update", "forward", 2, "update"]) == [(0, "pulse 0", 1), (1, "pulse 1", 2)]


def test_a_value_logged_after_the_update_belongs_to_it_too():
    assert written(["forward", "update", 1, "forward", "update", 2]) == [(0, "pulse 0", 1), (1, "pulse 1", 2)]


def test_the_last_value_of_a_step_wins():
    assert written(["forward", 1, 2, "update", 3]) == [(0, "pulse 0", 3)]


def test_micro_batches_belong_to_the_update_they_accumulate_for():
    assert written(["forward", 1, "forward", 2, "update"]) == [(0, "pulse 0", 2)]


def test_a_value_before_all_training_belongs_to_the_first_step():
    assert written([5, "forward", "update"]) == [(0, "pulse 0", 5)]


def test_a_value_that_no_update_follows_is_written_at_the_end():
    assert written(["forward", "update", "forward", 7]) == [(0, "pulse 0", None), (1, None, 7)]


def test_values_of_a_skipped_update_stay_with_the_one_that_is_made():
    events = ["forward", "update", "forward", 1, "skip", "forward", 2, "update"]
    assert written(events) == [(0, "pulse 0", None), (1, "skipped 1", 1), (1, "pulse 1", 2)]


def test_two_updates_of_one_step_are_one_entry():
    ledger = Ledger()
    ledger.log({LOSS: 1})
    assert ledger.update(4, 0.0, "a") is None
    ledger.log({("train", "accuracy"): 2})
    assert ledger.update(4, 1.0, "b") is None
    entry = ledger.update(5, 2.0, "c")
    assert (entry.step, entry.pulse, entry.values) == (4, "b", {LOSS: 1, ("train", "accuracy"): 2})


@given(st.lists(st.sampled_from(["forward", "update", "skip", 1, 2, 3])))
def test_every_update_and_skip_comes_out_once_and_in_order(events):
    found = written(events)
    pulses = [pulse for _, pulse, _ in found if pulse]
    step, expected = 0, []
    for event in events:
        if event == "update":
            expected.append(f"pulse {step}")
            step += 1
        elif event == "skip":
            expected.append(f"skipped {step}")
    assert pulses == expected
    assert [entry[0] for entry in found] == sorted(entry[0] for entry in found)
