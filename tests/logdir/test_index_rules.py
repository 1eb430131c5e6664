"""Tests of the rules by which recovery adds entries to indexes."""

import random

import numpy as np
import pytest

from magicbyte.logdir.index_rules import due_entries, running_maximum


@pytest.mark.parametrize("interval", [0, 10, 100, 1000, 10**6])
def test_batch_gets_an_index_entry_if_it_is_further_from_the_last_one_than_the_interval(
    interval: int,
) -> None:
    chance = random.Random(interval)
    positions = [0]
    for _ in range(200):
        positions.append(positions[-1] + chance.choice([61, 70, 200, 5000]))
    due, last = [], 0
    for number, position in enumerate(positions):
        if position - last > interval:
            due.append(number)
            last = position
    assert due_entries(np.array(positions), 0, interval).tolist() == due


def test_offset_of_the_maximum_is_that_of_the_first_batch_with_it() -> None:
    timestamps, offsets = np.array([5, 9, 9, 4, 12]), np.array([10, 11, 12, 13, 14])
    highest, offsets_of_highest = running_maximum(timestamps, offsets, 7, 3)
    assert highest.tolist() == [7, 9, 9, 9, 12]
    assert offsets_of_highest.tolist() == [3, 11, 11, 11, 14]
