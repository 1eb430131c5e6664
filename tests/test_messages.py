"""Tests of magicbyte.messages: records of internal topics as dicts."""

import contextlib
import io
from collections import Counter
from pathlib import Path

import pytest

import magicbyte as mb
from doc_examples import examples
from magicbyte import messages
from magicbyte.messages import MessageError, Record, read_record
from magicbyte_formats.messages import (
    cluster_metadata,
    consumer_offsets,
    share_group_state,
    transaction_state,
)
from paths import CHECKOUT, DATA

PAGE = "docs/reading.md"
LOG = DATA / "4.3" / "transactions" / "log-0"

GROUP_KEY = b"\0\2\0\1g"
COMMIT_KEY = bytes.fromhex("0001 0001 67 0001 74 00000003")
COMMIT_VALUE = bytes.fromhex("0001 000000000000002a 0000 0000000000000001 ffffffffffffffff")


def rows(folder: Path) -> list[tuple[bytes, bytes | None]]:
    table = mb.open(folder).records(["key", "value"]).to_table()
    return [(row["key"], row["value"]) for row in table.to_pylist()]


def test_the_example_prints_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CHECKOUT)
    ((example, shown),) = examples(PAGE)
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(example, PAGE, "exec"), {})
    assert out.getvalue() == shown


def test_all_records_of_a_brokers_topics_are_read() -> None:
    found: Counter[str] = Counter()
    for schemas in (consumer_offsets, transaction_state):
        topic = schemas.__name__.rpartition(".")[2]
        for key, value in rows(LOG / f"__{topic}-0"):
            found[read_record(schemas.MESSAGES, key, value, (4, 3)).name] += 1
    assert found.keys() == {"OffsetCommit", "TransactionLog"}
    assert found["TransactionLog"] == 614


def test_a_value_is_read_as_its_version_says_and_none_is_a_tombstone() -> None:
    read = read_record(consumer_offsets.MESSAGES, COMMIT_KEY, COMMIT_VALUE, (4, 3))
    key = {"group": "g", "topic": "t", "partition": 3}
    value = {"offset": 42, "metadata": "", "commitTimestamp": 1, "expireTimestamp": -1}
    assert read == Record("OffsetCommit", key, value)
    gone = read_record(consumer_offsets.MESSAGES, COMMIT_KEY, None, (4, 3))
    assert gone == Record("OffsetCommit", key, None)


def test_a_number_is_what_it_was_in_the_release() -> None:
    key = b"\0\0" + COMMIT_KEY[2:]
    names = [
        read_record(consumer_offsets.MESSAGES, key, None, release).name
        for release in ((2, 8), (4, 0), (4, 1))
    ]
    assert names == ["OffsetCommit", "OffsetCommit", "LegacyOffsetCommit"]


@pytest.mark.parametrize(
    ("key", "value", "release", "reason", "number"),
    [
        (b"", None, (4, 3), "end", 2),
        (b"\0", None, (4, 3), "end", 2),
        (b"\0\x63", None, (4, 3), "type", 99),
        (b"\xff\xff", None, (4, 3), "type", -1),
        (b"\0\3\0\1g", None, (3, 7), "type", 3),  # since 3.8
        (b"\0\x09\0\1g", None, (4, 1), "type", 9),  # of 4.0 alone
        (GROUP_KEY, b"", (4, 3), "end", 2),
        (GROUP_KEY, b"\0\5", (4, 3), "version", 5),
        (GROUP_KEY, b"\xff\xff", (4, 3), "version", -1),
        (GROUP_KEY, b"\0\4", (3, 3), "version", 4),  # since 3.4
        (GROUP_KEY, b"\0\3", (4, 3), "end", 2),
    ],
)
def test_record_unknown_to_the_release_is_an_error(
    key: bytes, value: bytes | None, release: tuple[int, int], reason: str, number: int
) -> None:
    with pytest.raises(MessageError) as caught:
        read_record(consumer_offsets.MESSAGES, key, value, release)
    assert (caught.value.reason, caught.value.number) == (reason, number)
    assert isinstance(caught.value, mb.FormatError)


def test_every_type_of_every_release_is_one_key_and_one_value() -> None:
    """In each release, a message type's number has exactly one key schema and one value schema."""
    minors = {2: (8,), 3: range(10), 4: range(4)}
    releases = [(major, minor) for major, those in minors.items() for minor in those]
    for module in (consumer_offsets, transaction_state, share_group_state):
        for release in releases:
            known = [one for one in module.MESSAGES if one.versions_in(release)]
            for number in range(30):
                values = [
                    one.name.endswith("Value") for one in known if one.is_type(number, release)
                ]
                assert values in ([], [False, True]), (module.__name__, release, number)


def test_frames_of_the_metadata_log_are_read_as_the_page_says() -> None:
    found: Counter[str] = Counter()
    for row in mb.open(LOG / "__cluster_metadata-0").records(["value"]).to_table().to_pylist():
        position, numbers = 0, []
        for _ in range(3):
            number, position = messages.read_uvarint(row["value"], position)
            numbers.append(number)
        frame, type_, version = numbers
        assert frame == 1
        (schema,) = (
            one
            for one in cluster_metadata.MESSAGES
            if one.is_type(type_, (4, 3)) and one.versions_in((4, 3))
        )
        read = messages.read(schema, row["value"], version, (4, 3), position)
        assert read.end == len(row["value"])
        found[schema.name] += 1
    assert found["RegisterBrokerRecord"] and found["PartitionRecord"]
