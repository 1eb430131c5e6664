"""Tests of the forms of keys and values other than Avro and Protobuf."""

import base64
import json
import struct
from typing import Any

import pyarrow as pa
import pytest

import magicbyte as mb
from magicbyte.decoding.composite_keys import SuffixedKeyDecoder
from magicbyte.decoding.connect_envelope import ConnectDecoder, EnvelopeError, connect_type
from magicbyte.decoding.decode_option import FORMS, parse_decode_option, parse_form
from magicbyte.decoding.faults import fault_name
from magicbyte.decoding.json_text import JsonShapeDecoder, JsonTextDecoder
from magicbyte.decoding.kafka_serdes import primitive_decoder


def outcome(decoder: Any, contents: list[bytes | None], start: int = 0) -> list[Any]:
    """Return each value, or the name of its fault; the rows before and after them are null."""
    values = pa.array([None, *contents, None], pa.binary())
    decoded = decoder.decode(values, start)
    decoded.array.validate(full=True)
    assert decoded.array.type == decoder.type
    assert decoded.array[0].as_py() is decoded.array[-1].as_py() is None
    pairs = zip(decoded.array.to_pylist(), decoded.error_codes.tolist(), strict=True)
    return [fault_name(code) if code else value for value, code in pairs][1:-1]


@pytest.mark.parametrize(
    ("form", "contents", "expected"),
    [
        ("int16", [b"\xff\xfe", b"\0"], [-2, "wrong-size"]),
        ("int32", [struct.pack(">i", -5), b"", None], [-5, "wrong-size", None]),
        ("int64", [struct.pack(">q", 2**62), b"123456789"], [2**62, "wrong-size"]),
        ("float", [struct.pack(">f", 2.5)], [2.5]),
        ("double", [struct.pack(">d", float("inf")), b"x"], [float("inf"), "wrong-size"]),
        ("boolean", [b"\x01", b"\0", b"\x02", b""], [True, False, "boolean", "wrong-size"]),
        ("string", ["grüße".encode(), b"\xff", b""], ["grüße", "utf8", ""]),
        (
            "uuid",
            [
                b"00000000-0000-0000-0000-000000000007",
                b"7",
                b"{00000000-0000-0000-0000-000000000007}",
            ],
            ["00000000-0000-0000-0000-000000000007", "uuid", "uuid"],
        ),
        ("bytes", [b"\xff", b""], [b"\xff", b""]),
    ],
)
def test_value_of_kafkas_serializers_is_decoded_or_a_fault(
    form: str, contents: list[bytes | None], expected: list[Any]
):
    assert outcome(primitive_decoder(form), contents) == expected
    behind = [None if one is None else b"\0\0\0\0\x07" + one for one in contents]
    assert outcome(primitive_decoder(form), behind, 5) == expected


def test_every_form_has_a_decoder():
    assert all(primitive_decoder(form) is not None for form in FORMS)
    assert primitive_decoder("int128") is None


@pytest.mark.parametrize(
    ("content", "is_sound"),
    [
        (b'{"a": [1, null, "\xc3\xa9"]}', True),
        (b" [1]\n", True),
        (b'{"a": 1, "a": 2}', True),
        (b"NaN", False),
        (b'{"a": Infinity}', False),
        (b"[" * 100_000, False),
        (b"{} {}", False),
        (b"", False),
        (b"\xff", False),
        (b'{"a": ' + b"9" * 10_000 + b"}", True),
    ],
)
def test_json_is_checked_and_stays_text(content: bytes, is_sound: bool):
    (value,) = outcome(JsonTextDecoder(), [content])
    assert value == (content.decode() if is_sound else value)
    assert (value in ("json", "utf8")) != is_sound


SHAPE = {
    "type": "object",
    "definitions": {"point": {"type": "object", "properties": {"x": {"type": "integer"}}}},
    "properties": {
        "at": {"$ref": "#/definitions/point"},
        "n": {"type": ["null", "number"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "any": {},
    },
}


def test_json_with_a_schema_has_columns_and_open_parts_are_text():
    decoder = JsonShapeDecoder(json.dumps(SHAPE), "shape.json")
    content = {"at": {"x": 1}, "n": 2, "tags": ["a"], "any": {"b": [1]}, "more": 1}
    expected = {"at": {"x": 1}, "n": 2.0, "tags": ["a"], "any": '{"b":[1]}'}
    assert outcome(decoder, [json.dumps(content).encode()]) == [expected]
    for wrong in (
        {"at": 1},
        {"n": "1"},
        {"tags": {}},
        {"at": {"x": 1.5}},
        {"at": {"x": 2**63}},
        [],
    ):
        assert outcome(decoder, [json.dumps(wrong).encode()]) == ["json-shape"]


def test_json_schema_that_refers_to_itself_ends():
    loop = {"properties": {"a": {"$ref": "#"}}, "type": "object"}
    decoder = JsonShapeDecoder(json.dumps(loop), "loop.json")
    assert outcome(decoder, [b'{"a": {"a": null}}'])
    with pytest.raises(mb.InputError, match=r"loop\.json"):
        JsonShapeDecoder("{", "loop.json")


@pytest.mark.parametrize(
    ("form", "content", "names"),
    [
        ("windowed", b"k" + struct.pack(">q", 5), ["key", "window_start"]),
        ("window-store", b"k" + struct.pack(">qi", 5, 1), ["key", "window_start", "sequence"]),
        ("session", b"k" + struct.pack(">qq", 7, 5), ["key", "session_end", "session_start"]),
    ],
)
def test_times_of_windows_and_sessions_end_the_keys_of_streams(
    form: str, content: bytes, names: list[str]
):
    decoder = SuffixedKeyDecoder(form, primitive_decoder("string"))
    value, short, bad = outcome(decoder, [content, b"\0\0\0", b"\xff" + content[1:]])
    assert list(value) == names
    assert value["key"] == "k"
    assert (short, bad) == ("wrong-size", "utf8")


def envelope(schema: Any, payload: Any) -> bytes:
    return json.dumps({"schema": schema, "payload": payload}).encode()


def decimal(scale: int) -> dict[str, Any]:
    name = "org.apache.kafka.connect.data.Decimal"
    return {"type": "bytes", "name": name, "parameters": {"scale": str(scale)}}


@pytest.mark.parametrize(
    ("schema", "payload", "expected"),
    [
        ({"type": "int32"}, 5, 5),
        ({"type": "bytes"}, "AQI=", b"\x01\x02"),
        (decimal(2), "AfM=", "4.99"),
        (decimal(2), base64.b64encode((-5).to_bytes(1, signed=True)).decode(), "-0.05"),
        (decimal(0), "AfM=", "499"),
        ({"type": "array", "items": {"type": "string"}}, ["a"], ["a"]),
        (
            {"type": "map", "keys": {"type": "string"}, "values": {"type": "int64"}},
            {"a": 1},
            [("a", 1)],
        ),
        (
            {"type": "struct", "fields": [{"field": "a", "type": "double", "optional": True}]},
            {"a": None},
            {"a": None},
        ),
        ({"type": "int32"}, "text", "envelope"),
        ({"type": "int8"}, 4000, "envelope"),
        (decimal(5000), "AfM=", "envelope"),
    ],
)
def test_payload_of_json_converter_has_the_types_of_its_schema(
    schema: Any, payload: Any, expected: Any
):
    assert outcome(ConnectDecoder([schema]), [envelope(schema, payload)]) == [expected]


def test_fields_of_several_schemas_of_a_topic_are_one_struct():
    old = {"type": "struct", "fields": [{"field": "a", "type": "int32"}]}
    new = {
        "type": "struct",
        "fields": [{"field": "a", "type": "int32"}, {"field": "b", "type": "string"}],
    }
    decoder = ConnectDecoder([old, new])
    values = outcome(decoder, [envelope(old, {"a": 1}), envelope(new, {"a": 2, "b": "x"}), b"{}"])
    assert values == [{"a": 1, "b": None}, {"a": 2, "b": "x"}, "envelope"]


def test_schema_of_connect_that_is_none_is_refused():
    deep: Any = {"type": "int32"}
    for _ in range(500):
        deep = {"type": "array", "items": deep}
    for wrong in (None, [], {"type": "nonsense"}, {"type": "struct", "fields": [1]}, deep):
        with pytest.raises(EnvelopeError):
            connect_type(wrong)


def test_option_names_the_forms_of_key_and_value():
    forms = parse_decode_option(["auto", "key=windowed:string,value=avro:a,b.avsc"])
    assert str(forms["key"]) == "windowed:string"
    assert forms["value"].file == "a,b.avsc"
    assert parse_decode_option(["value=json"])["key"].name == "auto"


@pytest.mark.parametrize(
    ("text", "file", "message"),
    [
        ("protobuf:shop.proto", "shop.proto", None),
        ("protobuf:shop.desc:shop.Order", "shop.desc", "shop.Order"),
        ("protobuf:C:/shop.proto", "C:/shop.proto", None),
    ],
)
def test_protobuf_form_names_file_and_message(text: str, file: str, message: str | None):
    form = parse_form(text)
    assert (form.file, form.message) == (file, message)


@pytest.mark.parametrize(
    "text",
    ["", "avro", "protobuf:", "windowed", "windowed:json", "int64:x", "nonsense", "registry:x"],
)
def test_text_that_is_no_form_is_an_error_with_the_forms(text: str):
    with pytest.raises(mb.InputError, match=r"expected one of "):
        parse_form(text)
    with pytest.raises(mb.InputError):
        parse_decode_option([f"side={text}"])
