"""Tests of the fold of groups and members."""

import random

import pytest

from cli.dump_log import drawn
from magicbyte.findings import Finding
from magicbyte.internal_topics.coordinator_records import CoordinatorRecord, TransactionMarker
from magicbyte.internal_topics.group_coordinator import OFFSETS_TOPIC, GroupCoordinatorState
from magicbyte.internal_topics.groups import ClassicGroup, ModernGroup

from .group_records import OffsetsLog

MEMBER = {"groupId": "g", "memberId": "m"}


def group_of(log: OffsetsLog) -> ClassicGroup | ModernGroup | None:
    return log.state().groups.by_id.get("g")


def modern(log: OffsetsLog) -> ModernGroup:
    group = group_of(log)
    assert isinstance(group, ModernGroup)
    return group


def test_a_classic_group_is_stable_with_members_and_empty_without() -> None:
    log = OffsetsLog()
    log.add("GroupMetadata", {"group": "g"}, {"protocolType": "consumer", "members": [{}]})
    assert group_of(log).state == "Stable"
    log.add("GroupMetadata", {"group": "g"}, {"protocolType": "consumer", "members": []})
    assert group_of(log).state == "Empty"
    log.add("GroupMetadata", {"group": "g"}, None)
    assert group_of(log) is None


def test_a_committed_offset_makes_an_empty_classic_group() -> None:
    log = OffsetsLog()
    log.commit(1, producer=3)
    group = group_of(log)
    assert isinstance(group, ClassicGroup) and group.state == "Empty" and group.fields is None


@pytest.mark.parametrize(("version", "remains"), [(3, False), (4, True)])
def test_brokers_before_4_1_delete_a_group_without_members_with_its_last_offset(
    version: int, remains: bool
) -> None:
    log = OffsetsLog()
    keys = [{"group": "g", "topic": "t", "partition": number} for number in range(2)]
    for key in keys:
        log.add("OffsetCommit", key, {"offset": 1}, version=version)
    log.add("OffsetCommit", keys[0], None)
    assert group_of(log) is not None
    log.add("OffsetCommit", keys[1], None)
    assert (group_of(log) is not None) == remains
    log.add("GroupMetadata", {"group": "g"}, None)
    assert group_of(log) is None


def test_a_pending_offset_keeps_a_group_without_members() -> None:
    log = OffsetsLog()
    key = {"group": "g", "topic": "t", "partition": 1}
    log.add("OffsetCommit", key, {"offset": 1}, version=3, producer=7)
    log.commit(None)
    assert group_of(log) is not None


def test_the_tombstone_of_an_offset_makes_no_group() -> None:
    log = OffsetsLog()
    log.commit(None)
    assert group_of(log) is None


def test_a_consumer_group_replaces_the_group_of_a_committed_offset() -> None:
    log = OffsetsLog()
    log.commit(1)
    log.add("ConsumerGroupMetadata", {"groupId": "g"}, {"epoch": 4})
    assert (modern(log).type, modern(log).epoch) == ("Consumer", 4)


@pytest.mark.parametrize("prefix", ["ConsumerGroup", "StreamsGroup"])
def test_a_group_is_assigning_then_reconciling_then_stable(prefix: str) -> None:
    log = OffsetsLog()
    log.add(f"{prefix}MemberMetadata", MEMBER, {})
    if prefix == "StreamsGroup":
        assert modern(log).state == "NotReady"
        log.add("StreamsGroupTopology", {"groupId": "g"}, {"epoch": 0})
    log.add(f"{prefix}Metadata", {"groupId": "g"}, {"epoch": 2})
    assert modern(log).state == "Assigning"
    log.add(f"{prefix}TargetAssignmentMetadata", {"groupId": "g"}, {"assignmentEpoch": 2})
    assert modern(log).state == "Reconciling"
    log.add(f"{prefix}CurrentMemberAssignment", MEMBER, {"memberEpoch": 2, "state": 1})
    assert modern(log).state == "Reconciling"
    log.add(f"{prefix}CurrentMemberAssignment", MEMBER, {"memberEpoch": 2, "state": 0})
    assert modern(log).state == "Stable"
    log.add(f"{prefix}CurrentMemberAssignment", MEMBER, None)
    log.add(f"{prefix}MemberMetadata", MEMBER, None)
    assert modern(log).state == "Empty"
    log.add(f"{prefix}Metadata", {"groupId": "g"}, None)
    assert group_of(log) is None


def test_a_share_group_is_stable_with_members() -> None:
    log = OffsetsLog()
    log.add("ShareGroupMetadata", {"groupId": "g"}, {"epoch": 5})
    assert modern(log).state == "Empty"
    log.add("ShareGroupMemberMetadata", MEMBER, {})
    assert modern(log).state == "Stable"


def test_the_matches_of_a_regular_expression_are_removed_by_a_tombstone() -> None:
    log = OffsetsLog()
    key = {"groupId": "g", "regularExpression": "a.*"}
    log.add("ConsumerGroupRegularExpression", key, {"topics": ["a1"], "version": 3})
    assert modern(log).regexes["a.*"]["topics"] == ["a1"]
    log.add("ConsumerGroupRegularExpression", key, None)
    assert modern(log).regexes == {}


def test_tombstones_about_a_group_that_does_not_exist_change_nothing() -> None:
    log = OffsetsLog()
    log.add("ConsumerGroupMemberMetadata", MEMBER, None)
    log.add("ShareGroupMetadata", {"groupId": "g"}, None)
    log.add("GroupMetadata", {"group": "g"}, None)
    assert group_of(log) is None


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        (None, b"x", "internal-record-invalid"),
        (b"", b"x", "internal-record-invalid"),
        (b"\0\x63\0\1g", b"x", "internal-record-unknown"),
        (b"\xff\xff\0\1g", b"x", "internal-record-invalid"),
        (b"\0\2\0\1g", b"\0\x63", "internal-record-unknown"),
        (b"\0\2\0\1g", b"\0\3\xff", "internal-record-invalid"),
        (b"\0\2\0\x10g", None, "internal-record-invalid"),
    ],
)
def test_a_record_that_cannot_be_decoded_is_a_finding(
    key: bytes | None, value: bytes | None, code: str
) -> None:
    record = CoordinatorRecord(OFFSETS_TOPIC, 3, 17, 0, key, value)
    coordinator = GroupCoordinatorState(3)
    finding = coordinator.apply(record)
    assert isinstance(finding, Finding)
    place = finding.code, finding.topic, finding.partition, finding.base_offset
    assert place == (code, OFFSETS_TOPIC, 3, 17)


def test_damaged_records_give_findings_and_never_another_exception() -> None:
    chance = random.Random(4)
    num_findings = num_states = 0
    draw = drawn.DRAWN["--offsets-decoder"]
    for _ in range(60):
        coordinator = GroupCoordinatorState(0)
        for offset in range(20):
            key, value = draw(chance, chance.choice(drawn.RELEASES))
            producer = chance.choice((None, 1))
            record = CoordinatorRecord(OFFSETS_TOPIC, 0, offset, 0, key, value, producer)
            num_findings += coordinator.apply(record) is not None
            coordinator.apply(TransactionMarker(0, offset, 1, chance.random() < 0.5))
        for group in coordinator.groups.by_id.values():
            assert group.state
            num_states += 1
    assert num_findings > 100 and num_states > 100
