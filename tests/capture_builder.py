"""Builds captures for tests: Kafka's messages in TCP segments in IP packets in pcap or pcapng files."""

import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from log_builder import uvarint
from magicbyte_formats.messages import client_requests
from magicbyte_kernels.message_schema import MessageSchema
from message_encoder import NEWEST, encode

CLIENT, SERVER = ("10.0.0.7", 51234), ("10.0.0.1", 9092)
TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
TIME_NS = 1_714_000_000_123_456_789

PRODUCE, FETCH, METADATA, API_VERSIONS = 0, 1, 3, 18
API_VERSIONS_RESPONSE = b"\0" * 6
"""No error and no API: enough for a connection to be one of Kafka."""

FIN, SYN, RST, ACK = 1, 2, 4, 16

ETHERNET, NULL, LINUX_COOKED, RAW_IP, LOOPBACK, LINUX_COOKED_2 = 1, 0, 113, 101, 108, 276


def request(
    api_key: int, version: int, correlation_id: int, body: bytes, *, client_id: str | None = "app"
) -> bytes:
    """Return a request with its length; *body* is what follows the header."""
    name = (
        b"\xff\xff" if client_id is None else struct.pack(">h", len(client_id)) + client_id.encode()
    )
    tags = uvarint(0) if _is_flexible(api_key, version) else b""
    content = struct.pack(">hhi", api_key, version, correlation_id) + name + tags + body
    return struct.pack(">i", len(content)) + content


def response(api_key: int, version: int, correlation_id: int, body: bytes) -> bytes:
    """Return a response with its length."""
    tags = uvarint(0) if _is_flexible(api_key, version) else b""
    content = struct.pack(">i", correlation_id) + tags + body
    return struct.pack(">i", len(content)) + content


_RESPONSES: Mapping[int, MessageSchema] = {
    PRODUCE: client_requests.PRODUCE_RESPONSE,
    FETCH: client_requests.FETCH_RESPONSE,
    METADATA: client_requests.METADATA_RESPONSE,
}


def _is_flexible(api_key: int, version: int) -> bool:
    schema = _RESPONSES.get(api_key)
    return schema is not None and schema.is_flexible(version, NEWEST)


def produce_request(
    records: bytes, correlation_id: int = 1, *, version: int = 9, acks: int = -1, **header: Any
) -> bytes:
    """Return a Produce request for partition 0 of the topic `orders`."""
    partition = {"index": 0, "records": records}
    topic = {"name": "orders", "topicId": TOPIC_ID, "partitionData": [partition]}
    fields = {"transactionalId": None, "acks": acks, "timeoutMs": 1000, "topicData": [topic]}
    body = encode(client_requests.PRODUCE_REQUEST, fields, version)
    return request(PRODUCE, version, correlation_id, body, **header)


def produce_response(
    base_offset: int, correlation_id: int = 1, *, version: int = 9, error: int = 0
) -> bytes:
    partition = {"index": 0, "errorCode": error, "baseOffset": base_offset, "logAppendTimeMs": -1}
    topic = {"name": "orders", "topicId": TOPIC_ID, "partitionResponses": [partition]}
    body = encode(client_requests.PRODUCE_RESPONSE, {"responses": [topic]}, version)
    return response(PRODUCE, version, correlation_id, body)


def fetch_request(
    offset: int | None,
    correlation_id: int = 1,
    *,
    version: int = 12,
    level: int = 0,
    replica: int = -1,
) -> bytes:
    """Return a Fetch request for partition 0 of `orders`; without an *offset* for what its session has."""
    partition = {"partition": 0, "fetchOffset": offset or 0, "partitionMaxBytes": 1 << 20}
    topic = {"topic": "orders", "topicId": TOPIC_ID, "partitions": [partition]}
    fields = {
        "replicaId": replica,
        "replicaState": {"replicaId": replica, "replicaEpoch": -1},
        "isolationLevel": level,
        "topics": [] if offset is None else [topic],
    }
    body = encode(client_requests.FETCH_REQUEST, fields, version)
    return request(FETCH, version, correlation_id, body)


def fetch_response(
    records: bytes | None,
    correlation_id: int = 1,
    *,
    version: int = 12,
    aborted: Sequence[tuple[int, int]] | None = None,
) -> bytes:
    transactions = [
        {"producerId": producer, "firstOffset": first} for producer, first in aborted or ()
    ]
    partition = {
        "partitionIndex": 0,
        "highWatermark": 100,
        "lastStableOffset": 100,
        "logStartOffset": 0,
        "abortedTransactions": None if aborted is None else transactions,
        "preferredReadReplica": -1,
        "records": records,
    }
    topic = {"topic": "orders", "topicId": TOPIC_ID, "partitions": [partition]}
    body = encode(client_requests.FETCH_RESPONSE, {"responses": [topic]}, version)
    return response(FETCH, version, correlation_id, body)


def metadata_exchange(correlation_id: int = 1, *, version: int = 12) -> tuple[bytes, bytes]:
    """Return a Metadata request and the response, which names the topic of TOPIC_ID."""
    topic = {"name": "orders", "topicId": TOPIC_ID, "partitions": []}
    body = encode(client_requests.METADATA_RESPONSE, {"topics": [topic]}, version)
    return (
        request(METADATA, version, correlation_id, b"\0\0\0\0"),
        response(METADATA, version, correlation_id, body),
    )


def api_versions_exchange(correlation_id: int = 0) -> tuple[bytes, bytes]:
    """Return the request with which clients begin, and a response."""
    return (
        request(API_VERSIONS, 0, correlation_id, b""),
        response(API_VERSIONS, 0, correlation_id, API_VERSIONS_RESPONSE),
    )


@dataclass
class Conversation:
    """Packets of a TCP connection."""

    client: tuple[str, int] = CLIENT
    server: tuple[str, int] = SERVER
    packets: list[bytes] = field(default_factory=list)
    """IP packets."""
    sequences: dict[bool, int] = field(default_factory=lambda: {True: 0xFFFF_FF00, False: 77})
    """Sequence number of the next byte of the client, and of the server."""

    def open(self) -> "Conversation":
        """Add the packets with which a connection begins."""
        self.send(True, b"", SYN)
        self.send(False, b"", SYN | ACK)
        return self

    def close(self) -> "Conversation":
        self.send(True, b"", FIN | ACK)
        self.send(False, b"", FIN | ACK)
        return self

    def ask(
        self, request: bytes, response: bytes | None = None, *, size: int = 1400
    ) -> "Conversation":
        """Add a request and its response, in segments of up to *size* bytes."""
        for is_client, data in ((True, request), (False, response or b"")):
            for at in range(0, len(data), size):
                self.send(is_client, data[at : at + size])
        return self

    def send(self, is_client: bool, data: bytes, flags: int = ACK) -> None:
        """Add a segment of the client or the server."""
        sequence = self.sequences[is_client]
        self.packets.append(self.segment(is_client, sequence, data, flags))
        num_flags = bool(flags & SYN) + bool(flags & FIN)
        self.sequences[is_client] = (sequence + len(data) + num_flags) % (1 << 32)

    def segment(self, is_client: bool, sequence: int, data: bytes, flags: int = ACK) -> bytes:
        """Return an IP packet with a segment."""
        source, target = (self.client, self.server) if is_client else (self.server, self.client)
        tcp = struct.pack(">HHIIBBHHH", source[1], target[1], sequence, 0, 5 << 4, flags, 0, 0, 0)
        return ip_packet(source[0], target[0], tcp + data)


def ip_packet(source: str, target: str, content: bytes, *, fragment: int = 0) -> bytes:
    """Return an IPv4 or IPv6 packet of TCP."""
    if ":" in source:
        addresses = socket.inet_pton(socket.AF_INET6, source) + socket.inet_pton(
            socket.AF_INET6, target
        )
        options = b"\6\0" + b"\1\4\0\0\0\0"  # hop-by-hop options with padding
        length = len(options) + len(content)
        return struct.pack(">IHBB", 6 << 28, length, 0, 64) + addresses + options + content
    addresses = socket.inet_aton(source) + socket.inet_aton(target)
    header = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(content), 1, fragment, 64, 6, 0)
    return header + addresses + content


def link_frame(link_type: int, packet: bytes, *, num_vlans: int = 0) -> bytes:
    """Return *packet* with the header of a link layer."""
    ether_type = b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00"
    vlans = b"\x81\x00\x00\x07" * num_vlans
    match link_type:
        case 1:
            padding = bytes(max(60 - 14 - len(packet), 0))
            return bytes(12) + vlans + ether_type + packet + padding
        case 113:
            return bytes(14) + vlans + ether_type + packet
        case 276:
            return ether_type + bytes(18) + packet
        case 0:
            return struct.pack("<I", 10 if packet[0] >> 4 == 6 else 2) + packet
        case 108:
            return struct.pack(">I", 30 if packet[0] >> 4 == 6 else 2) + packet
    return packet


def pcap(
    packets: Sequence[bytes],
    *,
    order: str = "<",
    nanoseconds: bool = False,
    link_type: int = RAW_IP,
    snap_length: int = 1 << 18,
    num_vlans: int = 0,
) -> bytes:
    """Return a pcap file of IP *packets*, one a millisecond."""
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    out = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, snap_length, link_type)
    for number, packet in enumerate(packets):
        seconds, rest = divmod(TIME_NS + number * 1_000_000, 1_000_000_000)
        frame = link_frame(link_type, packet, num_vlans=num_vlans)
        captured = frame[:snap_length]
        units = rest if nanoseconds else rest // 1000
        out += struct.pack(f"{order}IIII", seconds, units, len(captured), len(frame)) + captured
    return out


def pcapng(packets: Sequence[bytes], *, order: str = "<", link_type: int = RAW_IP) -> bytes:
    """Return a pcapng file of IP *packets*, with a block that readers do not know."""
    out = block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))
    resolution = struct.pack(f"{order}HHB3xHH", 9, 1, 9, 0, 0)  # nanoseconds
    out += block(order, 1, struct.pack(f"{order}HHI", link_type, 0, 0) + resolution)
    out += block(order, 0xBAD, b"of another tool.")
    for number, packet in enumerate(packets):
        frame = link_frame(link_type, packet)
        time = TIME_NS + number * 1_000_000
        fixed = struct.pack(
            f"{order}IIIII", 0, time >> 32, time & 0xFFFFFFFF, len(frame), len(frame)
        )
        out += block(order, 6, fixed + frame + bytes(-len(frame) % 4))
    return out


def block(order: str, block_type: int, body: bytes) -> bytes:
    """Return a block of pcapng."""
    length = len(body) + 12
    return struct.pack(f"{order}II", block_type, length) + body + struct.pack(f"{order}I", length)
