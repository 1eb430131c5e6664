"""Tests of the releases of Kafka whose rules are known."""

import pytest

from magicbyte import InputError
from magicbyte.kafka_release import KNOWN_RELEASES, NEWEST, OLDEST, KafkaRelease, parse_release


def test_known_releases_are_in_order_and_each_is_known_by_its_own_text() -> None:
    assert list(KNOWN_RELEASES) == sorted(set(KNOWN_RELEASES))
    assert (KNOWN_RELEASES[0], KNOWN_RELEASES[-1]) == (OLDEST, NEWEST)
    assert [parse_release(str(release)) for release in KNOWN_RELEASES] == list(KNOWN_RELEASES)


@pytest.mark.parametrize(
    ("text", "release"),
    [("3.9", (3, 9)), ("3.9.2", (3, 9)), ("4.4.0", (4, 4)), ("0.10.2.1", (0, 10)), ("0.8", (0, 8))],
)
def test_a_patch_release_is_its_minor_release(text: str, release: tuple[int, int]) -> None:
    assert parse_release(text) == release


@pytest.mark.parametrize(
    "text",
    ["", "4", "4.5", "5.0", "2.9", "1.2", "0.7.2", "03.9", "3.9.", "3.9-rc1", "3.9.2.1.0", "٣.٩"],
)
def test_an_unknown_release_is_refused_with_the_known_ones(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_release(text)
    assert str(caught.value).startswith(f"Kafka release {text!r}; expected one of 0.8, 0.9, 0.10, ")
    assert str(caught.value).endswith(f", 4.3, {NEWEST}")


def test_a_caller_without_rules_for_old_releases_refuses_them() -> None:
    assert parse_release("2.8.2", oldest=KafkaRelease(2, 8)) == (2, 8)
    with pytest.raises(InputError, match=r"expected one of 2\.8, 3\.0, 3\.1, "):
        parse_release("2.7", oldest=KafkaRelease(2, 8))


def test_a_release_is_since_itself_and_earlier_ones() -> None:
    assert KafkaRelease(3, 10).since(3, 9)
    assert KafkaRelease(3, 9).since(3, 9)
    assert not KafkaRelease(3, 9).since(4, 0)
