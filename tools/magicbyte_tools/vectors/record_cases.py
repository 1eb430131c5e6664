"""Test vectors of v2 records with one fault, in batches whose checksums are correct."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from magicbyte_construct import Stored
from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.entry_parts import EntryPart, bad, batch, payload, rec
from magicbyte_tools.vectors.framers import GZIP, zstd, zstd_raw
from magicbyte_tools.vectors.log_case import NEGATIVE_LENGTH, between, either, invalid, last, valid
from magicbyte_tools.vectors.tree import tree

SOURCE = "DefaultRecordTest"
HEADERS = [(b"one", b"1"), (b"two", b"2"), (b"three", b"3")]


def cases() -> Iterator[VectorCase]:
    return chain(lengths(), headers(), varints(), payloads())


def faulty(
    name: str,
    why: str,
    classes: list[int],
    made: str,
    *,
    caught_by: str = "grammar",
    source: str = SOURCE,
    **raw: Any,
) -> VectorCase:
    """Return the test vector of a batch of two records, the second with the faulty fields *raw*."""
    sound = rec(1, b"in the same batch")
    second = rec(2, headers=raw.pop("with_headers", ()))
    part = batch(sound, replace(second, raw=raw))
    return invalid(
        f"record-{name}",
        why,
        between(bad(part)),
        code="bad-record",
        caught_by=caught_by,
        classes=classes,
        payload_position=len(payload(sound)),
        source=source,
        made=f"{made}; the record before it is sound",
    )


def _raw(field: str, value: int) -> dict[str, Any]:
    return {field: value}


def lengths() -> Iterator[VectorCase]:
    yield faulty(
        "longer-than-its-fields",
        "The record claims two bytes more than it uses, which lie behind it.",
        [59],
        "a length of two more, and two bytes behind the headers",
        caught_by="exact",
        trailing=b"\0\0",
    )
    yield faulty(
        "shorter-than-its-fields",
        "The length ends inside the value: the rest would be read as another record.",
        [59],
        "a length of 8",
        len_body=8,
    )
    yield faulty(
        "length-beyond-the-batch",
        "The record claims bytes that are not there, but of which the next entry has enough.",
        [57],
        "a length of 1000",
        source="testInvalidSizeOfBodyInBytes",
        len_body=1000,
    )
    yield faulty(
        "length-0",
        "A record of length 0 leads to its own end: the next fields are another record's.",
        [58],
        "length 0",
        len_body=0,
    )
    yield faulty(
        "length-minus-1",
        "A negative length added to a position leads back, and the loop never ends.",
        [58],
        "length -1",
        len_body=-1,
    )
    yield faulty(
        "length-largest-int32",
        "A buffer made by this length before it is compared with what is left takes 2 GiB.",
        [57],
        "a length of 2^31-1",
        len_body=2**31 - 1,
    )
    for field in ("key", "value"):
        yield faulty(
            f"{field}-beyond-the-record",
            f"The {field} claims bytes behind the record; in an uncompressed batch of many they "
            "would be there.",
            [60] if field == "key" else [61],
            f"the length of the {field} is 105",
            source="testInvalidKeySize" if field == "key" else "testInvalidValueSize",
            **_raw(f"len_{field}", 105),
        )
        negative = batch(
            rec(1, None if field == "value" else b"value", None if field == "key" else b"key",
                **_raw(f"len_{field}", -5)),
        )  # fmt: skip
        yield either(
            f"record-{field}-length-minus-5",
            "Any negative length is null to Kafka, not -1 alone.",
            [negative, last(negative)],
            doubtful=0,
            caught_by="grammar",
            reason=NEGATIVE_LENGTH,
            classes=[60] if field == "key" else [61],
            findings=[("negative-length", 0)],
            source="DefaultRecord.readFrom; differences D22",
            made=f"the length of the null {field} is -5",
        )
    spilled = batch(rec(1, b"v", b"k", len_key=3), rec(2, b"w" * 40))
    yield invalid(
        "record-key-into-the-next-record",
        "The key runs into the next record: who checks against the batch alone delivers it.",
        between(bad(spilled)),
        code="bad-record",
        classes=[60],
        payload_position=0,
        source="DefaultRecord.readFrom",
        made="the length of the first key is 3, of one byte",
    )


def headers() -> Iterator[VectorCase]:
    yield negative_count()
    yield faulty(
        "header-count-100",
        "A hundred headers are claimed, where no byte is left.",
        [63],
        "a count of 100 and no headers",
        source="testInvalidNumHeaders",
        num_headers=100,
    )
    yield faulty(
        "header-count-largest-int32",
        "72 bytes under a right checksum that claim two thousand million headers.",
        [63],
        "a count of 2^31-1 and no headers",
        source="iggy PR 4229; Redpanda PR 26482",
        num_headers=2**31 - 1,
    )
    yield faulty(
        "header-count-4-of-3",
        "One header too many is claimed: it would be read from the next record.",
        [64],
        "a count of 4 and three headers",
        source="testBasicSerdeInvalidHeaderCountTooHigh",
        with_headers=HEADERS,
        num_headers=4,
    )
    yield faulty(
        "header-count-2-of-3",
        "One header is not counted: its bytes are left over.",
        [64],
        "a count of 2 and three headers",
        source="testBasicSerdeInvalidHeaderCountTooLow",
        caught_by="exact",
        with_headers=HEADERS,
        num_headers=2,
    )
    for length, name in ((-1, "null"), (-7, "length-minus-7")):
        yield faulty(
            f"header-key-{name}",
            "A header's key is never null, though its value may be.",
            [65],
            f"a header key of length {length}",
            source="testNullHeaderKey",
            headers=[{"len_key": length, "key": b"", "value": b"v"}],
        )
    for field in ("key", "value"):
        yield faulty(
            f"header-{field}-beyond-the-record",
            f"The header's {field} claims bytes that are not there.",
            [66],
            f"a header's {field} of length 105",
            source="testInvalidHeaderKey, testInvalidHeaderValue",
            headers=[{"key": b"k", "value": b"v", f"len_{field}": 105}],
        )
    written = [{"key": b"k", "value": None, "len_value": -5}]
    negative = _of_headers(written, shown=[("k", None)])
    yield either(
        "record-header-value-length-minus-5",
        "Any negative length of a header's value is null too.",
        [negative, last(negative)],
        doubtful=0,
        caught_by="grammar",
        reason=NEGATIVE_LENGTH,
        source="DefaultRecord.readHeaders",
        made="a header value of length -5",
    )


def negative_count() -> VectorCase:
    """Return the test vector of a record with -1 headers, which a grammar reads as 0 headers."""
    sound = rec(1, b"in the same batch")

    def of(count: int) -> list[EntryPart]:
        second = replace(rec(2), raw={"num_headers": count})
        return between(bad(batch(sound, second)))

    parts = of(-1)
    fields = tree("kafka_log", b"".join(part.data for part in of(0)))
    content = fields["entries"][1]["content"]
    content["crc"] = int.from_bytes(parts[1].data[17:21], "big")
    content["payload"]["records"][1]["body"]["num_headers"] = -1
    return invalid(
        "record-header-count-minus-1",
        "A negative count of headers: a loop does nothing, an array fails.",
        parts,
        code="bad-record",
        caught_by="exact",
        classes=[62],
        payload_position=len(payload(sound)),
        fields=fields,
        source="testInvalidNumHeaders",
        made="a count of -1 and no headers; the record before it is sound",
    )


def _of_headers(
    written: list[dict[str, Any]], *, shown: list[tuple[str, bytes | None]]
) -> EntryPart:
    """Return a batch of one record with the headers *written*, to be delivered as *shown*."""
    one = rec(1, shown_headers=shown)
    return batch(replace(one, raw={"headers": written}))


def varints() -> Iterator[VectorCase]:
    over = (
        ("len_body", "length", b"\x80" * 5 + b"\x01", 71, "varint"),
        ("offset_delta", "offset_delta", b"\x80" * 5 + b"\x01", 71, "varint"),
        ("num_headers", "headers_count", b"\x80" * 5 + b"\x01", 71, "varint"),
        ("timestamp_delta", "timestamp_delta", b"\x80" * 10 + b"\x01", 72, "varlong"),
    )
    for field, kafka_name, stored, row, kind in over:
        yield faulty(
            f"{kafka_name.replace('_', '-')}-too-long",
            f"A {kind} that goes on behind its last byte: no number of its width is written so.",
            [row],
            f"{kafka_name} as {stored.hex()}",
            source="ByteUtilsTest.testInvalidVarint, testInvalidVarlong; differences D14",
            **_raw(field, Stored(0, stored)),
        )
    long = batch(
        rec(1, b"value", b"key",
            timestamp_delta=Stored(0, b"\x80\x80\x00"),
            offset_delta=Stored(0, b"\x80\x00"),
            len_key=Stored(3, b"\x86\x80\x80\x80\x00"),
            len_value=Stored(5, b"\x8a\x00"),
            num_headers=Stored(0, b"\x80\x80\x00")),
    )  # fmt: skip
    yield valid(
        "record-overlong-varints",
        "Zeros on top of a varint change nothing; Java reads them, and so must others.",
        long,
        last(long),
        classes=[74],
        source="ByteUtils.readVarint",
        made="five varints in longer forms than need be",
    )
    spare = batch(
        rec(1, b"value", b"key",
            timestamp_delta=Stored(0, b"\x80" * 9 + b"\x7e"),
            len_key=Stored(3, b"\x86\x80\x80\x80\x70")),
    )  # fmt: skip
    yield either(
        "record-spare-bits-of-varints",
        "The last byte of a varint has bits for which its number has no room.",
        [spare, last(spare)],
        doubtful=0,
        caught_by="grammar",
        classes=[73],
        source="kafka-sharp varlong_overflow_bit_65; differences D15",
        made="the key's length as 8680808070, the timestamp's delta with a 10th byte of 7e",
        reason="Java drops the bits without a word. Nothing writes them, and a reader that takes "
        "them for damage loses nothing that a producer meant.",
    )
    for name, body, why in (
        ("in-its-timestamp", b"\x02\x00", "The record ends where its timestamp should begin."),
        ("in-its-offset", b"\x04\x00\x00", "The record ends where its offset should begin."),
        (
            "in-a-varint",
            b"\x06\x00\x00\x80",
            "The last byte of a varint says that another follows, and none does.",
        ),
        (
            "behind-its-key",
            b"\x0a\x00\x00\x02\x02k",
            "The record ends behind its key: whether it has a value nobody can tell.",
        ),
    ):
        part = batch(rec(1), base_offset=1, section=body, base_time=0, num_records=1)
        yield invalid(
            f"record-ends-{name}",
            why,
            between(bad(part)),
            code="bad-record",
            classes=[70],
            payload_position=0,
            source="testUnderflowReadingTimestamp, testUnderflowReadingVarlong",
            made=f"{body.hex()} as the only record",
        )


def payloads() -> Iterator[VectorCase]:
    plain = payload(rec(1), rec(2))
    packed = zstd(zstd_raw(plain))
    yield invalid(
        "record-is-a-zstd-frame",
        "The attributes say that nothing is compressed, and the records are; checksum right.",
        between(bad(batch(rec(1), rec(2), section=packed))),
        code="bad-record",
        classes=[26, 93],
        payload_position=0,
        source="kafkajs v2_zstd; differences D10; KAFKA-17862",
        made="a zstd frame in the place of the records, codec 0",
    )
    yield invalid(
        "v2-payload-was-never-compressed",
        "The attributes say gzip, and the records lie there as they are.",
        between(bad(batch(rec(1), rec(2), codec=GZIP, section=plain))),
        code="codec-error",
        classes=[93],
        source="perl-kafka v0_gzip_garbage",
        made="the records as they are, codec 1",
    )
