"""Lines that kafka-dump-log prints for v2 batches, and in the same form for v0 and v1 messages."""

from magicbyte.engines.entry import SEQUENCES, Entry
from magicbyte.logdir.frames import Frame
from magicbyte_cli.dump_log.frames import batch_of, tool_error
from magicbyte_cli.dump_log.releases import Release
from magicbyte_formats.wire import Codec


def batch_line(frame: Frame, entry: Entry, release: Release) -> str:
    """Return the line that kafka-dump-log prints for a batch; ToolError if its codec is unknown."""
    line_start = (
        f"offset: {entry.last_offset}" if frame.magic < 2 else _of_v2(frame, entry, release)
    )
    return (
        f"{line_start} position: {frame.position} {timestamp_type_name(entry)}: {batch_timestamp(entry)} "
        f"size: {entry.size_bytes} magic: {frame.magic} "
        f"compresscodec: {codec_name(frame, entry, release, line_start)} "
        f"crc: {entry.crc} isvalid: {boolean(frame.is_sound(entry))}"
    )


def _of_v2(frame: Frame, entry: Entry, release: Release) -> str:
    horizon = ""
    if release.since(3, 2):
        # Java's form in all releases; other optional offsets have a form per release.
        horizon_ms = f"[{entry.base_timestamp}]" if entry.has_delete_horizon else ".empty"
        horizon = f" deleteHorizonMs: OptionalLong{horizon_ms}"
    return (
        f"baseOffset: {entry.base_offset} lastOffset: {entry.last_offset} "
        f"count: {entry.record_count} "
        f"baseSequence: {entry.base_sequence} lastSequence: {last_sequence(frame, entry)} "
        f"producerId: {entry.producer_id} producerEpoch: {entry.producer_epoch} "
        f"partitionLeaderEpoch: {entry.leader_epoch} "
        f"isTransactional: {boolean(entry.is_transactional)} isControl: {boolean(entry.is_control)}"
        f"{horizon}"
    )


def codec_name(frame: Frame, entry: Entry, release: Release, line_start: str = "") -> str:
    try:
        name = Codec(entry.codec).name
    except ValueError:
        raise tool_error(frame, f"Unknown compression type id: {entry.codec}", line_start) from None
    return name if release.has_long_records else name.lower()


def timestamp_type_name(entry: Entry) -> str:
    if entry.magic == 0:
        return "NoTimestampType"
    return "LogAppendTime" if entry.is_append_time else "CreateTime"


def batch_timestamp(entry: Entry) -> int:
    if entry.magic == 0:
        return -1
    return entry.max_timestamp or 0


def sequence(base: int, increment: int) -> int:
    """Return *base* plus *increment*, which wraps to 0 after the largest sequence; -1 for -1."""
    if base == -1:
        return -1
    number = base + increment
    return number if number < SEQUENCES else number - SEQUENCES


def last_sequence(frame: Frame, entry: Entry) -> int:
    return sequence(entry.base_sequence, batch_of(frame).last_offset_delta)


def boolean(value: bool) -> str:
    return "true" if value else "false"
