"""Canonical tree of a file: the fields that the Construct parser reads, as JSON with .ksy names.

64-bit integers are decimal strings, byte strings hex, enums numbers; absent fields are left out. The
names are mapped by hand, because magicbyte_construct shares no source with the .ksy files.
"""

from collections.abc import Callable, Mapping
from typing import Any

from construct import Container, TerminatedError, ValidationError

import magicbyte_construct as twin
from magicbyte_construct.fields import Data, Fields
from magicbyte_construct.flexible import Tags
from magicbyte_construct.varint import Varint
from magicbyte_tools.vectors.entry_parts import SNAPSHOT_FOOTER, SNAPSHOT_HEADER

Json = dict[str, Any]


def tree(format_id: str, data: bytes) -> Any:
    """Parse *data* as the format *format_id* and return its canonical tree.

    Raises construct's ConstructError where even a grammar must refuse the bytes. Strict checks are
    off, except one that the .ksy files make too: no bytes follow the last record of a batch.
    """
    construct, shape = FORMATS[format_id]
    return shape(construct.parse(data, strict=False))


def without_none(**fields: Any) -> Json:
    """Return *fields* as a JSON object without those that are None."""
    return {name: value for name, value in fields.items() if value is not None}


def optional(data: bytes | None) -> str | None:
    return None if data is None else data.hex()


# Logs


def log(parsed: Any) -> Json:
    entries: list[Json] = [{"content": entry(one)} for one in parsed.entries]
    if parsed.partial is not None:
        # Kafka and the Construct parser take too few bytes for an entry as the end of the log.
        name = "partial" if any(parsed.partial) else "zero_tail"
        entries.append({name: parsed.partial.hex()})
    if parsed.zero_tail is not None:
        entries.append({"zero_tail": parsed.zero_tail.hex()})
    return {"entries": entries}


def entry(parsed: Any) -> Json:
    return batch(parsed) if parsed.magic == 2 else message(parsed)


def message(parsed: Any) -> Json:
    bits = parsed.attributes
    return {
        "offset": str(parsed.offset),
        "len_message": parsed.len_message,
        "message": without_none(
            crc=parsed.crc,
            magic=parsed.magic,
            attributes={
                "reserved": bits.reserved,
                "timestamp_type": bits.timestamp_type,
                "codec": bits.codec,
            },
            timestamp=None if parsed.magic == 0 else str(parsed.timestamp),
            len_key=parsed.len_key,
            key=optional(parsed.key),
            len_value=parsed.len_value,
            value=optional(parsed.value),
            ignored=optional(parsed.trailing or None),
        ),
    }


def batch(parsed: Any) -> Json:
    bits = parsed.attributes
    is_control = bits.is_control
    payload: Json
    if bits.codec:
        payload = {"compressed_payload": parsed.records.hex()}
    else:
        if parsed.trailing and parsed.num_records:
            raise TerminatedError(f"{len(parsed.trailing)} bytes behind the last record")
        payload = {
            "payload": without_none(
                records=[record(one, is_control) for one in parsed.records],
                ignored=optional(parsed.trailing or None),
            )
        }
    return {
        "base_offset": str(parsed.base_offset),
        "len_batch": parsed.len_batch,
        "partition_leader_epoch": parsed.partition_leader_epoch,
        "magic": parsed.magic,
        "crc": parsed.crc,
        "attributes": {
            "reserved": bits.reserved,
            "has_delete_horizon": bits.has_delete_horizon,
            "is_control": is_control,
            "is_transactional": bits.is_transactional,
            "timestamp_type": bits.timestamp_type,
            "codec": bits.codec,
        },
        "last_offset_delta": parsed.last_offset_delta,
        "base_timestamp": str(parsed.base_timestamp),
        "max_timestamp": str(parsed.max_timestamp),
        "producer_id": str(parsed.producer_id),
        "producer_epoch": parsed.producer_epoch,
        "base_sequence": parsed.base_sequence,
        "num_records": parsed.num_records,
        **payload,
    }


def record(parsed: Any, is_control: bool = False) -> Json:
    body = without_none(
        attributes=parsed.attributes,
        timestamp_delta=str(int(parsed.timestamp_delta)),
        offset_delta=int(parsed.offset_delta),
        len_key=int(parsed.len_key),
        key=optional(parsed.key),
        len_value=int(parsed.len_value),
        value=optional(parsed.value),
        num_headers=int(parsed.num_headers),
        headers=[header(one) for one in parsed.headers],
    )
    if is_control and parsed.len_key >= 4:
        body["control_record"] = control_record(parsed)
    return {"len_body": int(parsed.len_body), "body": body}


def records(parsed: Any) -> Json:
    return {"records": [record(one) for one in parsed]}


def header(parsed: Any) -> Json:
    return without_none(
        len_key=int(parsed.len_key),
        key=parsed.key.hex(),
        len_value=int(parsed.len_value),
        value=optional(parsed.value),
    )


# Control records


def control_record(parsed: Any) -> Json:
    """Return the tree of a control record: the fields of its key and of its value."""
    key = twin.ControlRecordKey.parse(parsed.key)
    document: Json = {
        "len_key": int(parsed.len_key),
        "key": without_none(
            version=key.version,
            control_type=key.control_type,
            ignored=optional(key.trailing or None),
        ),
        "len_value": int(parsed.len_value),
    }
    if parsed.value is not None:
        construct, shape = CONTENTS.get(key.control_type, (None, None))
        document["content"] = (
            {"data": parsed.value.hex()}
            if construct is None or shape is None
            else content(construct.parse(parsed.value, strict=False), shape)
        )
    return document


def content(parsed: Any, shape: Callable[[Any], Json]) -> Json:
    """Return the tree of a control record's value, converted by *shape*, and any bytes after it."""
    return {**shape(parsed), **without_none(ignored=optional(parsed.trailing or None))}


def extension(parsed: Any) -> Json:
    fields = [
        {"tag": int(one.tag), "len_data": int(one.size), "data": one.data.hex()} for one in parsed
    ]
    return {"num_fields": len(fields), "fields": fields}


def stored_count(elements: Any) -> int:
    """Return the length before a compact array: its element count plus one, or 0 for null."""
    return 0 if elements is None else len(elements) + 1


def marker(parsed: Any) -> Json:
    return {"version": parsed.version, "coordinator_epoch": parsed.coordinator_epoch}


def leader_change(parsed: Any) -> Json:
    return {
        "version": parsed.version,
        "leader_id": parsed.leader_id,
        "num_voters": stored_count(parsed.voters),
        "voters": [election_voter(one) for one in parsed.voters or ()],
        "num_granting_voters": stored_count(parsed.granting_voters),
        "granting_voters": [election_voter(one) for one in parsed.granting_voters or ()],
        "extension": extension(parsed.tags),
    }


def election_voter(parsed: Any) -> Json:
    return without_none(
        voter_id=parsed.voter_id,
        voter_directory_id=optional(parsed.voter_directory_id),
        extension=extension(parsed.tags),
    )


def snapshot_header(parsed: Any) -> Json:
    return {
        "version": parsed.version,
        "last_contained_log_timestamp": str(parsed.last_contained_log_timestamp),
        "extension": extension(parsed.tags),
    }


def snapshot_footer(parsed: Any) -> Json:
    return {"version": parsed.version, "extension": extension(parsed.tags)}


def kraft_version(parsed: Any) -> Json:
    return {
        "version": parsed.version,
        "protocol_version": parsed.protocol_version,
        "extension": extension(parsed.tags),
    }


def voters(parsed: Any) -> Json:
    return {
        "version": parsed.version,
        "num_voters": stored_count(parsed.voters),
        "voters": [voter(one) for one in parsed.voters or ()],
        "extension": extension(parsed.tags),
    }


def voter(parsed: Any) -> Json:
    feature = parsed.k_raft_version_feature
    return {
        "voter_id": parsed.voter_id,
        "voter_directory_id": parsed.voter_directory_id.hex(),
        "num_endpoints": stored_count(parsed.endpoints),
        "endpoints": [endpoint(one) for one in parsed.endpoints or ()],
        "min_supported_version": feature.min_supported_version,
        "max_supported_version": feature.max_supported_version,
        "feature_extension": extension(feature.tags),
        "extension": extension(parsed.tags),
    }


def endpoint(parsed: Any) -> Json:
    return {
        "len_name": len(parsed.name.encode()) + 1,
        "name": parsed.name,
        "len_host": len(parsed.host.encode()) + 1,
        "host": parsed.host,
        "port": parsed.port,
        "extension": extension(parsed.tags),
    }


CONTENTS: Mapping[int, tuple[Any, Callable[[Any], Any]]] = {
    0: (twin.EndTransactionMarker, marker),
    1: (twin.EndTransactionMarker, marker),
    2: (twin.LeaderChangeMessage, leader_change),
    3: (twin.SnapshotHeaderRecord, snapshot_header),
    4: (twin.SnapshotFooterRecord, snapshot_footer),
    5: (twin.KRaftVersionRecord, kraft_version),
    6: (twin.VotersRecord, voters),
}
"""Parser and tree function for the value of a control record, by its type."""

ControlRecord = Fields(
    "len_key" / Varint,
    "key" / Data("len_key", nullable=False),
    "len_value" / Varint,
    "value" / Data("len_value"),
)
"""Key and value of a control record, each preceded by its length."""


# Snapshots and records of the metadata log


def kraft_snapshot(parsed: Any) -> Json:
    kinds = [_first_control_type(one) for one in parsed.entries]
    is_whole = len(kinds) > 1 and kinds[0] == SNAPSHOT_HEADER and kinds[-1] == SNAPSHOT_FOOTER
    if not is_whole or SNAPSHOT_FOOTER in kinds[1:-1] or parsed.partial or parsed.zero_tail:
        raise ValidationError(f"control types {kinds}: not from a header to a footer")
    batches = [{"batch": batch(one)} for one in parsed.entries]
    return {"header": batches[0], "batches": batches[1:]}


def _first_control_type(parsed: Any) -> int | None:
    """Return the type of the first control record in a batch, or None if the batch has none."""
    bits = parsed.attributes
    if parsed.magic != 2:
        raise ValidationError(f"magic {parsed.magic} in a snapshot")
    if not bits.is_control or bits.codec or not parsed.num_records:
        return None
    key = parsed.records[0].key
    return int(twin.ControlRecordKey.parse(key).control_type) if key and len(key) >= 4 else None


def metadata_record(parsed: Any) -> Json:
    return {
        "frame_version": int(parsed.frame_version),
        "api_key": int(parsed.api_key),
        "api_version": int(parsed.version),
        "data": parsed.message.hex(),
    }


def kip_931(parsed: Any) -> Json:
    records = () if parsed.attributes.codec else parsed.records
    left = sum(len(one.trailing) for one in records)
    if left:
        raise TerminatedError(f"{left} bytes behind the last header of a record")
    out = batch(
        Container(parsed, last_offset_delta=int(parsed.last_offset_delta), max_timestamp=0),
    )
    out["attributes"] = {
        "reserved": parsed.attributes.reserved,
        "ignores_message_attributes": parsed.attributes.ignore_message_attributes,
        **{name: bit for name, bit in out["attributes"].items() if name != "reserved"},
    }
    out["base_timestamp"] = str(int(parsed.base_timestamp))
    del out["max_timestamp"]
    out["max_timestamp_delta"] = int(parsed.max_timestamp_delta)
    return out


# Companion files


def offset_index(parsed: Any) -> Json:
    return _index(
        parsed,
        lambda one: {"relative_offset": one.relative_offset, "ofs_batch": one.position},
    )


def time_index(parsed: Any) -> Json:
    return _index(
        parsed,
        lambda one: {
            "timestamp": str(one.timestamp),
            "relative_offset": one.relative_offset,
        },
    )


def _index(parsed: Any, entry_of: Callable[[Any], Json]) -> Json:
    return without_none(
        entries=[entry_of(one) for one in parsed.entries] or None,
        zero_tail=optional(parsed.zero_tail or None),
        unknown_tail=optional(parsed.trailing or None),
    )


def transaction_index(parsed: Any) -> Json:
    if parsed.trailing:
        raise TerminatedError(f"{len(parsed.trailing)} bytes of an entry")
    return {
        "aborted_transactions": [
            {
                "version": one.version,
                "producer_id": str(one.producer_id),
                "first_offset": str(one.first_offset),
                "last_offset": str(one.last_offset),
                "last_stable_offset": str(one.last_stable_offset),
            }
            for one in parsed.entries
        ]
    }


def producer_snapshot(parsed: Any) -> Json:
    return {
        "version": parsed.version,
        "crc": parsed.crc,
        "num_producers": parsed.num_producers,
        "producers": [
            {
                "producer_id": str(one.producer_id),
                "epoch": one.epoch,
                "last_sequence": one.last_sequence,
                "last_offset": str(one.last_offset),
                "offset_delta": one.offset_delta,
                "timestamp": str(one.timestamp),
                "coordinator_epoch": one.coordinator_epoch,
                "current_transaction_first_offset": str(one.current_transaction_first_offset),
            }
            for one in parsed.producers
        ],
    }


def checkpoint(parsed: Any) -> Json:
    """Return the tree of an offset or leader epoch checkpoint, whose numbers are text."""
    entries = [{name: str(value) for name, value in one.items()} for one in parsed.entries]
    version, count = parsed.version, parsed.num_entries
    return without_none(
        version=None if version is None else str(version),
        num_entries=None if count is None else str(count),
        entries=entries,
    )


def partition_metadata(parsed: Any) -> Json:
    return without_none(
        version_key="version:",
        version=str(parsed.version),
        topic_id_key="topic_id:",
        topic_id=parsed.topic_id,
        rest=optional(parsed.trailing or None),
    )


FORMATS: Mapping[str, tuple[Any, Callable[[Any], Any]]] = {
    "kafka_log": (twin.Log, log),
    "kafka_produced": (twin.Log, log),
    "kafka_message": (twin.Message, message),
    "kafka_record_batch": (twin.RecordBatch, batch),
    "kafka_record_batch_kip_931": (twin.RecordBatchKip931, kip_931),
    "kafka_records": (twin.Records, records),
    "kafka_control_record": (ControlRecord, control_record),
    "kafka_kraft_snapshot": (twin.Log, kraft_snapshot),
    "kafka_metadata_record": (twin.MetadataRecord, metadata_record),
    "kafka_tagged_fields": (Tags, extension),
    "kafka_varint": (twin.Varint, int),
    "kafka_varlong": (twin.Varlong, lambda value: str(int(value))),
    "kafka_uvarint": (twin.Uvarint, int),
    "kafka_offset_index": (twin.OffsetIndex, offset_index),
    "kafka_time_index": (twin.TimeIndex, time_index),
    "kafka_transaction_index": (twin.TransactionIndex, transaction_index),
    "kafka_producer_snapshot": (twin.ProducerSnapshot, producer_snapshot),
    "kafka_offset_checkpoint": (twin.OffsetCheckpoint, checkpoint),
    "kafka_leader_epoch_checkpoint": (twin.LeaderEpochCheckpoint, checkpoint),
    "kafka_partition_metadata": (twin.PartitionMetadata, partition_metadata),
}
