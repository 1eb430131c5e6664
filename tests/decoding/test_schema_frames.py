"""Tests of the frames before keys and values, byte by byte as each serializer writes them."""

import struct
import uuid
import zlib
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from magicbyte.decoding._value_slices import body_slices
from magicbyte.decoding.avro import AvroDecoder, parse_schema
from magicbyte.decoding.message_indexes import read_indexes
from magicbyte.decoding.schema_frames import NO_ID, FrameKind, find_frames

GUID = uuid.UUID(int=0x0102030405060708090A0B0C0D0E0F10)
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))


def frame_of(content: bytes | None, headers: dict[str, bytes] | None = None) -> tuple[Any, ...]:
    """Return kind, id, token and start of the frame of a value, behind and before others."""
    values = pa.array([b"\0\0", content, b"x" * 40], pa.binary())
    pairs = [{"key": name, "value": value} for name, value in (headers or {}).items()]
    frames = find_frames(values, pa.array([[], pairs, None], HEADERS), "value")
    assert frames.kinds[0] == frames.kinds[2] == FrameKind.NONE
    return (
        FrameKind(frames.kinds[1]),
        int(frames.ids[1]),
        frames.tokens.get(1),
        int(frames.body_starts[1]),
    )


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (None, (FrameKind.NONE, NO_ID, None, 0)),
        (b"", (FrameKind.NONE, NO_ID, None, 0)),
        (b"\0\0\0\0", (FrameKind.NONE, NO_ID, None, 0)),
        (b"\0\0\0\0\x07", (FrameKind.CONFLUENT, 7, None, 5)),
        (b"\0\x7f\xff\xff\xffbody", (FrameKind.CONFLUENT, 2**31 - 1, None, 5)),
        (b"\x01" + GUID.bytes, (FrameKind.CONFLUENT_GUID, NO_ID, str(GUID), 17)),
        (b"\x01" + GUID.bytes[:15], (FrameKind.NONE, NO_ID, None, 0)),
        (b"\0" + struct.pack(">q", 9) + b"x", (FrameKind.APICURIO_8_BYTES, 9, None, 9)),
        (b"\0\0\0\0\0" + b"\0\0\0", (FrameKind.CONFLUENT, 0, None, 5)),
        (b"\x03\x00" + GUID.bytes + b"b", (FrameKind.GLUE, NO_ID, str(GUID), 18)),
        (b"\x03\x05" + GUID.bytes, (FrameKind.GLUE_ZLIB, NO_ID, str(GUID), 18)),
        (b"\x03\x01" + GUID.bytes, (FrameKind.NONE, NO_ID, None, 0)),
        (b"\0" * 4 + b"0af" * 10 + b"00", (FrameKind.AZURE_PREFIX, NO_ID, "0af" * 10 + "00", 36)),
        (
            b"\xc3\x01\x08\x07\x06\x05\x04\x03\x02\x01",
            (FrameKind.SINGLE_OBJECT, NO_ID, "0102030405060708", 10),
        ),
    ],
)
def test_frame_is_recognized_by_its_bytes(content: bytes | None, expected: tuple[Any, ...]):
    assert frame_of(content) == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (
            {"__value_schema_id": b"\x01" + GUID.bytes},
            (FrameKind.CONFLUENT_HEADER_GUID, NO_ID, str(GUID), 0),
        ),
        ({"__value_schema_id": b"\0\0\0\0\x05"}, (FrameKind.CONFLUENT_HEADER, 5, None, 0)),
        ({"__value_schema_id": b"\0\0"}, (FrameKind.CONFLUENT, 3, None, 5)),
        ({"__key_schema_id": b"\0\0\0\0\x05"}, (FrameKind.CONFLUENT, 3, None, 5)),
        (
            {"apicurio.value.globalId": struct.pack(">q", 77)},
            (FrameKind.APICURIO_HEADER, 77, None, 0),
        ),
        (
            {"content-type": b"avro/binary+" + b"0123456789ABCDEF" * 2},
            (FrameKind.AZURE_HEADER, NO_ID, "0123456789abcdef" * 2, 0),
        ),
        ({"content-type": b"application/json"}, (FrameKind.CONFLUENT, 3, None, 5)),
    ],
)
def test_header_counts_more_than_bytes_that_look_framed(
    headers: dict[str, bytes], expected: tuple[Any, ...]
):
    assert frame_of(b"\0\0\0\0\x03body", headers) == expected


def test_frames_of_a_slice_are_those_of_its_rows():
    values = pa.array([None, b"\0\0\0\0\x05a", b"\0\0\0\0\x06b", b"z"], pa.binary())
    frames = find_frames(values.slice(2), None, "key")
    assert frames.ids.tolist() == [6, NO_ID]


def test_single_object_frame_has_the_fingerprint_of_the_schema():
    schema = parse_schema('"int"')
    content = b"\xc3\x01" + schema.canonical_fingerprint().to_bytes(8, "little") + b"\x02"
    assert frame_of(content)[2] == f"{schema.canonical_fingerprint():016x}"
    assert AvroDecoder(schema).decode(pa.array([content]), 10).array.to_pylist() == [1]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"\0", ((0,), 1)),
        (b"\x02\x02", ((1,), 2)),
        (b"\x04\x02\x00rest", ((1, 0), 3)),
        (b"\x02\x80\x02", ((128,), 3)),
        (b"", None),
        (b"\x02", None),
        (b"\x01\x00", None),
        (b"\x02\x01", None),
        (b"\xff\xff\xff\xff\xff\xff\xff", None),
        (b"\xfe\x01" + b"\0" * 10, None),
    ],
)
def test_message_indexes_are_zigzag_numbers_behind_their_count(data: bytes, expected: Any):
    assert read_indexes(data) == expected


def test_compressed_body_of_glue_is_bounded():
    from magicbyte.decoding.framed_values import FramedDecoder
    from magicbyte.decoding.schema_decoders import SchemaDecoders
    from magicbyte.decoding.schema_text import SchemaText

    schema = SchemaText(schema_type="AVRO", text='"string"')

    class OneSchema:
        def schema_of(self, frame_kind: FrameKind, id_: int, token: str | None) -> SchemaText:
            return schema

    decoder = FramedDecoder("value", OneSchema(), SchemaDecoders(), {"string": (schema, None)})
    prefix = b"\x03\x05" + GUID.bytes
    contents = [
        prefix + zlib.compress(b"\x04ab"),
        prefix + zlib.compress(b"\0" * (1 << 27)),
        prefix + b"no zlib",
    ]
    decoded = decoder.decode(pa.array(contents, pa.binary()), None)
    assert decoded.array.to_pylist() == ["ab", None, None]
    assert decoded.fault_codes.tolist()[1:] == [1014, 1014]


def test_bodies_of_values_are_cut_at_both_ends():
    random = Random(1)
    for _ in range(1000):
        sizes = [random.choice([0, 1, 5, 20, 200]) for _ in range(6)]
        contents = [None if size == 1 else random.randbytes(size) for size in sizes]
        values = pa.array(contents, pa.binary()).slice(random.randrange(3))
        contents = values.to_pylist()
        starts = np.array([random.randrange(120) for _ in contents], np.int32)
        start, end = random.choice([0, 5, 100]), random.choice([0, 3, 90])
        for begins, numbers in ((starts, starts.tolist()), (start, [start] * len(contents))):
            bodies = body_slices(values, begins, end)
            bodies.validate(full=True)
            assert bodies.to_pylist() == [
                None if one is None else one[number : max(len(one) - end, number)]
                for one, number in zip(contents, numbers, strict=True)
            ]
