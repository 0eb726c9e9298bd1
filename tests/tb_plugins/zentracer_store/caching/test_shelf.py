"""The shelf: within its budget blocks are read once, beyond it those used longest ago are read again."""

import gc
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zentracer_store.caching.shelf import Shelf
from zentracer_store.contents.growing import Lost


class Disk:
    """Blocks of 100 bytes whose reads are counted."""

    def __init__(self, shelf):
        self.shelf = shelf
        self.reads = []

    def block(self, number, rows=100):
        def read():
            self.reads.append(number)
            return np.full(rows, number, np.uint8)

        return self.shelf.place(rows, read)


def test_a_block_is_read_when_it_is_first_used_and_not_again():
    disk = Disk(Shelf(1000))
    block = disk.block(7)
    assert (len(block), disk.reads) == (100, [])
    assert block.values().tolist() == [7] * 100
    assert block.values() is block.values()
    assert disk.reads == [7]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 8), max_size=60))
def test_what_is_kept_are_the_blocks_used_last(uses):
    disk = Disk(Shelf(350))
    blocks = [disk.block(number) for number in range(9)]
    kept, reads = [], []
    for number in uses:
        if number in kept:
            kept.remove(number)
        else:
            reads.append(number)
        kept = [*kept, number][-3:]
        assert blocks[number].values()[0] == number
        assert disk.shelf.bytes == 100 * len(kept)
    assert disk.reads == reads


def test_a_block_over_the_whole_budget_is_read_every_time_and_drives_nothing_out():
    disk = Disk(Shelf(350))
    small, large = disk.block(1), disk.block(2, rows=400)
    for block in (small, large, large, small):
        block.values()
    assert disk.reads == [1, 2, 2]


def test_blocks_that_are_no_more_make_room_first():
    disk = Disk(Shelf(350))
    kept, dropped = disk.block(1), [disk.block(2), disk.block(3)]
    for block in (kept, *dropped):
        block.values()
    del block, dropped
    gc.collect()
    others = [disk.block(4), disk.block(5)]
    for block in others:
        block.values()
    kept.values()
    assert disk.reads == [1, 2, 3, 4, 5]


def test_a_block_that_is_lost_says_so_every_time():
    def read():
        raise Lost("gone")

    block = Shelf().place(3, read)
    for _ in range(2):
        with pytest.raises(Lost, match="gone"):
            block.values()


def test_many_threads_stay_within_the_budget():
    disk = Disk(Shelf(350))
    blocks = [disk.block(number) for number in range(20)]
    wrong = []

    def use(seed):
        for number in np.random.default_rng(seed).integers(0, 20, 300):
            if blocks[number].values()[0] != number:
                wrong.append(number)

    threads = [threading.Thread(target=use, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert disk.shelf.bytes <= 350
    assert sum(block._kept is not None for block in blocks) <= 3
