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
from magicbyte.decoding.frame_search import find_frames
from magicbyte.decoding.framed_values import FramedDecoder, rows_of_schemas
from magicbyte.decoding.message_indexes import index_paths, read_indexes
from magicbyte.decoding.schema_decoders import SchemaDecoders
from magicbyte.decoding.schema_frames import (
    FIRST_BYTES,
    NO_ID,
    FrameKind,
    Prefixes,
    has_first_bytes,
)
from magicbyte.decoding.schema_text import SchemaText

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


def test_each_frame_begins_with_one_of_the_first_bytes():
    for first in range(256):
        contents = [bytes([first, second]) + bytes([67]) * 40 for second in range(256)]
        frames = find_frames(pa.array(contents, pa.binary()), None, "value")
        assert (first in FIRST_BYTES) == bool((frames.kinds > 0).any())


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        ([], False),
        ([None, b""], False),
        ([None, b"\0\0\0\0\1a"], True),
        ([None, b"x", b"\3\0"], False),  # one of two
        ([b"", b"\1", b"\xc3\1"], True),
        ([b"a"] * 5 + [None, b"\0"], False),
    ],
)
def test_most_values_have_a_first_byte_of_frames(contents: list[bytes | None], expected: bool):
    values = pa.array(contents, pa.binary())
    assert has_first_bytes(values) is expected
    around = pa.array([b"\0", *contents, b"\0"], pa.binary())
    assert has_first_bytes(around.slice(1, len(contents))) is expected


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
            (FrameKind.APICURIO_GLOBAL_ID, 77, None, 0),
        ),
        (
            {"apicurio.value.contentId": struct.pack(">q", 2**40)},
            (FrameKind.APICURIO_CONTENT_ID, 2**40, None, 0),
        ),
        (
            {
                "apicurio.value.contentId": struct.pack(">q", 5),
                "apicurio.value.globalId": struct.pack(">q", 6),
                "apicurio.value.artifactId": b"a",
            },
            (FrameKind.APICURIO_CONTENT_ID, 5, None, 0),
        ),
        (
            {"apicurio.value.groupId": b"g", "apicurio.value.artifactId": b"a"},
            (FrameKind.APICURIO_ARTIFACT, NO_ID, '[null, "g", "a", null]', 0),
        ),
        (
            {"apicurio.value.contentHash": b"ab", "apicurio.value.version": b"1.0"},
            (FrameKind.APICURIO_ARTIFACT, NO_ID, '["ab", null, null, "1.0"]', 0),
        ),
        ({"apicurio.value.version": b"1.0"}, (FrameKind.CONFLUENT, 3, None, 5)),
        ({"apicurio.value.globalId": b"7"}, (FrameKind.CONFLUENT, 3, None, 5)),
        ({"apicurio.key.globalId": struct.pack(">q", 77)}, (FrameKind.CONFLUENT, 3, None, 5)),
        (
            {"apicurio.value.schema": b'"int"', "apicurio.value.globalId": struct.pack(">q", 7)},
            (FrameKind.SCHEMA_HEADER, 7, '["\\"int\\"", null]', 0),
        ),
        (
            {"apicurio.value.schema": b"{}", "apicurio.value.schemaType": b"JSON"},
            (FrameKind.SCHEMA_HEADER, NO_ID, '["{}", "JSON"]', 0),
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


def test_last_header_of_a_name_counts():
    pairs = [{"key": "apicurio.value.globalId", "value": struct.pack(">q", one)} for one in (1, 2)]
    values = pa.array([b"x", b"y", None], pa.binary())
    frames = find_frames(values, pa.array([pairs, [], pairs], HEADERS), "value")
    assert frames.ids.tolist() == [2, NO_ID, NO_ID]
    assert frames.kinds.tolist() == [FrameKind.APICURIO_GLOBAL_ID, 0, 0]


def test_headers_name_protobuf_messages_and_the_encoding_of_avro():
    for side, name in (("value", "apicurio.protobuf.type"), ("key", "apicurio.protobuf.type.key")):
        pairs = [
            {"key": name, "value": b"Money"},
            {"key": f"apicurio.{side}.encoding", "value": b"JSON"},
        ]
        other = [{"key": f"apicurio.{side}.encoding", "value": b"BINARY"}]
        values = pa.array([b"x", b"y"], pa.binary())
        frames = find_frames(values, pa.array([pairs, other], HEADERS), side)
        assert [frames.message_names.get(row) for row in (0, 1)] == ["Money", None]
        assert frames.are_json.tolist() == [True, False]


class OneSchema:
    """A registry of one schema, which all frames name."""

    def __init__(self, schema_text: SchemaText) -> None:
        self._schema_text = schema_text

    def schema_of(self, frame_kind: FrameKind, id_: int, token: str | None) -> SchemaText:
        return self._schema_text


def test_rows_are_grouped_by_frame_however_many_frames_there_are():
    random = Random(3)
    for num_frames in (1, 3, 40):
        guids = [random.randbytes(16) for _ in range(num_frames)]
        contents: list[bytes | None] = [
            random.choice(
                [
                    b"\x01" + random.choice(guids),
                    struct.pack(">bi", 0, random.randrange(num_frames) + 1),
                    b"",
                    None,
                ]
            )
            for _ in range(300)
        ]
        values = pa.array(contents, pa.binary())
        frames = find_frames(values, None, "value")
        groups = list(
            rows_of_schemas(values, frames, OneSchema(SchemaText(schema_type="AVRO", text='"int"')))
        )
        by_content: dict[bytes, list[int]] = {}
        for row, content in enumerate(contents):
            if content:
                by_content.setdefault(content, []).append(row)
        assert sorted(group.rows.tolist() for group in groups) == sorted(by_content.values())


def test_ids_of_eight_bytes_in_headers_are_told_apart():
    # Ids that differ in their highest bits only.
    ids = [1, 1 + (1 << 60), -(1 << 63), (1 << 63) - 1]
    headers = [
        [{"key": "apicurio.value.contentId", "value": struct.pack(">q", one)}] for one in ids
    ]
    values = pa.array([b"x"] * len(ids), pa.binary())
    frames = find_frames(values, pa.array(headers, HEADERS), "value")
    seen: list[int] = []

    class Noted:
        def schema_of(self, frame_kind: FrameKind, id_: int, token: str | None) -> None:
            seen.append(id_)

    assert len(list(rows_of_schemas(values, frames, Noted()))) == len(ids)
    assert sorted(seen) == sorted(ids)


REF = b"\x07\x0a\x05Money"


@pytest.mark.parametrize(
    ("content", "path", "start"),
    [
        (REF + b"body", "Money", 8),
        (REF, "Money", 8),
        (b"\0body", (0,), 1),
        (b"\x06\x0a\x04\x06ney", (5, 2, 3), 4),
        (b"\x07\x0a\x04Money", None, 0),
        (b"\x07\x0a\x05Mon\x00y", None, 0),
        (b"\x07\x0a\x05Mo", None, 0),
    ],
)
def test_name_of_a_message_of_apicurio_is_before_the_body(content: bytes, path: Any, start: int):
    values = pa.array([b"\0\0\0\0\x07" + content], pa.binary())
    frames = find_frames(values, None, "value")
    paths, starts = index_paths(Prefixes(values), frames, np.array([0]))
    assert (paths, starts.tolist()) == ([path], [5 + start])


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
    schema = SchemaText(schema_type="AVRO", text='"string"')
    decoder = FramedDecoder(
        "value", OneSchema(schema), SchemaDecoders(), {"string": (schema, None)}
    )
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
