"""Tests of the report's timeline, which counts records over time in limited memory."""

import numpy as np
import pyarrow as pa
import pytest

from magicbyte_cli.report.figures import timeline
from magicbyte_cli.report.figures.timeline import HOUR, MAX_BARS, MAX_PANELS, Timeline

FAR = (1 << 63) // 1000 - 1
"""A timestamp in milliseconds, close to the largest whose microseconds fit into 64 bits."""


def timeline_of(*times: int | None, kinds: list[str] | None = None) -> Timeline:
    """Return a timeline of one record at each of *times*, in milliseconds; None is no timestamp."""
    found = Timeline(("delivered", "aborted"))
    add(found, times, kinds)
    return found


def add(found: Timeline, times: tuple[int | None, ...], kinds: list[str] | None = None) -> None:
    microseconds = [None if time is None else time * 1000 for time in times]
    found.add(
        pa.chunked_array([pa.array(microseconds, pa.int64())]),
        pa.chunked_array([pa.array(kinds or ["delivered"] * len(times))]),
        np.ones(len(times), np.int64),
    )


def test_bars_begin_at_whole_steps_and_hold_what_is_in_them() -> None:
    times, kinds = (61_500, 61_999, 62_000, 120_000, 90_000), ["delivered", "aborted"] * 2
    (panel,) = timeline_of(*times, kinds=[*kinds, "delivered"]).panels()
    assert (panel.start, panel.width) == (61_000, 1000)
    assert panel.bars["delivered"] == [1, 1, *[0] * 27, 1, *[0] * 30]
    assert panel.bars["aborted"] == [1, *[0] * 58, 1]
    assert panel.end == 121_000


def test_records_without_a_timestamp_are_counted_separately() -> None:
    found = timeline_of(1, None, None)
    assert (found.counts.sum(), found.untimed["delivered"]) == (1, 2)
    assert timeline_of(None).panels() == []


def test_much_time_without_anything_separates_panels() -> None:
    near, later = 1_700_000_000_000, 1_800_000_000_000
    hours = [later + number * HOUR for number in range(24)]
    panels = timeline_of(near, near + 5, *hours, FAR, -FAR).panels()
    assert panels[1].start <= near < panels[1].start + panels[1].width
    assert len({panel.width for panel in panels}) == 1
    assert len(panels) == MAX_PANELS
    assert sum(sum(panel.bars["delivered"]) for panel in panels) == 28
    assert all(panel.num_bars <= MAX_BARS for panel in panels)


def test_distant_timestamp_leaves_the_others_in_their_buckets() -> None:
    times = [number * HOUR + number % 7 for number in range(100)]
    whole, far = timeline_of(*times, FAR).panels()
    assert sum(whole.bars["delivered"]) == 100
    assert whole.num_bars > 20
    assert far.bars["delivered"] == [1]


@pytest.mark.parametrize("step", [1, 997, 3_600_000, 1 << 40])
def test_cells_have_a_bound_and_nothing_is_lost(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MAX_CELLS", 1000)
    found = Timeline(("delivered", "aborted"))
    for part in range(10):
        add(found, tuple((part * 500 + number) * step for number in range(500)))
        assert len(found.cells) <= 1000
    panels = found.panels()
    assert found.counts[:, 0].sum() == 5000
    assert sum(sum(panel.bars["delivered"]) for panel in panels) == 5000
    assert all(panel.num_bars <= MAX_BARS for panel in panels)


def test_times_before_the_epoch_are_in_order() -> None:
    (panel,) = timeline_of(-3, -2, 2).panels()
    assert (panel.start, panel.width) == (-3, 1)
    assert panel.bars["delivered"] == [1, 1, 0, 0, 0, 1]
