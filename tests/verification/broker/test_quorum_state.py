"""Tests of the file quorum-state."""

import pytest

from magicbyte import FormatError
from magicbyte.kafka_release import KafkaRelease
from magicbyte.verification.broker._quorum_state import parse_quorum_state


def test_version_0_lists_the_voters() -> None:
    data = b'{"currentVoters":[{"voterId":1},{"voterId":3}],"data_version":0}'
    assert parse_quorum_state(data).voters == {1, 3}


def test_version_1_lists_no_voters() -> None:
    assert parse_quorum_state(b'{"leaderId":1,"data_version":1}').voters is None


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
        parse_quorum_state(b'{"leaderId":1,"data_version":1}', release=release)
