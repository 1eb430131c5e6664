"""Tests of the rules of a broker's start, one by one, on a partition of two segments."""

import shutil
import struct
from pathlib import Path
from typing import Any

import pytest

import magicbyte as mb
from file_damage import flip
from magicbyte.checksum import crc32c
from magicbyte.storage import open_file
from magicbyte.verification.startup._segment_recovery import OffsetOverflowError

from .conftest import END, FLIPPED, LAST, NEXT, TOPIC, Partition, recovered

FIRST = f"{0:020}.log"
SIZES = {FIRST: 326, LAST: 2217}

SOUND = ("intact", END, SIZES)

RECOVERY_POINT = "recovery-point-offset-checkpoint"

FAR = (1 << 31) + 100
"""An offset that the last segment cannot hold."""

IN_FIRST = 200
"""A position in the first segment, which is a single transactional batch: offsets 0 to 5."""


def alter(path: Path, position: int, form: str, number: int, *, batch: int | None = None) -> None:
    """Write *number* at *position*; recompute the checksum of the batch at byte *batch*."""
    data = bytearray(path.read_bytes())
    struct.pack_into(form, data, position, number)
    if batch is not None:
        size = 12 + struct.unpack_from(">i", data, batch + 8)[0]
        struct.pack_into(">I", data, batch + 17, crc32c(data[batch + 21 : batch + size]))
    path.write_bytes(data)


def checkpoint(partition: Partition, name: str, offset: int) -> None:
    (partition.log_dir / name).write_text(f"0\n1\n{TOPIC} 0 {offset}\n")


def test_a_sound_log_is_left_alone(partition: Partition) -> None:
    for options in ({}, {"clean_shutdown": True}):
        assert partition.predict(**options) == SOUND
        assert partition.sentences(**options) == []


@pytest.mark.parametrize("offset", [END, 6, 1000])
def test_segment_below_the_recovery_point_is_not_verified(
    partition: Partition, offset: int
) -> None:
    flip(partition.folder / FIRST, IN_FIRST)
    checkpoint(partition, RECOVERY_POINT, offset)
    assert partition.predict() == ("unchanged-damaged", END, SIZES)


@pytest.mark.parametrize("offset", [5, 0, -7, None])
def test_the_first_bad_batch_ends_the_log(partition: Partition, offset: int | None) -> None:
    flip(partition.folder / FIRST, IN_FIRST)
    if offset is None:
        (partition.log_dir / RECOVERY_POINT).unlink()
    else:
        checkpoint(partition, RECOVERY_POINT, offset)
    assert partition.predict() == ("truncated", 0, {FIRST: 0, LAST: 0})
    assert partition.sentences() == [
        f"the broker would truncate {FIRST} from 326 to 0 bytes: byte 0: wrong checksum",
        f"the broker would delete {LAST}: an earlier segment was truncated",
    ]


@pytest.mark.parametrize("clean_shutdown", [False, True])
def test_a_segment_without_an_index_is_recovered_alone(
    partition: Partition, clean_shutdown: bool
) -> None:
    flip(partition.folder / FIRST, IN_FIRST)
    (partition.folder / FIRST).with_suffix(".index").unlink()
    sizes = {FIRST: 0, LAST: 2217}
    assert partition.predict(clean_shutdown=clean_shutdown) == ("truncated", END, sizes)
    assert partition.sentences(clean_shutdown=clean_shutdown)[1] == (
        f"the broker would keep the segments after {FIRST}, "
        "which it would recover alone because it has no offset index"
    )


def test_offsets_that_go_back_cost_the_segment_if_the_index_shows_them(
    partition: Partition,
) -> None:
    """An index with an entry for each batch shows 303 before 48; a sparse one does not."""
    alter(partition.last, FLIPPED, ">q", 301)
    assert partition.predict() == ("unchanged-damaged", END, SIZES)
    sizes = {FIRST: 326, LAST: 0}
    assert partition.predict(index_interval_bytes=0) == ("truncated", 6, sizes)
    assert partition.sentences(index_interval_bytes=0) == [
        f"the broker would truncate {LAST} from 2217 to 0 bytes: "
        "byte 1848: the offset index would go back from offset 303 to 48 (with index.interval.bytes 0)"
    ]


def test_offsets_above_what_an_index_holds_split_the_segment(partition: Partition) -> None:
    alter(partition.last, 2139, ">q", FAR)
    assert partition.predict() == ("recovered", FAR + 1, {FIRST: 326, LAST: 2139})
    assert partition.sentences() == [
        f"the broker would split {LAST} into 2 segments: "
        f"last offset {FAR} at {LAST} byte 2139 does not fit its index"
    ]


def test_bytes_of_a_segment_that_was_split_off_are_counted_in_its_file(
    partition: Partition,
) -> None:
    alter(partition.last, 1926, ">q", FAR)
    alter(partition.last, 2139, ">q", FAR + 5)
    flip(partition.last, 2139 + 65)
    part = f"{FAR:020}.log"
    assert partition.sentences() == [
        f"the broker would split {LAST} into 2 segments: "
        f"last offset {FAR + 4} at {LAST} byte 1926 does not fit its index",
        f"the broker would truncate {part}, split off {LAST}, from 291 to 213 bytes: "
        "byte 2139: wrong checksum",
    ]


def test_split_segment_is_truncated_where_its_offset_index_would_go_back(
    partition: Partition,
) -> None:
    alter(partition.last, 1848, ">q", FAR)
    alter(partition.last, 1926, ">q", FAR + 10)
    alter(partition.last, 2139, ">q", FAR + 5)
    told = partition.sentences(index_interval_bytes=0)
    assert told[1:] == [
        f"the broker would truncate {FAR:020}.log, split off {LAST}, from 369 to 0 bytes: "
        f"byte 2139: the offset index would go back from offset {FAR + 14} to {FAR + 5} "
        "(with index.interval.bytes 0)"
    ]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", None),
        (bytes(7), "byte 2217: 7 bytes of a partial entry"),
        (bytes(40), "byte 2217: size field 0, at least 14"),
    ],
)
def test_recovery_of_a_split_segment_ends_at_its_last_entry(
    partition: Partition, data: bytes, why: str | None
) -> None:
    with partition.last.open("ab") as file:
        file.write(data)
    with open_file(str(partition.last)) as opened:
        found = recovered(opened, 48, begin=1848)
    assert (found.size_bytes, found.next_offset, found.why_truncated) == (2217 - 1848, END, why)


def test_the_interval_of_its_index_begins_where_it_does(partition: Partition) -> None:
    """Counted from byte *begin*, the first batch gets no entry; else two had offset 53."""
    alter(partition.last, 1848, ">q", 53)
    with open_file(str(partition.last)) as opened:
        assert recovered(opened, 48, begin=1848, interval_bytes=70).next_offset == END


def test_a_segment_holds_what_its_index_can(partition: Partition) -> None:
    """Offsets in an index are relative to the base offset: at most 2^31 - 1 above it."""
    with open_file(str(partition.last)) as opened:
        assert recovered(opened, END - (1 << 31), begin=1848).next_offset == END
        with pytest.raises(OffsetOverflowError) as error:
            recovered(opened, END - (1 << 31) - 1, begin=1848)
        assert error.value.position == 2139


def test_offsets_below_the_segment_end_the_start(partition: Partition) -> None:
    alter(partition.last, FLIPPED, ">q", 0)
    assert partition.predict()[0] == "refuses-to-start"
    assert partition.predict(clean_shutdown=True)[0] == "unchanged-damaged"


def test_plain_data_inside_a_transaction_ends_the_start(partition: Partition) -> None:
    data = bytearray(partition.last.read_bytes())
    # The batch twice, with a producer of its own: in a transaction, and then not.
    batch = data[FLIPPED:1848]
    batch[22] &= ~16
    struct.pack_into(">I", batch, 17, crc32c(batch[21:]))
    partition.last.write_bytes(data[:1848] + batch + data[1848:])
    assert partition.predict()[0] == "refuses-to-start"
    assert partition.sentences() == [
        "the broker would fail to load this partition: InvalidTxnStateException at byte 1848: a batch "
        "of producer 7 is not transactional, but lies inside the producer's transaction from offset 45"
    ]


@pytest.mark.parametrize("kept", [True, False])
def test_the_producers_are_those_of_the_snapshot_in_front(partition: Partition, kept: bool) -> None:
    """Without the snapshot, the segment before is replayed, where the transaction begins too."""
    if not kept:
        (partition.folder / f"{6:020}.snapshot").unlink()
    (attributes,) = struct.unpack_from(">h", partition.last.read_bytes(), 21)
    alter(partition.last, 21, ">h", attributes | 16, batch=0)
    assert partition.predict()[0] in ("intact", "unchanged-damaged")


@pytest.mark.parametrize("clean_shutdown", [False, True])
def test_a_version_of_a_transaction_index_ends_the_start(
    partition: Partition, clean_shutdown: bool
) -> None:
    index = partition.last.with_suffix(".txnindex")
    for version, verdict in ((1 << 8, "refuses-to-start"), (1, "intact"), (-1, "intact")):
        alter(index, 0, ">h", version)
        assert partition.predict(clean_shutdown=clean_shutdown)[0] == verdict, version


def test_a_transaction_index_of_another_segment_has_its_own_recovered(partition: Partition) -> None:
    index = partition.last.with_suffix(".txnindex")
    alter(index, 18, ">q", 5)  # the last offset of its first entry
    flip(partition.last, FLIPPED + 30)
    told = partition.predict(clean_shutdown=True)
    assert told == ("truncated", 45, {FIRST: 326, LAST: FLIPPED})


def test_a_clean_start_looks_the_end_up_in_the_index(partition: Partition) -> None:
    index = partition.last.with_suffix(".index")
    index.write_bytes(struct.pack(">ii", 100, 2139))
    assert partition.predict(clean_shutdown=True) == ("unchanged-damaged", 6, SIZES)
    assert partition.sentences(clean_shutdown=True) == [
        "the broker would take 6 for the log end offset: offsets 6 to 54 stay in the file, consumers "
        "cannot read them, and new records get the same offsets",
        "the broker would take a transaction of producer 7 for open from offset 0, but the log has "
        "none: read_committed consumers would stop there",
    ]
    index.write_bytes(struct.pack(">ii", 42, 1848))
    assert partition.predict(clean_shutdown=True) == SOUND
    for position in (1852, -1848):  # at 1852 a leader epoch stands where a size is read
        index.write_bytes(struct.pack(">ii", 42, position))
        assert partition.predict(clean_shutdown=True)[0] == "refuses-to-start"
    assert partition.predict() == SOUND


def with_magic(data: bytes, position: int, magic: int, attributes: int) -> bytes:
    """Return *data* with another magic and attributes of v1 in the batch at byte *position*."""
    return data[: position + 16] + bytes([magic, attributes]) + data[position + 18 :]


COMPRESSED, PLAIN = 0x0A, 0x08
"""Attributes of v1, in whose place a batch of v2 has the first byte of its checksum."""


@pytest.mark.parametrize("release", ["2.8", "3.9", "4.4"])
def test_magic_below_0_ends_a_clean_start_that_asks_for_the_base_offset(
    partition: Partition, release: str
) -> None:
    # Brokers of 4.4.0 ended because of the first and the last batch, and not of one between; one of
    # 2.8.2 started. Here, the newest snapshot is at the end, so that the last batch is not looked up.
    data = partition.last.read_bytes()
    options: dict[str, Any] = {"clean_shutdown": True, "kafka_version": release}
    ends = {0: release == "4.4", NEXT: False, 2139: False}
    for position, attributes, is_last_asked in (
        *((position, COMPRESSED, False) for position in ends),
        *((position, PLAIN, False) for position in ends),
        (2139, COMPRESSED, True),
    ):
        partition.last.write_bytes(with_magic(data, position, 0xFF, attributes))
        does_end = attributes == COMPRESSED and ends[position]
        if is_last_asked:
            newest = partition.folder / f"{END:020}.snapshot"
            newest.rename(partition.folder / f"{20:020}.snapshot")
            does_end = release == "4.4"
        expected = "refuses-to-start" if does_end else "unchanged-damaged"
        assert partition.predict(**options)[0] == expected, (position, attributes)


@pytest.mark.parametrize("position", [0, NEXT, 2139])
def test_magic_below_0_is_damage_to_a_recovery(partition: Partition, position: int) -> None:
    data = with_magic(partition.last.read_bytes(), position, 0xFF, PLAIN)
    partition.last.write_bytes(data)
    end = {0: 6, NEXT: 48, 2139: 54}[position]
    assert partition.predict(clean_shutdown=False)[:2] == ("truncated", end)


@pytest.mark.parametrize(
    ("name", "end", "verdict"),
    [
        ("6.log", END, "intact"),
        ("000000000000000000006.log", END, "intact"),
        ("-1.log", END, "recovered"),
        ("1000.log", 1000, "recovered"),
        ("+1000.log", 1000, "recovered"),
        (f"{1 << 63}.log", None, "refuses-to-start"),
        (f"-{(1 << 63) + 1}.log", None, "refuses-to-start"),
    ],
)
@pytest.mark.parametrize("is_clean", [True, False])
def test_broker_opens_the_file_of_20_digits_whatever_the_name_of_a_log_file(
    partition: Partition, name: str, end: int | None, verdict: str, *, is_clean: bool
) -> None:
    # Brokers of 2.8.2 and 4.4.0: 0.log had no effect, and -1.log made a -00000000000000000001.log.
    (partition.folder / name).write_bytes(b"garbage")
    assert partition.predict(clean_shutdown=is_clean)[:2] == (verdict, end)


def test_zeros_behind_the_log(partition: Partition) -> None:
    for zeros in (5, 17, 18, 400):
        data = partition.last.read_bytes()[:2217]
        partition.last.write_bytes(data + bytes(zeros))
        assert partition.predict() == ("recovered", END, SIZES), zeros
        verdict = "unchanged-damaged" if zeros < 18 else "refuses-to-start"
        assert partition.predict(clean_shutdown=True)[0] == verdict, zeros
        if zeros < 18:
            assert partition.sentences(clean_shutdown=True) == [
                f"{zeros} bytes of a partial batch would stay at the end of {LAST}: consumers get "
                "stuck there and cannot read records that are appended later"
            ]


def test_a_log_start_above_the_end_empties_the_log(partition: Partition) -> None:
    checkpoint(partition, "log-start-offset-checkpoint", END)
    assert partition.predict() == SOUND
    checkpoint(partition, "log-start-offset-checkpoint", END + 1)
    assert partition.predict() == ("truncated", END + 1, {FIRST: 0, LAST: 0})
    checkpoint(partition, "log-start-offset-checkpoint", -3)
    assert partition.predict() == SOUND


def test_an_empty_folder_gets_an_empty_segment(partition: Partition) -> None:
    for path in partition.folder.iterdir():
        path.unlink()
    assert partition.predict() == ("truncated", 0, {})


@pytest.mark.parametrize(
    ("name", "text", "verdict"),
    [
        (RECOVERY_POINT, "0\n1\naborted 0 many\n", "intact"),
        (RECOVERY_POINT, "0\n1\naborted 0\n", "refuses-to-start"),
        (RECOVERY_POINT, "0\n2\naborted 0 55\n", "refuses-to-start"),
        (RECOVERY_POINT, "1\n1\naborted 0 55\n", "refuses-to-start"),
        (RECOVERY_POINT, "", "intact"),
        ("log-start-offset-checkpoint", "0\n1\naborted zero 0\n", "intact"),
        ("log-start-offset-checkpoint", "0\n3\naborted 0 0\n", "refuses-to-start"),
        ("replication-offset-checkpoint", "0\n1\naborted 0 many\n", "not-served"),
        ("cleaner-offset-checkpoint", "what is this", "intact"),
        (f"{TOPIC}-0/leader-epoch-checkpoint", "0\n1\n0 zero\n", "refuses-to-start"),
        (f"{TOPIC}-0/leader-epoch-checkpoint", "0\n2\n0 0\n", "refuses-to-start"),
        (f"{TOPIC}-0/leader-epoch-checkpoint", "", "intact"),
        (f"{TOPIC}-0/partition.metadata", "", "refuses-to-start"),
        (f"{TOPIC}-0/partition.metadata", "version: 1\ntopic_id: abc\n", "refuses-to-start"),
        (
            f"{TOPIC}-0/partition.metadata",
            f"version: 0\ntopic_id: {'A' * 22}\n",
            "refuses-to-start",
        ),
        (f"{TOPIC}-0/partition.metadata", "version: 0\ntopic_id: short\n", "refuses-to-start"),
        (f"{TOPIC}-0/copy.log", "", "refuses-to-start"),
        (f"{TOPIC}-0/copy.index", "", "refuses-to-start"),
        (f"{TOPIC}-0/copy.log.bak", "", "intact"),
        (f"{TOPIC}-0/7.log.bak", "", "intact"),
    ],
)
def test_small_files(partition: Partition, name: str, text: str, verdict: str) -> None:
    (partition.log_dir / name).write_text(text)
    assert partition.predict()[0] == verdict


@pytest.mark.parametrize(
    ("name", "text"),
    [("leader-epoch-checkpoint", "0\n2\n0 0\n"), ("partition.metadata", "version: 1\n")],
)
def test_wrong_small_files_are_findings(partition: Partition, name: str, text: str) -> None:
    (partition.folder / name).write_text(text)
    found = mb.verify(partition.log_dir).findings
    assert [(finding.code, finding.file) for finding in found] == [("checkpoint-invalid", name)]
    assert found[0].severity == "warning"


@pytest.mark.parametrize("kind", ["index", "timeindex"])
def test_missing_indexes_are_noted(partition: Partition, kind: str) -> None:
    missing = partition.last.with_suffix(f".{kind}")
    missing.unlink()
    found = mb.verify(partition.log_dir).findings
    assert [(finding.code, finding.file) for finding in found] == [("index-missing", missing.name)]
    for path in partition.folder.glob(f"*.{kind}"):
        path.unlink()
    assert mb.verify(partition.log_dir).findings == []  # left out of the copy


def test_missing_small_files_are_no_matter(partition: Partition) -> None:
    for name in ("leader-epoch-checkpoint", "partition.metadata"):
        (partition.folder / name).unlink()
    assert partition.predict() == SOUND


def test_swap_file_replaces_segments(partition: Partition) -> None:
    """The .swap file holds the batches of both segments; the broker stopped before the renames."""
    both = (partition.folder / FIRST).read_bytes() + partition.last.read_bytes()
    (partition.folder / f"{FIRST}.swap").write_bytes(both)
    sizes = {FIRST: len(both), LAST: 0, f"{FIRST}.swap": len(both)}
    assert partition.predict() == ("recovered", END, sizes)
    assert partition.sentences()[0] == f"the broker would rename {FIRST}.swap to {FIRST}"


def test_nobody_looks_at_what_is_swapped_in(partition: Partition) -> None:
    """The broker takes a .swap file by its name alone, even one without a single batch."""
    (partition.folder / f"{FIRST}.swap").write_bytes(b"\x7f" * 500)
    checkpoint(partition, RECOVERY_POINT, END)
    sizes = {FIRST: 500, LAST: 2217, f"{FIRST}.swap": 500}
    assert partition.predict() == ("recovered", END, sizes)
    assert partition.sentences() == [
        f"the broker would rename {FIRST}.swap to {FIRST}",
        f"the broker would delete {FIRST}, which a .swap file replaces",
    ]


def test_files_marked_for_deletion_are_deleted(partition: Partition) -> None:
    shutil.copy(partition.last, partition.folder / f"{LAST}.deleted")
    shutil.copy(partition.last, partition.folder / f"{LAST}.cleaned")
    sizes = {**SIZES, f"{LAST}.deleted": 0, f"{LAST}.cleaned": 0}
    assert partition.predict() == ("intact", END, sizes)


def test_a_clean_start_believes_the_newest_snapshot(partition: Partition) -> None:
    """The last marker is cut off: the transaction is open in the log, but not in the snapshot."""
    forgets = (
        "the broker would forget the open transaction of producer 7 from offset 49: read_committed "
        "consumers would get its records"
    )
    with partition.last.open("r+b") as file:
        file.truncate(2139)
    assert partition.sentences() == []  # an unclean start replays the log
    snapshots = sorted(partition.folder.glob("*.snapshot"))
    assert [int(path.stem) for path in snapshots] == [6, END]
    # The snapshot at 55 is above the log end offset now; the log is replayed from the one at 6.
    assert partition.sentences(clean_shutdown=True) == []
    snapshots[1].rename(partition.folder / f"{54:020}.snapshot")
    assert partition.sentences(clean_shutdown=True) == [forgets]
    for path in partition.folder.glob("*.snapshot"):
        path.write_bytes(b"")
    assert partition.sentences(clean_shutdown=True) == []  # replayed from the beginning
    for path in partition.folder.glob("*.snapshot"):
        path.unlink()
    assert partition.sentences(clean_shutdown=True) == [forgets]


def test_a_transaction_that_only_a_snapshot_knows(partition: Partition) -> None:
    newest = partition.folder / f"{END:020}.snapshot"
    at = 10 + 46 - 8  # after the header: the last field of the only entry
    alter(newest, at, ">q", 49)
    alter(newest, 2, ">I", crc32c(newest.read_bytes()[6:]))
    assert partition.sentences(clean_shutdown=True) == [
        "the broker would take a transaction of producer 7 for open from offset 49, but the log has "
        "none: read_committed consumers would stop there"
    ]


@pytest.mark.parametrize("offset", [5, 0])
def test_truncated_log_loses_the_offsets_from_the_first_bad_batch_on(
    partition: Partition, offset: int
) -> None:
    flip(partition.last, FLIPPED + 30)
    checkpoint(partition, RECOVERY_POINT, offset)
    assert partition.lost() == (END - 45, [(45, END)])
    # Before the recovery point nothing is verified; the batch is damaged, and not lost.
    checkpoint(partition, RECOVERY_POINT, END)
    assert partition.lost(clean_shutdown=True) == (0, [])


def test_segment_recovered_alone_loses_offsets_below_the_log_end(partition: Partition) -> None:
    flip(partition.folder / FIRST, IN_FIRST)
    (partition.folder / FIRST).with_suffix(".index").unlink()
    assert partition.lost(clean_shutdown=True) == (6, [(0, 6)])
    flip(partition.last, FLIPPED + 30)
    assert partition.lost() == (16, [(0, 6), (45, END)])


def test_log_emptied_by_its_log_start_loses_all_offsets(partition: Partition) -> None:
    checkpoint(partition, "log-start-offset-checkpoint", 1000)
    assert partition.lost() == (END, [(0, END)])


def test_offsets_below_the_log_start_are_not_lost(partition: Partition) -> None:
    flip(partition.folder / FIRST, IN_FIRST)
    (partition.folder / FIRST).with_suffix(".index").unlink()
    checkpoint(partition, "log-start-offset-checkpoint", 4)
    assert partition.lost() == (2, [(4, 6)])


def test_offsets_above_a_wrong_index_are_lost_without_a_change(partition: Partition) -> None:
    partition.last.with_suffix(".index").write_bytes(struct.pack(">ii", 100, 2139))
    assert partition.lost(clean_shutdown=True) == (END - 6, [(6, END)])


def test_offsets_that_checkpoints_name_are_lost_with_their_segments(partition: Partition) -> None:
    for path in partition.folder.iterdir():
        path.unlink()
    assert partition.lost() == (END, [(0, END)])


def test_recovery_of_a_partial_batch_loses_no_offset(partition: Partition) -> None:
    with partition.last.open("ab") as file:
        file.write(bytes(20))
    assert partition.predict()[0] == "recovered"
    assert partition.lost() == (0, [])


def test_no_offsets_are_counted_where_the_broker_does_not_start(partition: Partition) -> None:
    (partition.folder / "copy.log").write_bytes(b"")
    assert partition.lost() == (None, [])


def test_partition_with_an_error_is_never_intact(partition: Partition) -> None:
    """The last batch is gone, and the recovery point says that it was there."""
    with partition.last.open("r+b") as file:
        file.truncate(2139)
    for clean_shutdown in (False, True):
        found = mb.verify(partition.log_dir, clean_shutdown=clean_shutdown)
        assert "log-ends-below" in [finding.code for finding in found.findings]
        assert [row["verdict"] for row in found.partitions] == ["unchanged-damaged"]


def test_quick_and_partial_reads_predict_no_startup(partition: Partition) -> None:
    found = mb.verify(partition.log_dir, quick=True)
    assert [row["verdict"] for row in found.partitions] == ["unknown"]
    assert {row["bytes_after_recovery"] for row in found.segments} == {None}
    found = mb.verify(partition.last)
    (row,) = found.partitions
    assert (row["verdict"], row["log_end_offset_after_recovery"]) == ("intact", None)
    flip(partition.last, FLIPPED + 30)
    (row,) = mb.verify(partition.last).partitions
    assert (row["verdict"], row["recovery"]) == ("unknown", [])
    limits = mb.Limits(max_entry_bytes=300)
    (row,) = mb.verify(partition.log_dir, limits=limits).partitions
    assert row["verdict"] == "unknown"
