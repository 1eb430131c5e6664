"""Record batches in Produce requests and Fetch responses."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from magicbyte.captures._capture_findings import CaptureFindings
from magicbyte.captures._connection import CapturedMessage, Exchange
from magicbyte.captures._request_header import (
    FETCH,
    METADATA,
    PRODUCE,
    RELEASE,
    REQUESTS,
    RESPONSES,
    highest_version,
    is_flexible,
    is_known_version,
    skip_tags,
)
from magicbyte.messages import MessageError, read
from magicbyte_kernels.message_schema import MessageSchema

PRODUCED, FETCHED = "produced", "fetched"

NO_TOPIC_ID = "A" * 22
"""Text of a topic id of zeros, which means none."""

MAX_TOPICS = 1_000_000
MAX_FETCH_POSITIONS = 100_000
"""Partitions of a connection whose fetch offsets are remembered, for the requests of a session that leave them out."""

Fields = dict[str, Any]


class TopicPartition(NamedTuple):
    """Partition of a topic, which a message names or gives the id of."""

    topic: str | None
    topic_id: str | None
    partition: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CapturedBatches:
    """The batches of a partition in a Produce request or Fetch response."""

    exchange: Exchange
    captured: CapturedMessage
    """The request or response that has them."""
    direction: str
    topic_partition: TopicPartition
    data: memoryview
    message_position: int
    """Byte of the message, with its length, at which they begin."""
    error_code: int | None
    """Error of the partition in the response; None if the response was not captured."""
    base_offset: int | None = None
    """Offset that the broker gave to the first record; None if it is not known."""
    fetch_offset: int | None = None
    log_start_offset: int | None = None
    replica_id: int | None = None
    """Node id of a follower that fetched them."""
    aborted: tuple[tuple[int, int], ...] | None = None
    """Aborted transactions, of a read_committed fetch: producer ids and first offsets."""


@dataclass(slots=True)
class TopicNamesById:
    """Names of topics by their ids, from Metadata responses."""

    by_id: dict[str, str] = field(default_factory=dict)
    is_complete: bool = False
    """True once all of the capture has been read for them."""

    def add(self, response: Fields) -> None:
        for topic in response["topics"]:
            name, topic_id = topic.get("name"), topic.get("topicId", NO_TOPIC_ID)
            if name and topic_id != NO_TOPIC_ID and len(self.by_id) < MAX_TOPICS:
                self.by_id[topic_id] = name


@dataclass(slots=True)
class ExchangeDecoder:
    """Decodes requests and responses to the batches in them."""

    findings: CaptureFindings
    names_by_id: TopicNamesById
    _fetch_offsets: dict[tuple[str, str, TopicPartition], int] = field(default_factory=dict)

    def batches_of(self, exchange: Exchange) -> Iterator[CapturedBatches]:
        """Yield the batches in an exchange; learn the names of topics."""
        header = exchange.request_header
        if header.api_key not in RESPONSES:
            return
        if not is_known_version(header.api_key, header.version):
            self._add_unknown_version(exchange)
            return
        try:
            match header.api_key:
                case 0:
                    yield from self._produced(exchange)
                case 1:
                    yield from self._fetched(exchange)
                case 3:
                    self._metadata(exchange)
        except MessageError as error:
            if exchange.is_certain:
                self._add_undecodable(exchange, error)

    def learn_names(self, exchange: Exchange) -> None:
        """Learn the names of topics in an exchange, and decode nothing else."""
        if exchange.request_header.api_key == METADATA:
            for _ in self.batches_of(exchange):
                pass

    def _metadata(self, exchange: Exchange) -> None:
        if exchange.response is not None:
            self.names_by_id.add(_response_fields(exchange, exchange.response))

    def _produced(self, exchange: Exchange) -> Iterator[CapturedBatches]:
        request = _request_fields(exchange, REQUESTS[PRODUCE])
        answers: dict[TopicPartition, Fields] = {}
        if exchange.response is not None:
            response = _response_fields(exchange, exchange.response)
            for topic in response["responses"]:
                for answer in topic["partitionResponses"]:
                    answers[_partition(topic, "name", answer["index"])] = answer
        places = _RecordPlaces(exchange.request.data)
        for topic in request["topicData"]:
            for produced in topic["partitionData"]:
                records = produced["records"]
                if not records:
                    continue
                partition = _partition(topic, "name", produced["index"])
                answer = answers.get(partition, {})
                base_offset = answer.get("baseOffset", -1)
                yield CapturedBatches(
                    exchange=exchange,
                    captured=exchange.request,
                    direction=PRODUCED,
                    topic_partition=partition,
                    data=memoryview(records),
                    message_position=places.next_place(records),
                    error_code=answer.get("errorCode"),
                    base_offset=None if base_offset < 0 else base_offset,
                )

    def _fetched(self, exchange: Exchange) -> Iterator[CapturedBatches]:
        request = _request_fields(exchange, REQUESTS[FETCH])
        self._remember_offsets(exchange, request)
        if exchange.response is None:
            return
        replica_id = request.get("replicaId", -1)
        replica_id = request.get("replicaState", {}).get("replicaId", replica_id)
        is_committed = request.get("isolationLevel", 0) == 1
        response = _response_fields(exchange, exchange.response)
        places = _RecordPlaces(exchange.response.data)
        for topic in response["responses"]:
            for fetched in topic["partitions"]:
                records = fetched["records"]
                if not records:
                    continue
                partition = _partition(topic, "topic", fetched["partitionIndex"])
                log_start = fetched.get("logStartOffset", -1)
                aborted = fetched.get("abortedTransactions") or ()
                yield CapturedBatches(
                    exchange=exchange,
                    captured=exchange.response,
                    direction=FETCHED,
                    topic_partition=partition,
                    data=memoryview(records),
                    message_position=places.next_place(records),
                    error_code=fetched["errorCode"],
                    fetch_offset=self._fetch_offset(exchange, partition),
                    log_start_offset=None if log_start < 0 else log_start,
                    replica_id=None if replica_id < 0 else replica_id,
                    aborted=tuple((one["producerId"], one["firstOffset"]) for one in aborted)
                    if is_committed
                    else None,
                )

    def _remember_offsets(self, exchange: Exchange, request: Fields) -> None:
        """Remember the fetch offsets: later requests of a session leave out partitions that have not changed."""
        for topic in request["topics"]:
            for wanted in topic["partitions"]:
                if len(self._fetch_offsets) >= MAX_FETCH_POSITIONS:
                    self._fetch_offsets.clear()
                partition = _partition(topic, "topic", wanted["partition"])
                key = exchange.client, exchange.server, partition
                self._fetch_offsets[key] = wanted["fetchOffset"]

    def _fetch_offset(self, exchange: Exchange, topic_partition: TopicPartition) -> int | None:
        return self._fetch_offsets.get((exchange.client, exchange.server, topic_partition))

    def _add_unknown_version(self, exchange: Exchange) -> None:
        header = exchange.request_header
        highest = highest_version(RESPONSES[header.api_key])
        if exchange.is_certain and header.api_key != METADATA:
            self.findings.add(
                "capture-unknown-version",
                f"{exchange.client} to {exchange.server}: {header.name} in packet "
                f"{exchange.request.packet_number} is a version that is not known",
                subject=f"{exchange.client} {exchange.server} {header.name}",
                position=exchange.request.packet_position,
                field="request_api_version",
                found=header.version,
                expected=f"0 to {highest}",
            )

    def _add_undecodable(self, exchange: Exchange, error: MessageError) -> None:
        header = exchange.request_header
        self.findings.add(
            "capture-message-invalid",
            f"{exchange.client} to {exchange.server}: {header.name} with correlation id "
            f"{header.correlation_id}, request in packet {exchange.request.packet_number}: {error.finding.message}",
            subject=f"{exchange.client} {exchange.server}",
            position=exchange.request.packet_position,
            field=error.finding.field,
            found=error.finding.found,
        )


@dataclass(slots=True)
class _RecordPlaces:
    """Finds the places of record bytes in their message, in their order."""

    data: bytes
    _position: int = 0

    def next_place(self, records: bytes) -> int:
        """Return the byte of the message, with its length, at which *records* begin."""
        at = self.data.find(records, self._position)
        self._position = at + len(records)
        return at + 4


def _request_fields(exchange: Exchange, schema: MessageSchema) -> Fields:
    header = exchange.request_header
    return read(schema, exchange.request.data, header.version, RELEASE, header.size_bytes).fields


def _response_fields(exchange: Exchange, response: CapturedMessage) -> Fields:
    api_key, version = exchange.request_header.api_key, exchange.request_header.version
    begin = 4
    if is_flexible(api_key, version):
        begin = skip_tags(response.data, begin)
    return read(RESPONSES[api_key], response.data, version, RELEASE, begin).fields


def _partition(topic_fields: Fields, name: str, number: int) -> TopicPartition:
    """Return partition *number* of a topic, whose name, if it has one, is in the field *name*."""
    return TopicPartition(topic_fields.get(name), topic_fields.get("topicId"), number)
