"""Tests of names of folders in a log.dir, as a broker parses them."""

import pytest

from magicbyte.kafka_release import KafkaRelease
from magicbyte.verification.broker._folder_names import parse_broker_folder
from magicbyte.verification.broker._startup_rules import StartupRules

NEW = StartupRules(KafkaRelease(4, 4), is_kraft=True)
OLD = StartupRules(KafkaRelease(2, 8), is_kraft=False)
ID = "0123456789abcdef0123456789abcdef"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("alpha-0", ("alpha", 0, None)),
        ("alpha-00", ("alpha", 0, None)),
        ("alpha--1", ("alpha-", 1, None)),
        ("a.b_c-2147483647", ("a.b_c", 2147483647, None)),
        (".Trash-1000", (".Trash", 1000, None)),
        (f"alpha-0.{ID}-delete", ("alpha", 0, "delete")),
        (f"alpha-0.{ID}-future", ("alpha", 0, "future")),
        (f"alpha-0.{ID}-stray", ("alpha", 0, "stray")),
    ],
)
def test_name_of_a_partition_is_parsed(name: str, expected: tuple[str, int, str | None]) -> None:
    found = parse_broker_folder(name, NEW)
    assert found is not None
    assert found[1:] == expected


@pytest.mark.parametrize(
    "name",
    [
        "lost+found",
        "alpha-0.bak",
        "alpha-x",
        "-0",
        "alpha-",
        "alpha-2147483648",
        "alpha-0-delete",
        "backup",
        "@eaDir",
    ],
)
def test_other_name_stops_the_broker(name: str) -> None:
    assert parse_broker_folder(name, NEW) is None
    assert parse_broker_folder(name, OLD) is None


def test_stray_folder_stops_a_broker_that_does_not_know_strays() -> None:
    assert parse_broker_folder(f"alpha-0.{ID}-stray", OLD) is None
