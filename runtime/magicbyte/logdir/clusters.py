"""Several brokers' log.dirs as one cluster: which logs are replicas of the same partition."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from magicbyte.errors import InputError
from magicbyte.logdir.checkpoints import LogDir
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.storage import absolute_path


def check_one_cluster(log_dirs: Sequence[LogDir]) -> None:
    """Raise InputError if *log_dirs* are of several clusters."""
    clusters: dict[str, str] = {}
    for log_dir in log_dirs:
        if log_dir.cluster_id is not None:
            clusters.setdefault(log_dir.cluster_id, log_dir.path)
    if len(clusters) > 1:
        paths = ", ".join(f"{path} ({cluster})" for cluster, path in sorted(clusters.items()))
        raise InputError(f"log.dirs of {len(clusters)} clusters: {paths}", "one cluster at a time")


def replica_name(log: PartitionLog) -> str:
    """Return the folder that holds the folder of *log*: its log.dir, which tells replicas apart."""
    return log.folder.rpartition("/")[0] or log.folder


def with_replica_name(log: PartitionLog) -> PartitionLog:
    """Return *log* with the name of its replica in it and in its files, for findings."""
    name = replica_name(log)
    files = tuple(replace(file, replica=name) for file in log.files)
    return replace(log, files=files, replica=name)


def with_replica_names(logs: Sequence[PartitionLog]) -> list[PartitionLog]:
    """Return *logs*; those that are replicas of one partition have the names of their replicas."""
    names = [log.topic and (log.topic, log.partition) for log in logs]
    counts = Counter(names)
    return [
        with_replica_name(log) if name and counts[name] > 1 else log
        for log, name in zip(logs, names, strict=True)
    ]


def preferred_folders(
    preferred: Sequence[str], logs: Iterable[PartitionLog], log_dirs: Sequence[LogDir]
) -> list[str]:
    """Return the absolute paths of the *preferred* folders; each must hold one of *logs* or *log_dirs*.

    Raises InputError for one in which there is neither.
    """
    folders = list(map(absolute_path, preferred))
    places = [*(log.folder for log in logs), *(log_dir.path for log_dir in log_dirs)]
    for name, folder in zip(preferred, folders, strict=True):
        if not any(_is_below(place, folder) for place in places):
            raise InputError(f"no partition is in the replica {name}", "a log.dir that was named")
    return folders


def preference(log: PartitionLog, folders: Sequence[str]) -> int:
    """Return the rank of *log* by the preferred *folders*; their number if it is in none."""
    for rank, folder in enumerate(folders):
        if _is_below(log.folder, folder):
            return rank
    return len(folders)


def _is_below(folder: str, parent: str) -> bool:
    """Return whether *folder* is *parent* or in it, by its path or by the links in its path."""
    return any(
        path == parent or path.startswith(f"{parent.rstrip('/')}/")
        for path in (folder, absolute_path(folder))
    )


def replica_groups(
    logs: Iterable[PartitionLog], folders: Sequence[str]
) -> list[list[PartitionLog]]:
    """Return *logs* by partition: the replicas of one topic, or a log that is alone.

    *folders* are the preferred ones: they decide between topics of one name, else most replicas do.
    Raises InputError where neither does.
    """
    by_name: dict[tuple[str, int | None], list[PartitionLog]] = {}
    alone = []
    for log in logs:
        if log.topic is None or log.state is not None:
            alone.append([log])
        else:
            by_name.setdefault((log.topic, log.partition), []).append(log)
    return [*(_of_one_topic(group, folders) for group in by_name.values()), *alone]


def _of_one_topic(same_name: list[PartitionLog], folders: Sequence[str]) -> list[PartitionLog]:
    ids = Counter(log.topic_id for log in same_name if log.topic_id is not None)
    if len(ids) < 2:
        return same_name
    first = min(same_name, key=lambda log: preference(log, folders))
    topic_id = first.topic_id
    if topic_id is None or preference(first, folders) == len(folders):
        (topic_id, count), (_, next_count) = ids.most_common(2)
        if count == next_count:
            raise _several_topics(same_name)
    own = [log for log in same_name if log.topic_id in (topic_id, None)]
    own[0] = replace(
        own[0],
        findings=(
            *own[0].findings,
            *(
                log.finding(
                    "topic-id-differs",
                    f"{log.folder} is not read: it is of another topic of this name, with id "
                    f"{log.topic_id} instead of {topic_id}",
                    field="topic_id",
                    found=log.topic_id,
                    expected=topic_id,
                )
                for log in same_name
                if log.topic_id not in (topic_id, None)
            ),
        ),
    )
    return own


def _several_topics(same_name: Sequence[PartitionLog]) -> InputError:
    topics = ", ".join(f"id {log.topic_id} in {log.folder}" for log in same_name)
    return InputError(
        f"{len(same_name)} topics of one name in {same_name[0].name}: {topics}",
        "one of them: name its folders alone, or its log.dir with replica",
    )
