"""Functions that build a batch, a message, a wrapper message or a transaction marker."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any
from zlib import crc32

from construct import Container, Int8sb, Int32sb, Int32ub, ListContainer
from crc32c import crc32c

from magicbyte_construct.control import CONTROL_TYPES, ControlRecordKey, EndTransactionMarker
from magicbyte_construct.log import OVERHEAD
from magicbyte_construct.message import Message
from magicbyte_construct.record import Records
from magicbyte_construct.record_batch import (
    RecordBatch,
    base_timestamp,
    last_offset_delta,
    max_timestamp,
)

COMPUTED_FIELDS = (
    *("len_batch", "len_message", "crc", "len_body"),
    *("len_key", "len_value", "num_headers", "num_records", "num_producers", "num_entries", "size"),
    "stored",
)
"""Fields that building computes unless they are given."""


def record_batch(
    records: Iterable[Mapping[str, Any]],
    *,
    base_offset: int = 0,
    codec: int = 0,
    compress: Callable[[bytes], bytes] | None = None,
    **fields: Any,
) -> bytes:
    """Return a batch of *records*.

    A record is a mapping with the fields of Record; its headers may be (key, value) pairs. *codec*
    is written to the attributes, and *compress* compresses the records, also if *codec* is 0: no
    reader reads such a batch. *fields* are other fields of RecordBatch, such as ``num_records``.
    """
    batch = {
        "base_offset": base_offset,
        "records": [with_headers(record) for record in records],
        **fields,
    }
    attributes = fields.get("attributes", {})
    if not isinstance(attributes, int):
        batch["attributes"] = {"codec": codec, **attributes}
    if compress is not None:
        for name, compute in (
            ("last_offset_delta", last_offset_delta),
            ("base_timestamp", base_timestamp),
            ("max_timestamp", max_timestamp),
            ("num_records", lambda batch: len(batch["records"])),
        ):
            if batch.get(name) is None:
                batch[name] = compute(batch)
        payload = Records.build(
            batch["records"], base_offset=base_offset, base_timestamp=batch["base_timestamp"]
        )
        batch["records"] = compress(payload)
    return bytes(RecordBatch.build(batch))


def with_headers(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return *record* with its (key, value) headers as mappings."""
    headers = [
        header if isinstance(header, Mapping) else {"key": header[0], "value": header[1]}
        for header in record.get("headers") or ()
    ]
    return {**record, "headers": headers}


def message(value: bytes | None, *, key: bytes | None = None, **fields: Any) -> bytes:
    """Return a message with its offset and size, of magic 1 unless *fields* contain another."""
    return bytes(Message.build({"key": key, "value": value, **fields}))


def wrapper(
    messages: Iterable[Mapping[str, Any]],
    codec: int,
    compress: Callable[[bytes], bytes],
    magic: int = 1,
    *,
    base_offset: int = 0,
    **fields: Any,
) -> bytes:
    """Return a wrapper message: its value is the set of *messages*, compressed.

    *messages* are mappings with the fields of Message, of the wrapper's *magic* unless they name
    one. By default their offsets count from 0 in magic 1 and from *base_offset* in magic 0. The
    wrapper has the offset of the last message and, in magic 1, their largest timestamp.
    """
    first = base_offset if magic == 0 else 0
    inner = [
        {"magic": magic, "offset": first + number, **message}
        for number, message in enumerate(messages)
    ]
    last = inner[-1]["offset"] if inner else first
    outer = {
        "magic": magic,
        "offset": last if magic == 0 else base_offset + last,
        "attributes": {"codec": codec},
        "timestamp": max((message.get("timestamp", -1) for message in inner), default=-1),
        "value": compress(b"".join(Message.build(message) for message in inner)),
        **fields,
    }
    return bytes(Message.build(outer))


def marker(
    control_type: str | int,
    offset: int,
    producer_id: int,
    producer_epoch: int,
    *,
    coordinator_epoch: int = 0,
    timestamp: int = -1,
    **fields: Any,
) -> bytes:
    """Return the batch of a transaction marker; *control_type* is ABORT, COMMIT or a number."""
    if isinstance(control_type, str):
        control_type = CONTROL_TYPES.index(control_type)
    record = {
        "key": ControlRecordKey.build({"control_type": control_type}),
        "value": EndTransactionMarker.build({"coordinator_epoch": coordinator_epoch}),
        "timestamp": timestamp,
    }
    return record_batch(
        [record],
        base_offset=offset,
        **{
            "producer_id": producer_id,
            "producer_epoch": producer_epoch,
            "attributes": {"is_control": True, "is_transactional": True},
            **fields,
        },
    )


def reseal(data: bytes) -> bytes:
    """Return *data* with the correct checksum in the batch or message at its beginning."""
    size, magic = Int32sb.parse(data[8:12]), Int8sb.parse(data[16:17])
    end = OVERHEAD + size
    start, crc_at, checksum = (21, 17, crc32c) if magic >= 2 else (16, 12, crc32)
    sealed = Int32ub.build(checksum(data[start:end]))
    return data[:crc_at] + bytes(sealed) + data[crc_at + 4 :]


def fresh(value: Any) -> Any:
    """Return a copy of a parsed value without its lengths, counts and checksums.

    Building computes them, so the bytes are sound even if another field is changed.
    """
    if isinstance(value, Mapping):
        opaque = isinstance(value.get("records"), bytes)  # the count cannot be computed
        return Container(
            (name, fresh(part))
            for name, part in value.items()
            if name not in COMPUTED_FIELDS or (name == "num_records" and opaque)
        )
    if isinstance(value, list):
        return ListContainer(map(fresh, value))
    return value
