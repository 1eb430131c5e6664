"""Decode the values of records of `__cluster_metadata`: a frame, then a message of Kafka's protocol."""

from functools import lru_cache
from typing import Any, NamedTuple

from magicbyte import messages
from magicbyte.errors import FormatError
from magicbyte.findings import Finding
from magicbyte.kafka_release import NEWEST
from magicbyte.messages import MessageError
from magicbyte_formats.messages import cluster_metadata
from magicbyte_kernels.message_schema import MessageSchema

FRAME_VERSION = 1
"""Version of the frame since 3.0; the preview of KRaft in 2.8 wrote 0, which no later release reads."""

Fields = dict[str, Any]
"""Values of a message by Kafka's field names."""


class MetadataMessage(NamedTuple):
    """A decoded record of `__cluster_metadata`."""

    name: str
    """Kafka's name of the message, such as `TopicRecord`."""
    fields: Fields


def read_metadata_message(value: bytes) -> MetadataMessage:
    """Return the message in the *value* of a metadata record.

    Raises FormatError, `internal-record-unknown` if it is of a later release than the newest known one, or
    `internal-record-invalid` if the bytes are not such a message.
    """
    try:
        frame_version, position = messages.read_uvarint(value, 0, "frame version")
        type_, position = messages.read_uvarint(value, position, "type")
        version, position = messages.read_uvarint(value, position, "version")
        if frame_version != FRAME_VERSION:
            raise unknown_record(f"frame version {frame_version}", str(FRAME_VERSION))
        schema = _schema_of(type_)
        if schema is None:
            raise unknown_record(f"message type {type_}", f"types of Kafka {NEWEST} or earlier")
        if version not in (schema.versions_in(NEWEST) or ()):
            raise unknown_record(
                f"version {version} of {schema.name}", f"versions of Kafka {NEWEST} or earlier"
            )
        fields, end = messages.read(schema, value, version, NEWEST, position)
    except MessageError as error:
        raise invalid_record(str(error), position=error.position) from error
    if end < len(value):
        raise invalid_record(f"{len(value) - end} bytes follow the {schema.name}", position=end)
    return MetadataMessage(schema.name, fields)


@lru_cache(maxsize=64)
def _schema_of(type_: int) -> MessageSchema | None:
    known = messages.known_messages(cluster_metadata.MESSAGES, type_, NEWEST)
    return known[0] if known else None


def invalid_record(message: str, *, position: int | None = None) -> FormatError:
    """Return the error for a record that cannot be decoded, at the byte *position* of its value."""
    where = "" if position is None else f", at byte {position} of its value"
    return FormatError(
        Finding(code="internal-record-invalid", message=f"cannot be decoded{where}: {message}")
    )


def unknown_record(token: str, expected: str) -> FormatError:
    """Return the error for a record of a later release: *token* names its type or version."""
    return FormatError(
        Finding(
            code="internal-record-unknown",
            message=f"{token} is not known: a later release of Kafka wrote the record, or the bytes changed",
            found=token,
            expected=expected,
        )
    )


class ConflictError(FormatError):
    """A record does not fit the records before it: Kafka refuses to apply it, and goes on with the next one."""

    def __init__(self, message: str) -> None:
        super().__init__(Finding(code="internal-record-conflict", message=message))
