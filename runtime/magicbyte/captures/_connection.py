"""TCP connections: their two streams, which side is the client, and requests with their responses."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from magicbyte.captures._capture_findings import CaptureFindings
from magicbyte.captures._framing import (
    REQUEST_PROBE_BYTES,
    RESPONSE_PROBE_BYTES,
    MessageFramer,
    is_tls,
)
from magicbyte.captures._ip_segments import ACK, FIN, RST, SYN, Endpoint, TcpSegment, endpoint_text
from magicbyte.captures._packets import Packet
from magicbyte.captures._request_header import (
    FETCH,
    PRODUCE,
    RequestHeader,
    is_known_version,
    is_request_start,
    read_request_header,
)
from magicbyte.captures._tcp_stream import MissingBytes, PendingTotal, TcpStream
from magicbyte.limits import Limits
from magicbyte.messages import MessageError, read_uvarint

MAX_WAITING_REQUESTS = 10_000
MAX_WAITING_BYTES = 64 << 20
"""Requests of a connection that wait for their responses; the oldest is given up beyond that."""

MAX_EARLY_RESPONSES = 20
MAX_EARLY_BYTES = 16 << 20
MAX_EARLY_PACKETS = 200
"""Responses of a connection that wait for their requests: a capture may have the two directions out of order."""


@dataclass(frozen=True, slots=True)
class CapturedMessage:
    """A request or response, without its length, and the packet in which it ends."""

    data: bytes
    packet_number: int
    packet_position: int
    time_ns: int | None


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its response; one of them may be missing in the capture."""

    client: str
    server: str
    request_header: RequestHeader
    request: CapturedMessage
    response: CapturedMessage | None
    is_certain: bool = False
    """True if the connection is one of Kafka without doubt: a response has had its request."""


@dataclass(slots=True)
class _Side:
    """Stream and messages of one side of a connection."""

    stream: TcpStream
    framer: MessageFramer
    num_fed: int = 0
    """Parts of the stream so far."""
    has_syn: bool = False
    """True if the begin of the stream was captured."""
    has_ended: bool = False


@dataclass(slots=True)
class Connection:
    """Bytes of a TCP connection, put in order and divided into requests and responses."""

    findings: CaptureFindings
    pending_total: PendingTotal
    limits: Limits
    endpoints: tuple[Endpoint, Endpoint]
    client: Endpoint | None = None
    """The side that sends requests; None until it is known."""
    is_ignored: bool = False
    """True if the connection is encrypted, or not of Kafka."""
    is_certain: bool = False
    """True once a response had its request: the connection is one of Kafka."""
    _sides: dict[Endpoint, _Side] = field(init=False)
    _waiting: dict[int, Exchange] = field(default_factory=dict)
    """Requests without their responses so far, by correlation id, in their order."""
    _num_waiting_bytes: int = 0
    _early: dict[int, CapturedMessage] = field(default_factory=dict)
    """Responses whose requests have not come so far, by correlation id."""
    _missing: list[tuple[Endpoint, int, Packet]] = field(default_factory=list)
    """Missing bytes without a finding so far: the sender, bytes, and the packet after it."""
    _packet: Packet = field(init=False)

    def __post_init__(self) -> None:
        self._sides = {
            endpoint: _Side(
                TcpStream(self.pending_total),
                MessageFramer(
                    partial(self._is_start, endpoint),
                    partial(self._num_probe_bytes, endpoint),
                    self.limits.max_entry_bytes,
                ),
            )
            for endpoint in self.endpoints
        }

    def __str__(self) -> str:
        client = self.client or self.endpoints[0]
        return f"{endpoint_text(client)} to {endpoint_text(self._other(client))}"

    @property
    def has_begun(self) -> bool:
        """True if it has bytes, or has ended: a SYN after that begins another connection."""
        return any(side.num_fed or side.has_ended for side in self._sides.values())

    def _other(self, endpoint: Endpoint) -> Endpoint:
        first, second = self.endpoints
        return second if endpoint == first else first

    def add(self, packet: Packet, tcp_segment: TcpSegment) -> Iterator[Exchange]:
        """Yield the exchanges that a segment completes."""
        # Its bytes would keep a chunk of the file in memory for as long as the connection is idle.
        self._packet = packet._replace(data=memoryview(b""))
        side = self._sides[tcp_segment.sender]
        if tcp_segment.flags & SYN:
            side.stream.begin(tcp_segment.sequence)
            side.has_syn = side.framer.is_at_begin = True
            if not tcp_segment.flags & ACK:
                self.client = tcp_segment.sender
        elif not self.is_ignored and (len(tcp_segment.data) or tcp_segment.num_cut):
            for part in side.stream.add(
                tcp_segment.sequence, tcp_segment.data, tcp_segment.num_cut
            ):
                yield from self._feed(tcp_segment.sender, part)
        if tcp_segment.flags & (FIN | RST):
            # Segments before the FIN may still come: missing bytes are given up when both have ended.
            side.has_ended = True
            if tcp_segment.flags & RST:
                self._sides[tcp_segment.receiver].has_ended = True

    def finish(self) -> Iterator[Exchange]:
        """Yield the exchanges in bytes that wait for others, and requests without a response."""
        for endpoint in self._in_order():
            for part in self._sides[endpoint].stream.finish():
                yield from self._feed(endpoint, part)
        yield from self._give_up(len(self._waiting))
        for correlation_id in list(self._early):
            self._add_alone(correlation_id)
        if self.client is not None:
            self.is_certain |= self._sides[self.client].framer.has_framed
        self._add_missing_bytes()
        lost = sum(side.framer.num_lost for side in self._sides.values())
        ignored = sum(
            side.framer.num_ignored for side in self._sides.values() if side.framer.has_framed
        )
        if self.is_certain and (lost or ignored):
            self.findings.add(
                "capture-messages-lost",
                f"{self}: requests or responses that are incomplete or too large: {lost}; bytes in none: {ignored}",
                subject=str(self),
                found=lost,
            )

    def _in_order(self) -> tuple[Endpoint, ...]:
        """Return both endpoints, the client first."""
        client = self.client or self.endpoints[0]
        return client, self._other(client)

    def _feed(
        self, endpoint: Endpoint, stream_part: memoryview | bytes | MissingBytes
    ) -> Iterator[Exchange]:
        if self.is_ignored:
            return
        side = self._sides[endpoint]
        is_first = side.num_fed == 0
        side.num_fed += 1
        if isinstance(stream_part, MissingBytes):
            self._missing.append((endpoint, stream_part.num_bytes, self._packet))
            if self.is_certain or len(self._missing) > MAX_EARLY_RESPONSES:
                self._add_missing_bytes()
        elif is_first and is_tls(bytes(stream_part[:5])):
            self._ignore_encrypted()
            return
        for message in side.framer.feed(stream_part):
            captured = CapturedMessage(
                message, self._packet.number, self._packet.position, self._packet.time_ns
            )
            if endpoint == self.client:
                yield from self._request(captured)
            else:
                yield from self._response(captured)
        if side.framer.num_ignored > side.framer.max_bytes and not side.framer.has_framed:
            self.is_ignored = True

    def _num_probe_bytes(self, endpoint: Endpoint) -> int:
        """Return how many bytes `_is_start` needs of *endpoint*."""
        return REQUEST_PROBE_BYTES if self.client in (None, endpoint) else RESPONSE_PROBE_BYTES

    def _is_start(self, endpoint: Endpoint, data: bytes) -> bool:
        """Return whether *data* begins a request or response of *endpoint*; settle which side is the client."""
        if self.client in (None, endpoint) and is_request_start(data):
            self.client = endpoint
            return True
        if self.client in (None, endpoint):
            return False
        size, correlation_id = struct.unpack_from(">ii", data)
        client = self._sides[self.client]
        side = self._sides[endpoint]
        is_first = side.has_syn and side.num_fed == 1
        is_known = is_first or correlation_id in self._waiting or client.stream.has_missing_bytes
        return is_known and correlation_id >= 0 and 4 <= size <= self.limits.max_entry_bytes

    def _ignore_encrypted(self) -> None:
        self.is_ignored = True
        client = self.client or max(self.endpoints, key=lambda endpoint: endpoint[1])
        server = endpoint_text(self._other(client))
        self.findings.add(
            "capture-encrypted",
            f"connections to {server} are encrypted (TLS) and cannot be read",
            subject=server,
            position=self._packet.position,
        )

    def _add_missing_bytes(self) -> None:
        """Add findings about missing bytes, if the connection is one of Kafka."""
        for endpoint, num_bytes, packet in self._missing:
            sender = endpoint_text(endpoint)
            if self.is_certain:
                self.findings.add(
                    "capture-bytes-missing",
                    f"{sender} to {endpoint_text(self._other(endpoint))}: {num_bytes} bytes were not "
                    f"captured before packet {packet.number}",
                    subject=f"{self} {sender}",
                    position=packet.position,
                    length=num_bytes,
                )
        self._missing.clear()

    def _request(self, captured: CapturedMessage) -> Iterator[Exchange]:
        request_header = read_request_header(captured.data)
        if request_header is None:  # such as the tokens of SASL after SaslHandshake 0
            return
        client, server = map(endpoint_text, self._in_order())
        keeps_data = request_header.api_key in (PRODUCE, FETCH)
        exchange = Exchange(
            client,
            server,
            request_header,
            captured if keeps_data else CapturedMessage(b"", *_place(captured)),
            None,
        )
        if request_header.api_key == PRODUCE and _has_no_response(captured.data, request_header):
            yield replace(exchange, is_certain=self.is_certain)
            return
        # A correlation id that is used again belongs to the later request.
        yield from self._take(request_header.correlation_id)
        self._waiting[request_header.correlation_id] = exchange
        self._num_waiting_bytes += len(exchange.request.data)
        early = self._early.pop(request_header.correlation_id, None)
        if early is not None:
            yield from self._answered(request_header.correlation_id, early)
        while (
            len(self._waiting) > MAX_WAITING_REQUESTS or self._num_waiting_bytes > MAX_WAITING_BYTES
        ) and len(self._waiting) > 1:
            yield from self._give_up(1)

    def _response(self, captured: CapturedMessage) -> Iterator[Exchange]:
        if self.client is None or len(captured.data) < 4:
            return
        (correlation_id,) = struct.unpack_from(">i", captured.data)
        if correlation_id not in self._waiting:
            self._early[correlation_id] = captured
            yield from self._look_for_requests()
            return
        # Responses come in the order of the requests: earlier ones were not captured.
        num_before = list(self._waiting).index(correlation_id) if len(self._waiting) > 1 else 0
        yield from self._give_up(num_before)
        yield from self._answered(correlation_id, captured)

    def _look_for_requests(self) -> Iterator[Exchange]:
        """Skip missing bytes of the requests if responses show that the broker has those after it."""
        assert self.client is not None
        oldest = next(iter(self._early.values()))
        num_packets = self._packet.number - oldest.packet_number
        is_late = len(self._early) > MAX_EARLY_RESPONSES or num_packets > MAX_EARLY_PACKETS
        requests = self._sides[self.client].stream
        if is_late and requests.has_missing_bytes:
            for part in requests.skip_missing():
                yield from self._feed(self.client, part)
        num_bytes = sum(len(early.data) for early in self._early.values())
        while self._early and (
            len(self._early) > MAX_EARLY_RESPONSES or num_bytes > MAX_EARLY_BYTES
        ):
            correlation_id = next(iter(self._early))
            num_bytes -= len(self._early[correlation_id].data)
            self._add_alone(correlation_id)

    def _answered(self, correlation_id: int, captured: CapturedMessage) -> Iterator[Exchange]:
        """Yield a waiting request with its response."""
        for exchange in self._take(correlation_id):
            was_certain, self.is_certain = self.is_certain, True
            yield replace(exchange, response=captured, is_certain=was_certain)

    def _add_alone(self, correlation_id: int) -> None:
        """Drop a response whose request has not come."""
        message = self._early.pop(correlation_id)
        if self.is_certain:
            self.findings.add(
                "capture-response-alone",
                f"{self}: the request of the response in packet {message.packet_number} was not "
                "captured",
                subject=str(self),
                position=message.packet_position,
                found=correlation_id,
            )

    def _take(self, correlation_id: int) -> Iterator[Exchange]:
        """Yield the waiting request with *correlation_id*, if there is one, without a response."""
        exchange = self._waiting.pop(correlation_id, None)
        if exchange is not None:
            self._num_waiting_bytes -= len(exchange.request.data)
            yield replace(exchange, is_certain=self.is_certain)

    def _give_up(self, count: int) -> Iterator[Exchange]:
        """Yield the first *count* waiting requests, without responses."""
        for correlation_id in list(self._waiting)[:count]:
            yield from self._take(correlation_id)


def _place(captured: CapturedMessage) -> tuple[int, int, int | None]:
    return captured.packet_number, captured.packet_position, captured.time_ns


def _has_no_response(data: bytes, request_header: RequestHeader) -> bool:
    """Return whether a Produce request says `acks=0`."""
    version, position = request_header.version, request_header.size_bytes
    if not is_known_version(PRODUCE, version):
        return False
    if version >= 9:
        try:
            length, position = read_uvarint(data, position)
        except MessageError:
            return False
        position += max(length - 1, 0)
    elif version >= 3:
        position += 2 + max(int.from_bytes(data[position : position + 2], "big", signed=True), 0)
    return data[position : position + 2] == b"\0\0"
