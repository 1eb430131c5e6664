"""Test vectors of log directories: several segments with their companion files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from magicbyte_tools.vectors.case import (
    ExpectedFault,
    ExpectedFinding,
    ExpectedRow,
    VectorCase,
)
from magicbyte_tools.vectors.companion_cases import (
    TOPIC_ID,
    checkpoint,
    epochs,
    offset_index,
    producer_snapshot,
    time_index,
)
from magicbyte_tools.vectors.entry_parts import T0, EntryPart, batch, cut, flipped, rec

TOPIC = "events"
META = b"version=1\nnode.id=1\ncluster.id=example-of-a-cluster-id\n"
CLEAN = {".kafka_cleanshutdown": b""}

HIGH_WATERMARK = "replication-offset-checkpoint"
LOG_START = "log-start-offset-checkpoint"
CLEANER = "cleaner-offset-checkpoint"


@dataclass(frozen=True, slots=True)
class PartitionFiles:
    """The files of a partition folder: segments and companion files."""

    segments: Mapping[int, Sequence[EntryPart]]
    """Log entries of each segment, by the segment's base offset."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    topic: str = TOPIC
    number: int = 0
    folder: str | None = None
    """Name of the folder, where it differs from topic-partition."""

    def written(self) -> Iterator[tuple[str, bytes]]:
        folder = self.folder or f"{self.topic}-{self.number}"
        for base, parts in self.segments.items():
            yield f"{folder}/{log_name(base)}", b"".join(part.data for part in parts)
        for name, data in self.files.items():
            yield f"{folder}/{name}", data

    def rows(self) -> Iterator[ExpectedRow]:
        for parts in self.segments.values():
            for part in parts:
                for row in part.rows:
                    yield replace(row, topic=self.topic, partition=self.number)


def log_name(base: int) -> str:
    return f"{base:020}.log"


def hidden(part: EntryPart) -> EntryPart:
    """Return *part* with the same bytes, but with no record that a reader delivers."""
    return replace(part, rows=())


def log_dir(
    name: str,
    why: str,
    *partition_files: PartitionFiles,
    files: Mapping[str, bytes] | None = None,
    findings: Sequence[ExpectedFinding] = (),
    error: ExpectedFinding | None = None,
    caught_by: str = "directory",
    records_before: int = 0,
    **fields: Any,
) -> VectorCase:
    """Return the test vector of a log.dir of *partition_files*, with *files* in its root.

    *error* is the fault that costs records, and the only finding unless *findings* is given. The
    expected records come from *partition_files*; *records_before* of them precede the fault.
    Without *error* the vector is valid. *fields* are further fields of the VectorCase.
    """
    data = {"meta.properties": META, **(files or {})}
    for partition in partition_files:
        data |= dict(partition.written())
    rows = tuple(row for partition in partition_files for row in partition.rows())
    fault = None
    if error is not None:
        fault = ExpectedFault(
            position=error.position,
            caught_by=caught_by,
            code=error.code,
            file=error.file,
            records=rows,
            records_before=records_before,
        )
    return VectorCase(
        format="log_dir",
        name=name,
        why=why,
        verdict="invalid" if error else "valid",
        data=data,
        fault=fault,
        findings=(error,) if error and not findings else tuple(findings),
        **{"rows": rows} | fields,
    )


def one(offset: int, text: bytes = b"value") -> EntryPart:
    return batch(rec(offset, text))


def cases() -> Iterator[VectorCase]:
    return chain(sound(), starts_and_ends(), gaps(), leftovers(), indexes(), damage())


def sound() -> Iterator[VectorCase]:
    yield log_dir(
        "one-segment",
        "What a broker leaves when it stops in order.",
        PartitionFiles(
            {0: [one(0), one(1)]},
            files={
                "partition.metadata": f"version: 0\ntopic_id: {TOPIC_ID}".encode(),
                "leader-epoch-checkpoint": epochs((3, 0)),
                "00000000000000000000.index": b"",
                "00000000000000000000.timeindex": time_index((T0 + 1, 1)),
            },
        ),
        files=CLEAN | {HIGH_WATERMARK: checkpoint((TOPIC, 0, 2))},
        source="LogManager.shutdown",
    )
    yield log_dir(
        "several-partitions",
        "A folder's name ends in the partition's number, behind the last dash.",
        PartitionFiles({0: [one(0, b"of partition 0")]}),
        PartitionFiles({0: [one(0, b"of partition 11")]}, number=11),
        PartitionFiles({0: [one(0, b"of another")]}, topic="topic-with-dashes-2"),
        source="LocalLog.parseTopicPartitionName",
    )
    yield log_dir(
        "several-segments",
        "A segment begins where the one before ends; the last may be empty.",
        PartitionFiles({0: [one(0), one(1)], 2: [one(2)], 3: []}),
        source="LogSegments",
    )


def starts_and_ends() -> Iterator[VectorCase]:
    yield log_dir(
        "log-start-offset",
        "Records below the log's start were deleted, though their bytes are there.",
        PartitionFiles({0: [hidden(one(0)), hidden(one(1)), one(2)]}),
        files={LOG_START: checkpoint((TOPIC, 0, 2))},
        source="KIP-107; LogManager",
    )
    two = batch(rec(0), rec(1))
    yield log_dir(
        "log-start-offset-inside-a-batch",
        "Records were deleted up to the middle of a batch, which stays whole.",
        PartitionFiles({0: [replace(two, rows=two.rows[1:]), one(2)]}),
        files={LOG_START: checkpoint((TOPIC, 0, 1))},
        source="KIP-107",
    )
    yield log_dir(
        "log-start-beyond-the-end",
        "All records lie below the log start: none is left, and a broker's start removes the "
        "segment.",
        PartitionFiles({0: [hidden(one(0)), hidden(one(1))]}),
        files={LOG_START: checkpoint((TOPIC, 0, 5))},
        findings=[ExpectedFinding("log-start-beyond")],
        source="LogLoader.recoverLog",
    )
    yield log_dir(
        "high-watermark-stale",
        "The broker was killed: its high watermark is some seconds old, and withholds nothing.",
        PartitionFiles({0: [one(0), one(1)]}),
        files={HIGH_WATERMARK: checkpoint((TOPIC, 0, 1))},
        findings=[ExpectedFinding("high-watermark-stale")],
        source="ReplicaManager.checkpointHighWatermarks",
    )
    yield log_dir(
        "log-begins-above-its-epochs",
        "The first epoch began at 0, the log begins at 10: the rest is in remote storage, or lost.",
        PartitionFiles(
            {10: [one(10)]},
            files={
                "leader-epoch-checkpoint": epochs((0, 0), (3, 5)),
                "00000000000000000010.snapshot": producer_snapshot(),
            },
        ),
        findings=[ExpectedFinding("log-begins-above")],
        source="a rule of magicbyte; KIP-405",
    )
    yield log_dir(
        "log-ends-below-its-high-watermark",
        "Three records were acknowledged, and are not there: the file was cut between entries, "
        "which the file alone does not show.",
        PartitionFiles({0: [one(0), one(1)]}),
        files=CLEAN | {HIGH_WATERMARK: checkpoint((TOPIC, 0, 5))},
        error=ExpectedFinding("log-ends-below"),
        records_before=2,
        source="a rule of magicbyte",
    )
    yield log_dir(
        "checkpoint-invalid",
        "A checkpoint announces two entries and has one: it counts for nothing.",
        PartitionFiles({0: [one(0)]}),
        files={LOG_START: checkpoint((TOPIC, 0, 1), num_entries=2)},
        findings=[ExpectedFinding("checkpoint-invalid", file=LOG_START)],
        source="CheckpointFile",
    )
    yield log_dir(
        "zero-tail-of-the-last-segment",
        "Only the last segment may end in zeros that nothing has filled.",
        PartitionFiles({0: [one(0)], 1: [one(1), EntryPart(bytes(200))]}),
        findings=[ExpectedFinding("zero-tail", len(one(1)), log_name(1))],
        classes=[6],
        source="log.preallocate",
    )
    yield log_dir(
        "incomplete-tail-of-the-last-segment",
        "Only the last segment may end inside an entry.",
        PartitionFiles({0: [one(0)], 1: [one(1), cut(one(2), 40)]}),
        findings=[ExpectedFinding("incomplete-tail", len(one(1)), log_name(1))],
        classes=[3],
        source="LogSegment.recover",
    )


def gaps() -> Iterator[VectorCase]:
    yield log_dir(
        "offsets-missing-between-segments",
        "Offsets 2 to 4 are in no segment, and the cleaner was never here.",
        PartitionFiles(
            {0: [one(0), one(1)], 5: [one(5)]},
            files={"00000000000000000005.snapshot": producer_snapshot()},
        ),
        files={CLEANER: checkpoint()},
        error=ExpectedFinding("offset-gap", 0, log_name(5)),
        records_before=2,
        source="a rule of magicbyte",
    )
    yield log_dir(
        "offsets-missing-below-the-cleaner",
        "Below the cleaner's offset records go missing by right.",
        PartitionFiles({0: [one(0), one(7)], 9: [one(9)]}),
        files={CLEANER: checkpoint((TOPIC, 0, 9))},
        source="LogCleanerManager",
    )
    short = batch(rec(0), last_offset=4)
    yield log_dir(
        "offsets-missing-in-a-folder-that-looks-cleaned",
        "There is no cleaner's checkpoint; a batch with fewer records than offsets speaks for "
        "cleaning.",
        PartitionFiles({0: [short, one(7)]}),
        findings=[ExpectedFinding("offset-gap-cleaned", len(short), log_name(0))],
        source="a rule of magicbyte",
    )
    far = 2**31 + 10
    yield log_dir(
        "offset-2-gib-above-its-segment",
        "Indexes count offsets from the segment's base in 32 bits: such a segment cannot be "
        "indexed, and is split at the next start.",
        PartitionFiles({0: [one(0), batch(rec(far, time=T0))]}),
        error=ExpectedFinding("offset-gap", len(one(0)), log_name(0)),
        classes=[97],
        records_before=1,
        source="KAFKA-6264",
    )
    outside = ExpectedFinding("offset-outside-segment", len(one(0)), log_name(0))
    yield log_dir(
        "offset-of-the-next-segment",
        "An entry lies in the segment before the one that its offset belongs to: an index "
        "never finds it, a reader gives it twice.",
        PartitionFiles({0: [one(0), one(3)], 3: [one(3, b"again"), one(4)]}),
        findings=[outside, ExpectedFinding("offset-gap", len(one(0)), log_name(0))],
        error=outside,
        classes=[15],
        records_before=2,
        source="LogSegment",
    )


def leftovers() -> Iterator[VectorCase]:
    cleaned = [one(0, b"kept by the cleaner"), one(2, b"kept by the cleaner")]
    for suffix, why in (
        ("swap", "The cleaner had finished: its segment replaces the old one."),
        ("cleaned", "The cleaner had not finished: its segment goes."),
        ("deleted", "The segment waits to be removed, and is none any more."),
    ):
        segment = [one(0), one(1), one(2)]
        data = b"".join(part.data for part in cleaned)
        partition = PartitionFiles({0: segment}, files={f"{log_name(0)}.{suffix}": data})
        rest = PartitionFiles({0: cleaned if suffix == "swap" else segment})
        yield log_dir(
            f"leftover-{suffix}",
            why + " Read both, and records come twice.",
            partition,
            files={CLEANER: checkpoint((TOPIC, 0, 3))},
            classes=[98],
            source="LogLoader; KAFKA-7401",
            rows=tuple(rest.rows()),
        )
    merged_entries = [one(0, b"merged"), one(4, b"merged")]
    yield log_dir(
        "leftover-swap-of-two-segments",
        "The cleaner merged two segments into one: both are superseded, the third is not.",
        PartitionFiles(
            {0: [one(0), one(1), one(2)], 3: [one(3), one(4)], 5: [one(5)]},
            files={f"{log_name(0)}.swap": b"".join(part.data for part in merged_entries)},
        ),
        files={CLEANER: checkpoint((TOPIC, 0, 5))},
        classes=[98],
        source="LogLoader; KAFKA-7401",
        rows=tuple(PartitionFiles({0: merged_entries, 5: [one(5)]}).rows()),
    )
    ident = "0123456789abcdef0123456789abcdef"
    yield log_dir(
        "leftover-folders",
        "Folders that wait to be deleted, copied or assigned are no partitions of this broker.",
        PartitionFiles({0: [one(0)]}),
        *(
            PartitionFiles(
                {0: [hidden(one(0, b"no record of this log"))]},
                topic=f"{state}d",
                folder=f"{state}d-0.{ident}-{state}",
            )
            for state in ("delete", "future", "stray")
        ),
        classes=[98],
        source="LocalLog; KIP-113",
    )
    yield log_dir(
        "segment-missing",
        "An index lies here without its segment: the segment was lost, or never copied.",
        PartitionFiles({0: [one(0)]}, files={"00000000000000000009.index": offset_index((1, 0))}),
        findings=[ExpectedFinding("segment-missing", file="00000000000000000009.index")],
        source="LogLoader.loadSegmentFiles",
    )


def indexes() -> Iterator[VectorCase]:
    segment = {0: [one(0), one(1), one(2)]}
    size = len(one(0))
    for name, files, why in (
        (
            "offset-index-of-garbage",
            {"00000000000000000000.index": b"\xff" * 13},
            "The index is no index: a reader that trusts it jumps into the middle of an entry.",
        ),
        (
            "offset-index-beyond-the-end",
            {"00000000000000000000.index": offset_index((2, 2 * size), (9, 100_000))},
            "The index leads behind the end of the log.",
        ),
        (
            "time-index-of-garbage",
            {"00000000000000000000.timeindex": bytes(range(30))},
            "The times of the index are not those of the log.",
        ),
        (
            "indexes-preallocated",
            {
                "00000000000000000000.index": offset_index((2, 2 * size), zero_tail=bytes(800)),
                "00000000000000000000.timeindex": time_index((T0, 0), zero_tail=bytes(1200)),
            },
            "The broker was killed: both indexes end in zeros.",
        ),
    ):
        yield log_dir(
            name,
            why + " Rows come from the log alone.",
            PartitionFiles(segment, files=files),
            classes=[96],
            source="LogSegmentTest, LogLoaderTest.testCorruptIndexRebuild; KAFKA-10101",
        )


def damage() -> Iterator[VectorCase]:
    yield log_dir(
        "zeros-at-the-end-of-an-earlier-segment",
        "Zeros where offset 1 should be: in a file on its own they are a tail, with a segment "
        "behind it they are a hole.",
        PartitionFiles({0: [one(0), EntryPart(bytes(100))], 2: [one(2)]}),
        error=ExpectedFinding("zeros", len(one(0)), log_name(0)),
        classes=[6],
        records_before=1,
        source="LogLoader.recoverSegment",
    )
    yield log_dir(
        "earlier-segment-ends-inside-an-entry",
        "A cut entry is a tail in the last segment alone; here it is a record that is lost.",
        PartitionFiles({0: [one(0), cut(one(1), 50)], 2: [one(2)]}),
        error=ExpectedFinding("incomplete-entry", len(one(0)), log_name(0)),
        classes=[3],
        records_before=1,
        source="LogLoader.recoverSegment",
    )
    yield log_dir(
        "damage-in-the-second-of-three-segments",
        "A broker would cut the log here and delete all that follows; it is sound.",
        PartitionFiles({0: [one(0)], 1: [hidden(flipped(one(1), 22)), one(2)], 3: [one(3)]}),
        error=ExpectedFinding("checksum-mismatch", 0, log_name(1)),
        caught_by="checksum",
        classes=[14],
        records_before=1,
        source="LogLoader.recoverLog",
        made="one bit of the second segment flipped",
    )
