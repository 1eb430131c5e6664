"""The checks after which a broker does not start, in the order in which it makes them."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial

from magicbyte.engines.factory import engine as engine_named
from magicbyte.errors import FormatError, InputError, LimitError
from magicbyte.findings import Finding
from magicbyte.internal_topics.cluster_metadata import ClusterMetadata, apply_records
from magicbyte.limits import Limits
from magicbyte.logdir.checkpoints import parse_topic_id
from magicbyte.logdir.log_file import LogFile
from magicbyte.logdir.meta_properties import META_PROPERTIES
from magicbyte.logdir.metadata_snapshots import METADATA_FOLDER
from magicbyte.storage import Storage, is_url
from magicbyte.storage.access import lock_holder
from magicbyte.verification.broker._folder_names import BrokerFolder
from magicbyte.verification.broker._grouping import BrokerGroup
from magicbyte.verification.broker._log_dir_state import BOOTSTRAP_CHECKPOINT, LogDirState
from magicbyte.verification.broker._metadata_log import (
    METADATA_TOPIC_ID,
    PARTITION_METADATA,
    MetadataLog,
)
from magicbyte.verification.broker._metadata_records import read_metadata_file
from magicbyte.verification.broker._startup_rules import StartupRules

Refusals = Iterator[Finding]


def properties_refusals(
    group: BrokerGroup, rules: StartupRules, metadata_dir: LogDirState | None
) -> Refusals:
    """Yield faults of the `meta.properties` files of a broker."""
    if rules.is_kraft:
        yield from _kraft_refusals(group, rules, metadata_dir)
    property_files = [state.properties for state in group.states if state.properties is not None]
    if rules.compares_all_properties:
        yield from _differing_properties(group)
        wrong = [
            each.version
            for each in property_files
            if each.version != ("1" if rules.is_kraft else "0")
        ]
        if wrong:
            yield _refusal(
                "meta-properties-invalid",
                f"{META_PROPERTIES} has version {wrong[0]}, which a broker of {rules.name} refuses "
                f"{'without' if rules.is_kraft else 'with'} ZooKeeper",
            )
        return
    yield from _differing_ids(group)
    counts = Counter(each.directory_id for each in property_files if each.directory_id is not None)
    for directory_id, count in counts.items():
        if count > 1:
            yield _refusal(
                "directory-id-duplicate",
                f"{count} log.dirs have directory.id {directory_id}: {META_PROPERTIES} was copied from "
                "one to another. Take the line out of the copy, and the broker makes a new id",
            )
    for each in property_files:
        if each.has_reserved_directory_id:
            yield _refusal("directory-id-invalid", f"directory.id {each.directory_id} is reserved")


def _refusal(code: str, message: str) -> Finding:
    return Finding(code=code, message=message, file=META_PROPERTIES)


def _kraft_refusals(
    group: BrokerGroup, rules: StartupRules, metadata_dir: LogDirState | None
) -> Refusals:
    for state in group.states:
        if state.obstacle is not None:
            continue
        if not state.has_properties:
            yield _refusal(
                "meta-properties-missing",
                f"there is no {META_PROPERTIES} in {state.path}: a broker of {rules.name} ends. Restore "
                "the file, or format the log.dir with kafka-storage.sh if it is new",
            )
        elif state.invalid_properties is not None:
            if state is metadata_dir or rules.compares_all_properties:
                yield _refusal(
                    "meta-properties-invalid",
                    f"{state.path}/{META_PROPERTIES}: {state.invalid_properties.message}",
                )
        elif state.properties is not None:
            missing = [
                name
                for name, value in (
                    ("node.id", state.properties.node_id),
                    ("cluster.id", state.properties.cluster_id),
                )
                if value is None
            ]
            if missing:  # of version 0, which a broker reads even if they are missing
                yield _refusal(
                    "meta-properties-invalid",
                    f"{state.path}/{META_PROPERTIES} has no {' and no '.join(missing)}",
                )


def _differing_properties(group: BrokerGroup) -> Refusals:
    """Yield a finding if any two files differ in any key, as brokers until 3.6 demand."""
    property_contents: dict[tuple[tuple[str, str], ...] | str, str] = {}
    for state in group.states:
        if not state.can_read_properties:
            continue  # the log.dir is offline, and the broker compares the others
        if state.invalid_properties is not None:
            property_contents.setdefault(state.invalid_properties.message, state.path)
        elif state.properties is not None:
            property_contents.setdefault(state.properties.properties, state.path)
    if len(property_contents) > 1:
        paths = " and ".join(list(property_contents.values())[:2])
        yield _refusal(
            "meta-properties-differ",
            f"the {META_PROPERTIES} files in {paths} differ (InconsistentBrokerMetadataException)",
        )


def _differing_ids(group: BrokerGroup) -> Refusals:
    ids: dict[str, dict[str, str]] = {"node.id": {}, "cluster.id": {}}
    for state in group.states:
        if state.properties is not None and state.properties.node_id is not None:
            ids["node.id"].setdefault(str(state.properties.node_id), state.path)
        if state.properties is not None and state.properties.cluster_id is not None:
            ids["cluster.id"].setdefault(state.properties.cluster_id, state.path)
    for name, paths in ids.items():
        if len(paths) > 1:
            named = " and ".join(f"{id_} in {path}" for id_, path in paths.items())
            yield _refusal(
                f"{name.replace('.', '-')}-differs",
                f"the log.dirs of one broker have {name} {named}",
            )


def metadata_refusals(
    group: BrokerGroup,
    metadata_dir: LogDirState | None,
    storage: Storage,
    engine: str,
    limits: Limits,
) -> Refusals:
    """Yield what stops a node without ZooKeeper in `bootstrap.checkpoint` and the metadata log."""
    for state in group.states:
        if state.has_metadata_log and state is not metadata_dir:
            metadata_path = "another log.dir" if metadata_dir is None else metadata_dir.path
            yield Finding(
                code="metadata-log-misplaced",
                message=f"{state.path} has a folder {METADATA_FOLDER}, which belongs into the "
                f"metadata.log.dir, by default the first of log.dirs: {metadata_path}. If "
                "metadata.log.dir names this log.dir, name it first",
                file=METADATA_FOLDER,
            )
    if metadata_dir is None:
        return
    if BOOTSTRAP_CHECKPOINT in metadata_dir.item_names:
        yield from _bootstrap_refusals(metadata_dir, storage, engine, limits)
    metadata = group.metadata_logs.get(metadata_dir.path)
    if metadata is not None:
        yield from metadata.findings
        yield from _topic_id_refusals(metadata)


def _bootstrap_refusals(
    state: LogDirState, storage: Storage, engine: str, limits: Limits
) -> Refusals:
    path = f"{state.path}/{BOOTSTRAP_CHECKPOINT}"
    size = next(item.size_bytes for item in state.folder_items if item.name == BOOTSTRAP_CHECKPOINT)
    file = LogFile(path, BOOTSTRAP_CHECKPOINT, "log", 0, size, store=storage.store_of(path))
    finding = partial(Finding, code="bootstrap-checkpoint-invalid", file=BOOTSTRAP_CHECKPOINT)
    try:
        metadata_records = read_metadata_file(file, engine_named(engine), limits)
    except (LimitError, InputError):
        return
    cluster = ClusterMetadata()
    apply_records(cluster, metadata_records.record_values)
    if metadata_records.failure is not None:
        yield finding(
            message=f"{path}: {metadata_records.failure.message}",
            position=metadata_records.failure.position,
        )
    elif not cluster.has_metadata_version:
        yield finding(
            message=f"{path} holds no metadata.version: remove the file, and the broker starts without it"
        )


def _topic_id_refusals(metadata: MetadataLog) -> Refusals:
    for file in metadata.log.files:
        if file.name != PARTITION_METADATA:
            continue
        try:
            topic_id = parse_topic_id(file.read_small(1 << 12))
        except (FormatError, InputError):
            return  # the log does not load: another finding says so
        if topic_id != METADATA_TOPIC_ID:
            yield Finding(
                code="topic-id-differs",
                message=f"the topic id of {METADATA_FOLDER} is {topic_id}: the node ends "
                "(InconsistentTopicIdException). Remove the file, and the node makes a new one",
                topic=metadata.log.topic,
                partition=metadata.log.partition,
                file=file.name,
                found=topic_id,
                expected=METADATA_TOPIC_ID,
            )


def folder_refusals(group: BrokerGroup, rules: StartupRules) -> Refusals:
    """Yield folders that are no partitions, and partitions with several folders."""
    folders_by_partition: defaultdict[
        tuple[str, int, str | None], list[tuple[LogDirState, BrokerFolder]]
    ]
    folders_by_partition = defaultdict(list)
    for state in group.states:
        if not state.is_loaded:
            continue
        for name in state.foreign_folders(rules):
            yield Finding(
                code="folder-name-invalid",
                message=f"found the folder {state.path}/{name}, which is not named like a partition: "
                f"a broker of {rules.name} ends. Move it out of the log.dir",
                file=name,
            )
        for folder in state.folders(rules):
            if folder.suffix in (None, "future"):
                folders_by_partition[folder.topic, folder.partition, folder.suffix].append(
                    (state, folder)
                )
    for (topic, partition, suffix), places in folders_by_partition.items():
        current = (
            folders_by_partition.get((topic, partition, None), []) if suffix == "future" else []
        )
        same = [place for place in places if any(place[0] is own[0] for own in current)]
        if len(places) > 1 or (same and rules.promotes_futures):
            paths = [f"{state.path}/{folder.name}" for state, folder in (*places, *current)]
            yield Finding(
                code="partition-in-two-folders",
                message=f"{' and '.join(paths)} are one partition: a broker of {rules.name} ends. Move "
                "one of them out of the log.dir, after comparing them",
                topic=topic,
                partition=partition,
            )
        elif same:
            for state, folder in same:
                state.failures.append(
                    Finding(
                        code="log-dir-failed",
                        message=f"a broker takes the log.dir {state.path} offline: {folder.name} is "
                        "beside the partition's own folder",
                        topic=topic,
                        partition=partition,
                    )
                )


def lock_findings(group: BrokerGroup) -> Iterator[Finding]:
    """Yield the log.dirs on which another process holds the lock, such as a running broker."""
    for state in group.states:
        if is_url(state.path) or ".lock" not in state.item_names:
            continue
        process = lock_holder(f"{state.path}/.lock")
        if process is not None:
            yield Finding(
                code="log-dir-locked",
                message=f"process {process} holds the lock of {state.path}: another broker on it ends. "
                "If that is the broker itself, its files change while they are read: stop it, or "
                "verify a copy",
                file=".lock",
            )
