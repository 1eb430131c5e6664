"""Tests that recorded values of serializers in Java decode to what they were made of."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import magicbyte as mb
from java_serializers import CONTENT_ID, GLOBAL_ID, MONEY, ORDER, JavaValue, recorded
from magicbyte.decoding.faults import fault_name
from magicbyte.decoding.foreign_key_joins import (
    CombinedKeyDecoder,
    SubscriptionDecoder,
    SubscriptionResponseDecoder,
)
from magicbyte.decoding.kafka_serdes import primitive_decoder
from registry_exports import GLOBAL_IDS_FROM, write_apicurio_zip

ORDER_VALUE = {
    "id": 5,
    "buyer": "Zoë",
    "amount": 2.5,
    "tags": ["a", "b"],
    "raw": b"\0\xff",
    "note": {"string": None, "long": 7},
    "counts": [("x", 1)],
    "kind": "NEW",
}
MONEY_VALUE = {"currency": "EUR", "units": 12}
FILLERS = GLOBAL_ID - GLOBAL_IDS_FROM
"""Schemas before the one of the value, so that it gets its global id."""

APICURIO = recorded("apicurio")
STREAMS = recorded("streams")


def write_topic(folder: Path, *values: JavaValue, is_key: bool = False) -> Path:
    contents = pa.array([value.content for value in values], pa.binary())
    nulls = pa.nulls(len(values), pa.binary())
    headers = [[{"key": name, "value": text} for name, text in value.headers] for value in values]
    columns = {
        "topic": pa.array(["orders"] * len(values)),
        "partition": pa.array([0] * len(values), pa.int32()),
        "key": contents if is_key else nulls,
        "value": nulls if is_key else contents,
        "headers": pa.array(
            headers, pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
        ),
    }
    mb.write(pa.table(columns), folder)
    return folder


def export_with(path: Path, subject: str, text: str, schema_type: str = "AVRO") -> Path:
    """Write an export in which the schema has CONTENT_ID and GLOBAL_ID."""
    schema = {"subject": subject, "version": 3, "id": CONTENT_ID, "schema": text}
    others = [
        {
            "subject": f"other-{number}",
            "version": 1,
            "id": 100 + number,
            "schema": f'["null", {json.dumps(kind)}]',
        }
        for number, kind in enumerate(
            ("int", "long", "float", "double", "bytes", "string", "boolean")
        )
    ]
    return write_apicurio_zip(path, [*others, schema | {"schemaType": schema_type}])


@pytest.mark.parametrize("name", [name for name in APICURIO if not name.startswith("protobuf")])
def test_avro_value_of_apicurio_is_decoded(tmp_path: Path, name: str) -> None:
    side = "key" if name.startswith("key") else "value"
    value = APICURIO[name]
    log = write_topic(tmp_path / "log", value, is_key=side == "key")
    schemas = export_with(tmp_path / "export.zip", f"orders-{side}", json.dumps(ORDER))
    (row,) = mb.open(log).typed_records("orders", schemas=schemas).to_pylist()
    assert row[side] == ORDER_VALUE
    assert row[f"{side}_error"] is None
    assert row[f"{side}_schema_id"] == (CONTENT_ID if "content-id" in name else GLOBAL_ID)
    assert row[f"{side}_schema_version"] == 3


@pytest.mark.parametrize("name", ["protobuf", "protobuf-header"])
def test_protobuf_message_of_apicurio_is_decoded(tmp_path: Path, name: str) -> None:
    pytest.importorskip("google.protobuf", reason="the extra protobuf is not installed")
    log = write_topic(tmp_path / "log", APICURIO[name])
    schemas = export_with(tmp_path / "export.zip", "orders-value", MONEY, "PROTOBUF")
    (row,) = mb.open(log).typed_records("orders", schemas=schemas).to_pylist()
    assert row["value"] == MONEY_VALUE


def test_artifact_in_headers_names_the_schema(tmp_path: Path) -> None:
    # The releases that run here write no such headers; DefaultHeadersHandler reads them.
    names = {"groupId": b"default", "artifactId": b"orders-value", "version": b"3"}
    headers = tuple((f"apicurio.value.{name}", text) for name, text in names.items())
    value = APICURIO["header-global-id"]._replace(headers=headers)
    log = write_topic(tmp_path / "log", value)
    schemas = export_with(tmp_path / "export.zip", "orders-value", json.dumps(ORDER))
    (row,) = mb.open(log).typed_records("orders", schemas=schemas).to_pylist()
    assert row["value"] == ORDER_VALUE
    assert row["value_schema_id"] == CONTENT_ID


def test_schema_in_a_header_needs_no_registry(tmp_path: Path) -> None:
    value = APICURIO["header-global-id"]
    schema_header = ("apicurio.value.schema", json.dumps(ORDER).encode())
    with_schema = value._replace(headers=(*value.headers, schema_header))
    log = write_topic(tmp_path / "log", with_schema, with_schema)
    rows = mb.open(log).typed_records("orders").to_pylist()
    assert [row["value"] for row in rows] == [ORDER_VALUE] * 2
    assert {row["value_schema_id"] for row in rows} == {GLOBAL_ID}


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ((b'"id":5', b'"id":"5"'), "json-shape"),
        ((b'"note":{"long":7}', b'"note":{"int":7}'), "json-shape"),
        ((b'"kind":"NEW"', b'"kind":"ELSE"'), "json-shape"),
        ((b',"kind":"NEW"', b""), "json-shape"),
        ((b"{", b""), "json"),
        ((b'"a"', b'"\xff"'), "json"),
    ],
)
def test_value_that_is_not_of_the_schema_in_json_is_a_fault(
    tmp_path: Path, change: tuple[bytes, bytes], error: str
) -> None:
    value = APICURIO["header-json"]
    bad = value._replace(content=value.content.replace(*change, 1))
    log = write_topic(tmp_path / "log", value, bad, value)
    schemas = export_with(tmp_path / "export.zip", "orders-value", json.dumps(ORDER))
    rows = mb.open(log).typed_records("orders", schemas=schemas).to_pylist()
    assert [row["value"] for row in rows] == [ORDER_VALUE, None, ORDER_VALUE]
    assert (rows[1]["value_error"], rows[1]["value_bytes"]) == (error, bad.content)


# Foreign-key joins of Kafka Streams


STRING, INT64 = primitive_decoder("string"), primitive_decoder("int64")
assert STRING is not None and INT64 is not None
HASH = bytes.fromhex("0102030405060708fffffffffffffffe")


def outcomes(decoder: Any, contents: list[bytes | None]) -> list[Any]:
    """Return each value, or the name of its fault; the rows before and after them are null."""
    decoded = decoder.decode(pa.array([None, *contents, None], pa.binary()), 0)
    decoded.array.validate(full=True)
    assert decoded.array.type == decoder.type
    pairs = zip(decoded.array.to_pylist(), decoded.error_codes.tolist(), strict=True)
    return [fault_name(code) if code else value for value, code in pairs][1:-1]


def test_combined_key_is_a_foreign_and_a_primary_key() -> None:
    contents = [STREAMS["combined"].content, None, STREAMS["combined-empty"].content]
    assert outcomes(CombinedKeyDecoder(STRING, INT64), contents) == [
        {"foreign_key": "fé", "primary_key": 7},
        None,
        {"foreign_key": "", "primary_key": -1},
    ]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "wrong-size"),
        (b"\0\0\0", "wrong-size"),
        (b"\0\0\0\x02a", "wrong-size"),
        (b"\xff\xff\xff\xffa", "wrong-size"),
        (b"\0\0\0\0a", "wrong-size"),
        (b"\0\0\0\x01\xff12345678", "utf8"),
    ],
)
def test_key_that_is_not_combined_is_a_fault(content: bytes, fault: str) -> None:
    good = STREAMS["combined"].content
    found = outcomes(CombinedKeyDecoder(STRING, INT64), [good, content, good])
    assert found[1] == fault
    assert found[0] == found[2] == {"foreign_key": "fé", "primary_key": 7}


def test_subscriptions_of_both_versions_are_decoded() -> None:
    names = [name for name in STREAMS if name.endswith(("hash", "none")) and "response" not in name]
    contents = [STREAMS[name].content for name in names]
    found = outcomes(SubscriptionDecoder(INT64), [*contents, None])
    assert len(names) == 16 and found.pop() is None
    for name, value in zip(names, found, strict=True):
        instruction, version, has_hash = name.split()
        assert value == {
            "instruction": instruction,
            "hash": HASH if has_hash == "hash" else None,
            "primary_key": 9,
            "primary_partition": 258 if version == "1" else None,
        }


def test_responses_are_decoded() -> None:
    for name, value in STREAMS.items():
        if name.startswith("response"):
            _, text, has_hash = name.split()
            assert outcomes(SubscriptionResponseDecoder(STRING), [value.content]) == [
                {
                    "hash": HASH if has_hash == "hash" else None,
                    "foreign_value": None if text == "null" else text,
                }
            ]


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"", "wrong-size"),
        (b"\x01", "wrong-size"),
        (b"\x02\0", "wrapper"),
        (b"\x80\x04" + b"12345678", "wrapper"),
        (b"\0\0" + HASH[:15], "wrong-size"),
        (b"\x81\0\0\0\0", "wrong-size"),
        (b"\x81\0\0\0\0\0", "wrong-size"),
    ],
)
def test_value_that_is_no_subscription_is_a_fault(content: bytes, fault: str) -> None:
    good = STREAMS["DELETE_KEY_AND_PROPAGATE 1 hash"].content
    found = outcomes(SubscriptionDecoder(INT64), [good, content, good])
    assert found[1] == fault
    assert found[0] == found[2] and found[0]["primary_partition"] == 258


def test_value_that_is_no_response_is_a_fault() -> None:
    contents = [b"", b"\x01", b"\0" + HASH[:15], b"\x80\xff"]
    found = outcomes(SubscriptionResponseDecoder(STRING), [*contents, b"\x80ok"])
    assert found[:4] == ["wrong-size", "wrapper", "wrong-size", "utf8"]
    assert found[4] == {"hash": None, "foreign_value": "ok"}
