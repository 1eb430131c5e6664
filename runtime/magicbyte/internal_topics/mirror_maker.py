"""Records of MirrorMaker 2: checkpoints of groups, offset syncs and heartbeats (org.apache.kafka.connect.mirror).

They are structs of Kafka's protocol. A worker whose converter is JSON wraps each key and value into base64.
"""

import json
import struct
from base64 import b64decode
from collections.abc import Callable
from typing import NamedTuple

from magicbyte.errors import FormatError
from magicbyte.internal_topics._metadata_messages import invalid_record, unknown_record
from magicbyte.text import decode_utf8

INT16, INT32, INT64 = struct.Struct(">h"), struct.Struct(">i"), struct.Struct(">q")

VERSION = 0
"""Version of the value of checkpoints and heartbeats; offset syncs have none."""


class MirrorCheckpoint(NamedTuple):
    """Offset of a group in the source cluster, and the offset of the same record in the target cluster."""

    group: str
    topic: str
    partition: int
    upstream_offset: int | None
    downstream_offset: int | None
    commit_metadata: str | None


class OffsetSync(NamedTuple):
    """Offset of a record in the source cluster and in the target cluster."""

    topic: str
    partition: int
    upstream_offset: int | None
    downstream_offset: int | None


class Heartbeat(NamedTuple):
    """Time at which MirrorMaker was running between two clusters."""

    source_cluster: str
    target_cluster: str
    heartbeat_timestamp: int | None


class _Struct:
    """Reads the fields of a struct from its first byte on."""

    def __init__(self, data: bytes | None, what: str) -> None:
        if data is None:
            raise invalid_record(f"the {what} is null")
        self._data, self._position, self._what = _unwrapped(data), 0, what

    def number(self, number_format: struct.Struct) -> int:
        end = self._position + number_format.size
        if end > len(self._data):
            raise invalid_record(f"the {self._what} ends inside a number", position=self._position)
        (number,) = number_format.unpack_from(self._data, self._position)
        self._position = end
        return int(number)

    def text(self) -> str:
        size, begin = self.number(INT16), self._position
        if not 0 <= size <= len(self._data) - begin:
            raise invalid_record(f"the {self._what} has no text of {size} bytes", position=begin)
        self._position += size
        return decode_utf8(self._data[begin : self._position])

    def check_version(self) -> None:
        version = self.number(INT16)
        if version != VERSION:
            raise unknown_record(f"version {version} of the {self._what}", f"version {VERSION}")

    def end(self) -> None:
        left = len(self._data) - self._position
        if left:
            raise invalid_record(f"{left} bytes follow the {self._what}", position=self._position)


def _unwrapped(data: bytes) -> bytes:
    """Return the bytes that JsonConverter has put into JSON, with or without a schema; other *data* unchanged."""
    if data[:1] not in (b"{", b'"'):
        return data
    try:
        parsed = json.loads(data)
        payload = parsed.get("payload") if isinstance(parsed, dict) else parsed
        return b64decode(payload, validate=True) if isinstance(payload, str) else data
    except (ValueError, RecursionError):
        return data


def parse_checkpoint(record_key: bytes | None, value: bytes | None) -> MirrorCheckpoint:
    """Return the checkpoint in a record, without offsets for a tombstone. Raises FormatError if it is none."""
    fields = _Struct(record_key, "key")
    group, topic, partition = fields.text(), fields.text(), fields.number(INT32)
    fields.end()
    if value is None:
        return MirrorCheckpoint(group, topic, partition, None, None, None)
    fields = _Struct(value, "value")
    fields.check_version()
    checkpoint = MirrorCheckpoint(
        group, topic, partition, fields.number(INT64), fields.number(INT64), fields.text()
    )
    fields.end()
    return checkpoint


def parse_offset_sync(record_key: bytes | None, value: bytes | None) -> OffsetSync:
    """Return the offset sync in a record, without offsets for a tombstone. Raises FormatError if it is none."""
    fields = _Struct(record_key, "key")
    topic, partition = fields.text(), fields.number(INT32)
    fields.end()
    if value is None:
        return OffsetSync(topic, partition, None, None)
    fields = _Struct(value, "value")
    sync = OffsetSync(topic, partition, fields.number(INT64), fields.number(INT64))
    fields.end()
    return sync


def parse_heartbeat(record_key: bytes | None, value: bytes | None) -> Heartbeat:
    """Return the heartbeat in a record, without a time for a tombstone. Raises FormatError if it is none."""
    fields = _Struct(record_key, "key")
    source, target = fields.text(), fields.text()
    fields.end()
    if value is None:
        return Heartbeat(source, target, None)
    fields = _Struct(value, "value")
    fields.check_version()
    heartbeat = Heartbeat(source, target, fields.number(INT64))
    fields.end()
    return heartbeat


def is_checkpoint(record_key: bytes | None, value: bytes | None) -> bool:
    """Return whether a record is a checkpoint, to its last byte; a tombstone is one if its key is."""
    return _is_parsed(parse_checkpoint, record_key, value)


def is_offset_sync(record_key: bytes | None, value: bytes | None) -> bool:
    """Return whether a record is an offset sync, to its last byte."""
    return _is_parsed(parse_offset_sync, record_key, value)


def is_heartbeat(record_key: bytes | None, value: bytes | None) -> bool:
    """Return whether a record is a heartbeat, to its last byte."""
    return _is_parsed(parse_heartbeat, record_key, value)


def _is_parsed(
    parse: Callable[[bytes | None, bytes | None], object],
    record_key: bytes | None,
    value: bytes | None,
) -> bool:
    try:
        parse(record_key, value)
    except FormatError:
        return False
    return True
