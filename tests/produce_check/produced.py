"""Builds batches as producers send them, with any field altered."""

from typing import Any

from log_builder import TIME, batch, record

FIRST: dict[str, Any] = {"headers": ((b"h", b"x"), (b"h", None))}
SECOND: dict[str, Any] = {"time_delta": 5, "delta": 1, "key": b"", "value": None}


def encoded(record_or_fields: bytes | dict[str, Any]) -> bytes:
    if isinstance(record_or_fields, bytes):
        return record_or_fields
    return record(**{"key": b"k", **record_or_fields})


PAYLOAD = encoded(FIRST) + encoded(SECOND)


def produced(*records: bytes | dict[str, Any], **fields: Any) -> bytes:
    """Return a batch of *records* (values or dicts of fields); *fields* alter a sound header."""
    records = records or (FIRST, SECOND)
    deltas = [0, *(one.get("time_delta", 0) for one in records if isinstance(one, dict))]
    time = fields.get("time", TIME)
    defaults = {"leader_epoch": -1, "max_time": time + max(deltas), "epoch": -1, "sequence": -1}
    return batch([encoded(one) for one in records], **{**defaults, **fields})


SOUND = produced()
