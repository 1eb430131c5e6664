"""Records of `__cluster_metadata` as JSON, and their frame, which `__remote_log_metadata` shares."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from magicbyte import messages
from magicbyte.messages import MessageError
from magicbyte_cli.dump_log.decoders import DecodedText, Decoder
from magicbyte_cli.dump_log.decoders.java_exceptions import exception_text
from magicbyte_cli.dump_log.decoders.json_text import json_text
from magicbyte_cli.dump_log.releases import Release
from magicbyte_formats.messages import cluster_metadata
from magicbyte_kernels.message_schema import MessageSchema

FRAME_VERSION, EARLY_FRAME_VERSION = 1, 0
"""Versions of the frame: since 3.0, and in 2.8."""

LARGEST = 0x7FFF
"""Largest type or version: both are int16, though they are written as 32-bit varints."""


class FramedMessage(NamedTuple):
    """Message that was read from a frame."""

    schema: MessageSchema
    version: int
    fields: dict[str, Any]


class FrameError(Exception):
    """Kafka cannot read a frame; the error has the text of Kafka's exception."""


def cluster_metadata_records(release: Release) -> Decoder:
    """Return the decoder of `__cluster_metadata`."""

    def decode(offset: int, key: bytes | None, value: bytes | None) -> DecodedText:
        if value is None:
            return None, f"Error at {offset}, skipping. {_null_value(release)}"
        try:
            message = read_framed(cluster_metadata.MESSAGES, value, release)
        except FrameError as error:
            return None, f"Error at {offset}, skipping. {error}"
        # Names are written like the constants of Kafka's enums.
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", message.schema.name).upper()
        fields = {"type": name, "version": message.version, "data": message.fields}
        return None, json_text(fields)

    return decode


def _null_value(release: Release) -> str:
    if release.since(3, 0):
        return "Error while reading frame version"
    return 'Cannot invoke "java.nio.ByteBuffer.get()" because "buffer" is null'


def read_framed(schemas: Sequence[MessageSchema], value: bytes, release: Release) -> FramedMessage:
    """Return the message in *value*, with one of *schemas*; FrameError if it cannot be read."""
    if not release.since(3, 0):
        return _read_early_frame(schemas, value, release)
    number, position = _number(value, 0, "frame version")
    if number != FRAME_VERSION:
        raise FrameError(_frame_version(number))
    type_, position = _number(value, position, "type")
    version, position = _number(value, position, "version")
    known = messages.known_messages(schemas, type_, release.version)
    if not known:
        raise FrameError(
            "org.apache.kafka.common.errors.UnsupportedVersionException: "
            f"Unknown metadata id {type_}"
        )
    (schema,) = known
    try:
        read = messages.read(schema, value, version, release.version, position)
    except MessageError as error:
        raise FrameError(f"Failed to deserialize record with type {type_}") from error
    garbage = len(value) - read.end
    if garbage:
        raise FrameError(f"Found {garbage} byte(s) of garbage after {type_}")
    return FramedMessage(schema, version, read.fields)


def _read_early_frame(
    schemas: Sequence[MessageSchema], value: bytes, release: Release
) -> FramedMessage:
    """Return the message in *value*, whose frame has the form of Kafka 2.8."""
    version = 0
    try:
        number, position = messages.read_uvarint(value)
        if _short(number) != EARLY_FRAME_VERSION:
            raise FrameError(_unknown_frame(_short(number), EARLY_FRAME_VERSION))
        type_, position = messages.read_uvarint(value, position)
        number, position = messages.read_uvarint(value, position)
        version = _short(number)
        known = messages.known_messages(schemas, _short(type_), release.version)
        if not known:
            raise FrameError(f"Unknown metadata id {_short(type_)}")
        (schema,) = known
        read = messages.read(schema, value, version, release.version, position)
    except MessageError as error:
        raise FrameError(exception_text(error, version)) from error
    return FramedMessage(schema, version, read.fields)


def _short(number: int) -> int:
    """Return the lowest 16 bits of *number* as a signed number: Java's cast to short."""
    return (number + 0x8000 & 0xFFFF) - 0x8000


def _number(data: bytes, position: int, name: str) -> tuple[int, int]:
    try:
        number, position = messages.read_uvarint(data, position)
    except MessageError as error:
        raise FrameError(f"Error while reading {name}") from error
    if number > LARGEST:
        raise FrameError(f"Value for {name} was too large.")
    return _short(number), position


def _frame_version(number: int) -> str:
    if number == EARLY_FRAME_VERSION:
        return (
            "Could not deserialize metadata record with frame version 0. Note that upgrades from "
            "the preview release of KRaft in 2.8 to newer versions are not supported."
        )
    return _unknown_frame(number, FRAME_VERSION)


def _unknown_frame(number: int, known: int) -> str:
    return (
        f"Could not deserialize metadata record due to unknown frame version {number}"
        f"(only frame version {known} is supported)"
    )
