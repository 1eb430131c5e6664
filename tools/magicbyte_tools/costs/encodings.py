"""Encodes a batch of records in each format by the Construct twin."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from magicbyte_construct import Message, MessageSet, RecordBatch, RecordBatchKip931
from magicbyte_tools.costs.codecs import COMPRESSORS
from magicbyte_tools.costs.samples import BatchSample


@dataclass(frozen=True, slots=True)
class Encoded:
    """Size of a batch in one format."""

    sizes: dict[str, int]
    """Bytes of the whole batch or set of messages, by codec; `none` is one of them."""
    header_bytes: int
    """Bytes of the batch header; 0 for v0 and v1, whose messages have only headers of their own."""
    payload: bytes
    """Uncompressed bytes that a codec compresses."""


def _messages(sample: BatchSample, magic: int) -> Encoded:
    messages = []
    for number, record in enumerate(sample.records):
        message = {name: record[name] for name in ("key", "value")}
        # Offsets inside a wrapper message are relative in v1 and absolute in v0.
        message |= {"magic": magic, "offset": number if magic else record["offset"]}
        message |= {"timestamp": record["timestamp"]} if magic else {}
        messages.append(message)
    payload = bytes(MessageSet.build(messages))
    sizes = {"none": len(payload)}
    last = sample.records[-1]
    for codec, (number, compress) in COMPRESSORS.items():
        if codec == "zstd":  # only batches may have it (KIP-110)
            continue
        wrapper: dict[str, Any] = {
            "magic": magic,
            "offset": last["offset"],
            "attributes": {"codec": number},
            "key": None,
            "value": compress(payload),
        }
        if magic:
            wrapper["timestamp"] = max(record["timestamp"] for record in sample.records)
        sizes[codec] = len(Message.build(wrapper))
    return Encoded(sizes, 0, payload)


def _batch(sample: BatchSample, construct: Any, attributes: dict[str, Any]) -> Encoded:
    fields: dict[str, Any] = {
        "base_offset": sample.records[0]["offset"],
        "partition_leader_epoch": 0,
        "producer_id": sample.producer_id,
        "producer_epoch": sample.producer_epoch,
        "base_sequence": sample.base_sequence,
        "attributes": {**attributes, "is_transactional": sample.is_transactional},
    }
    plain = construct.build({**fields, "records": sample.records})
    read = construct.parse(plain, strict=False)
    derived = ("last_offset_delta", "base_timestamp", "num_records", "max_timestamp")
    stated = {name: read[name] for name in read if name.startswith(derived)}

    def compressed(codec: int, section: bytes) -> bytes:
        bits = {**fields["attributes"], "codec": codec}
        whole = {**fields, **stated, "attributes": bits, "records": section}
        return bytes(construct.build(whole))

    header_bytes = len(compressed(1, b""))
    payload = bytes(plain[header_bytes:])
    sizes = {"none": len(plain)}
    for codec, (number, compress) in COMPRESSORS.items():
        sizes[codec] = len(compressed(number, compress(payload)))
    return Encoded(sizes, header_bytes, payload)


FORMATS: dict[str, Callable[[BatchSample], Encoded]] = {
    "v0": lambda sample: _messages(sample, 0),
    "v1": lambda sample: _messages(sample, 1),
    "v2": lambda sample: _batch(sample, RecordBatch, {}),
    "KIP-931": lambda sample: _batch(
        sample, RecordBatchKip931, {"ignore_message_attributes": True}
    ),
}
"""Encoders of a batch of records, by the name of the format."""
