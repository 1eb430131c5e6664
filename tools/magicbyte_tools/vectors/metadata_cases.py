"""Test vectors of decompressed payloads, log entries, KRaft snapshots and metadata records."""

from collections.abc import Iterator
from itertools import chain

import magicbyte_construct as twin
from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.control_cases import CONTENTS, control, control_batch
from magicbyte_tools.vectors.entry_parts import (
    ABORT,
    T0,
    EntryPart,
    batch,
    i32,
    marker,
    message,
    patched,
    payload,
    rec,
    wrapper,
)
from magicbyte_tools.vectors.framers import GZIP, SNAPPY
from magicbyte_tools.vectors.single_structure import FormatCases

TOPIC_RECORD = bytes.fromhex("0274") + bytes(range(16)) + b"\0"


def cases() -> Iterator[VectorCase]:
    return chain(
        payloads(),
        single_entries(),
        snapshots(),
        metadata_records(),
        tagged_fields(),
        early_leader_changes(),
        kip_931(),
    )


def payloads() -> Iterator[VectorCase]:
    form = FormatCases("kafka_records", "DefaultRecord")
    three = payload(rec(0), rec(1, None, None), rec(2, headers=[(b"h", None)]))
    yield form.whole(
        "three-records", three, "What comes out of a codec: records back to back, and no count."
    )
    yield form.whole("empty", b"", "No records, as in a batch that was emptied.")
    for name, data, classes, why in (
        ("cut", three[:-2], [57], "The last record is not whole."),
        ("length-0", b"\0" + three, [58], "A record of nothing leads to itself."),
        ("length-minus-1", b"\x01" + three, [58], "A negative length leads back."),
        ("zeros", bytes(40), [58], "Zeros are no records: each would have length 0."),
        (
            "key-beyond-the-record",
            payload(rec(0, len_key=105)),
            [60],
            "The key claims bytes that are not there.",
        ),
        (
            "length-varint-too-long",
            b"\x80\x80\x80\x80\x80\x01" + three,
            [71],
            "The length does not end in 5 bytes.",
        ),
    ):
        yield form.broken(name, data, why, classes=classes)
    yield form.broken(
        "bytes-left-in-a-record",
        payload(rec(0, trailing=b"\0\0"), rec(1)),
        "The first record's length counts two bytes that its fields do not use.",
        caught_by="exact",
        classes=[59],
    )


def single_entries() -> Iterator[VectorCase]:
    messages = FormatCases("kafka_message", "LegacyRecord")
    for magic in (0, 1):
        yield messages.whole(
            f"v{magic}", message(rec(5), magic=magic).data, "One entry, which knows its own length."
        )
        yield messages.whole(
            f"v{magic}-wrapper",
            wrapper(rec(5), rec(6), codec=GZIP, magic=magic).data,
            "To a grammar the value of a wrapper is bytes.",
        )
    yield messages.whole(
        "v1-signed", message(rec(-5, time=-6)).data, "Offset and timestamp have signs."
    )
    one = message(rec(5)).data
    for name, data, why in (
        ("cut", one[:-1], "The last byte of the value is missing."),
        ("size-13", one[:8] + i32(13) + one[12:], "Smaller than any message."),
        ("magic-2", batch(rec(5)).data, "A batch is no message."),
        (
            "magic-2-in-the-form-of-v0",
            patched(message(rec(5), magic=0), 16, b"\x02").data,
            "The fields of v0 under a magic that no message has.",
        ),
    ):
        yield messages.broken(name, data, why)
    batches = FormatCases("kafka_record_batch", "DefaultRecordBatch")
    parts = {
        "two-records": batch(rec(5), rec(6)),
        "empty": batch(base_offset=5),
        "snappy": batch(rec(5), rec(6), codec=SNAPPY),
        "marker": marker(ABORT, 5, producer=4000, epoch=5),
    }
    for name, part in parts.items():
        yield batches.whole(name, part.data, "One batch, which knows its own length.")
    one = parts["two-records"].data
    for name, data, why in (
        ("cut", one[:-1], "The last byte of the last record is missing."),
        ("length-48", one[:8] + i32(48) + one[12:], "Smaller than the header."),
        ("magic-1", one[:16] + b"\x01" + one[17:], "A batch has magic 2."),
    ):
        yield batches.broken(name, data, why)


def snapshots() -> Iterator[VectorCase]:
    form = FormatCases("kafka_kraft_snapshot", "RecordsSnapshotWriter; KIP-630")

    def of(*names: str, offset: int) -> EntryPart:
        contents = [CONTENTS[name] for name in names]
        return control_batch(
            *(
                control(kind, value, offset=offset + number)
                for number, (kind, value) in enumerate(contents)
            )
        )

    head = of("snapshot-header", offset=0)
    long_head = of("snapshot-header", "kraft-version", "kraft-voters", offset=0)
    state = batch(
        *(rec(1 + n, record, None, time=T0) for n, record in enumerate(_metadata())),
        partition_leader_epoch=1,
    )
    foot = of("snapshot-footer", offset=state.next_offset)

    def data(*parts: EntryPart) -> bytes:
        return b"".join(part.data for part in parts)

    yield form.whole(
        "header-state-footer",
        data(head, state, foot),
        "Batches as in a log; the first and the last say that it is whole.",
    )
    yield form.whole(
        "header-with-version-and-voters",
        data(long_head, of("snapshot-footer", offset=3)),
        "Since 3.8 the first batch holds three records; there may be no state at all.",
        source="KIP-853",
    )
    for name, raw, why in (
        ("without-its-footer", data(head, state), "A controller stopped while it wrote."),
        ("footer-cut", data(head, state, foot)[:-1], "The last byte is missing."),
        ("without-its-header", data(state, foot), "The first batch is of records."),
        ("batch-behind-the-footer", data(head, foot, state), "Nothing follows a footer."),
        ("byte-1-behind-the-footer", data(head, foot) + b"\x01", "Not even a byte does."),
    ):
        yield form.broken(name, raw, why)


def _metadata() -> Iterator[bytes]:
    yield twin.MetadataRecord.build(
        {"api_key": 12, "version": 0, "message": b"\x11metadata.version\0\x14\0"}
    )
    yield twin.MetadataRecord.build({"api_key": 2, "version": 0, "message": TOPIC_RECORD})


def metadata_records() -> Iterator[VectorCase]:
    form = FormatCases("kafka_metadata_record", "AbstractApiMessageSerde")
    for name, fields, why in (
        ("topic", {"api_key": 2, "message": TOPIC_RECORD}, "A topic, its name and id."),
        ("no-op", {"api_key": 20, "message": b"\0"}, "Written so that the log goes on."),
    ):
        yield form.whole(name, twin.MetadataRecord.build(fields), why)
    for name, fields, why, reason in (
        (
            "frame-version-0",
            {"frame_version": 0, "api_key": 2, "message": TOPIC_RECORD[:-1]},
            "The early access of 2.8 wrote frames of version 0.",
            "Releases after 2.8 read frames of version 1 alone.",
        ),
        (
            "type-in-two-bytes",
            {"api_key": 300, "version": 200, "message": b"\0"},
            "Three numbers of variable length: the message may begin at any byte from 3 on.",
            "No release has a record of this type, and MetadataRecordSerde refuses unknown types.",
        ),
        (
            "without-a-message",
            {"api_key": 20, "message": b""},
            "A frame around no bytes.",
            "MetadataRecordSerde reads the message too, and each has at least its tagged fields.",
        ),
    ):
        yield form.doubtful(
            name,
            twin.MetadataRecord.build(fields),
            why,
            caught_by="exact",
            reason=f"As a frame alone it is sound. {reason}",
            source="MetadataRecordSerde; differences D50",
            is_kafka_refusal=True,
        )
    for name, data, why in (
        ("cut", b"\x01\x02", "The version of the message is missing."),
        ("empty", b"", "A value of no bytes is no frame."),
        ("type-too-long", b"\x01\x80\x80\x80\x80\x80\x01\0", "The type does not end in 5 bytes."),
    ):
        yield form.broken(name, data, why, made="bytes")


def tagged_fields() -> Iterator[VectorCase]:
    form = FormatCases("kafka_tagged_fields", "KIP-482, TaggedFields")
    for name, data, why in (
        ("none", b"\0", "No fields, as every structure ends today: one zero byte."),
        (
            "two",
            b"\x02\x00\x01a\x80\x01\x00",
            "A field of one byte, and one whose number takes two bytes, and which holds none.",
        ),
    ):
        yield form.whole(name, data, why, made="bytes")
    for name, data, why in (
        ("empty", b"", "Not even their number is there."),
        ("data-beyond-the-end", b"\x01\x05\x64ab", "A field claims a hundred bytes of two."),
        ("one-missing", b"\x02\x00\x01a", "Two fields are announced, and one is there."),
        (
            "four-thousand-million",
            b"\xff\xff\xff\xff\x0f",
            "Four thousand million fields are announced, in no bytes.",
        ),
    ):
        yield form.broken(name, data, why, made="bytes")


def early_leader_changes() -> Iterator[VectorCase]:
    form = FormatCases("kafka_early_leader_change", "LeaderChangeMessage.json of 2.7 and 2.8")
    none = {"num_fields": 0, "fields": []}
    voters = [{"voter_id": number, "extension": none} for number in (1, 2)]
    two = b"\x03" + i32(1) + b"\0" + i32(2) + b"\0"
    first = {"leader_id": 1, "num_voters": 3, "voters": voters}
    yield form.whole(
        "of-2-7",
        i32(1) + two + b"\0",
        "The voters alone; the bytes do not say of which release they are.",
        fields=first | {"extension": none},
        made="bytes; the twin has no such format",
    )
    yield form.whole(
        "of-2-8",
        i32(1) + two + b"\x02" + i32(2) + b"\0" + b"\0",
        "The voters, and those of them that voted for the leader.",
        fields=first | {"num_granting_voters": 2, "granting_voters": voters[1:], "extension": none},
        made="bytes; the twin has no such format",
    )
    negative = {"voter_id": -4, "extension": none}
    yield form.whole(
        "of-2-8-signed",
        i32(-3) + b"\x02" + i32(-4) + b"\0" + b"\x01" + b"\0",
        "Node ids have signs; nobody has voted.",
        fields={
            "leader_id": -3,
            "num_voters": 2,
            "voters": [negative],
            "num_granting_voters": 1,
            "granting_voters": [],
            "extension": none,
        },
        made="bytes; the twin has no such format",
    )


def kip_931() -> Iterator[VectorCase]:
    form = FormatCases("kafka_record_batch_kip_931", "KIP-931, discarded")
    records = [
        {"timestamp": T0 + n, "offset_delta": n, "key": b"k", "value": b"v%d" % n} for n in range(3)
    ]
    signed = {
        "timestamp_delta": -1,
        "offset_delta": -2,
        "attributes": -3,
        "key": None,
        "value": None,
        "headers": [{"key": b"", "value": None}, {"key": b"h", "value": b"v"}],
    }
    hollow = {"key": b"", "value": b"", "headers": [{"key": b"", "value": b""}]}
    for name, fields, why in (
        ("three-records", {}, "Records without attributes, and three numbers as varints."),
        (
            "with-record-attributes",
            {"attributes": {"ignore_message_attributes": False}},
            "The bit is not set: records keep the byte that nobody uses.",
        ),
        ("empty", {"records": [], "base_timestamp": -1}, "45 bytes, where v2 takes 61."),
        (
            "signed",
            {
                "base_offset": -4,
                "partition_leader_epoch": -5,
                "attributes": 0xFF78,
                "producer_id": -6,
                "producer_epoch": -7,
                "base_sequence": -8,
                "last_offset_delta": -9,
                "base_timestamp": -10,
                "max_timestamp_delta": -11,
                "records": [signed, hollow],
            },
            "Numbers with a sign are negative, and bits are set but those of the codec and the one "
            "that spares records their attributes; what may be null is empty in the second record.",
        ),
        (
            "zstd",
            {
                "attributes": {"codec": 4},
                "records": b"as it is",
                "num_records": 1,
                "last_offset_delta": 0,
                "base_timestamp": T0,
                "max_timestamp_delta": 0,
            },
            "To a grammar compressed records are bytes.",
        ),
    ):
        data = twin.RecordBatchKip931.build({"records": records, **fields})
        yield form.whole(name, data, why)
    filled = {"trailing": b"\x01"}
    for name, data, why in (
        (
            "byte-1-behind-the-records",
            twin.RecordBatchKip931.build({"records": records, **filled}),
            "A byte lies behind the last record, which the length of the batch counts.",
        ),
        (
            "byte-1-in-a-record",
            twin.RecordBatchKip931.build({"records": [records[0] | filled]}),
            "A byte lies behind the headers, which the length of the record counts.",
        ),
    ):
        yield form.broken(name, data, why)
    data = twin.RecordBatchKip931.build({"records": records})
    yield form.broken("magic-2", data[:16] + b"\x02" + data[17:], "The fields of v2 lie elsewhere.")
    yield form.broken("cut", data[:-1], "The last byte is missing.")
