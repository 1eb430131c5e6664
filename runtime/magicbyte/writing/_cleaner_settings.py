"""Settings of a round of compaction, named as in Kafka's configuration."""

from dataclasses import dataclass

from magicbyte.errors import InputError

DAY_MS = 86_400_000
MIB = 1 << 20

BYTES_PER_SLOT = 24
"""Memory of Kafka's cleaner for one key: an MD5 hash and an offset (SkimpyOffsetMap)."""

RELEASES = ("3.9", "4.x")
"""Releases whose rules differ: since 4.0 the cleaner writes v0 and v1 messages as v2 batches (KAFKA-13093).

Both keep the last batch of a round (KAFKA-17076): 3.9.2 does, earlier patch releases may not.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanerSettings:
    """Clock and configuration of a round of Kafka's log cleaner.

    Attributes:
        now_ms: Time of the round, in milliseconds since the Unix epoch.
        delete_retention_ms: Time after which a tombstone may be removed, from the round that first met it.
            Default: a day.
        min_compaction_lag_ms: Age below which no segment is cleaned, by its newest record. Default: 0.
        max_compaction_lag_ms: Age of the oldest dirty record from which the partition is cleaned, however low its
            ratio of dirty bytes is. Default: none.
        min_cleanable_dirty_ratio: Ratio of dirty bytes above which the partition is cleaned. Default: 0.5.
        segment_bytes: Largest size of a segment into which smaller ones are joined. Default: 1 GiB.
        dedupe_buffer_bytes: Memory of the map from keys to offsets, `log.cleaner.dedupe.buffer.size`.
            Default: 128 MiB, which is 5 million keys.
        dedupe_buffer_load_factor: Largest used share of it. Default: 0.9.
        producer_id_expiration_ms: Time after which a silent producer is forgotten. Default: a day.
        first_dirty_offset: Offset from which keys are looked up. Default: `cleaner-offset-checkpoint`, or the log
            start.
        includes_active_segment: Clean the last segment, too, as if the broker had rolled it. Default: no.
        release: ``"3.9"`` or ``"4.x"``, whose rules apply. Default: ``"4.x"``.
    Raises:
        InputError: A setting is not allowed.
    Example:
        >>> from magicbyte.writing.compaction import CleanerSettings
        >>> CleanerSettings(now_ms=1_700_000_000_000).max_keys
        5033164
    """

    now_ms: int
    delete_retention_ms: int = DAY_MS
    min_compaction_lag_ms: int = 0
    max_compaction_lag_ms: int | None = None
    min_cleanable_dirty_ratio: float = 0.5
    segment_bytes: int = 1024 * MIB
    dedupe_buffer_bytes: int = 128 * MIB
    dedupe_buffer_load_factor: float = 0.9
    producer_id_expiration_ms: int = DAY_MS
    first_dirty_offset: int | None = None
    includes_active_segment: bool = False
    release: str = "4.x"

    def __post_init__(self) -> None:
        if self.release not in RELEASES:
            raise InputError(f"release {self.release!r}", f"one of {', '.join(RELEASES)}")
        for name in ("delete_retention_ms", "min_compaction_lag_ms", "producer_id_expiration_ms"):
            if getattr(self, name) < 0:
                raise InputError(f"{name} {getattr(self, name)}", "0 or more")
        if self.segment_bytes < 1:
            raise InputError(f"segment_bytes {self.segment_bytes}", "1 or more")
        if self.max_keys < 1:
            raise InputError(
                f"dedupe_buffer_bytes {self.dedupe_buffer_bytes}",
                "a buffer that holds at least one key",
            )

    @property
    def max_keys(self) -> int:
        """Keys that the map of one round holds."""
        return int(self.dedupe_buffer_bytes // BYTES_PER_SLOT * self.dedupe_buffer_load_factor)

    @property
    def converts_messages(self) -> bool:
        """True if v0 and v1 messages become v2 batches."""
        return self.release == "4.x"
