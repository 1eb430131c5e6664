"""Tests of the schema of a file: values after the frames of a registry's serializers, without the registry."""

import struct
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import magicbyte as mb
from registry_data import LOG_DIR

pytest.importorskip("google.protobuf", reason="the extra protobuf is not installed")

SHOP = """
syntax = "proto3";
package shop;
message Ping { string note = 1; }
message Order { string id = 1; int32 units = 2; message Line { string sku = 1; } }
"""
ORDER = b"\x0a\x02o1\x10\x05"
"""An Order with the id `o1` and 5 units; a Ping with the note `o1`, too."""
PING = b"\x0a\x02hi"
LINE = b"\x0a\x02s1"


def framed(*indexes_and_body: bytes) -> bytes:
    return struct.pack(">bi", 0, 8) + b"".join(indexes_and_body)


FRAMED = [
    framed(b"\x02\x02", ORDER),
    framed(b"\x02\x02", ORDER),
    framed(b"\x00", PING),
    framed(b"\x04\x02\x00", LINE),
    None,
]


def decoded(folder: Path, values: list[bytes | None], form: str) -> list[tuple[Any, Any, Any]]:
    count = len(values)
    columns = {
        "topic": pa.array(["orders"] * count),
        "partition": pa.array([0] * count, pa.int32()),
        "value": pa.array(values, pa.binary()),
    }
    mb.write(pa.table(columns), folder / "log-0")
    rows = mb.open(folder / "log-0").typed_records("orders", value=form).to_pylist()
    return [(row["value"], row["value_error"], row["value_schema_id"]) for row in rows]


@pytest.fixture
def proto(tmp_path: Path) -> Path:
    (tmp_path / "shop.proto").write_text(SHOP)
    return tmp_path / "shop.proto"


def test_proto_file_decodes_the_message_that_most_frames_name(proto: Path) -> None:
    order = {"id": "o1", "units": 5}
    assert decoded(proto.parent, FRAMED, f"protobuf:{proto}") == [
        (order, None, 8),
        (order, None, 8),
        (None, "other-record", 8),
        (None, "other-record", 8),
        (None, None, None),
    ]


@pytest.mark.parametrize(
    ("message", "values"),
    [
        ("Order", [{"id": "o1", "units": 5}] * 2 + [None, None, None]),
        ("shop.Ping", [None, None, {"note": "hi"}, None, None]),
        ("shop.Order.Line", [None, None, None, {"sku": "s1"}, None]),
    ],
)
def test_named_message_decodes_only_values_whose_frames_name_it(
    message: str, values: list[Any], proto: Path
) -> None:
    rows = decoded(proto.parent, FRAMED, f"protobuf:{proto}:{message}")
    assert [value for value, _, _ in rows] == values


def test_message_indexes_of_another_file_name_the_only_message_of_a_proto_file(
    tmp_path: Path,
) -> None:
    proto = tmp_path / "own.proto"
    proto.write_text('syntax = "proto3"; message Order { string id = 1; int32 units = 2; }')
    for number, form in enumerate((f"protobuf:{proto}", f"protobuf:{proto}:Order")):
        folder = tmp_path / str(number)
        rows = decoded(folder, [framed(b"\x02\x06", ORDER)] * 2, form)
        assert rows == [({"id": "o1", "units": 5}, None, 8)] * 2


def test_proto_file_decodes_values_without_frames_by_its_first_message(proto: Path) -> None:
    assert (
        decoded(proto.parent, [PING, PING], f"protobuf:{proto}")
        == [({"note": "hi"}, None, None)] * 2
    )


def test_values_of_a_real_serializer_decode_by_the_proto_file_of_their_schema(
    tmp_path: Path,
) -> None:
    for row in mb.open(LOG_DIR).table("schemas").to_pylist():
        if row["subject"] in ("payments-value", "common/money.proto"):
            path = tmp_path / row["subject"]
            path.parent.mkdir(exist_ok=True)
            path.with_suffix(".proto").write_text(row["schema"])
    form = f"protobuf:{tmp_path / 'payments-value.proto'}"
    columns = ["offset", "value", "value_error"]
    rows = mb.open(LOG_DIR).typed_records("payments", value=form, columns=columns).to_pylist()
    judge = mb.open(LOG_DIR).typed_records("payments", columns=columns).to_pylist()
    assert [row["value"] for row in rows] == [row["value"]["shop.Payment"] for row in judge]
    assert Counter(row["value_error"] for row in rows) == {None: 30, "other-record": 4}


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        (
            "order.avsc",
            '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "shop.A"}]}',
            "order.avsc: R.a: unknown type 'shop.A'; expected a type that is defined before it in the same schema",
        ),
        ("order.avsc", "syntax", "order.avsc: Avro schema: not JSON"),
        (
            "order.proto",
            'syntax = "proto3";\nimport "common/money.proto";\nmessage M { common.Money total = 1; }',
            'not found or had errors.; line 3:13: "common.Money" is not defined.; '
            "expected a `.proto` text whose imports are known; those of a file are next to it or below its folder",
        ),
    ],
)
def test_schema_file_that_lacks_a_type_is_an_error_that_names_the_file(
    name: str, text: str, sentence: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    form = "avro" if name.endswith(".avsc") else "protobuf"
    with pytest.raises(mb.InputError) as error:
        mb.open(LOG_DIR).typed_records("orders", value=f"{form}:{tmp_path / name}")
    assert sentence in str(error.value)
    assert str(error.value).startswith(str(tmp_path / name))
    assert "\n" not in str(error.value)
