"""Tests of capture files, link layers and IP."""

import struct
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from capture_builder import (
    CLIENT,
    ETHERNET,
    LINUX_COOKED,
    LINUX_COOKED_2,
    LOOPBACK,
    NULL,
    RAW_IP,
    SERVER,
    Conversation,
    api_versions_exchange,
    block,
    ip_packet,
    pcap,
    pcapng,
    produce_request,
    produce_response,
)

LINK_TYPES = (ETHERNET, NULL, LINUX_COOKED, RAW_IP, LOOPBACK, LINUX_COOKED_2)
IPV6 = ("fd00::7", CLIENT[1]), ("fd00::1", SERVER[1])


def conversation(client: Any = CLIENT, server: Any = SERVER) -> Conversation:
    sent = Conversation(client, server).open().ask(*api_versions_exchange())
    batch = build.batch_of(0, b"one")
    return sent.ask(produce_request(batch), produce_response(3)).close()


PACKETS = conversation().packets


def offsets_and_codes(content: bytes, tmp_path: Path) -> tuple[list[int], list[str]]:
    path = tmp_path / "capture.pcap"
    path.write_bytes(content)
    rows = mb.read_pcap(path).records(["offset", "capture_time"])
    table = rows.to_pylist()
    times = {row["capture_time"].isoformat()[:19] for row in table if row["capture_time"]}
    assert times <= {"2024-04-24T23:06:40"}
    return [row["offset"] for row in table], [finding.code for finding in rows.report.findings]


@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
@pytest.mark.parametrize("nanoseconds", [False, True], ids=["us", "ns"])
def test_pcap_is_read_in_each_byte_order_and_unit(
    order: str, nanoseconds: bool, tmp_path: Path
) -> None:
    content = pcap(PACKETS, order=order, nanoseconds=nanoseconds)
    assert offsets_and_codes(content, tmp_path) == ([3], [])


@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
def test_pcapng_is_read_in_each_byte_order(order: str, tmp_path: Path) -> None:
    content = pcapng(PACKETS, order=order)
    assert offsets_and_codes(content, tmp_path) == ([3], [])


def test_sections_of_a_pcapng_file_may_differ(tmp_path: Path) -> None:
    first = pcapng(PACKETS[:4], order="<", link_type=ETHERNET)
    content = first + pcapng(PACKETS[4:], order=">", link_type=NULL)
    # NULL's family is little-endian here, which readers have to find out.
    assert offsets_and_codes(content, tmp_path) == ([3], [])


def test_simple_packets_have_no_time(tmp_path: Path) -> None:
    content = pcapng([])
    for packet in PACKETS:
        content += block("<", 3, struct.pack("<I", len(packet)) + packet + bytes(-len(packet) % 4))
    assert offsets_and_codes(content, tmp_path) == ([3], [])


@pytest.mark.parametrize("link_type", LINK_TYPES)
@pytest.mark.parametrize("ends", [(CLIENT, SERVER), IPV6], ids=["IPv4", "IPv6"])
def test_each_link_layer_and_version_of_ip_is_read(
    link_type: int, ends: Any, tmp_path: Path
) -> None:
    content = pcap(conversation(*ends).packets, link_type=link_type)
    assert offsets_and_codes(content, tmp_path) == ([3], [])


@pytest.mark.parametrize("link_type", [ETHERNET, LINUX_COOKED])
@pytest.mark.parametrize("num_vlans", [1, 2])
def test_vlan_tags_are_passed_over(link_type: int, num_vlans: int, tmp_path: Path) -> None:
    content = pcap(PACKETS, link_type=link_type, num_vlans=num_vlans)
    assert offsets_and_codes(content, tmp_path) == ([3], [])


def test_length_of_ip_may_be_left_to_the_network_card(tmp_path: Path) -> None:
    packets = [packet[:2] + b"\0\0" + packet[4:] for packet in PACKETS]
    assert offsets_and_codes(pcap(packets), tmp_path) == ([3], [])


def test_other_link_layers_and_fragments_are_findings(tmp_path: Path) -> None:
    content = pcap(PACKETS, link_type=105)
    assert offsets_and_codes(content, tmp_path) == ([], ["capture-link-type"])
    fragment = ip_packet(CLIENT[0], SERVER[0], bytes(100), fragment=0x2000)
    assert offsets_and_codes(pcap([fragment, *PACKETS]), tmp_path) == ([3], ["capture-ip-fragment"])
    other = bytearray(ip_packet(CLIENT[0], SERVER[0], bytes(100)))
    other[9] = 17  # UDP
    assert offsets_and_codes(pcap([bytes(other), *PACKETS]), tmp_path) == ([3], [])


@pytest.mark.parametrize("make", [pcap, pcapng])
def test_each_end_of_a_cut_file_is_a_finding(make: Any, tmp_path: Path) -> None:
    whole, shorter = make(PACKETS), make(PACKETS[:-1])
    # Only in the last packet: before it, fewer packets are read.
    for end in range(len(shorter) + 1, len(whole)):
        assert offsets_and_codes(whole[:end], tmp_path) == ([3], ["capture-truncated"])


def test_impossible_lengths_are_findings_and_packets_before_them_are_read(tmp_path: Path) -> None:
    damage = struct.pack("<IIII", 0, 0, 0x7FFFFFFF, 0x7FFFFFFF)
    content = pcap(PACKETS) + damage + bytes(40)
    assert offsets_and_codes(content, tmp_path) == ([3], ["capture-damaged"])
    for length in (0, 8, 13):
        content = pcapng(PACKETS) + struct.pack("<II", 6, length) + bytes(40)
        assert offsets_and_codes(content, tmp_path) == ([3], ["capture-damaged"])
    wrong_interface = block("<", 6, struct.pack("<IIIII", 9, 0, 0, 4, 4) + bytes(4))
    too_long = block("<", 6, struct.pack("<IIIII", 0, 0, 0, 400, 400) + bytes(4))
    for damaged in (wrong_interface, too_long, block("<", 6, bytes(8))):
        content = pcapng(PACKETS[:4]) + damaged
        content += pcapng(PACKETS[4:])
        assert offsets_and_codes(content, tmp_path) == ([3], ["capture-damaged"])


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "an empty file"),
        (b"\x1f\x8b\x08\x00" + bytes(20), "a file that is compressed with gzip"),
        (b"\x28\xb5\x2f\xfd" + bytes(20), "a file that is compressed with zstd"),
        (build.batch(), "a file that begins with 00000000"),
    ],
)
def test_file_that_is_no_capture_is_refused(content: bytes, found: str, tmp_path: Path) -> None:
    with pytest.raises(mb.InputError, match=found):
        offsets_and_codes(content, tmp_path)


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(mb.InputError, match="not a file"):
        mb.read_pcap(tmp_path)
