"""Rules of Protobuf where decoders differ: each case is decoded as google.protobuf has it, and hostile bytes are faults."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

pytest.importorskip("google.protobuf", reason="the extra protobuf is not installed")

from google.protobuf import any_pb2, descriptor_pb2, struct_pb2, timestamp_pb2
from google.type import date_pb2

from magicbyte.decoding.faults import fault_name
from magicbyte.decoding.protobuf import ProtobufDecoder, ProtobufFiles
from magicbyte.decoding.protobuf import _batch_decoder as batch_decoder
from magicbyte.engines.columnar import _buffers, protobuf_columns
from magicbyte.engines.columnar.protobuf_program import UNUSUAL, USUAL
from magicbyte.errors import SchemaError

from .protobuf_judge import by_google_protobuf

Field = descriptor_pb2.FieldDescriptorProto
OPTIONAL, REPEATED = Field.LABEL_OPTIONAL, Field.LABEL_REPEATED
INT32, STRING, MESSAGE = Field.TYPE_INT32, Field.TYPE_STRING, Field.TYPE_MESSAGE


def field(name: str, number: int, type_: Any, type_name: str = "", label: Any = OPTIONAL) -> Any:
    made = Field(name=name, number=number, type=type_, label=label)
    if type_name:
        made.type_name = type_name
    return made


def message(name: str, *fields: Any, **more: Any) -> Any:
    return descriptor_pb2.DescriptorProto(name=name, field=fields, **more)


def decoder_of(*messages: Any, syntax: str = "proto3", imports: Any = (), **more: Any) -> Any:
    """Return the decoder of the last of *messages*, of a file of *syntax* that imports the modules *imports*."""
    protos = []
    for module in imports:
        proto = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(proto)
        protos.append(proto)
    if syntax == "editions":
        more["edition"] = descriptor_pb2.EDITION_2023
    file = descriptor_pb2.FileDescriptorProto(
        name="t.proto",
        syntax=syntax,
        dependency=[proto.name for proto in protos],
        message_type=messages,
        **more,
    )
    known = descriptor_pb2.FileDescriptorSet(file=[*protos, file])
    files = ProtobufFiles(known.SerializeToString(), None, "t.proto")
    return ProtobufDecoder(files.named(messages[-1].name))


def outcome(decoder: Any, *contents: bytes) -> list[Any]:
    """Return each value, or the name of its fault."""
    decoded = decoder.decode(pa.array(contents, pa.binary()), 0)
    decoded.array.validate(full=True)
    pairs = zip(decoded.array.to_pylist(), decoded.error_codes.tolist(), strict=True)
    return [fault_name(code) if code else value for value, code in pairs]


def test_groups_are_decoded() -> None:
    group = field("g", 1, Field.TYPE_GROUP, ".M.G", REPEATED)
    decoder = decoder_of(
        message("M", group, nested_type=[message("G", field("x", 1, INT32))]), syntax="proto2"
    )
    assert outcome(decoder, b"\x0b\x08\x01\x0c\x0b\x0c") == [{"g": [{"x": 1}, {"x": None}]}]


def test_editions_are_decoded() -> None:
    decoder = decoder_of(message("M", field("a", 1, INT32)), syntax="editions")
    assert outcome(decoder, b"\x08\x00", b"") == [{"a": 0}, {"a": None}]


def test_text_of_proto2_that_is_not_utf8_is_a_fault_of_its_record_alone() -> None:
    decoder = decoder_of(message("M", field("a", 1, STRING)), syntax="proto2")
    assert outcome(decoder, b"\n\x01x", b"\n\x01\xff", b"") == [{"a": "x"}, "utf8", {"a": None}]


def test_number_that_a_closed_enum_does_not_have_is_no_value() -> None:
    enum = descriptor_pb2.EnumDescriptorProto(name="E")
    enum.value.add(name="A", number=3)
    one, many = (
        field("one", 1, Field.TYPE_ENUM, ".E"),
        field("many", 2, Field.TYPE_ENUM, ".E", REPEATED),
    )
    decoder = decoder_of(message("M", one, many), syntax="proto2", enum_type=[enum])
    assert outcome(decoder, b"\x08\x03\x10\x03", b"\x08\x07\x10\x03\x10\x07\x10\x03") == [
        {"one": "A", "many": ["A"]},
        {"one": None, "many": ["A", "A"]},
    ]


def test_last_member_of_a_oneof_and_last_value_of_a_map_key_count() -> None:
    entry = message("EEntry", field("key", 1, INT32), field("value", 2, INT32))
    entry.options.map_entry = True
    fields = [
        field("a", 1, INT32),
        field("b", 2, INT32),
        field("e", 3, MESSAGE, ".M.EEntry", REPEATED),
    ]
    fields[0].oneof_index = fields[1].oneof_index = 0
    one_of = [descriptor_pb2.OneofDescriptorProto(name="o")]
    decoder = decoder_of(message("M", *fields, nested_type=[entry], oneof_decl=one_of))
    assert outcome(
        decoder,
        b"\x08\x01\x10\x02",
        b"\x1a\x04\x08\x01\x10\x02\x1a\x04\x08\x01\x10\x03",
        b"\x1a\x02\x08\x01",
    ) == [
        {"a": None, "b": 2, "e": []},
        {"a": None, "b": None, "e": [(1, 3)]},
        {"a": None, "b": None, "e": [(1, 0)]},
    ]


def test_map_entry_with_other_fields_is_left_out() -> None:
    entry = message("EEntry", field("key", 1, INT32), field("value", 2, INT32))
    entry.options.map_entry = True
    decoder = decoder_of(
        message("M", field("e", 1, MESSAGE, ".M.EEntry", REPEATED), nested_type=[entry])
    )
    content = b"\n\x04\x08\x01\x10\x02" + b"\n\x06\x08\x03\x10\x04\x18\x05"
    assert outcome(decoder, content) == [{"e": [(1, 2)]}]


def test_enum_numbers_without_a_name_are_text() -> None:
    sparse = descriptor_pb2.EnumDescriptorProto(name="S")
    dense = descriptor_pb2.EnumDescriptorProto(name="D")
    for name, number in (("ZERO", 0), ("FAR", 1 << 30), ("BELOW", -7)):
        sparse.value.add(name=name, number=number)
    for name, number in (("NONE", 0), ("ONE", 1), ("TWO", 2)):
        dense.value.add(name=name, number=number)
    members = (
        field("s", 1, Field.TYPE_ENUM, ".S"),
        field("d", 2, Field.TYPE_ENUM, ".D", REPEATED),
    )
    decoder = decoder_of(message("M", *members), enum_type=[sparse, dense])
    below, far = b"\x08" + b"\xf9" + b"\xff" * 8 + b"\x01", b"\x08\x80\x80\x80\x80\x04"
    contents = below, far + b"\x12\x03\x02\x03\x01", b"\x08\x05\x10\x00\x10\xff\xff\xff\xff\x0f"
    values = pa.array([*contents, b""], pa.binary())
    assert decoder._decode_usual(values, 0)[1].tolist() == [USUAL] * 4
    assert outcome(decoder, *contents, b"") == [
        {"s": "BELOW", "d": []},
        {"s": "FAR", "d": ["TWO", "3", "ONE"]},
        {"s": "5", "d": ["NONE", "-1"]},
        {"s": "ZERO", "d": []},
    ]


def test_unusual_message_leaves_nothing_in_the_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """It fills all columns before its last field occurs again; lists and texts grow from one item or byte."""
    monkeypatch.setattr(protobuf_columns, "SAMPLE_ROWS", 1)
    monkeypatch.setattr(protobuf_columns, "MIN_CAPACITY", 1)
    inner = message("N", field("x", 1, INT32), field("t", 2, STRING, "", REPEATED))
    members = (
        *(field("n", 1, MESSAGE, ".N", REPEATED), field("one", 2, MESSAGE, ".N")),
        *(field("b", 3, Field.TYPE_BOOL), field("text", 4, STRING)),
        field("numbers", 5, Field.TYPE_SINT64, "", REPEATED),
    )
    decoder = decoder_of(inner, message("M", *members))
    item = b"\x08\x05\x12\x02ab\x12\x01c"
    full = (b"\n\x09" + item) * 3 + b"\x12\x09" + item + b"\x18\x01\x22\x03xyz\x2a\x03\x01\x02\x03"
    part = b"\n\x00\n\x02\x08\x07"
    contents = [b"", full, full + b"\x22\x01w", part, full, full + b"\x22", full * 20, b"", part]
    values = pa.array(contents, pa.binary())
    verdicts = decoder._decode_usual(values, 0)[1].tolist()
    assert verdicts == [UNUSUAL if one in (2, 5, 6) else USUAL for one in range(9)]
    expected = by_google_protobuf(decoder, values, 0)
    decoded = decoder.decode(values, 0)
    decoded.array.validate(full=True)
    assert decoded.array.to_pylist() == expected.array.to_pylist()
    assert decoded.error_codes.tolist() == expected.error_codes.tolist()


def test_values_may_be_part_of_an_array_and_have_frames_of_many_lengths() -> None:
    decoder = decoder_of(message("M", field("a", 1, INT32), field("b", 2, STRING)))
    frames = [0, 3, 1, 9, 2, 5]
    contents = [bytes(size) + b"\x08" + bytes([size]) + b"\x12\x01x" for size in frames]
    values = pa.array([b"\xff", *contents, None, b"ab"], pa.binary()).slice(1)
    decoded = decoder.decode(values, np.array([*frames, 7, 7], np.int32))
    rows = [{"a": size, "b": "x"} for size in frames]
    assert decoded.array.to_pylist() == [*rows, None, {"a": 0, "b": ""}]
    assert not decoded.error_codes.any()


@pytest.mark.parametrize("syntax", ["proto2", "editions"])
def test_kernel_decodes_messages_without_groups_of_schemas_that_have_groups(syntax: str) -> None:
    group = field("g", 1, Field.TYPE_GROUP if syntax == "proto2" else MESSAGE, ".M.G")
    if syntax == "editions":
        group.options.features.message_encoding = descriptor_pb2.FeatureSet.DELIMITED
    nested = [message("G", field("x", 1, INT32))]
    decoder = decoder_of(
        message("M", group, field("a", 2, INT32), nested_type=nested), syntax=syntax
    )
    contents = b"\x10\x07", b"", b"\x0b\x08\x03\x0c"
    verdicts = decoder._decode_usual(pa.array(contents, pa.binary()), 0)[1].tolist()
    assert verdicts == [USUAL, USUAL, UNUSUAL]
    assert outcome(decoder, *contents) == [
        *({"g": None, "a": 7}, {"g": None, "a": None}, {"g": {"x": 3}, "a": None}),
    ]


def test_fields_may_have_the_names_of_methods() -> None:
    names = ("DESCRIPTOR", "HasField", "ListFields", "FromString", "from")
    decoder = decoder_of(
        message("M", *(field(name, place, INT32) for place, name in enumerate(names, 1))),
        syntax="editions",
    )
    assert outcome(decoder, b"\x08\x01\x20\x02") == [
        {"DESCRIPTOR": 1, "HasField": None, "ListFields": None, "FromString": 2, "from": None}
    ]


def test_dates_that_are_none_keep_their_fields() -> None:
    """A google.type.Date is no date: it may be the 30th of February."""
    decoder = decoder_of(
        message("M", field("d", 1, MESSAGE, ".google.type.Date")), imports=[date_pb2]
    )
    assert outcome(decoder, b"\n\x04\x10\x02\x18\x1e") == [
        {"d": {"year": 0, "month": 2, "day": 30}}
    ]


def test_message_with_the_name_of_a_time_and_other_fields_has_its_fields() -> None:
    fake = descriptor_pb2.FileDescriptorProto(
        name="fake.proto",
        package="google.protobuf",
        message_type=[message("Timestamp", field("x", 1, INT32))],
    )
    file = descriptor_pb2.FileDescriptorProto(
        name="t.proto",
        dependency=["fake.proto"],
        message_type=[message("M", field("t", 1, MESSAGE, ".google.protobuf.Timestamp"))],
    )
    known = descriptor_pb2.FileDescriptorSet(file=[fake, file])
    files = ProtobufFiles(known.SerializeToString(), None, "t.proto")
    assert outcome(ProtobufDecoder(files.named("M")), b"\n\x02\x08\x05") == [{"t": {"x": 5}}]


def test_order_of_fields_is_that_of_the_schema_whatever_their_numbers_are() -> None:
    decoder = decoder_of(message("M", field("b", 2, INT32), field("a", 1, STRING)))
    assert outcome(decoder, b"\n\x01x\x10\x05") == [{"b": 5, "a": "x"}]
    assert decoder.type == pa.struct([("b", pa.int32()), ("a", pa.string())])


def test_great_field_number_needs_no_memory() -> None:
    """A table of all numbers up to it would have gigabytes."""
    decoder = decoder_of(message("M", field("a", (1 << 29) - 1, INT32)))
    assert outcome(decoder, b"\xf8\xff\xff\xff\x0f\x07") == [{"a": 7}]


def chain(length: int) -> list[Any]:
    """Return *length* messages, each of which contains the one before it."""
    return [
        message(f"M{number}", *([field("m", 1, MESSAGE, f".M{number - 1}")] if number else []))
        for number in range(length)
    ]


def test_type_that_is_too_deep_or_too_wide_for_columns_is_json() -> None:
    assert not decoder_of(*chain(50)).is_json
    assert outcome(decoder_of(*chain(100)), b"\n\x02\n\x00") == ['{"m":{"m":{}}}']
    with pytest.raises(SchemaError, match=r"M1999: messages nested too deeply"):
        decoder_of(*chain(2000))
    doubling = [message("M0", field("x", 1, INT32))]
    for number in range(1, 30):
        inner = f".M{number - 1}"
        members = field("a", 1, MESSAGE, inner), field("b", 2, MESSAGE, inner)
        doubling.append(message(f"M{number}", *members))
    assert outcome(decoder_of(*doubling), b"\n\x02\x12\x00") == ['{"a":{"b":{}}}']


@pytest.mark.parametrize(
    "content", [b"\x0b" * 3_000_000, b"\x0b" * 101 + b"\x0c" * 101, b"\x0b\x14"]
)
def test_groups_without_end_are_a_fault(content: bytes) -> None:
    """A decoder that calls itself for each group would overflow its stack, which ends the process."""
    decoder = decoder_of(message("M", field("a", 1, INT32)))
    assert outcome(decoder, b"\x08\x01", content, b"\x0b\x0c") == [{"a": 1}, "protobuf", {"a": 0}]


@pytest.mark.parametrize(
    "content",
    [
        *(b"\x88\x80\x80\x80\x80\x80\x01\x05", b"\xf8\xff\xff\xff\x7f\x01", b"\x00\x01", b"\x0c"),
        *(b"\x12\x80\x80\x80\x80\x80\x00", b"\x18\x01\x13", b"\x23\x08\x01"),
        *(b"\x12" + b"\xff" * 9 + b"\x01", b"\x12" + b"\xf8" + b"\xff" * 8 + b"\x01", b"\x12\x02x"),
        *(
            b"\x1a\x03\x00\x00\x00",
            b"\x1d\x00\x00\x00",
            b"\x09\x00",
            b"\x0e",
            b"\x08" + b"\x80" * 10 + b"\x01",
        ),
    ],
)
def test_message_that_google_protobuf_refuses_is_a_fault(content: bytes) -> None:
    members = (
        field("a", 1, INT32),
        field("b", 2, STRING),
        field("c", 3, Field.TYPE_FIXED32, "", REPEATED),
    )
    decoder = decoder_of(message("M", *members))
    assert outcome(decoder, content, b"\x08\x01") == ["protobuf", {"a": 1, "b": "", "c": []}]


def test_few_bytes_that_need_much_memory_are_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = message("W", *(field(f"f{number}", number, INT32) for number in range(1, 101)))
    decoder = decoder_of(wide, message("M", field("w", 1, MESSAGE, ".W", REPEATED)))
    monkeypatch.setattr(protobuf_columns, "MIN_OUTPUT_BYTES", 1 << 20)
    many = b"\n\x00" * 10_000
    few, *others = outcome(decoder, b"\n\x00", many, many[:-1], b"\n\x00" * 100)
    assert len(few["w"]) == 1
    assert others[:2] == ["output-limit", "output-limit"]
    assert len(others[2]["w"]) == 100


def test_first_messages_of_many_wide_items_reserve_no_memory_for_all_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide = message("W", *(field(f"f{number}", number, INT32) for number in range(1, 101)))
    members = field("w", 1, MESSAGE, ".W", REPEATED), field("t", 2, STRING)
    decoder = decoder_of(wide, message("M", *members))
    sizes: list[int] = []
    allocate = _buffers.allocate_zeros

    def allocate_zeros(num_bytes: int) -> Any:
        sizes.append(num_bytes)
        return allocate(num_bytes)

    monkeypatch.setattr(_buffers, "allocate_zeros", allocate_zeros)
    monkeypatch.setattr(protobuf_columns, "SAMPLE_ROWS", 1)
    monkeypatch.setattr(protobuf_columns, "MIN_OUTPUT_BYTES", 1 << 20)
    values = pa.array([b"\n\x00" * 50, *[b"\x12\x64" + bytes(100)] * 5000], pa.binary())
    decoded = decoder.decode(values, 0)
    assert not decoded.error_codes.any()
    assert len(decoded.array[0]["w"]) == 50
    assert sum(sizes) < 34 * (sum(map(len, values.to_pylist())) + (1 << 20))


def test_no_values_and_nulls_alone_are_arrays_of_the_type() -> None:
    decoder = decoder_of(message("M", field("a", 1, INT32), field("b", 2, STRING, "", REPEATED)))
    for values in (pa.array([], pa.binary()), pa.nulls(3, pa.binary())):
        decoded = decoder.decode(values, 5)
        decoded.array.validate(full=True)
        assert decoded.array.equals(pa.nulls(len(values), decoder.type))


def json_outcome(kind: str, imports: Any, content: bytes) -> Any:
    """Return the JSON of the member `v` of type *kind* in a message that may contain itself."""
    members = field("v", 1, MESSAGE, kind), field("m", 2, MESSAGE, ".M")
    decoder = decoder_of(message("M", *members), imports=imports)
    (text,) = outcome(decoder, b"\n" + bytes([len(content)]) + content)
    return json.loads(text)["v"]


def test_messages_without_a_json_form_are_objects_of_their_fields() -> None:
    unknown = any_pb2.Any(type_url="x/y.Z", value=b"\x01")
    form = json_outcome(".google.protobuf.Any", [any_pb2], unknown.SerializeToString())
    assert form == {"type_url": "x/y.Z", "value": "AQ=="}
    late = timestamp_pb2.Timestamp(seconds=253402300800)
    form = json_outcome(".google.protobuf.Timestamp", [timestamp_pb2], late.SerializeToString())
    assert form == {"seconds": "253402300800"}
    number = struct_pb2.Value(number_value=float("nan"))
    form = json_outcome(".google.protobuf.Value", [struct_pb2], number.SerializeToString())
    assert form == {"number_value": "NaN"}


def test_any_of_a_message_of_the_schema_has_its_fields() -> None:
    inner = any_pb2.Any(type_url="x/M", value=b"").SerializeToString()
    assert json_outcome(".google.protobuf.Any", [any_pb2], inner) == {"@type": "x/M"}


def test_every_bit_of_a_message_of_many_fields_is_its_own() -> None:
    """More than 64 fields need a second word of bits, which each message begins anew."""
    members = [field(f"f{number}", number, INT32) for number in range(1, 202)]
    decoder = decoder_of(
        message("W", *members), message("M", field("w", 1, MESSAGE, ".W", REPEATED))
    )
    every = b"".join(
        (bytes([number << 3]) if number < 16 else bytes([number << 3 & 127 | 128, number >> 4]))
        + b"\x01"
        for number in range(1, 201)
    )
    size = bytes([len(every) & 127 | 128, len(every) >> 7])
    values = pa.array([(b"\n" + size + every) * 2] * 3, pa.binary())
    assert decoder._decode_usual(values, 0)[1].tolist() == [USUAL] * 3
    assert decoder.decode(values, 0).array[2]["w"][1]["f200"].as_py() == 1
    again = pa.array([b"\n\x06\xc8\x0c\x01\xc8\x0c\x02"], pa.binary())
    assert decoder._decode_usual(again, 0)[1].tolist() == [UNUSUAL]
    assert decoder.decode(again, 0).array[0]["w"][0]["f201"].as_py() == 2


def test_without_a_library_of_kernels_google_protobuf_decodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(batch_decoder, "is_library_built", lambda: False)
    decoder = decoder_of(message("M", field("a", 1, INT32)))
    assert outcome(decoder, b"\x08\x01", b"\x08") == [{"a": 1}, "protobuf"]
