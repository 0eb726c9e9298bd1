"""The volumes of one event file: followed from the beginning, whatever else lies there."""

import multiprocessing
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zentracer_store.caching.entry import FIRST, Entry, _furthest, _Link, name_of, rows_of
from zentracer_store.caching.volumes import write_volume

LOG = "/runs/a"


@pytest.fixture
def entry(tmp_path):
    return Entry(str(tmp_path), LOG)


def add(entry, end, before=None, rows=5, start=None, log=LOG, name="x"):
    """A volume of the bytes up to `end` that comes after `before`."""
    after = before.key if before else FIRST
    start = (before.end if before else 0) if start is None else start
    key, path = entry.new_path(start, end, after)
    first = rows_of([before] if before else []).get(name, 0)
    columns = [(name, first, np.arange(rows))]
    return write_volume(path, log=log, key=key, after=after, start=start, end=end, columns=columns, head={})


def test_an_entry_has_a_name_of_its_own_that_tells_nothing():
    assert name_of(LOG) == name_of(LOG) != name_of("/runs/b")
    assert len(name_of(LOG)) == 24
    assert "runs" not in name_of("/runs/\udcff")


def test_an_entry_without_directory_is_empty(tmp_path):
    entry = Entry(str(tmp_path / "none"), LOG)
    assert (entry.chain(), entry.reach()) == ([], 0)


def test_the_chain_is_followed_from_the_beginning(entry):
    first = add(entry, 100)
    second = add(entry, 150, first)
    third = add(entry, 400, second)
    assert entry.chain() == [first, second, third]
    assert rows_of(entry.chain()) == {"x": 15}
    assert entry.reach() == 400


def test_of_two_processes_that_wrote_the_one_that_came_further_counts(entry):
    ours, theirs = add(entry, 100), add(entry, 100)
    add(entry, 150, ours)
    longest = add(entry, 200, theirs)
    assert entry.chain() == [theirs, longest]


def test_what_one_process_wrote_never_continues_what_another_wrote(entry):
    add(entry, 100)
    stranger = add(entry, 100)
    os.unlink(stranger.path)
    add(entry, 900, stranger)
    assert entry.reach() == 100
    assert [volume.end for volume in entry.chain()] == [100]


def test_a_volume_that_took_in_others_counts_rather_than_they(entry):
    first = add(entry, 100)
    add(entry, 200, first)
    whole = add(entry, 200, rows=10)
    assert entry.chain() == [whole]


def test_rows_that_were_described_late_are_not_left_out(entry):
    first = add(entry, 100)
    late = add(entry, 100, first)
    assert entry.chain() == [first, late]


def test_names_that_make_more_chains_than_can_be_tried_cost_nothing(entry, tmp_path):
    for number in range(100):
        for zeros in ("", "0"):
            (tmp_path / f"{zeros}{number:x}-{number + 1:x}-{number + 1:x}-{number:x}.arrow").touch()
    assert entry.reach() == 100
    assert entry.chain() == []


def test_names_that_lead_in_a_circle_end(entry, tmp_path):
    first = add(entry, 5)
    for name in ("0-0-0-0", f"5-5-a-{first.key}", "5-5-b-a", "5-5-a-b", f"5-5-{first.key}-b", f"5-3-c-{first.key}"):
        (tmp_path / f"{name}.arrow").touch()
    assert entry.reach() == 5
    assert entry.chain() == [first]


def tried(links):
    """The rank of the best chain, found by trying all."""
    best, chains = (0, 0, 0), [[]]
    while chains:
        chain = chains.pop()
        after, end = (chain[-1].key, chain[-1].end) if chain else (FIRST, 0)
        best = max(best, rank_of(chain))
        chains += [[*chain, one] for one in links if (one.after, one.start) == (after, end)]
    return best


def rank_of(chain):
    return chain[-1].end if chain else 0, sum(one.start == one.end for one in chain), -len(chain)


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 2), st.booleans()), max_size=9))
def test_the_chain_is_as_good_as_trying_all_of_them_finds(made):
    links = []
    for before, size, again in made:
        after, start = (links[before].key, links[before].end) if before < len(links) else (FIRST, 0)
        # Two that end alike under one key: what goes on behind one does so behind the other.
        alike = next((one.key for one in links if again and one.end == start + size and size), None)
        links.append(_Link("", start, start + size, alike or f"{len(links) + 1:x}", after))
    assert rank_of(_furthest(links)) == tried(links)


def test_a_damaged_volume_and_what_comes_after_it_is_left_out(entry):
    first = add(entry, 100)
    second = add(entry, 200, first)
    add(entry, 300, second)
    with open(second.path, "r+b") as file:
        file.truncate(100)
    assert entry.chain() == [first]
    shorter = add(entry, 150, first)
    assert entry.chain() == [first, shorter]


def test_a_volume_of_another_event_file_is_left_out(entry):
    add(entry, 100, log="/runs/b")
    assert entry.chain() == []


def test_a_volume_under_the_name_of_another_is_left_out(entry):
    volume = add(entry, 100)
    os.rename(volume.path, volume.path.replace(volume.key, "abc"))
    assert entry.chain() == []


def test_rows_that_do_not_go_on_where_the_last_ones_ended_are_left_out(entry):
    first = add(entry, 100)
    key, path = entry.new_path(100, 200, first.key)
    columns = [("x", 4, np.arange(5))]
    write_volume(path, log=LOG, key=key, after=first.key, start=100, end=200, columns=columns, head={})
    assert entry.chain() == [first]


def test_columns_that_are_not_named_again_are_a_defect(entry):
    first = add(entry, 100)
    key, path = entry.new_path(100, 200, first.key)
    write_volume(path, log=LOG, key=key, after=first.key, start=100, end=200, columns=[], head={})
    assert entry.chain() == [first]


def test_files_of_others_are_ignored_and_stay(entry, tmp_path):
    for name in ("notes.txt", "0-64-abc.arrow", "x-y-z-0.arrow", "writing"):
        (tmp_path / name).write_text("")
    (tmp_path / "0-64-abc-0.arrow").write_text("not ours inside")
    (tmp_path / "0-64-abd-0.arrow.part").write_text("interrupted")
    volume = add(entry, 50)
    assert entry.chain() == [volume]
    entry.keep_only([volume])
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"notes.txt", "0-64-abc.arrow", "x-y-z-0.arrow", "writing", os.path.basename(volume.path)}


def test_a_lock_is_held_by_one_process_and_ends_with_it(entry):
    with entry.lock("writing") as ours, entry.lock("writing") as again, entry.lock("reading") as other:
        assert (ours, again, other) == (True, False, True)
    with entry.lock("writing") as ours:
        assert ours
    process = multiprocessing.get_context("spawn").Process(target=_hold_and_die, args=(entry,))
    process.start()
    process.join()
    assert process.exitcode == 9
    with entry.lock("writing") as ours:
        assert ours


def _hold_and_die(entry):
    with entry.lock("writing") as ours:
        os._exit(9 if ours else 1)
