"""Records of `__remote_log_metadata`, in the form of the classes of Kafka's remote storage."""

from typing import Any

from magicbyte_cli.dump_log.decoders import DecodedText, Decoder
from magicbyte_cli.dump_log.decoders.cluster_metadata_decoder import FrameError, read_framed
from magicbyte_cli.dump_log.releases import Release
from magicbyte_formats.messages import remote_log_metadata as schemas
from magicbyte_kernels.message_schema import MessageField

Fields = dict[str, Any]
"""Fields of a message."""

SEGMENT_STATE = schemas.REMOTE_LOG_SEGMENT_METADATA_UPDATE_RECORD.field("remoteLogSegmentState")
PARTITION_STATE = schemas.REMOTE_PARTITION_DELETE_METADATA_RECORD.field(
    "remotePartitionDeleteState"
)


def remote_log_metadata_records(release: Release) -> Decoder:
    """Return the decoder of `__remote_log_metadata`."""

    def decode(offset: int, key: bytes | None, value: bytes | None) -> DecodedText:
        if value is None:
            return None, f"Error at offset {offset}, skipping. {_null_value(release)}"
        try:
            message = read_framed(schemas.MESSAGES, value, release)
            return None, FORMATTERS[message.schema.name](message.fields, release)
        except FrameError as error:
            return None, f"Error at offset {offset}, skipping. {error}"

    return decode


def _null_value(release: Release) -> str:
    package = "record.internal" if release.since(4, 3) else "record"
    return (
        'Cannot invoke "java.nio.ByteBuffer.remaining()" because the return value of '
        f'"org.apache.kafka.common.{package}.Record.value()" is null'
    )


def _of_segment(fields: Fields, release: Release) -> str:
    start, end = fields["startOffset"], fields["endOffset"]
    if start < 0:
        raise FrameError(
            f"Unexpected start offset = {start}. StartOffset for a remote segment cannot be negative"
        )
    if end < start:
        raise FrameError(
            f"Unexpected end offset = {end}. EndOffset for a remote segment cannot be less than "
            f"startOffset = {start}"
        )
    epochs = _epochs(fields)
    return _braced(
        "RemoteLogSegmentMetadata",
        remoteLogSegmentId=_segment(fields["remoteLogSegmentId"]),
        startOffset=start,
        endOffset=end,
        brokerId=fields["brokerId"],
        maxTimestampMs=fields["maxTimestampMs"],
        eventTimestampMs=fields["eventTimestampMs"],
        segmentLeaderEpochs=epochs,
        segmentSizeInBytes=fields["segmentSizeInBytes"],
        customMetadata=_custom_metadata(fields),
        state=_state(SEGMENT_STATE, fields["remoteLogSegmentState"]),
        **_transactions(fields, release),
    )


def _of_snapshot(fields: Fields, release: Release) -> str:
    state = _state(SEGMENT_STATE, fields["remoteLogSegmentState"])
    return _braced(
        "RemoteLogSegmentMetadataSnapshot",
        segmentId=fields["segmentId"],
        startOffset=fields["startOffset"],
        endOffset=fields["endOffset"],
        maxTimestampMs=fields["maxTimestampMs"],
        segmentLeaderEpochs=_epochs(fields),
        segmentSizeInBytes=fields["segmentSizeInBytes"],
        customMetadata=_custom_metadata(fields),
        state=state,
        **_transactions(fields, release),
    )


def _of_update(fields: Fields, release: Release) -> str:
    return _braced(
        "RemoteLogSegmentMetadataUpdate",
        remoteLogSegmentId=_segment(fields["remoteLogSegmentId"]),
        customMetadata=_custom_metadata(fields),
        state=_state(SEGMENT_STATE, fields["remoteLogSegmentState"]),
        eventTimestampMs=fields["eventTimestampMs"],
        brokerId=fields["brokerId"],
    )


def _of_deletion(fields: Fields, release: Release) -> str:
    return _braced(
        "RemotePartitionDeleteMetadata",
        topicPartition=_partition(fields["topicIdPartition"]),
        state=_state(PARTITION_STATE, fields["remotePartitionDeleteState"], "null"),
        eventTimestampMs=fields["eventTimestampMs"],
        brokerId=fields["brokerId"],
    )


FORMATTERS = {
    schemas.REMOTE_LOG_SEGMENT_METADATA_RECORD.name: _of_segment,
    schemas.REMOTE_LOG_SEGMENT_METADATA_UPDATE_RECORD.name: _of_update,
    schemas.REMOTE_PARTITION_DELETE_METADATA_RECORD.name: _of_deletion,
    schemas.REMOTE_LOG_SEGMENT_METADATA_SNAPSHOT_RECORD.name: _of_snapshot,
}
"""Formatter by name of the message."""


def _braced(name: str, **attributes: Any) -> str:
    return f"{name}{{{', '.join(f'{key}={value}' for key, value in attributes.items())}}}"


def _segment(segment_id: Fields) -> str:
    return _braced(
        "RemoteLogSegmentId",
        topicIdPartition=_partition(segment_id["topicIdPartition"]),
        id=segment_id["id"],
    )


def _partition(partition_fields: Fields) -> str:
    return f"{partition_fields['id']}:{partition_fields['name']}-{partition_fields['partition']}"


def _state(field: MessageField, number: int, error_text: str = "state can not be null") -> str:
    name = field.name_of(number)
    if name is None:
        raise FrameError(error_text)
    return name


def _epochs(fields: Fields) -> str:
    epochs = {entry["leaderEpoch"]: entry["offset"] for entry in fields["segmentLeaderEpochs"]}
    if not epochs:
        raise FrameError("segmentLeaderEpochs can not be null or empty")
    return f"{{{', '.join(f'{epoch}={offset}' for epoch, offset in sorted(epochs.items()))}}}"


def _custom_metadata(fields: Fields) -> str:
    custom = fields.get("customMetadata")
    return (
        "Optional.empty" if custom is None else f"Optional[CustomMetadata{{{len(custom)} bytes}}]"
    )


def _transactions(fields: Fields, release: Release) -> dict[str, str]:
    """Return `txnIdxEmpty`, which kafka-dump-log prints since 4.0, as a dict; empty before."""
    if not release.since(4, 0):
        return {}
    return {"txnIdxEmpty": "true" if fields.get("txnIndexEmpty") else "false"}
