"""Open logs: `magicbyte.open`, `magicbyte.from_bytes`, and the opening that checks use."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any

from magicbyte.errors import InputError, TopicError, error_of
from magicbyte.limits import DEFAULT_LIMITS, Limits
from magicbyte.logdir.checkpoints import LogDir
from magicbyte.logdir.discover import described, described_in_store, discover, log_order
from magicbyte.logdir.file_names import INTERNAL_TOPICS
from magicbyte.logdir.log_file import LogFile, PartitionLog
from magicbyte.logdir.unread_path import UnreadPath, of_selection
from magicbyte.reading._times import Time, milliseconds
from magicbyte.reading.dataset import Dataset
from magicbyte.reading.planner import Planner
from magicbyte.reading.read_options import ReadOptions
from magicbyte.storage import AT_A_TIME, MemoryFile, Storage, StorageOptions

_FINDINGS = attrgetter("findings")


MAX_PARTITIONS = 20
MAX_TOPICS = 5
"""Partitions and topics that an error names."""


def open(
    *paths: str | os.PathLike[str],
    topics: Iterable[str] | None = None,
    partitions: Iterable[int] | None = None,
    offsets: tuple[int | None, int | None] | None = None,
    times: tuple[Time | None, Time | None] | None = None,
    isolation_level: str = "read_committed",
    on_damage: str = "fail",
    transactions: str = "auto",
    include_internal: bool = False,
    replica: str | Sequence[str] | None = None,
    fill: bool = True,
    engine: str = "auto",
    threads: int = 1,
    search: bool = False,
    limits: Limits | None = None,
    storage_options: Mapping[str, Any] | StorageOptions | None = None,
) -> Dataset:
    """Open Kafka logs for reading. File names and checkpoints are read now, and replicas compared.

    Args:
        paths: Segments, partition folders, log.dirs, or folders that hold some; URLs such as ``s3://bucket/name`` too.
        topics: Topics to read. Default: all but Kafka's internal ones.
        partitions: Numbers of the partitions to read. Default: all.
        offsets: First offset to read and the one after the last; None is no bound.
        times: As *offsets*, in datetimes (UTC if they are naive) or milliseconds since the Unix epoch: from
            the first record or marker at that time or later. Records after it may have earlier timestamps.
        isolation_level: ``"read_committed"`` leaves out aborted and open transactions, as a consumer does;
            ``"read_uncommitted"`` leaves out control records only.
        on_damage: ``"fail"`` raises at the first damaged batch; ``"skip"`` delivers the sound batches before
            and after it; ``"stop"`` ends the partition there. Sound batches, such as one whose offsets go back, raise nothing.
        transactions: ``"markers"`` or ``"index"``: whether markers in the log or transaction indexes decide how
            transactions ended. ``"auto"``: markers, and index files divide large logs in object stores.
        include_internal: Read internal topics such as ``__consumer_offsets`` without naming them.
        replica: Log.dir, or log.dirs in order of preference, to read where a partition has several replicas.
        fill: Read damaged and missing ranges of a replica from the others, where they agree.
        engine: ``"auto"``, ``"columnar"`` or ``"reference"``, which decode entries; all give the same rows.
        threads: Threads that read ahead. Rows, their order and the report do not depend on it.
        search: Search named files, such as disk images, for batches: these are a log of their own, with a finding.
        limits: Bounds on the size of a batch. Default: ``Limits()``.
        storage_options: Arguments of the store's file system in pyarrow. Default: the environment. Never shown.
    Returns:
        A dataset whose tables can be iterated any number of times.
    Raises:
        InputError: A path holds no Kafka log, a topic or partition is not there, or an argument is not allowed.
        MissingError: A path does not exist or may not be read. Unless *on_damage* is ``"fail"``, other
            paths are read all the same, and this one is in ``unread``.
        StoreError: A store cannot be reached, or refuses.
    Example:
        >>> mb.open("log-0", topics=["fenced"], on_damage="skip").records().to_table().num_rows
        4
    """
    storage = Storage(storage_options)
    storage_options = None  # no traceback shows credentials
    if not paths:
        raise InputError("no path", "at least one")
    options = ReadOptions(
        isolation_level=isolation_level,
        on_damage=on_damage,
        transactions=transactions,
        offsets=offsets or (None, None),
        times=_in_milliseconds(times) if times else (None, None),
        engine=engine,
        threads=threads,
        limits=limits or DEFAULT_LIMITS,
    )
    searched = options.limits if search else None
    found = discover(paths, storage, strict=on_damage == "fail", search=searched)
    logs = _DiscoveredLogs(*found, storage, options, (replica, fill))
    return logs.dataset(topics, partitions, include_internal=include_internal)


def _in_milliseconds(times: tuple[Time | None, Time | None]) -> tuple[int | None, int | None]:
    begin, end = times
    return (
        None if begin is None else milliseconds(begin),
        None if end is None else milliseconds(end),
    )


@dataclass(frozen=True, slots=True)
class _DiscoveredLogs:
    """Everything below some paths, as file names tell, from which datasets of some topics are made."""

    logs: Sequence[PartitionLog]
    log_dirs: list[LogDir]
    unread_paths: Sequence[UnreadPath]
    storage: Storage
    options: ReadOptions
    replica_options: tuple[str | Sequence[str] | None, bool]

    @property
    def all_topics(self) -> list[str]:
        """Names of the topics that have a folder which a broker serves."""
        return sorted({log.topic for log in self.logs if log.topic and log.state is None})

    def dataset(
        self,
        topics: Iterable[str] | None,
        partitions: Iterable[int] | None,
        *,
        include_internal: bool,
    ) -> Dataset:
        """Return the dataset of one log of each selected partition."""
        names = [topics] if isinstance(topics, str) else topics
        topic_names = None if names is None else list(names)
        partition_numbers = None if partitions is None else list(partitions)
        strict = self.options.on_damage == "fail"
        all_logs = _select(
            list(self.logs), self.storage, topic_names, partition_numbers, strict=strict
        )
        replica, fill = self.replica_options
        if replica is not None or len(self.log_dirs) > 1 or len(all_logs) > 1:
            all_logs = _one_log_each(all_logs, self.log_dirs, self.options, replica, fill)
        logs, num_internal = [], 0
        for log in all_logs:
            if log.state is not None:
                continue
            is_internal = log.topic in INTERNAL_TOPICS
            if (
                is_internal
                and not include_internal
                and not log.is_named
                and log.topic not in (topic_names or ())
            ):
                num_internal += 1
            else:
                logs.append(log)
        if topic_names is not None:
            _check_served(topic_names, all_logs)
        if strict:
            for finding in chain.from_iterable(map(_FINDINGS, (*self.log_dirs, *logs))):
                is_about_bytes = finding.severity == "error" and finding.position is not None
                if finding.code == "unreadable" or is_about_bytes:
                    raise error_of(finding)
        unread = self.unread_paths and of_selection(
            self.unread_paths, topic_names, partition_numbers
        )
        return Dataset(
            logs,
            self.options,
            log_dirs=self.log_dirs,
            all_logs=all_logs,
            num_internal=num_internal,
            unread_paths=unread,
            other_topics=self,
        )

    def of_topics(self, topics: Iterable[str]) -> Dataset:
        """Return the dataset of *topics*, as far as these are there."""
        present = set(topics).intersection(self.all_topics)
        if present:
            return self.dataset(sorted(present), None, include_internal=True)
        return Dataset([], self.options, log_dirs=self.log_dirs, other_topics=self)


def _check_served(topic_names: Sequence[str], logs: list[PartitionLog]) -> None:
    """Raise InputError if all *logs* of one of the topics are in folders that no broker serves."""
    for topic in topic_names:
        own = [log for log in logs if log.topic == topic]
        if own and all(log.state is not None for log in own):
            folders = ", ".join(log.folder for log in own)
            raise TopicError(
                f"topic {topic!r} is only in folders that no broker serves: {folders}",
                "the path of such a folder, which is read if it is named",
            )


def _one_log_each(
    logs: list[PartitionLog],
    log_dirs: list[LogDir],
    options: ReadOptions,
    replica: str | Sequence[str] | None,
    fill: bool,
) -> list[PartitionLog]:
    """Return *logs* with one log for each partition.

    Raises InputError if the log.dirs are of several clusters, or if there are several topics of one
    name.
    """
    from magicbyte.logdir import clusters

    clusters.check_one_cluster(log_dirs)
    preferred = (replica,) if isinstance(replica, str) else tuple(replica or ())
    folders = clusters.preferred_folders(preferred, logs, log_dirs)
    groups = clusters.replica_groups(logs, folders)
    if len(groups) == len(logs):
        return logs
    from magicbyte.reading.replica_choice import choose_replica

    choose = partial(choose_replica, folders=folders, options=options, fill=fill)
    chosen_logs = [group[0] for group in groups if len(group) == 1]
    several = [group for group in groups if len(group) > 1]
    if options.threads > 1:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(options.threads) as pool:
            chosen_logs += pool.map(choose, several)
    else:
        chosen_logs += map(choose, several)
    return sorted(chosen_logs, key=log_order)


def open_all_replicas(
    paths: Iterable[str | os.PathLike[str]],
    storage: Storage,
    topics: Iterable[str] | None,
    partitions: Iterable[int] | None,
    engine: str,
    limits: Limits | None,
    search: bool = False,
) -> Dataset:
    """Return a dataset of all logs below *paths*, for checks and statistics.

    It has every replica, internal topics and half-deleted partitions, and damage is skipped.
    """
    options = ReadOptions(
        isolation_level="read_uncommitted",
        on_damage="skip",
        engine=engine,
        limits=limits or DEFAULT_LIMITS,
    )
    all_logs, log_dirs, unread_paths = discover(
        paths, storage, search=options.limits if search else None
    )
    names = [topics] if isinstance(topics, str) else topics
    topic_names = None if names is None else list(names)
    partition_numbers = None if partitions is None else list(partitions)
    logs = _select(list(all_logs), storage, topic_names, partition_numbers, strict=False)
    unread = of_selection(unread_paths, topic_names, partition_numbers)
    return Dataset(logs, options, log_dirs=log_dirs, all_logs=all_logs, unread_paths=unread)


def _select(
    logs: list[PartitionLog],
    storage: Storage,
    topic_names: Sequence[str] | None,
    partition_numbers: Sequence[int] | None,
    *,
    strict: bool,
) -> list[PartitionLog]:
    """Return the logs of these topics and partitions, with their topic ids and remote segments.

    If *strict*, a damaged manifest of a remote segment is raised. Raises InputError where a topic
    or a partition is not there.
    """
    if topic_names is not None:
        _check_topics(topic_names, logs)
        logs = [log for log in logs if log.topic in topic_names]
    if partition_numbers is not None:
        known_numbers = sorted({log.partition for log in logs if log.partition is not None})
        for number in partition_numbers:
            if number not in known_numbers:
                texts = list(map(str, known_numbers))
                raise InputError(f"no partition {number}", _one_of(texts, MAX_PARTITIONS))
        logs = [log for log in logs if log.partition in partition_numbers]
    if storage.stores:  # each request is a wait
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(AT_A_TIME) as pool:
            logs = list(pool.map(partial(described_in_store, storage=storage), logs))
    else:
        logs = list(map(partial(described, storage=storage), logs))
    for index, log in enumerate(logs):
        if log.uploads:
            from magicbyte.logdir.remote import with_remote

            logs[index] = with_remote(log, storage, strict=strict)
    return logs


def check_topics(
    paths: Iterable[str | os.PathLike[str]], topics: Iterable[str], storage: Storage
) -> None:
    """Raise TopicError unless all *topics* are below *paths*. Only names of files are read."""
    logs, _, _ = discover(paths, storage, strict=False)
    _check_topics(topics, logs)


def topics_below(paths: Iterable[str | os.PathLike[str]], storage: Storage) -> list[str]:
    """Return the topics that have a folder below *paths*, in order. Only names of files are read."""
    logs, _, _ = discover(paths, storage, strict=False)
    return _topics_of(logs)


def _topics_of(logs: Iterable[PartitionLog]) -> list[str]:
    return sorted({log.topic for log in logs if log.topic is not None})


def _check_topics(topic_names: Iterable[str], logs: Iterable[PartitionLog]) -> None:
    known = _topics_of(logs)
    for name in topic_names:
        if name not in known:
            raise missing_topic(name, known)


def missing_topic(name: str, known: Sequence[str]) -> TopicError:
    """Return the error for a topic that is none of the *known* ones; it names those that are most like *name*."""
    from difflib import get_close_matches

    similar = get_close_matches(name, known, MAX_TOPICS)
    others = [each for each in known if each not in similar]
    guess = f" (did you mean {' or '.join(similar[:2])}?)" if similar else ""
    return TopicError(f"no topic {name!r}", _one_of([*similar, *others], MAX_TOPICS) + guess)


def _one_of(texts: Sequence[str], most: int) -> str:
    """Return the first *most* of *texts* in words, and how many more there are."""
    num_more = len(texts) - most
    more = f" and {num_more:,} more" if num_more > 0 else ""
    return f"one of {', '.join(texts[:most]) or 'none'}{more}"


def from_bytes(
    data: bytes,
    *,
    topic: str | None = None,
    partition: int | None = None,
    aborted: Iterable[tuple[int, int]] = (),
    offsets: tuple[int | None, int | None] | None = None,
    isolation_level: str = "read_uncommitted",
    on_damage: str = "fail",
    engine: str = "auto",
    limits: Limits | None = None,
) -> Dataset:
    """Read batches that are in memory: the records of a fetch response, or a segment's bytes.

    Args:
        data: Batches or messages, one after the other.
        topic: Topic that the rows name. Default: none.
        partition: Partition that the rows name. Default: none.
        aborted: Producer id and first offset of each aborted transaction, as the fetch response
            lists them. With ``"read_committed"`` this list alone decides, as in Kafka's consumer:
            the broker ends the response at the last stable offset.
        offsets: First offset to read and the one after the last; None is no bound.
        isolation_level: As for `open`, but ``"read_uncommitted"`` by default.
        on_damage: As for `open`.
        engine: As for `open`.
        limits: As for `open`.
    Returns:
        A dataset of one partition.
    Raises:
        InputError: An argument is not allowed.
    Example:
        >>> with open("log-0/fenced-0/00000000000000000005.log", "rb") as file:
        ...     dataset = mb.from_bytes(file.read(), offsets=(8, None))
        >>> dataset.records(["offset"]).to_pylist()
        [{'offset': 8}, {'offset': 9}]
    """
    options = ReadOptions(
        isolation_level=isolation_level,
        on_damage=on_damage,
        offsets=offsets or (None, None),
        engine=engine,
        limits=limits or DEFAULT_LIMITS,
    )
    name = "memory"
    file = LogFile(name, name, "log", None, len(data))
    log = PartitionLog(topic, partition, "", None, (file,), is_named=True, is_named_files=True)
    data = bytes(data)
    planner = Planner(
        options,
        open_log=lambda _: MemoryFile(data, name),
        aborted_list=tuple(aborted) if isolation_level == "read_committed" else None,
    )
    return Dataset([log], options, planner=planner)
