"""Predictions for partitions that depend on the broker: stray, missing, not served, served from elsewhere."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from magicbyte.findings import Finding
from magicbyte.internal_topics.cluster_metadata import ClusterMetadata
from magicbyte.internal_topics.metadata_topics import Replicas
from magicbyte.verification.broker._failures import Failures
from magicbyte.verification.broker._folder_names import BrokerFolder
from magicbyte.verification.broker._grouping import BrokerGroup
from magicbyte.verification.broker._log_dir_state import LogDirState
from magicbyte.verification.broker._metadata_log import MetadataLog
from magicbyte.verification.broker._startup_rules import StartupRules
from magicbyte.verification.verdicts import Verdict

Key = tuple[str, int]
"""Topic and number of a partition."""


@dataclass(frozen=True, slots=True)
class PartitionChange:
    """The prediction for a partition, where the broker decides it and not the partition's own files."""

    topic: str
    partition: int
    log_dir: str | None
    """Path of the log.dir; None if no given one holds the partition."""
    verdict: Verdict
    finding: Finding | None
    log_end_offset: int | None = None
    """The log end offset after the startup; None if nothing is served or it is not known."""
    offsets_lost: int | None = None
    promoted_folder: str | None = None
    """Path of the -future folder that takes the place of the partition's folder; None without one."""

    @property
    def key(self) -> Key:
        return self.topic, self.partition


@dataclass(slots=True)
class PlacedFolder:
    """A folder of a partition, with the log.dir that holds it."""

    state: LogDirState
    folder: BrokerFolder

    @property
    def key(self) -> Key:
        return self.folder.topic, self.folder.partition

    @property
    def path(self) -> str:
        return f"{self.state.path}/{self.folder.name}"


@dataclass
class PartitionPlacement:
    """Folders of the partitions of a broker, and the places that its metadata or checkpoints name."""

    group: BrokerGroup
    rules: StartupRules
    metadata: MetadataLog | None
    """The metadata log; None without one."""
    is_metadata_lost: bool
    """True if the metadata log is gone, and no other node is known to have it."""
    zookeeper: set[Key] | None
    """Partitions that ZooKeeper places on the broker; None if its data is not at hand."""
    log_ends: Mapping[Key, int | None]
    """Log end offsets of the partitions that were read."""
    folders: list[PlacedFolder] = field(init=False)
    """Folders of current logs."""
    futures: list[PlacedFolder] = field(init=False)

    def __post_init__(self) -> None:
        placed = [
            PlacedFolder(state, folder)
            for state in self.group.states
            for folder in state.folders(self.rules)
        ]
        self.folders = [each for each in placed if each.folder.suffix is None]
        self.futures = [each for each in placed if each.folder.suffix == "future"]

    @cached_property
    def checkpointed(self) -> set[Key]:
        """Partitions that a checkpoint of any log.dir names."""
        partition_keys: set[Key] = set()
        for state in self.group.states:
            if state.log_dir is not None:
                partition_keys.update(state.log_dir.recovery_point or ())
                partition_keys.update(state.log_dir.high_watermark or ())
        return partition_keys

    def is_known(self, partition_key: Key) -> bool:
        """Return whether the broker served *partition_key* before, as far as files say."""
        if self.metadata is not None and self.metadata.before.has_partition(*partition_key):
            return True
        known = self.checkpointed if self.zookeeper is None else self.zookeeper
        return partition_key in known

    @property
    def cluster(self) -> ClusterMetadata | None:
        return None if self.metadata is None else self.metadata.after

    @cached_property
    def assigned(self) -> dict[Key, tuple[str, Replicas]]:
        """Partitions that the metadata places on this broker, with topic id and replicas."""
        if self.cluster is None or self.group.node_id is None:
            return {}
        return self.cluster.on_node(self.group.node_id)

    def directory_of(self, replicas: Replicas) -> str | None:
        if not self.rules.has_directory_ids or self.group.node_id is None:
            return None
        return replicas.directory_of(self.group.node_id)

    def holder(self, directory: str | None) -> LogDirState | None:
        """Return the log.dir with the id *directory*."""
        states = (each for each in self.group.states if each.directory_id == directory)
        return None if directory is None else next(states, None)

    def is_online(self, directory: str) -> bool:
        holder = self.holder(directory)
        return holder is not None and not holder.is_offline

    @property
    def absent(self) -> Iterator[tuple[Key, Replicas | None]]:
        """Yield the partitions that should have a folder here and have none, with their replicas."""
        present = {each.key for each in self.folders}
        expected_partitions: dict[Key, Replicas | None] = {}
        if self.rules.is_kraft:
            expected_partitions |= {key: replicas for key, (_, replicas) in self.assigned.items()}
        else:
            for state in self.group.states:
                marks = state.log_dir.high_watermark if state.log_dir is not None else None
                expected_partitions |= dict.fromkeys(marks or ())
            if self.zookeeper is not None:
                # Others may be in log.dirs that were not given, unless a given one shows nothing.
                if any(state.is_blank for state in self.group.states):
                    expected_partitions |= dict.fromkeys(sorted(self.zookeeper))
                expected_partitions = {
                    key: None for key in expected_partitions if key in self.zookeeper
                }
        for key, replicas in expected_partitions.items():
            if key not in present:
                yield key, replicas

    def promoted(self, partition_key: Key, replicas: Replicas | None) -> PlacedFolder | None:
        """Return the -future folder that takes the place of the absent folder of *partition_key*."""
        if not self.rules.promotes_futures or replicas is None:
            return None
        directory = self.directory_of(replicas)
        for future in self.futures:
            if future.key == partition_key and directory in (None, future.state.directory_id):
                return future
        return None

    def note_blocking_files(self) -> None:
        """Take log.dirs offline in which a file has the name of a folder that the broker has to make."""
        online = [state for state in self.group.states if state.obstacle is None]
        for (topic, number), replicas in list(self.absent):
            name = f"{topic}-{number}"
            directory = None if replicas is None else self.directory_of(replicas)
            holder = self.holder(directory) or self._emptiest(online)
            if holder is None or name not in holder.item_names:
                continue
            if name not in holder.folder_names:
                holder.failures.append(
                    Finding(
                        code="log-dir-failed",
                        message=f"a broker takes the log.dir {holder.path} offline: it cannot make the "
                        f"folder {name}, since a file has that name. Move the file away",
                        topic=topic,
                        partition=number,
                    )
                )

    def _emptiest(self, states: list[LogDirState]) -> LogDirState | None:
        """Return the log.dir in which a broker makes a new partition: the one with the fewest."""
        counts = [sum(each.state is state for each in self.folders) for state in states]
        return states[counts.index(min(counts))] if states else None


@dataclass(slots=True)
class PartitionJudge:
    """Predicts partitions of a broker that starts, by its log.dirs and its metadata."""

    placement: PartitionPlacement
    failures: Failures

    def changes(self) -> Iterator[PartitionChange]:
        for placed in self.placement.folders:
            change = self.folder_change(placed)
            if change is not None:
                yield change
        for key, replicas in self.placement.absent:
            yield self.absence(key, replicas)

    def folder_change(self, placed: PlacedFolder) -> PartitionChange | None:
        """Return what becomes of the partition in a folder; None if its own files decide."""
        if self.failures.all_partitions:
            return self._change(placed, "not-served", self.failures.all_partitions[0].message)
        if placed.state.is_offline:
            return self._change(placed, "not-served", placed.state.failures[0].message)
        if self.placement.rules.is_kraft:
            return self._kraft_change(placed)
        return self._zookeeper_change(placed)

    def _kraft_change(self, placed: PlacedFolder) -> PartitionChange | None:
        if self.placement.is_metadata_lost:
            return self._stray(placed, "the broker's metadata log is gone, so it knows no topic")
        node_id, cluster = self.placement.group.node_id, self.placement.cluster
        if cluster is None or node_id is None or placed.path not in self.failures.topic_ids:
            return None
        topic, number = placed.key
        topic_id = self.failures.topic_ids[placed.path]
        if topic_id is None:
            return self._stray(placed, "there is no partition.metadata, which holds the topic id")
        topic_id = topic_id.rstrip("=")
        name = cluster.name_of(topic_id)
        if name is None:
            return self._unknown_topic(placed, topic_id)
        replicas = cluster.replicas_of(topic_id, number)
        if replicas is None or node_id not in replicas.nodes:
            return self._stray(placed, f"the metadata places no replica of it on broker {node_id}")
        if name != topic:
            return self._other_topic(placed, topic_id, name)
        directory = self.placement.directory_of(replicas)
        if directory is None or self.placement.is_online(directory) or len(replicas.nodes) > 1:
            return None
        return self._change(
            placed,
            "not-served",
            f"the metadata places it in the log.dir with directory.id {directory}, which is not there: "
            "no leader is elected. Give meta.properties that id again",
        )

    def _unknown_topic(self, placed: PlacedFolder, topic_id: str) -> PartitionChange | None:
        metadata = self.placement.metadata
        assert metadata is not None
        node_id = self.placement.group.node_id
        if metadata.num_lost and metadata.is_refetched(node_id):
            return None  # the broker gets the lost part of the metadata from the controllers
        deleted_name = metadata.before.deleted_name_of(topic_id)
        if deleted_name is not None:
            why = f"its topic {deleted_name} with the id {topic_id} was deleted"
        elif metadata.before.has_partition(*placed.key) or metadata.num_lost:
            why = "the rest of the metadata log does not know its topic"
        else:
            why = f"the metadata does not know its topic id {topic_id}"
        return self._stray(placed, why)

    def _other_topic(self, placed: PlacedFolder, topic_id: str, name: str) -> PartitionChange:
        cluster = self.placement.cluster
        assert cluster is not None
        own_id = cluster.id_of(placed.folder.topic)
        message = f"its topic id {topic_id} belongs to the topic {name}"
        if own_id is not None:
            message += (
                f", and not {own_id}: the broker meets a metadata publishing fault, after which other "
                "partitions may not be served either. Write the right id into partition.metadata"
            )
        else:
            message += ": the folder stays, and nobody can read it"
        return self._change(placed, "not-served", message)

    def _stray(self, placed: PlacedFolder, why: str) -> PartitionChange:
        cluster = self.placement.cluster
        is_empty_log = cluster is not None and cluster.has_partition(*placed.key)
        served = "serves an empty log" if is_empty_log else "serves nothing"
        return self._change(
            placed,
            "stray",
            f"{why}: the broker renames the folder to -stray and {served}. The data stays in the renamed "
            "folder; make a copy of it before the broker starts",
        )

    def _zookeeper_change(self, placed: PlacedFolder) -> PartitionChange | None:
        """Return a change where the broker wrote checkpoints at its end that leave the partition out."""
        if self.placement.zookeeper is not None:
            if placed.key in self.placement.zookeeper:
                return None
            message = "ZooKeeper places no replica of it on this broker, which keeps the folder"
            return self._change(placed, "not-served", message)
        log_dir = placed.state.log_dir
        if log_dir is None or not log_dir.clean_shutdown or not log_dir.high_watermark:
            return None
        if placed.key in self.placement.checkpointed or not self._is_credible(
            log_dir.high_watermark
        ):
            return None
        return self._change(
            placed,
            "not-served",
            "the high watermarks that the broker wrote at its shutdown leave it out, so ZooKeeper does "
            "not seem to know it: the broker keeps the folder and does not serve it",
        )

    def _is_credible(self, marks: Mapping[Key, int]) -> bool:
        """Return whether a broker can have written *marks*: no offset is outside its log."""
        for key, offset in marks.items():
            end = self.placement.log_ends.get(key)
            if offset < 0 or (end is not None and offset > end):
                return False
        return True

    def absence(self, partition_key: Key, replicas: Replicas | None) -> PartitionChange:
        """Return the prediction for a partition that has no folder."""
        placement = self.placement
        promoted = placement.promoted(partition_key, replicas)
        if promoted is not None and not promoted.state.is_offline:
            path = promoted.state.path
            return PartitionChange(
                *partition_key, path, "recovered", None, promoted_folder=promoted.path
            )
        topic, number = partition_key
        directory = None if replicas is None else placement.directory_of(replicas)
        holder = placement.holder(directory)
        has_unreadable = any(
            state.is_offline and not state.is_a_file and state.directory_id is None
            for state in placement.group.states
        )
        is_elsewhere = directory is not None or not (
            placement.rules.is_kraft or partition_key in placement.checkpointed
        )
        is_hidden = holder.is_offline if holder is not None else is_elsewhere and has_unreadable
        if is_hidden or self.failures.all_partitions:
            message = "its log.dir is offline"
            verdict: Verdict = "not-served"
        else:
            verdict = "missing"
            message = self._absence_message(directory, holder, replicas)
        finding = Finding(
            code=f"partition-{verdict}", message=message, topic=topic, partition=number
        )
        makes_log = verdict == "missing" and (holder is not None or directory is None)
        return PartitionChange(
            topic,
            number,
            holder.path if holder else None,
            verdict,
            finding,
            0 if makes_log else None,
        )

    def _absence_message(
        self, directory: str | None, holder: LogDirState | None, replicas: Replicas | None
    ) -> str:
        node_id = self.placement.group.node_id
        others = [each for each in replicas.nodes if each != node_id] if replicas else []
        if directory is not None and holder is None:
            message = (
                f"the metadata places it in a log.dir with directory.id {directory}, which was not "
                "given or is gone"
            )
        else:
            said_by = "the metadata places it here"
            if replicas is None:
                source = (
                    "checkpoints name" if self.placement.zookeeper is None else "ZooKeeper names"
                )
                said_by = f"{source} it"
            message = f"{said_by}, and no log.dir has its folder: the broker makes an empty log"
        if others:
            names = ", ".join(map(str, others))
            return f"{message}, and fetches the records from the replicas on broker {names}"
        return (
            f"{message}; look for the folder, also as -delete or -stray, before the broker starts"
        )

    def _change(self, placed: PlacedFolder, verdict: Verdict, message: str) -> PartitionChange:
        topic, number = placed.key
        finding = Finding(
            code=f"partition-{verdict}",
            message=message,
            topic=topic,
            partition=number,
            replica=placed.state.path,
        )
        cluster = self.placement.cluster
        has_empty_log = (
            verdict == "stray" and cluster is not None and cluster.has_partition(*placed.key)
        )
        return PartitionChange(
            topic, number, placed.state.path, verdict, finding, 0 if has_empty_log else None
        )
