"""Tests of the estimates of a round of compaction."""

import doctest
from pathlib import Path
from types import ModuleType

import pytest

import log_builder as build
import magicbyte as mb
from cleaned_lines import clean
from file_damage import flip
from log_builder import Folder
from magicbyte.errors import InputError
from magicbyte.writing import _cleaner_settings, compaction
from magicbyte.writing._cleaned_bytes import CleanedBytes
from magicbyte.writing.compaction import CleanerSettings, CompactionEstimate, dry_run
from paths import DATA

NOW = build.TIME + 1_000_000


def estimate(folder: Path | Folder, **settings: object) -> CompactionEstimate:
    values = {"now_ms": NOW, "includes_active_segment": True} | settings
    (found,) = dry_run(mb.open(str(folder)), CleanerSettings(**values))
    return found


def batch(base: int, *records: tuple[bytes | None, bytes | None], **fields: int) -> bytes:
    content = [build.record(value, key, delta=delta) for delta, (key, value) in enumerate(records)]
    return build.batch(content, base, **fields)


def test_superseded_records_are_counted_below_and_above_the_first_dirty_offset(
    folder: Folder,
) -> None:
    folder.segment("t-0", batch(0, (b"a", b"1"), (b"b", b"1"), (b"c", b"1")))
    folder.segment("t-0", batch(3, (b"a", b"2"), (b"a", b"3"), (b"b", b"2")), 3)
    found = estimate(folder, first_dirty_offset=3)
    assert (found.superseded_below, found.superseded_above) == (2, 1)
    assert (found.record_count, found.retained_count, found.key_count) == (6, 3, 2)
    assert found.is_compacted is False


def test_records_that_earlier_rounds_should_have_removed_are_leftovers(folder: Folder) -> None:
    folder.segment("t-0", batch(0, (b"a", b"1"), (b"a", b"2"), (None, b"3"), (b"b", b"4")))
    folder.segment("t-0", batch(4, (b"c", b"1")), 4)
    found = estimate(folder, first_dirty_offset=4)
    assert found.leftover_count == 2  # offset 0 and the record without a key
    assert found.superseded_below == 0
    assert found.is_compacted is False


def test_tombstones_are_counted_by_the_state_of_their_horizon(folder: Folder) -> None:
    horizons = (batch(1, (b"a", None), flags=build.HORIZON, time=NOW), batch(2, (b"b", None)))
    waiting = batch(3, (b"c", None), flags=build.HORIZON, time=NOW + 1)
    folder.segment("t-0", b"".join((*horizons, waiting)))
    found = estimate(folder)
    assert found.expired_tombstones == found.new_tombstones == found.waiting_tombstones == 1
    assert found.record_count == 3


def test_estimate_of_freed_bytes_is_near_the_bytes_that_a_round_leaves() -> None:
    folder = DATA / "3.9" / "transactions" / "log-0" / "__transaction_state-0"
    settings = {"now_ms": NOW, "first_dirty_offset": 0, "includes_active_segment": True}
    found = estimate(folder, **settings)
    left = sum(len(part.data) for part in CleanedBytes(clean(folder, settings)))
    assert found.superseded_above > 50
    assert abs(found.dirty_bytes - left - found.freed_bytes) < found.freed_bytes / 10


def test_partitions_that_a_broker_has_compacted_are_compacted() -> None:
    dataset = mb.open(str(DATA / "4.3" / "compacted" / "log-0"))
    found = list(dry_run(dataset, CleanerSettings(now_ms=NOW)))
    assert len(found) > 8
    assert {(each.is_due, each.is_compacted, each.leftover_count) for each in found} == {
        (False, True, 0)
    }


def test_partition_with_damage_has_a_refusal(tmp_path: Path) -> None:
    path = Folder(tmp_path).segment("t-0", batch(0, (b"a", b"1")) + batch(1, (b"a", b"2")))
    flip(path, 65)
    found = estimate(tmp_path)
    assert found.is_compacted is None
    assert found.refusal is not None
    assert "CRC" in found.refusal


def test_message_that_cannot_be_emptied_stops_the_round(folder: Folder) -> None:
    folder.segment("t-0", build.message(b"v", 0, b"k") + build.message(b"v", 1, None))
    found = estimate(folder)
    assert found.refusal is not None
    assert "offset 1 in format v1" in found.refusal


def test_round_ends_where_the_keys_fill_the_buffer(folder: Folder) -> None:
    content = batch(0, (b"a", b"1"), (b"b", b"1"), (b"c", b"1"), (b"a", b"2"))
    folder.segment("t-0", content + batch(4, (b"b", b"2")))
    found = estimate(folder, dedupe_buffer_bytes=24 * 3)
    assert found.is_map_full
    assert (found.end_offset, found.key_count) == (2, 2)
    assert found.record_count == found.retained_count == 5


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"release": "2.8"}, "release '2.8'"),
        ({"delete_retention_ms": -1}, "delete_retention_ms -1"),
        ({"segment_bytes": 0}, "segment_bytes 0"),
        ({"dedupe_buffer_bytes": 24}, "dedupe_buffer_bytes 24"),
    ],
)
def test_setting_that_is_not_allowed_is_named(settings: dict[str, object], named: str) -> None:
    with pytest.raises(InputError, match=named):
        CleanerSettings(now_ms=0, **settings)


@pytest.mark.parametrize("module", [compaction, _cleaner_settings])
def test_examples_run(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA / "4.3" / "transactions")
    assert doctest.testmod(module, extraglobs={"mb": mb}).failed == 0


def test_metadata_of_kraft_is_not_compacted() -> None:
    folder = DATA / "4.3" / "compacted" / "log-0" / "__cluster_metadata-0"
    dataset = mb.open(str(folder), include_internal=True)
    assert [log.topic for log in dataset.logs] == ["__cluster_metadata"]
    assert list(dry_run(dataset, CleanerSettings(now_ms=NOW))) == []
