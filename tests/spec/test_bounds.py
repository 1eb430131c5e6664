"""Tests that the parsers reject a number out of bounds at that field, before they use it."""

import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import kaitaistruct
import pytest

import magicbyte_construct as twin
from magicbyte_tools.generate.parsers import camel
from paths import CHECKOUT

VECTORS = CHECKOUT / "tests" / "vectors" / "valid"

BATCH, MESSAGE = "kafka_record_batch/two-records", "kafka_message/v0"
KIP_931 = "kafka_record_batch_kip_931/three-records"
METADATA = "kafka_partition_metadata/as-written"
SNAPSHOT, INDEX = "kafka_producer_snapshot/two-producers", "kafka_transaction_index/one-entry"


def read(form: str, data: bytes) -> Any:
    module = import_module(f"magicbyte_formats.kaitai.{form}")
    return getattr(module, camel(form)).from_bytes(data)


def refused(form: str, data: bytes, complaint: str) -> None:
    with pytest.raises(kaitaistruct.ValidationFailedError, match=re.escape(complaint)):
        read(form, data)


@pytest.mark.parametrize(
    ("case", "position", "stored", "complaint"),
    [
        (BATCH, 8, "00000030", "min 49, but got 48"),
        (BATCH, 8, "ffffffff", "min 49, but got -1"),
        (BATCH, 16, "ff", "expected 2, but got -1"),
        (BATCH, 57, "ffffffff", "min 0, but got -1"),
        (MESSAGE, 8, "0000000d", "min 14, but got 13"),
        (MESSAGE, 8, "ffffffff", "min 14, but got -1"),
        (MESSAGE, 16, "02", "any of the list, got 2"),
        (MESSAGE, 16, "ff", "any of the list, got -1"),
        (KIP_931, 8, "0000001f", "min 32, but got 31"),
        (KIP_931, 8, "ffffffff", "min 32, but got -1"),
        (KIP_931, 16, "ff", "expected 3, but got -1"),
        (KIP_931, 37, "ffffffff", "min 0, but got -1"),
        (SNAPSHOT, 0, "ffff", "expected 1, but got -1"),
        (SNAPSHOT, 6, "ffffffff", "min 0, but got -1"),
        (INDEX, 0, "ffff", "expected 0, but got -1"),
        (METADATA, 0, "76 65 72 73 69 6f 6e 73", "expected 'version:', but got 'versions'"),
        (METADATA, 11, "54", "expected 'topic_id:', but got 'Topic_id:'"),
        ("kafka_control_record/commit", 1, "ffff", "min 0, but got -1"),
        ("kafka_control_record/commit", 6, "ffff", "min 0, but got -1"),
    ],
)
def test_a_number_out_of_bounds(case: str, position: int, stored: str, complaint: str) -> None:
    data, number = (VECTORS / f"{case}.bin").read_bytes(), bytes.fromhex(stored)
    altered = data[:position] + number + data[position + len(number) :]
    refused(case.partition("/")[0], altered, complaint)


@pytest.mark.parametrize(
    ("length", "stored", "complaint"),
    [
        (20, "0000000d 00000000 00", "min 14, but got 13"),
        (20, "ffffffff 00000000 00", "min 14, but got -1"),
        (17, "0000000d 00000000 00", "min 14, but got 13"),
        (20, "00000013 00000000 03", "any of the list, got 3"),
        (17, "00000013 00000000 ff", "any of the list, got -1"),
    ],
)
def test_an_entry_that_is_cut_off_is_refused_all_the_same(
    length: int, stored: str, complaint: str
) -> None:
    data = bytes(7) + b"\x01" + bytes.fromhex(stored) + bytes(20)
    refused("kafka_log", data[:length], complaint)


@pytest.mark.parametrize(
    ("form", "length"), [("kafka_varint", 5), ("kafka_varlong", 10), ("kafka_uvarint", 5)]
)
def test_a_varint_that_does_not_end(form: str, length: int) -> None:
    refused(form, b"\x80" * length, "max 127, but got 128")
    assert read(form, b"\x80" * (length - 1) + b"\x7f").last_group == 127


# Key and value of a control record with their lengths; zigzag doubles these.
VOTERS = "08 00000006"


@pytest.mark.parametrize(
    "data",
    [
        VOTERS + "10 0000 ffffffff0f 00",
        VOTERS + "4a 0000 02 00000001" + 32 * "0" + "02 00 0268 0001 00 00000001 00 00 00",
    ],
    ids=["2^32-2 voters", "an endpoint without a name"],
)
def test_voters_that_cannot_be_are_refused(data: str) -> None:
    with pytest.raises((EOFError, kaitaistruct.InvalidArgumentError)):
        read("kafka_control_record", bytes.fromhex(data))


@pytest.mark.parametrize(
    ("form", "build"),
    [
        ("kafka_record_batch", lambda byte: twin.record_batch([{}], trailing=byte)),
        ("kafka_record_batch_kip_931", lambda byte: kip_931({}, trailing=byte)),
        ("kafka_record_batch_kip_931", lambda byte: kip_931({"trailing": byte})),
    ],
    ids=["behind the records of a batch", "behind those of KIP-931", "in a record of KIP-931"],
)
# What no value is valid for: the least is 1, the most is 0.
@pytest.mark.parametrize(
    ("stored", "complaint"),
    [
        (b"\x00", "min 1, but got 0"),
        (b"\x01", "max 0, but got 1"),
        (b"\x80", "max 0, but got 128"),
    ],
)
def test_a_byte_that_must_not_be(
    form: str, build: Callable[[bytes], bytes], stored: bytes, complaint: str
) -> None:
    refused(form, build(stored), complaint)


def kip_931(record: dict[str, Any], **fields: Any) -> bytes:
    return bytes(twin.RecordBatchKip931.build({"records": [record], **fields}))
