"""Records of the coordinators' topics as JSON: consumer offsets, transaction state, share groups."""

from collections.abc import Sequence
from typing import Any

from magicbyte import messages
from magicbyte.messages import MessageError
from magicbyte_cli.dump_log.decoders import Decoder, Said
from magicbyte_cli.dump_log.decoders.java_exceptions import complaint
from magicbyte_cli.dump_log.decoders.json_text import json_text
from magicbyte_cli.dump_log.end_error import EndError
from magicbyte_cli.dump_log.releases import Release
from magicbyte_formats.messages import consumer_offsets, consumer_protocol, share_group_state
from magicbyte_kernels.message_schema import MessageSchema

DELETED = "<DELETE>"


class UnknownTypeError(Exception):
    """No message of this type is known."""

    def __init__(self, type_: int) -> None:
        super().__init__(type_)
        self.type = type_


class UnreadableError(Exception):
    """The text of the exception that Kafka throws."""


def coordinators_records(schemas: Sequence[MessageSchema], release: Release) -> Decoder:
    """Return the decoder of records whose keys and values are *schemas*."""

    def decode(offset: int, key: bytes | None, value: bytes | None) -> Said:
        if key is None:
            raise EndError(f"offset {offset}: a key that is null, where it says what the record is")
        try:
            return _read(schemas, key, value, release)
        except UnknownTypeError as error:
            return f"Unknown record type {error.type} at offset {offset}, skipping.", None
        except UnreadableError as error:
            return f"Error at offset {offset}, skipping. {error}", None

    return decode


def _read(
    schemas: Sequence[MessageSchema], key: bytes, value: bytes | None, release: Release
) -> Said:
    type_, begin = _number(key, "key")
    pair = messages.known_messages(schemas, type_, release.version)
    if not pair:
        raise UnknownTypeError(type_)
    of_key, of_value = pair
    data = _message(of_key, key, "key", type_, release, begin)
    told_key = json_text({"type": str(type_), "data": data})
    if value is None:
        return told_key, DELETED
    version, begin = _number(value, "value")
    known = of_value.versions_in(release.version)
    if release.since(4, 0) and (known is None or version not in known):
        raise UnreadableError(f"Found an unknown record version {version} for {type_} type")
    told = _message(of_value, value, "value", version, release, begin)
    if of_value is consumer_offsets.GROUP_METADATA_VALUE:
        told = _with_protocol(told, release)
    number = "type" if _calls_versions_types(schemas, release) else "version"
    return told_key, json_text({number: str(version), "data": told})


def _calls_versions_types(schemas: Sequence[MessageSchema], release: Release) -> bool:
    """Whether the version of a value is called `type`, which 4.0 did of share groups."""
    return schemas is share_group_state.MESSAGES and not release.since(4, 1)


def _number(data: bytes, what: str) -> tuple[int, int]:
    try:
        return messages.read_int16(data, what)
    except MessageError as error:
        raise UnreadableError(f"Could not read version from {what}'s buffer.") from error


def _message(
    schema: MessageSchema, data: bytes, what: str, version: int, release: Release, begin: int
) -> dict[str, Any]:
    try:
        return messages.read(schema, data, version, release.version, begin).fields
    except MessageError as error:
        raise UnreadableError(
            f"Could not read record with version {version} from {what}'s buffer due to: "
            f"{complaint(error, version)}."
        ) from error


def _with_protocol(group: dict[str, Any], release: Release) -> dict[str, Any]:
    """Return a group's metadata with what its members say decoded, where they are consumers."""
    if group["protocolType"] != "consumer":
        return group
    fields = {
        "subscription": consumer_protocol.CONSUMER_PROTOCOL_SUBSCRIPTION,
        "assignment": consumer_protocol.CONSUMER_PROTOCOL_ASSIGNMENT,
    }

    def member(one: dict[str, Any]) -> dict[str, Any]:
        return one | {
            name: _protocol(schema, one[name], release) for name, schema in fields.items()
        }

    return group | {"members": [member(one) for one in group["members"]]}


def _protocol(schema: MessageSchema, data: bytes, release: Release) -> dict[str, Any] | bytes:
    """Return what *data* says; itself where it says nothing that can be read."""
    try:
        version, begin = messages.read_int16(data, "version")
        return messages.read(schema, data, version, release.version, begin).fields
    except MessageError:
        return data
