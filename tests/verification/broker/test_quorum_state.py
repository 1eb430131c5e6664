"""Tests of the file quorum-state."""

import json
from typing import Any

import pytest

from magicbyte import FormatError
from magicbyte.kafka_release import KafkaRelease
from magicbyte.verification.broker._quorum_state import parse_quorum_state

VERSION_0 = {
    "clusterId": "",
    "leaderId": 1,
    "leaderEpoch": 2,
    "votedId": -1,
    "appliedOffset": 0,
    "data_version": 0,
}
VOTERS = {"currentVoters": [{"voterId": 1}, {"voterId": 3}]}
VERSION_1 = {
    "leaderId": 1,
    "leaderEpoch": 2,
    "votedId": -1,
    "votedDirectoryId": "AAAAAAAAAAAAAAAAAAAAAA",
    "data_version": 1,
}


def text(state: dict[str, Any], **fields: Any) -> bytes:
    return json.dumps(state | fields).encode()


def test_version_0_lists_the_voters() -> None:
    assert parse_quorum_state(text(VERSION_0 | VOTERS)).voters == {1, 3}
    assert parse_quorum_state(text(VERSION_0, currentVoters=None)).voters is None


def test_version_1_lists_no_voters() -> None:
    assert parse_quorum_state(text(VERSION_1)).voters is None


def test_what_follows_the_object_is_ignored() -> None:
    assert parse_quorum_state(text(VERSION_0 | VOTERS) + b"}x\n{broken").voters == {1, 3}


def test_unknown_field_is_ignored() -> None:
    assert parse_quorum_state(text(VERSION_1, x=1)).voters is None


def test_bytes_that_are_no_utf_8_after_the_first_line_end_the_node() -> None:
    with pytest.raises(FormatError):
        parse_quorum_state(text(VERSION_1) + b"\n\xff")


@pytest.mark.parametrize(
    "data",
    [
        text(VERSION_1, leaderEpoch="2"),
        text(VERSION_1, leaderId=None),
        text(VERSION_1, votedId=1 << 31),
        text(VERSION_1, leaderEpoch=True),
        text({name: VERSION_1[name] for name in VERSION_1 if name != "leaderEpoch"}),
        text(VERSION_1, votedDirectoryId=1),
        text(VERSION_0),
        text(VERSION_0, currentVoters=[1]),
        text(VERSION_0, currentVoters=[{"voterId": "1"}]),
        text(VERSION_1).replace(b",", b",\n"),
    ],
    ids=[
        "text",
        "null",
        "33 bits",
        "boolean",
        "no epoch",
        "number",
        "no voters",
        "voter",
        "voter id",
        "lines",
    ],
)
def test_field_that_a_broker_cannot_read_is_an_error(data: bytes) -> None:
    with pytest.raises(FormatError) as caught:
        parse_quorum_state(data)
    assert caught.value.code == "quorum-state-invalid"


@pytest.mark.parametrize(
    "data",
    [b"", b"{broken", b"[]", b"{}", b'{"data_version":2}', b'{"data_version":true}', b"\xff", b"[" * 100_000],
    ids=["empty", "broken", "array", "no version", "version 2", "boolean", "no text", "deep"],
)  # fmt: skip
def test_file_that_ends_the_node_is_an_error(data: bytes) -> None:
    with pytest.raises(FormatError) as caught:
        parse_quorum_state(data)
    assert caught.value.code == "quorum-state-invalid"


def test_releases_until_3_7_know_version_0_only() -> None:
    release = KafkaRelease(3, 7)
    assert parse_quorum_state(b"", release=release).voters is None
    with pytest.raises(FormatError):
        parse_quorum_state(text(VERSION_1), release=release)
