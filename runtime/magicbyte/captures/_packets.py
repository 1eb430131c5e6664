"""Packets of a capture file: pcap, with microseconds or nanoseconds, and pcapng.

There are libraries for this, but they trust the lengths in the file, and do not say where a fault is.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from magicbyte.captures._capture_findings import CaptureFindings
from magicbyte.errors import InputError, UnreadableError
from magicbyte.storage import File

CHUNK_BYTES = 1 << 20
"""Bytes of the file that are read at a time."""

MAX_PACKET_BYTES = 1 << 20
"""Most bytes of one packet. Capture tools cut packets at 256 KiB, and a larger one is a damaged length."""

MAX_INTERFACES = 1 << 12
"""Most interfaces of a section: each takes memory, and a capture has a few."""

PCAP_FORMATS = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
"""Byte order, and nanoseconds of a unit of time, by the first four bytes of a pcap file."""

PCAP_HEADER_BYTES, PCAP_RECORD_BYTES = 24, 16

SECTION_HEADER, INTERFACE, OLD_PACKET, SIMPLE_PACKET, ENHANCED_PACKET = 0x0A0D0D0A, 1, 2, 3, 6
"""Types of pcapng's blocks."""

BLOCK_TYPE = SECTION_HEADER.to_bytes(4, "big")
BYTE_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}

OPTION_END, OPTION_TIME_RESOLUTION, OPTION_TIME_OFFSET = 0, 9, 14

NS_PER_S = 1_000_000_000

COMPRESSED = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ": "xz",
    b"BZh": "bzip2",
    b"\x04\x22\x4d\x18": "lz4",
}


class Packet(NamedTuple):
    """A captured packet."""

    number: int
    """Number of the packet in the file, from 1 on, as Wireshark counts."""
    position: int
    """Byte of the file at which the packet's header begins."""
    time_ns: int | None
    """Nanoseconds since the Unix epoch; None if the file does not say."""
    link_type: int
    data: memoryview
    num_cut: int
    """Bytes at the end of the packet that were not captured."""


class _Interface(NamedTuple):
    link_type: int
    snap_length: int
    units_per_s: int
    offset_s: int


class _FileReader:
    """Reads a file forwards, a chunk at a time."""

    def __init__(self, file: File) -> None:
        self.size_bytes, self._file = file.size_bytes, file
        self._chunk, self._origin = memoryview(b""), 0

    def read(self, position: int, length: int) -> memoryview:
        """Return *length* bytes from *position*, fewer at the end of the file."""
        length = max(min(length, self.size_bytes - position), 0)
        begin = position - self._origin
        if begin < 0 or begin + length > len(self._chunk):
            num_bytes = min(max(length, CHUNK_BYTES), self.size_bytes - position)
            try:
                self._chunk = memoryview(self._file.read_at(position, num_bytes))
            except UnreadableError:  # perhaps only later bytes of the chunk
                self._chunk = memoryview(self._file.read_at(position, length))
            self._origin, begin = position, 0
        return self._chunk[begin : begin + length]


def read_packets(file: File, findings: CaptureFindings) -> Iterator[Packet]:
    """Yield the packets of *file*, in order.

    A finding says where the file ends inside a packet, or a length in it is impossible: the rest is
    not read then. Raises InputError if the file is no capture.
    """
    file_reader = _FileReader(file)
    try:
        first = bytes(file_reader.read(0, 4))
        if first in PCAP_FORMATS:
            yield from _pcap_packets(file_reader, *PCAP_FORMATS[first], findings)
        elif first == BLOCK_TYPE:
            yield from _SectionReader(file_reader, findings).packets()
        else:
            raise InputError(
                _description(first), "a capture in the format pcap or pcapng", path=file.name
            )
    except UnreadableError as error:
        message = f"{error.finding.message}; the rest of the capture is not read"
        findings.add(error.finding.code, message, position=error.finding.position)


def _description(first_bytes: bytes) -> str:
    for magic, name in COMPRESSED.items():
        if first_bytes.startswith(magic):
            return f"a file that is compressed with {name}, which has to be unpacked first"
    return f"a file that begins with {first_bytes.hex()}" if first_bytes else "an empty file"


def _pcap_packets(
    file_reader: _FileReader, order: str, unit_ns: int, findings: CaptureFindings
) -> Iterator[Packet]:
    header = file_reader.read(0, PCAP_HEADER_BYTES)
    if len(header) < PCAP_HEADER_BYTES:
        findings.add_truncated(0, len(header), PCAP_HEADER_BYTES)
        return
    # The upper bits say whether frames end with a checksum, which IP's length leaves out.
    link_type = struct.unpack(f"{order}I", header[20:24])[0] & 0x0FFF_FFFF
    record = struct.Struct(f"{order}IIII")
    position, number = PCAP_HEADER_BYTES, 1
    while position < file_reader.size_bytes:
        fixed = file_reader.read(position, PCAP_RECORD_BYTES)
        if len(fixed) < PCAP_RECORD_BYTES:
            findings.add_truncated(position, len(fixed), PCAP_RECORD_BYTES)
            return
        seconds, units, captured, original = record.unpack(fixed)
        if captured > MAX_PACKET_BYTES:
            findings.add_bad_length(position, "incl_len", captured, f"at most {MAX_PACKET_BYTES}")
            return
        data = file_reader.read(position + PCAP_RECORD_BYTES, captured)
        if len(data) < captured:
            findings.add_truncated(position, len(data), captured)
            return
        time_ns = seconds * NS_PER_S + units * unit_ns
        yield Packet(number, position, time_ns, link_type, data, max(original - captured, 0))
        position += PCAP_RECORD_BYTES + captured
        number += 1


class _SectionReader:
    """Reads the blocks of a pcapng file."""

    def __init__(self, file_reader: _FileReader, findings: CaptureFindings) -> None:
        self.file_reader = file_reader
        self.findings = findings
        self.order = "<"
        self.interfaces: list[_Interface] = []
        self.num_packets = 0

    def packets(self) -> Iterator[Packet]:
        position = 0
        while position < self.file_reader.size_bytes:
            head = self.file_reader.read(position, 12)
            if len(head) < 12:
                self.findings.add_truncated(position, len(head), 12)
                return
            if head[:4] == BLOCK_TYPE:
                order = BYTE_ORDERS.get(bytes(head[8:12]))
                if order is None:
                    found = bytes(head[8:12]).hex()
                    self.findings.add_bad_length(position, "byte_order_magic", found, "1a2b3c4d")
                    return
                self.order, self.interfaces = order, []
            block_type, length = struct.unpack(f"{self.order}II", head[:8])
            if length < 12 or length % 4:
                expected = "a multiple of 4, 12 or more"
                self.findings.add_bad_length(position, "block_total_length", length, expected)
                return
            if position + length > self.file_reader.size_bytes:
                left = self.file_reader.size_bytes - position
                self.findings.add_truncated(position, left, length)
                return
            if block_type in (INTERFACE, OLD_PACKET, SIMPLE_PACKET, ENHANCED_PACKET):
                if length > MAX_PACKET_BYTES + CHUNK_BYTES:
                    expected = f"at most {MAX_PACKET_BYTES + CHUNK_BYTES}"
                    self.findings.add_bad_length(position, "block_total_length", length, expected)
                else:
                    body = self.file_reader.read(position + 8, length - 12)
                    yield from self._block(block_type, body, position)
            position += length

    def _block(self, block_type: int, body: memoryview, position: int) -> Iterator[Packet]:
        """Yield the packet in a block; add an interface."""
        if block_type == INTERFACE:
            if len(body) >= 8 and len(self.interfaces) < MAX_INTERFACES:
                self.interfaces.append(self._interface(body))
            return
        self.num_packets += 1
        packet = self._packet(block_type, body, position)
        if packet is None:
            self.findings.add_bad_length(
                position,
                "captured_len",
                f"a block of {len(body) + 12} bytes",
                "a packet of an interface",
            )
        else:
            yield packet

    def _packet(self, block_type: int, body: memoryview, position: int) -> Packet | None:
        if block_type == SIMPLE_PACKET:
            if len(body) < 4 or not self.interfaces:
                return None
            (original,) = struct.unpack(f"{self.order}I", body[:4])
            interface = self.interfaces[0]
            captured = min(original, interface.snap_length or original, len(body) - 4)
            data, time_ns = body[4 : 4 + captured], None
        else:
            form = "IIIII" if block_type == ENHANCED_PACKET else "HHIIII"
            if len(body) < 20:
                return None
            values = struct.unpack(f"{self.order}{form}", body[:20])
            number, (high, low, captured, original) = values[0], values[-4:]
            if number >= len(self.interfaces) or captured > len(body) - 20:
                return None
            interface = self.interfaces[number]
            units = high << 32 | low
            time_ns = interface.offset_s * NS_PER_S + units * NS_PER_S // interface.units_per_s
            data = body[20 : 20 + captured]
        cut = max(original - len(data), 0)
        return Packet(self.num_packets, position, time_ns, interface.link_type, data, cut)

    def _interface(self, body: memoryview) -> _Interface:
        link_type, _, snap_length = struct.unpack(f"{self.order}HHI", body[:8])
        units_per_s, offset_s = 1_000_000, 0
        at = 8
        while at + 4 <= len(body):
            code, length = struct.unpack(f"{self.order}HH", body[at : at + 4])
            value = body[at + 4 : at + 4 + length]
            if code == OPTION_END or len(value) < length:
                break
            if code == OPTION_TIME_RESOLUTION and length == 1:
                exponent = value[0] & 0x7F
                units_per_s = 2**exponent if value[0] & 0x80 else 10**exponent
            elif code == OPTION_TIME_OFFSET and length == 8:
                (offset_s,) = struct.unpack(f"{self.order}q", value)
            at += 4 + length + -length % 4
        return _Interface(link_type, snap_length, units_per_s, offset_s)
