"""Tests of the state that records of `__cluster_metadata` add up to."""

import random
from typing import Any

import pytest

from cli.dump_log.drawn import framed_record
from log_builder import uvarint
from magicbyte.errors import FormatError
from magicbyte.internal_topics._metadata_messages import read_metadata_message
from magicbyte.internal_topics.cluster_metadata import ClusterMetadata, ScramUser, apply_records
from magicbyte.internal_topics.metadata_topics import PartitionRegistration
from magicbyte_formats.messages import cluster_metadata
from metadata_records import metadata_record as record
from metadata_records import topic_id

TOPIC, OTHER = topic_id(1), topic_id(2)
FIRST, SECOND = topic_id(10), topic_id(11)
CREATED = record("TopicRecord", name="a", topicId=TOPIC)


def cluster_of(*values: bytes, begin: int = 0) -> ClusterMetadata:
    """Return the state after *values*, all of which can be applied."""
    cluster = ClusterMetadata()
    assert apply_records(cluster, enumerate(values), begin=begin) == []
    return cluster


def codes_of(*values: bytes) -> list[str]:
    return [finding.code for finding in apply_records(ClusterMetadata(), enumerate(values))]


def partition(number: int = 0, **values: Any) -> bytes:
    fields = {"replicas": [1, 2], "isr": [1, 2], "leader": 1, "directories": [FIRST, SECOND]}
    return record("PartitionRecord", topicId=TOPIC, partitionId=number, **(fields | values))


def change(number: int = 0, **values: Any) -> bytes:
    return record("PartitionChangeRecord", topicId=TOPIC, partitionId=number, **values)


def only_partition(*values: bytes) -> PartitionRegistration:
    ((partition_,),) = (
        [*topic.partition_by_number.values()] for topic in cluster_of(*values).registry
    )
    return partition_


def test_topic_and_partition_give_the_replicas_of_a_node() -> None:
    cluster = cluster_of(CREATED, partition(3))
    assert cluster.has_partition("a", 3)
    assert not cluster.has_partition("a", 0) and not cluster.has_partition("b", 3)
    assert cluster.on_node(9) == {}
    ((key, (id_, replicas)),) = cluster.on_node(2).items()
    assert (key, id_) == (("a", 3), TOPIC)
    assert replicas.directory_of(1) == FIRST
    assert replicas.directory_of(2) == SECOND


def test_removed_topic_takes_its_partitions_and_configs_along() -> None:
    cluster = cluster_of(
        CREATED,
        partition(),
        record("ConfigRecord", resourceType=2, resourceName="a", name="x", value="1"),
        record("ConfigRecord", resourceType=4, resourceName="a", name="x", value="1"),
        record("RemoveTopicRecord", topicId=TOPIC),
    )
    assert not list(cluster.registry)
    assert cluster.id_of("a") is None
    assert cluster.deleted_name_of(TOPIC) == "a"
    assert cluster.configs == {(4, "a"): {"x": "1"}}


def test_topic_that_is_created_again_has_none_of_the_old_partitions() -> None:
    cluster = cluster_of(
        CREATED,
        partition(),
        record("RemoveTopicRecord", topicId=TOPIC),
        record("TopicRecord", name="a", topicId=OTHER),
    )
    assert cluster.id_of("a") == OTHER
    assert not cluster.has_partition("a", 0)


def test_change_of_a_partition_leaves_what_it_does_not_state() -> None:
    before = only_partition(CREATED, partition(leaderEpoch=4, partitionEpoch=7))
    after = only_partition(CREATED, partition(leaderEpoch=4, partitionEpoch=7), change(isr=[2]))
    assert after.isr == (2,)
    assert (after.replicas, after.leader, after.leader_epoch) == (before.replicas, 1, 4)
    assert after.partition_epoch == 8


def test_same_leader_in_a_change_raises_the_leader_epoch() -> None:
    after = only_partition(CREATED, partition(leaderEpoch=4), change(leader=1))
    assert (after.leader, after.leader_epoch) == (1, 5)
    after = only_partition(CREATED, partition(leaderEpoch=4), change(leader=-2))
    assert (after.leader, after.leader_epoch) == (1, 4)


def test_reassignment_adds_and_removes_replicas() -> None:
    begun = change(replicas=[1, 2, 3], addingReplicas=[3], removingReplicas=[1])
    after = only_partition(CREATED, partition(), begun)
    assert after.replicas.nodes == (1, 2, 3)
    assert (after.adding_replicas, after.removing_replicas) == ((3,), (1,))
    ended = change(replicas=[2, 3], addingReplicas=[], removingReplicas=[])
    after = only_partition(CREATED, partition(), begun, ended)
    assert (after.replicas.nodes, after.adding_replicas, after.removing_replicas) == (
        (2, 3),
        (),
        (),
    )


def test_eligible_leader_replicas_are_cleared_by_topic_or_for_all() -> None:
    some = partition(eligibleLeaderReplicas=[2], lastKnownElr=[1])
    assert only_partition(CREATED, some).elr == (2,)
    for name in ("a", ""):
        after = only_partition(CREATED, some, record("ClearElrRecord", topicName=name))
        assert (after.elr, after.last_known_elr, after.partition_epoch) == ((), (), 1)
    untouched = only_partition(CREATED, partition(), record("ClearElrRecord", topicName="a"))
    assert untouched.partition_epoch == 0


def test_unassigned_directory_is_none() -> None:
    after = only_partition(CREATED, partition(directories=["A" * 22, SECOND]))
    assert after.replicas.directory_of(1) is None


def test_partition_of_an_old_record_has_migrating_directories() -> None:
    after = only_partition(CREATED, partition(directories=[]))
    assert after.replicas.directories == ("A" * 22,) * 2
    assert after.replicas.directory_of(1) is None


def test_null_removes_a_config() -> None:
    set_ = {"resourceType": 2, "resourceName": "a"}
    records = [record("ConfigRecord", **set_, name=name, value="1") for name in ("x", "y")]
    gone = record("ConfigRecord", **set_, name="x", value=None)
    assert cluster_of(*records, gone).topic_configs == {"a": {"y": "1"}}
    assert cluster_of(records[0], gone).configs == {}


def test_acl_is_removed_by_its_id() -> None:
    acl = record("AccessControlEntryRecord", id=FIRST, resourceType=2, resourceName="a")
    assert cluster_of(acl).acls.keys() == {FIRST}
    gone = record("RemoveAccessControlEntryRecord", id=FIRST)
    assert not cluster_of(acl, gone).acls
    assert codes_of(acl, gone, gone) == ["internal-record-conflict"]


def test_quota_belongs_to_its_entity_in_any_order() -> None:
    parts = [
        {"entityType": "user", "entityName": "alice"},
        {"entityType": "client-id", "entityName": None},
    ]
    set_ = record("ClientQuotaRecord", entity=parts, key="producer_byte_rate", value=2.5)
    entity = (("client-id", None), ("user", "alice"))
    assert cluster_of(set_).quotas == {entity: {"producer_byte_rate": 2.5}}
    gone = record("ClientQuotaRecord", entity=parts[::-1], key="producer_byte_rate", remove=True)
    assert cluster_of(set_, gone).quotas == {}
    assert codes_of(record("ClientQuotaRecord", entity=[parts[0]] * 2, key="x")) == [
        "internal-record-conflict"
    ]


def test_scram_users_have_no_secrets() -> None:
    set_ = record(
        "UserScramCredentialRecord",
        **{"name": "bob", "mechanism": 2, "iterations": 4096},
        **{"salt": b"salt", "storedKey": b"stored", "serverKey": b"server"},
    )
    assert cluster_of(set_).scram_iterations == {ScramUser("bob", 2): 4096}
    assert "stored" not in str(cluster_of(set_))
    gone = record("RemoveUserScramCredentialRecord", name="bob", mechanism=2)
    assert cluster_of(set_, gone).scram_iterations == {}


def test_delegation_token_is_renewed_and_removed_by_its_id() -> None:
    token = record("DelegationTokenRecord", tokenId="t", owner="User:a", expirationTimestamp=5)
    renewed = record("DelegationTokenRecord", tokenId="t", owner="User:a", expirationTimestamp=9)
    assert cluster_of(token, renewed).delegation_tokens["t"]["expirationTimestamp"] == 9
    gone = record("RemoveDelegationTokenRecord", tokenId="t")
    assert not cluster_of(token, gone).delegation_tokens


def test_feature_of_level_0_is_off() -> None:
    feature = record("FeatureLevelRecord", name="metadata.version", featureLevel=25)
    assert cluster_of(feature).has_metadata_version
    off = record("FeatureLevelRecord", name="metadata.version", featureLevel=0)
    assert cluster_of(feature, off).features == {}


def registration(**values: Any) -> bytes:
    return record("RegisterBrokerRecord", brokerId=1, brokerEpoch=7, fenced=True, **values)


def test_registration_lists_the_log_dirs_of_a_broker() -> None:
    assert cluster_of(registration(logDirs=[FIRST, SECOND])).log_dir_ids == {1: {FIRST, SECOND}}


def test_broker_is_fenced_and_let_in_by_old_and_new_records() -> None:
    old = record("UnfenceBrokerRecord", id=1, epoch=7)
    new = record("BrokerRegistrationChangeRecord", brokerId=1, brokerEpoch=7, fenced=-1)
    for let_in in (old, new):
        assert not cluster_of(registration(), let_in).brokers[1]["fenced"]
        fenced = record("FenceBrokerRecord", id=1, epoch=7)
        assert cluster_of(registration(), let_in, fenced).brokers[1]["fenced"]


def test_change_of_a_registration_leaves_what_it_does_not_state() -> None:
    change_ = record(
        "BrokerRegistrationChangeRecord",
        **{"brokerId": 1, "brokerEpoch": 7, "inControlledShutdown": 1, "cordonedLogDirs": [FIRST]},
    )
    broker = cluster_of(registration(logDirs=[FIRST]), change_).brokers[1]
    assert broker["fenced"] and broker["inControlledShutdown"]
    assert broker["logDirs"] == broker["cordonedLogDirs"] == [FIRST]


def test_change_of_another_broker_epoch_is_a_conflict() -> None:
    other = record("UnfenceBrokerRecord", id=1, epoch=6)
    assert codes_of(registration(), other) == ["internal-record-conflict"]
    assert codes_of(other) == ["internal-record-conflict"]


def test_unregistered_nodes_are_gone() -> None:
    gone = record("UnregisterBrokerRecord", brokerId=1, brokerEpoch=7)
    assert not cluster_of(registration(), gone).brokers
    controller = record("RegisterControllerRecord", controllerId=3)
    assert cluster_of(controller).controllers.keys() == {3}
    gone = record("UnregisterControllerRecord", controllerId=3)
    assert not cluster_of(controller, gone).controllers


def test_producer_ids_are_given_in_blocks_of_1000() -> None:
    cluster = cluster_of(
        record("ProducerIdsRecord", brokerId=1, brokerEpoch=7, nextProducerId=3000)
    )
    (block,) = cluster.producer_id_blocks
    assert (block.first, block.end, block.broker_id) == (2000, 3000, 1)
    assert cluster.next_producer_id == 3000


def test_records_of_a_transaction_count_when_it_ends() -> None:
    begin, end, abort = (record(f"{name}TransactionRecord") for name in ("Begin", "End", "Abort"))
    assert not list(cluster_of(begin, CREATED).registry)
    assert not list(cluster_of(begin, CREATED, abort).registry)
    assert cluster_of(begin, CREATED, end).id_of("a") == TOPIC
    assert (
        codes_of(end) == codes_of(abort) == codes_of(begin, begin) == ["internal-record-conflict"]
    )


def test_conflict_in_a_transaction_leaves_its_other_records() -> None:
    cluster = ClusterMetadata()
    gone = record("RemoveTopicRecord", topicId=OTHER)
    transaction = [record("BeginTransactionRecord"), gone, CREATED, record("EndTransactionRecord")]
    (finding,) = apply_records(cluster, enumerate(transaction))
    assert "its record at offset 1" in finding.message
    assert cluster.id_of("a") == TOPIC


def test_records_that_change_nothing_are_no_finding() -> None:
    records = record("NoOpRecord"), record("ZkMigrationStateRecord", zkMigrationState=3)
    assert cluster_of(*records).zk_migration_state == 3


def test_records_before_the_beginning_are_left_out() -> None:
    assert not list(cluster_of(CREATED, begin=1).registry)


def test_record_that_cannot_be_decoded_is_a_finding_and_the_next_one_counts() -> None:
    cluster = ClusterMetadata()
    findings = apply_records(
        cluster, enumerate((b"\x01\x02\x00\xff", b"", CREATED + b"\0", CREATED))
    )
    assert [finding.code for finding in findings] == ["internal-record-invalid"] * 3
    assert [finding.base_offset for finding in findings] == [0, 1, 2]
    assert cluster.id_of("a") == TOPIC
    assert cluster.fault is None


@pytest.mark.parametrize(
    ("frame", "type_", "version"), [(0, 2, 0), (2, 2, 0), (1, 99, 0), (1, 6, 0), (1, 2, 1)]
)
def test_record_of_a_later_release_is_a_finding(frame: int, type_: int, version: int) -> None:
    body = CREATED[3:]
    value = uvarint(frame) + uvarint(type_) + uvarint(version) + body
    assert codes_of(value) == ["internal-record-unknown"]


@pytest.mark.parametrize(
    "value",
    [
        record("RemoveTopicRecord", topicId=TOPIC),
        partition(),
        change(),
        record("ClearElrRecord", topicName="a"),
    ],
)
def test_record_about_an_unknown_topic_is_a_conflict(value: bytes) -> None:
    cluster = ClusterMetadata()
    (finding,) = apply_records(cluster, [(5, value)])
    assert finding.code == "internal-record-conflict"
    assert cluster.fault == finding.message
    assert finding.message.startswith("record at offset 5: no record before it created the topic")


def test_change_of_an_unknown_partition_is_a_conflict() -> None:
    assert codes_of(CREATED, change(1)) == ["internal-record-conflict"]


def test_unknown_recovery_state_is_a_conflict() -> None:
    assert only_partition(CREATED, partition(), change(leaderRecoveryState=1)).leader_recovery_state
    assert codes_of(CREATED, partition(), change(leaderRecoveryState=7)) == [
        "internal-record-conflict"
    ]


def test_every_record_type_is_applied_or_decides_about_others() -> None:
    for schema in cluster_metadata.MESSAGES:
        if schema.versions_in((4, 4)):
            codes = codes_of(record(schema.name))
            assert codes in ([], ["internal-record-conflict"]), schema.name


@pytest.mark.parametrize("seed", range(20))
def test_damaged_values_raise_no_other_error(seed: int) -> None:
    chance = random.Random(seed)
    cluster = ClusterMetadata()
    values = [framed_record(cluster_metadata.MESSAGES, chance, (4, 4))[1] for _ in range(200)]
    known = [value for value in values if value is not None]
    findings = apply_records(cluster, enumerate(known))
    undecodable = 0
    for value in known:
        try:
            read_metadata_message(value)
        except FormatError:
            undecodable += 1
    conflicts = sum(finding.code == "internal-record-conflict" for finding in findings)
    assert len(findings) == undecodable + conflicts
