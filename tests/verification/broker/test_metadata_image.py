"""Tests of the state that metadata records add up to."""

import struct

from kraft_builder import (
    feature,
    framed,
    partition_record,
    raw,
    registration,
    removal_record,
    topic_record,
    uuid,
)
from log_builder import uvarint
from magicbyte.verification.broker._metadata_image import MetadataImage, apply_records

TOPIC, FIRST, SECOND = uuid(1), uuid(10), uuid(11)


def image(*values: bytes, begin: int = 0) -> MetadataImage:
    out = MetadataImage()
    apply_records(out, enumerate(values), begin=begin)
    return out


def change_of_replicas(topic_id: str, number: int, *nodes: int) -> bytes:
    replicas = uvarint(len(nodes) + 1) + b"".join(struct.pack(">i", node) for node in nodes)
    tagged = uvarint(1) + uvarint(2) + uvarint(len(replicas)) + replicas
    return uvarint(1) + uvarint(5) + uvarint(0) + struct.pack(">i", number) + raw(topic_id) + tagged


def test_topic_and_partition_give_the_replicas_of_a_node() -> None:
    found = image(topic_record("a", TOPIC), partition_record(TOPIC, 3, (1, 2), (FIRST, SECOND)))
    assert found.partition_keys == {("a", 3)}
    assert found.on_node(9) == {}
    ((key, (id_, replicas)),) = found.on_node(2).items()
    assert (key, id_) == (("a", 3), TOPIC)
    assert replicas.directory_of(1) == FIRST
    assert replicas.directory_of(2) == SECOND


def test_removed_topic_takes_its_partitions_along() -> None:
    found = image(
        topic_record("a", TOPIC), partition_record(TOPIC, 0, (1,), (FIRST,)), removal_record(TOPIC)
    )
    assert not found.partition_keys
    assert found.id_of("a") is None


def test_change_of_a_partition_leaves_what_it_does_not_state() -> None:
    found = image(
        topic_record("a", TOPIC),
        partition_record(TOPIC, 0, (1,), (FIRST,)),
        change_of_replicas(TOPIC, 0, 5),
    )
    assert found.on_node(1) == {}
    assert found.on_node(5)["a", 0][1].directories == (FIRST,)


def test_unassigned_directory_is_none() -> None:
    record = partition_record(TOPIC, 0, (1,), ("AAAAAAAAAAAAAAAAAAAAAA",))
    found = image(topic_record("a", TOPIC), record)
    assert found.on_node(1)["a", 0][1].directory_of(1) is None


def test_registration_lists_the_log_dirs_of_a_broker() -> None:
    assert image(registration(1, (FIRST, SECOND))).log_dir_ids == {1: {FIRST, SECOND}}


def test_records_of_a_transaction_count_when_it_ends() -> None:
    begin, end, abort = framed(23, 0, b""), framed(24, 0, b""), framed(25, 0, uvarint(0))
    topic = topic_record("a", TOPIC)
    assert not image(begin, topic).topic_names
    assert not image(begin, topic, abort, end).topic_names
    assert image(begin, topic, end).topic_names == {TOPIC: "a"}


def test_records_below_the_beginning_and_unreadable_ones_are_left_out() -> None:
    assert not image(topic_record("a", TOPIC), begin=1).topic_names
    assert image(b"\x01\x02\x00\xff", b"", topic_record("a", TOPIC)).topic_names == {TOPIC: "a"}


def test_metadata_version_is_noticed() -> None:
    assert image(feature()).has_metadata_version
    assert not image(feature("kraft.version")).has_metadata_version


def test_record_about_an_unknown_topic_is_a_fault() -> None:
    assert image(topic_record("a", TOPIC), removal_record(TOPIC)).fault is None
    assert image(feature(), removal_record(TOPIC)).fault == (
        f"record at offset 1: no record before it created the topic with id {TOPIC}"
    )
