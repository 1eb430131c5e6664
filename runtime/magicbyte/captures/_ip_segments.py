"""TCP segments in captured packets: link layers, IPv4 and IPv6."""

from ipaddress import IPv4Address, IPv6Address
from typing import NamedTuple

from magicbyte.captures._capture_findings import CaptureFindings
from magicbyte.captures._packets import Packet

ETHERNET, RAW_IP, LINUX_COOKED, LINUX_COOKED_2 = 1, 101, 113, 276
NULL, LOOPBACK, IPV4_ONLY, IPV6_ONLY = 0, 108, 228, 229
RAW_IP_TYPES = (RAW_IP, 12, 14, IPV4_ONLY, IPV6_ONLY)
"""Link types of packets that begin with IP; 12 and 14 are what some systems write for 101."""

IPV4, IPV6 = 0x0800, 0x86DD
VLAN_TAGS = (0x8100, 0x88A8, 0x9100)
MAX_VLAN_TAGS = 4

IPV6_FAMILIES = (10, 24, 28, 30)
"""Numbers of IPv6's address family on Linux, BSD, FreeBSD and macOS; IPv4's is 2 on all."""

TCP = 6
EXTENSIONS = (0, 43, 60, 135)
"""IPv6's extension headers that state their length: hop-by-hop and destination options, routing, mobility."""
FRAGMENT, AUTHENTICATION = 44, 51
MAX_EXTENSIONS = 16

FIN, SYN, RST, ACK = 1, 2, 4, 16

Endpoint = tuple[bytes, int]
"""Address and port."""


class TcpSegment(NamedTuple):
    """A TCP segment."""

    sender: Endpoint
    receiver: Endpoint
    sequence: int
    flags: int
    data: memoryview
    num_cut: int
    """Bytes at the end of the segment that were not captured."""


def endpoint_text(endpoint: Endpoint) -> str:
    """Return *endpoint* as `10.0.0.7:9092` or `[::1]:9092`."""
    address, port = endpoint
    if len(address) == 4:
        return f"{IPv4Address(address)}:{port}"
    return f"[{IPv6Address(address)}]:{port}"


def segment_of(packet: Packet, findings: CaptureFindings) -> TcpSegment | None:
    """Return the TCP segment in *packet*; None if there is none, or a finding says why it cannot be read."""
    if packet.num_cut:
        findings.add(
            "capture-packet-cut",
            f"packet {packet.number}: {packet.num_cut} of {packet.num_cut + len(packet.data)} bytes "
            "were not captured",
            position=packet.position,
            length=packet.num_cut,
        )
    network = _network_packet(packet, findings)
    if network is None or not network:
        return None
    version = network[0] >> 4
    if version == 4:
        return _ipv4_segment(network, packet, findings)
    return _ipv6_segment(network, packet, findings) if version == 6 else None


def _network_packet(packet: Packet, findings: CaptureFindings) -> memoryview | None:
    """Return the IP packet in *packet*; None if it has none."""
    data, link_type = packet.data, packet.link_type
    if link_type in RAW_IP_TYPES:
        return data
    if link_type == ETHERNET:
        return _after_type(data, 12)
    if link_type == LINUX_COOKED:
        return _after_type(data, 14)
    if link_type == LINUX_COOKED_2:
        return data[20:] if _number(data, 0) in (IPV4, IPV6) else None
    if link_type in (NULL, LOOPBACK):
        family = bytes(data[:4])
        # The family of NULL is in the byte order of the machine that captured.
        numbers = {int.from_bytes(family, order) for order in ("little", "big")}
        return data[4:] if numbers & {2, *IPV6_FAMILIES} else None
    findings.add(
        "capture-link-type",
        f"packets of link type {link_type} cannot be read",
        subject=str(link_type),
        position=packet.position,
        found=link_type,
        expected="Ethernet, Linux cooked, loopback or raw IP",
    )
    return None


def _number(data: memoryview, at: int) -> int:
    """Return the uint16 at byte *at* of *data*."""
    return int.from_bytes(data[at : at + 2], "big")


def _after_type(data: memoryview, at: int) -> memoryview | None:
    """Return the bytes after the EtherType at byte *at*, and after VLAN tags, if they are an IP packet."""
    for _ in range(MAX_VLAN_TAGS):
        if _number(data, at) not in VLAN_TAGS:
            break
        at += 4
    return data[at + 2 :] if _number(data, at) in (IPV4, IPV6) else None


def _ipv4_segment(
    network: memoryview, packet: Packet, findings: CaptureFindings
) -> TcpSegment | None:
    header_bytes = (network[0] & 15) * 4
    if len(network) < 20 or header_bytes < 20 or network[9] != TCP:
        return None
    if _number(network, 6) & 0x3FFF:
        _add_fragment(packet, findings)
        return None
    # The length is 0 where the network card divides the packet later (TSO).
    total = _number(network, 2) or len(network) + packet.num_cut
    source, destination = bytes(network[12:16]), bytes(network[16:20])
    return _segment(source, destination, network[header_bytes:total], total - header_bytes)


def _ipv6_segment(
    network: memoryview, packet: Packet, findings: CaptureFindings
) -> TcpSegment | None:
    if len(network) < 40:
        return None
    total = 40 + (_number(network, 4) or len(network) + packet.num_cut - 40)
    next_header, at = network[6], 40
    for _ in range(MAX_EXTENSIONS):
        if next_header == FRAGMENT:
            _add_fragment(packet, findings)
            return None
        if next_header not in (*EXTENSIONS, AUTHENTICATION) or at + 2 > len(network):
            break
        unit = 4 if next_header == AUTHENTICATION else 8
        next_header, at = network[at], at + (network[at + 1] + 8 // unit) * unit
    if next_header != TCP:
        return None
    source, destination = bytes(network[8:24]), bytes(network[24:40])
    return _segment(source, destination, network[at:total], total - at)


def _add_fragment(packet: Packet, findings: CaptureFindings) -> None:
    findings.add(
        "capture-ip-fragment",
        f"packet {packet.number} is a fragment of an IP packet, which is not put together",
        position=packet.position,
    )


def _segment(
    sender_address: bytes, receiver_address: bytes, tcp: memoryview, num_bytes: int
) -> TcpSegment | None:
    """Return the segment with the bytes *tcp*, which has *num_bytes* with the bytes that were not captured."""
    if len(tcp) < 20:
        return None
    header_bytes = (tcp[12] >> 4) * 4
    if not 20 <= header_bytes <= num_bytes:
        return None
    payload = tcp[header_bytes:]
    return TcpSegment(
        (sender_address, _number(tcp, 0)),
        (receiver_address, _number(tcp, 2)),
        int.from_bytes(tcp[4:8], "big"),
        tcp[13],
        payload,
        num_bytes - header_bytes - len(payload)
        if header_bytes <= len(tcp)
        else num_bytes - header_bytes,
    )
