"""Tests of Protobuf: google.protobuf is the judge of random messages."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

import magicbyte as mb
from magicbyte.decoding.faults import fault_name
from magicbyte.decoding.schema_text import SchemaText
from magicbyte.errors import SchemaError
from magicbyte.tables.json_values import json_values

pytest.importorskip("google.protobuf", reason="the extra protobuf is not installed")
pytest.importorskip("grpc_tools", reason="the extra protobuf is not installed")

from magicbyte.decoding.protobuf import ProtobufDecoder, compile_schema, union_of_versions
from magicbyte.engines.columnar.protobuf_program import USUAL

from .protobuf_judge import by_google_protobuf

TEXT = """
syntax = "proto3";
package t;
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/wrappers.proto";
import "other/inner.proto";
enum Kind { ZERO = 0; ONE = 1; }
message Empty {}
message M {
  message Nested { repeated other.Inner inner = 1; map<int32, bytes> by_number = 2; }
  int32 a = 1; sint64 b = 2; fixed32 c = 3; sfixed64 d = 4; uint64 e = 5; float f = 6; double g = 7;
  bool h = 8; string i = 9; bytes j = 10; Kind kind = 11; repeated Kind kinds = 12;
  optional int32 maybe = 13; repeated sint32 packed = 14; repeated string texts = 15;
  map<string, other.Inner> by_name = 16; oneof choice { string left = 17; Nested right = 18; }
  google.protobuf.Timestamp at = 19; google.protobuf.Duration took = 20; google.protobuf.Int64Value wrapped = 21;
  repeated google.protobuf.Timestamp times = 22; Nested nested = 23; map<bool, double> flags = 24; Empty empty = 25;
}
message Tree { int32 value = 1; Tree left = 2; }
"""
INNER = 'syntax = "proto3"; package other; message Inner { int64 x = 1; string y = 2; }'


def schema(text: str = TEXT, **more: Any) -> SchemaText:
    imports = (("other/inner.proto", INNER),)
    return SchemaText(schema_type="PROTOBUF", text=text, imports=imports, label="t.proto", **more)


@pytest.fixture(scope="module")
def files() -> Any:
    return compile_schema(schema())


@pytest.fixture(scope="module")
def decoder(files: Any) -> ProtobufDecoder:
    return ProtobufDecoder(files.named("t.M"))


def random_message(decoder: ProtobufDecoder, random: Random) -> Any:
    """Return a message with random values in about half of its fields."""

    def fill(message: Any) -> None:
        for field in message.DESCRIPTOR.fields:
            if random.random() < 0.5:
                continue
            if field.is_repeated:
                is_map = (
                    field.message_type is not None and field.message_type.GetOptions().map_entry
                )
                for _ in range(random.randrange(4)):
                    if is_map:
                        key = scalar(field.message_type.fields_by_name["key"])
                        item = field.message_type.fields_by_name["value"]
                        if item.message_type is not None:
                            fill(getattr(message, field.name)[key])
                        else:
                            getattr(message, field.name)[key] = scalar(item)
                    elif field.message_type is not None:
                        fill(getattr(message, field.name).add())
                    else:
                        getattr(message, field.name).append(scalar(field))
            elif field.message_type is not None:
                getattr(message, field.name).SetInParent()
                fill(getattr(message, field.name))
            else:
                setattr(message, field.name, scalar(field))

    def scalar(field: Any) -> Any:
        kind = field.type
        if kind in (field.TYPE_DOUBLE, field.TYPE_FLOAT):
            return random.choice([0.0, -1.5, 2.0**20, float("inf")])
        if kind == field.TYPE_BOOL:
            return random.random() < 0.5
        if kind == field.TYPE_STRING:
            return random.choice(["", "é", "text" * random.randrange(5)])
        if kind == field.TYPE_BYTES:
            return random.randbytes(random.randrange(5))
        if kind == field.TYPE_ENUM:
            return random.choice([0, 1, 7])
        if field.name == "nanos":
            return random.randrange(10**9)
        if field.name == "seconds":
            return random.randrange(2**32)
        is_signed = kind in (
            *(field.TYPE_INT32, field.TYPE_INT64, field.TYPE_SINT32, field.TYPE_SINT64),
            *(field.TYPE_SFIXED32, field.TYPE_SFIXED64),
        )
        bits = 64 if "64" in str(_type_name(field)) else 32
        lowest = -(1 << bits - 1) if is_signed else 0
        highest = (1 << (bits - 1 if is_signed else bits)) - 1
        return random.choice([lowest, highest, 0, 5])

    message = decoder._message_class()
    fill(message)
    return message


def _type_name(field: Any) -> str:
    return next(
        name
        for name in dir(field)
        if name.startswith("TYPE_") and getattr(field, name) == field.type
    )


def decoded_by_google(decoder: ProtobufDecoder, values: pa.Array) -> Any:
    return by_google_protobuf(decoder, values, 3)


@pytest.mark.parametrize("seed", range(10))
def test_random_messages_are_as_google_protobuf_reads_them(decoder: ProtobufDecoder, seed: int):
    random = Random(seed)
    contents = [b"abc" + random_message(decoder, random).SerializeToString() for _ in range(100)]
    values = pa.array([*contents, None], pa.binary())
    ours = decoder.decode(values, 3)
    ours.array.validate(full=True)
    assert USUAL in decoder._decode_usual(values, 3)[1]
    assert not ours.error_codes.any()
    judge = decoded_by_google(decoder, values)
    assert not judge.error_codes.any()
    assert _sorted_maps(json_values(ours.array)) == _sorted_maps(json_values(judge.array))


def _sorted_maps(values: Any) -> str:
    return json.dumps(values, sort_keys=True)


def test_bad_message_among_many_is_the_only_fault(decoder: ProtobufDecoder):
    good = decoder._message_class(a=1).SerializeToString()
    values = pa.array([good] * 1000 + [b"\x4a\x7f"] + [good] * 500, pa.binary())
    decoded = decoder.decode(values, 0)
    assert [fault_name(code) for code in decoded.error_codes if code] == ["protobuf"]
    assert decoded.array.null_count == 1 and decoded.array[1000].as_py() is None


def test_time_that_nanoseconds_cannot_express_is_a_fault_and_not_another_time(
    decoder: ProtobufDecoder,
):
    message = decoder._message_class()
    message.at.seconds = 253402300799  # the end of the year 9999
    for decoded in (
        decoder.decode(pa.array([message.SerializeToString(), b""]), 0),
        decoded_by_google(decoder, pa.array([b"abc" + message.SerializeToString(), b"abc"])),
    ):
        assert [fault_name(code) for code in decoded.error_codes if code] == ["time-range"]


def test_message_that_contains_itself_is_json(files: Any):
    tree = ProtobufDecoder(files.named("t.Tree"))
    decoded = tree.decode(pa.array([b"\x08\x01\x12\x02\x08\x02", b"\xff"]), 0)
    assert decoded.array.to_pylist() == ['{"value":1,"left":{"value":2}}', None]


def test_nesting_without_end_is_a_fault(files: Any):
    content = b""
    for _ in range(2000):
        size = len(content)
        prefix = bytearray()
        while size > 127:
            prefix.append(size & 127 | 128)
            size >>= 7
        content = b"\x12" + bytes([*prefix, size]) + content
    decoded = ProtobufDecoder(files.named("t.Tree")).decode(pa.array([content]), 0)
    assert [fault_name(code) for code in decoded.error_codes] == ["protobuf"]


def test_messages_are_found_by_their_indexes_and_names(files: Any):
    assert files.at((0,)).full_name == "t.Empty"
    assert files.at((1, 0)).full_name == "t.M.Nested"
    assert files.at((9,)) is None
    assert files.named("Tree").full_name == "t.Tree"
    assert files.named("other.Inner").full_name == "other.Inner"
    with pytest.raises(mb.InputError, match=r"no message 'Nope'; expected one of t\.Empty"):
        files.named("Nope")


@pytest.mark.parametrize(
    "name",
    [
        "../out.proto",
        "/tmp/out.proto",
        "a/../../out.proto",
        "..\\out.proto",
        "C:out.proto",
        "",
        "a\0b",
    ],
)
def test_import_cannot_leave_the_private_folder(name: str):
    text = SchemaText(
        schema_type="PROTOBUF", text=TEXT, imports=((name, INNER),), label="bad.proto"
    )
    with pytest.raises(mb.InputError, match=r"bad.proto: the import .* a relative path"):
        compile_schema(text)


@pytest.mark.parametrize(
    "text",
    ["", "message {", 'syntax = "proto3"; import "../x.proto";', "\xff", 'import "missing.proto";'],
)
def test_text_that_does_not_compile_is_an_error_with_the_reason(text: str):
    bad = SchemaText(schema_type="PROTOBUF", text=text, label="bad.proto")
    if text in ("",):
        assert compile_schema(bad).at((0,)) is None
        return
    with pytest.raises(mb.InputError, match=r"bad\.proto"):
        compile_schema(bad)


def test_imports_of_confluents_registry_are_known():
    text = (
        'syntax = "proto3"; import "confluent/meta.proto"; import "confluent/type/decimal.proto";'
        'message A { confluent.type.Decimal d = 1 [(confluent.field_meta).doc = "x"]; }'
    )
    files = compile_schema(SchemaText(schema_type="PROTOBUF", text=text))
    assert files.named("A").fields_by_name["d"].message_type.full_name == "confluent.type.Decimal"


def test_file_of_descriptors_takes_the_place_of_a_text(tmp_path: Path, files: Any):
    from google.protobuf import descriptor_pb2

    file = descriptor_pb2.FileDescriptorProto(name="s.proto", package="s", syntax="proto3")
    file.message_type.add(name="One").field.add(name="x", number=1, type=3, label=1)
    data = descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()
    compiled = compile_schema(SchemaText(schema_type="PROTOBUF", text="", descriptor_set=data))
    assert compiled.named("s.One").fields_by_name["x"].number == 1
    with pytest.raises(mb.InputError, match="no set of file descriptors"):
        compile_schema(SchemaText(schema_type="PROTOBUF", text="", descriptor_set=b"\xff\xff"))


def test_unknown_fields_are_counted(decoder: ProtobufDecoder):
    assert decoder.num_unknown_fields(b"\x08\x01") == 0
    assert decoder.num_unknown_fields(b"\xf8\x7f\x05") == 1


def test_missing_package_is_an_error_that_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    from magicbyte.decoding.protobuf import _library

    def fail(name: str) -> None:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(_library, "import_module", fail)
    with pytest.raises(mb.InputError, match=r"magicbyte\[protobuf\]"):
        compile_schema(schema(descriptor_set=b""))


def union_decoder(*texts: str) -> ProtobufDecoder:
    files = [
        compile_schema(SchemaText(schema_type="PROTOBUF", text=f"syntax = 'proto3'; {text}"))
        for text in texts
    ]
    union = SchemaText(schema_type="PROTOBUF", text="", descriptor_set=union_of_versions(files))
    return ProtobufDecoder(compile_schema(union).named("M"))


def test_union_of_versions_has_the_fields_of_each_number() -> None:
    decoder = union_decoder(
        "message M { int32 a = 1; string gone = 2; N n = 3; E e = 4; repeated int32 r = 6; enum E { A = 0; } }"
        "message N { int32 x = 1; }",
        "message M { reserved 2; int64 b = 1; N n = 3; E e = 4; bool gone = 5; map<string, N> m = 7;"
        "enum E { Z = 0; B = 1; } } message N { reserved 1; string y = 2; oneof o { int32 p = 3; int32 q = 4; } }",
    )
    types = {one.name: one.type for one in decoder.type}
    assert list(types) == ["b", "gone_2", "n", "e", "r", "gone", "m"]
    assert types["b"] == pa.int64() and types["gone_2"] == pa.string()
    assert types["n"].names == ["x", "y", "p", "q"]
    first = bytes.fromhex("0805" + "120178" + "1a020801" + "2001" + "3201" + "09")
    second = bytes.fromhex("0807" + "1a03120179" + "2801")
    decoded = decoder.decode(pa.array([first, second], pa.binary()), 0)
    assert decoded.error_codes.tolist() == [0, 0]
    rows = decoded.array.to_pylist()
    assert (rows[0]["b"], rows[0]["gone_2"], rows[0]["n"]["x"], rows[0]["r"]) == (5, "x", 1, [9])
    assert (rows[1]["b"], rows[1]["gone_2"], rows[1]["gone"]) == (7, None, True)
    assert (rows[1]["n"]["x"], rows[1]["n"]["y"]) == (None, "y")


def test_union_of_versions_adds_messages_that_later_versions_do_not_have() -> None:
    decoder = union_decoder(
        "message M { Old o = 1; In i = 2; message In { int32 z = 1; } } message Old { int32 x = 1; }",
        "message M { int32 k = 3; }",
        "message M { int32 k = 3; int32 l = 4; }",
    )
    assert decoder.type.names == ["o", "i", "k", "l"]
    assert decoder.type.field("i").type.names == ["z"]


@pytest.mark.parametrize(
    ("earlier", "newer", "message"),
    [
        ("int32 a = 1;", "string a = 1;", "number 1 is int32 in one version and string"),
        ("int32 a = 1;", "repeated int32 a = 1;", "is int32 in one version and repeated int32"),
        ("int32 a = 1;", "sint32 a = 1;", "is int32 in one version and sint32"),
    ],
)
def test_union_of_numbers_that_are_written_in_two_ways_is_an_error(
    earlier: str, newer: str, message: str
) -> None:
    with pytest.raises(SchemaError, match=message):
        union_decoder(f"message M {{ {earlier} }}", f"message M {{ {newer} }}")
