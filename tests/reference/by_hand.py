"""The worked examples read again, with struct alone: names, sizes and values, field by field."""

import struct
from collections.abc import Callable
from typing import Any

Field = tuple[str, int, Any]


class Hand:
    """Bytes, read from the front; every read is noted as a field."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0
        self.fields: list[Field] = []

    def take(self, name: str, count: int) -> bytes:
        found = self.data[self.at : self.at + count]
        assert len(found) == count
        self.at += count
        self.fields.append((name, count, found))
        return found

    def number(self, name: str, kind: str) -> int:
        data = self.take(name, struct.calcsize(">" + kind))
        (value,) = struct.unpack(">" + kind, data)
        self.fields[-1] = (name, len(data), value)
        return int(value)

    def checksum(self, name: str = "crc") -> None:
        value = self.number(name, "I")
        self.fields[-1] = (name, 4, f"0x{value:08x}")

    def numbers(self, *named: str) -> None:
        """Read several numbers: each a name, a space and a letter of struct's."""
        for one in named:
            self.number(*one.split())

    def null(self, name: str) -> None:
        self.fields.append((name, 0, None))

    def nullable(self, name: str, length: int) -> None:
        if length < 0:
            self.null(name)
        else:
            self.take(name, length)

    def base128(self, name: str) -> int:
        start, value = self.at, 0
        while True:
            byte = self.data[self.at]
            value |= (byte & 0x7F) << (7 * (self.at - start))
            self.at += 1
            if byte < 0x80:
                break
        self.fields.append((name, self.at - start, value))
        return value

    def zigzag(self, name: str) -> int:
        value = self.base128(name)
        value = value >> 1 if value % 2 == 0 else -(value >> 1) - 1
        self.fields[-1] = (name, self.fields[-1][1], value)
        return value

    def line(self, name: str, end: bytes) -> str:
        start = self.at
        self.at = self.data.index(end, start) + 1
        text = self.data[start : self.at - 1].decode()
        self.fields.append((name, self.at - start, text))
        return text


def log(hand: Hand) -> None:
    while hand.at < len(hand.data):
        (batch if hand.data[hand.at + 16] == 2 else message)(hand)


def message(hand: Hand) -> None:
    hand.numbers("offset q", "len_message i")
    hand.checksum()
    magic = hand.number("magic", "b")
    bits = hand.number("attributes", "B")
    names = ("reserved", bits >> 4), ("timestamp_type", bits >> 3 & 1), ("codec", bits & 7)
    hand.fields[-1] = ("attributes", 1, names)
    if magic:
        hand.number("timestamp", "q")
    else:
        hand.null("timestamp")
    hand.nullable("key", hand.number("len_key", "i"))
    hand.nullable("value", hand.number("len_value", "i"))


def batch_attributes(hand: Hand, *reserved: tuple[str, int]) -> int:
    """Read the bits of a batch; *reserved* are the names of the highest, with their lowest bit."""
    bits = hand.number("attributes", "H")
    named = [(name, bits >> low & (1 if low < 8 else 0xFF)) for name, low in reserved]
    if not reserved:
        named = [("reserved", bits >> 7)]
    named += [
        ("has_delete_horizon", bits >> 6 & 1),
        ("is_control", bits >> 5 & 1),
        ("is_transactional", bits >> 4 & 1),
        ("timestamp_type", bits >> 3 & 1),
        ("codec", bits & 7),
    ]
    hand.fields[-1] = ("attributes", 2, tuple(named))
    return bits & 7


def batch(hand: Hand) -> None:
    start = hand.at
    hand.number("base_offset", "q")
    end = start + 12 + hand.number("len_batch", "i")
    hand.numbers("partition_leader_epoch i", "magic b")
    hand.checksum()
    codec = batch_attributes(hand)
    hand.numbers(
        "last_offset_delta i",
        "base_timestamp q",
        "max_timestamp q",
        "producer_id q",
        "producer_epoch h",
        "base_sequence i",
    )
    count = hand.number("num_records", "i")
    if codec:
        hand.take("compressed_payload", end - hand.at)
    else:
        for _ in range(count):
            record(hand)
    assert hand.at == end


def record(hand: Hand, *, has_attributes: bool = True) -> None:
    end = hand.zigzag("len_body") + hand.at
    if has_attributes:
        hand.number("attributes", "b")
    else:
        hand.null("attributes")
    hand.zigzag("timestamp_delta")
    hand.zigzag("offset_delta")
    hand.nullable("key", hand.zigzag("len_key"))
    hand.nullable("value", hand.zigzag("len_value"))
    for _ in range(hand.zigzag("num_headers")):
        hand.take("key", hand.zigzag("len_key"))
        hand.nullable("value", hand.zigzag("len_value"))
    assert hand.at == end


def records(hand: Hand) -> None:
    while hand.at < len(hand.data):
        record(hand)


def proposal(hand: Hand) -> None:
    hand.numbers("base_offset q", "len_batch i", "partition_leader_epoch i", "magic b")
    hand.checksum()
    batch_attributes(hand, ("reserved", 8), ("ignores_message_attributes", 7))
    hand.numbers("producer_id q", "producer_epoch h", "base_sequence i")
    count = hand.number("num_records", "i")
    hand.zigzag("last_offset_delta")
    hand.zigzag("base_timestamp")
    hand.zigzag("max_timestamp_delta")
    for _ in range(count):
        record(hand, has_attributes=False)


def control_record(hand: Hand) -> None:
    hand.zigzag("len_key")
    hand.number("version", "h")
    kind = hand.number("control_type", "h")
    hand.zigzag("len_value")
    hand.number("version", "h")
    if kind in (0, 1):
        hand.number("coordinator_epoch", "i")
        return
    if kind == 2:
        hand.number("leader_id", "i")
        for name in ("num_voters", "num_granting_voters"):
            for _ in range(hand.base128(name) - 1):
                hand.number("voter_id", "i")
                hand.null("voter_directory_id")
                no_tags(hand)
    if kind == 3:
        hand.number("last_contained_log_timestamp", "q")
    if kind == 5:
        hand.number("protocol_version", "h")
    if kind == 6:
        for _ in range(hand.base128("num_voters") - 1):
            voter(hand)
    no_tags(hand)


def voter(hand: Hand) -> None:
    hand.number("voter_id", "i")
    hand.take("voter_directory_id", 16)
    for _ in range(hand.base128("num_endpoints") - 1):
        for name in ("name", "host"):
            hand.take(name, hand.base128(f"len_{name}") - 1)
        hand.number("port", "H")
        no_tags(hand)
    hand.numbers("min_supported_version h", "max_supported_version h")
    no_tags(hand)
    no_tags(hand)


def early_leader_change(hand: Hand) -> None:
    hand.number("leader_id", "i")
    for name in ("num_voters", "num_granting_voters"):
        for _ in range(hand.base128(name) - 1):
            hand.number("voter_id", "i")
            no_tags(hand)
    no_tags(hand)


def tagged_fields(hand: Hand) -> None:
    for _ in range(hand.base128("num_fields")):
        hand.base128("tag")
        hand.take("data", hand.base128("len_data"))


def no_tags(hand: Hand) -> None:
    assert hand.base128("num_fields") == 0


def groups(hand: Hand) -> None:
    for number in range(len(hand.data)):
        hand.number(f"groups[{number}]", "B")


def metadata_record(hand: Hand) -> None:
    for name in ("frame_version", "api_key", "api_version"):
        hand.base128(name)
    hand.take("data", len(hand.data) - hand.at)


def producer_snapshot(hand: Hand) -> None:
    hand.number("version", "h")
    hand.checksum()
    for _ in range(hand.number("num_producers", "i")):
        hand.numbers("producer_id q", "epoch h", "last_sequence i", "last_offset q")
        hand.numbers("offset_delta i", "timestamp q", "coordinator_epoch i")
        hand.number("current_transaction_first_offset", "q")


def entries(*named: str) -> Callable[[Hand], None]:
    """Return a reader of the same numbers over and over."""

    def read(hand: Hand) -> None:
        while hand.at < len(hand.data):
            hand.numbers(*named)

    return read


def lines(*names: str) -> Callable[[Hand], None]:
    """Return a reader of a checkpoint whose lines have fields of these *names*."""

    def read(hand: Hand) -> None:
        hand.line("version", b"\n")
        for _ in range(int(hand.line("num_entries", b"\n"))):
            for name in names:
                hand.line(name, b"\n" if name == names[-1] else b" ")

    return read


def partition_metadata(hand: Hand) -> None:
    hand.line("version_key", b" ")
    hand.line("version", b"\n")
    hand.line("topic_id_key", b" ")
    hand.take("topic_id", 22)


READERS: dict[str, Callable[[Hand], None]] = {
    "kafka_control_record": control_record,
    "kafka_crc": entries("data B"),
    "kafka_early_leader_change": early_leader_change,
    "kafka_kraft_snapshot": log,
    "kafka_leader_epoch_checkpoint": lines("epoch", "start_offset"),
    "kafka_log": log,
    "kafka_message": message,
    "kafka_metadata_record": metadata_record,
    "kafka_offset_checkpoint": lines("topic", "partition", "offset"),
    "kafka_offset_index": entries("relative_offset i", "ofs_batch i"),
    "kafka_partition_metadata": partition_metadata,
    "kafka_producer_snapshot": producer_snapshot,
    "kafka_record": record,
    "kafka_record_batch": batch,
    "kafka_record_batch_kip_931": proposal,
    "kafka_records": records,
    "kafka_tagged_fields": tagged_fields,
    "kafka_time_index": entries("timestamp q", "relative_offset i"),
    "kafka_transaction_index": entries(
        "version h", "producer_id q", "first_offset q", "last_offset q", "last_stable_offset q"
    ),
    "kafka_uvarint": groups,
    "kafka_varint": groups,
    "kafka_varlong": groups,
}
"""By format, what reads an example of it."""


def read(name: str, data: bytes) -> list[Field]:
    """Return the fields of *data*, which is of the format *name*; all of it is read."""
    hand = Hand(data)
    READERS[name](hand)
    assert hand.at == len(data)
    return hand.fields
