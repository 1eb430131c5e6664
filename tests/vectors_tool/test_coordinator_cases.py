"""Tests that the vectors of coordinators' records cover all types and versions, and name the right releases."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from magicbyte_tools.vectors import coordinator_cases as records
from magicbyte_tools.vectors.case import VectorCase
from magicbyte_tools.vectors.coordinator_cases import RecordType, range_text
from magicbyte_tools.vectors.message_writer import (
    RELEASES,
    message_spec,
    parse_release,
    releases_and_versions,
    specification,
)


@pytest.fixture(scope="module")
def cases() -> dict[str, VectorCase]:
    return {case.name: case for case in records.cases()}


def record_types() -> Iterator[RecordType]:
    for topic in records.SERDES:
        messages = specification(topic)["messages"]
        for key_spec, value_spec in zip(messages[::2], messages[1::2], strict=True):
            yield RecordType(topic, key_spec, value_spec)


def test_each_type_has_a_sound_case_for_each_version_and_faults_for_the_newest(
    cases: dict[str, VectorCase],
) -> None:
    for one in record_types():
        versions = sorted({version for _, version in releases_and_versions(one.value_spec)})
        for version in versions:
            assert cases[f"{one.name}-v{version}"].verdict == "valid"
        newest = f"{one.name}-v{versions[-1]}"
        verdicts = {"edges": "valid", "cut": "invalid", "bytes-behind": "either", "null": "invalid"}
        if one.newest_sample().value_message.writer.is_flexible:
            verdicts["unknown-tagged-field"] = "valid"
        for suffix, verdict in verdicts.items():
            assert cases[f"{newest}-{suffix}"].verdict == verdict


def test_each_topic_has_a_tombstone_an_unknown_type_and_an_unknown_version(
    cases: dict[str, VectorCase],
) -> None:
    for topic in records.SERDES:
        of_topic = {name: one for name, one in cases.items() if one.topic == f"__{topic}"}
        for suffix in ("tombstone", "unknown-type", "unknown-version", "type-cut", "version-cut"):
            (case,) = (one for name, one in of_topic.items() if name.endswith(f"-{suffix}"))
            assert (case.verdict == "valid") == (suffix == "tombstone")


def test_every_release_with_the_topic_reads_a_case_of_each_type_that_it_has(
    cases: dict[str, VectorCase],
) -> None:
    """A message whose fields changed within a version needs a case for each order of its fields."""
    sound = [case for case in cases.values() if case.verdict == "valid" and case.fields["value"]]
    for one in record_types():
        for release, version in releases_and_versions(one.value_spec):
            covering = [
                case
                for case in sound
                if case.name.startswith(f"{one.name}-v{version}")
                and release in releases_in(case.releases or "")
            ]
            assert covering, (one.name, version, release)


def releases_in(text: str) -> list[tuple[int, int]]:
    first, _, last = text.replace("+", "-4.999").partition("-")
    return [
        release
        for release in RELEASES
        if parse_release(first) <= release <= parse_release(last or first)
    ]


def test_releases_are_those_that_know_every_field_and_have_no_other() -> None:
    topic = "share_group_state"
    key, value = (message_spec(topic, f"ShareSnapshot{end}") for end in ("Key", "Value"))
    snapshot = RecordType(topic, key, value)
    assert range_text(snapshot.sample(0, (4, 0), "nulls").releases()) == "4.0"
    assert range_text(snapshot.sample(0, (4, 4), "nulls").releases()) == "4.1+"
    assert range_text(snapshot.sample(0, (4, 4), "filled").releases()) == "4.2+"
    commit = RecordType(
        "consumer_offsets",
        message_spec("consumer_offsets", "OffsetCommitKey"),
        message_spec("consumer_offsets", "OffsetCommitValue"),
    )
    assert range_text(commit.sample(3, (2, 8), "filled").releases()) == "2.8+"
    assert range_text(commit.sample(3, (2, 8), "filled", 0).releases()) == "2.8-4.0"
    assert range_text(commit.sample(4, (4, 4), "nulls").releases()) == "3.4+"
    other_type = commit.sample(3, (2, 8), "filled", 7)
    assert other_type.releases() == []


def test_values_of_edges_are_at_both_ends_and_a_default_is_not_written() -> None:
    one = next(one for one in record_types() if one.name == "offset-commit")
    edges = one.newest_sample("edges").value_message
    assert edges.json()["offset"] == str(2**63 - 1)
    assert edges.json()["leaderEpoch"] == -(2**31)
    assert edges.json()["topicId"] == 21 * "_" + "w"
    default = replace(edges, values={**edges.values, "topicId": 22 * "A"})
    assert "topicId" not in default.json()
    assert len(default.data()) == len(edges.data())
