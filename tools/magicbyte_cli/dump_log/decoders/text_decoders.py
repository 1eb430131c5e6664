"""What older releases print of internal topics: offsets up to 3.7, transactions up to 4.0, as text."""

from collections.abc import Sequence
from typing import Any

from magicbyte import messages
from magicbyte.messages import MessageError
from magicbyte_cli.dump_log.decoders import Decoder, Said
from magicbyte_cli.dump_log.decoders.coordinator_decoders import DELETED
from magicbyte_cli.dump_log.decoders.java_exceptions import complaint
from magicbyte_cli.dump_log.decoders.json_text import json_text
from magicbyte_cli.dump_log.decoders.scala_order import (
    in_map_order,
    in_set_order,
    partition_hash,
    string_hash,
)
from magicbyte_cli.dump_log.end_error import EndError
from magicbyte_cli.dump_log.releases import Release
from magicbyte_formats.messages import consumer_offsets, consumer_protocol, transaction_state
from magicbyte_kernels.message_schema import MessageSchema

OFFSETS, GROUP = consumer_offsets.OFFSET_COMMIT_KEY, consumer_offsets.GROUP_METADATA_KEY
TRANSACTION = transaction_state.TRANSACTION_LOG_KEY

STATUS = transaction_state.TRANSACTION_LOG_VALUE.field("transactionStatus")
EMPTY = "Empty"
CLIENT_VERSION = transaction_state.TRANSACTION_LOG_VALUE.field("clientTransactionVersion")


def offsets_as_text(release: Release) -> Decoder:
    """Return the decoder of `__consumer_offsets` of a release up to 3.7."""

    def decode(offset: int, key: bytes | None, value: bytes | None) -> Said:
        if key is None:
            raise EndError(
                "Failed to decode message using offset topic decoder (message had a missing key)"
            )
        type_, begin = _number(key)
        if OFFSETS.is_type(type_, release.version):
            told = _message(OFFSETS, key, type_, release, begin)
            named = f"offset_commit::group={told['group']},partition={told['topic']}-{told['partition']}"
            return named, _committed(value, release)
        if GROUP.is_type(type_, release.version):
            told = _message(GROUP, key, type_, release, begin)
            return f"group_metadata::group={told['group']}", _group(value, release)
        return _unknown(type_, release)

    return decode


def transactions_as_text(release: Release) -> Decoder:
    """Return the decoder of `__transaction_state` of a release up to 4.0."""

    def decode(offset: int, key: bytes | None, value: bytes | None) -> Said:
        if key is None:
            raise EndError(
                "Failed to decode message using transaction topic decoder (message had a missing key)"
            )
        type_, begin = _number(key)
        if not TRANSACTION.is_type(type_, release.version):
            return _unknown(type_, release)
        told = _message(TRANSACTION, key, type_, release, begin)
        named = f"transaction_metadata::transactionalId={told['transactionalId']}"
        return named, _transaction(value, release)

    return decode


def _unknown(type_: int, release: Release) -> Said:
    if not release.since(3, 4):
        raise EndError(f"a key of type {type_}, which the release does not know")
    return f"unknown::version={type_}", None


def _number(data: bytes) -> tuple[int, int]:
    try:
        return messages.read_int16(data, "version")
    except MessageError as error:
        raise EndError("null") from error


def _message(
    schema: MessageSchema, data: bytes, version: int, release: Release, begin: int
) -> dict[str, Any]:
    try:
        return messages.read(schema, data, version, release.version, begin).fields
    except MessageError as error:
        raise EndError(complaint(error, version)) from error


def _value(schema: MessageSchema, data: bytes, what: str, release: Release) -> dict[str, Any]:
    version, begin = _number(data)
    known = schema.versions_in(release.version)
    if known is None or version not in known:
        raise EndError(f"Unknown {what} message version: {version}")
    return _message(schema, data, version, release, begin)


def _committed(value: bytes | None, release: Release) -> str:
    if value is None:
        return DELETED
    told = _value(consumer_offsets.OFFSET_COMMIT_VALUE, value, "offset", release)
    note = f",metadata={told['metadata']}" if told["metadata"] else ""
    return f"offset={told['offset']}{note}"


def _group(value: bytes | None, release: Release) -> str:
    if value is None:
        return DELETED
    told = _value(consumer_offsets.GROUP_METADATA_VALUE, value, "group metadata", release)
    names = [member["memberId"] for member in told["members"]]
    members = dict(zip(names, told["members"], strict=True))
    if len(set(names[:-1])) < len(names) - 1:
        raise EndError("a member behind two of one memberId")
    instances = [member.get("groupInstanceId") for member in told["members"]]
    static = [instance for instance in instances if instance is not None]
    if release.since(3, 0) and len(static) != len(set(static)):
        raise EndError("two members of one groupInstanceId")
    is_consumers = told["protocolType"] == "consumer"
    order = in_map_order((name, string_hash(name)) for name in names)
    if is_consumers and told["protocol"] is not None:
        _check_subscriptions([members[name]["subscription"] for name in order], release)
    assigned = [
        f"{name}={_assigned(members[name]['assignment'], release, is_consumers=is_consumers)}"
        for name in order
    ]
    return json_text(
        {
            "protocolType": told["protocolType"],
            "protocol": told["protocol"],
            "generationId": told["generation"],
            "assignment": f"{{{','.join(assigned)}}}",
        }
    )


def _check_subscriptions(subscriptions: Sequence[bytes], release: Release) -> None:
    """EndError where the tool, which reads what the members subscribe to, cannot go on.

    It reads the topics as version 0. One that is cut off in a number or its version is let pass, and
    those behind it are not read.
    """
    schema = consumer_protocol.CONSUMER_PROTOCOL_SUBSCRIPTION
    for data in subscriptions:
        try:
            begin = messages.read_int16(data, "version")[1]
            messages.read(schema, data, 0, release.version, begin)
        except MessageError as error:
            if error.reason == "end":
                return
            raise EndError(complaint(error, 0)) from error


def _assigned(assignment: bytes, release: Release, *, is_consumers: bool) -> str:
    if not is_consumers:
        return _hex(assignment)
    schema = consumer_protocol.CONSUMER_PROTOCOL_ASSIGNMENT
    version, begin = _number(assignment)
    if version < 0:
        raise EndError(f"Unsupported assignment version: {version}")
    known = schema.versions_in(release.version)
    if known is not None and known.last is not None:
        version = min(version, known.last)  # a newer one begins with the same fields
    told = _message(schema, assignment, version, release, begin)
    partitions = ", ".join(
        f"{one['topic']}-{partition}"
        for one in told["assignedPartitions"]
        for partition in one["partitions"]
    )
    user_data = _hex(told["userData"] or b"")
    return f"[{partitions}]" + (f":{user_data}" if user_data else "")


def _hex(data: bytes) -> str:
    """Return *data* as the number that it is: without zeros in front, as Kafka's tool has it."""
    return f"{int.from_bytes(data, 'big'):X}" if data else ""


def _transaction(value: bytes | None, release: Release) -> str:
    if value is None:
        return DELETED
    told = _value(transaction_state.TRANSACTION_LOG_VALUE, value, "transaction log", release)
    number = told["transactionStatus"]
    state = STATUS.name_of(number)
    if state is None:
        raise EndError(f"Unknown transaction state id {number} from the transaction status message")
    if told["transactionPartitions"] is None and state != EMPTY:
        raise EndError("a transaction whose partitions are null, though its state is not Empty")
    client_version = told.get("clientTransactionVersion", 0)
    if CLIENT_VERSION.name_of(client_version) is None:
        raise EndError(f"No feature:transaction.version with feature level {client_version}")
    sets = [
        [
            ((one["topic"], partition), partition_hash(one["topic"], partition))
            for partition in one["partitionIds"]
        ]
        for one in ((told["transactionPartitions"] or []) if state != EMPTY else [])
    ]
    partitions = [f"{topic}-{partition}" for topic, partition in in_set_order(sets)]
    return (
        f"producerId:{told['producerId']},producerEpoch:{told['producerEpoch']},"
        f"state={state},partitions=[{','.join(partitions)}],"
        f"txnLastUpdateTimestamp={told['transactionLastUpdateTimestampMs']},"
        f"txnTimeoutMs={told['transactionTimeoutMs']}"
    )
