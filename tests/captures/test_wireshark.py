"""Tests that Wireshark's dissector reads the same from a capture, in the versions that it supports.

`MAGICBYTE_WIDE=1` runs them where tshark is installed; docs/captures.md lists where both differ.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import log_builder as build
import magicbyte as mb
from capture_builder import (
    ETHERNET,
    SERVER,
    Conversation,
    api_versions_exchange,
    fetch_request,
    fetch_response,
    pcap,
    produce_request,
    produce_response,
)
from paths import DATA

TSHARK = shutil.which("tshark")

pytestmark = pytest.mark.skipif(
    TSHARK is None or not os.environ.get("MAGICBYTE_WIDE"),
    reason="it takes tshark, and seconds: MAGICBYTE_WIDE=1",
)

PRODUCE_VERSIONS, FETCH_VERSIONS = range(3, 9), range(4, 12)
"""Versions that Wireshark 4.0 supports and that carry v2 batches."""

CODECS = (0, build.GZIP, build.SNAPPY, build.LZ4, build.ZSTD)

FIELDS = (
    *("frame.number", "kafka.api_key", "kafka.api_version", "kafka.correlation_id"),
    *("kafka.client_id", "kafka.topic_name", "kafka.partition_id", "kafka.offset"),
    *("kafka.message_key", "kafka.message_value", "kafka.producer_id", "kafka.batch_size"),
)

Row = dict[str, list[str]]


def tshark_rows(path: Path) -> list[Row]:
    """Return the values of FIELDS in each packet with a request or response of Kafka."""
    assert TSHARK is not None
    command = [TSHARK, "-r", str(path), "-d", f"tcp.port=={SERVER[1]},kafka", "-Y", "kafka"]
    command += ["-T", "fields", "-E", "separator=/t", "-E", "aggregator=;"]
    for name in FIELDS:
        command += ["-e", name]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
    values = [line.split("\t") for line in done.stdout.decode().splitlines()]
    return [
        {
            name: [one for one in text.split(";") if one]
            for name, text in zip(FIELDS, line, strict=True)
        }
        for line in values
    ]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A capture with a request and a response in each version, and batches of real brokers."""
    sent = Conversation().open().ask(*api_versions_exchange())
    number = 0
    for version in PRODUCE_VERSIONS:
        for codec in CODECS:
            number += 1
            content = [build.record(b"value-%d" % index, b"key", delta=index) for index in range(3)]
            batch = build.batch(content, codec=codec)
            sent.ask(
                produce_request(batch, number, version=version),
                produce_response(10 * number, number, version=version),
            )
    segments = sorted(DATA.glob("4.3/transactions/log-0/aborted-0/*.log"))
    for version in FETCH_VERSIONS:
        number += 1
        segment = segments[version % len(segments)].read_bytes()
        sent.ask(
            fetch_request(0, number, version=version),
            fetch_response(segment, number, version=version),
        )
    path = tmp_path_factory.mktemp("captures") / "capture.pcap"
    path.write_bytes(pcap(sent.packets, link_type=ETHERNET))
    return path


def test_both_name_the_same_requests_and_clients(path: Path) -> None:
    ours = {
        (str(row["packet"]), str(row["api_version"]), str(row["correlation_id"]), row["client_id"])
        for row in mb.read_pcap(path).records().to_pylist()
        if row["direction"] == "produced"
    }
    theirs = {
        (
            *(
                row[name][0]
                for name in ("frame.number", "kafka.api_version", "kafka.correlation_id")
            ),
            row["kafka.client_id"][0],
        )
        for row in tshark_rows(path)
        if row["kafka.client_id"] and row["kafka.api_key"] == ["0"]
    }
    assert ours == theirs
    assert len(ours) == len(PRODUCE_VERSIONS) * len(CODECS)


def test_both_have_the_same_keys_and_values_in_each_packet(path: Path) -> None:
    rows = mb.read_pcap(path).records(dispositions=["delivered", "control"]).to_pylist()
    ours: dict[str, list[tuple[str, str]]] = {}
    for row in rows:
        key, value = (row[name] or b"" for name in ("key", "value"))
        ours.setdefault(str(row["packet"]), []).append((key.hex(), value.hex()))
    for theirs in tshark_rows(path):
        if theirs["kafka.message_value"]:
            packet = theirs["frame.number"][0]
            values = [value for _, value in ours.pop(packet)]
            assert [one.replace(":", "") for one in theirs["kafka.message_value"]] == values
    assert ours == {}
