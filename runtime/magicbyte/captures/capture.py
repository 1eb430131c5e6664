"""A capture: the tables that its Produce requests and Fetch responses give."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from magicbyte.captures._capture_findings import CaptureFindings
from magicbyte.captures._connection import Connection, Exchange
from magicbyte.captures._entry_rows import BatchDecoder, CapturedRun, batch_dicts, record_rows
from magicbyte.captures._exchanges import (
    NO_TOPIC_ID,
    CapturedBatches,
    ExchangeDecoder,
    TopicNamesById,
)
from magicbyte.captures._ip_segments import ACK, SYN, Endpoint, TcpSegment, segment_of
from magicbyte.captures._packets import read_packets
from magicbyte.captures._tcp_stream import PendingTotal
from magicbyte.engines.factory import engine
from magicbyte.errors import InputError
from magicbyte.limits import DEFAULT_LIMITS, Limits
from magicbyte.reading.results import Report, Rows
from magicbyte.reading.table_rows import rows_of_table
from magicbyte.storage import File, Storage, StorageOptions, normalize_path
from magicbyte.tables.schemas import CAPTURED_BATCHES, CAPTURED_RECORDS, DISPOSITIONS

NS_PER_MS = 1_000_000

MAX_CONNECTIONS = 100_000
"""Connections that are followed at a time; the oldest is ended beyond that."""


@dataclass(frozen=True, slots=True)
class Capture:
    """Record batches in the captured traffic of Kafka's clients and brokers. Made by `read_pcap`.

    Each table reads the file again when it is iterated.

    Attributes:
        path: The file.
        ports: TCP ports of brokers; empty: any port.
        only_topics: Names of topics to return; empty: all topics.
        limits: Limits on the size of batches, requests and responses.
    Example:
        >>> mb.read_pcap("orders.pcap", ports=[9092]).ports
        frozenset({9092})
    """

    path: str
    ports: frozenset[int]
    only_topics: frozenset[str]
    limits: Limits
    _storage: Storage = field(repr=False)
    _names_by_id: TopicNamesById = field(default_factory=TopicNamesById, repr=False)

    def records(
        self,
        columns: Sequence[str] | None = None,
        *,
        dispositions: Sequence[str] = ("delivered",),
    ) -> Rows:
        """Return the records, in the order in which their requests and responses were captured.

        Args:
            columns: Columns of the table `captured_records`. Default: all.
            dispositions: Dispositions of the records to return. Default: those that a consumer gets
                and those that producers sent.
        Returns:
            Rows that are read while they are iterated.
        Raises:
            InputError: A column or disposition does not exist.
        Example:
            >>> rows = mb.read_pcap("orders.pcap").records(["direction", "topic", "offset"])
            >>> rows.to_pylist()[0]
            {'direction': 'produced', 'topic': 'orders', 'offset': 0}
        """
        table = CAPTURED_RECORDS
        names = table.check(tuple(table.names if columns is None else columns))
        for name in dispositions:
            if name not in DISPOSITIONS:
                raise InputError(f"disposition {name!r}", f"some of {', '.join(DISPOSITIONS)}")

        def read(report: Report) -> Iterator[pa.RecordBatch]:
            for run, constants in self._runs(names, report):
                rows = record_rows(run, table, names, dispositions, constants)
                if rows is not None:
                    yield rows

        return Rows(table.schema(names), read)

    def batches(self, columns: Sequence[str] | None = None) -> Rows:
        """Return the batches, also damaged ones, in the order in which they were captured.

        Args:
            columns: Columns of the table `captured_batches`. Default: all.
        Returns:
            Rows that are read while they are iterated.
        Raises:
            InputError: A column does not exist.
        Example:
            >>> batches = mb.read_pcap("orders.pcap").batches(["direction", "record_count"])
            >>> batches.to_pylist()[0]
            {'direction': 'produced', 'record_count': 3}
        """

        def read(report: Report) -> Iterator[dict[str, Any]]:
            for run, constants in self._runs((), report):
                yield from batch_dicts(run, constants)

        return rows_of_table(CAPTURED_BATCHES, columns, read)

    def _runs(
        self, columns: Sequence[str], report: Report
    ) -> Iterator[tuple[CapturedRun, dict[str, Any]]]:
        """Yield decoded batches, and the values of columns that are the same for all of them."""
        with self._open() as file:
            findings = CaptureFindings(report.findings, file.name)
            decoder = ExchangeDecoder(findings, self._names_by_id)
            batch_decoder = BatchDecoder(engine("auto"), self.limits, report, findings)
            for exchange in self._exchanges(file, findings):
                for sent_batches in decoder.batches_of(exchange):
                    named = self._with_name(sent_batches, findings)
                    if self.only_topics and named.topic_partition.topic not in self.only_topics:
                        continue
                    constants = _constants(named, file.name)
                    for run in batch_decoder.runs(named, columns):
                        yield run, constants
            findings.finish()

    def _open(self) -> File:
        return self._storage.open_file(self.path)

    def _exchanges(self, file: File, findings: CaptureFindings) -> Iterator[Exchange]:
        """Yield the requests in *file* with their responses."""
        connections = _Connections(findings, self.limits)
        for packet in read_packets(file, findings):
            tcp_segment = segment_of(packet, findings)
            if tcp_segment is not None and self._is_of_port(tcp_segment):
                connection = connections.of(tcp_segment)
                if connection is not None:
                    yield from connection.add(packet, tcp_segment)
            yield from connections.ended()
        yield from connections.finish()

    def _is_of_port(self, tcp_segment: TcpSegment) -> bool:
        return not self.ports or not self.ports.isdisjoint(
            (tcp_segment.sender[1], tcp_segment.receiver[1])
        )

    def _with_name(
        self, sent_batches: CapturedBatches, findings: CaptureFindings
    ) -> CapturedBatches:
        """Return *batches* with the name of the topic, if the capture has it anywhere."""
        topic_id = sent_batches.topic_partition.topic_id
        if sent_batches.topic_partition.topic is not None or topic_id is None:
            return sent_batches
        if topic_id not in self._names_by_id.by_id and not self._names_by_id.is_complete:
            self._read_names()
        name = self._names_by_id.by_id.get(topic_id)
        if name is None:
            findings.add(
                "capture-topic-unnamed",
                f"topic id {topic_id}: no response of Metadata in the capture has its name",
                subject=topic_id,
                position=sent_batches.captured.packet_position,
                found=topic_id,
            )
        return replace(
            sent_batches, topic_partition=sent_batches.topic_partition._replace(topic=name)
        )

    def _read_names(self) -> None:
        """Learn all names that the capture has: a client may have asked for them later."""
        with self._open() as file:
            findings = CaptureFindings([], file.name)
            decoder = ExchangeDecoder(findings, self._names_by_id)
            for exchange in self._exchanges(file, findings):
                decoder.learn_names(exchange)
        self._names_by_id.is_complete = True


class _Connections:
    """The connections of a capture that have not ended."""

    def __init__(self, findings: CaptureFindings, limits: Limits) -> None:
        self._findings, self._limits = findings, limits
        self._pending_total = PendingTotal()
        self._by_endpoints: dict[frozenset[Endpoint], Connection] = {}
        self._ended: list[Connection] = []

    def of(self, tcp_segment: TcpSegment) -> Connection | None:
        """Return the connection of a segment; None if it has none and begins none."""
        key = frozenset((tcp_segment.sender, tcp_segment.receiver))
        connection = self._by_endpoints.get(key)
        is_first = tcp_segment.flags & SYN and not tcp_segment.flags & ACK
        if connection is not None and is_first and connection.has_begun:  # the ports are used again
            self._ended.append(self._by_endpoints.pop(key))
            connection = None
        if connection is None:
            if not (tcp_segment.flags & SYN or len(tcp_segment.data) or tcp_segment.num_cut):
                return None
            connection = Connection(
                self._findings,
                self._pending_total,
                self._limits,
                (tcp_segment.sender, tcp_segment.receiver),
            )
            self._by_endpoints[key] = connection
            if len(self._by_endpoints) > MAX_CONNECTIONS:
                oldest = next(iter(self._by_endpoints))
                self._ended.append(self._by_endpoints.pop(oldest))
        return connection

    def ended(self) -> Iterator[Exchange]:
        """Yield what connections that have ended still hold."""
        while self._ended:
            yield from self._ended.pop(0).finish()

    def finish(self) -> Iterator[Exchange]:
        """Yield what all connections still hold."""
        self._ended += self._by_endpoints.values()
        self._by_endpoints.clear()
        yield from self.ended()


def _constants(sent_batches: CapturedBatches, file_name: str) -> dict[str, Any]:
    """Return the columns that all records of *batches* share."""
    exchange, message = sent_batches.exchange, sent_batches.captured
    time_ns = message.time_ns
    return {
        "topic": sent_batches.topic_partition.topic,
        "topic_id": _id_text(sent_batches.topic_partition.topic_id),
        "partition": sent_batches.topic_partition.partition,
        "file": file_name,
        "position": message.packet_position,
        "outcome": None,
        "direction": sent_batches.direction,
        "capture_time": None if time_ns is None else time_ns // NS_PER_MS,
        "client": exchange.client,
        "server": exchange.server,
        "client_id": exchange.request_header.client_id,
        "correlation_id": exchange.request_header.correlation_id,
        "api_version": exchange.request_header.version,
        "replica_id": sent_batches.replica_id,
        "error_code": sent_batches.error_code,
        "packet": message.packet_number,
    }


def _id_text(topic_id: str | None) -> str | None:
    return None if topic_id == NO_TOPIC_ID else topic_id


def read_pcap(
    path: str | os.PathLike[str],
    *,
    ports: Collection[int] = (),
    topics: Iterable[str] = (),
    limits: Limits | None = None,
    storage_options: Mapping[str, Any] | StorageOptions | None = None,
) -> Capture:
    """Read record batches out of captured traffic: Produce requests and Fetch responses.

    The capture is a pcap or pcapng file of Ethernet, Linux cooked, loopback or raw IP packets. TCP
    streams are put in order. Bytes that were not captured, encrypted connections and requests that
    do not decode are findings of the report, and all else is read.

    Args:
        path: The capture; local or in an object store.
        ports: TCP ports of brokers, such as 9092. Default: any connection that is one of Kafka.
        topics: Names of topics to return. Default: all.
        limits: Limits on the size of batches, requests and responses.
        storage_options: As for `open`.
    Returns:
        A capture, whose tables read the file while they are iterated.
    Raises:
        InputError: The path is no file, or the file is no capture.
        MissingError: The file does not exist or may not be read.
    Example:
        >>> capture = mb.read_pcap("orders.pcap", topics=["orders"])
        >>> [row["value"] for row in capture.records(["value"]).to_pylist()][:2]
        [b'one apple', b'two pears']
    """
    storage = Storage(storage_options)
    storage.check([os.fspath(path)])
    location = normalize_path(os.fspath(path))
    if storage.kind_of(location) != "file":
        raise InputError(
            "not a file", "a capture in the format pcap or pcapng", path=os.fspath(path)
        )
    return Capture(location, frozenset(ports), frozenset(topics), limits or DEFAULT_LIMITS, storage)
