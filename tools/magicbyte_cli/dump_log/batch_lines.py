"""Lines of batches, and of v0 and v1 messages, which the tool takes for batches of their own."""

from magicbyte.engines.entry import SEQUENCES, Entry
from magicbyte.logdir.frames import Frame
from magicbyte_cli.dump_log.frames import batch_of, end_error
from magicbyte_cli.dump_log.releases import Release
from magicbyte_formats.wire import Codec


def batch_line(frame: Frame, entry: Entry, release: Release) -> str:
    """Return the line of a batch; EndError where its codec has no name."""
    begun = f"offset: {entry.last_offset}" if frame.magic < 2 else _of_v2(frame, entry, release)
    return (
        f"{begun} position: {frame.position} {kind_of_time(entry)}: {time_of_batch(entry)} "
        f"size: {entry.size_bytes} magic: {frame.magic} "
        f"compresscodec: {codec_name(frame, entry, release, begun)} "
        f"crc: {entry.crc} isvalid: {word(frame.is_sound(entry))}"
    )


def _of_v2(frame: Frame, entry: Entry, release: Release) -> str:
    horizon = ""
    if release.since(3, 2):
        # Whatever this release has for other offsets, here it was always Java's own form.
        at = f"[{entry.base_timestamp}]" if entry.has_delete_horizon else ".empty"
        horizon = f" deleteHorizonMs: OptionalLong{at}"
    return (
        f"baseOffset: {entry.base_offset} lastOffset: {entry.last_offset} "
        f"count: {entry.record_count} "
        f"baseSequence: {entry.base_sequence} lastSequence: {last_sequence(frame, entry)} "
        f"producerId: {entry.producer_id} producerEpoch: {entry.producer_epoch} "
        f"partitionLeaderEpoch: {entry.leader_epoch} "
        f"isTransactional: {word(entry.is_transactional)} isControl: {word(entry.is_control)}"
        f"{horizon}"
    )


def codec_name(frame: Frame, entry: Entry, release: Release, begun: str = "") -> str:
    try:
        name = Codec(entry.codec).name
    except ValueError:
        raise end_error(frame, f"Unknown compression type id: {entry.codec}", begun) from None
    return name if release.has_long_records else name.lower()


def kind_of_time(entry: Entry) -> str:
    if entry.magic == 0:
        return "NoTimestampType"
    return "LogAppendTime" if entry.is_append_time else "CreateTime"


def time_of_batch(entry: Entry) -> int:
    if entry.magic == 0:
        return -1
    return entry.max_timestamp or 0


def sequence(base: int, added: int) -> int:
    """Return a sequence *added* behind *base*, round behind the largest; -1 where there is none."""
    if base == -1:
        return -1
    there = base + added
    return there if there < SEQUENCES else there - SEQUENCES


def last_sequence(frame: Frame, entry: Entry) -> int:
    return sequence(entry.base_sequence, batch_of(frame).last_offset_delta)


def word(yes: bool) -> str:
    return "true" if yes else "false"
