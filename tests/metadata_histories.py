"""Random histories of `__cluster_metadata`, as a controller could write them and with records that do not fit."""

import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

from magicbyte.internal_topics._metadata_messages import read_metadata_message
from magicbyte.internal_topics.cluster_metadata import (
    TOPIC_RESOURCE,
    ClusterMetadata,
    ScramUser,
    apply_records,
)
from metadata_records import metadata_record, topic_id

MAX_TOPICS = 3

LEVELS = {(3, 9): 21, (4, 3): 30, (4, 4): 33}
"""Levels of metadata.version, by release."""


class RandomHistory:
    """Draws records about few topics, brokers and users, so that they meet again and again.

    With *conflicts*, some records do not fit those before them, and there are no transactions. Otherwise all fit.
    """

    def __init__(
        self, seed: int, num_records: int, release: tuple[int, int], *, conflicts: bool
    ) -> None:
        self._chance = random.Random(f"{seed} {release} {conflicts}")
        self._release = release
        self._epochs: dict[int, int] = {}
        self._topics: list[str] = []
        self._next_topic = 0
        self.values: list[bytes] = []
        levels = {"metadata.version": LEVELS[release]}
        if release >= (4, 0):
            levels["eligible.leader.replicas.version"] = 1
        drawn = [
            self._record("FeatureLevelRecord", name=name, featureLevel=level)
            for name, level in levels.items()
        ]
        if conflicts:
            self.values = drawn + [self._value() for _ in range(num_records)]
        else:
            self._add_fitting(num_records, drawn)

    def _add_fitting(self, num_records: int, first: list[bytes]) -> None:
        """Add records that fit those before them, some of them in transactions."""
        state, before = ClusterMetadata(), ClusterMetadata()
        apply_records(state, enumerate(first))
        self.values = first
        is_open = False
        while len(self.values) < num_records or is_open:
            if self._chance.random() < 0.08:
                is_open = not is_open
                if is_open:
                    before = deepcopy(state)
                    self.values.append(self._record("BeginTransactionRecord"))
                    continue
                is_aborted = self._chance.random() < 0.4
                state = before if is_aborted else state
                self.values.append(
                    self._record(f"{'Abort' if is_aborted else 'End'}TransactionRecord")
                )
                self._topics = [topic.topic_id for topic in state.registry]
                self._epochs = {
                    node: broker["brokerEpoch"] for node, broker in state.brokers.items()
                }
                continue
            value = self._value()
            is_written = _is_written(value, state, before if is_open else state)
            if is_written and not apply_records(state, [(0, value)]):
                self.values.append(value)

    def _record(self, message: str, **values: Any) -> bytes:
        return metadata_record(message, release=self._release, **values)

    def _value(self) -> bytes:
        draws: list[Callable[[], bytes]] = [
            *[self._topic] * 3,
            *[self._partition] * 4,
            *[self._change] * 8,
            self._removal,
            *[self._config] * 4,
            *[self._broker] * 2,
            *[self._broker_change] * 4,
            self._quota,
            self._acl,
            self._scram,
            self._token,
            self._other,
        ]
        return self._chance.choice(draws)()

    def _ids(self, most: int = 4) -> list[int]:
        return self._chance.sample(range(1, 6), self._chance.randrange(most))

    def _some_topic(self) -> str:
        if not self._topics or self._chance.random() < 0.03:
            return topic_id(99)
        return self._chance.choice(self._topics)

    def _topic(self) -> bytes:
        if len(self._topics) == MAX_TOPICS:
            return self._record("NoOpRecord")
        self._next_topic += 1
        self._topics.append(topic_id(self._next_topic))
        return self._record("TopicRecord", name=f"t{self._next_topic}", topicId=self._topics[-1])

    def _removal(self) -> bytes:
        id_ = self._some_topic()
        if id_ in self._topics:
            self._topics.remove(id_)
        return self._record("RemoveTopicRecord", topicId=id_)

    def _partition(self) -> bytes:
        replicas = [1, *(each for each in self._ids() if each != 1)]
        fields: dict[str, Any] = {"replicas": replicas, "isr": replicas, "leader": 1}
        fields["directories"] = [topic_id(50 + node) for node in replicas]
        if self._release >= (4, 0) and self._chance.random() < 0.4:
            fields["eligibleLeaderReplicas"] = self._ids()
            fields["lastKnownElr"] = self._ids()
        if self._chance.random() < 0.2:
            fields["leaderRecoveryState"] = 1
        return self._record(
            "PartitionRecord",
            topicId=self._some_topic(),
            partitionId=self._chance.randrange(3),
            leaderEpoch=self._chance.randrange(3),
            partitionEpoch=self._chance.randrange(3),
            **fields,
        )

    def _change(self) -> bytes:
        chance, fields = self._chance, {}
        names = ["isr", "removingReplicas", "addingReplicas"]
        if self._release >= (4, 0):
            names += ["eligibleLeaderReplicas", "lastKnownElr"]
        for name in names:
            if chance.random() < 0.3:
                fields[name] = self._ids()
        if chance.random() < 0.4:
            fields["leader"] = chance.choice((-2, -1, 1, 2))
        if chance.random() < 0.2:
            fields["leaderRecoveryState"] = chance.choice((-1, 0, 1))
        if chance.random() < 0.3:
            replicas = [1, *(each for each in self._ids() if each != 1)]
            fields |= {
                "replicas": replicas,
                "directories": [topic_id(60 + node) for node in replicas],
            }
        number = chance.randrange(3)
        return self._record(
            "PartitionChangeRecord", topicId=self._some_topic(), partitionId=number, **fields
        )

    def _config(self) -> bytes:
        chance = self._chance
        return self._record(
            "ConfigRecord",
            resourceType=chance.choice((2, 4, 16) if self._release < (4, 0) else (2, 4, 16, 32)),
            resourceName=chance.choice(("", "a", "1", f"t{self._next_topic}")),
            name=chance.choice(("x", "y")),
            value=chance.choice((None, "", "1", "2")),
        )

    def _broker(self) -> bytes:
        chance, node = self._chance, self._chance.randrange(1, 3)
        if chance.random() < 0.2:
            return self._record(
                "UnregisterBrokerRecord", brokerId=node, brokerEpoch=self._epochs.get(node, 0)
            )
        self._epochs[node] = chance.randrange(100)
        return self._record(
            "RegisterBrokerRecord",
            brokerId=node,
            brokerEpoch=self._epochs[node],
            incarnationId=topic_id(chance.randrange(70, 80)),
            endPoints=[
                {"name": "L", "host": "h", "port": 9092, "securityProtocol": chance.randrange(4)}
            ],
            features=[
                {"name": "metadata.version", "minSupportedVersion": 1, "maxSupportedVersion": 21}
            ],
            rack=chance.choice((None, "r")),
            fenced=chance.random() < 0.5,
            inControlledShutdown=chance.random() < 0.2,
            logDirs=sorted(topic_id(number) for number in chance.sample(range(80, 85), 2)),
        )

    def _broker_change(self) -> bytes:
        chance, node = self._chance, self._chance.randrange(1, 4)
        epoch = self._epochs.get(node, 0) + (chance.random() < 0.1)
        match chance.randrange(4):
            case 0:
                return self._record("FenceBrokerRecord", id=node, epoch=epoch)
            case 1:
                return self._record("UnfenceBrokerRecord", id=node, epoch=epoch)
        fields: dict[str, Any] = {"fenced": chance.choice((-1, 0, 1))}
        fields["inControlledShutdown"] = chance.choice((0, 0, 1))
        if chance.random() < 0.5:
            fields["logDirs"] = sorted(topic_id(each) for each in chance.sample(range(80, 85), 2))
        return self._record(
            "BrokerRegistrationChangeRecord", brokerId=node, brokerEpoch=epoch, **fields
        )

    def _quota(self) -> bytes:
        chance = self._chance
        entity = [{"entityType": "user", "entityName": chance.choice((None, "u"))}]
        if chance.random() < 0.5:
            entity.append({"entityType": "client-id", "entityName": chance.choice((None, "c"))})
        chance.shuffle(entity)
        is_removed = chance.random() < 0.3
        key = chance.choice(("consumer_byte_rate", "producer_byte_rate"))
        return self._record(
            "ClientQuotaRecord", entity=entity, key=key, value=chance.random(), remove=is_removed
        )

    def _acl(self) -> bytes:
        chance = self._chance
        id_ = topic_id(chance.randrange(90, 94))
        if chance.random() < 0.4:
            return self._record("RemoveAccessControlEntryRecord", id=id_)
        return self._record(
            "AccessControlEntryRecord",
            **{"id": id_, "resourceType": chance.randrange(2, 8), "resourceName": "a", "host": "*"},
            **{"patternType": chance.choice((3, 4)), "principal": "User:a"},
            **{"operation": chance.randrange(2, 13), "permissionType": chance.choice((2, 3))},
        )

    def _scram(self) -> bytes:
        names: dict[str, Any] = {
            "name": self._chance.choice("uv"),
            "mechanism": self._chance.choice((1, 2)),
        }
        if self._chance.random() < 0.4:
            return self._record("RemoveUserScramCredentialRecord", **names)
        secrets = {"salt": b"s", "storedKey": b"k", "serverKey": b"v"}
        return self._record(
            "UserScramCredentialRecord",
            **names,
            **secrets,
            iterations=self._chance.randrange(4096, 9000),
        )

    def _token(self) -> bytes:
        token_id = self._chance.choice("xy")
        if self._chance.random() < 0.4:
            return self._record("RemoveDelegationTokenRecord", tokenId=token_id)
        return self._record(
            "DelegationTokenRecord",
            **{
                "tokenId": token_id,
                "owner": "User:a",
                "requester": "User:b",
                "renewers": ["User:c"],
            },
            **{
                "issueTimestamp": 1,
                "maxTimestamp": 9,
                "expirationTimestamp": self._chance.randrange(2, 9),
            },
        )

    def _other(self) -> bytes:
        chance = self._chance
        match chance.randrange(5):
            case 0:
                return self._record(
                    "ProducerIdsRecord", brokerId=1, nextProducerId=1000 * chance.randrange(1, 9)
                )
            case 1:
                return self._record(
                    "FeatureLevelRecord", name="group.version", featureLevel=chance.randrange(2)
                )
            case 2 if self._release >= (4, 0):
                name = chance.choice(("", f"t{self._next_topic}"))
                return self._record("ClearElrRecord", topicName=name)
            case 3 if self._release >= (4, 4):
                return self._record("UnregisterControllerRecord", controllerId=3)
        return self._record(
            "RegisterControllerRecord",
            controllerId=chance.choice((3, 4)),
            incarnationId=topic_id(chance.randrange(95, 99)),
        )


def _is_written(value: bytes, state: ClusterMetadata, before: ClusterMetadata) -> bool:
    """Return whether a controller would write *value* in the *state* that a transaction leads to from *before*.

    It deletes no credential that does not exist, and none in a transaction, and no topic whose first configuration is
    of the same transaction: ScramDelta and ConfigsDelta, which see a transaction as a whole, would go wrong there.
    """
    message = read_metadata_message(value)
    match message.name:
        case "RemoveUserScramCredentialRecord":
            user = ScramUser(message.fields["name"], message.fields["mechanism"])
            return state is before and user in state.scram_iterations
        case "RemoveTopicRecord":
            name = state.name_of(message.fields["topicId"]) or ""
            return (TOPIC_RESOURCE, name) in before.configs or (
                TOPIC_RESOURCE,
                name,
            ) not in state.configs
    return True
