"""Tests of Kafka releases, and of the rules that they select."""

import pytest

import magicbyte as mb
from magicbyte.verification.broker._releases import (
    KNOWN_RELEASES,
    parse_release,
    release_name,
    rules_for,
)


@pytest.mark.parametrize(
    ("text", "release"), [("2.8", (2, 8)), ("3.9.2", (3, 9)), ("4.4.0", (4, 4))]
)
def test_release_is_parsed_with_and_without_its_patch_level(
    text: str, release: tuple[int, int]
) -> None:
    assert parse_release(text) == release


@pytest.mark.parametrize("text", ["5.0", "2.7", "3.10", "4", "", "four", "4.4.0.1"])
def test_unknown_release_is_refused_with_the_known_ones(text: str) -> None:
    with pytest.raises(mb.InputError) as caught:
        parse_release(text)
    assert all(release_name(release) in str(caught.value) for release in KNOWN_RELEASES)


def test_newest_release_that_runs_with_the_log_dirs_is_the_default() -> None:
    assert rules_for(None, is_kraft=True).name == "4.4"
    assert rules_for(None, is_kraft=False).name == "3.9"


def test_release_without_a_choice_of_modes_decides_the_mode() -> None:
    assert not rules_for((2, 8), is_kraft=True).is_kraft
    assert rules_for((4, 0), is_kraft=False).is_kraft


def test_releases_between_those_that_were_run_fall_into_a_range() -> None:
    assert rules_for((3, 6), is_kraft=True).compares_all_properties
    assert not rules_for((3, 7), is_kraft=True).compares_all_properties
    assert rules_for((4, 1), is_kraft=True).promotes_futures
    assert not rules_for((3, 5), is_kraft=False).knows_strays
