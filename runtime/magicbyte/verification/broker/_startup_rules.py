"""The rules of a startup that changed between Kafka releases."""

from dataclasses import dataclass

from magicbyte.kafka_release import NEWEST, NEWEST_WITH_ZOOKEEPER, KafkaRelease, parse_release

OLDEST_PREDICTED = KafkaRelease(2, 8)
"""First release whose startup is predicted. Brokers of 2.8, 3.9, 4.3 and 4.4 were started on each case,
brokers of 3.7 and 3.8 on some."""


def known_release(text: str) -> KafkaRelease:
    """Return the release *text*, such as `3.9` or `3.9.2`; InputError if its startup is not known."""
    return parse_release(text, oldest=OLDEST_PREDICTED)


@dataclass(frozen=True, slots=True)
class StartupRules:
    """The rules of a broker's startup in one release, with or without ZooKeeper."""

    release: KafkaRelease
    is_kraft: bool

    @property
    def name(self) -> str:
        return str(self.release)

    @property
    def compares_all_properties(self) -> bool:
        """True if all `meta.properties` files must be equal (BrokerMetadataCheckpoint, until 3.6)."""
        return self.release < (3, 7)

    @property
    def has_directory_ids(self) -> bool:
        """True if log.dirs have ids, and the metadata assigns partitions to them (KIP-858)."""
        return self.is_kraft and self.release >= (3, 7)

    @property
    def knows_strays(self) -> bool:
        """True if a folder may have the suffix -stray; before, such a name is no partition's."""
        return self.release >= (3, 6)

    @property
    def knows_index_cache(self) -> bool:
        """True if the folder `remote-log-index-cache` is skipped (KIP-405)."""
        return self.release >= (3, 6)

    @property
    def promotes_futures(self) -> bool:
        """True if a -future folder can take the place of the current one (recoverAbandonedFutureLogs)."""
        return self.is_kraft and self.release >= (3, 7)

    @property
    def ignores_words_in_checkpoints(self) -> bool:
        """True if a word for a number in a recovery point or log start checkpoint counts as no checkpoint."""
        return self.release >= (3, 0)


def rules_for(release: KafkaRelease | None, *, is_kraft: bool) -> StartupRules:
    """Return the rules of *release*; None is the newest one that starts such log.dirs.

    *is_kraft* says whether the log.dirs are the log.dirs of a broker without ZooKeeper. 2.8 is taken to run with
    ZooKeeper, since KRaft was a preview in it.
    """
    if release is None:
        release = NEWEST if is_kraft else NEWEST_WITH_ZOOKEEPER
    if release < (3, 0):
        is_kraft = False
    elif release > NEWEST_WITH_ZOOKEEPER:
        is_kraft = True
    return StartupRules(release, is_kraft)
