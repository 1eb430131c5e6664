"""Test vectors of control batches: transaction markers, and KRaft's control records."""

from collections.abc import Iterator
from functools import partial
from itertools import chain
from typing import Any

import magicbyte_construct as twin
from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.entry_parts import (
    ABORT,
    COMMIT,
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LEADER_CHANGE,
    SNAPSHOT_FOOTER,
    SNAPSHOT_HEADER,
    T0,
    EntryPart,
    Rec,
    bad,
    batch,
    marker,
    rec,
    transactional,
)
from magicbyte_tools.vectors.framers import GZIP
from magicbyte_tools.vectors.log_case import between, either, invalid, last, valid
from magicbyte_tools.vectors.single_structure import FormatCases

SOURCE = "ControlRecordType, EndTransactionMarker"
DIRECTORY_ID = bytes(range(16))

TAGS = [{"tag": 5, "data": b"of a later release"}]
VOTER = {"voter_id": 1}
ENDPOINT = {"name": "CONTROLLER", "host": "kafka-1.example", "port": 9093}
VOTER_WITH_ENDPOINTS = {
    "voter_id": 1,
    "voter_directory_id": DIRECTORY_ID,
    "endpoints": [ENDPOINT],
    "k_raft_version_feature": {"min_supported_version": 0, "max_supported_version": 1},
}
CONTENTS: dict[str, tuple[int, bytes]] = {
    "abort": (ABORT, twin.EndTransactionMarker.build({"coordinator_epoch": 7})),
    "commit": (COMMIT, twin.EndTransactionMarker.build({"coordinator_epoch": 7})),
    "leader-change": (
        LEADER_CHANGE,
        twin.LeaderChangeMessage.build(
            {"leader_id": 1, "voters": [VOTER, {"voter_id": 2}], "granting_voters": [VOTER]}
        ),
    ),
    "leader-change-version-1": (
        LEADER_CHANGE,
        twin.LeaderChangeMessage.build(
            {
                "version": 1,
                "leader_id": 1,
                "voters": [VOTER | {"voter_directory_id": DIRECTORY_ID}],
                "granting_voters": [],
            }
        ),
    ),
    "snapshot-header": (
        SNAPSHOT_HEADER,
        twin.SnapshotHeaderRecord.build({"last_contained_log_timestamp": T0}),
    ),
    "snapshot-footer": (SNAPSHOT_FOOTER, twin.SnapshotFooterRecord.build({})),
    "kraft-version": (KRAFT_VERSION, twin.KRaftVersionRecord.build({"protocol_version": 1})),
    "kraft-voters": (KRAFT_VOTERS, twin.VotersRecord.build({"voters": [VOTER_WITH_ENDPOINTS]})),
}
"""Type and encoded value of a control record of each kind, by the name of its vector."""

MORE = {"tags": TAGS, "trailing": b"more"}
NEWER: dict[str, tuple[int, bytes]] = {
    "abort": (
        ABORT,
        twin.EndTransactionMarker.build(
            {"version": 2**15 - 1, "coordinator_epoch": -7, "trailing": b"more"}
        ),
    ),
    "leader-change": (
        LEADER_CHANGE,
        twin.LeaderChangeMessage.build(
            {
                "version": -2,
                "leader_id": -3,
                "voters": [{"voter_id": -4, "tags": TAGS}],
                "granting_voters": [{"voter_id": -(2**31)}],
                **MORE,
            }
        ),
    ),
    "snapshot-header": (
        SNAPSHOT_HEADER,
        twin.SnapshotHeaderRecord.build(
            {"version": -2, "last_contained_log_timestamp": -3, **MORE}
        ),
    ),
    "snapshot-footer": (SNAPSHOT_FOOTER, twin.SnapshotFooterRecord.build({"version": -2, **MORE})),
    "kraft-version": (
        KRAFT_VERSION,
        twin.KRaftVersionRecord.build({"version": -2, "protocol_version": -3, **MORE}),
    ),
    "kraft-voters": (
        KRAFT_VOTERS,
        twin.VotersRecord.build(
            {
                "version": -2,
                "voters": [
                    {
                        "voter_id": -3,
                        "voter_directory_id": DIRECTORY_ID,
                        "endpoints": [ENDPOINT | {"port": 2**16 - 1, "tags": TAGS}],
                        "k_raft_version_feature": {
                            "min_supported_version": -4,
                            "max_supported_version": -5,
                            "tags": TAGS,
                        },
                        "tags": TAGS,
                    }
                ],
                **MORE,
            }
        ),
    ),
}
"""Control records of unknown newer versions: negative numbers, and bytes after the known fields."""


def cases() -> Iterator[VectorCase]:
    return chain(markers(), keys(), values(), kraft(), records_alone())


def control(kind: int, value: bytes | None, *, offset: int = 0, **raw: Any) -> Rec:
    """Return a control record of type *kind*; *raw* are further fields of its key."""
    key = twin.ControlRecordKey.build({"control_type": kind, **raw})
    return rec(offset, value, key, time=T0 + offset)


def control_batch(*records: Rec, **fields: Any) -> EntryPart:
    """Return a control batch as KRaft writes it: without a producer id, outside transactions."""
    return batch(*records, is_control=True, **fields)


def marker_batch(record: Rec, **fields: Any) -> EntryPart:
    """Return a transactional control batch that contains the marker *record*."""
    return batch(
        record,
        is_control=True,
        producer_id=4000,
        producer_epoch=5,
        attributes={"is_transactional": True},
        **fields,
    )


def markers() -> Iterator[VectorCase]:
    one = partial(valid, source="KIP-98")
    data = transactional(rec(0), rec(1), producer=4000, epoch=5)
    yield one(
        "control-commit",
        "The marker takes an offset of its own, and is no record: the next offset is one more.",
        data,
        marker(COMMIT, 2, producer=4000, epoch=5),
        last(EntryPart(b"", next_offset=3)),
    )
    yield one(
        "control-abort",
        "An aborted transaction: read_uncommitted delivers its records all the same.",
        data,
        marker(ABORT, 2, producer=4000, epoch=5),
        last(EntryPart(b"", next_offset=3)),
    )
    yield one(
        "control-marker-of-the-next-epoch",
        "Since 4.0 a marker has the epoch of its data plus one: matching both by epoch fails.",
        data,
        marker(COMMIT, 2, producer=4000, epoch=6),
        transactional(rec(3), producer=4000, epoch=6),
        marker(ABORT, 4, producer=4000, epoch=7),
    )
    yield one(
        "control-abort-twice",
        "A second marker for the same transaction ends nothing.",
        data,
        marker(ABORT, 2, producer=4000, epoch=5),
        marker(ABORT, 3, producer=4000, epoch=5),
        classes=[79],
    )
    yield one(
        "control-marker-of-no-transaction",
        "The data of the transaction are gone, deleted or cleaned; the marker stays.",
        marker(COMMIT, 0, producer=4000, epoch=5),
        last(EntryPart(b"", next_offset=1)),
        classes=[79],
    )
    yield one(
        "control-transactions-interleaved",
        "Two producers' transactions overlap: each marker ends that of its own producer id.",
        transactional(rec(0), producer=1),
        transactional(rec(1), producer=2),
        marker(ABORT, 2, producer=1),
        transactional(rec(3), producer=1, sequence=1),
        marker(COMMIT, 4, producer=2),
        marker(COMMIT, 5, producer=1),
    )
    compressed = marker_batch(control(COMMIT, CONTENTS["commit"][1], offset=1), codec=GZIP)
    yield one(
        "control-marker-compressed",
        "No broker compresses a marker; a reader does what the attributes say.",
        batch(rec(0)),
        compressed,
        last(compressed),
        classes=[51],
    )
    alone = batch(
        control(COMMIT, CONTENTS["commit"][1], offset=1),
        is_control=True,
        attributes={"is_transactional": True},
    )
    yield one(
        "control-marker-without-a-producer",
        "A marker of nobody ends nothing, and gives no row.",
        batch(rec(0)),
        alone,
        last(alone),
        classes=[51],
    )


def keys() -> Iterator[VectorCase]:
    value = CONTENTS["commit"][1]
    for name, key, why in (
        ("null", None, "A control record without a key has no type."),
        ("empty", b"", "A key of no bytes has no type."),
        ("of-3-bytes", b"\0\0\0", "Version and type take two bytes each; one is missing."),
    ):
        yield invalid(
            f"control-key-{name}",
            why + " Taken for an abort, it would delete rows.",
            between(bad(marker_batch(rec(1, value, key)))),
            code="bad-control-record",
            caught_by="exact",
            classes=[75],
            payload_position=0,
            source="ControlRecordTypeTest",
            made=f"a control record whose key is {'null' if key is None else key.hex() or 'empty'}",
        )
    for version, name in ((-1, "minus-1"), (-(2**15), "least-int16")):
        yield invalid(
            f"control-key-version-{name}",
            "The version has a sign: who reads it without takes 65535 for a newer one.",
            between(bad(marker_batch(control(COMMIT, value, offset=1, version=version)))),
            code="bad-control-record",
            classes=[76],
            payload_position=0,
            source="ControlRecordType.parse; differences D16",
            made=f"version {version} in the key",
        )
    for name, part, findings in (
        (
            "type-337",
            marker_batch(control(337, b"whatever", offset=1)),
            [("unknown-control-type", 1)],
        ),
        (
            "type-minus-1",
            marker_batch(control(-1, b"", offset=1)),
            [("unknown-control-type", 1)],
        ),
        (
            "key-version-5",
            marker_batch(control(COMMIT, value, offset=1, version=5, trailing=b"\x01")),
            [],
        ),
    ):
        yield valid(
            f"control-{name}",
            "A type that nobody knows ends no transaction, and is none of an error."
            if findings
            else "A newer version of the key is read as the first, its new bytes are passed over.",
            *between(part),
            classes=[77],
            findings=findings,
            source="testParseUnknownType, testParseUnknownVersion; differences D17",
        )


def values() -> Iterator[VectorCase]:
    newer = twin.EndTransactionMarker.build({"version": 3, "trailing": b"more"})
    yield valid(
        "control-marker-value-version-3",
        "A newer version of the value is read as the first.",
        *between(marker_batch(control(COMMIT, newer, offset=1))),
        classes=[77],
        source="EndTransactionMarkerTest",
    )
    yield valid(
        "control-marker-value-null",
        "The key alone says how the transaction ended; the coordinator's epoch is lost.",
        *between(marker_batch(control(COMMIT, None, offset=1))),
        classes=[78],
        findings=[("bad-marker-value", 1)],
        source="EndTransactionMarkerTest; differences D30",
    )
    for name, value, why in (
        ("empty", b"", "The value has no bytes: the key alone says how it ended."),
        ("of-3-bytes", b"\0\0\0", "The value ends in the coordinator's epoch; the key is whole."),
        (
            "version-minus-1",
            b"\xff\xff\0\0\0\x07",
            "The version of the value is negative; the key is whole.",
        ),
    ):
        yield either(
            f"control-marker-value-{name}",
            why,
            between(marker_batch(control(COMMIT, value, offset=1))),
            caught_by="grammar",
            classes=[78],
            findings=[("bad-marker-value", 1)],
            has_fields=False,
            source="EndTransactionMarkerTest; differences D30",
            made=f"the marker's value is {value.hex() or 'empty'}",
            reason="Kafka's consumer decides by the key and never decodes the value; a broker "
            "that replays its log does, and fails.",
        )


def kraft() -> Iterator[VectorCase]:
    def of(*names: str, offset: int = 0) -> EntryPart:
        contents = [CONTENTS[name] for name in names]
        records = [
            control(kind, value, offset=offset + number)
            for number, (kind, value) in enumerate(contents)
        ]
        return control_batch(*records)

    first = of("leader-change-version-1", "kraft-version", "kraft-voters")
    yield valid(
        "control-kraft-several-records",
        "KRaft's control batches are in no transaction, and may hold several records: 'a "
        "control batch has one record' holds for markers alone.",
        first,
        batch(rec(3)),
        classes=[51],
        source="KIP-595, KIP-853",
    )
    yield valid(
        "control-kraft-leader-change",
        "The first entry of a leader's epoch in __cluster_metadata; consumers never see it.",
        of("leader-change"),
        batch(rec(1)),
        source="LeaderChangeMessage.json",
    )


def records_alone() -> Iterator[VectorCase]:
    def data(kind: int, value: bytes | None, **raw: Any) -> bytes:
        one = control(kind, value, **raw)
        assert one.key is not None
        lengths = len(one.key), -1 if value is None else len(value)
        len_key, len_value = map(twin.Varint.build, lengths)
        return bytes(len_key + one.key + len_value + (value or b""))

    form = FormatCases("kafka_control_record", SOURCE)
    for name, (kind, value) in CONTENTS.items():
        yield form.whole(
            name,
            data(kind, value),
            f"Key and value of a record of type {kind}, as they lie in a control batch.",
            source="ControlRecordType; the JSON files of its messages",
        )
    for name, (kind, value) in NEWER.items():
        yield form.whole(
            f"{name}-signed-and-longer",
            data(kind, value, version=2**15 - 1, trailing=b"more"),
            "Its numbers have signs, a port has none, and what a newer version appends is "
            "passed over.",
            source="ControlRecordType; the JSON files of its messages",
        )
    yield form.whole(
        "type-337",
        data(337, b"\x01\x02\x03"),
        "A type that is not known: its value is bytes.",
        classes=[77],
        source="testParseUnknownType",
    )
    yield form.whole(
        "key-version-5-with-more",
        data(COMMIT, CONTENTS["commit"][1], version=5, trailing=b"\x01"),
        "A newer key goes on behind what is known of it.",
        classes=[77],
        source="testParseUnknownVersion",
    )
    yield form.whole(
        "marker-without-a-value",
        data(COMMIT, None),
        "The value is null: there is a key, and nothing more.",
        classes=[78],
    )
    yield form.whole(
        "snapshot-footer-with-a-tag",
        data(SNAPSHOT_FOOTER, twin.SnapshotFooterRecord.build({"tags": TAGS})),
        "A later release adds a field by its number: a reader that does not know it skips it.",
        source="KIP-482",
    )
    voters = CONTENTS["kraft-voters"][1]
    for name, raw, why, classes in (
        (
            "key-of-3-bytes",
            b"\x06\0\0\0\x00",
            "Version and type take two bytes each; one is missing.",
            [75],
        ),
        (
            "key-version-minus-1",
            data(COMMIT, CONTENTS["commit"][1], version=-1),
            "The version of the key is negative.",
            [76],
        ),
        ("marker-value-cut", data(COMMIT, b"\0\0\0"), "The value ends too early.", [78]),
        (
            "marker-value-version-minus-1",
            data(COMMIT, b"\xff\xff\0\0\0\x07"),
            "The version of the value is negative.",
            [78],
        ),
        (
            "value-beyond-the-end",
            data(COMMIT, CONTENTS["commit"][1])[:-2],
            "The value's length leads past the end.",
            [61],
        ),
        (
            "voters-cut",
            data(KRAFT_VOTERS, voters[: len(voters) // 2]),
            "The list of voters ends in the middle of one.",
            [],
        ),
        (
            "voters-beyond-the-end",
            data(KRAFT_VOTERS, b"\0\0\xff\xff\xff\xff\x07"),
            "Two thousand million voters are claimed, in no bytes.",
            [63],
        ),
        (
            "tag-beyond-the-end",
            data(SNAPSHOT_FOOTER, b"\0\0\x01\x05\x64"),
            "A tagged field claims a hundred bytes, and has none.",
            [],
        ),
    ):
        yield form.broken(name, raw, why, classes=classes)
