"""Records in a backup that Karapace made of a registry's topic, in the three forms that it has had.

Version 1 is a JSON list of keys and values. Version 2 is a line for each record, key and value in base 16. Version 3 is a
folder with `TOPIC.metadata` and `TOPIC:PARTITION.data`, in which each record is an Avro value after its size.
"""

import base64
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from magicbyte.decoding.avro import AvroDecoder, fault_sentence, parse_schema
from magicbyte.errors import InputError

MARKER_V2, MARKER_V3 = b"/V2\n", b"/V3\n"
"""First lines of a backup of version 2, and of the metadata of one of version 3."""
METADATA, DATA = ".metadata", ".data"

_BYTES_OR_NULL = ["bytes", "null"]
RECORD = {
    "type": "record",
    "name": "Record",
    "fields": [
        {"name": "key", "type": _BYTES_OR_NULL},
        {"name": "value", "type": _BYTES_OR_NULL},
        {
            "name": "headers",
            "type": {
                "type": "array",
                "items": {
                    "type": "record",
                    "name": "Header",
                    "fields": [
                        {"name": "key", "type": "bytes"},
                        {"name": "value", "type": "bytes"},
                    ],
                },
            },
        },
        {"name": "offset", "type": "long"},
        {"name": "timestamp", "type": "long"},
        {"name": "checksum_checkpoint", "type": _BYTES_OR_NULL},
    ],
}
"""Avro schema of a record of version 3."""

BackupRecord = tuple[bytes | None, bytes | None, int]
"""Key, value and offset; the number of the record in a backup that has no offsets."""


def is_listed_backup(file_value: Any) -> bool:
    """Return whether *file_value*, the JSON of a file, is a backup of version 1."""
    return isinstance(file_value, list) and bool(file_value) and isinstance(file_value[0], list)


def listed_records(file_value: list[Any], file: Path) -> Iterator[BackupRecord]:
    """Yield the records of a backup of version 1."""
    for number, pair in enumerate(file_value):
        if not isinstance(pair, list) or len(pair) != 2:
            raise InputError(f"item {number}: {pair!r:.40}", "a key and a value", path=str(file))
        yield _json_bytes(pair[0]), _json_bytes(pair[1]), number


def _json_bytes(item: Any) -> bytes | None:
    if item is None or item == "null":
        return None
    return (item if isinstance(item, str) else json.dumps(item)).encode("utf-8", "surrogatepass")


def line_records(data: bytes, file: Path) -> Iterator[BackupRecord]:
    """Yield the records of a backup of version 2, from its second line on."""
    for number, line in enumerate(data.splitlines()[1:]):
        parts = line.split(b"\t")
        try:
            key, value = (None if part == b"null" else base64.b16decode(part) for part in parts)
        except ValueError as error:
            raise InputError(
                f"line {number + 2}: {line[:40]!r}", "key and value in base 16", path=str(file)
            ) from error
        yield key, value, number


def data_files(file: Path) -> list[Path]:
    """Return the data files of the backup of version 3 whose metadata, or one of whose data files, is *file*."""
    if file.name.endswith(DATA):
        return [file]
    topic = file.name.removesuffix(METADATA)
    files = sorted(
        one
        for one in file.parent.iterdir()
        if one.name.startswith(f"{topic}:") and one.suffix == DATA
    )
    if not files:
        raise InputError("no data file", f"{topic}:0{DATA} in the same folder", path=str(file))
    return files


def data_records(data: bytes, file: Path) -> Iterator[BackupRecord]:
    """Yield the records of a data file of version 3."""
    encoded_records: list[bytes] = []
    record_positions: list[int] = []
    position = 0
    while position < len(data):
        if position + 4 > len(data):
            raise _cut(file, position)
        (size,) = struct.unpack_from(">I", data, position)
        content = data[position + 4 : position + 4 + size]
        if len(content) < size:
            raise _cut(file, position)
        encoded_records.append(content)
        record_positions.append(position)
        position += 4 + size
    decoder = AvroDecoder(parse_schema(json.dumps(RECORD)))
    step = decoder.max_values
    for first in range(0, len(encoded_records), step):
        decoded = decoder.decode(pa.array(encoded_records[first : first + step], pa.binary()), 0)
        for number, (row, code) in enumerate(
            zip(decoded.array.to_pylist(), decoded.error_codes.tolist(), strict=True), first
        ):
            if code:
                raise InputError(
                    f"record {number} at byte {record_positions[number]}: {fault_sentence(code)}",
                    "a record of Karapace's backup",
                    path=str(file),
                )
            yield row["key"], row["value"], row["offset"]


def _cut(file: Path, position: int) -> InputError:
    return InputError(
        f"the file ends inside of the record at byte {position}", "whole records", path=str(file)
    )
