"""Tests of companion files that are built from log entries, against those that Kafka's recovery writes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import log_builder as log
from companion_cases import (
    INTERVALS,
    answer,
    log_files,
    partition_folders,
    recorded,
    write_random_partitions,
)
from magicbyte.engines.factory import engine
from magicbyte.engines.protocol import Chunk, Entries
from magicbyte.errors import FormatError, InputError
from magicbyte.limits import DEFAULT_LIMITS
from magicbyte.logdir.companions import read_producer_snapshot, read_transaction_index
from magicbyte.writing._companions import CompanionBuilder, OpenTransaction

ANSWERS = recorded()


def sound_entries(data: bytes, max_entries: int) -> Iterator[tuple[Entries, memoryview]]:
    """Yield the entries of the segment *data* up to the first unsound one, and the bytes from each first entry on."""
    position, auto = 0, engine("auto")
    while position < len(data):
        rest = memoryview(data)[position:]
        scan = auto.scan(
            Chunk(rest, position), verify=True, limits=DEFAULT_LIMITS, max_entries=max_entries
        )
        if not len(scan.entries):
            return
        yield scan.entries, rest
        position += scan.end


Segments = list[tuple[int, list[tuple[Entries, memoryview]]]]
"""Base offset of each segment, and what `sound_entries` yields of it."""


def segments_in(folder: Path, max_entries: int) -> Segments:
    """Return the segments of the `.log` files in *folder*."""
    return [
        (int(path.stem), list(sound_entries(path.read_bytes(), max_entries)))
        for path in log_files(folder)
    ]


def built(segments: Segments, interval: int) -> tuple[dict[str, bytes], CompanionBuilder]:
    """Return the companion files of *segments*, and their builder."""
    builder = CompanionBuilder(index_interval_bytes=interval)
    files: dict[str, bytes] = {}
    for base_offset, parts in segments:
        ended = builder.begin_segment(base_offset)
        files |= ended.files if ended else {}
        for entries, data in parts:
            builder.add(entries, data)
    return files | dict(builder.finish().files), builder


@pytest.fixture(scope="module")
def partitions(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the folders of real and random partitions, by key."""
    random_partitions = write_random_partitions(tmp_path_factory.mktemp("random"))
    return dict([*partition_folders(), *random_partitions])


@pytest.mark.parametrize("max_entries", [1, 7, 1000])
def test_companion_files_equal_those_of_a_recovery_by_kafka(
    max_entries: int, partitions: dict[str, Path]
) -> None:
    differing = []
    for key, folder in partitions.items():
        built_files, builders = {}, []
        segments = segments_in(folder, max_entries)
        for interval in INTERVALS:
            built_files[interval], builder = built(segments, interval)
            builders.append(builder)
        ours = answer(built_files, builders[0].log_end_offset, builders[0].last_stable_offset)
        if ours != ANSWERS[key]:
            differing.append((key, ours, ANSWERS[key]))
    assert not differing


def builder_of(*batches: bytes, base_offset: int = 0) -> CompanionBuilder:
    """Return a builder to which a segment with *batches* was added."""
    builder = CompanionBuilder()
    builder.begin_segment(base_offset)
    for entries, data in sound_entries(b"".join(batches), 1000):
        builder.add(entries, data)
    return builder


def test_open_transactions_are_listed_with_what_a_marker_for_them_needs() -> None:
    builder = builder_of(
        log.control(log.COMMIT, 0, 7, coordinator_epoch=3, epoch=1),
        log.transactional(1, 7, count=2, epoch=2, time=5000),
        log.batch(base=3),
        log.transactional(4, 8, epoch=0),
        log.control(log.ABORT, 5, 8),
    )
    assert builder.open_transactions == [
        OpenTransaction(
            producer_id=7,
            producer_epoch=2,
            coordinator_epoch=3,
            first_offset=1,
            last_timestamp=5000,
        )
    ]
    assert (builder.log_end_offset, builder.last_stable_offset) == (6, 1)
    aborted = read_transaction_index(builder.finish().files[f"{0:020}.txnindex"])
    assert [entry[1:] for entry in aborted] == [(8, 4, 5, 1)]


def test_files_of_a_segment_are_returned_when_the_next_one_begins() -> None:
    builder = builder_of(log.batch(base=0, time=1000))
    ended = builder.begin_segment(5)
    assert ended is not None and (ended.base_offset, ended.max_timestamp) == (0, 1000)
    assert list(ended.files) == [f"{0:020}.index", f"{0:020}.timeindex", f"{5:020}.snapshot"]
    last = builder.finish()
    assert (last.base_offset, last.max_timestamp, builder.log_end_offset) == (5, -1, 5)
    assert last.files == {
        f"{5:020}.index": b"",
        f"{5:020}.timeindex": b"",
        f"{5:020}.snapshot": log.producer_snapshot(),
        "leader-epoch-checkpoint": b"0\n1\n0 0\n",
    }


def test_leader_epochs_are_entered_only_where_they_rise() -> None:
    epochs = (-1, 2, 2, 1, 5)
    batches = [log.batch(base=base, leader_epoch=epoch) for base, epoch in enumerate(epochs)]
    builder = builder_of(*batches)
    assert builder.leader_epochs == [(2, 1), (5, 4)]


def test_sequence_after_the_largest_one_starts_at_0_again() -> None:
    builder = builder_of(log.transactional(0, 7, count=3, sequence=(1 << 31) - 2))
    (producer,) = read_producer_snapshot(builder.finish().files[f"{3:020}.snapshot"])
    assert (producer.last_sequence, producer.offset_delta) == (0, 2)


@pytest.mark.parametrize(
    ("batches", "code", "position"),
    [
        ((log.batch(base=5), log.batch(base=5)), "offset-out-of-order", 71),
        ((log.batch(base=4), log.batch(base=4 + (1 << 31))), "offset-outside-segment", 71),
        ((log.batch(base=4), log.control(9, 5, 7)), "bad-control-record", 71),
        ((log.batch(base=4), log.control(1, 5, 7, value=b"")), "bad-control-record", 71),
    ],
)
def test_entry_that_a_recovery_could_not_index_is_refused(
    batches: tuple[bytes, ...], code: str, position: int
) -> None:
    with pytest.raises(FormatError) as raised:
        builder_of(*batches, base_offset=4)
    assert (raised.value.finding.code, raised.value.finding.position) == (code, position)


def test_plain_batch_inside_the_transaction_of_its_producer_is_refused() -> None:
    with pytest.raises(
        FormatError, match="inside the producer's transaction from offset 0"
    ) as raised:
        builder_of(log.transactional(0, 7), log.batch(base=1, producer=7))
    finding = raised.value.finding
    assert (finding.code, finding.base_offset) == ("transaction-interrupted", 1)


def test_segment_that_begins_below_the_end_of_the_one_before_is_refused() -> None:
    with pytest.raises(FormatError, match="base offset 1, and the one before it ends at 2"):
        builder_of(log.batch(base=0, last_delta=1)).begin_segment(1)


def test_partition_without_a_segment_is_refused() -> None:
    with pytest.raises(InputError, match="no segment"):
        CompanionBuilder().finish()
