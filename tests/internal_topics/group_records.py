"""Records of `__consumer_offsets` for tests, and the state after them."""

from collections.abc import Iterable
from typing import Any

from magicbyte.internal_topics.coordinator_records import CoordinatorRecord, TransactionMarker
from magicbyte.internal_topics.group_coordinator import OFFSETS_TOPIC, GroupCoordinatorState
from magicbyte_formats.messages import consumer_offsets
from message_encoder import key_and_value

Entry = CoordinatorRecord | TransactionMarker


class OffsetsLog:
    """A partition of `__consumer_offsets`, built record by record."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(
        self,
        name: str,
        key: dict[str, Any],
        value: dict[str, Any] | None,
        *,
        producer: int | None = None,
        outcome: str | None = None,
        version: int | None = None,
    ) -> None:
        key_bytes, value_bytes = key_and_value(consumer_offsets.MESSAGES, name, key, value, version)
        self.add_bytes(key_bytes, value_bytes, producer=producer, outcome=outcome)

    def add_bytes(
        self,
        key: bytes | None,
        value: bytes | None,
        *,
        producer: int | None = None,
        outcome: str | None = None,
    ) -> None:
        offset = len(self.entries)
        self.entries.append(
            CoordinatorRecord(OFFSETS_TOPIC, 0, offset, offset, key, value, producer, outcome)
        )

    def commit(
        self,
        offset: int | None,
        *,
        group: str = "g",
        partition: int = 0,
        producer: int | None = None,
        outcome: str | None = None,
    ) -> None:
        """Commit *offset*; None is a tombstone."""
        key = {"group": group, "topic": "t", "partition": partition}
        value = None if offset is None else {"offset": offset}
        self.add("OffsetCommit", key, value, producer=producer, outcome=outcome)

    def end(self, producer: int, *, commit: bool) -> None:
        self.entries.append(TransactionMarker(0, len(self.entries), producer, commit))

    def state(self) -> GroupCoordinatorState:
        return state_after(self.entries)


def state_after(entries: Iterable[Entry]) -> GroupCoordinatorState:
    """Return the state after *entries*, all of which can be decoded."""
    coordinator = GroupCoordinatorState(0)
    for entry in entries:
        assert coordinator.apply(entry) is None
    return coordinator
