"""Decoders of older releases: consumer offsets up to 3.7 and transactions up to 4.0, as text."""

from collections.abc import Sequence
from typing import Any

from magicbyte import messages
from magicbyte.messages import MessageError
from magicbyte_cli.dump_log import ToolError
from magicbyte_cli.dump_log.decoders import DecodedText, Decoder
from magicbyte_cli.dump_log.decoders.coordinator_decoders import DELETED, STATUS
from magicbyte_cli.dump_log.decoders.java_exceptions import exception_text
from magicbyte_cli.dump_log.decoders.json_text import json_text
from magicbyte_cli.dump_log.decoders.scala_order import (
    in_map_order,
    in_set_order,
    partition_hash,
    string_hash,
)
from magicbyte_cli.dump_log.releases import Release
from magicbyte_formats.messages import consumer_offsets, consumer_protocol, transaction_state
from magicbyte_kernels.message_schema import MessageSchema

OFFSETS, GROUP = consumer_offsets.OFFSET_COMMIT_KEY, consumer_offsets.GROUP_METADATA_KEY
TRANSACTION = transaction_state.TRANSACTION_LOG_KEY

EMPTY = "Empty"
CLIENT_VERSION = transaction_state.TRANSACTION_LOG_VALUE.field("clientTransactionVersion")


def offsets_as_text(release: Release) -> Decoder:
    """Return the decoder of `__consumer_offsets` in releases up to 3.7."""

    def decode(offset: int, key: bytes | None, value: bytes | None) -> DecodedText:
        if key is None:
            raise ToolError(
                "Failed to decode message using offset topic decoder (message had a missing key)"
            )
        type_, begin = _number(key)
        if OFFSETS.is_type(type_, release.version):
            fields = _message(OFFSETS, key, type_, release, begin)
            partition = f"{fields['topic']}-{fields['partition']}"
            key_text = f"offset_commit::group={fields['group']},partition={partition}"
            return key_text, _committed(value, release)
        if GROUP.is_type(type_, release.version):
            fields = _message(GROUP, key, type_, release, begin)
            return f"group_metadata::group={fields['group']}", _group(value, release)
        return _unknown(type_, release)

    return decode


def transactions_as_text(release: Release) -> Decoder:
    """Return the decoder of `__transaction_state` in releases up to 4.0."""

    def decode(offset: int, key: bytes | None, value: bytes | None) -> DecodedText:
        if key is None:
            raise ToolError(
                "Failed to decode message using transaction topic decoder (message had a missing key)"
            )
        type_, begin = _number(key)
        if not TRANSACTION.is_type(type_, release.version):
            return _unknown(type_, release)
        fields = _message(TRANSACTION, key, type_, release, begin)
        key_text = f"transaction_metadata::transactionalId={fields['transactionalId']}"
        return key_text, _transaction(value, release)

    return decode


def _unknown(type_: int, release: Release) -> DecodedText:
    if not release.since(3, 4):
        raise ToolError(f"unknown type {type_} in a key")
    return f"unknown::version={type_}", None


def _number(data: bytes) -> tuple[int, int]:
    try:
        return messages.read_int16(data, "version")
    except MessageError as error:
        raise ToolError("null") from error


def _message(
    schema: MessageSchema, data: bytes, version: int, release: Release, begin: int
) -> dict[str, Any]:
    try:
        return messages.read(schema, data, version, release.version, begin).fields
    except MessageError as error:
        raise ToolError(exception_text(error, version)) from error


def _value(schema: MessageSchema, data: bytes, name: str, release: Release) -> dict[str, Any]:
    version, begin = _number(data)
    known = schema.versions_in(release.version)
    if known is None or version not in known:
        raise ToolError(f"Unknown {name} message version: {version}")
    return _message(schema, data, version, release, begin)


def _committed(value: bytes | None, release: Release) -> str:
    if value is None:
        return DELETED
    fields = _value(consumer_offsets.OFFSET_COMMIT_VALUE, value, "offset", release)
    note = f",metadata={fields['metadata']}" if fields["metadata"] else ""
    return f"offset={fields['offset']}{note}"


def _group(value: bytes | None, release: Release) -> str:
    if value is None:
        return DELETED
    fields = _value(consumer_offsets.GROUP_METADATA_VALUE, value, "group metadata", release)
    names = [member["memberId"] for member in fields["members"]]
    members = dict(zip(names, fields["members"], strict=True))
    if len(set(names[:-1])) < len(names) - 1:
        raise ToolError("a member follows two members with the same memberId")
    instances = [member.get("groupInstanceId") for member in fields["members"]]
    static = [instance for instance in instances if instance is not None]
    if release.since(3, 0) and len(static) != len(set(static)):
        raise ToolError("two members have the same groupInstanceId")
    is_consumers = fields["protocolType"] == "consumer"
    order = in_map_order((name, string_hash(name)) for name in names)
    if is_consumers and fields["protocol"] is not None:
        _check_subscriptions([members[name]["subscription"] for name in order], release)
    assigned = [
        f"{name}={_assigned(members[name]['assignment'], release, is_consumers=is_consumers)}"
        for name in order
    ]
    return json_text(
        {
            "protocolType": fields["protocolType"],
            "protocol": fields["protocol"],
            "generationId": fields["generation"],
            "assignment": f"{{{','.join(assigned)}}}",
        }
    )


def _check_subscriptions(subscriptions: Sequence[bytes], release: Release) -> None:
    """Raise ToolError if kafka-dump-log would fail to read the members' subscriptions.

    It reads them as version 0. It ignores a subscription that is cut off in a number or in its
    version, and does not read the subscriptions after it.
    """
    schema = consumer_protocol.CONSUMER_PROTOCOL_SUBSCRIPTION
    for data in subscriptions:
        try:
            begin = messages.read_int16(data, "version")[1]
            messages.read(schema, data, 0, release.version, begin)
        except MessageError as error:
            if error.reason == "end":
                return
            raise ToolError(exception_text(error, 0)) from error


def _assigned(assignment: bytes, release: Release, *, is_consumers: bool) -> str:
    if not is_consumers:
        return _hex(assignment)
    schema = consumer_protocol.CONSUMER_PROTOCOL_ASSIGNMENT
    version, begin = _number(assignment)
    if version < 0:
        raise ToolError(f"Unsupported assignment version: {version}")
    known = schema.versions_in(release.version)
    if known is not None and known.last is not None:
        version = min(version, known.last)  # newer versions begin with the same fields
    fields = _message(schema, assignment, version, release, begin)
    partitions = ", ".join(
        f"{topic['topic']}-{partition}"
        for topic in fields["assignedPartitions"]
        for partition in topic["partitions"]
    )
    user_data = _hex(fields["userData"] or b"")
    return f"[{partitions}]" + (f":{user_data}" if user_data else "")


def _hex(data: bytes) -> str:
    """Return *data* as a hexadecimal number without leading zeros, as Kafka's tool does."""
    return f"{int.from_bytes(data, 'big'):X}" if data else ""


def _transaction(value: bytes | None, release: Release) -> str:
    if value is None:
        return DELETED
    fields = _value(transaction_state.TRANSACTION_LOG_VALUE, value, "transaction log", release)
    number = fields["transactionStatus"]
    state = STATUS.name_of(number)
    if state is None:
        raise ToolError(
            f"Unknown transaction state id {number} from the transaction status message"
        )
    if fields["transactionPartitions"] is None and state != EMPTY:
        raise ToolError("the partitions of a transaction are null, but its state is not Empty")
    client_version = fields.get("clientTransactionVersion", 0)
    if CLIENT_VERSION.name_of(client_version) is None:
        raise ToolError(f"No feature:transaction.version with feature level {client_version}")
    sets = [
        [
            ((topic["topic"], partition), partition_hash(topic["topic"], partition))
            for partition in topic["partitionIds"]
        ]
        for topic in ((fields["transactionPartitions"] or []) if state != EMPTY else [])
    ]
    partitions = [f"{topic}-{partition}" for topic, partition in in_set_order(sets)]
    return (
        f"producerId:{fields['producerId']},producerEpoch:{fields['producerEpoch']},"
        f"state={state},partitions=[{','.join(partitions)}],"
        f"txnLastUpdateTimestamp={fields['transactionLastUpdateTimestampMs']},"
        f"txnTimeoutMs={fields['transactionTimeoutMs']}"
    )
