"""Checks a batch that a runner encoded, by Python's standard library alone.

All fields that the format or a broker determines are compared. Free are the leader epoch, which the broker sets, the
base timestamp, from which all timestamps count, and how a codec compresses.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

from magicbyte_tools.conformance.compare import differences, shown

HEADER = struct.Struct(">qiibIhiqqqhii")
HEADER_FIELDS = (
    "base_offset",
    "len_batch",
    "partition_leader_epoch",
    "magic",
    "crc",
    "attributes",
    "last_offset_delta",
    "base_timestamp",
    "max_timestamp",
    "producer_id",
    "producer_epoch",
    "base_sequence",
    "num_records",
)
FREE_FIELDS = ("partition_leader_epoch", "base_timestamp")
"""Fields of the header that are not compared."""

FRAME_SIZE, CRC_FROM = 12, 21
"""Bytes before those that the length counts, and before those that the checksum covers."""

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
TRANSACTIONAL_BIT = 1 << 4

FRAME_MAGICS: Mapping[str, tuple[bytes, ...]] = {
    "snappy": (b"\x82SNAPPY\0",),
    "lz4": (b"\x04\x22\x4d\x18",),
    "zstd": (b"\x28\xb5\x2f\xfd",),
}
"""First bytes of compressed records, by the codecs that Python's library lacks; raw Snappy has none."""

MAX_DECOMPRESSED = 1 << 26
"""Limit of the decompressed records, in bytes."""

CRC_32C_POLYNOMIAL = 0x82F63B78


class RecordError(Exception):
    """Bytes that are not the records of a batch; the message says at which byte of them."""


def encoding_mistakes(request: Mapping[str, Any], hexadecimal: str) -> Iterator[str]:
    """Yield the mistakes in the batch *hexadecimal*, which must hold the records of *request*."""
    try:
        encoded = bytes.fromhex(hexadecimal)
    except ValueError:
        yield f"encoded: expected bytes in hex, found {shown(hexadecimal)}"
        return
    if len(encoded) < HEADER.size:
        yield f"encoded: expected at least the {HEADER.size} bytes of a header, found {len(encoded)}"
        return
    header = dict(zip(HEADER_FIELDS, HEADER.unpack_from(encoded), strict=True))
    wanted = wanted_header(request, encoded)
    compared = {name: value for name, value in header.items() if name not in FREE_FIELDS}
    yield from differences(wanted, compared, "encoded")
    if header["len_batch"] != wanted["len_batch"] or header["magic"] != wanted["magic"]:
        return
    codec = request["codec"]
    payload = encoded[HEADER.size :]
    if codec in FRAME_MAGICS:
        yield from _frame_mistakes(codec, payload)
        return
    try:
        records = list(decoded_records(decompressed(codec, payload), header["base_timestamp"]))
    except RecordError as error:
        yield f"encoded: {error}"
        return
    expected = [
        {**record, "offset": number, "attributes": 0}
        for number, record in enumerate(request["records"])
    ]
    yield from differences(expected, records, "encoded.records")


def undecoded_codec(request: Mapping[str, Any]) -> str | None:
    """Return the codec of *request* if this module cannot decompress it; the records are then not compared."""
    codec: str = request["codec"]
    return codec if codec in FRAME_MAGICS else None


def wanted_header(request: Mapping[str, Any], encoded: bytes) -> dict[str, int]:
    """Return the fields that the header of the batch *encoded* must have for *request*."""
    records = request["records"]
    transactional = TRANSACTIONAL_BIT if request["is_transactional"] else 0
    return {
        "base_offset": 0,
        "len_batch": len(encoded) - FRAME_SIZE,
        "magic": 2,
        "crc": crc_32c(encoded[CRC_FROM:]),
        "attributes": CODECS.index(request["codec"]) | transactional,
        "last_offset_delta": len(records) - 1,
        "max_timestamp": max(int(record["timestamp"]) for record in records),
        "producer_id": int(request["producer_id"]),
        "producer_epoch": request["producer_epoch"],
        "base_sequence": request["base_sequence"],
        "num_records": len(records),
    }


def _frame_mistakes(codec: str, payload: bytes) -> Iterator[str]:
    if not payload:
        yield f"encoded: expected records compressed with {codec}, found no bytes"
    elif codec != "snappy" and not payload.startswith(FRAME_MAGICS[codec]):
        expected = FRAME_MAGICS[codec][0].hex()
        yield f"encoded: expected a frame of {codec}, {expected}, found {payload[:4].hex()}"


def decompressed(codec: str, payload: bytes) -> bytes:
    """Return the records in *payload*, which is not compressed or is a single member of gzip."""
    if codec == "none":
        return payload
    member = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        records = member.decompress(payload, MAX_DECOMPRESSED)
    except zlib.error as error:
        raise RecordError(f"the records are no gzip: {error}") from error
    if not member.eof or member.unused_data:
        raise RecordError(f"expected one member of gzip in {len(payload)} bytes")
    return records


def decoded_records(payload: bytes, base_timestamp: int) -> Iterator[dict[str, Any]]:
    """Yield the records in *payload* as a request has them, with offset and attributes."""
    position = 0
    while position < len(payload):
        length, start = _varint(payload, position)
        end = start + length
        if length <= 0 or end > len(payload):
            raise RecordError(f"a record of {length} bytes at byte {position} of {len(payload)}")
        record, position = _record(payload[:end], start, base_timestamp)
        if position != end:
            raise RecordError(f"{end - position} bytes left in the record that ends at byte {end}")
        yield record


def _record(data: bytes, position: int, base_timestamp: int) -> tuple[dict[str, Any], int]:
    """Return the record at *position* of *data*, which end with it, and the position of its end."""
    attributes = data[position]
    delta, position = _varint(data, position + 1)
    offset, position = _varint(data, position)
    key, position = _nullable(data, position)
    value, position = _nullable(data, position)
    count, position = _varint(data, position)
    if count < 0:
        raise RecordError(f"{count} headers before byte {position}")
    headers = []
    for _ in range(count):
        name, position = _nullable(data, position)
        content, position = _nullable(data, position)
        headers.append({"key": name, "value": content})
    record = {
        "timestamp": str(base_timestamp + delta),
        "key": key,
        "value": value,
        "headers": headers,
        "offset": offset,
        "attributes": attributes,
    }
    return record, position


def _nullable(data: bytes, position: int) -> tuple[str | None, int]:
    length, position = _varint(data, position)
    if length == -1:
        return None, position
    if length < 0 or position + length > len(data):
        raise RecordError(f"a length of {length} before byte {position}, {len(data)} in all")
    return data[position : position + length].hex(), position + length


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Return the number in zigzag at *position* of *data*, and the position after it."""
    number = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            break
        byte = data[position]
        number |= (byte & 0x7F) << shift
        position += 1
        if byte < 0x80:
            return (number >> 1) ^ -(number & 1), position
    raise RecordError(f"a number that does not end, before byte {position} of {len(data)}")


def crc_32c(data: bytes) -> int:
    """Return the CRC-32C (Castagnoli) of *data*."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (CRC_32C_POLYNOMIAL if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF
