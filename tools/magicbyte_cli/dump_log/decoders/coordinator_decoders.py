"""Records of the coordinators as JSON: consumer offsets, transaction state, share groups."""

from collections.abc import Sequence
from typing import Any

from magicbyte import messages
from magicbyte.messages import MessageError
from magicbyte_cli.dump_log import ToolError
from magicbyte_cli.dump_log.decoders import DecodedText, Decoder
from magicbyte_cli.dump_log.decoders.java_exceptions import exception_text
from magicbyte_cli.dump_log.decoders.json_text import json_text
from magicbyte_cli.dump_log.releases import Release
from magicbyte_formats.messages import (
    consumer_offsets,
    consumer_protocol,
    share_group_state,
    transaction_state,
)
from magicbyte_kernels.message_schema import MessageSchema

DELETED = "<DELETE>"

STATUS = transaction_state.TRANSACTION_LOG_VALUE.field("transactionStatus")


class UnknownTypeError(Exception):
    """The type in a key is unknown to the release."""

    def __init__(self, type_: int) -> None:
        super().__init__(type_)
        self.type = type_


class UndecodableError(Exception):
    """Kafka cannot read a record; the error has the text of Kafka's exception."""


def coordinator_records(schemas: Sequence[MessageSchema], release: Release) -> Decoder:
    """Return a decoder of records whose keys and values have *schemas*."""

    def decode(offset: int, key: bytes | None, value: bytes | None) -> DecodedText:
        if key is None:
            raise ToolError(
                f"offset {offset}: the key, which contains the type of the record, is null"
            )
        try:
            return _read(schemas, key, value, release)
        except UnknownTypeError as error:
            return f"Unknown record type {error.type} at offset {offset}, skipping.", None
        except UndecodableError as error:
            return f"Error at offset {offset}, skipping. {error}", None

    return decode


def _read(
    schemas: Sequence[MessageSchema], key: bytes, value: bytes | None, release: Release
) -> DecodedText:
    type_, begin = _number(key, "key")
    pair = messages.known_messages(schemas, type_, release.version)
    if not pair:
        raise UnknownTypeError(type_)
    key_schema, value_schema = pair
    data = _message(key_schema, key, "key", type_, release, begin)
    key_text = json_text({"type": str(type_), "data": data})
    if value is None:
        return key_text, DELETED
    version, begin = _number(value, "value")
    known = value_schema.versions_in(release.version)
    if release.since(4, 0) and (known is None or version not in known):
        raise UndecodableError(f"Found an unknown record version {version} for {type_} type")
    data = _message(value_schema, value, "value", version, release, begin)
    if value_schema is consumer_offsets.GROUP_METADATA_VALUE:
        data = _with_protocol(data, release)
    if value_schema is transaction_state.TRANSACTION_LOG_VALUE and release.since(4, 4):
        status = data["transactionStatus"]
        data |= {"transactionStatus": STATUS.name_of(status) or str(status)}
    # 4.0 prints the version of a value as `type` for share groups.
    is_type = schemas is share_group_state.MESSAGES and not release.since(4, 1)
    number = "type" if is_type else "version"
    return key_text, json_text({number: str(version), "data": data})


def _number(data: bytes, part_name: str) -> tuple[int, int]:
    try:
        return messages.read_int16(data, part_name)
    except MessageError as error:
        raise UndecodableError(f"Could not read version from {part_name}'s buffer.") from error


def _message(
    schema: MessageSchema, data: bytes, part_name: str, version: int, release: Release, begin: int
) -> dict[str, Any]:
    try:
        return messages.read(schema, data, version, release.version, begin).fields
    except MessageError as error:
        raise UndecodableError(
            f"Could not read record with version {version} from {part_name}'s buffer due to: "
            f"{exception_text(error, version)}."
        ) from error


def _with_protocol(metadata: dict[str, Any], release: Release) -> dict[str, Any]:
    """Return a group's metadata, with the members' subscriptions and assignments decoded."""
    if metadata["protocolType"] != "consumer":
        return metadata
    fields = {
        "subscription": consumer_protocol.CONSUMER_PROTOCOL_SUBSCRIPTION,
        "assignment": consumer_protocol.CONSUMER_PROTOCOL_ASSIGNMENT,
    }

    members = [
        member | {name: _protocol(schema, member[name], release) for name, schema in fields.items()}
        for member in metadata["members"]
    ]
    return metadata | {"members": members}


def _protocol(schema: MessageSchema, data: bytes, release: Release) -> dict[str, Any] | bytes:
    """Return the fields of the message in *data*; *data* itself if it cannot be read."""
    try:
        version, begin = messages.read_int16(data, "version")
        return messages.read(schema, data, version, release.version, begin).fields
    except MessageError:
        return data
