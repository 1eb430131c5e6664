"""Tests of comparing a partition's replicas batch by batch, by their headers."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from magicbyte.engines import header_scan
from paths import DATA

HIGH_WATERMARKS = "replication-offset-checkpoint"


def differences(replicas: list[Any], **how: Any) -> list[mb.Finding]:
    findings = mb.verify(*map(str, replicas), **how).findings
    return [one for one in findings if one.code == "replicas-differ"]


@pytest.fixture
def replicas(folder: Any) -> list[Any]:
    """The log.dirs of two brokers, without partitions."""
    return [folder.log_dir("one"), folder.log_dir("two")]


def write(folder: Any, data: list[bytes], base: int = 0) -> None:
    folder.segment("t-0", b"".join(data), base)


@pytest.mark.parametrize("cluster", ["4.3/transactions", "2.8/lives"])
def test_copies_do_not_differ(cluster: str, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(DATA / cluster / "log-0", tmp_path / "log-0"))
    assert differences([DATA / cluster / "log-0", copy]) == []


@pytest.mark.parametrize("most", [1, 3, 4096])
@pytest.mark.parametrize("quick", [False, True])
def test_first_batch_that_differs_is_reported(
    quick: bool, most: int, replicas: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(header_scan, "MAX_HEADERS", most)
    data = [build.batch([build.record(b"v%02d" % n)], n) for n in range(9)]
    write(replicas[0], data)
    data[4] = build.batch([build.record(b"xxx")], 4)
    data[6] = build.batch([build.record(b"xxx")], 6)
    write(replicas[1], data[:5])
    write(replicas[1], data[5:], 5)
    (found,) = differences(replicas, quick=quick)
    assert (found.topic, found.partition, found.base_offset) == ("t", 0, 4)
    assert (found.file, found.position) == (f"{0:020}.log", sum(map(len, data[:4])))
    assert (found.length, found.field, found.severity) == (len(data[4]), "crc", "error")
    one, two = (f"{folder.path}/t-0" for folder in replicas)
    assert found.message == (
        f"offset 4: checksum {found.found} in {two}, {found.expected} in {one}"
        "; 2 batches differ, up to offset 6"
    )
    assert found.found == f"0x{int.from_bytes(data[4][17:21], 'big'):08x}" != found.expected


@pytest.mark.parametrize(
    ("other", "field", "found", "expected"),
    [
        ({"leader_epoch": 3}, "leader_epoch", "3", "0"),
        ({"content": build.records(2)}, "last_offset", "2", "1"),
        ({"content": [build.record(bytes(99))]}, "crc", None, None),
    ],
)
def test_fields_outside_the_checksum_are_compared(
    other: dict[str, Any], field: str, found: str | None, expected: str | None, replicas: list[Any]
) -> None:
    write(replicas[0], [build.batch(), build.batch(base=1)])
    write(replicas[1], [build.batch(), build.batch(base=1, **other)])
    (one,) = differences(replicas)
    assert one.field == field
    if found is not None:
        assert (one.found, one.expected) == (found, expected)
        assert one.message.startswith(f"offset 1: {field.replace('_', ' ')} {found} in ")


def test_replicas_may_begin_end_and_roll_elsewhere(replicas: list[Any]) -> None:
    data = [build.batch([build.record(b"%d" % n)], n) for n in range(9)]
    write(replicas[0], data[:6])
    write(replicas[1], data[2:4], 2)
    write(replicas[1], data[4:], 4)
    assert differences(replicas) == []
    write(replicas[1], [*data[4:5], build.batch(base=5), *data[6:]], 4)
    (found,) = differences(replicas)
    assert found.base_offset == 5


def test_replicas_may_differ_above_the_high_watermark(replicas: list[Any]) -> None:
    write(replicas[0], [build.batch(), build.batch(base=1)])
    write(replicas[1], [build.batch(), build.batch([build.record(b"other")], 1)])
    replicas[1].checkpoint(HIGH_WATERMARKS, {("t", 0): 1})
    assert differences(replicas) == []
    replicas[0].checkpoint(HIGH_WATERMARKS, {("t", 0): 2})
    assert len(differences(replicas)) == 1, "one that knows of it is enough"


def test_compacted_replicas_may_differ(replicas: list[Any]) -> None:
    other = build.batch([build.record(b"x"), build.record(b"y", delta=1)])
    write(replicas[0], [build.batch(build.records(2)), build.batch(base=2), build.batch(base=3)])
    write(replicas[1], [other, build.batch(base=2), build.batch(base=3)])
    assert len(differences(replicas)) == 1
    replicas[1].checkpoint("cleaner-offset-checkpoint", {("t", 0): 2})
    assert differences(replicas) == []
    replicas[1].checkpoint("cleaner-offset-checkpoint", {("other", 0): 2})
    assert len(differences(replicas)) == 1
    # Without a checkpoint a gap inside a batch shows that its segment was cleaned.
    kept = build.batch([build.record(b"v1", delta=1)], last_delta=1)
    write(replicas[1], [kept])
    write(replicas[1], [build.batch(base=2), build.batch([build.record(b"other")], 3)], 2)
    (found,) = differences(replicas)
    assert found.base_offset == 3
    (replicas[1].path / "t-0" / f"{2:020}.log").unlink()
    write(replicas[1], [kept, build.batch(base=2), build.batch([build.record(b"other")], 3)])
    assert differences(replicas) == [], "nor is a last segment"


def test_old_messages_and_wrappers_are_compared(replicas: list[Any]) -> None:
    inner = [build.message(b"%d" % n, n) for n in range(3)]
    write(replicas[0], [build.message(b"a", 0), build.wrapper(inner, 3)])
    write(replicas[1], [build.message(b"a", 0), build.wrapper(inner[::-1], 3)])
    (found,) = differences(replicas)
    assert (found.base_offset, found.field) == (3, "crc")


def test_partitions_of_one_replica_and_of_other_names_are_not_compared(replicas: list[Any]) -> None:
    write(replicas[0], [build.batch()])
    replicas[1].segment("t-1", build.batch([build.record(b"other")]))
    replicas[1].segment(f"t-0.{'0' * 32}-future", build.batch([build.record(b"other")]))
    assert differences(replicas) == []


def test_topics_of_one_name_are_not_compared(replicas: list[Any]) -> None:
    write(replicas[0], [build.batch()])
    write(replicas[1], [build.batch([build.record(b"other")])])
    for number, replica in enumerate(replicas):
        metadata = replica.path / "t-0" / "partition.metadata"
        metadata.write_text(f"version: 0\ntopic_id: {'A' * 21}{'QgwA'[number]}\n")
    assert {one.code for one in mb.verify(*map(str, replicas)).findings} >= {"topic-id-differs"}
    assert differences(replicas) == []


def test_a_log_without_order_is_not_compared(replicas: list[Any]) -> None:
    write(replicas[0], [build.batch(base=1), build.batch()])
    write(replicas[1], [build.batch([build.record(b"other")])])
    assert {one.code for one in mb.verify(*map(str, replicas)).findings} >= {"offset-out-of-order"}
    assert differences(replicas) == []
