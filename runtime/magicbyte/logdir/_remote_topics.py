"""Match partitions on a broker's disks with their segments in remote storage."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace

from magicbyte.errors import UnreadableError
from magicbyte.findings import Finding
from magicbyte.logdir._packed_files import items_named
from magicbyte.logdir.checkpoints import DESCRIBING_FILES, read_topic_id
from magicbyte.logdir.log_file import PartitionLog
from magicbyte.storage import Storage


def joined_with_remote(
    logs: Iterable[PartitionLog],
    remotes: dict[tuple[str, int, str], PartitionLog],
    storage: Storage,
) -> Iterator[PartitionLog]:
    """Yield local *logs* joined with their remote segments in *remotes*, then the other *remotes*.

    They match by topic id; a local log without one by name, if only one remote topic has that name.
    """
    left = dict(remotes)
    by_number: defaultdict[int | None, list[PartitionLog]] = defaultdict(list)
    for remote in remotes.values():
        by_number[remote.partition].append(remote)
    for log in logs:
        if log.topic is None or log.state is not None or log.is_named_files:
            yield log
            continue
        # A prefix of Aiven's plugin may be in front of the topic's name.
        near = [
            remote
            for remote in by_number[log.partition]
            if (remote.topic or "").endswith(log.topic)
        ]
        topic_id = None
        items = items_named(log.files, DESCRIBING_FILES)
        with suppress(UnreadableError), storage.listed(log.folder, items):  # `described` says so
            topic_id = read_topic_id(log.folder, storage) if near else None
        same_name = [remote for remote in near if remote.topic == log.topic]
        if topic_id is not None:
            own = [remote for remote in near if remote.topic_id == topic_id]
        else:
            own = same_name if len(same_name) == 1 else []
        others = [remote for remote in same_name if remote not in own]
        for remote in (*own, *others):
            left.pop((remote.topic or "", remote.partition or 0, remote.topic_id or ""), None)
        yield replace(
            log,
            uploads=tuple(upload for remote in own for upload in remote.uploads),
            findings=(*log.findings, *(_of_another(log, topic_id, remote) for remote in others)),
        )
    yield from left.values()


def _of_another(log: PartitionLog, topic_id: str | None, remote: PartitionLog) -> Finding:
    return log.finding(
        "remote-other-topic",
        f"{len(remote.uploads)} remote segments in {remote.folder} are ignored: their topic "
        f"id is {remote.topic_id}, the local one {topic_id or 'is not known'}",
        field="topic_id",
        found=remote.topic_id,
        expected=topic_id,
    )
