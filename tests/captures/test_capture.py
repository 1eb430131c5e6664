"""Tests of the records and batches in captured requests and responses."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import log_builder as build
import magicbyte as mb
from capture_builder import (
    ACK,
    CLIENT,
    RAW_IP,
    SERVER,
    TOPIC_ID,
    Conversation,
    api_versions_exchange,
    fetch_request,
    fetch_response,
    metadata_exchange,
    pcap,
    produce_request,
    produce_response,
    request,
)
from magicbyte.captures._capture_findings import CaptureFindings
from magicbyte.captures._connection import Connection
from magicbyte.captures._ip_segments import segment_of
from magicbyte.captures._packets import Packet
from magicbyte.captures._tcp_stream import PendingTotal
from magicbyte.kafka_release import NEWEST
from magicbyte_formats.messages import client_requests
from paths import DATA

BATCH = build.batch_of(0, b"one", b"two")
ALL = tuple(mb.read_pcap.__globals__["DISPOSITIONS"])


def versions(schema: Any) -> range:
    return range(schema.versions_in((NEWEST.major, NEWEST.minor)).last + 1)


def capture_of(tmp_path: Path, *packets: bytes, **options: Any) -> mb.Capture:
    path = tmp_path / "capture.pcap"
    path.write_bytes(pcap(packets, **options))
    return mb.read_pcap(path)


def opened() -> Conversation:
    """Return a connection on which a client has asked for the versions of the broker's APIs."""
    return Conversation().open().ask(*api_versions_exchange())


def rows_and_codes(
    capture: mb.Capture, *columns: str, dispositions: Sequence[str] = ("delivered",)
) -> tuple[list[tuple[Any, ...]], list[str]]:
    """Return values of *columns* of the records, in this order, and the codes of the findings."""
    rows = capture.records(columns, dispositions=dispositions)
    values = [tuple(row[name] for name in columns) for row in rows.to_pylist()]
    return values, [finding.code for finding in rows.report.findings]


@pytest.mark.parametrize("version", versions(client_requests.PRODUCE_REQUEST))
def test_produced_records_have_the_offsets_of_the_response_in_each_version(
    version: int, tmp_path: Path
) -> None:
    sent = opened().ask(
        produce_request(BATCH, version=version), produce_response(40, version=version)
    )
    sent.ask(*metadata_exchange(2))
    capture = capture_of(tmp_path, *sent.packets)
    rows, codes = rows_and_codes(
        capture, "topic", "partition", "offset", "value", "direction", "api_version", "error_code"
    )
    same = ("produced", version, 0)
    assert rows == [("orders", 0, 40, b"one", *same), ("orders", 0, 41, b"two", *same)]
    assert codes == []


@pytest.mark.parametrize("version", versions(client_requests.FETCH_REQUEST))
def test_fetched_records_have_their_own_offsets_in_each_version(
    version: int, tmp_path: Path
) -> None:
    fetched = fetch_response(build.batch_of(7, b"one", b"two"), version=version)
    sent = opened().ask(fetch_request(7, version=version), fetched).ask(*metadata_exchange(2))
    rows, codes = rows_and_codes(
        capture_of(tmp_path, *sent.packets), "topic", "offset", "direction", "topic_id"
    )
    topic_id = TOPIC_ID if version >= 13 else None
    assert rows == [("orders", offset, "fetched", topic_id) for offset in (7, 8)]
    assert codes == []


def test_segment_of_a_real_broker_gives_the_same_records_as_a_log_and_as_a_response(
    tmp_path: Path,
) -> None:
    (folder,) = DATA.glob("4.3/transactions/log-0/aborted-0")
    segments = sorted(folder.glob("*.log"))
    sent, correlation_id = opened(), 1
    for segment in segments:
        sent.ask(
            fetch_request(0, correlation_id), fetch_response(segment.read_bytes(), correlation_id)
        )
        correlation_id += 1
    columns = ["offset", "timestamp", "key", "value", "headers", "producer_id", "sequence", "codec"]
    everything = ("delivered", "control")
    log = mb.open(folder, isolation_level="read_uncommitted")
    expected = log.records(columns, dispositions=everything).to_pylist()
    found = capture_of(tmp_path, *sent.packets).records(columns, dispositions=everything)
    assert found.to_pylist() == expected
    assert len(expected) > 20


def test_connection_of_a_record_is_told(tmp_path: Path) -> None:
    sent = opened().ask(produce_request(BATCH, 5, client_id="billing"), produce_response(40, 5))
    capture = capture_of(tmp_path, *sent.packets)
    row = capture.records().to_pylist()[0]
    assert (row["client"], row["server"]) == ("10.0.0.7:51234", "10.0.0.1:9092")
    assert (row["client_id"], row["correlation_id"], row["packet"]) == ("billing", 5, 5)
    assert row["capture_time"].isoformat() == "2024-04-24T23:06:40.127000+00:00"
    content = (tmp_path / "capture.pcap").read_bytes()
    packet = content[row["position"] + 16 :]
    assert packet.startswith(sent.packets[4])
    assert packet[40 + row["message_position"] :].startswith(BATCH)


def test_produced_records_have_no_offset_without_a_response(tmp_path: Path) -> None:
    sent = opened().ask(produce_request(BATCH, 1)).ask(produce_request(BATCH, 2, acks=0))
    sent.ask(produce_request(BATCH, 3), produce_response(-1, 3, error=7))
    capture = capture_of(tmp_path, *sent.packets)
    rows, codes = rows_and_codes(capture, "correlation_id", "offset", "error_code")
    # The one that expects no response does not wait for one.
    assert rows == [(n, None, e) for n, e in ((2, None), (1, None), (3, 7)) for _ in range(2)]
    assert codes == []


def test_messages_of_v0_are_numbered_from_the_offset_of_the_response(tmp_path: Path) -> None:
    messages = build.message(b"a", 0, magic=0) + build.message(b"b", 1, magic=0)
    sent = opened().ask(produce_request(messages, version=1), produce_response(40, version=1))
    rows, codes = rows_and_codes(capture_of(tmp_path, *sent.packets), "offset", "value")
    assert (rows, codes) == ([(40, b"a"), (41, b"b")], [])


def test_records_before_the_wanted_offset_are_outside_of_the_range(tmp_path: Path) -> None:
    fetched = build.batch_of(7, b"one", b"two", b"three")
    sent = opened().ask(fetch_request(8, 1), fetch_response(fetched, 1))
    # The request of a session leaves out what has not changed.
    sent.ask(fetch_request(None, 2), fetch_response(fetched, 2))
    capture = capture_of(tmp_path, *sent.packets)
    rows, _ = rows_and_codes(capture, "correlation_id", "offset")
    assert rows == [(1, 8), (1, 9), (2, 8), (2, 9)]
    rows, _ = rows_and_codes(capture, "offset", dispositions=["outside_range"])
    assert rows == [(7,), (7,)]


def test_records_of_aborted_transactions_are_those_that_a_consumer_drops(tmp_path: Path) -> None:
    data = (
        build.transactional(0, 5, count=2)
        + build.transactional(2, 6)
        + build.control(build.ABORT, 3, 5)
        + build.transactional(4, 5)
    )
    for level, aborted in ((1, [(5, 0)]), (0, None)):
        sent = opened().ask(fetch_request(0, level=level), fetch_response(data, aborted=aborted))
        capture = capture_of(tmp_path, *sent.packets)
        rows, _ = rows_and_codes(capture, "offset", "disposition", "outcome", dispositions=ALL)
        is_listed = bool(level)
        kept, dropped = ("committed", "aborted") if is_listed else (None, None)
        first = "aborted" if is_listed else "delivered"
        assert rows == [
            (0, first, dropped),
            (1, first, dropped),
            (2, "delivered", kept),
            (3, "control", None),
            (4, "delivered", kept),
        ]


def test_last_batch_that_a_broker_cuts_off_is_a_tail(tmp_path: Path) -> None:
    second = build.batch_of(9, b"three")
    sent = opened().ask(
        fetch_request(7), fetch_response(build.batch_of(7, b"one", b"two") + second[:-1])
    )
    rows = capture_of(tmp_path, *sent.packets).records(["offset"])
    assert [row["offset"] for row in rows.to_pylist()] == [7, 8]
    assert rows.report.bytes["tail"] == len(second) - 1
    assert rows.report.findings == []


def test_damaged_batch_is_a_finding_at_its_packet_and_the_next_one_is_read(tmp_path: Path) -> None:
    damaged = build.batch_of(7, b"one", crc=1)
    sent = opened().ask(fetch_request(7), fetch_response(damaged + build.batch_of(8, b"two")))
    capture = capture_of(tmp_path, *sent.packets)
    rows = capture.records(["offset", "position"])
    ((offset, position),) = [tuple(row.values()) for row in rows.to_pylist()]
    (finding,) = rows.report.findings
    assert (offset, finding.code, finding.position) == (8, "checksum-mismatch", position)
    assert (finding.topic, finding.partition, finding.file) == ("orders", 0, "capture.pcap")
    assert finding.message.endswith("of the message that ends in packet 6")
    batches = capture.batches(["base_offset", "crc_valid", "disposition"]).to_pylist()
    assert [tuple(row.values()) for row in batches] == [
        (7, False, "damaged"),
        (8, True, "delivered"),
    ]


def test_produced_bytes_that_are_no_batch_are_a_finding(tmp_path: Path) -> None:
    sent = opened().ask(produce_request(BATCH + BATCH[:30]), produce_response(0))
    rows, codes = rows_and_codes(capture_of(tmp_path, *sent.packets), "offset")
    assert (rows, codes) == ([(0,), (1,)], ["incomplete-entry"])


def test_fetch_of_a_follower_has_its_node_id(tmp_path: Path) -> None:
    for version in (11, 15):
        sent = opened().ask(
            fetch_request(0, version=version, replica=3), fetch_response(BATCH, version=version)
        )
        rows, _ = rows_and_codes(capture_of(tmp_path, *sent.packets), "replica_id")
        assert rows == [(3,), (3,)]


def test_topic_without_a_name_in_the_capture_has_its_id(tmp_path: Path) -> None:
    sent = opened().ask(produce_request(BATCH, version=13), produce_response(0, version=13))
    rows, codes = rows_and_codes(capture_of(tmp_path, *sent.packets), "topic", "topic_id")
    assert (rows, codes) == ([(None, TOPIC_ID)] * 2, ["capture-topic-unnamed"])


def long_exchanges() -> tuple[Conversation, list[tuple[int, bytes]]]:
    """Return a connection with many requests, and offset and value of each record."""
    sent, expected = Conversation().open(), []
    drawn = random.Random(7)
    for number in range(12):
        values = [drawn.randbytes(drawn.randrange(900)) for _ in range(4)]
        batch = build.batch_of(0, *values)
        sent.ask(produce_request(batch, number), produce_response(10 * number, number), size=500)
        expected += [(10 * number + index, value) for index, value in enumerate(values)]
    return sent, expected


def test_segments_in_another_order_and_sent_again_give_the_same_rows(tmp_path: Path) -> None:
    sent, expected = long_exchanges()
    for seed in range(12):
        drawn, packets = random.Random(seed), list(sent.packets)
        for _ in range(10):  # neighbours change places
            at = drawn.randrange(2, len(packets) - 4)
            packets[at : at + 4] = drawn.sample(packets[at : at + 4], 4)
        for _ in range(10):  # a packet comes again later, perhaps with fewer bytes
            at = drawn.randrange(2, len(packets))
            packets.insert(drawn.randrange(at, len(packets)) + 1, packets[at])
        rows, codes = rows_and_codes(capture_of(tmp_path, *packets), "offset", "value")
        assert sorted(rows) == expected, seed
        assert codes == [], seed


def test_overlapping_segments_give_each_byte_once(tmp_path: Path) -> None:
    message, drawn = produce_request(BATCH), random.Random(3)
    sent = opened()
    begin = sent.sequences[True]
    spans = [(0, len(message)), *((a, a + 40) for a in range(0, len(message), 25))]
    drawn.shuffle(spans)
    for start, end in spans[:-1]:
        part = message[start:end]
        sent.packets.append(sent.segment(True, (begin + start) % (1 << 32), part))
    sent.packets.append(sent.segment(True, begin, message))
    sent.ask(b"", produce_response(3))
    rows, codes = rows_and_codes(capture_of(tmp_path, *sent.packets), "offset")
    assert (rows, codes) == ([(3,), (4,)], [])


def test_each_lost_packet_costs_its_own_requests_alone(tmp_path: Path) -> None:
    sent, expected = long_exchanges()
    for lost in range(2, len(sent.packets), 3):
        packets = [packet for number, packet in enumerate(sent.packets) if number != lost]
        rows, codes = rows_and_codes(capture_of(tmp_path, *packets), "offset", "value")
        known = [value for _, value in rows]
        # Without the response, the records have no offset; without the request, they are gone.
        assert set(rows) <= {*expected, *((None, value) for _, value in expected)}
        assert len(known) >= len(expected) - 4, lost
        # Missing bytes show by the bytes after it, or by a response to what was in it.
        assert set(codes) <= {
            "capture-bytes-missing",
            "capture-messages-lost",
            "capture-response-alone",
        }
        if len(known) < len(expected):
            assert {"capture-bytes-missing", "capture-response-alone"} & set(codes), lost


def test_packets_that_are_cut_off_cost_their_requests_alone(tmp_path: Path) -> None:
    sent = opened().ask(produce_request(BATCH, 1), produce_response(3, 1))
    sent.ask(produce_request(build.batch_of(0, b"x" * 900), 2), produce_response(5, 2))
    sent.ask(produce_request(BATCH, 3), produce_response(6, 3))
    capture = capture_of(tmp_path, *sent.packets, snap_length=400)
    rows, codes = rows_and_codes(capture, "offset")
    assert rows == [(3,), (4,), (6,), (7,)]
    assert codes[:2] == ["capture-packet-cut", "capture-bytes-missing"]


def test_capture_may_begin_inside_a_connection(tmp_path: Path) -> None:
    sent, expected = long_exchanges()
    for begin in range(2, 30, 3):
        rows, codes = rows_and_codes(capture_of(tmp_path, *sent.packets[begin:]), "value")
        assert [value for (value,) in rows] == [value for _, value in expected][-len(rows) :]
        assert len(rows) >= len(expected) - 4 * (1 + begin // 5)
        assert set(codes) <= {"capture-response-alone"}


def test_short_responses_are_recognized_inside_a_connection(tmp_path: Path) -> None:
    asked, answered = request(4, 0, 7, b""), b"\0\0\0\x08\0\0\0\7\0\0\0\0"
    # The capture begins with the response of an earlier request.
    sent = Conversation().ask(b"", b"\0\0\0\x08\0\0\0\6\0\0\0\0").ask(asked, answered)
    sent.ask(produce_request(BATCH, 8), produce_response(3, 8))
    rows, codes = rows_and_codes(capture_of(tmp_path, *sent.packets), "offset")
    assert (rows, codes) == ([(3,), (4,)], [])


def test_requests_whose_length_comes_by_itself_are_read(tmp_path: Path) -> None:
    sent, message = opened(), produce_request(BATCH)
    for part in (message[:4], message[4:9], message[9:]):
        sent.ask(part)
    sent.ask(b"", produce_response(3))
    first = Conversation().open()
    for part in (message[:4], message[4:9], message[9:]):
        first.ask(part)
    first.ask(b"", produce_response(3))
    for each in (sent, first):
        rows, codes = rows_and_codes(capture_of(tmp_path, *each.packets), "offset")
        assert (rows, codes) == ([(3,), (4,)], [])


def test_encrypted_connection_is_a_finding_and_others_are_read(tmp_path: Path) -> None:
    encrypted = Conversation(client=("10.0.0.8", 40000), server=("10.0.0.1", 9093)).open()
    encrypted.ask(
        b"\x16\x03\x01\x02\x00\x01" + bytes(500), b"\x16\x03\x03\x00\x7a\x02" + bytes(100)
    )
    sent = opened().ask(produce_request(BATCH), produce_response(3))
    rows = capture_of(tmp_path, *encrypted.packets, *sent.packets).records(["offset"])
    assert rows.to_pylist() == [{"offset": 3}, {"offset": 4}]
    (finding,) = rows.report.findings
    assert finding.code == "capture-encrypted"
    assert finding.message == "connections to 10.0.0.1:9093 are encrypted (TLS) and cannot be read"


@pytest.mark.parametrize(
    "content",
    [
        b"GET / HTTP/1.1\r\nHost: example.org\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n",
        bytes.fromhex("0000002d000000000000000000000000000075300000000000000000000000100000")
        + bytes(20),
        bytes.fromhex("000000540003000075736572006d6500646174616261736500") + b"postgres\0" * 7,
    ],
    ids=["http", "ssh", "zookeeper", "postgres"],
)
def test_connection_of_another_protocol_gives_no_rows_and_no_findings(
    content: bytes, tmp_path: Path
) -> None:
    other = Conversation(server=("10.0.0.1", 8080)).open().ask(content, content)
    sent = opened().ask(produce_request(BATCH), produce_response(3))
    packets = [*other.packets, *sent.packets, *other.close().packets[-2:]]
    rows, codes = rows_and_codes(capture_of(tmp_path, *packets), "offset")
    assert (rows, codes) == ([(3,), (4,)], [])


def test_unknown_version_is_a_finding_and_later_requests_are_read(tmp_path: Path) -> None:
    sent = opened().ask(request(0, 40, 1, b"?" * 30), b"\0\0\0\x08\0\0\0\1????")
    sent.ask(produce_request(BATCH, 2), produce_response(3, 2))
    rows, codes = rows_and_codes(capture_of(tmp_path, *sent.packets), "offset")
    assert (rows, codes) == ([(3,), (4,)], ["capture-unknown-version"])


def test_request_that_does_not_decode_is_a_finding_and_later_ones_are_read(tmp_path: Path) -> None:
    sent = opened().ask(request(0, 9, 1, b"\0\xff\xff\0\0\0\1\x7f"), produce_response(0, 1))
    sent.ask(produce_request(BATCH, 2), produce_response(3, 2))
    rows = capture_of(tmp_path, *sent.packets).records(["offset"])
    assert rows.to_pylist() == [{"offset": 3}, {"offset": 4}]
    (finding,) = rows.report.findings
    assert (finding.code, finding.field) == ("capture-message-invalid", "topicData")


def test_tokens_between_requests_are_passed_over(tmp_path: Path) -> None:
    # After SaslHandshake 0, the tokens of SASL are messages without a header.
    sent = opened().ask(request(17, 0, 1, b"\0\x06GSSAPI"), b"\0\0\0\x0a\0\0\0\1\0\0\0\0\0\0")
    sent.ask(b"\0\0\0\x05\x60\x82\x01\x02\x03", b"\0\0\0\0")
    sent.ask(produce_request(BATCH, 2), produce_response(3, 2))
    rows, codes = rows_and_codes(capture_of(tmp_path, *sent.packets), "offset")
    assert (rows, codes) == ([(3,), (4,)], [])


def test_ports_that_are_used_again_are_another_connection(tmp_path: Path) -> None:
    packets = []
    for base in (3, 7):
        sent = opened().ask(produce_request(BATCH), produce_response(base))
        packets += sent.packets if base == 3 else sent.close().packets
    rows, codes = rows_and_codes(capture_of(tmp_path, *packets), "offset")
    assert (rows, codes) == ([(3,), (4,), (7,), (8,)], [])


def test_ports_and_topics_choose(tmp_path: Path) -> None:
    sent = opened().ask(produce_request(BATCH), produce_response(3))
    path = tmp_path / "capture.pcap"
    path.write_bytes(pcap(sent.packets))
    for options, count in (
        ({"ports": [9092]}, 2),
        ({"ports": [1]}, 0),
        ({"topics": ["orders"]}, 2),
        ({"topics": ["other"]}, 0),
    ):
        assert len(mb.read_pcap(path, **options).records(["offset"]).to_pylist()) == count


def test_message_over_the_limit_is_lost_alone(tmp_path: Path) -> None:
    sent = opened().ask(produce_request(build.batch_of(0, b"x" * 2000), 1), produce_response(0, 1))
    sent.ask(produce_request(BATCH, 2), produce_response(3, 2))
    path = tmp_path / "capture.pcap"
    path.write_bytes(pcap(sent.packets))
    rows = mb.read_pcap(path, limits=mb.Limits(max_entry_bytes=1000)).records(["offset"])
    assert rows.to_pylist() == [{"offset": 3}, {"offset": 4}]
    messages = {finding.code: finding.message for finding in rows.report.findings}
    assert set(messages) == {"capture-messages-lost", "capture-response-alone"}
    assert messages["capture-messages-lost"].endswith(
        ": requests or responses that are incomplete or too large: 1; bytes in none: 0"
    )


def test_lengths_that_are_claimed_cost_no_memory(tmp_path: Path) -> None:
    sent = opened()
    sent.send(True, b"\x7f\xff\xff\xff" + b"\0\0\0\x09")
    sent.packets.append(sent.segment(True, 0x3000_0000, b"far away", ACK))
    rows, codes = rows_and_codes(capture_of(tmp_path, *sent.packets), "offset")
    assert (rows, set(codes)) == ([], {"capture-messages-lost", "capture-bytes-missing"})


def test_idle_connections_keep_no_bytes_of_the_file() -> None:
    packet = Packet(1, 24, None, RAW_IP, memoryview(bytes(100)), 0)
    sent = Conversation().open()
    connection = None
    findings = CaptureFindings([], "capture.pcap")
    for content in sent.packets:
        packet = packet._replace(data=memoryview(content))
        tcp_segment = segment_of(packet, findings)
        assert tcp_segment is not None
        ends = tcp_segment.sender, tcp_segment.receiver
        connection = connection or Connection(findings, PendingTotal(), mb.Limits(), ends)
        assert list(connection.add(packet, tcp_segment)) == []
    assert connection is not None
    assert not any(isinstance(one, memoryview) and len(one) for one in connection._packet)


def test_changed_bytes_of_a_capture_raise_nothing(tmp_path: Path) -> None:
    sent, expected = long_exchanges()
    sound = bytearray(pcap(sent.packets))
    path, drawn = tmp_path / "capture.pcap", random.Random(1)
    for _ in range(25):
        content = bytearray(sound)
        for _ in range(drawn.randrange(1, 8)):
            content[drawn.randrange(24, len(content))] = drawn.randrange(256)
        path.write_bytes(content)
        rows = mb.read_pcap(path).records(["offset"]).to_pylist()
        assert len(rows) <= 2 * len(expected)


def test_columns_and_dispositions_that_do_not_exist_are_refused(tmp_path: Path) -> None:
    capture = capture_of(tmp_path)
    for call in (
        lambda: capture.records(["colour"]),
        lambda: capture.records(dispositions=["lost"]),
        lambda: capture.batches(["colour"]),
    ):
        with pytest.raises(mb.InputError):
            call()


def test_both_sides_of_ipv6_are_named(tmp_path: Path) -> None:
    sent = Conversation(("::1", CLIENT[1]), ("fe80::2", SERVER[1])).open()
    sent.ask(*api_versions_exchange()).ask(produce_request(BATCH), produce_response(3))
    rows, _ = rows_and_codes(capture_of(tmp_path, *sent.packets), "client", "server")
    assert rows == [("[::1]:51234", "[fe80::2]:9092")] * 2
