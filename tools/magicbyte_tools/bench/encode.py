"""Encodes batches as a producer sends them: records by hand, for speed, headers by the Construct twin.

The twin builds about ten thousand records a second, which is too slow for a gigabyte. The tests
read the encoded bytes with the twin and with the runtime.
"""

import struct
import zlib
from collections.abc import Sequence

from magicbyte_construct import Message, RecordBatch
from magicbyte_tools.bench.record_data import RecordData
from magicbyte_tools.costs.codecs import COMPRESSORS
from magicbyte_tools.fuzz.numbers import varint

NUMBERS = {"none": 0, **{name: number for name, (number, _) in COMPRESSORS.items()}}

MESSAGE_FRAME = struct.Struct(">qiI")
MESSAGE_HEADS = {0: struct.Struct(">bb"), 1: struct.Struct(">bbq")}
LENGTH = struct.Struct(">i")


VARINTS = [varint(number) for number in range(1 << 12)]
NULL = varint(-1)


def _small(number: int) -> bytes:
    return VARINTS[number] if number < len(VARINTS) else varint(number)


def _with_length(data: bytes | None) -> bytes:
    return NULL if data is None else _small(len(data)) + data


def record(record_data: RecordData, base_offset: int, base_timestamp: int) -> bytes:
    """Return *record_data* as a record of a v2 batch."""
    parts = [
        b"\0",
        _small(record_data.timestamp - base_timestamp),
        _small(record_data.offset - base_offset),
        _with_length(record_data.key),
        _with_length(record_data.value),
        _small(len(record_data.headers)),
    ]
    for name, value in record_data.headers:
        parts += (_with_length(name), _with_length(value))
    body = b"".join(parts)
    return _small(len(body)) + body


def batch(rows: Sequence[RecordData], payload: bytes, codec: str) -> bytes:
    """Return a v2 batch; *payload* holds *rows* encoded as v2 records, which *codec* compresses."""
    built: bytes = RecordBatch.build(
        {
            "base_offset": rows[0].offset,
            "partition_leader_epoch": 0,
            "attributes": {"codec": NUMBERS[codec]},
            "last_offset_delta": len(rows) - 1,
            "base_timestamp": rows[0].timestamp,
            "max_timestamp": rows[-1].timestamp,
            "producer_id": -1,
            "producer_epoch": -1,
            "base_sequence": -1,
            "num_records": len(rows),
            "records": _compressed(payload, codec),
        }
    )
    return built


def messages(rows: Sequence[RecordData], magic: int, codec: str) -> bytes:
    """Return *rows* as messages of *magic*, in a wrapper message unless *codec* is `none`."""
    if codec == "none":
        return b"".join(_message(row, magic, row.offset) for row in rows)
    # Offsets inside a wrapper message are relative in v1 and absolute in v0.
    base = rows[0].offset if magic else 0
    inner = b"".join(_message(row, magic, row.offset - base) for row in rows)
    return wrapper(rows[-1], inner, magic, codec)


def wrapper(last_record: RecordData, inner: bytes, magic: int, codec: str) -> bytes:
    """Return a wrapper message around the messages *inner*, which end with *last_record*."""
    fields = {
        "magic": magic,
        "offset": last_record.offset,
        "attributes": {"codec": NUMBERS[codec]},
        "key": None,
        "value": _compressed(inner, codec),
    }
    if magic:
        fields["timestamp"] = last_record.timestamp
    built: bytes = Message.build(fields)
    return built


def _message(record_data: RecordData, magic: int, offset: int) -> bytes:
    times = (record_data.timestamp,) if magic else ()
    content = [MESSAGE_HEADS[magic].pack(magic, 0, *times)]
    for field in (record_data.key, record_data.value):
        content.append(LENGTH.pack(-1) if field is None else LENGTH.pack(len(field)) + field)
    body = b"".join(content)
    return MESSAGE_FRAME.pack(offset, len(body) + 4, zlib.crc32(body)) + body


def _compressed(payload: bytes, codec: str) -> bytes:
    return payload if codec == "none" else COMPRESSORS[codec][1](payload)
