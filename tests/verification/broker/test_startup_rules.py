"""Tests of the rules of a startup by Kafka release."""

import pytest

import magicbyte as mb
from kraft_builder import KraftBroker
from magicbyte.kafka_release import KafkaRelease
from magicbyte.verification.broker._startup_rules import rules_for


def test_verify_refuses_an_unknown_release_before_it_reads(broker: KraftBroker) -> None:
    with pytest.raises(mb.InputError, match="Kafka release"):
        mb.verify(broker.path / "nowhere", kafka_version="9.9")


def test_release_before_kraft_and_after_is_refused_with_the_known_ones(broker: KraftBroker) -> None:
    with pytest.raises(mb.InputError, match=r"one of 2\.8, 3\.0.* 4\.4"):
        broker.verify(kafka_version="2.7")


def test_newest_release_that_runs_with_the_log_dirs_is_the_default() -> None:
    assert rules_for(None, is_kraft=True).name == "4.4"
    assert rules_for(None, is_kraft=False).name == "3.9"


def test_release_without_a_choice_of_modes_decides_the_mode() -> None:
    assert not rules_for(KafkaRelease(2, 8), is_kraft=True).is_kraft
    assert rules_for(KafkaRelease(4, 0), is_kraft=False).is_kraft


def test_startup_rules_between_those_that_were_run_fall_into_a_range() -> None:
    assert rules_for(KafkaRelease(3, 6), is_kraft=True).compares_all_properties
    assert not rules_for(KafkaRelease(3, 7), is_kraft=True).compares_all_properties
    assert rules_for(KafkaRelease(4, 1), is_kraft=True).promotes_futures
    assert not rules_for(KafkaRelease(3, 5), is_kraft=False).knows_strays
